"""One system, one task, one seed: did it succeed, how large is its map, what did it cost, does it carry over?"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from distinguo.runs.learn import learn
from distinguo.study.compare import compare
from distinguo.study.results import AveragedCurve
from distinguo.study.sources import representation_named
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.spec import Hold, TaskSpec
from distinguo_lab.neighbours.systems import LEARNER, PLANNER, System
from distinguo_lab.planning.trials import sparse_trials


class Measurement(NamedTuple):
    """What came out of one run."""

    seed: int
    succeeded: bool
    size: int  #: regions or features; none for a planner
    #: Environment steps: all of a learner's, training steps until a fresh learner reached the goal, or what a planner
    #: asks its model at every step.
    steps: int
    carries: (
        bool | None
    )  #: whether a fresh learner reaches the goal on the map; None where that is the success
    seconds: float  #: of a run; of a planner's decision


class Trial(NamedTuple):
    """How a map is judged: a fresh learner's training, and what its test trials have to reach."""

    steps: int = 50_000
    cap: int = 100_000  #: of a test trial, where the task itself has no limit


def measure(system: System, task: str, seed: int, trial: Trial) -> Measurement:
    """Run a system once.

    >>> from distinguo_lab.neighbours.systems import SYSTEMS
    >>> measure(SYSTEMS[0], "puck", 1, Trial(steps=20_000, cap=2_000)).succeeded
    True
    """
    spec = task_spec(task)
    if system.door == LEARNER:
        return _of_learner(system, spec, seed, trial)
    if system.door == PLANNER:
        return _of_planner(system, spec, seed)
    return _of_representation(system, spec, seed, trial)


def _of_learner(system: System, spec: TaskSpec, seed: int, trial: Trial) -> Measurement:
    began = time.perf_counter()
    run = learn(
        spec.name, learner=system.asked_on(spec.name), seed=seed, settings=dict(system.settings) or None
    )
    took = time.perf_counter() - began
    carries = _first_reached(_curve(run, spec, seed, trial), spec, trial) is not None
    summary = run.summary
    return Measurement(
        seed,
        bool(summary["solved"]),
        int(summary["regions"]),
        int(summary["environment_steps"]),
        carries,
        took,
    )


def _of_representation(system: System, spec: TaskSpec, seed: int, trial: Trial) -> Measurement:
    began = time.perf_counter()
    representation = representation_named(system.asked_on(spec.name), spec, seed)
    curve = _curve(representation, spec, seed, trial)
    took = time.perf_counter() - began
    reached = _first_reached(curve, spec, trial)
    return Measurement(
        seed, reached is not None, curve.regions, trial.steps if reached is None else reached, None, took
    )


def _of_planner(system: System, spec: TaskSpec, seed: int) -> Measurement:
    """Decide every step of one trial by looking ahead, without learning anything."""
    trial = sparse_trials(spec, depth=int(system.asked_on(spec.name)), seeds=[seed])
    reached = bool(spec.goal.reached(trial.ended, trial.returns)[0])
    decisions = int(trial.lengths.sum())
    return Measurement(seed, reached, 0, round(trial.calls_per_decision), None, trial.seconds / decisions)


def _curve(what: Any, spec: TaskSpec, seed: int, trial: Trial) -> AveragedCurve:
    """Return the learning curve of one fresh learner."""
    tester: dict[str, Any] = {
        "runs": 1,
        "steps": trial.steps,
        "cap": trial.cap,
    }  # or the task's limit, if less
    return compare({"it": what}, spec.name, seed=seed, **tester).curves[0]


def _first_reached(curve: AveragedCurve, spec: TaskSpec, trial: Trial) -> int | None:
    """Return the training steps after which the goal was reached and stayed so; None if it is not at the end."""
    goal = spec.goal
    asked = trial.cap if isinstance(goal, Hold) else goal.threshold
    assert asked is not None  # the tasks of the comparison all have one
    missed = np.flatnonzero(curve.scores[0] < asked)
    first = int(missed[-1]) + 1 if len(missed) else 0
    return curve.training_steps[first] if first < len(curve.training_steps) else None
