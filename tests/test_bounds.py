"""What epsilon buys (docs/theory.md): the identity and the bounds, on random tasks with their states grouped.

Values are arbitrary, not learned ones: nothing in the statements depends on how they were found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo import criteria
from distinguo.errors import DistinguoError
from tests.nightly import so_many

EXACT = 1e-7  #: the rounding of linear systems with horizons up to 100


class Problem(NamedTuple):
    """A finite task whose states are grouped; what is missing from a row of chances is the chance of the end."""

    chances: np.ndarray  #: (states, actions, states)
    rewards: np.ndarray  #: (states, actions)
    gamma: float
    regions: np.ndarray  #: (states,)
    q: np.ndarray  #: (states, actions), the same for all states of a region
    delta: float
    policy: np.ndarray  #: (states, actions) chances of the actions, all of them in ``pref_delta``


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Draw a task, values for its regions and a policy; hypothesis chooses the sizes, a generator the numbers."""
    states, actions = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    gamma = draw(st.sampled_from([0.0, 0.5, 0.9, 0.99, 1.0]))
    noise, size = draw(st.sampled_from([0.05, 1.0])), draw(st.sampled_from([0.01, 0.1, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    chances = rng.dirichlet(np.full(states + 1, noise), (states, actions))
    if gamma == 1.0:  # every policy ends
        chances = 0.9 * chances + 0.1 * np.eye(states + 1)[states]
    rewards = rng.uniform(-1.0, 1.0, (states, actions))
    regions = rng.integers(0, states, states)
    best = optimal_values(chances[..., :states], rewards, gamma)
    ahead = look_ahead(chances[..., :states], rewards, gamma, best)
    shared = np.array(
        [ahead[regions == one].mean(axis=0) if one in regions else ahead[0] for one in range(states)]
    )
    q = (shared + rng.normal(0.0, size, shared.shape))[regions]
    delta = draw(st.sampled_from([0.0, size]))
    allowed = np.array([criteria.preferred(row, delta) for row in q]) * rng.random(q.shape)
    policy = allowed / allowed.sum(axis=1, keepdims=True)
    return Problem(chances[..., :states], rewards, gamma, regions, q, delta, policy)


def look_ahead(chances: np.ndarray, rewards: np.ndarray, gamma: float, values: np.ndarray) -> np.ndarray:
    """Definition 5 for all states at once."""
    return rewards + gamma * chances @ values


def sums(chances: np.ndarray, gamma: float, policy: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """The expected discounted sum of gains per state and action, from every state, under a policy."""
    step = np.einsum("sa,sat->st", policy, chances)
    return np.linalg.solve(np.eye(len(step)) - gamma * step, np.einsum("sa,sa->s", policy, gains))


def best_policy(chances: np.ndarray, rewards: np.ndarray, gamma: float) -> np.ndarray:
    """A best policy, by policy iteration."""
    count, actions = rewards.shape
    chosen = np.zeros(count, dtype=int)
    for _ in range(100):
        q = look_ahead(chances, rewards, gamma, sums(chances, gamma, np.eye(actions)[chosen], rewards))
        better = q.max(axis=1) > q[np.arange(count), chosen] + 1e-12
        if not better.any():
            return np.eye(actions)[chosen]
        chosen = np.where(better, q.argmax(axis=1), chosen)
    raise AssertionError("no end of improvements")


def optimal_values(chances: np.ndarray, rewards: np.ndarray, gamma: float) -> np.ndarray:
    """``V*`` of all states."""
    return sums(chances, gamma, best_policy(chances, rewards, gamma), rewards)


class Facts(NamedTuple):
    """Everything that the statements speak of."""

    v: np.ndarray
    q1: np.ndarray
    errors: np.ndarray  #: V - V1
    regrets: np.ndarray  #: of the worst action of ``pref_delta``
    taken: np.ndarray  #: of the actions that the policy takes, in the mean
    own: np.ndarray  #: the value of the policy
    best: np.ndarray  #: V*
    steps: np.ndarray  #: the horizon of the policy
    best_steps: np.ndarray  #: that of a best policy


def facts_of(p: Problem) -> Facts:
    v = p.q.max(axis=1)
    q1 = look_ahead(p.chances, p.rewards, p.gamma, v)
    best = best_policy(p.chances, p.rewards, p.gamma)
    ones = np.ones_like(p.rewards)
    return Facts(
        v,
        q1,
        np.array([criteria.value_error(q, one) for q, one in zip(p.q, q1, strict=True)]),
        np.array([criteria.incremental_regret(q, one, p.delta) for q, one in zip(p.q, q1, strict=True)]),
        q1.max(axis=1) - (p.policy * q1).sum(axis=1),
        sums(p.chances, p.gamma, p.policy, p.rewards),
        sums(p.chances, p.gamma, best, p.rewards),
        sums(p.chances, p.gamma, p.policy, ones),
        sums(p.chances, p.gamma, best, ones),
    )


def reached(p: Problem, s: int) -> np.ndarray:
    """Which states the policy may come to from a state."""
    step = np.einsum("sa,sat->st", p.policy, p.chances) > 0.0
    found = np.zeros(len(step), dtype=bool)
    found[s] = True
    for _ in step:
        found |= found @ step
    return found


@settings(max_examples=so_many(100, 10_000), deadline=None)
@given(problems())
def test_the_identity(p: Problem) -> None:
    """``V - V^pi`` is the expected discounted sum of value errors and regrets."""
    f = facts_of(p)
    lost = np.broadcast_to((f.errors + f.taken)[:, None], p.rewards.shape)
    assert f.v - f.own == pytest.approx(sums(p.chances, p.gamma, p.policy, lost), abs=EXACT)
    assert (f.taken <= f.regrets + EXACT).all()


@settings(max_examples=so_many(100, 10_000), deadline=None)
@given(problems())
def test_the_bounds(p: Problem) -> None:
    f = facts_of(p)
    for s in range(len(f.v)):
        where = reached(p, s)
        over, under = max(0.0, f.errors[where].max()), max(0.0, -f.errors[where].min())
        promise = criteria.promise_bound(over, f.regrets[where].max(), f.steps[s])
        assert -under * f.steps[s] - EXACT <= f.v[s] - f.own[s] <= promise + EXACT, "from visited states"
        epsilon = max(over, under, f.regrets[where].max())
        assert all(
            criteria.adequate(q, q1, epsilon + EXACT, p.delta)
            for q, q1 in zip(p.q[where], f.q1[where], strict=True)
        )
        if p.gamma < 1.0:
            assert promise <= criteria.promise_bound(epsilon, epsilon, criteria.horizon(p.gamma)) + EXACT
    over, under, regret = max(0.0, f.errors.max()), max(0.0, -f.errors.min()), f.regrets.max()
    lost, longest = f.best - f.own, np.maximum(f.steps, f.best_steps)
    exact = regret * f.steps + over * (f.steps - 1.0) + under * (f.best_steps - 1.0)
    two_sided = np.array([criteria.loss_bound(over, under, regret, n) for n in np.maximum(longest, 1.0)])
    assert (lost <= exact + EXACT).all()
    assert (exact <= two_sided + EXACT).all()
    if p.gamma < 1.0:
        epsilon = max(over, under, regret)
        plain = criteria.loss_bound(epsilon, epsilon, epsilon, criteria.horizon(p.gamma))
        assert plain == pytest.approx((1 + 2 * p.gamma) * epsilon / (1 - p.gamma))
        assert (two_sided <= plain + EXACT).all()
        assert (np.abs(f.best - f.v) <= max(over, under) / (1 - p.gamma) + EXACT).all()


@settings(max_examples=so_many(100, 10_000), deadline=None)
@given(problems())
def test_adequacy_among_other_abstractions(p: Problem) -> None:
    """Adequacy and a*-irrelevance, each with errors, imply each other; so does Q*-irrelevance one way."""
    f, gamma = facts_of(p), p.gamma
    if gamma == 1.0:
        return
    best = look_ahead(p.chances, p.rewards, gamma, f.best)
    epsilon = max(np.abs(f.errors).max(), f.regrets.max())
    whole = np.abs(p.q - f.q1).max()
    assert epsilon <= 2 * whole + p.delta + EXACT, "approximate value equivalence"
    spreads, spread_values, common = [0.0], [0.0], [0.0]
    middle, by_action = np.zeros_like(p.q), np.zeros_like(p.q)
    for region in np.unique(p.regions):
        rows = p.regions == region
        values, losses = f.best[rows], (f.best[:, None] - best)[rows].max(axis=0)
        spread_values.append(np.ptp(values))
        assert np.ptp(values) <= 2 * epsilon / (1 - gamma) + EXACT
        chosen = p.q[rows][0] >= p.q[rows][0].max() - p.delta
        assert (losses[chosen] <= (1 + gamma) * epsilon / (1 - gamma) + EXACT).all()
        spreads.append(np.ptp(best[rows], axis=0).max())
        middle[rows] = (best[rows].max(axis=0) + best[rows].min(axis=0)) / 2
        common.append(losses.min())
        by_action[rows] = (values.max() + values.min()) / 2 - (np.arange(best.shape[1]) != losses.argmin())
    for q, error, regret in [
        (middle, (1 + gamma) * max(spreads) / 2, (1 + gamma) * max(spreads)),
        (by_action, (1 + gamma) * max(spread_values) / 2, max(common) + gamma * max(spread_values)),
    ]:
        again = facts_of(p._replace(q=q, delta=0.0))
        assert np.abs(again.errors).max() <= error + EXACT
        assert again.regrets.max() <= regret + EXACT


@settings(max_examples=so_many(200, 10_000), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=3), st.integers(0, 2))
def test_without_tolerance_the_relations_form_a_chain(columns: list[tuple[int, int]], gap: int) -> None:
    """Q*-irrelevance implies Definition 9, which implies Definition 8, which is a*-irrelevance."""
    first, second = (np.array(row, float) for row in zip(*columns, strict=True))
    second[0] += gap
    equal = bool((first == second).all())
    compatible = criteria.compatible(first, second, 0.0, 0.0)
    shared = criteria.preferred(first, 0.0) & criteria.preferred(second, 0.0)
    a_star = bool(shared.any()) and first.max() == second.max()
    q = np.where(shared, first.max(), first.max() - 1.0) if shared.any() else np.full(len(first), first.max())
    adequate = all(criteria.adequate(q, row, 0.0, 0.0) for row in (first, second))
    assert equal <= compatible <= a_star == adequate


GAMMA, EPSILON = 0.75, 0.25


@pytest.mark.parametrize("part", [0, 1], ids=["promise", "loss"])
def test_the_constants_cannot_be_smaller(part: int) -> None:
    """A task of three states where the bounds are met exactly.

    ``y`` looks better than it is by epsilon, and its worse action, by epsilon, is taken at every step; ``x`` is
    better than it looks; at ``s`` the action that leads to ``y`` is taken, which costs epsilon as well.
    """
    v = np.array([0.0, 1.0, 1.0])  # s, x, y
    chances = np.zeros((3, 2, 3))
    chances[0, 0, 1] = chances[0, 1, 2] = chances[1, :, 1] = chances[2, :, 2] = 1.0
    rewards = np.array(
        [
            [-GAMMA, -GAMMA - EPSILON],
            [1.0 - GAMMA + EPSILON, -1.0],
            [1.0 - GAMMA - EPSILON, 1.0 - GAMMA - 2 * EPSILON],
        ]
    )
    q = np.stack([v - 1.0, v], axis=1)
    q[1] = q[1, ::-1]
    policy = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    f = facts_of(Problem(chances, rewards, GAMMA, np.arange(3), q, 0.0, policy))
    assert all(criteria.adequate(row, one, EPSILON, 0.0) for row, one in zip(q, f.q1, strict=True))
    horizon = criteria.horizon(GAMMA)
    if part == 0:
        assert (
            f.v[2] - f.own[2]
            == criteria.promise_bound(EPSILON, EPSILON, horizon)
            == 2 * EPSILON / (1 - GAMMA)
        )
        assert f.v[1] - f.own[1] == -EPSILON / (1 - GAMMA)
    else:
        most = criteria.loss_bound(EPSILON, EPSILON, EPSILON, horizon)
        assert f.best[0] - f.own[0] == most == (1 + 2 * GAMMA) * EPSILON / (1 - GAMMA)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: criteria.horizon(1.0), "Without a discount the horizon has no end; give the number of steps"),
        (lambda: criteria.horizon(1.5), "gamma should be at most 1, got 1.5."),
        (lambda: criteria.horizon(float("nan")), "gamma should be a finite number from 0, got nan."),
        (lambda: criteria.horizon(0.9, -1), "steps should be a finite number from 0, got -1."),
        (lambda: criteria.promise_bound(-0.1, 0, 1), "over should be a finite number from 0, got -0.1."),
        (lambda: criteria.promise_bound(0.1, "much", 1), "regret should be a finite number from 0, got 'much'."),
        (lambda: criteria.loss_bound(0, np.inf, 0, 1), "under should be a finite number from 0, got inf."),
        (lambda: criteria.loss_bound(0, 0, 0, 0.5), "horizon should be at least 1, as a trial has a step, got 0.5."),
        (lambda: criteria.shortfall([0.1], [0.1, 0.2], 0.9), "Two rows with as many finite numbers each"),
    ],
)  # fmt: skip
def test_wrong_numbers_get_one_sentence(call: object, sentence: str) -> None:
    with pytest.raises(DistinguoError) as caught:
        call()  # type: ignore[operator]
    assert str(caught.value).startswith(sentence)
