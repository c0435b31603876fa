"""One run of a study: learned, tried anew, and told in a few figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from distinguo.engines.code import Code
from distinguo.engines.jobs import Job
from distinguo.evaluation.tester import Batch, outcome_of
from distinguo.runs.configuration import Configuration
from distinguo.runs.learn import learn_configured
from distinguo.runs.run import Run
from distinguo.runs.settings_file import from_toml
from distinguo.tasks.extent import TEST, observed_extent
from distinguo.tasks.spec import MeanReturn, TaskSpec
from distinguo.tasks.task import start

ANEW = 1  #: a second seed beside the run's own, so that no start of learning or confirmation comes again
LONG = 5_000_000  #: steps that a new trial should last where trials should never end
SLOW_LONG = 10_000  #: steps of a new trial of an environment in plain Python without a time limit
DRAWS = 100  #: of as many starts as trials, at most
LONGEST = 10**6  #: steps of a new trial of a task without a time limit
#: Figures of a run, as its summary has them.
TOLD = (
    "learner",
    "solved",
    "score",
    "regions",
    "prototypes",
    "environment_steps",
    "confirmation_steps",
    "failed_confirmation_steps",
    "total_steps",
    "attempts",
)


def learning_job(key: str, settings: str, seed: int, trials: int, code: tuple[Code, ...] = ()) -> Job:
    """Return the job that learns a seed by these settings and tries the result in new trials."""
    return Job(key, learned, {"settings": settings, "seed": seed, "trials": trials}, code)


def learned(settings: str, seed: int, trials: int) -> dict[str, Any]:
    """Learn a seed as the settings say, and return the figures of the run.

    >>> from distinguo.runs.configuration import configure
    >>> from distinguo.runs.settings_file import to_toml
    >>> figures = learned(to_toml(configure("puck")), seed=1, trials=5)
    >>> figures["solved"], figures["again"], figures["regions"]
    (True, True, 4)
    """
    return figures_of(learn_configured(_read(settings)._replace(seed=seed)), trials)


@lru_cache(maxsize=64)
def _read(settings: str) -> Configuration:
    """Read settings; in a study, thousands of runs share them."""
    return from_toml(settings)


def figures_of(run: Run, trials: int) -> dict[str, Any]:
    """Return a run in a few figures: those of its summary, and how it does in new trials."""
    fresh, reached = tried_anew(run, trials)
    told: Mapping[str, Any] = run.summary
    kept = {name: told[name] for name in (*TOLD, "numbers", "proven") if name in told}
    return {
        **kept,
        "again": bool(run.solved and reached),
        "fresh": fresh if isfinite(fresh) else None,
        "seconds": round(told["seconds"], 3),
    }


def tried_anew(run: Run, trials: int) -> tuple[float, bool]:
    """Return how well the greedy policy does from new starts, and whether that is what the task asks for.

    It is the mean return or, where trials should never end, the median length.
    """
    spec = run.configuration.spec
    rng = np.random.default_rng([run.configuration.seed, ANEW])
    if isinstance(spec.goal, MeanReturn):
        mean = float(new_trials(run, trials, rng).mean())
        return mean, spec.goal.threshold is not None and mean >= spec.goal.threshold
    cap = spec.cap(SLOW_LONG if spec.interpreted else LONG)
    if spec.interpreted:
        starts = np.array([start(spec.task, rng) for _ in range(trials)])
    else:
        starts = _controllable(spec, rng, trials)
    lengths = outcome_of(spec.task, run.controller, rng, Batch(starts, cap), provable=run.controller).lengths
    median = float(np.median(lengths))
    return median, median >= cap


def _controllable(spec: TaskSpec, rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw starts from which the task can be held; others say nothing about a controller."""
    extent, found = observed_extent(spec.task), np.zeros((0, len(spec.low)))
    for _ in range(DRAWS):
        drawn = extent.draw(rng, TEST, count)
        found = np.concatenate([found, drawn[spec.controllable_among(drawn)]])
        if len(found) >= count:
            break
    return found[:count] if len(found) else drawn


def new_trials(run: Run, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return the returns of greedy trials from new starts."""
    spec = run.configuration.spec
    starts = np.array([start(spec.task, rng) for _ in range(count)])
    cap = spec.cap(SLOW_LONG if spec.interpreted else LONGEST)
    returns: np.ndarray = outcome_of(spec.task, run.controller, rng, Batch(starts, cap)).returns
    return returns
