"""How deep and wide sparse sampling must be for a promise: Theorem 1 of Kearns, Mansour and Ng (2002)."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

from distinguo.errors import DistinguoError, shown, whole_number


class SparseBound(NamedTuple):
    """What it takes that the values of the policy lie within epsilon of the best possible."""

    depth: int
    samples: int  #: of each action from each state; 1 in a deterministic task
    log10_calls: float  #: of the model, for one decision: the number itself would seldom fit

    def __repr__(self) -> str:
        return (
            f"depth {self.depth:,}, {self.samples:,} samples of each action: 10^{self.log10_calls:,.0f} calls of the "
            "model for one decision"
        )


def sparse_bound(
    *, actions: int, gamma: float, epsilon: float, reward: float = 1.0, deterministic: bool = False
) -> SparseBound:
    """Return the depth and the samples that the paper's proof asks for, and what a decision then costs.

    Rewards lie within ``reward`` of 0. With ``lambda = epsilon (1 - gamma)^2 / 4`` and ``V = reward / (1 -
    gamma)``, the depth is ``log_gamma(lambda / V)`` and the samples are ``V^2 / lambda^2 (2 H log(k H V^2 /
    lambda^2) + log(reward / lambda))``. Where the task is deterministic, every sample of an action is the same, so
    one is enough; the depth stays.

    >>> sparse_bound(actions=2, gamma=0.95, epsilon=0.1)
    depth 248, 1,603,871,710,027,203 samples of each action: 10^3,846 calls of the model for one decision
    >>> sparse_bound(actions=2, gamma=0.95, epsilon=0.1, deterministic=True)
    depth 248, 1 samples of each action: 10^75 calls of the model for one decision
    """
    k = whole_number("actions", actions, 1)
    g, e, r = _within(("gamma", gamma, 1.0), ("epsilon", epsilon, math.inf), ("reward", reward, math.inf))
    part, most = e * (1.0 - g) ** 2 / 4.0, r / (1.0 - g)
    depth = max(1, math.ceil(math.log(part / most) / math.log(g)))
    ratio = (most / part) ** 2
    exact = ratio * (2.0 * depth * math.log(k * depth * ratio) + math.log(r / part))
    samples = 1 if deterministic else max(1, math.ceil(exact))
    return SparseBound(depth, samples, depth * math.log10(k * samples))


def _within(*numbers: tuple[str, Any, float]) -> list[float]:
    for name, value, most in numbers:
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < most:
            words = "above 0 and below 1" if most == 1.0 else "above 0 and finite"
            raise DistinguoError(f"{name} should be a number {words}, got {shown(value)}.")
    return [float(value) for _, value, _ in numbers]
