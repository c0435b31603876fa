"""Sparse sampling against an exhaustive search, and the count of its questions to the model."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.declare import task
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import transition
from distinguo_lab.planning import (
    fresh_tree,
    full_tree,
    grow_look_ahead,
    sparse_bound,
    sparse_sampling,
    sparse_trials,
)


@task(states=("place",), actions=("safe", "risky", "back"), low=(0.0,), high=(6.0,), compiled=False)
class Coins(NamedTuple):
    """Places 0 to 6; a risky step goes two places with chance .4, else back; the last place ends the trial."""

    rng: np.random.Generator = np.random.default_rng(0)

    def start(self, rng: np.random.Generator) -> tuple[float]:
        return (2.0,)

    def transition(self, s: tuple[float], a: int) -> tuple[tuple[float], float, bool]:
        u = self.rng.random()
        place, reward = outcomes(s[0], a)[0 if u < 0.4 else 1]
        return (place,), reward, place >= 6.0


def outcomes(place: float, a: int) -> list[tuple[float, float]]:
    """Return where an action leads, with chance .4 and with chance .6, and the rewards."""
    if a == 0:
        return [(place + 1, -1.0), (place + 1, -1.0)]
    if a == 1:
        return [(place + 3, -0.5 * place), (max(place - 1, 0), -1.5)]
    return [(max(place - 1, 0), 0.3), (place, -0.2)]


def exhaustive(place: float, depth: int, gamma: float) -> list[float]:
    """Return the exact action values of so many steps."""
    if depth == 0 or place >= 6.0:
        return [0.0]
    return [
        sum(
            chance * (r + gamma * max(exhaustive(after, depth - 1, gamma)))
            for chance, (after, r) in zip((0.4, 0.6), outcomes(place, a), strict=True)
        )
        for a in range(3)
    ]


def test_many_samples_come_to_the_exact_values_of_a_random_task() -> None:
    world = Coins(np.random.default_rng(5))
    tree = fresh_tree(world, 2, 80)
    grow_look_ahead.py_func(world, tree, np.array([4.0]), 80, 0.9)
    exact = exhaustive(4.0, 2, 0.9)
    np.testing.assert_allclose(tree.q[0], exact, atol=0.3)
    assert int(np.argmax(tree.q[0])) == int(np.argmax(exact))
    assert max(exact) - min(exact) > 1.0  # the tolerance tells actions apart


def plainly(s: Any, depth: int, gamma: float) -> tuple[list[float], int]:
    """Search the puck exhaustively: action values, and how many transitions it took."""
    values, calls = [], 0
    for a in range(2):
        after, r, terminal = transition(Puck(), s, a)
        calls += 1
        if not terminal and depth > 1:
            below, more = plainly(after, depth - 1, gamma)
            r, calls = r + gamma * max(below), calls + more
        values.append(r)
    return values, calls


@pytest.mark.parametrize("state", [(0.0, 0.0), (2.36, 0.4), (-2.2, -1.5), (2.0, 4.0)])
def test_the_puck_is_searched_exhaustively(state: tuple[float, float]) -> None:
    values, calls = plainly(state, 7, 0.95)
    choice = sparse_sampling("puck", state, depth=7, gamma=0.95)
    assert choice.q.tolist() == values
    assert choice.calls == calls
    assert choice.action == int(np.argmax(values))


@pytest.mark.parametrize(("depth", "samples"), [(1, 1), (5, 1), (3, 2), (2, 7)])
def test_calls_are_those_of_the_formula_where_nothing_ends(depth: int, samples: int) -> None:
    choice = sparse_sampling("puck", (0.0, 0.0), depth=depth, samples=samples)
    fan = 2 * samples
    assert choice.calls == fan * (fan**depth - 1) // (fan - 1) == full_tree(2, depth, samples)


def test_trials_count_what_they_cost() -> None:
    trials = sparse_trials("puck", depth=3, seeds=range(3), steps=20)
    assert trials.lengths.tolist() == [20, 20, 20]
    assert trials.calls.tolist() == [20 * 14] * 3
    assert trials.reached == 3
    assert "14 times" in repr(trials)


def test_the_bound_is_the_papers() -> None:
    gamma, epsilon, k = 0.9, 0.2, 3
    bound = sparse_bound(actions=k, gamma=gamma, epsilon=epsilon)
    lam, most = epsilon * (1 - gamma) ** 2 / 4, 1 / (1 - gamma)
    assert gamma**bound.depth * most <= lam < gamma ** (bound.depth - 1) * most
    ratio = (most / lam) ** 2
    exact = ratio * (2 * bound.depth * math.log(k * bound.depth * ratio) + math.log(1 / lam))
    assert bound.samples == math.ceil(exact)
    assert bound.log10_calls == pytest.approx(bound.depth * math.log10(k * bound.samples))
    once = sparse_bound(actions=k, gamma=gamma, epsilon=epsilon, deterministic=True)
    assert (once.depth, once.samples) == (bound.depth, 1)


def test_what_cannot_be_planned_gets_one_sentence() -> None:
    lost = task_spec("puck")._replace(restorable=False)
    for call, words in (
        (lambda: sparse_sampling(lost, (0.0, 0.0), depth=2), "cannot be restored"),
        (lambda: sparse_trials(lost, depth=2), "cannot be restored"),
        (lambda: sparse_sampling("puck", (0.0,), depth=2), "2 finite numbers"),
        (lambda: sparse_sampling("puck", (0.0, 0.0), depth=0), "depth"),
        (lambda: sparse_sampling("puck", (0.0, 0.0), depth=60), "smaller depth"),
        (lambda: sparse_sampling("puck", (0.0, 0.0), depth=2, gamma=1.5), "gamma"),
        (
            lambda: sparse_sampling(task_spec("puck")._replace(stochastic="some"), (0.0, 0.0), depth=2),
            "needs samples=",
        ),
        (lambda: sparse_bound(actions=2, gamma=1.0, epsilon=0.1), "gamma"),
    ):
        with pytest.raises(DistinguoError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
