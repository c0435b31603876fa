"""What can be asked about a task: whether a controller never fails, whether it arrives, or nothing."""

from __future__ import annotations

from typing import Any

from distinguo.proof.arrive import car as car_enclosure
from distinguo.proof.arrive.strip import follow
from distinguo.proof.enclosure import enclose
from distinguo.proof.hold import puck as puck_enclosure

__all__ = ["ARRIVES", "HOLDS", "question_about"]

HOLDS, ARRIVES = "never fails", "arrives"
KNOWN = (puck_enclosure, car_enclosure)  #: modules that are imported so that their enclosures are registered


def question_about(task: Any) -> str | None:
    """Return what can be proven about a task, by the enclosure that it has; None if it has none.

    >>> from distinguo.tasks.catalog import task_spec
    >>> [question_about(task_spec(name).task) for name in ("puck", "MountainCar-v0", "CartPole-v1")]
    ['never fails', 'arrives', None]
    """
    known: Any = enclose, follow
    for generic, question in zip(known, (HOLDS, ARRIVES), strict=True):
        if type(task) in generic.registry:
            return question
    return None
