"""Scenarios worked out by hand, so that the oracle is itself held to the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.oracle import Oracle, Profile, State

LEFT, RIGHT = 0, 1

PLAIN = {
    "gamma": 0.5, "epsilon": 0.2, "delta": 0.0, "alpha": 0.5, "min_updates": 3, "enough_samples": 3,
    "max_steps": 1, "coin": 0.0, "explore": 0.0, "fe_interval": 1, "fe_counts_trials": True,
    "merge_interval": 0, "reduced_updates": 3, "new_updates": 1, "new_investigated": False,
    "discount_steps": False, "terminal_reliable": True, "surprise_by_transition": False,
    "merge_into_youngest": False,
    "surprise_reliable": False,
    "review_merged": False,
}  # fmt: skip


class Script:
    """A generator whose numbers are written down beforehand."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = list(numbers)

    def random(self) -> float:
        """Return the next number; running out is an error."""
        return self.numbers.pop(0)


class Walk:
    """Steps of one to either side; 0 and ``high`` are the ends. Remembers the transitions asked for."""

    def __init__(self, high: float, step_reward: float = 0.0, end_reward: float = 1.0) -> None:
        self.high, self.step_reward, self.end_reward = high, step_reward, end_reward
        self.asked: list[tuple[float, int]] = []

    def __call__(self, s: State, a: int) -> tuple[State, float, bool]:
        """Return the next state, the reward and whether the walk is over."""
        self.asked.append((s[0], a))
        x = s[0] + (1 if a == RIGHT else -1)
        if x <= 0 or x >= self.high:
            return (x,), self.step_reward + (-self.end_reward if x <= 0 else self.end_reward), True
        return (x,), self.step_reward, False


def staying(rewards: dict[float, tuple[float, float]]) -> Any:
    """Make a task in which nothing moves and the reward depends on place and action."""
    return lambda s, a: (s, rewards[s[0]][a], False)


def agent(task: Any, places: Sequence[float], rng: Any = None, start: float = 2.0, **changes: Any) -> Oracle:
    """Make an oracle with prototypes at the given places and plain settings but for the changes."""
    settings = SimpleNamespace(**{**PLAIN, **changes})
    return Oracle(task, lambda: (start,), 2, [(x,) for x in places], [1.0], settings, rng or Script())


def known(oracle: Oracle, updates: int = 3) -> Oracle:
    """Make every region of an oracle reliable."""
    oracle.updates = [[updates] * oracle.actions for _ in oracle.prototypes]
    return oracle


def test_a_trial_is_processed_from_its_end_with_each_region_once() -> None:
    walk = Walk(high=4)
    # Right, left, left, left from 2: every step draws once to explore and once to choose.
    script = Script(0.5, 0.9, 0.5, 0.1, 0.5, 0.49, 0.5, 0.0)
    oracle = agent(walk, [0, 1, 2, 3, 4], script, explore=1.0, min_updates=1, fe_interval=2)
    assert oracle.run_trial(cap=10) == 4
    assert script.numbers == [], "regions never investigated are pushed without a coin"
    assert walk.asked[:4] == [(2, RIGHT), (3, LEFT), (2, LEFT), (1, LEFT)]
    assert walk.asked[4:] == [(1, LEFT), (1, RIGHT), (2, LEFT), (2, RIGHT), (3, LEFT), (3, RIGHT)]
    assert (oracle.steps, oracle.investigation_steps) == (4, 6)
    # (1, left): -1 at rate 0.5 in the trial, then -1 at rate 1/2. Right of 1 and of 2 was not yet reliable.
    assert oracle.q == [[0, 0], [-0.75, 0], [0, 0], [0, 1], [0, 0]]
    assert oracle.updates == [[0, 0], [2, 0], [1, 0], [1, 1], [0, 0]]


def test_the_stack_replaces_by_region_and_a_trial_stops_at_its_cap() -> None:
    oracle = agent(Walk(high=9), [1, 2])
    for s, j in [((1.0,), 0), ((2.0,), 1), ((1.25,), 0)]:
        oracle.push(s, j)
    assert oracle.stack == [((2.0,), 1), ((1.25,), 0)]
    # the third number chooses the action that the cap then forbids
    capped = agent(Walk(high=9), [1, 8], Script(0.6, 0.6, 0.6))
    assert capped.run_trial(cap=2) == 2
    assert (capped.stack, capped.investigated, capped.investigation_steps) == ([], [True, False], 4)


def test_mini_trials_discount_their_rewards_and_end_three_ways() -> None:
    def profile(**changes: Any) -> Profile:
        oracle = agent(Walk(high=9, step_reward=-1.0, end_reward=0.0), [2, 7], max_steps=9, **changes)
        oracle.q, oracle.updates = [[8.0, 6.0], [2.0, 4.0]], [[0, 0], [0, 3]]
        return oracle.investigate((2.0,))

    # Left ends after 2 steps; right enters the region of 7 (at 5) after 3 steps worth -1 - 1/2 - 1/4.
    assert profile() == Profile([-1.5, -1.75 + 0.5 * 4.0], [True, True])
    assert profile(discount_steps=True) == Profile([-1.5, -1.75 + 0.125 * 4.0], [True, True])
    assert profile(terminal_reliable=False).reliable == [False, True]
    oracle = agent(Walk(high=9, step_reward=-1.0), [2, 7], max_steps=2)
    oracle.q[0] = [8.0, 6.0]
    assert oracle.investigate((3.0,)) == Profile([-1.5 + 4.0, -1.5], [False, False])


def test_active_updates_average_until_there_are_enough() -> None:
    oracle, course = agent(Walk(high=4), [2]), []
    for value in (4.0, 2.0, 6.0, 7.0):
        oracle.update(0, Profile([value, 9.0], [True, False]))
        course.append(oracle.q[0][LEFT])
    assert course == [4.0, 3.0, 4.0, 5.0]
    assert (oracle.q[0], oracle.updates[0]) == ([5.0, 0.0], [4, 0])


def test_preferences_and_coins_draw_only_when_they_must() -> None:
    oracle = agent(Walk(high=9), [2], Script(0.7, 0.3, 0.3))
    assert oracle.next_action(0) == RIGHT
    oracle.q[0], oracle.investigated[0] = [0.5, 0.0], True
    assert oracle.next_action(0) == LEFT
    oracle.settings.coin = 0.3
    oracle.learn((2.0,), LEFT, 0.25, (1.0,), False)  # as expected: 1/4 + 1/2 * 1/2
    assert oracle.stack == [], "0.3 is not below the coin's 0.3"
    oracle.settings.coin = 0.4
    oracle.learn((2.0,), LEFT, 0.25, (1.0,), False)
    assert oracle.stack == [((2.0,), 0)]


@pytest.mark.parametrize(("by_transition", "pushed"), [(False, []), (True, [((2.0,), 0)])])
def test_a_worse_poor_action_surprises_only_by_transition(by_transition: bool, pushed: list[Any]) -> None:
    oracle = agent(Walk(high=9), [2], Script(0.5), surprise_by_transition=by_transition)
    oracle.q[0], oracle.investigated[0] = [0.5, 0.0], True
    oracle.learn((2.0,), RIGHT, -5.0, (3.0,), False)
    assert (oracle.stack, oracle.q[0]) == (pushed, [0.5, 0.0]), "the source was not reliable: no update"


def test_an_incompatible_state_founds_a_region() -> None:
    oracle = known(agent(Walk(high=4), [2], reduced_updates=2))
    oracle.update_representation((3.0,), 0)  # from 3 the right end pays 1; from 2 nothing does
    assert oracle.events == [("split", 0, 1)]
    assert (oracle.prototypes, oracle.primary) == ([(2.0,), (3.0,)], [0, 1])
    assert (oracle.q, oracle.updates) == ([[0, 0], [0, 1]], [[2, 2], [1, 1]])
    assert (oracle.investigated, oracle.investigation_steps) == ([True, False], 4)
    young = known(agent(Walk(high=4), [2]), updates=1)
    young.update_representation((3.0,), 0)
    assert (young.events, young.q) == ([], [[0, 1 / 2]]), "no reliable source: only the end counts"


def test_a_merged_prototype_is_detached_when_it_explains_the_state() -> None:
    def outcome(reduced: int, far: float = 1.0) -> Oracle:
        task = staying({2: (1, 0), 5: (0, 1), 6: (0, far)})
        oracle = known(agent(task, [2, 6], reduced_updates=reduced, enough_samples=4))
        oracle.primary = [0, 0]
        oracle.update_representation((5.0,), 0)
        return oracle

    kept = outcome(reduced=3)
    assert (kept.events, kept.primary) == ([("detach", 0, 1)], [0, 1])
    # Q(0) became 1/4 of the way to (1, 0), so 6 shows (1/8, 9/8); half way from there to 5's (0, 1).
    assert kept.q == [[0.25, 0.0], [0.0625, 1.0625]]
    assert kept.updates == [[3, 3], [2, 2]]
    doubted = outcome(reduced=2)  # the old region is no reliable source any more when 6 is investigated
    assert (doubted.events, doubted.primary) == ([("split", 0, 2)], [0, 0, 2])
    both = outcome(reduced=3, far=3.0)
    assert (both.events, both.primary) == ([("split", 0, 2), ("detach", 0, 1)], [0, 1, 2])
    assert both.q == [[0.25, 0.0], [0.125, 3.125], [0.0, 1.0]]


def test_compatible_regions_merge_into_the_oldest_or_the_youngest() -> None:
    def merged(values: Sequence[float], **changes: Any) -> tuple[list[Any], list[int]]:
        task = staying({float(x): (0.0, 1.0 + value) for x, value in enumerate(values)})
        oracle = known(agent(task, range(len(values)), epsilon=0.25, **changes))
        oracle.consolidate()
        return oracle.events, oracle.primary

    assert merged([0.0, 1.0, 0.25]) == ([("merge", 0, 2)], [0, 1, 0])
    assert merged([0.0, 0.2, 0.4]) == ([("merge", 0, 1)], [0, 0, 2]), "1 is no region any more"
    assert merged([0.0, 0.4, 0.2]) == ([("merge", 0, 2)], [0, 1, 0])
    assert merged([0.0, 0.4, 0.2], merge_into_youngest=True) == ([("merge", 1, 2)], [0, 1, 1])
    assert merged([0.0, 0.0], min_updates=4) == ([], [0, 1]), "not reliable"


@pytest.mark.parametrize(
    ("review", "events", "primary"),
    [(False, [], [0, 0, 2]), (True, [("detach", 0, 1), ("merge", 1, 2)], [0, 1, 1])],
)
def test_merged_regions_are_reviewed_only_if_asked(
    review: bool, events: list[Any], primary: list[int]
) -> None:
    """Prototype 1 was merged with 0, which it no longer is like; it is like 2."""
    task = staying({0.0: (0.0, 1.0), 1.0: (0.0, 2.0), 2.0: (0.0, 2.1)})
    oracle = known(agent(task, range(3), epsilon=0.25, review_merged=review))
    oracle.primary = [0, 0, 2]
    oracle.updates[1] = [3, 3]
    oracle.consolidate()
    assert (oracle.events, oracle.primary) == (events, primary)


def test_timers() -> None:
    oracle = agent(Walk(high=9), [2], fe_interval=2)
    oracle.sessions = 1
    assert [oracle.fe_timer(), oracle.fe_timer()] == [False, False]
    oracle.settings.fe_counts_trials = False
    assert [oracle.fe_timer(), oracle.fe_timer()] == [False, True]


def test_a_long_run_keeps_its_books() -> None:
    changes = {"coin": 0.1, "explore": 0.1, "merge_interval": 3, "max_steps": 5, "gamma": 0.9}
    oracle = agent(Walk(high=12), [6], np.random.default_rng(1), start=6.0, **changes)
    lengths = [oracle.run_trial(cap=40) for _ in range(40)]
    assert sum(lengths) == oracle.steps
    assert all(oracle.primary[p] == p for p in oracle.primary)
    assert sum(kind == "split" for kind, *_ in oracle.events) == len(oracle.prototypes) - 1 > 1
    assert {kind for kind, *_ in oracle.events} == {"split", "merge", "detach"}
