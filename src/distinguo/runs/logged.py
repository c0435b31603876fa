"""Learn from a log: a run in a model of the logged steps, and trials of what it found in the real task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError, counted
from distinguo.evaluation.simulate import evaluate
from distinguo.offline.estimate import findings_of
from distinguo.offline.log import Transitions
from distinguo.offline.readers import load_log
from distinguo.offline.task import LogParameters, log_of, log_spec
from distinguo.runs.configuration import of_table
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.spec import LENGTH, TaskSpec
from distinguo.tasks.task import has_one_start, seeded, start

TRIALS = 100  #: greedy trials in the real task
LONG_TRIALS = 20  #: the same where a trial should never end


class Logged(NamedTuple):
    """A log to learn from, and the task that was logged, if there is one."""

    log: Transitions
    spec: TaskSpec  #: the log as a task
    real: TaskSpec | None
    changes: Mapping[str, Any]  #: the settings, without those of the real task

    def findings(self, controller: Controller, seed: int, hold: int) -> dict[str, Any]:
        """What can be said of a controller beyond the model; keys for the summary of its run."""
        found = findings_of(self.spec, controller, seed)
        return found if self.real is None else found | tried(self.real, controller, seed, hold)


def of_real_task(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that are not those of a log, and so of the task that was logged."""
    return {name: value for name, value in parameters.items() if name not in LogParameters._fields}


def logged(data: Any, task: Any, changes: Mapping[str, Any]) -> Logged:
    """Read a log as a task; ``task`` is the real one, for names, its goal, and to try what was learned."""
    given = of_table(changes, "task")
    rest = of_real_task(given)
    if task is None and rest:
        raise DistinguoError(
            f"Unknown setting task.{next(iter(rest))}; a log has {', '.join(LogParameters._fields)}, and the task "
            "that was logged may have others: name it as well."
        )
    real = None if task is None else task_spec(task, rest) if isinstance(task, str) else spec_of(task, rest)
    if real is not None and real.amounts is not None:
        raise DistinguoError(
            f"The actions of {real.name} are amounts, and a log has a few actions; choose levels with task.levels."
        )
    spec = log_spec(load_log(data, real), {name: given[name] for name in given if name not in rest}, real)
    mine = {key: value for key, value in changes.items() if key.removeprefix("task.") not in rest}
    return Logged(log_of(spec), spec, real, mine)


def tried(real: TaskSpec, controller: Controller, seed: int, hold: int) -> dict[str, Any]:
    """Try a controller in new greedy trials of the real task."""
    task, rng = seeded(real.task, seed), np.random.default_rng(seed)
    by_length = real.score == LENGTH
    trials = TRIALS if not by_length else 1 if has_one_start(task) else LONG_TRIALS
    starts = np.array([start(task, rng) for _ in range(trials)])
    outcome = evaluate(task, controller, rng, starts, real.cap(hold))
    score = real.goal.score(outcome.lengths, outcome.returns)
    enough = not outcome.ended.any() if by_length else real.threshold is not None and score >= real.threshold
    return {
        "tried_task": real.name,
        "tried_trials": trials,
        "tried_steps": int(outcome.lengths.sum()),
        "tried_score": score,
        "tried_by": real.goal.score_name,
        "tried_solved": bool(enough),
    }


def tried_sentence(summary: Mapping[str, Any]) -> str:
    """A sentence on the trials in the real task.

    >>> facts = {"task": "puck", "trials": 1, "by": "median length", "score": 500_000.0, "solved": True}
    >>> tried_sentence({f"tried_{name}": fact for name, fact in facts.items()})
    'Tried in puck itself: solved; 1 new trial, median length 500,000.'
    """
    found, trials = (
        "solved" if summary["tried_solved"] else "not solved",
        counted(summary["tried_trials"], "new trial"),
    )
    score = f"{summary['tried_score']:z,.1f}".removesuffix(".0")
    return f"Tried in {summary['tried_task']} itself: {found}; {trials}, {summary['tried_by']} {score}."
