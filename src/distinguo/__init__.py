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
    from distinguo.lab.folder import Run, open_run
    from distinguo.lab.learn import learn
    from distinguo.lab.plan import make_plan
    from distinguo.lab.trial import put_on_trial
    from distinguo.representation.file import Representation, load
    from distinguo.representation.function import FunctionPartition
    from distinguo.representation.partition import region
    from distinguo.tasks.gym_wrappers import DiscreteActions, NoisyActions
    from distinguo.testing.audit import audit
    from distinguo.testing.tester import Exam, learning_curve

from distinguo.tasks.registration import register_with_gymnasium

__version__ = "0.1.0"

register_with_gymnasium()

#: Where each public name lives. Names are imported on first use, so that the command line starts at once.
_HOMES = {
    "DistinguoError": "distinguo.errors",
    "DiscreteActions": "distinguo.tasks.gym_wrappers",
    "Economy": "distinguo.agents.economy",
    "NoisyActions": "distinguo.tasks.gym_wrappers",
    "RegionObservation": "distinguo.agents.regions",
    "Run": "distinguo.lab.folder",
    "open_run": "distinguo.lab.folder",
    "learn": "distinguo.lab.learn",
    "Exam": "distinguo.testing.tester",
    "FunctionPartition": "distinguo.representation.function",
    "audit": "distinguo.testing.audit",
    "learning_curve": "distinguo.testing.tester",
    "make_plan": "distinguo.lab.plan",
    "put_on_trial": "distinguo.lab.trial",
    "Representation": "distinguo.representation.file",
    "load": "distinguo.representation.file",
    "region": "distinguo.representation.partition",
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
    "learn",
    "learning_curve",
    "load",
    "make_plan",
    "open_run",
    "put_on_trial",
    "region",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'distinguo' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
