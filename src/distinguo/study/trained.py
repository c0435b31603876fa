"""What a fresh learner makes of a representation: the controller that the tester ends with."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from distinguo.controller import Controller, FeatureController
from distinguo.errors import check_known
from distinguo.evaluation.tester import Evaluation, trained_values
from distinguo.runs.configuration import check_seed
from distinguo.settings import TesterSettings, checked, tester_suited
from distinguo.study.sources import representation_named
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.extent import task_extent
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import seeded


def trained_controller(
    what: Any, task: Any = "puck", *, seed: int = 0, **tester: Any
) -> Controller | FeatureController:
    """Let a fresh learner of the tester learn on a representation or on features, and return what it has learned.

    ``what`` is whatever :func:`compare` takes, such as ``"tiles:8x10x10"`` or features of your own; settings of
    the tester go by their names.

    >>> mine = trained_controller("tiles:8x10x10", steps=20_000)
    >>> mine.weights.shape, mine.action((0.2, 1.2)), mine.action((-0.2, -1.2))
    ((968, 2), 0, 1)
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
