"""``settings.toml`` in every version: complete or rejected; checkpoints of earlier versions are upgraded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

import numpy as np
import tomlkit
from pydantic import Field
from pydantic.fields import FieldInfo

from distinguo.errors import DistinguoError, did_you_mean, one_line, shown
from distinguo.learners.agent import COUNTS
from distinguo.learners.economy.learner import ECONOMY
from distinguo.learners.economy.memory import COUNTERS, EXTRA
from distinguo.learners.learner import Learner, learner_or_absent
from distinguo.learners.probation.learner import PROBATION
from distinguo.reading.files import parse_toml
from distinguo.runs.configuration import TABLES, Configuration, configure, values_by_table
from distinguo.runs.history import HISTORY
from distinguo.settings import StageSettings, checked
from distinguo.tasks.amounts import without_laws
from distinguo.tasks.catalog import check_own, own_parameters, written_spec
from distinguo.tasks.spec import Amounts, TaskSpec

# The file ``settings.toml``: the configuration of a run, with every setting, and their number at the end. A file
# that was cut or lost a line is rejected: a missing setting would otherwise get its default.


VERSION = 2
#: The keys of the table ``run``.
RUN = ("version", "task", "seed", "preset", "learner", "prototypes", "interpreted", "given")
#: The keys of the table ``world``: the description of a task that cannot be made from its name alone.
SPEC_KEYS = (
    *(
        "dimensions",
        "actions",
        "low",
        "high",
        "score",
        "kind",
        "threshold",
        "limit",
        "units",
        "amounts",
        "note",
    ),
)


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
    amounts: Amounts | None = None


def to_toml(configuration: Configuration) -> str:
    """Write a configuration as TOML, each setting with its source as a comment."""
    configuration = configuration._replace(spec=without_laws(configuration.spec))
    document = tomlkit.document()
    run = tomlkit.table()
    run.update({"version": VERSION, "task": configuration.spec.name, "seed": configuration.seed})
    run["preset"] = configuration.preset
    if configuration.learner_name != ECONOMY:
        run["learner"] = configuration.learner_name
    if configuration.spec.interpreted:
        run["interpreted"] = True
        if not configuration.spec.portable:
            run["given"] = True  # as an object: it cannot be made from its name
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
    """Describe a task, so that a run can be opened where the task is missing."""
    table = tomlkit.table()
    for name in SPEC_KEYS:
        value = getattr(spec, name)
        if isinstance(value, Amounts):
            table[name] = {key: list(x) if isinstance(x, tuple) else x for key, x in value._asdict().items()}
        elif value not in (None, ()):
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
    """Return the table ``run``, if it has what every version has."""
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
    """The description of a task."""
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


# Checks that the settings of a run are complete, in every version of their file.
#
# A setting that was added later is missing in older files, and only there. Files of version 1 were written while
# settings were still added, so one setting shows which others must be there.


#: Settings of the paper's learner and of the stage that were added while version 1 was written.
_ADDED_TO_1 = {
    "learner": (
        *("samples", "confidence", "split_confidence", "active", "investigate_every"),
        *("optimistic", "rescale", "epsilon_share", "surprise_reliable", "review_merged"),
    ),
    "stage": ("restart", "confirm", "confirm_steps"),
}
#: Settings of the stage that a file of version 1 has, by a setting of the learner that was added with or after them.
_ADDED_WITH = {"samples": "confirm", "rescale": "restart", "review_merged": "confirm_steps"}
#: Settings of the stage that no file of version 1 has.
_ADDED_SINCE = ("confidence", "refine_steps", "prove_steps", "prove_ranges", "many")
#: A removed setting that files of version 1 may have, and its only value.
_GONE = ("initial", 0.0)


def end_of(content: Mapping[str, Any]) -> dict[str, int]:
    """Return the last table of a file since version 2: how many settings there are before it.

    >>> end_of({"run": {"seed": 1}, "task": {"beta": 0.3, "mass": 1.0}})
    {'settings': 3}
    """
    return {"settings": sum(len(table) for name, table in content.items() if name != "end")}


def with_missing(
    content: Mapping[str, Any], text: str, learner: Learner, source: str
) -> dict[str, dict[str, Any]]:
    """Return the learner's and the stage's tables, with the settings that older files lack; reject a cut file."""
    tables = {name: dict(content[name]) for name in ("learner", "stage")}
    first = content["run"]["version"] == 1
    if not text.endswith("\n") if first else "end" not in content:
        raise DistinguoError(f"{source} is cut off: its end is missing; take a whole copy.")
    if first:
        _check_first_version(tables, learner, source)
    elif content["end"] != end_of(content):
        raise DistinguoError(
            f"{source} is damaged: it has {end_of(content)['settings']} settings, but its end says "
            f"{shown(content['end'])}; take a whole copy."
        )
    known = {"learner": _known(learner), "stage": StageSettings._field_defaults}
    return {name: {**known[name], **values} for name, values in tables.items()}


def _check_first_version(tables: dict[str, dict[str, Any]], learner: Learner, source: str) -> None:
    """Reject a file of version 1 that lacks a setting that it must have had."""
    if tables["learner"].get(_GONE[0]) == _GONE[1]:
        del tables["learner"][_GONE[0]]
    later = _later(tables, learner)
    for name, known in (("learner", _known(learner)), ("stage", StageSettings._fields)):
        check_complete(name, tables[name], [key for key in known if key not in later[name]], source)


def _known(learner: Learner) -> Mapping[str, Any]:
    """Return the settings of one of our learners; a user's learner may have changed since."""
    ours = learner.declared is None and hasattr(learner.settings, "_field_defaults")
    return learner.settings._field_defaults if ours else {}


def _later(tables: Mapping[str, Mapping[str, Any]], learner: Learner) -> dict[str, list[str]]:
    """The settings that a file of version 1 may lack, because they were added later."""
    late = {name: [key for key in keys if key not in tables[name]] for name, keys in _ADDED_TO_1.items()}
    if learner.name != ECONOMY:
        late["learner"] = [key for key in _known(learner) if key not in tables["learner"]]
        needed = set(_ADDED_TO_1["stage"]) if learner.name == PROBATION else {"restart", "confirm"}
    else:
        needed = {also for key, also in _ADDED_WITH.items() if key in tables["learner"]}
    late["stage"] = [*(key for key in late["stage"] if key not in needed), *_ADDED_SINCE]
    return late


def check_complete(table: str, given: Mapping[str, Any], needed: Iterable[str], source: str) -> None:
    """Reject a table that lacks a key that is always written."""
    for key in needed:
        if key not in given:
            raise DistinguoError(f"{source} is damaged: {table}.{key} is missing; take a whole copy.")


# Upgrades of checkpoints of earlier versions: old runs can still be continued.


CHECKPOINT_VERSION = 5
Arrays = dict[str, np.ndarray]
#: The places that counters had in versions 1 and 2.
_PROGRESS = ("trials", "trial_steps", "investigation_steps")
_MEMORY = ("sessions", "fe_calls", "merge_calls", "clock")
_TRIAL = ("length", "action", "attempt", "since")
_PLACES = (*_PROGRESS, *_MEMORY, *_TRIAL)


def upgraded(facts: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Return the facts and arrays of a checkpoint as the present version has them."""
    if facts["version"] <= 2:
        arrays = _states_are_observations(arrays)
        facts, arrays = _facts_of_3(facts, arrays), _arrays_of_3(arrays)
    if facts["version"] <= 3:
        facts = {**facts, "sizes": {HISTORY: 0, **facts["sizes"]}}  # frames are taken since version 4
    if facts["version"] <= 4:
        facts = {**facts, "checksums": {}}  # of the growing files, since version 5
    return {**facts, "version": CHECKPOINT_VERSION}, arrays


def _states_are_observations(arrays: Arrays) -> Arrays:
    """Version 1 had no states besides observations, and no noise; the first files of version 2 had no extent."""
    prototypes, q = arrays["partition.prototypes"], arrays["memory.q"]
    dimensions = prototypes.shape[1]
    return {
        "memory.states": prototypes.copy(),
        "memory.gained": np.zeros(1),
        "memory.error": np.zeros((len(q) + EXTRA, q.shape[1])),
        "memory.seen": np.zeros((*q.shape, 3)),
        "memory.extremes": np.array([np.inf, -np.inf]),
        "memory.extent": np.array([[np.inf] * dimensions, [-np.inf] * dimensions]),
        **arrays,
    }


def _facts_of_3(facts: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Before version 3, holding was a phase of its own, and the best attempt had its own counters."""
    new = {"returns": [], "held": 0, "purpose": "claim", "best": None, "chance": None, **facts}
    new["noise"], new["extent"] = new.pop("chance"), None
    if new["phase"] == "holding":
        new |= {"phase": "confirming", "held": new["score"], "returns": [0.0], "purpose": "claim"}
    if new["best"] is not None:
        counters = _named(arrays["best.memory.counters"])
        new["best"] = {
            "score": float(new["best"]),
            "attempt": int(counters["attempt"]),
            "trials": int(counters["trials"]),
        }
    return new


def _arrays_of_3(arrays: Arrays) -> Arrays:
    """Before version 3, the progress of the stage was in the learner's memory."""
    new = {k: v for k, v in arrays.items() if k.startswith("task.")}
    new |= _memory_of_3(arrays, "", "memory.")
    if "best.memory.q" in arrays:
        new |= _memory_of_3(arrays, "best.", "best.")
    new["progress.now"], new["progress.extent"] = arrays["memory.now"], arrays["memory.extent"]
    counters = _named(arrays["memory.counters"])
    gained = {"gained": arrays["memory.gained"][0]}
    new["progress.counts"] = _record(COUNTS, {**counters, **gained})
    return new


def _memory_of_3(arrays: Arrays, old: str, new: str) -> Arrays:
    gone = ("now", "gained", "extent")
    memory = {k.removeprefix(f"{old}memory."): v for k, v in arrays.items() if k.startswith(f"{old}memory.")}
    partition = {k.removeprefix(old): v for k, v in arrays.items() if k.startswith(f"{old}partition.")}
    memory["counters"] = _record(COUNTERS, _named(memory["counters"]))
    return {f"{new}{k}": v for k, v in (memory | partition).items() if k not in gone}


def _named(counters: np.ndarray) -> dict[str, Any]:
    """Return counters by name; version 1 had fewer."""
    values = [*counters.tolist(), *[0] * len(_PLACES)][: len(_PLACES)]
    return dict(zip(_PLACES, values, strict=True))


def _record(dtype: np.dtype[Any], values: dict[str, Any]) -> np.ndarray:
    record = np.zeros(1, dtype=dtype)
    for name in dtype.names or ():
        record[name] = values[name]
    return record
