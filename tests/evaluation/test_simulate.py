"""Trials in lock-step against one trial at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.controller import TIED, Controller
from distinguo.controls import diagonal
from distinguo.evaluation import simulate
from distinguo.evaluation.simulate import Outcome, Patience, RunningTrials, evaluate, follow, run_lanes
from distinguo.evaluation.tester import Batch, outcome_of
from distinguo.representations.boxes import for_lookup
from distinguo.representations.declare import FunctionPartition
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.extent import TEST, Extent
from distinguo.tasks.puck.puck import Puck
from tests.evaluation.tasks import (
    HILL,
    partitions,
    place,
    pushed,
    random_boxes,
    random_voronoi,
    rows_of,
    sensible,
    some_starts,
)

CAPS = st.integers(1, 120) | st.sampled_from([300, 1500])
SEEDS = st.integers(0, 2**32)


def evaluated(partition: Any, q: np.ndarray, starts: np.ndarray, cap: int, seed: int = 0) -> Outcome:
    return evaluate(Puck(), Controller(partition, q, 0.0), np.random.default_rng(seed), starts, cap)


def one_by_one(partition: Any, q: np.ndarray, starts: np.ndarray, cap: int) -> list[tuple[int, bool]]:
    rng = np.random.default_rng(0)
    return [follow(Puck(), Controller(partition, q), rng, start.copy(), cap)[:2] for start in starts]


def replay(partition: Any, q: np.ndarray, start: np.ndarray, cap: int) -> tuple[int, float, bool, set[int]]:
    """Follow a policy without ties in plain Python: length, return, whether it fell, and where it came through."""
    (x, v), total, fell = start.tolist(), 0.0, False
    s, length, seen = (x, v), 0, set()
    while not fell and length < cap:
        j = place(partition, s)
        seen.add(j)
        s, r, fell = pushed(s, int(q[j, 1] > q[j, 0]))
        total, length = total + r, length + 1
    return length, total, fell, seen


@settings(max_examples=150)
@given(partitions(), some_starts(), CAPS, SEEDS)
def test_lock_step_equals_one_trial_at_a_time(
    partition: Any, starts: np.ndarray, cap: int, seed: int
) -> None:
    q = sensible(partition, np.random.default_rng(seed))
    outcome = evaluated(partition, q, starts, cap)
    assert list(zip(outcome.lengths.tolist(), outcome.ended.tolist(), strict=True)) == one_by_one(
        partition, q, starts, cap
    )
    assert not outcome.tied


@settings(max_examples=60)
@given(partitions(), some_starts(), CAPS, SEEDS)
def test_an_outcome_is_what_a_plain_replay_sees(
    partition: Any, starts: np.ndarray, cap: int, seed: int
) -> None:
    q = sensible(partition, np.random.default_rng(seed))
    outcome = evaluated(partition, q, starts, cap)
    lengths, returns, fell, seen = zip(*(replay(partition, q, s, cap) for s in starts), strict=True)
    assert outcome.lengths.tolist() == list(lengths)
    assert outcome.returns.tolist() == list(returns)
    assert outcome.ended.tolist() == list(fell)
    assert set(np.flatnonzero(outcome.visited).tolist()) == set().union(*seen)


@settings(max_examples=100)
@given(partitions(), some_starts(), CAPS, SEEDS, st.booleans())
def test_the_cheapest_means_give_the_same_outcome(
    partition: Any, starts: np.ndarray, cap: int, seed: int, proof: bool
) -> None:
    """Proofs may rest on more regions than the trials came through, never on fewer."""
    q = sensible(partition, np.random.default_rng(seed))
    wanted, rng = evaluated(partition, q, starts, cap), np.random.default_rng(0)
    plain = Controller(partition, q)
    quick = plain._replace(partition=for_lookup(partition))
    outcome = outcome_of(Puck(), quick, rng, Batch(starts, cap), plain if proof else None)
    assert outcome.lengths.tolist() == wanted.lengths.tolist()
    assert outcome.ended.tolist() == wanted.ended.tolist()
    assert (outcome.visited >= wanted.visited).all()
    assert not outcome.tied
    if not proof:
        assert outcome.returns.tolist() == wanted.returns.tolist()


@pytest.mark.parametrize("chunk", [1, 7, 333, 20_000])
def test_trials_that_fall_and_trials_that_last_through_many_chunks(
    monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(simulate, "CHUNK_STEPS", chunk)
    partition, q = diagonal(HILL).partition, np.array([[0.0, -1.0], [-1.0, 0.0]])
    starts = Extent(HILL.low, HILL.high).draw(np.random.default_rng(3), TEST, 50)
    outcome = evaluated(partition, q, starts, 2_500)
    assert 5 < outcome.ended.sum() < 25
    assert (outcome.lengths[~outcome.ended] == 2_500).all()
    assert (outcome.lengths[outcome.ended] < 500).all()
    assert list(zip(outcome.lengths, outcome.ended, strict=True)) == one_by_one(partition, q, starts, 2_500)


def test_a_trial_that_falls_at_the_very_cap_has_ended() -> None:
    partition, q = diagonal(HILL).partition, np.array([[-1.0, 0.0], [0.0, -1.0]])
    starts = np.array([[0.1, 0.2]])
    length = int(evaluated(partition, q, starts, 10_000).lengths[0])
    ended = {cap: bool(evaluated(partition, q, starts, cap).ended[0]) for cap in (length - 1, length)}
    assert ended == {length - 1: False, length: True}


def lanes(partition: Any, q: np.ndarray, starts: np.ndarray, seed: int) -> list[Any]:
    """Return the arguments of ``run_lanes``."""
    count, controller = len(starts), Controller(partition, q)
    arrays = [np.zeros(count, dtype=np.int64), np.zeros(count), np.zeros(count, dtype=np.bool_)]
    running = RunningTrials(starts.copy(), np.arange(count), *arrays, np.zeros(len(q), dtype=np.bool_))
    return [Puck(), controller, controller.policy, np.random.default_rng(seed), running, count, 400]


@settings(max_examples=40)
@given(partitions(), some_starts(), SEEDS, st.floats(0.0, 1.0))
def test_compiled_equals_interpreted(
    partition: Any, starts: np.ndarray, seed: int, share_of_ties: float
) -> None:
    q = sensible(partition, np.random.default_rng(seed))
    q[np.random.default_rng(seed).random(len(q)) < share_of_ties] = 0.5
    fast, slow = lanes(partition, q, starts, seed), lanes(partition, q, starts, seed)
    assert run_lanes(*fast) == run_lanes.py_func(*slow)
    assert fast[3].bit_generator.state == slow[3].bit_generator.state
    for ours, plain in zip(fast[4], slow[4], strict=True):
        assert ours.tobytes() == plain.tobytes()


@settings(max_examples=40)
@given(partitions(), some_starts(), SEEDS)
def test_lanes_that_ended_stand_behind_a_wall_and_the_others_do_not(
    partition: Any, starts: np.ndarray, seed: int
) -> None:
    arguments = lanes(partition, sensible(partition, np.random.default_rng(seed)), starts, seed)
    remaining, trials = run_lanes(*arguments), arguments[4]
    states, running = trials.states, trials.running[:remaining]
    behind = np.flatnonzero(np.abs(states[:, 0]) >= Puck().wall)
    assert sorted([*running.tolist(), *behind.tolist()]) == list(range(len(starts)))
    assert running.tolist() == sorted(running.tolist())


@pytest.mark.parametrize("kind", ["prototypes", "boxes"])
def test_a_function_of_the_state_is_evaluated_like_the_partition_it_stands_for(kind: str) -> None:
    rng = np.random.default_rng(4)
    partition = random_voronoi(rng, 6) if kind == "prototypes" else random_boxes(rng, 4)
    q, starts = sensible(partition, rng), rng.uniform((-0.6, -1.3), (0.6, 1.3), (10, 2))
    asked = FunctionPartition(lambda s: place(partition, s), rows_of(partition))
    ours, theirs = (evaluated(p, q, starts, 500) for p in (partition, asked))
    assert ours.ended.sum() > 0
    for a, b in zip(ours, theirs, strict=True):
        assert np.array_equal(a, b)


# Tied actions.


def test_tied_actions_are_drawn_by_the_seed() -> None:
    partition, starts = diagonal(HILL).partition, np.zeros((30, 2))
    first, again, other = (evaluated(partition, np.zeros((2, 2)), starts, 1000, seed) for seed in (1, 1, 2))
    assert first.tied
    assert len(set(first.lengths.tolist())) > 10
    assert first.lengths.tolist() == again.lengths.tolist()
    assert first.lengths.tolist() != other.lengths.tolist()


def test_ties_count_only_where_a_trial_came_through() -> None:
    """Pushed right from the top, the puck never sees the far left."""
    partition = voronoi([[1.0, 0.0], [-50.0, 0.0]], HILL.scale)
    right = np.array([[0.0, 1.0], [0.0, 0.0]])
    outcome = evaluated(partition, right, np.zeros((1, 2)), 500)
    assert (outcome.visited.tolist(), outcome.tied) == ([True, False], False)
    assert evaluated(partition, right[::-1].copy(), np.zeros((1, 2)), 500).tied


def test_actions_within_delta_of_the_best_are_tied() -> None:
    q = np.array([[0.0, 0.1], [0.0, 0.11], [0.3, 0.3]])
    assert Controller(None, q, 0.1).policy.tolist() == [TIED, 1, TIED]
    assert Controller(None, q, 0.0).policy.tolist() == [1, 1, TIED]


def test_tied_actions_are_taken_equally_often() -> None:
    arguments = lanes(diagonal(HILL).partition, np.zeros((2, 2)), np.zeros((4000, 2)), 5)
    run_lanes(*arguments[:-1], 1)
    to_the_right = int((arguments[4].states[:, 1] > 0).sum())
    assert 1850 < to_the_right < 2150  # within 5 standard deviations


@settings(max_examples=60)
@given(partitions(), some_starts(), SEEDS, st.integers(1, 400), st.booleans())
def test_patience_changes_no_median(
    partition: Any, starts: np.ndarray, seed: int, patience: int, plain: bool
) -> None:
    """Trials that can no longer change the median need not be followed; who fails before is known all the same."""
    q, cap = sensible(partition, np.random.default_rng(seed)), 3000
    whole = evaluated(partition, q, starts, cap)
    rng, given_up, known = (
        np.random.default_rng(seed),
        Patience(patience, len(starts) // 2),
        Controller(partition, q),
    )
    if plain:
        outcome = evaluate(Puck(), known, rng, starts, cap, given_up)
    else:
        quick = known._replace(partition=for_lookup(partition))
        outcome = outcome_of(Puck(), quick, rng, Batch(starts, cap, given_up), known)
    assert np.median(outcome.lengths) == np.median(whole.lengths)
    assert (outcome.lengths >= whole.lengths).all()
    assert (~outcome.ended | whole.ended).all()
    early = whole.lengths <= patience
    assert np.array_equal(outcome.lengths[early], whole.lengths[early])
