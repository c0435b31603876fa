"""The maps that the systems make of a task, each with what is done in its regions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.tester import Evaluation, trained_values
from distinguo.representations.file import Representation
from distinguo.representations.partition import region
from distinguo.runs.learn import learn
from distinguo.seam import has_own
from distinguo.settings import TesterSettings
from distinguo.study.sources import representation_named
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import task_extent
from distinguo.tasks.spec import TaskSpec
from distinguo_lab.neighbours.systems import LEARNER, REPRESENTATION, SYSTEMS, System


class SystemMap(NamedTuple):
    """A map of a system's."""

    system: System
    representation: Representation
    controller: Controller


def maps_of(task: str, seed: int) -> list[SystemMap]:
    """Return the map of every system that makes one; those of representations have a fresh learner's values."""
    spec, maps = task_spec(task), []
    for system in SYSTEMS:
        if system.door not in (LEARNER, REPRESENTATION):
            continue
        try:
            made = _learned(system, spec, seed) if system.door == LEARNER else _given(system, spec, seed)
        except DistinguoError:  # it does not apply: the tables say why
            continue
        maps.append(made)
    return maps


def _learned(system: System, spec: TaskSpec, seed: int) -> SystemMap:
    run = learn(
        spec.name, learner=system.asked_on(spec.name), seed=seed, settings=dict(system.settings) or None
    )
    return SystemMap(system, run.representation, run.controller)


def _given(system: System, spec: TaskSpec, seed: int) -> SystemMap:
    representation = representation_named(system.asked_on(spec.name), spec, seed)
    if not has_own(region, representation.partition):
        raise DistinguoError(f"{system.name} has features and no regions.")
    partition, settings = representation.partition, TesterSettings()
    evaluation = Evaluation(spec, partition, representation.regions, settings, task_extent(spec, seed))
    q = trained_values(evaluation, np.random.default_rng(seed))
    return SystemMap(system, representation, Controller(partition, q, settings.delta))
