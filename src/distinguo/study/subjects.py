"""What can be verified: a controller and its task, from a run, a representation file or the name of a control."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.tester import Evaluation, trained_values
from distinguo.representations.file import Representation
from distinguo.runs.folder import open_run
from distinguo.runs.run import Run
from distinguo.settings import TesterSettings
from distinguo.study.sources import representation_named
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import Extent
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import seeded


class Subject(NamedTuple):
    """A controller that something is asked about."""

    name: str
    spec: TaskSpec
    representation: Representation
    controller: Controller
    folder: Path | None = None  #: the folder of the run, if it has one


@singledispatch
def subject_of(what: Any, task: str | None, seed: int) -> Subject:
    """Return what a word, a path or a run means; what has no values learns them on a task, with a seed.

    >>> subject_of("diagonal", "puck", seed=0).controller.policy.tolist()
    [0, 1]
    """
    raise DistinguoError(
        f"A {type(what).__name__} cannot be verified; give a run, its folder, a representation file or a control."
    )


@subject_of.register
def _(what: Run, task: str | None, seed: int) -> Subject:
    spec = what.configuration.spec
    name = str(what.path) if what.path else f"the run of seed {what.configuration.seed}"
    if task not in (None, spec.name):
        raise DistinguoError(f"{name} is a run of {spec.name}, not of {task}.")
    return Subject(name, spec, what.representation, what.controller, what.path)


@subject_of.register(str)
@subject_of.register(Path)
def _(what: str | Path, task: str | None, seed: int) -> Subject:
    if Path(what).is_dir():
        return subject_of(open_run(what), task, seed)._replace(name=str(what))
    return _trained(str(what), task or "puck", seed)


def _trained(what: str, task: str, seed: int) -> Subject:
    """Learn the values of a representation as the tester does."""
    spec = task_spec(task)
    spec = spec._replace(task=seeded(spec.task, seed))
    representation = representation_named(what, spec, seed)
    _refuse_another_task(what, representation, spec)
    settings, extent = TesterSettings(), Extent(spec.low, spec.high)
    evaluation = Evaluation(spec, representation.partition, representation.rows, settings, extent)
    q = trained_values(evaluation, np.random.default_rng(seed))
    return Subject(what, spec, representation, Controller(representation.partition, q, settings.delta))


def _refuse_another_task(what: str, representation: Representation, spec: TaskSpec) -> None:
    """Refuse a file that was learned on another task, even one whose coordinates have the same names."""
    home = representation.provenance.get("task")
    if isinstance(home, str) and home != spec.name:
        raise DistinguoError(f"{what} was learned on {home}, not on {spec.name}; give --task {home}.")
