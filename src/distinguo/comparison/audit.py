"""The audit of a learning run: where its representation costs reward, by the settings that it was learned with.

Features, and representations that no run has learned, are audited with the values of a fresh learner of the tester
(:func:`trained_controller`).
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from distinguo.comparison.sources import representation_named
from distinguo.controller import Controller, FeatureController
from distinguo.errors import DistinguoError, check_known, checks_names
from distinguo.evaluation.audit import (
    NO_LIMIT,
    Audit,
    Visits,
    Watch,
    audit_controller,
    audit_policy,
    restorable_task,
)
from distinguo.evaluation.tester import Evaluation, trained_values
from distinguo.runs.configuration import check_seed
from distinguo.runs.folder import as_run
from distinguo.runs.run import Run
from distinguo.seam import is_compiled
from distinguo.settings import TesterSettings, checked, tester_suited
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.extent import task_extent
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import seeded

VISITS, SLOW_VISITS = 10_000, 200  #: states audited; and if each takes trials in plain Python
LONGEST = 500  #: limit of a trial if the environment has none and is restored by replays


@checks_names()
def audit(
    run: Run | str | Path,
    *,
    states: ArrayLike | None = None,
    visits: int | None = None,
    epsilon: float | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    task: Any = None,
) -> Audit:
    """Audit a run, or the run in a folder: which states are not epsilon-adequate, by which rule, at what cost.

    The states are given, or they are ``visits`` states of the greedy policy, by default 10,000; the seed decides
    among tied actions. ``epsilon`` is the reward that may be lost, by default that of the run. A map without values
    (a distilled one, or one of ``probation``) has no epsilon: the value of an action is then the return of a trial
    that takes it and then follows the map, and epsilon is a twentieth of the mean difference between actions. If such
    trials are plain Python, 200 states are audited. ``watch`` is called with the number of states done and the number
    of all states. Trials of an environment in plain Python end at its time limit or after 500 steps, so that the time
    grows linearly with the visits. ``task`` is the environment, or the task of your own, that the run was learned
    from, if its name cannot make it.

    >>> import distinguo
    >>> audit(distinguo.learn("puck", seed=1), visits=1000).adequate
    1.0
    """
    check_seed(seed)
    opened = as_run(run, task)
    learner, spec = opened.configuration.learner, opened.configuration.spec
    if not hasattr(learner, "gamma"):
        return _of_policy(opened, states, (visits, seed), epsilon, watch)
    longest = NO_LIMIT if is_compiled(spec.task) else spec.cap(LONGEST)
    visits = VISITS if visits is None else visits
    return audit_controller(
        seeded(spec.task, seed),
        opened.controller,
        Visits(visits, seed, longest) if states is None else states,
        gamma=_setting(opened, "gamma"),
        # if epsilon was a share of what was seen, the summary has its value
        epsilon=float(opened.summary.get("epsilon") or _setting(opened, "epsilon"))
        if epsilon is None
        else epsilon,
        samples=getattr(learner, "samples", 1),
        watch=watch,
    )


def _of_policy(
    run: Run,
    states: ArrayLike | None,
    asked: tuple[int | None, int],
    epsilon: float | None,
    watch: Watch | None,
) -> Audit:
    """Audit a run without values."""
    spec, (visits, seed) = run.configuration.spec, asked
    task, longest = seeded(restorable_task(spec), seed), spec.cap(LONGEST)
    number = (VISITS if is_compiled(spec.task) else SLOW_VISITS) if visits is None else visits
    where = Visits(number, seed, longest) if states is None else states
    return audit_policy(task, run.controller, where, longest=longest, epsilon=epsilon, watch=watch)


def _setting(run: Run, name: str) -> float:
    """Return a setting of the learner that an audit needs."""
    configuration = run.configuration
    if not hasattr(configuration.learner, name):
        raise DistinguoError(
            f"An audit needs gamma and epsilon, but the learner {configuration.learner_name} has no setting {name}; "
            "give it to audit_controller."
        )
    return float(getattr(configuration.learner, name))


def trained_controller(
    what: Any, task: Any = "puck", *, seed: int = 0, **tester: Any
) -> Controller | FeatureController:
    """Train a fresh learner of the tester on a representation or on features, and return its controller.

    ``what`` is anything that :func:`compare` takes, such as ``"tiles:8x10x10"`` or features of your own; settings of
    the tester go by their names.

    >>> mine = trained_controller("tiles:8x10x10", steps=20_000)
    >>> mine.weights.shape, bool(mine.value((2.3, 4.0)) < -0.1)
    ((968, 2), True)
    """
    check_known(tester, TesterSettings._fields, "tester", inspect.signature(trained_controller).parameters)
    check_seed(seed)
    spec = task_spec(task) if isinstance(task, str) else task if isinstance(task, TaskSpec) else spec_of(task)
    spec = spec._replace(task=seeded(spec.task, seed))
    settings = checked(TesterSettings, {**tester_suited(spec.score, spec.kind), **tester}, "tester")
    known = representation_named(what, spec, seed)
    evaluation = Evaluation(spec, known.partition, known.regions, settings, task_extent(spec, seed))
    values = trained_values(evaluation, np.random.default_rng(seed))
    if known.of_features:
        return FeatureController(known.partition, values, settings.delta)
    return Controller(known.partition, values, settings.delta)
