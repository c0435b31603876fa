"""The file ``settings.toml``: what a run was asked, with every setting written out, and their number at its end.

A file that was cut, or lost a line, is refused: what is missing would otherwise be taken for the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

import tomlkit
from pydantic import Field
from pydantic.fields import FieldInfo

from distinguo.errors import DistinguoError, did_you_mean, one_line, shown
from distinguo.learners.economy.learner import ECONOMY
from distinguo.learners.learner import learner_or_absent
from distinguo.reading.documents import parse_toml
from distinguo.runs.configuration import TABLES, Configuration, configure, values_by_table
from distinguo.runs.written.completeness import check_complete, end_of, with_missing
from distinguo.settings import checked
from distinguo.tasks.catalog import check_own, own_parameters, written_spec
from distinguo.tasks.spec import TaskSpec

VERSION = 2
#: The keys of the table ``run``.
RUN = ("version", "task", "seed", "preset", "learner", "prototypes", "interpreted", "given")
#: The keys of the table ``world``: what is known of a task that its name alone does not make again.
SPEC_KEYS = ("dimensions", "actions", "low", "high", "score", "kind", "threshold", "limit", "units", "note")


class WrittenSpec(NamedTuple):
    """The table ``world``; the note is always there, and the last to be written."""

    dimensions: Annotated[tuple[str, ...], Field(min_length=1)]
    actions: Annotated[tuple[str, ...], Field(min_length=1)]
    low: tuple[float, ...]
    high: tuple[float, ...]
    score: Literal["length", "return"]
    kind: Literal["continuous", "categories"]
    note: str
    threshold: float | None = None
    limit: Annotated[int, Field(ge=1)] | None = None
    units: tuple[str, ...] = ()


def to_toml(configuration: Configuration) -> str:
    """Write a configuration as TOML, each setting with its source as a comment."""
    document = tomlkit.document()
    run = tomlkit.table()
    run.update({"version": VERSION, "task": configuration.spec.name, "seed": configuration.seed})
    run["preset"] = configuration.preset
    if configuration.learner_name != ECONOMY:
        run["learner"] = configuration.learner_name
    if configuration.spec.interpreted:
        run["interpreted"] = True
        if not configuration.spec.portable:
            run["given"] = True  # as an object: its name does not make it again
    if configuration.prototypes is not None:
        run["prototypes"] = [list(row) for row in configuration.prototypes]
    document["run"] = run
    for name, values in zip(TABLES, values_by_table(configuration), strict=True):
        document[name] = _commented(*values)
    if configuration.spec.interpreted or not configuration.spec.portable:
        document["world"] = _spec_table(configuration.spec)
    document["end"] = end_of(document)
    return tomlkit.dumps(document)


def _spec_table(spec: TaskSpec) -> tomlkit.items.Table:
    """Write down what is known of a task, so that a run can be opened where the task is not."""
    table = tomlkit.table()
    for name in SPEC_KEYS:
        value = getattr(spec, name)
        if value not in (None, ()):
            table[name] = list(value) if isinstance(value, tuple) else value
    return table


def _commented(kind: Any, values: Mapping[str, Any]) -> tomlkit.items.Table:
    table = tomlkit.table()
    hints = get_type_hints(kind, include_extras=True)
    for name, value in values.items():
        item = tomlkit.item(value)
        for note in get_args(hints.get(name))[1:]:
            if isinstance(note, FieldInfo) and note.description:
                item.comment(note.description)
        table.append(name, item)
    return table


def from_toml(text: str, source: str = "settings.toml") -> Configuration:
    """Read a configuration back."""
    content = parse_toml(text, source)
    run = _read_run(content, source)
    tables = {table: content[table] for table in TABLES if isinstance(content.get(table), dict)}
    if len(tables) < len(TABLES):
        raise DistinguoError(
            f"{source} is not the whole settings of a run: it should have the tables {', '.join(TABLES)}."
        )
    name, task = str(run.get("learner", ECONOMY)), str(run["task"])
    learner = learner_or_absent(name, tables["learner"])
    setting: str | TaskSpec = task
    if run.get("interpreted") or "world" in content:
        words = _read_words(content.get("world"), source)
        how = (bool(run.get("interpreted")), bool(run.get("given")))
        setting = written_spec(task, words, tables["task"], *how)
    else:
        check_own(task, source)
        if run["version"] == 1:
            check_complete("task", tables["task"], own_parameters(task), source)
    tables |= with_missing(content, text, learner, source)
    changes = {f"{table}.{key}": value for table, values in tables.items() for key, value in values.items()}
    return configure(
        setting,
        seed=run["seed"],
        preset_name=str(run["preset"]),
        changes=changes,
        prototypes=run.get("prototypes"),
        learner=learner,
    )


def _read_run(content: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return the table ``run``, if it says what every version says."""
    run = content.get("run")
    if not isinstance(run, dict) or not {"version", "task", "seed", "preset"} <= run.keys():
        raise DistinguoError(
            f"{source} is not the settings of a run: a table [run] should say version, task, seed and preset."
        )
    if type(run["version"]) is not int or run["version"] < 1:
        raise DistinguoError(
            f"{source} is not the settings of a run: its version is {shown(run['version'])}."
        )
    if run["version"] > VERSION:
        raise DistinguoError(f"{source} was written by a newer distinguo; upgrade to open it.")
    _check_names(content, ("run", *TABLES, "world", "end"), source)
    _check_names(run, RUN, source)
    return run


def _read_words(table: Any, source: str) -> dict[str, Any]:
    """Return what was written down of a task."""
    if not isinstance(table, dict):
        raise DistinguoError(f"{source} is not the whole settings of a run: its table [world] is missing.")
    _check_names(table, SPEC_KEYS, source)
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    words = checked(WrittenSpec, given, "world")
    if not len(words.dimensions) == len(words.low) == len(words.high):
        raise DistinguoError(f"{source} is damaged: low and high should have a number for every dimension.")
    if len(words.units) not in (0, len(words.dimensions)):
        raise DistinguoError(f"{source} is damaged: units should have a word for every dimension.")
    return words._asdict()


def _check_names(given: Mapping[str, Any], known: tuple[str, ...], source: str) -> None:
    for name in given:
        if name not in known:
            raise DistinguoError(f"Unknown name '{one_line(name)}' in {source}; {did_you_mean(name, known)}")
