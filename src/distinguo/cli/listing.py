"""Commands that list things: ``distinguo runs``, ``distinguo tasks`` and ``distinguo settings``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import typer

from distinguo.cli.completion import complete_run, complete_setting, complete_task
from distinguo.errors import DistinguoError, counted, near_word, shown

if TYPE_CHECKING:
    from distinguo.tasks.spec import TaskSpec


# ``distinguo runs``.


def runs_command(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="[DIR]",
            help="The folder to look in, three levels deep.",
            autocompletion=complete_run,
        ),
    ] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """List the runs in a folder, the newest first: task, learner, result, prototypes and date.

    Commands that take a RUN take the newest one with a map if none is named.

    Examples:
      distinguo runs

      distinguo runs runs/class --json
    """
    from distinguo.cli.console import answer, command_line, output_for
    from distinguo.runs.listing import listed_facts, newest_first
    from distinguo.views.terminal import ASIDE, cells_of, listed

    if not folder.is_dir() and folder != Path("runs"):
        what = "is a file" if folder.exists() else "does not exist"
        raise DistinguoError(f"{folder} {what}; give the folder that holds runs, such as runs.")
    found = [(time, path, listed_facts(path)) for time, path in newest_first(folder)]
    output = output_for(as_json)
    rows = [[str(path), run_facts(time, facts)] for time, path, facts in found]
    beside = listed(rows)
    if output.width is not None and max(map(cells_of, beside), default=0) > output.width:
        beside = [text for path, facts in rows for text in (path, f"    {facts}")]
    for text in beside:
        output.tell(text)
    if not found:
        output.tell(f"There are no runs in {folder}; learn one with: {command_line('learn', 'puck')}")
    elif folder == Path("runs"):
        output.tell(f"Look at the newest with: {command_line('show')}", ASIDE)
    runs = [{"run": str(path), "changed": time // 10**9, **facts} for time, path, facts in found]
    answer({"runs": runs}, as_json)


def run_facts(time_ns: int, facts: Mapping[str, Any]) -> str:
    """Describe a run in a line.

    >>> run_facts(0, {"task": "puck", "learner": "economy", "solved": True, "prototypes": 1})[:36]
    'puck, economy, solved, 1 prototype, '
    """
    if "task" not in facts or "trouble" in facts:
        return str(facts["trouble"])
    if "solved" not in facts:
        result = ["not finished"]
    else:
        good = facts.get("kept", facts["solved"])
        word = "kept" if "kept" in facts else "solved"
        verdict = word if good else "undecided" if facts.get("answer") == "undecided" else f"not {word}"
        result = [verdict, counted(facts["prototypes"], "prototype")]
    when = datetime.fromtimestamp(time_ns / 1e9).astimezone()
    return ", ".join([facts["task"], facts["learner"], *result, f"{when:%Y-%m-%d %H:%M}"])


# ``distinguo tasks``.


#: What the tasks are about; tasks of Gymnasium without a description are listed by name alone.
ABOUT = {
    "puck": "keep a puck on top of a round hill by pushing it left and right; the paper's task",
    "puck-continuing": "the same without ends: after a fall the puck is put back, and only the reward tells",
    "maze": "walk around three walls to a goal in the plane",
    "CartPole-v1": "keep a pole upright on a cart",
    "MountainCar-v0": "swing a weak car up to the flag on the hill",
    "Acrobot-v1": "swing the tip of two links above a line",
    "Pendulum-v1": "swing a pendulum up and hold it, with little effort",
    "MountainCarContinuous-v0": "the car again, with a force of any strength",
    "FrozenLake-v1": "walk over slippery ice to the goal, not into a hole",
    "FrozenLake8x8-v1": "the same on a larger lake",
    "CliffWalking-v1": "walk along a cliff to the goal",
    "CliffWalkingSlippery-v1": "the same on slippery ground",
    "Taxi-v4": "fetch a passenger and take them where they want to go",
    "Blackjack-v1": "take cards up to 21 and beat the dealer",
    "LunarLander-v3": "land between two flags, gently",
    "BipedalWalker-v3": "walk on two legs over rough ground",
}
BOX2D = ("LunarLander-v3", "BipedalWalker-v3")  #: listed if their package is installed
MOST_NAMED = 3  #: dimensions; if there are more, a line names none


class TaskLine(NamedTuple):
    """A task in a line."""

    name: str
    dimensions: tuple[str, ...]
    actions: int
    goal: str
    compiled: bool
    limit: int | None
    about: str


def tasks_command(
    word: Annotated[
        str | None,
        typer.Argument(help="Only those with this in their name or line.", autocompletion=complete_task),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """List the tasks: what is observed, the actions, the goal, and whether they run as compiled code.

    Any other environment of Gymnasium with a finite number of actions can be learned, too, and tasks of your own.

    Examples:
      distinguo tasks

      distinguo tasks lake --json
    """
    from distinguo.cli.console import answer, output_for
    from distinguo.views.terminal import ASIDE, listed

    lines = matching(word, task_lines(), lambda line: line.name, lambda line: line.about)
    more = _others(word)
    if not lines and not more:
        raise nothing_found("task", word or "", [*ABOUT, *_others("")])
    output = output_for(as_json)
    rows = [[line.name, _facts(line)] for line in lines]
    for text in listed(rows, output.width):
        output.tell(text)
    if more:
        output.tell(f"{counted(len(more), 'more id')} of Gymnasium: {', '.join(more)}.", ASIDE)
    if word is None:
        output.tell("Learn one with: distinguo learn NAME")
        output.tell("Learn your own with: distinguo learn path/to/file.py:Class")
    answer({"tasks": [line._asdict() for line in lines], "others": more}, as_json)


def task_lines() -> Iterator[TaskLine]:
    """Yield our own tasks, and those of Gymnasium whose packages are installed."""
    from gymnasium import registry

    from distinguo.tasks.catalog import SPECS

    for name, made in SPECS.items():
        spec = made({})
        yield TaskLine(name, spec.dimensions, len(spec.actions), goal_of(spec), True, spec.limit, ABOUT[name])
    for name in [known for known in ABOUT if known not in SPECS and known in registry]:
        if _is_installed(name):
            yield _of_gymnasium(name)


def _is_installed(name: str) -> bool:
    """Whether the package of a task is there."""
    return name not in BOX2D or find_spec("Box2D") is not None


def goal_of(spec: TaskSpec) -> str:
    """Describe the goal of a task in a few words.

    >>> from distinguo.tasks.catalog import task_spec
    >>> goal_of(task_spec("puck")), goal_of(task_spec("CartPole-v1")), goal_of(task_spec("Pendulum-v1"))
    ('trials that never end', 'mean return 475', 'mean return, none known to solve it')
    """
    from distinguo.tasks.spec import Hold

    return "trials that never end" if isinstance(spec.goal, Hold) else _by_return(spec.threshold)


def _by_return(threshold: float | None) -> str:
    return "mean return, none known to solve it" if threshold is None else f"mean return {threshold:zg}"


def _of_gymnasium(name: str) -> TaskLine:
    """Describe an environment by its spaces; it is made, but not run."""
    from distinguo.tasks.gym.task import dimension_names, make_task

    driver = make_task(name).driver
    checked, source = driver.checked_env, driver.source
    goal = _by_return(source.threshold)
    seen = dimension_names(name, checked.view.names)
    return TaskLine(name, seen, checked.choices.number, goal, False, source.limit, ABOUT[name])


def _facts(line: TaskLine) -> str:
    seen = line.dimensions
    names = f" ({', '.join(seen)})" if len(seen) <= MOST_NAMED else ""
    speed = "compiled" if line.compiled else "plain Python"
    dimensions, actions = counted(len(seen), "dimension"), counted(line.actions, "action")
    return f"{line.about}: {dimensions}{names}, {actions}, {line.goal}, {speed}"


def _others(word: str | None) -> list[str]:
    """Return the ids of Gymnasium that are listed by name alone."""
    from gymnasium import registry

    if word is None:
        return []
    names = [
        name
        for name, spec in registry.items()
        if not (name in ABOUT and _is_installed(name)) and _is_usable(spec)
    ]
    return sorted(matching(word, names, str))


def _is_usable(spec: Any) -> bool:
    """Whether an id is an environment of Gymnasium: neither a function that rejects old names nor ours."""
    from distinguo.tasks.gym.registration import PUCK_ID

    return isinstance(spec.entry_point, str) and spec.id != PUCK_ID


# ``distinguo settings``: every constant, with its default, its range and its source.


BOUNDS = {"gt": "above {}", "ge": "from {}", "lt": "below {}", "le": "to {}"}


class SettingLine(NamedTuple):
    """A setting in a line."""

    key: str  #: as ``--set`` takes it
    owner: str  #: the learner, the task or the stage that has it
    default: Any
    presets: dict[str, Any]  #: other values, by preset or by kind of task
    range: str
    about: str
    source: str  #: "ours", or where in the paper


def settings_command(
    word: Annotated[
        str | None,
        typer.Argument(
            help="Only those with this in their name, owner or line.", autocompletion=complete_setting
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """List the settings that --set changes: default, presets, range, and where each comes from.

    Settings of learners and the stage are for learn, those of the tester for test, those of tasks for both.

    Examples:
      distinguo settings

      distinguo settings epsilon

      distinguo settings tester --json
    """
    from distinguo.cli.console import answer, output_for
    from distinguo.views.terminal import HEAD, listed

    word = word and word.rstrip("=")
    lines = matching(word, setting_lines(), lambda line: f"{line.key} {line.owner}", lambda line: line.about)
    if not lines:
        keys = [line.key for line in setting_lines()]
        raise nothing_found("setting", word or "", [*(key.partition(".")[2] for key in keys), *keys])
    output = output_for(as_json)
    for number, owner in enumerate(dict.fromkeys(line.owner for line in lines)):
        head = owner + _about(owner)
        output.tell(head if number == 0 else f"\n{head}", HEAD)
        own = [line for line in lines if line.owner == owner]
        for text in listed(
            [[f"  {line.key}", setting_text(line.default), _setting_facts(line)] for line in own],
            output.width,
        ):
            output.tell(text)
    answer({"settings": [line._asdict() for line in lines]}, as_json)


def setting_lines() -> Iterator[SettingLine]:
    """Yield all settings, owner by owner."""
    from distinguo.learners.learner import all_learners
    from distinguo.settings import StageSettings, TesterSettings
    from distinguo.tasks.catalog import OWN
    from distinguo.tasks.declare import declared_spec
    from distinguo.tasks.noise import NoiseParameters

    for learner in all_learners():
        yield from _of("learner", f"learner {learner.name}", learner.settings)
    yield from _of("stage", "stage of learning", StageSettings)
    yield from _of("tester", "tester", TesterSettings)
    seen = set()
    for kind in OWN:
        name = f"task {declared_spec(kind, {}).name}"
        for line in _of("task", name, kind):
            if (name, line.key) not in seen:
                seen.add((name, line.key))
                yield _without_noise(line)
    for line in _of("task", "task, any compiled one", NoiseParameters):
        yield _without_noise(line)


def _about(owner: str) -> str:
    """Return the description of a learner, to follow its name."""
    from distinguo.learners.learner import learner_or_absent

    what, _, name = owner.partition(" ")
    about = learner_or_absent(name, {}).about if what == "learner" else ""
    return f": {about}" if about else ""


def _without_noise(line: SettingLine) -> SettingLine:
    """Return the default of a task's setting; there is no noise by default."""
    from distinguo.runs.configuration import NOISES

    is_noise = line.key.removeprefix("task.") in NOISES
    return line._replace(default=0.0, presets={}) if is_noise else line


def _of(table: str, owner: str, kind: Any) -> Iterator[SettingLine]:
    """Yield the settings of a class, by the annotations of its fields."""
    hints = get_type_hints(kind, include_extras=True)
    for name, default in kind._field_defaults.items():
        field = next(iter(getattr(hints[name], "__metadata__", ())), None)
        if field is None or name == "rng":  # a generator cannot be set
            continue
        about, source = about_and_source(field.description or "")
        by_preset = _by_preset(table, owner, name, default)
        usual = by_preset.pop("default")
        others = {where: value for where, value in by_preset.items() if value != usual}
        yield SettingLine(f"{table}.{name}", owner, usual, others, range_of(hints[name]), about, source)


def _by_preset(table: str, owner: str, name: str, own: Any) -> dict[str, Any]:
    """Return the values of a setting by preset and by kind of task, where they differ from the default ``own``."""
    from distinguo.presets import BY_RETURN, DEFAULT, PRESETS, TESTER_PRESETS
    from distinguo.settings import TESTER_BY_RETURN, TESTER_OF_CATEGORIES

    key = f"{table}.{name}"
    if table == "tester":
        presets = {where: values.get(name, own) for where, values in TESTER_PRESETS.items()}
        suited = {"by return": TESTER_BY_RETURN, "labels": TESTER_OF_CATEGORIES}
        return {**presets, **{where: values[name] for where, values in suited.items() if name in values}}
    if owner not in ("learner economy", "stage of learning"):
        return {DEFAULT: own}
    presets = {where: values.get(key, own) for where, values in PRESETS.items()}
    return {**presets, **({"by return": BY_RETURN[key]} if key in BY_RETURN else {})}


def about_and_source(description: str) -> tuple[str, str]:
    """Split a description into what a setting is and where it comes from.

    >>> about_and_source("learning rate; ours"), about_and_source("m/s^2 (paper, section 4)")
    (('learning rate', 'ours'), ('m/s^2', 'paper, section 4'))
    """
    match = re.fullmatch(r"(.*\S)(?:; | \()(.*?)\)?", description)
    return (match[1], match[2]) if match else (description, "")


def range_of(hint: Any) -> str:
    """Describe the values that a field takes.

    >>> from pydantic import Field
    >>> range_of(Annotated[float, Field(gt=0, le=1)]), range_of(Annotated[bool, Field()])
    ('above 0 to 1', 'true or false')
    """
    kind, field = get_args(hint)[:2]
    if kind is bool:
        return "true or false"
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if kind is str:
        return "a text"
    limits = [(mark, getattr(one, mark)) for one in field.metadata for mark in BOUNDS if hasattr(one, mark)]
    return " ".join(BOUNDS[mark].format(setting_text(value)) for mark, value in limits)


def setting_text(value: Any) -> str:
    """Write a value as ``--set`` takes it, in short.

    >>> setting_text(True), setting_text(10**12), setting_text(1e-05), setting_text(5000)
    ('true', '1e12', '1e-05', '5000')
    """
    if isinstance(value, bool):
        return str(value).lower()
    digits = len(str(value)) - 1
    if isinstance(value, int) and value >= 10**6 and value == 10**digits:
        return f"1e{digits}"
    return f"{value:zg}" if isinstance(value, float) else str(value)


def _setting_facts(line: SettingLine) -> str:
    others = [f"{where} {setting_text(value)}" for where, value in line.presets.items()]
    facts = [line.about, *([f"({', '.join(others)})"] if others else [])]
    return f"{' '.join(facts)}; {'; '.join(part for part in (line.range, line.source) if part)}"


# Finding things by a word, and the error if there are none.


T = TypeVar("T")


def matching(word: str | None, things: Iterable[T], *texts: Callable[[T], str]) -> list[T]:
    """Return the things with a word in their first text or, if there are none, in their next text, and so on.

    >>> matching("Lake", ["a lake", "a hill"], lambda thing: thing)
    ['a lake']
    """
    known = list(things)
    if word is None:
        return known
    for text in texts:
        found = [thing for thing in known if word.lower() in text(thing).lower()]
        if found:
            return found
    return []


def nothing_found(kind: str, word: str, names: Sequence[str]) -> DistinguoError:
    """Return the error for a word that nothing matches, with the nearest name, ignoring case.

    >>> print(nothing_found("task", "carpole", ["CartPole-v1", "Taxi-v4"]))
    No task has 'carpole' in its name; did you mean 'CartPole-v1'?
    """
    near = near_word(word, names)
    hint = f"did you mean '{near}'?" if near else f"distinguo {kind}s lists them all."
    return DistinguoError(f"No {kind} has {shown(word)} in its name; {hint}")
