"""Small tasks for the learner on a table, run as plain Python."""

from __future__ import annotations

from typing import Any, NamedTuple

import distinguo as dg

LENGTH = 12
PRICE = 0.1


@dg.task(
    states=("place",),
    actions=("on", "off"),
    low=(0,),
    high=(LENGTH,),
    threshold=-PRICE * LENGTH - 1e-9,
    compiled=False,
)
class Chain(NamedTuple):
    """On and on at a small price each, or off at a great one: a task without cycles."""

    length: int = LENGTH

    def transition(self, s: Any, a: int) -> Any:
        """Go on, or end."""
        place = int(s[0]) + 1
        return (place + 0.5,), (-PRICE if a == 0 else -2.0), bool(a == 1 or place >= self.length)

    def start(self, rng: Any) -> Any:
        """Begin at the first place."""
        return (0.5,)


@dg.task(
    states=("place",), actions=("on", "off"), low=(0,), high=(4,), threshold=0.0, limit=40, compiled=False
)
class Ring(NamedTuple):
    """Round and round: no trial ends by itself unless it is ended at a price."""

    size: int = 4

    def transition(self, s: Any, a: int) -> Any:
        """Go round, or end."""
        return ((int(s[0]) + 1) % self.size + 0.5,), (0.0 if a == 0 else -1.0), bool(a == 1)

    def start(self, rng: Any) -> Any:
        """Begin at the first place."""
        return (0.5,)


@dg.task(
    states=("lane", "place"),
    actions=("left", "right"),
    low=(0, 0),
    high=(LENGTH, LENGTH),
    threshold=-0.5,
    compiled=False,
)
class Fork(NamedTuple):
    """The first step decides on a lane; what it is worth is only known at its end, as many steps later."""

    length: int = LENGTH

    def transition(self, s: Any, a: int) -> Any:
        """Choose a lane, or go on in it."""
        lane, place = (a if s[1] < 1.0 else int(s[0])), int(s[1]) + 1
        ends = place >= self.length
        return (lane + 0.5, place + 0.5), (-0.5 - 0.5 * lane if ends else 0.0), ends

    def start(self, rng: Any) -> Any:
        """Begin before the fork."""
        return (0.5, 0.5)
