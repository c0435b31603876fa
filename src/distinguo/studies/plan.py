"""The plan of a study: tasks × learners × settings × seeds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import tomlkit
from pydantic import Field

from distinguo.errors import DistinguoError, counted, did_you_mean, one_line, shown
from distinguo.learners.catalog import DISTILLED, TEACHER
from distinguo.reading.files import MEBIBYTE, parse_toml, read_text
from distinguo.runs.configuration import Configuration, configure, flat
from distinguo.runs.seeds import seed_words, seeds
from distinguo.settings import checked
from distinguo.tasks.catalog import check_imported
from distinguo.writing import slug

TABLES = ("study", "settings", "scale")
SUITED = "suited"  #: the learner that suits the task
PLAIN = "default"  #: the name of settings that change nothing
HELD_OUT, DEVELOPMENT = "held out", "development"
LARGEST_PLAN = 4 * MEBIBYTE  #: bytes
MOST_RUNS = 1_000_000


class StudyHead(NamedTuple):
    """The table ``[study]`` of a plan."""

    tasks: Annotated[tuple[str, ...], Field(min_length=1, max_length=10_000)]
    seeds: str  #: held out: no constant was chosen on them
    learners: Annotated[tuple[str, ...], Field(min_length=1, max_length=1_000)] = (SUITED,)
    development: str = ""  #: seeds on which constants were chosen; they are told apart
    trials: Annotated[int, Field(ge=1, le=1_000_000)] = 100  #: new trials of what each run has learned
    interpreted: bool = False  #: Gymnasium's own environments, even where we have a compiled port


class StudyCell(NamedTuple):
    """What many seeds are learned with."""

    task: str
    learner: str
    settings: str


class StudyPlan(NamedTuple):
    r"""What is studied.

    >>> plan = read_study('[study]\ntasks = ["puck"]\nseeds = "1-3"\n[settings.low]\nlearner.epsilon = 0.05')
    >>> plan.cells, len(plan.runs())
    ((StudyCell(task='puck', learner='suited', settings='low'),), 3)
    """

    head: StudyHead
    configurations: dict[StudyCell, Configuration]  #: of any seed
    parts: dict[str, tuple[int, ...]]  #: the seeds: held out and, if there are any, for development
    scale: dict[str, tuple[float, float]]  #: of a task: the scores that count as 0 and 1

    @property
    def cells(self) -> tuple[StudyCell, ...]:
        """What many seeds are learned with, in the order of the plan."""
        return tuple(self.configurations)

    def runs(self) -> list[tuple[str, StudyCell, int]]:
        """Return all runs: their names, cells and seeds; with each seed all cells are run before the next one."""
        numbers = [number for part in self.parts.values() for number in part]
        return [(run_key(cell, number), cell, number) for number in numbers for cell in self.cells]


def run_key(cell: StudyCell, number: int) -> str:
    """Return the name of a run.

    >>> run_key(StudyCell("CartPole-v1", "suited", "default"), 7)
    'CartPole-v1--suited--default--seed-7'
    """
    return f"{'--'.join(map(slug, cell))}--seed-{number}"


def load_study(path: Path) -> StudyPlan:
    """Read a plan from a file."""
    return read_study(read_text(path, LARGEST_PLAN), str(path))


def read_study(text: str, source: str = "plan.toml") -> StudyPlan:
    r"""Read a plan from TOML: the tables ``study``, ``settings.NAME`` and ``scale``.

    >>> read_study('[study]\ntasks = ["puck"]\nseeds = "1-9"\ndevelopment = "9-12"')
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: plan.toml has seed 9 both among the held-out seeds and those for development; ...
    """
    content = parse_toml(text, source)
    for table, value in content.items():
        if table not in TABLES:
            raise DistinguoError(
                f"{source} has an unknown table '{one_line(table)}'; {did_you_mean(table, TABLES)}"
            )
        if not isinstance(value, dict):
            raise DistinguoError(f"{source} should have a table [{table}], got {shown(value)}.")
    if "seeds" not in content.get("study", {}) or "tasks" not in content["study"]:
        raise DistinguoError(
            f'{source} should have a table [study] with tasks and seeds, such as tasks = ["puck"], seeds = "0-9".'
        )
    head = checked(StudyHead, content["study"], "study")
    for task in head.tasks:
        check_imported(task, source)
    parts = _parts(head, source)
    variants = {name: _flat(name, table, source) for name, table in content.get("settings", {}).items()}
    cells = {
        cell: _configured(cell, changes, head.interpreted, source)
        for task in _once(head.tasks, "task", source)
        for learner in _once(head.learners, "learner", source)
        for name, changes in (variants or {PLAIN: {}}).items()
        for cell in [StudyCell(task, learner, name)]
    }
    count = len(cells) * sum(map(len, parts.values()))
    if count > MOST_RUNS:
        raise DistinguoError(f"{source} asks for {count:,} runs; a study may have {MOST_RUNS:,} at most.")
    return StudyPlan(head, cells, parts, _scale(content.get("scale", {}), head, source))


def _configured(cell: StudyCell, changes: Mapping[str, Any], interpreted: bool, source: str) -> Configuration:
    learner = None if cell.learner == SUITED else cell.learner
    try:
        configuration = configure(cell.task, learner=learner, changes=changes, interpreted=interpreted)
    except DistinguoError as error:
        raise DistinguoError(
            f"{source}, task {cell.task}, learner {cell.learner}, settings {cell.settings}: {error}"
        ) from error
    if configuration.learner_name in (DISTILLED, TEACHER):
        raise DistinguoError(
            f"{source} names the learner '{cell.learner}', which needs a network; leave it out."
        )
    if configuration.spec.interpreted and not configuration.spec.portable:
        raise DistinguoError(f"{source} names {cell.task}, which no other process can make by its name.")
    return configuration


def _once(names: tuple[str, ...], thing: str, source: str) -> tuple[str, ...]:
    slugs = {slug(name) for name in names}
    if len(slugs) < len(names):
        raise DistinguoError(f"{source} should name each {thing} once, got {shown(list(names))}.")
    return names


def _parts(head: StudyHead, source: str) -> dict[str, tuple[int, ...]]:
    held = tuple(seeds(head.seeds, f"study.seeds of {source}"))
    if not head.development:
        return {HELD_OUT: held}
    tuned = tuple(seeds(head.development, f"study.development of {source}"))
    if both := sorted(set(held) & set(tuned)):
        which = f"seed {both[0]}" if len(both) == 1 else f"seeds {seed_words(both[:100])}"
        raise DistinguoError(
            f"{source} has {which} both among the held-out seeds and those for development; a figure of a seed on "
            "which a constant was chosen says nothing about other seeds, so leave them out of one."
        )
    return {HELD_OUT: held, DEVELOPMENT: tuned}


def _flat(name: str, table: Any, source: str) -> dict[str, Any]:
    """Settings by dotted name, written with dots or as tables."""
    if slug(name) != name or not name:
        raise DistinguoError(
            f"The settings '{one_line(name)}' in {source} should have a short name of letters, digits, dots and "
            "dashes."
        )
    if not isinstance(table, dict):
        raise DistinguoError(f"{source} should have a table [settings.{name}], got {shown(table)}.")
    found: dict[str, Any] = {}
    for key, value in table.items():
        inner = (
            {f"{key}.{word}": one for word, one in value.items()} if isinstance(value, dict) else {key: value}
        )
        found.update(inner)
    return found


def _scale(table: Mapping[str, Any], head: StudyHead, source: str) -> dict[str, tuple[float, float]]:
    scale = {}
    for task, ends in table.items():
        if task not in head.tasks:
            raise DistinguoError(f"{source} scales {one_line(task)}; {did_you_mean(task, head.tasks)}")
        if (
            not isinstance(ends, list)
            or len(ends) != 2
            or not all(type(end) in (int, float) for end in ends)
            or not ends[0] < ends[1]
        ):
            raise DistinguoError(
                f"scale.{one_line(task)} of {source} should be two scores, which count as 0 and 1, the lower one "
                f"first, got {shown(ends)}."
            )
        scale[task] = (float(ends[0]), float(ends[1]))
    return scale


def write_study(plan: StudyPlan) -> str:
    """Write a plan with every setting of every cell spelled out: the same text means the same results."""
    document = tomlkit.document()
    document["study"] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in plan.head._asdict().items()
    }
    document["scale"] = {task: list(ends) for task, ends in plan.scale.items()}
    document["cell"] = {
        "--".join(cell): {
            name: value for name, value in flat(configuration).items() if name != "seed" and value is not None
        }
        for cell, configuration in plan.configurations.items()
    }
    return tomlkit.dumps(document)


def in_words(plan: StudyPlan) -> str:
    r"""Return the size of a study in words.

    >>> in_words(read_study('[study]\ntasks = ["puck"]\nseeds = "1-3"'))
    '1 task × 1 learner × 1 setting × 3 seeds = 3 runs'
    """
    kinds: dict[str, set[Any]] = {
        "task": {cell.task for cell in plan.cells},
        "learner": {cell.learner for cell in plan.cells},
        "setting": {cell.settings for cell in plan.cells},
        "seed": {number for part in plan.parts.values() for number in part},
    }
    return (
        " × ".join(counted(len(each), thing) for thing, each in kinds.items())
        + " = "
        + counted(len(plan.cells) * sum(map(len, plan.parts.values())), "run")
    )
