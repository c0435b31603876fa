"""Which states of the puck-on-a-hill task matter (section 4.1 of the paper; the data of Figures 8 and 9).

A state is *doomed* when pushing left for ever still ends at the right wall, or pushing right for ever at the left
one: if the strongest correction cannot save the puck, nothing can. Any other state is *controllable* as long as one
of its two pushes leads to another such state. Only pushes that are long or strong compared with the hill can throw
the puck from one doomed side to the other; then ``analyse`` raises an error.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.features.feature import activate, coordinates_of, count_features
from distinguo.seam import implements, kernel, part
from distinguo.tasks.puck.puck import EXTREME_SPEED, LEFT, RIGHT, Puck, PuckState
from distinguo.tasks.task import transition

#: The state space of the paper's pictures, as (x, v) (paper, section 4.2.2: "[-2.4, 2.4] x [-5.5, 5.5]").
LOW, HIGH = (-Puck().wall, -EXTREME_SPEED), (Puck().wall, EXTREME_SPEED)
#: "Resolution was 0.01 in both x and v" (paper, section 4.1).
RESOLUTION = 0.01
#: The line ``v = -1.7615 x`` bisects the controllable zone (paper, section 4.1, Figure 9).
DIAGONAL_SLOPE = -1.7615

#: The classes of states. Both walls are worth the same, so there is one code for all doomed states.
DOOMED, DONT_CARE, MUST_PUSH_LEFT, MUST_PUSH_RIGHT = 0, 1, 2, 3
_TOO_COARSE = -1

#: A puck still on the hill after as many steps as the paper's longest test trials (section 4.2) never fell.
#: The paper's grid needs 156 at most.
MAX_PUSHES = 5_000_000
#: Shorter intervals, in s, are taken together: the result hardly depends on the interval, the number of steps does.
SHORTEST = 1e-5


@part
def balance_point(task: Puck) -> float:
    """The distance from the top at which a resting puck can just hold its place; infinity if gravity never wins.

    >>> round(balance_point(Puck()), 2)
    0.54
    >>> balance_point(Puck(force=10.0))
    inf
    """
    ratio = task.force / (task.mass * task.gravity)
    if ratio >= 1.0:
        return math.inf
    return ratio / math.sqrt(1.0 - ratio * ratio) / (2.0 * task.beta)  # tan(arcsin r) = r / sqrt(1 - r^2)


@kernel
def final_wall(task: Puck, s: PuckState, a: int) -> int:
    """Return the wall that pushing one way for ever ends at: -1 left, 1 right, 0 if it ends at neither.

    Under a constant push the hill has at most one balance point, and the puck is accelerated away from it. So a
    puck that is pulled the way it moves never turns again, and its wall is known. Until then it is braked: ``x``
    moves one way and ``v`` towards zero, until the direction is decided or, in floating point, the puck stands
    still. Intervals so short that this would take hours count as ``SHORTEST``, unless nothing moves in them.

    >>> final_wall(Puck(), (0.0, 1.0), LEFT), final_wall(Puck(), (0.0, 2.0), LEFT)
    (-1, 1)
    """
    x, v = float(s[0]), float(s[1])
    after, _, fell = transition(task, (x, v), a)
    if not fell and after == (x, v):
        return 0
    longer = Puck(task.beta, task.gravity, task.mass, task.force, max(task.interval, SHORTEST), task.wall)
    for _ in range(MAX_PUSHES):
        (x_next, v_next), _, fell = transition(longer, (x, v), a)
        if fell:
            return 1 if x_next > 0.0 else -1
        if v >= 0.0 and v_next > v:
            return 1
        if v <= 0.0 and v_next < v:
            return -1
        if x_next == x and v_next == v:
            return 0
        x, v = x_next, v_next
    return 0


@kernel
def controllable(task: Puck, s: PuckState) -> bool:
    """Whether some sequence of pushes keeps the puck off both walls for ever.

    States beyond a wall are not controllable. A state exactly on a wall is judged by its next steps like any other,
    because the grid over the paper's closed extent includes it.

    >>> controllable(Puck(), (0.0, 1.0)), controllable(Puck(), (1.0, 0.0)), controllable(Puck(), (1.0, -1.9))
    (True, False, True)
    """
    if not (-task.wall <= s[0] <= task.wall):
        return False
    return bool(final_wall(task, s, LEFT) <= 0 and final_wall(task, s, RIGHT) >= 0)


@kernel
def _push_fails(task: Puck, s: PuckState, a: int) -> bool:
    after, _, fell = transition(task, (float(s[0]), float(s[1])), a)
    return fell or not controllable(task, after)


@kernel
def _code(task: Puck, s: PuckState) -> int:
    if not controllable(task, s):
        return DOOMED
    left_fails, right_fails = _push_fails(task, s, LEFT), _push_fails(task, s, RIGHT)
    if left_fails and right_fails:
        return _TOO_COARSE
    if right_fails:
        return MUST_PUSH_LEFT
    return MUST_PUSH_RIGHT if left_fails else DONT_CARE


@kernel
def classify(task: Puck, s: PuckState) -> int:
    """Return the class of a state, by the outcomes of its two pushes.

    A state both of whose pushes are doomed is doomed, too; such states exist only where the pushes are too
    long or too strong for the analysis.

    >>> [classify(Puck(), (0.0, v)) for v in (-1.2, 0.0, 1.2, 1.3)]
    [3, 1, 2, 0]
    """
    return int(max(_code(task, s), DOOMED))


@kernel
def _fill_codes(task: Puck, xs: np.ndarray, vs: np.ndarray, codes: np.ndarray) -> None:
    for i in range(len(xs)):
        for j in range(len(vs)):
            codes[i, j] = _code(task, (xs[i], vs[j]))


class PuckMap(NamedTuple):
    """The class of every state of a grid.

    >>> puck_map = analyse(Puck(), resolution=0.1)
    >>> puck_map.codes.shape, int(puck_map.codes[24, 55])
    ((49, 111), 1)
    """

    x: np.ndarray  #: (nx,) positions
    v: np.ndarray  #: (nv,) velocities
    codes: np.ndarray  #: (nx, nv) classes

    @property
    def controllable(self) -> int:
        """The number of controllable states, critical ones included (Figure 8).

        >>> analyse(Puck(), resolution=0.1).controllable
        1263
        """
        return int((self.codes != DOOMED).sum())

    def count(self, code: int) -> int:
        """Return the number of states of one class.

        >>> analyse(Puck(), resolution=0.1).count(MUST_PUSH_LEFT)
        48
        """
        return int((self.codes == code).sum())

    def states(self, code: int) -> np.ndarray:
        """Return the states of one class, one per row (Figure 9 draws the critical ones).

        >>> analyse(Puck(), resolution=0.4).states(MUST_PUSH_LEFT).tolist()
        [[0.0, 1.2], [1.6, -2.0]]
        """
        i, j = np.nonzero(self.codes == code)
        return np.column_stack([self.x[i], self.v[j]])


def analyse(
    task: Puck,
    low: tuple[float, float] = LOW,
    high: tuple[float, float] = HIGH,
    resolution: float = RESOLUTION,
) -> PuckMap:
    """Classify each state of a grid: the multiples of ``resolution`` from ``low`` to ``high``, ends included.

    >>> puck_map = analyse(Puck(), resolution=0.05)
    >>> puck_map.count(MUST_PUSH_LEFT) == puck_map.count(MUST_PUSH_RIGHT)
    True
    """
    x, v = (_axis(low[i], high[i], resolution) for i in (0, 1))
    codes = np.empty((len(x), len(v)), dtype=np.int8)
    _fill_codes(task, x, v, codes)
    if (codes == _TOO_COARSE).any():
        i, j = np.argwhere(codes == _TOO_COARSE)[0]
        raise DistinguoError(
            f"The analysis needs pushes that are short and weak against the hill, but both are doomed at "
            f"({x[i]}, {v[j]}) with interval = {task.interval} and force = {task.force}; reduce one of them."
        )
    return PuckMap(x, v, codes)


def _axis(low: float, high: float, resolution: float) -> np.ndarray:
    """The multiples of the resolution, rounded to short decimals; they mirror each other exactly."""
    if not (0 < resolution < math.inf and math.isfinite(high - low) and low <= high):
        raise DistinguoError(
            f"A grid needs a positive resolution and finite low <= high, got resolution = {resolution} "
            f"from {low} to {high}; give for example 0.01 from -2.4 to 2.4."
        )
    slack = 1e-9  # keeps an end that rounding moved just outside
    first, last = math.ceil(low / resolution - slack), math.floor(high / resolution + slack)
    return np.round(np.arange(first, last + 1) * resolution, 12)


def separated_share(puck_map: PuckMap, slope: float) -> float:
    """Return the share of critical states on the correct side of ``v = slope * x``: must-push-left above.

    >>> round(separated_share(analyse(Puck(), resolution=0.05), -0.43), 2)
    0.65
    """
    left, right = puck_map.states(MUST_PUSH_LEFT), puck_map.states(MUST_PUSH_RIGHT)
    if not len(left) + len(right):
        return 1.0
    above = left[:, 1] > slope * left[:, 0]
    below = right[:, 1] < slope * right[:, 0]
    return float(above.sum() + below.sum()) / (len(left) + len(right))


def separates(puck_map: PuckMap, slope: float) -> bool:
    """Whether the line ``v = slope * x`` separates all must-push-left from all must-push-right states.

    >>> separates(analyse(Puck(), resolution=0.05), DIAGONAL_SLOPE)
    True
    """
    return separated_share(puck_map, slope) == 1.0


# The exact action values of the puck as two features.
#
# A controllable state is worth 0. In a doomed state, pushing away from the wall delays the fall longest; the state
# is worth the discounted penalty of the fall. So Definition 1 holds with ``f_a(s) = Q*(s, a)`` and the identity as
# weights.


@kernel
def exact_value(task: Puck, s: PuckState, gamma: float) -> float:
    """The value of a state that is not terminal under the best pushes.

    >>> exact_value(Puck(), (0.0, 0.0), 0.99), round(exact_value(Puck(), (2.0, 2.0), 0.99), 3)
    (0.0, -0.923)
    """
    x, v = float(s[0]), float(s[1])
    if controllable(task, (x, v)):
        return 0.0
    against = LEFT if final_wall(task, (x, v), LEFT) > 0 else RIGHT
    worth = 1.0
    for _ in range(MAX_PUSHES):
        (x, v), r, fell = transition(task, (x, v), against)
        if fell:
            return worth * r
        worth *= gamma
    return 0.0


class ExactValues(NamedTuple):
    """The exact action values as features; with ``np.eye(2)`` as weights they make an optimal controller.

    >>> active, strengths = np.zeros(2, dtype=np.int64), np.zeros(2)
    >>> activate(ExactValues(Puck(), 0.99), (0.0, 1.2), active, strengths), strengths.round(3).tolist()
    (2, [0.0, -0.312])
    """

    puck: Puck
    gamma: float


@implements(activate, ExactValues)
def exact_values_at(
    features: ExactValues, s: tuple[float, ...], active: np.ndarray, strengths: np.ndarray
) -> int:
    """The values after one push each way."""
    for a in range(2):
        active[a] = a
        strengths[a] = _after(features.puck, (s[0], s[1]), a, features.gamma)
    return 2


@part
def _after(task: Puck, s: PuckState, a: int, gamma: float) -> float:
    after, r, fell = transition(task, s, a)
    return r if fell else r + gamma * exact_value(task, after, gamma)


@count_features.register(ExactValues)
@coordinates_of.register(ExactValues)
def _(features: ExactValues) -> int:
    return 2
