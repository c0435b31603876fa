"""What a learning run is asked to do: everything that decides its result, and its file ``settings.toml``."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np
import tomlkit
from pydantic.fields import FieldInfo

from distinguo.errors import DistinguoError, did_you_mean, shown
from distinguo.learners.economy.learner import ECONOMY
from distinguo.learners.learner import Learner, learner_named, learner_or_absent
from distinguo.presets import DEFAULT
from distinguo.runs.suited import suggested_settings, suited_learner
from distinguo.settings import StageSettings, checked
from distinguo.tasks.catalog import check_own, task_spec, written_spec
from distinguo.tasks.spec import TaskSpec

VERSION = 1
TABLES = ("task", "learner", "stage")
RUN = (
    "version",
    "task",
    "seed",
    "preset",
    "learner",
    "prototypes",
    "interpreted",
)  #: the keys of the table ``run``
#: The keys of the table ``world``: what is known of a task that its name alone does not make again.
SPEC_KEYS = ("dimensions", "actions", "low", "high", "score", "kind", "threshold", "limit", "note")
Prototypes = tuple[tuple[float, ...], ...]


class Configuration(NamedTuple):
    """A task, the learner's settings, the stopping rule, the seed and the first prototypes.

    >>> configure("puck", seed=1, changes={"learner.epsilon": 0.05}).learner.epsilon
    0.05
    """

    spec: TaskSpec
    learner: Any  #: the settings of the learner
    stage: StageSettings
    seed: int
    preset: str
    prototypes: Prototypes | None = None  #: None: one prototype at the first state of the first trial
    learner_name: str = ECONOMY


class WrittenSpec(NamedTuple):
    """The table ``world``."""

    dimensions: tuple[str, ...]
    actions: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    score: str
    kind: str
    note: str = ""
    threshold: float | None = None
    limit: int | None = None


def configure(
    task: str | TaskSpec,
    *,
    seed: int = 0,
    preset_name: str = DEFAULT,
    changes: Mapping[str, Any] | None = None,
    prototypes: Any = None,
    interpreted: bool = False,
    learner: Any = None,
) -> Configuration:
    """Put a configuration together; ``changes`` are settings by dotted name, such as ``learner.epsilon``.

    Without a ``learner`` the one that suits the task is taken.
    """
    asked = _by_table(changes or {})
    setting = task if isinstance(task, TaskSpec) else task_spec(task, asked["task"], interpreted)
    _check_given(setting, asked["task"])
    if learner is None:
        learner = suited_learner(setting, preset_name, asked["learner"], prototypes is not None)
    chosen = learner if isinstance(learner, Learner) else learner_named(learner)
    tables = _by_table({**suggested_settings(setting, preset_name, chosen, changes or {}), **(changes or {})})
    return Configuration(
        spec=setting,
        learner=checked(chosen.settings, tables["learner"], "learner"),
        stage=checked(StageSettings, tables["stage"], "stage"),
        seed=check_seed(seed),
        preset=preset_name,
        prototypes=None if prototypes is None else check_prototypes(prototypes, setting),
        learner_name=chosen.name,
    )


def of_table(changes: Mapping[str, Any], table: str) -> dict[str, Any]:
    """Return the settings of one table, by their plain names.

    >>> of_table({"task.beta": 0.2, "learner.epsilon": 0.1}, "task")
    {'beta': 0.2}
    """
    return {
        key.removeprefix(f"{table}."): value for key, value in changes.items() if key.startswith(f"{table}.")
    }


def _check_given(setting: TaskSpec, asked: Mapping[str, Any]) -> None:
    """Refuse parameters for a task that was made before without them: they would be ignored."""
    for name, value in asked.items():
        if value and setting.parameters.get(name) != value:
            raise DistinguoError(
                f"task.{name} should be given when {setting.name} is made; it was made with "
                f"{setting.parameters.get(name)!r}, got {value!r} now."
            )


def _by_table(changes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
    for key, value in changes.items():
        table, _, name = key.partition(".")
        if table not in tables or not name:
            raise DistinguoError(
                f"Unknown setting '{key}'; settings are named TABLE.NAME, and for the table "
                f"{did_you_mean(table, TABLES)}"
            )
        tables[table][name] = value
    return tables


def check_seed(given: Any) -> int:
    """Return the given seed as a plain number, or say what is wrong with it."""
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if not whole or not 0 <= given < 2**63:
        raise DistinguoError(f"The seed should be a whole number from 0 to 2^63 - 1, got {shown(given)}.")
    return int(given)


def check_prototypes(given: Any, setting: TaskSpec) -> Prototypes:
    """Return the given prototypes as tuples, or say what is wrong with them."""
    try:
        rows = np.array(given, dtype=np.float64)
    except (ValueError, TypeError):
        raise DistinguoError(f"Prototypes should be rows of numbers, got {given!r}.") from None
    width = len(setting.dimensions)
    if rows.size == 0:
        raise DistinguoError("Prototypes are empty; give at least one, or none to start from scratch.")
    if rows.ndim != 2 or rows.shape[1] != width:
        raise DistinguoError(
            f"Prototypes of {setting.name} should have {width} coordinates ({', '.join(setting.dimensions)}), "
            f"got an array of shape {rows.shape}."
        )
    if not np.isfinite(rows).all():
        row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise DistinguoError(
            f"Prototype {row} is {rows[row].tolist()}, but every coordinate should be finite."
        )
    if len(np.unique(rows, axis=0)) < len(rows):
        raise DistinguoError("Prototypes should differ from each other, but some are given twice.")
    return tuple(tuple(row) for row in rows.tolist())


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
    if configuration.prototypes is not None:
        run["prototypes"] = [list(row) for row in configuration.prototypes]
    document["run"] = run
    for name, values in zip(TABLES, _values(configuration), strict=True):
        document[name] = _commented(*values)
    if configuration.spec.interpreted or not configuration.spec.portable:
        document["world"] = _spec_table(configuration.spec)
    return tomlkit.dumps(document)


def _values(configuration: Configuration) -> tuple[tuple[Any, Mapping[str, Any]], ...]:
    """Return the values of each table, with the class that comments on them."""
    spec, learner, stage = configuration.spec, configuration.learner, configuration.stage
    return (
        (type(spec.task), spec.parameters),
        (type(learner), learner._asdict()),
        (StageSettings, stage._asdict()),
    )


def _spec_table(spec: TaskSpec) -> tomlkit.items.Table:
    """Write down what is known of a task, so that a run can be opened where the task is not."""
    table = tomlkit.table()
    for name in SPEC_KEYS:
        value = getattr(spec, name)
        if value is not None:
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
    try:
        content = tomllib.loads(text)
        run = content["run"]
        newer = run["version"] > VERSION
        task, seed, name = str(run["task"]), run["seed"], str(run["preset"])
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise DistinguoError(f"{source} is not the settings of a run ({error}).") from None
    if newer:
        raise DistinguoError(f"{source} was written by a newer distinguo; upgrade to open it.")
    _check_names(content, ("run", *TABLES, "world"), source)
    _check_names(run, RUN, source)
    tables = {table: content.get(table, {}) for table in TABLES}
    if not all(isinstance(values, dict) for values in tables.values()):
        raise DistinguoError(f"{source} is not the settings of a run: {', '.join(TABLES)} should be tables.")
    changes = {f"{table}.{key}": value for table, values in tables.items() for key, value in values.items()}
    setting: str | TaskSpec = task
    if run.get("interpreted") or "world" in content:
        words = _read_words(content.get("world"), source)
        setting = written_spec(task, words, tables["task"], bool(run.get("interpreted")))
    else:
        check_own(task, source)
    return configure(
        setting,
        seed=seed,
        preset_name=name,
        changes=changes,
        prototypes=run.get("prototypes"),
        learner=learner_or_absent(str(run.get("learner", ECONOMY)), tables["learner"]),
    )


def _read_words(table: Any, source: str) -> dict[str, Any]:
    """Return what was written down of a task."""
    try:
        _check_names(table, SPEC_KEYS, source)
        given = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
        return checked(WrittenSpec, given, "world")._asdict()
    except (TypeError, AttributeError):
        raise DistinguoError(f"{source} is not the settings of a run: its spec is missing.") from None


def _check_names(given: Mapping[str, Any], known: tuple[str, ...], source: str) -> None:
    for name in given:
        if name not in known:
            raise DistinguoError(f"Unknown name {name!r} in {source}; {did_you_mean(name, known)}")


def differences(ours: Configuration, theirs: Configuration) -> str:
    """Say in which settings two configurations differ, for a message; empty if they do not."""
    mine, other = _flat(ours), _flat(theirs)
    return ", ".join(
        f"{key} {json.dumps(mine.get(key))} instead of {json.dumps(other.get(key))}"
        for key in mine | other
        if mine.get(key) != other.get(key)
    )


def _flat(configuration: Configuration) -> dict[str, Any]:
    flat = {
        "task": configuration.spec.name,
        "seed": configuration.seed,
        "interpreted": configuration.spec.interpreted,
        "learner": configuration.learner_name,
        "prototypes": configuration.prototypes,
    }
    for table, (_, values) in zip(TABLES, _values(configuration), strict=True):
        flat |= {f"{table}.{key}": value for key, value in values.items()}
    return flat
