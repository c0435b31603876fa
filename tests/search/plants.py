"""A plant for tests of proofs."""

from typing import NamedTuple

import distinguo as dg


@dg.task(states=("x", "v"), actions=("left", "right"), low=(-1, -2), high=(1, 2))
class Sled(NamedTuple):
    """A sled that is slowed by the snow, between two walls."""

    push: float = 2.0

    def transition(self, s, a):
        v = 0.96 * s[1] + 0.05 * (self.push if a == 1 else -self.push)
        x = s[0] + 0.05 * v
        return (x, v), 0.0, abs(x) > 1.0

    def start(self, rng):
        return (rng.uniform(-0.2, 0.2), rng.uniform(-0.1, 0.1))
