"""What can be asked about a task: whether a controller never fails, whether it arrives, or nothing."""

from __future__ import annotations

from typing import Any

from distinguo.proof import car_enclosure, puck_enclosure
from distinguo.proof.enclosure import enclose
from distinguo.proof.strip import follow

__all__ = ["ARRIVES", "HOLDS", "question_about"]

HOLDS, ARRIVES = "never fails", "arrives"
KNOWN = (puck_enclosure, car_enclosure)  #: modules that are imported so that their enclosures are registered


def question_about(task: Any) -> str | None:
    """Return what can be proven about a task, by the enclosure that it has; None if it has none.

    >>> from distinguo.tasks.catalog import world
    >>> [question_about(world(name).task) for name in ("puck", "MountainCar-v0", "CartPole-v1")]
    ['never fails', 'arrives', None]
    """
    known: Any = enclose, follow
    for generic, question in zip(known, (HOLDS, ARRIVES), strict=True):
        if type(task) in generic.registry:
            return question
    return None
