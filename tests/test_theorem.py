"""Section 2.3: in a partition, separating incompatible states makes the representation adequate.

The statement tested. Let all pairs of states of each region be compatible for ``epsilon`` and ``c`` (the
delta of Definition 9), and let ``Q(S, .) = sum_i w_i Q1(s_i, .)`` be a convex average over the members
``s_i`` of ``S``. Then each ``s_i`` is ``epsilon``-adequate (Definition 8) for an agent that acts on
``pref_d(S)``, if

- ``c <= epsilon / 2`` and ``d <= epsilon - c``, or
- ``c > epsilon / 2`` and ``d <= epsilon``;

so always for ``d = c``, the paper's form. Write ``M = sum_i w_i V1(s_i)`` and let ``a`` be outside the common
``pref1_epsilon``, so that ``Q(S, a) < M - epsilon``. In the second case a common best action gives
``V(S) = M``, and ``a`` is not in ``pref_d(S)``. In the first case an action of the common ``pref1_c`` gives
``M - c <= V(S) <= M``, so ``Q(S, a) < V(S) + c - epsilon <= V(S) - d``. The values: ``M`` is within ``c`` of
every ``V1(s_i)``, hence ``V(S)`` is within ``2 c <= epsilon`` of them in the first case, ``c`` in the second.

An agent that learns each action from other visits averages with weights ``w_ia`` that depend on the action.
Then the bounds for ``d`` shrink by ``c``: ``d <= epsilon - 2 c``, or ``d <= epsilon - c``. So ``d = c`` is
not always safe any more, but ``c = epsilon`` with ``d = 0``, a greedy learner, is (the tests below).

Numbers are dyadic fractions of few digits, so that floats are exact and boundaries are really met; only the
test in which values settle allows for rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distinguo import criteria
from distinguo.criteria import BEST, POLICY, VALUE
from tests import oracle

Row = Sequence[float]
#: The visits of which a region's values are the average: a power of two, for exact weights.
VISITS = 8


class Tolerances(NamedTuple):
    """Epsilon, Definition 9's delta, and the delta of the agent's choices."""

    epsilon: float
    compat: float
    choice: float


class Problem(NamedTuple):
    """The outcomes (probability, reward, next state or -1 for the end) of each action of each state."""

    outcomes: list[list[list[tuple[float, float, int]]]]
    gamma: float
    values: list[float]


@st.composite
def problems(draw: st.DrawFn, stochastic: bool) -> Problem:
    """Draw a finite problem; half of its states resemble an earlier one but for slightly other rewards."""
    size, actions = draw(st.integers(2, 7)), draw(st.integers(1, 3))
    states: list[list[list[tuple[float, float, int]]]] = []
    for _ in range(size):
        if draw(st.booleans()) and states:
            jitter = st.lists(st.integers(-2, 2), min_size=actions, max_size=actions)
            model = zip(draw(st.sampled_from(states)), draw(jitter), strict=True)
            states.append([[(p, r + move / 8, k) for p, r, k in action] for action, move in model])
        else:
            states.append([draw(outcome_lists(size, stochastic)) for _ in range(actions)])
    values = draw(st.lists(st.integers(-4, 4).map(lambda n: n / 4), min_size=size, max_size=size))
    return Problem(states, draw(st.sampled_from([0.25, 0.5, 0.75])), values)


@st.composite
def outcome_lists(draw: st.DrawFn, size: int, stochastic: bool) -> list[tuple[float, float, int]]:
    """Draw what one action of one state may lead to."""
    eighths = draw(st.integers(1, 7)) if stochastic else 8
    chances = [eighths / 8, 1 - eighths / 8] if stochastic else [1.0]
    return [(p, draw(st.integers(-4, 4)) / 4, draw(st.integers(-1, size - 1))) for p in chances]


@st.composite
def tolerances(draw: st.DrawFn, bound: Callable[[float, float], float]) -> Tolerances:
    """Draw tolerances with the agent's delta up to a bound; epsilon / 2, epsilon and the bound are common."""
    epsilon = draw(st.integers(1, 8)) / 8
    compat = draw(st.one_of(st.sampled_from([epsilon / 2, epsilon]), sixteenths(epsilon)))
    most = bound(epsilon, compat)
    return Tolerances(epsilon, compat, draw(st.one_of(st.just(most), sixteenths(most))))


def sixteenths(most: float) -> st.SearchStrategy[float]:
    """Draw a multiple of 1/16 from 0 to a bound."""
    return st.integers(0, int(most * 16)).map(lambda n: n / 16)


def shared_bound(epsilon: float, compat: float) -> float:
    """Return the largest delta of choices when one set of weights serves all actions."""
    return epsilon - compat if compat <= epsilon / 2 else epsilon


def separate_bound(epsilon: float, compat: float) -> float:
    """Return the largest delta of choices when each action has weights of its own."""
    return epsilon - 2 * compat if compat <= epsilon / 2 else epsilon - compat


def look_ahead(problem: Problem) -> list[list[float]]:
    """Return Q1 of all states, by Definition 5 (Definition 4 where there is one outcome)."""
    worth = [*problem.values, 0.0]  # the last one stands for the end
    gamma = problem.gamma
    return [[sum(p * (r + gamma * worth[k]) for p, r, k in a) for a in s] for s in problem.outcomes]


def compatible(p: Row, q: Row, t: Tolerances) -> bool:
    """Definition 9 by the package, which must be Definition 9 by sets."""
    answer = criteria.compatible(np.array(p), np.array(q), t.epsilon, t.compat)
    assert answer == oracle.compatible(p, q, t.epsilon, t.compat)
    return answer


def adequate(q: Row, q1: Row, t: Tolerances) -> bool:
    """Definition 8 by the package, which must be Definition 8 by sets."""
    answer = criteria.adequate(np.array(q), np.array(q1), t.epsilon, t.choice)
    assert answer == oracle.adequate(q, q1, t.epsilon, t.choice)
    return answer


def separate(states: Sequence[int], q1: Sequence[Row], t: Tolerances) -> list[list[int]]:
    """Group states so that all pairs of a group are compatible."""
    groups: list[list[int]] = []
    for s in states:
        home = next((g for g in groups if all(compatible(q1[s], q1[m], t) for m in g)), None)
        if home is None:
            groups.append([s])
        else:
            home.append(s)
    return groups


def weighted(rows: Sequence[Row], weights: Row) -> Row:
    """Return the weighted mean of profiles."""
    columns = zip(*rows, strict=True)
    return [sum(w * x for w, x in zip(weights, column, strict=True)) / sum(weights) for column in columns]


def average(rows: Sequence[Row]) -> Row:
    """Return the plain mean of profiles."""
    return weighted(rows, [1.0] * len(rows))


def visited(data: st.DataObject, group: Sequence[int]) -> list[int]:
    """Draw the members of a group that the visits fall on."""
    return data.draw(st.lists(st.sampled_from(group), min_size=VISITS, max_size=VISITS))


@pytest.mark.parametrize("stochastic", [False, True])
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_separating_incompatible_states_is_enough(data: st.DataObject, stochastic: bool) -> None:
    q1 = look_ahead(data.draw(problems(stochastic)))
    for bound in (lambda _, compat: compat, shared_bound):
        t = data.draw(tolerances(bound))
        for group in separate(range(len(q1)), q1, t):
            q = average([q1[s] for s in visited(data, group)])
            assert all(adequate(q, q1[s], t) for s in group)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_weights_for_each_action_need_a_smaller_delta(data: st.DataObject) -> None:
    q1 = look_ahead(data.draw(problems(stochastic=True)))
    t = data.draw(tolerances(separate_bound))
    for group in separate(range(len(q1)), q1, t):
        q = [average([q1[s] for s in visited(data, group)])[a] for a in range(len(q1[0]))]
        assert all(adequate(q, q1[s], t) for s in group)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(problems(stochastic=True), tolerances(lambda _, compat: compat), st.randoms(use_true_random=False))
def test_refining_until_nothing_is_incompatible_ends_adequate(
    problem: Problem, t: Tolerances, rng: Random
) -> None:
    """The same where ``V`` comes from the regions: values settle, a region is separated, and so on."""
    weights = [rng.random() + 0.01 for _ in problem.outcomes]
    groups, before = [list(range(len(weights)))], 0
    while len(groups) != before:
        before = len(groups)
        q1, q = settle(problem, groups, weights)
        groups = [part for group in groups for part in separate(group, q1, t)]
    slack = 1e-9  # rounding matters at the bound only, which no choice with a delta of 0 is near
    eased = Tolerances(t.epsilon + slack, t.compat, max(0.0, t.choice - slack))
    for group, row in zip(groups, q, strict=True):
        assert all(adequate(row, q1[s], eased) for s in group)


def settle(problem: Problem, groups: list[list[int]], weights: Row) -> tuple[list[list[float]], list[Row]]:
    """Return Q1 of the states and Q of the regions at their common fixed point."""
    for _ in range(100):
        q1 = look_ahead(problem)
        q = [weighted([q1[s] for s in group], [weights[s] for s in group]) for group in groups]
        worth = {s: max(row) for group, row in zip(groups, q, strict=True) for s in group}
        problem = problem._replace(values=[worth[s] for s in range(len(weights))])
    return q1, q


def test_the_property_is_not_vacuous() -> None:
    """Groups of unlike states are common under either form of the third rule, with actions to rule out."""
    seen = Counter[str]()

    @settings(max_examples=300, derandomize=True, database=None, deadline=None)
    @given(problems(stochastic=False), tolerances(lambda _, compat: compat))
    def survey(problem: Problem, t: Tolerances) -> None:
        q1 = look_ahead(problem)
        groups = separate(range(len(q1)), q1, t)
        unlike = [g for g in groups if len({tuple(q1[s]) for s in g}) > 1]
        third = "Eq. 5" if t.compat <= t.epsilon / 2 else "Eq. 6"
        seen[f"{third}, some regions"] += 1 < len(groups) < len(q1)
        seen[f"{third}, unlike"] += bool(unlike)
        seen[f"{third}, bad actions"] += any(
            len(oracle.pref(q1[g[0]], t.epsilon)) < len(q1[0]) for g in unlike
        )

    survey()
    assert len(seen) == 6
    assert min(seen.values()) >= 15, seen


E = 0.5
CONTROLS = [
    # A second action that is good for one state and bad for the other is chosen for both.
    (POLICY, Tolerances(E, E, E), [(0.0, -0.4375), (0.0, -0.5625)], (7, 1)),
    # A state that is worth much less than the region says.
    (VALUE, Tolerances(E, E, 0.0), [(0.0, -4.0), (-1.0, -4.0)], (7, 1)),
    # Each state has a best action of its own: on average none is as good as the best state's.
    (BEST, Tolerances(E, E, 0.0), [(0.0, -0.5, -0.5), (-1.0, -0.5, -1.0), (-1.0, -1.0, -0.5)], (0, 4, 4)),
    # The same with delta = epsilon / 2: the region's best looks so poor that a bad action looks as good.
    (
        BEST,
        Tolerances(E, E / 2, E / 2),
        [(0.0, -0.5, -0.5, -0.5625), (-0.5, 0.0, -0.5, -0.5625), (-0.5, -0.5, 0.0, -0.5625)],
        (3, 3, 2),
    ),
]


@pytest.mark.parametrize(("rule", "t", "q1", "visits"), CONTROLS)
def test_no_rule_can_be_left_out(rule: int, t: Tolerances, q1: list[Row], visits: Sequence[int]) -> None:
    """Break one rule of Definition 9 alone and some state is no longer adequate."""
    codes = {criteria.incompatibility(np.array(p), np.array(q), t.epsilon, t.compat) for p in q1 for q in q1}
    assert codes == {0, rule}
    q = weighted(q1, visits)
    assert not all(adequate(q, row, t) for row in q1)


@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_the_cut_off_at_half_epsilon_is_sharp(n: int) -> None:
    """For delta near above epsilon / 2, Equation 5 would let n states share a bad action; 6 does not.

    State i has the value 0 by action i, -delta by the others and less than -epsilon by a bad one: the best
    average is -delta (1 - 1/n), so a bad action may look acceptable from -delta (2 - 1/n), below -epsilon.
    """
    t = Tolerances(E, E * (0.5 + 1 / n), E * (0.5 + 1 / n))
    bad = -E * (1 + 1 / n)
    q1 = [[*(0.0 if a == i else -t.compat for a in range(n)), bad] for i in range(n)]
    assert len({oracle.pref(row, t.compat) for row in q1}) == 1, "Equation 5 sees no difference"
    assert criteria.incompatibility(np.array(q1[0]), np.array(q1[1]), t.epsilon, t.compat) == BEST
    q = average(q1)
    codes = [criteria.inadequacy(np.array(q), np.array(row), t.epsilon, t.choice) for row in q1]
    assert codes == [POLICY] * n


COUNTEREXAMPLES: dict[str, tuple[Tolerances, list[Row], list[tuple[int, ...]]]] = {
    "a choice beyond epsilon - c": (
        Tolerances(E, E / 2, E), [(0.0, -0.25, -0.5625), (-0.25, 0.0, -0.5625)], [(1, 1), (1, 1), (1, 1)]
    ),
    "weights for each action, c > epsilon / 2": (
        Tolerances(E, E, E), [(0.0, -0.5625), (-0.5, -1.0625)], [(0, 1), (1, 0)]
    ),
    "weights for each action, c = epsilon / 2": (
        Tolerances(E, E / 2, E / 2),
        [(0.0, -0.25, -0.5625), (-0.5, -0.25, -1.0), (-0.25, -0.5, -1.0)],
        [(0, 1, 0), (0, 0, 1), (1, 0, 0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_the_bounds_are_needed(name: str) -> None:
    """Beyond the bounds, regions of compatible states may offer a bad action."""
    t, q1, visits = COUNTEREXAMPLES[name]
    assert all(compatible(p, q, t) for p in q1 for q in q1)
    q = [weighted(q1, visits[a])[a] for a in range(len(visits))]
    broken = [criteria.inadequacy(np.array(q), np.array(row), t.epsilon, t.choice) for row in q1]
    assert POLICY in broken
    assert not any(code & VALUE for code in broken)


def test_compatibility_with_the_prototype_alone_is_not_enough() -> None:
    """Figure 5 compares a state with its prototype, not with its whole region; values err up to 2 epsilon."""
    t = Tolerances(E, E, 0.0)
    prototype, better, worse = (0.0, -4.0), (0.5, -4.0), (-0.5, -4.0)
    assert compatible(prototype, better, t)
    assert compatible(prototype, worse, t)
    assert not compatible(better, worse, t)
    q = average([prototype, better, better, better])
    assert criteria.inadequacy(np.array(q), np.array(worse), t.epsilon, t.choice) == VALUE
