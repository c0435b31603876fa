"""The configuration of a run: the task, the learner that suits it, all settings, and the command to repeat it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError, checks_names, did_you_mean, one_line, shown, unknown_setting
from distinguo.learners.catalog import (
    DISTILLED,
    ECONOMY,
    EVOLUTION,
    MODEL,
    PROBATION,
    SURPRISE,
    SWEEPING,
    learner_names,
)
from distinguo.learners.learner import AbsentLearner, Learner, all_learners, learner_named, learner_or_absent
from distinguo.offline.task import is_logged
from distinguo.presets import BY_RETURN, DEFAULT, NEVER_ENDING, OF_AMOUNTS, preset, suited
from distinguo.proof.question import Request, read_ranges, written_ranges
from distinguo.proof.verify import question_for
from distinguo.representations.voronoi import voronoi
from distinguo.seam import is_compiled
from distinguo.settings import StageSettings, checked
from distinguo.tasks.amounts import amounts_refused, needs_laws, with_laws, without_laws
from distinguo.tasks.catalog import SPECS, in_amounts, own_parameters, task_spec
from distinguo.tasks.gym.task import TaskWords, with_words
from distinguo.tasks.noise import NoiseParameters
from distinguo.tasks.spec import CATEGORIES, Hold, MeanReturn, TaskSpec

# Everything that decides the result of a run.


#: The usual budget to prove a compiled task, and one that is run as plain Python.
PROVE_STEPS, SLOW_PROVE_STEPS = 10**9, 10**7

TABLES = ("task", "learner", "stage")
#: Noise parameters of tasks, 0 unless they are given.
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
    """Make a configuration; ``changes`` are settings by dotted name, such as ``learner.epsilon``.

    Without a ``learner``, the one that suits the task is used. ``words`` are names, units and a threshold for an
    environment that has none.
    """
    asked = _by_table(changes or {}, task)
    if isinstance(task, TaskSpec):
        check_given(task, asked["task"])
    setting = task if isinstance(task, TaskSpec) else task_spec(task, asked["task"], interpreted)
    wide = None if "levels" in asked["task"] else in_amounts(setting)
    setting = with_words(setting, words or {}) if wide is None else setting
    if learner is None:
        learner = suited_learner(setting, preset_name, asked["learner"], prototypes is not None)
    chosen = learner if isinstance(learner, Learner) else learner_named(learner)
    if wide is not None:
        setting = with_words(wide if chosen.uses_laws else setting, words or {})
    takes = (
        chosen.uses_laws or chosen.uses_amounts or chosen.name == DISTILLED
    )  # its laws come with its values
    if needs_laws(setting) and not takes:
        raise amounts_refused(setting, f"the learner '{chosen.name}'")
    tables = _by_table(
        {**suggested_settings(setting, preset_name, chosen, changes or {}), **(changes or {})}, setting
    )
    return Configuration(
        spec=setting,
        learner=checked(chosen.settings, tables["learner"], "learner"),
        stage=checked(StageSettings, tables["stage"], "stage"),
        seed=check_seed(seed),
        preset=preset_name,
        prototypes=None if prototypes is None else check_prototypes(prototypes, setting),
        learner_name=chosen.name,
    )


def to_be_proven(
    configuration: Configuration, ranges: Mapping[str, tuple[float, float]] | None = None
) -> Configuration:
    """The same, with a budget to prove what is learned; a task that nothing can be proven about is rejected.

    ``ranges`` are those of parameters that may change at each step.

    >>> to_be_proven(configure("puck")).stage.prove_steps
    1000000000
    >>> to_be_proven(configure("puck"), {"mass": (0.99, 1.01)}).stage.prove_ranges
    'mass=0.99:1.01'
    """
    spec, stage = configuration.spec, configuration.stage
    if ranges is None:
        ranges = ranges_of(stage)
    if is_logged(spec.task):
        raise DistinguoError(
            "What is learned from a log cannot be proven while it is learned; leave prove out, and verify the run "
            "afterwards in the task that was logged."
        )
    if needs_laws(spec) and spec.amounts is not None:  # any law tells whether its task can be followed
        spec = with_laws(spec, np.zeros((1, len(spec.amounts.low), len(spec.dimensions) + 1)))
    one = voronoi([[0.0] * len(spec.dimensions)], [1.0] * len(spec.dimensions))
    request = Request(spec, Controller(one, np.zeros((1, len(spec.actions)))), ranges=ranges)
    question = question_for(request)
    if isinstance(question, str):
        raise DistinguoError(
            f"{question} Leave prove out: distinguo verify then says what trials show, which is not a proof."
        )
    question.check(request)
    for name, (low, high) in ranges.items():
        known = spec.parameters.get(name)
        if not isinstance(known, int | float) or isinstance(known, bool):
            names = [key for key, value in spec.parameters.items() if isinstance(value, float)]
            raise DistinguoError(
                f"{spec.name} has no parameter {one_line(name)} that can be in a range; {did_you_mean(name, names)}"
            )
        if not low <= known <= high:
            raise DistinguoError(
                f"{name} is {known} where {spec.name} is learned, so its range should include that, got {low} to "
                f"{high}."
            )
    usual = PROVE_STEPS if is_compiled(spec.task) else SLOW_PROVE_STEPS
    return configuration._replace(
        stage=stage._replace(prove_steps=stage.prove_steps or usual, prove_ranges=written_ranges(ranges))
    )


def ranges_of(stage: StageSettings) -> dict[str, tuple[float, float]]:
    """The ranges of parameters for which a run is to be proven.

    >>> ranges_of(StageSettings(prove_ranges="mass=0.95:1.05"))
    {'mass': (0.95, 1.05)}
    """
    return read_ranges(stage.prove_ranges.split(",") if stage.prove_ranges else [])


def of_table(changes: Mapping[str, Any], table: str) -> dict[str, Any]:
    """Return the settings of one table, by their plain names.

    >>> of_table({"task.beta": 0.2, "learner.epsilon": 0.1}, "task")
    {'beta': 0.2}
    """
    return {
        key.removeprefix(f"{table}."): value for key, value in changes.items() if key.startswith(f"{table}.")
    }


def check_given(setting: TaskSpec, asked: Mapping[str, Any]) -> None:
    """Reject parameters for a task that already exists: they would be ignored."""
    made = {**dict.fromkeys(NOISES, 0.0), **setting.parameters}
    for name, value in asked.items():
        if name not in made and not setting.interpreted:
            raise DistinguoError(f"Unknown setting task.{one_line(name)}; {did_you_mean(name, made)}")
        if made.get(name) != value:
            raise DistinguoError(
                f"task.{one_line(name)} should be given when {setting.name} is made; it was made with "
                f"{shown(made.get(name))}, got {shown(value)} now."
            )


def _fields(task: str | TaskSpec) -> dict[str, Iterable[str]]:
    """Return the names of the settings of each table; those of all learners, the most usual ones first."""
    learners = [learner.settings._fields for learner in all_learners()]
    parameters = task.parameters if isinstance(task, TaskSpec) else own_parameters(task)
    return {"learner": chain(*learners), "stage": StageSettings._fields, "task": parameters}


def _by_table(changes: Mapping[str, Any], task: str | TaskSpec) -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
    for key, value in changes.items():
        table, _, name = key.partition(".")
        if table not in tables or not name:
            raise unknown_setting(key, _fields(task))
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
    """The settings in which two configurations differ, for a message; empty if they do not."""
    mine, other = flat(ours), flat(theirs)
    return ", ".join(
        f"{key} {json.dumps(mine.get(key))} instead of {json.dumps(other.get(key))}"
        for key in mine | other
        if mine.get(key) != other.get(key)
    )


def flat(configuration: Configuration) -> dict[str, Any]:
    """All settings that decide the result of a run, by dotted name."""
    configuration = configuration._replace(spec=without_laws(configuration.spec))
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


# What suits a task: the learner, and its settings.


FEW_NUMBERS = 3  #: observed, up to which a model of experience is the quickest to keep a trial going
#: Above so many, those that matter are found first (tasks/relevance.py). The noise is then often in the others.
MANY_NUMBERS = int(preset(DEFAULT)["stage.many"])
PAPERS_TASK = "puck"


class Choice(NamedTuple):
    """A learner, and why it suits a task."""

    learner: str
    why: str


def choice_for(spec: TaskSpec) -> Choice:
    """The learner that suits a task, by what it observes and what solves it (docs/gymnasium.md).

    >>> from distinguo.tasks.catalog import task_spec
    >>> choice_for(task_spec("CartPole-v1")).why
    'it suits tasks judged by return'
    """
    if spec.kind == CATEGORIES:
        return Choice(SWEEPING, "it suits labels")
    if spec.amounts is not None:
        return Choice(EVOLUTION, "it finds laws where actions are amounts")
    if is_logged(spec.task):
        return Choice(PROBATION, "its small maps are the likeliest to work beyond a log")
    if isinstance(spec.goal, MeanReturn):
        # a learner for many numbers, such as an evolution strategy, would be chosen here
        return Choice(PROBATION, "it suits tasks judged by return")
    if spec.name == PAPERS_TASK and spec.stochastic == "no":
        return Choice(ECONOMY if spec.restorable else SURPRISE, "this is the paper's task")
    if len(spec.dimensions) <= FEW_NUMBERS:
        return Choice(
            MODEL, f"it suits trials that should never end, with up to {FEW_NUMBERS} numbers observed"
        )
    if spec.stochastic != "no" and len(spec.dimensions) <= MANY_NUMBERS:
        return Choice(PROBATION, f"it suits stochastic tasks with over {FEW_NUMBERS} numbers observed")
    if spec.restorable:
        return Choice(
            ECONOMY, f"it suits trials that should never end, with over {FEW_NUMBERS} numbers observed"
        )
    return Choice(MODEL, "it suits trials that should never end and cannot be repeated")


def suited_learner(
    spec: TaskSpec, preset_name: str = DEFAULT, asked: Mapping[str, Any] | None = None, begun: bool = False
) -> str:
    """Return the learner that suits a task and has the given settings.

    ``begun`` says that there are prototypes to begin from, which only the paper's learner uses. Where states cannot
    be restored, that learner works without mini-trials: this is ``surprise``.

    >>> from distinguo.tasks.catalog import SPECS, own_parameters, task_spec
    >>> [suited_learner(task_spec(name)) for name in ("puck", "CartPole-v1")]
    ['economy', 'probation']
    """
    if preset_name != DEFAULT:
        return ECONOMY
    papers = (
        (ECONOMY,) if spec.restorable else (SURPRISE, ECONOMY)
    )  # economy has settings that surprise lacks
    order = papers if begun else dict.fromkeys((choice_for(spec).learner, *papers))
    able = [name for name in order if set(asked or {}) <= set(learner_named(name).settings._fields)]
    return able[0] if able else next(iter(order))


def suggested_settings(
    spec: TaskSpec, preset_name: str, learner: Learner, changes: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the settings that suit the task and the learner, by dotted name."""
    changed = preset(preset_name)
    if learner.name != ECONOMY:
        by_goal = BY_RETURN if isinstance(spec.goal, MeanReturn) else {}
        shared = {
            key: value for key, value in {**changed, **by_goal}.items() if not key.startswith("learner.")
        }
        return _with_amount({**shared, **learner.suggested_for(spec)}, changes)
    long = NEVER_ENDING if spec.name != PAPERS_TASK and isinstance(spec.goal, Hold) else {}
    shorter = OF_AMOUNTS if needs_laws(spec) and isinstance(spec.goal, Hold) else {}
    return {**changed, **_with_amount({**long, **shorter, **suited(spec, preset_name)}, changes)}


def _with_amount(suggested: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the suggestions without a share if the user gives an absolute number."""
    if "learner.epsilon" in changes and "learner.epsilon_share" in suggested:
        return {**suggested, "learner.epsilon_share": 0.0}
    return suggested


# The command that repeats or resumes a run.


def learn_command(configuration: Configuration, out: Path | None = None) -> str:
    """Return the command that learns as configured, in that folder, or in one of its own.

    >>> learn_command(configure("puck", seed=3, changes={"learner.epsilon": 0.05, "task.beta": 0.2}), Path("runs/a"))
    'distinguo learn puck --seed 3 --set task.beta=0.2 --set learner.epsilon=0.05 --out runs/a'
    """
    spec = configuration.spec
    if configuration.learner_name == DISTILLED:
        return _distil_command(configuration, out)
    if spec.interpreted and not spec.portable:
        return _call(configuration, out, ("…",))  # settings and names, as settings.toml has them
    plain = _plain(configuration)
    words = ["distinguo", "learn", _task_word(spec), "--seed", str(configuration.seed)]
    words += [] if configuration.preset == DEFAULT else ["--preset", configuration.preset]
    words += ["--interpreted"] if spec.interpreted and spec.name in SPECS else []
    if plain.learner_name != configuration.learner_name:
        words += ["--learner", _learner_word(configuration.learner_name)]
        plain = _plain(configuration, configuration.learner_name)
    if configuration.prototypes is not None:
        words += ["--from", ";".join(",".join(map(repr, row)) for row in configuration.prototypes)]
    if spec.interpreted and spec.threshold != plain.spec.threshold:
        words += ["--threshold", repr(spec.threshold)]
    asked, usual = flat(configuration), flat(plain)
    for name, value in asked.items():
        if "." in name and usual.get(name) != value:
            words += ["--set", f"{name}={assigned_text(value)}"]
    return shlex.join([*words, *_out_words(out)])


def _out_words(out: Path | None) -> list[str]:
    return [] if out is None else ["--out", str(out)]


def _distil_command(configuration: Configuration, out: Path | None) -> str:
    """Return the command that distils the same teacher again; it finds the levels of its actions anew."""
    learner, usual = configuration.learner, type(configuration.learner)()
    suited = learner_named(DISTILLED).suggested_for(configuration.spec)
    words = ["distinguo", "distil", learner.teacher, "--task", _task_word(configuration.spec)]
    words += ["--seed", str(configuration.seed)]
    for name, value in learner._asdict().items():
        if name != "teacher" and value != suited.get(f"learner.{name}", getattr(usual, name)):
            words += ["--set", f"learner.{name}={assigned_text(value)}"]
    return shlex.join([*words, *_out_words(out)])


def settings_call(configuration: Configuration, settings: Mapping[str, Any]) -> str:
    """The call in Python that learns with these settings, for environments that only Python can make."""
    return _call(configuration, None, (f"settings={dict(settings)!r}",) if settings else ())


def _call(configuration: Configuration, out: Path | None, more: Iterable[str]) -> str:
    """The call in Python, for environments that only Python can make."""
    words = [f"seed={configuration.seed}", f"preset={configuration.preset!r}"]
    words += [f"learner={configuration.learner_name!r}", *more]
    words += [] if out is None else [f"out={str(out)!r}"]
    return f"distinguo.learn({configuration.spec.name}(…), {', '.join(words)})"


def _task_word(spec: TaskSpec) -> str:
    return spec.name if spec.portable else _code_word(type(spec.task), spec.name)


def _learner_word(name: str) -> str:
    known = learner_or_absent(name, {})
    if name in learner_names() or (known.declared is None and not isinstance(known, AbsentLearner)):
        return name
    return _code_word(known.declared, name)


def _code_word(kind: Any, name: str) -> str:
    """Return the file and the name of a declared class; a placeholder if the file is unknown."""
    module = sys.modules.get(getattr(kind, "__module__", ""))
    source = getattr(module, "__file__", None)
    if source is None or kind.__module__.partition(".")[0] == "distinguo":
        return f"path/to/file.py:{name}"
    return f"{source}:{kind.__qualname__}"  # its name may carry a number, for compiled code


def _plain(configuration: Configuration, learner: str | None = None) -> Configuration:
    """Return the configuration that would be made without any settings; no step is taken to make it."""
    spec = configuration.spec
    try:
        usual = task_spec(spec.name, None, spec.interpreted, probing=False)
        spec = spec._replace(parameters=usual.parameters, threshold=usual.threshold)
    except DistinguoError:  # a task that only the user's code can make, or one that needs parameters
        spec = spec._replace(parameters={}) if spec.interpreted else spec
    return configure(
        spec, preset_name=configuration.preset, prototypes=configuration.prototypes, learner=learner
    )


def assigned_text(value: Any) -> str:
    """Write the value of a setting as ``--set`` takes it."""
    return value if isinstance(value, str) else json.dumps(value)
