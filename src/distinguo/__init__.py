"""distinguo learns which differences between states matter.

>>> import distinguo
>>> run = distinguo.learn("puck", seed=1)
>>> run.solved
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distinguo import criteria
    from distinguo.agents.economy import Economy
    from distinguo.agents.regions import RegionObservation
    from distinguo.controller import Controller
    from distinguo.errors import DistinguoError
    from distinguo.evaluation.tester import Evaluation, learning_curve
    from distinguo.learners.declare import learner
    from distinguo.representation.file import Representation, load
    from distinguo.representation.function import FunctionPartition
    from distinguo.representation.partition import region
    from distinguo.runs.folder import open_run
    from distinguo.runs.learn import learn
    from distinguo.runs.run import Run
    from distinguo.study.audit import audit
    from distinguo.study.compare import compare
    from distinguo.study.plan import make_plan
    from distinguo.tasks.check import check_task
    from distinguo.tasks.declare import task
    from distinguo.tasks.gym.wrappers import DiscreteActions, NoisyActions

from distinguo.tasks.gym.registration import register_with_gymnasium

__version__ = "0.1.0"

register_with_gymnasium()

#: Where each public name lives. Names are imported on first use, so that the command line starts at once.
_HOMES = {
    "Controller": "distinguo.controller",
    "choose": "distinguo.controller",
    "grid": "distinguo.representation.boxes",
    "state_value": "distinguo.criteria",
    "DistinguoError": "distinguo.errors",
    "DiscreteActions": "distinguo.tasks.gym.wrappers",
    "Economy": "distinguo.agents.economy",
    "NoisyActions": "distinguo.tasks.gym.wrappers",
    "RegionObservation": "distinguo.agents.regions",
    "Run": "distinguo.runs.run",
    "open_run": "distinguo.runs.folder",
    "learn": "distinguo.runs.learn",
    "learner": "distinguo.learners.declare",
    "Evaluation": "distinguo.evaluation.tester",
    "FunctionPartition": "distinguo.representation.function",
    "audit": "distinguo.study.audit",
    "compare": "distinguo.study.compare",
    "learning_curve": "distinguo.evaluation.tester",
    "make_plan": "distinguo.study.plan",
    "Representation": "distinguo.representation.file",
    "load": "distinguo.representation.file",
    "region": "distinguo.representation.partition",
    "check_task": "distinguo.tasks.check",
    "task": "distinguo.tasks.declare",
}
#: Modules that are public as they are.
_MODULES = ("criteria",)

__all__ = [
    "Controller",
    "DiscreteActions",
    "DistinguoError",
    "Economy",
    "Evaluation",
    "FunctionPartition",
    "NoisyActions",
    "RegionObservation",
    "Representation",
    "Run",
    "audit",
    "check_task",
    "compare",
    "criteria",
    "learn",
    "learner",
    "learning_curve",
    "load",
    "make_plan",
    "open_run",
    "region",
    "task",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"distinguo.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'distinguo' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, *_MODULES])
