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
    from distinguo.agents.economy import Economy
    from distinguo.agents.regions import RegionObservation
    from distinguo.errors import DistinguoError
    from distinguo.evaluation.audit import audit
    from distinguo.evaluation.tester import Exam, learning_curve
    from distinguo.representation.file import Representation, load
    from distinguo.representation.function import FunctionPartition
    from distinguo.representation.partition import region
    from distinguo.runs.folder import Run, open_run
    from distinguo.runs.learn import learn
    from distinguo.study.compare import put_on_trial
    from distinguo.study.plan import make_plan
    from distinguo.tasks.check import check_task
    from distinguo.tasks.declare import task
    from distinguo.tasks.gym.wrappers import DiscreteActions, NoisyActions

from distinguo.tasks.gym.registration import register_with_gymnasium

__version__ = "0.1.0"

register_with_gymnasium()

#: Where each public name lives. Names are imported on first use, so that the command line starts at once.
_HOMES = {
    "DistinguoError": "distinguo.errors",
    "DiscreteActions": "distinguo.tasks.gym.wrappers",
    "Economy": "distinguo.agents.economy",
    "NoisyActions": "distinguo.tasks.gym.wrappers",
    "RegionObservation": "distinguo.agents.regions",
    "Run": "distinguo.runs.folder",
    "open_run": "distinguo.runs.folder",
    "learn": "distinguo.runs.learn",
    "Exam": "distinguo.evaluation.tester",
    "FunctionPartition": "distinguo.representation.function",
    "audit": "distinguo.evaluation.audit",
    "learning_curve": "distinguo.evaluation.tester",
    "make_plan": "distinguo.study.plan",
    "put_on_trial": "distinguo.study.compare",
    "Representation": "distinguo.representation.file",
    "load": "distinguo.representation.file",
    "region": "distinguo.representation.partition",
    "check_task": "distinguo.tasks.check",
    "task": "distinguo.tasks.declare",
}

__all__ = [
    "DiscreteActions",
    "DistinguoError",
    "Economy",
    "Exam",
    "FunctionPartition",
    "NoisyActions",
    "RegionObservation",
    "Representation",
    "Run",
    "audit",
    "check_task",
    "learn",
    "learning_curve",
    "load",
    "make_plan",
    "open_run",
    "put_on_trial",
    "region",
    "task",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'distinguo' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
