"""What a learning run is asked to do: everything that decides its result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, checks_names, did_you_mean, one_line, shown
from distinguo.learners.catalog import ECONOMY
from distinguo.learners.learner import Learner, learner_named
from distinguo.presets import DEFAULT
from distinguo.runs.suited import suggested_settings, suited_learner
from distinguo.settings import StageSettings, checked
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.gym.words import TaskWords, with_words
from distinguo.tasks.noise import NoiseParameters
from distinguo.tasks.spec import TaskSpec

TABLES = ("task", "learner", "stage")
#: Parameters of tasks that are without noise unless they are given.
NOISES = ("noise", *NoiseParameters._fields)
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


@checks_names()
def configure(
    task: str | TaskSpec,
    *,
    seed: int = 0,
    preset_name: str = DEFAULT,
    changes: Mapping[str, Any] | None = None,
    prototypes: Any = None,
    interpreted: bool = False,
    learner: Any = None,
    words: TaskWords | None = None,
) -> Configuration:
    """Put a configuration together; ``changes`` are settings by dotted name, such as ``learner.epsilon``.

    Without a ``learner`` the one that suits the task is taken. ``words`` are names, units and a threshold for an
    environment that has none.
    """
    asked = _by_table(changes or {})
    if isinstance(task, TaskSpec):
        check_given(task, asked["task"])
    setting = task if isinstance(task, TaskSpec) else task_spec(task, asked["task"], interpreted)
    setting = with_words(setting, words or {})
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


def check_given(setting: TaskSpec, asked: Mapping[str, Any]) -> None:
    """Refuse parameters for a task that was made before without them: they would be ignored."""
    made = {**dict.fromkeys(NOISES, 0.0), **setting.parameters}
    for name, value in asked.items():
        if name not in made and not setting.interpreted:
            raise DistinguoError(f"Unknown setting task.{one_line(name)}; {did_you_mean(name, made)}")
        if made.get(name) != value:
            raise DistinguoError(
                f"task.{one_line(name)} should be given when {setting.name} is made; it was made with "
                f"{shown(made.get(name))}, got {shown(value)} now."
            )


def _by_table(changes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
    for key, value in changes.items():
        table, _, name = key.partition(".")
        if table not in tables or not name:
            raise DistinguoError(
                f"Unknown setting '{one_line(key)}'; settings are named TABLE.NAME, and for the table "
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
    except (ValueError, TypeError, ArithmeticError):
        raise DistinguoError(f"Prototypes should be rows of numbers, got {shown(given)}.") from None
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


def values_by_table(configuration: Configuration) -> tuple[tuple[Any, Mapping[str, Any]], ...]:
    """Return the values of each table of settings, with the class that comments on them."""
    spec, learner, stage = configuration.spec, configuration.learner, configuration.stage
    return (
        (type(spec.task), spec.parameters),
        (type(learner), learner._asdict()),
        (StageSettings, stage._asdict()),
    )


def differences(ours: Configuration, theirs: Configuration) -> str:
    """Say in which settings two configurations differ, for a message; empty if they do not."""
    mine, other = flat(ours), flat(theirs)
    return ", ".join(
        f"{key} {json.dumps(mine.get(key))} instead of {json.dumps(other.get(key))}"
        for key in mine | other
        if mine.get(key) != other.get(key)
    )


def flat(configuration: Configuration) -> dict[str, Any]:
    """Return what decides the result of a run as one table, by dotted name."""
    flat = {
        "task": configuration.spec.name,
        "seed": configuration.seed,
        "interpreted": configuration.spec.interpreted,
        **{name: getattr(configuration.spec, name) for name in ("dimensions", "actions", "threshold")},
        "learner": configuration.learner_name,
        "prototypes": configuration.prototypes,
    }
    for table, (_, values) in zip(TABLES, values_by_table(configuration), strict=True):
        flat |= {f"{table}.{key}": value for key, value in values.items()}
    return flat
