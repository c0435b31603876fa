"""When do differences matter? Section 2 of the paper: Definitions 1-9, one function each; and what they buy.

Action values are vectors with one entry per action: ``q`` for what a region's values say (``Q(s, .)``) and
``q1`` for what a one-step look-ahead says (``Q1(s, .)``). Sets of actions are vectors of booleans.

>>> import numpy as np
>>> left, right = np.array([-0.1, -0.9]), np.array([-0.9, -0.1])
>>> compatible(left, right, epsilon=0.1, delta=0.1)
False

Epsilon is the reward lost per step. What that adds up to over a trial is bounded by :func:`promise_bound` and
:func:`loss_bound`; docs/theory.md has the proofs.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError, attempt, shown
from distinguo.seam import guarded, part

Vector = np.ndarray

#: The rules of Definition 9 (and of Definition 8, which has the first two) as bits of a code.
POLICY, VALUE, BEST = 1, 2, 4


def _check_profiles(q: Any, other: Any, *tolerances: Any) -> None:
    """Raise unless two rows of action values belong together, and tolerances are numbers from 0."""
    rows = [attempt(np.asarray, row, float, otherwise=np.zeros(0)) for row in (q, other)]
    alike = rows[0].ndim == 1 and rows[0].shape == rows[1].shape and len(rows[0])
    if not alike or not np.isfinite(rows).all():
        raise DistinguoError(
            f"Two rows with as many finite numbers each are needed, got {shown(q)} and {shown(other)}."
        )
    for tolerance in tolerances:
        if not (isinstance(tolerance, Real) and float(tolerance) >= 0.0):
            raise DistinguoError(
                f"epsilon, delta and gamma should be numbers from 0, got {shown(tolerance)}."
            )


def _check_outcomes(rewards: Any, gamma: Any, values: Any, probabilities: Any) -> None:
    _check_profiles(rewards, values, gamma)
    _check_profiles(rewards, probabilities)


@part
def action_values(weights: np.ndarray, features: Vector) -> Vector:
    """Definition 1: ``Q(s, a_j) = sum_i w_ij f_i(s)``; for a partition the row of the region of ``s``.

    >>> action_values(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.0, 1.0]))
    array([3., 4.])
    """
    q = np.zeros(weights.shape[1])
    for j in range(weights.shape[1]):
        for i in range(weights.shape[0]):
            q[j] += weights[i, j] * features[i]
    return q


@part
def state_value(q: Vector) -> float:
    """Definitions 2 and 6: ``V(s) = max_j Q(s, a_j)``, and ``V1`` of the look-ahead values.

    >>> state_value(np.array([-0.5, -0.2]))
    -0.2
    """
    best = q[0]
    for a in range(1, len(q)):
        best = max(best, q[a])
    return float(best)


@part
def prefers(q: Vector, a: int, tolerance: float) -> bool:
    """Definitions 3 and 7: whether action ``a`` is preferred, ``Q(s, a) >= V(s) - tolerance``.

    >>> prefers(np.array([0.0, -0.05, -0.2]), 1, 0.1)
    True
    """
    return bool(q[a] >= state_value(q) - tolerance)


@guarded(lambda q, tolerance: _check_profiles(q, q, tolerance))
def preferred(q: Vector, tolerance: float) -> Vector:
    """Definitions 3 and 7: the set of preferred actions; ``pref1`` of look-ahead values.

    >>> preferred(np.array([0.0, -0.05, -0.2]), 0.1)
    array([ True,  True, False])
    """
    actions = np.zeros(len(q), dtype=np.bool_)
    for a in range(len(q)):
        actions[a] = prefers(q, a, tolerance)
    return actions


@part
def look_ahead(r: float, gamma: float, v_next: float) -> float:
    """Definition 4: ``Q1(s, a) = r + gamma V(s')`` where the transition is deterministic.

    >>> look_ahead(-1.0, 0.5, -0.5)
    -1.25
    """
    return r + gamma * v_next


@guarded(_check_outcomes)
def expected_look_ahead(rewards: Vector, gamma: float, values: Vector, probabilities: Vector) -> float:
    """Definition 5: ``Q1(s, a) = sum_s' P [R + gamma V(s')]`` where it is stochastic.

    >>> float(expected_look_ahead(np.array([0.0, -1.0]), 0.5, np.array([-1.0, 0.0]), np.array([0.5, 0.5])))
    -0.75
    """
    q1 = 0.0
    for i in range(len(rewards)):
        q1 += probabilities[i] * look_ahead(rewards[i], gamma, values[i])
    return q1


@guarded(lambda rewards, gamma, values: _check_profiles(rewards, values, gamma))
def sampled_look_ahead(rewards: Vector, gamma: float, values: Vector) -> float:
    """Definition 5 with the expectation estimated from repeated look-ahead: every sample weighs the same.

    >>> float(sampled_look_ahead(np.array([0.0, -1.0]), 0.5, np.array([-1.0, 0.0])))
    -0.75
    """
    return expected_look_ahead(rewards, gamma, values, np.full(len(rewards), 1.0 / len(rewards)))


@guarded(_check_profiles)
def inadequacy(q: Vector, q1: Vector, epsilon: float, delta: float) -> int:
    """Definition 8: the rules of epsilon-adequacy that fail at a state, as bits ``POLICY`` and ``VALUE``.

    >>> inadequacy(np.array([0.0, -0.5]), np.array([-0.5, 0.0]), epsilon=0.1, delta=0.0) == POLICY
    True
    """
    broken = 0
    for a in range(len(q)):
        if prefers(q, a, delta) and not prefers(q1, a, epsilon):  # Eq. 1: pref_delta within pref1_epsilon
            broken |= POLICY
    if not abs(state_value(q1) - state_value(q)) <= epsilon:  # Eq. 2
        broken |= VALUE
    return broken


@guarded(_check_profiles)
def adequate(q: Vector, q1: Vector, epsilon: float, delta: float) -> bool:
    """Definition 8: whether grouping the state costs at most ``epsilon`` (Eqs. 1 and 2).

    >>> adequate(np.array([0.0, -0.5]), np.array([-0.05, -0.5]), epsilon=0.1, delta=0.0)
    True
    """
    return inadequacy(q, q1, epsilon, delta) == 0


@guarded(_check_profiles)
def same_preferences(q1: Vector, q2: Vector, tolerance: float) -> bool:
    """Tell whether two profiles prefer the same actions: ``pref1(s1) = pref1(s2)``."""
    for a in range(len(q1)):
        if prefers(q1, a, tolerance) != prefers(q2, a, tolerance):
            return False
    return True


@guarded(_check_profiles)
def incompatibility(q1: Vector, q2: Vector, epsilon: float, delta: float) -> int:
    """Definition 9: the rules that keep two states apart, as bits ``POLICY``, ``VALUE`` and ``BEST``."""
    broken = 0
    tie = delta if delta <= epsilon / 2 else 0.0
    if not same_preferences(q1, q2, epsilon):  # Eq. 3: the same actions look good
        broken |= POLICY
    if not abs(state_value(q1) - state_value(q2)) <= delta:  # Eq. 4: the states are worth the same
        broken |= VALUE
    if not same_preferences(q1, q2, tie):  # Eq. 5, or 6: the same actions look best
        broken |= BEST
    return broken


@guarded(_check_profiles)
def compatible(q1: Vector, q2: Vector, epsilon: float, delta: float) -> bool:
    """Definition 9: whether two states, by their look-ahead profiles, may share action values.

    >>> compatible(np.array([-0.1, -0.9]), np.array([-0.15, -0.8]), epsilon=0.1, delta=0.1)
    True
    """
    return incompatibility(q1, q2, epsilon, delta) == 0


@guarded(_check_profiles)
def value_error(q: Vector, q1: Vector) -> float:
    """Eq. 2 with its sign: ``V(s) - V1(s)``, how much better a state looks than its look-ahead says.

    >>> round(value_error(np.array([0.0, -0.5]), np.array([-0.7, -0.2])), 3)
    0.2
    """
    return state_value(q) - state_value(q1)


@guarded(_check_profiles)
def incremental_regret(q: Vector, q1: Vector, delta: float) -> float:
    """Section 2.2: the reward lost at a state when its region's values ``q`` choose the action.

    The agent takes any action of ``pref_delta``; the worst of them counts, so an ``epsilon``-adequate state has
    a regret of at most ``epsilon``. This is the policy half of what the paper calls incremental regret; the value
    half is :func:`value_error`.

    >>> round(incremental_regret(np.array([0.0, -0.5]), np.array([-0.7, -0.2]), delta=0.0), 3)
    0.5
    """
    least = np.inf
    for a in range(len(q)):
        if prefers(q, a, delta):
            least = min(least, q1[a])
    return float(state_value(q1) - least)


@guarded(_check_profiles)
def stake(q1: Vector, q2: Vector) -> float:
    """Return the reward at stake between two profiles: what following the other's best action would cost,
    or mistaking the other's value for one's own, whichever is more.

    >>> round(stake(np.array([-0.1, -0.9]), np.array([-0.8, -0.2])), 3)
    0.8
    """
    policy = max(incremental_regret(q1, q2, 0.0), incremental_regret(q2, q1, 0.0))
    return max(policy, abs(state_value(q1) - state_value(q2)))


# What the criteria buy: sums of value errors and regrets over a trial (docs/theory.md).


def _check_amounts(**amounts: Any) -> None:
    """Raise unless all are finite numbers from 0."""
    for name, amount in amounts.items():
        if not (isinstance(amount, Real) and 0.0 <= float(amount) < np.inf):
            raise DistinguoError(f"{name} should be a finite number from 0, got {shown(amount)}.")


def horizon(gamma: float, steps: float = np.inf) -> float:
    """The number of steps of a trial, discounted: ``1 + gamma + gamma^2 + ...``, ``steps`` terms.

    ``1 / (1 - gamma)`` for trials without end. For trials of random length, the mean length gives an upper bound.

    >>> round(horizon(0.9), 9), horizon(1.0, 200)
    (10.0, 200.0)
    """
    _check_amounts(gamma=gamma, steps=0.0 if steps == np.inf else steps)
    if gamma > 1.0:
        raise DistinguoError(f"gamma should be at most 1, got {shown(gamma)}.")
    if gamma == 1.0 and steps == np.inf:
        raise DistinguoError(
            "Without a discount the horizon has no end; give the number of steps of a trial."
        )
    return float(steps) if gamma == 1.0 else float((1.0 - gamma**steps) / (1.0 - gamma))


def shortfall(value_errors: Vector, regrets: Vector, gamma: float) -> float:
    """What a trial returns less than promised, ``V(s_0) - return``: the discounted sum of its errors and regrets.

    The rows are those of the states of a trial in order: :func:`value_error`, and the regret ``V1 - Q1`` of the
    action taken. Exact for a deterministic task; the expectation otherwise.

    >>> shortfall(np.array([0.2, -0.1]), np.array([0.0, 0.5]), gamma=0.5)
    0.4
    """
    _check_profiles(value_errors, regrets, gamma)
    losses = np.asarray(value_errors, float) + np.asarray(regrets, float)
    return float(losses @ float(gamma) ** np.arange(len(losses)))


def promise_bound(over: float, regret: float, horizon: float) -> float:
    """The most by which the return of a policy can fall short of ``V``, from the states that it visits.

    ``over`` is the greatest value error and ``regret`` the greatest regret of these states; both are at most
    ``epsilon`` where all of them are ``epsilon``-adequate.

    >>> promise_bound(over=0.005, regret=0.005, horizon=10.0)  # 2 epsilon / (1 - gamma)
    0.1
    """
    _check_amounts(over=over, regret=regret, horizon=horizon)
    return float((over + regret) * horizon)


def loss_bound(over: float, under: float, regret: float, horizon: float) -> float:
    """The most by which the return of a policy can fall short of the best policy's, from all states.

    ``over`` and ``under`` are the greatest value errors in either direction and ``regret`` the greatest regret, of
    all states, not only of visited ones. ``horizon`` is that of the policy or of a best policy, whichever is longer.

    >>> round(loss_bound(0.005, 0.005, 0.005, horizon=10.0), 9)  # (1 + 2 gamma) epsilon / (1 - gamma)
    0.14
    """
    _check_amounts(over=over, under=under, regret=regret, horizon=horizon)
    if horizon < 1.0:
        raise DistinguoError(f"horizon should be at least 1, as a trial has a step, got {shown(horizon)}.")
    return float(regret * horizon + (over + under) * (horizon - 1.0))
