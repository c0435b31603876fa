"""The tester against a slow one in plain Python, and the rules of section 3.4."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.errors import DistinguoError
from distinguo.evaluation import tester as decide
from distinguo.evaluation.tester import _TestTrials, learning_curve
from distinguo.representations.boxes import grid
from distinguo.representations.declare import FunctionPartition
from distinguo.settings import TesterSettings as Wishes  # pytest collects names in Test
from tests.evaluation.tasks import (
    EXTENT,
    HILL,
    SHORT,
    evaluation,
    place,
    pushed,
    random_boxes,
    random_voronoi,
    rows_of,
    two,
)

# A tester in plain Python.


def uniform(rng: np.random.Generator, share: int, count: int) -> list[tuple[float, float]]:
    """Draw states from the middle 1/share of the extent."""
    sides = list(zip(EXTENT.low, EXTENT.high, strict=True))
    halves = [(b - a) / (2 * share) for a, b in sides]
    middles = [(a + b) / 2 for a, b in sides]
    low = [m - h for m, h in zip(middles, halves, strict=True)]
    high = [m + h for m, h in zip(middles, halves, strict=True)]
    return [(x, v) for x, v in rng.uniform(low, high, (count, 2)).tolist()]


def preferred(values: list[float], delta: float, rng: np.random.Generator) -> int:
    best = [a for a, value in enumerate(values) if value >= max(values) - delta]
    return best[0] if len(best) == 1 else best[int(rng.random() * len(best))]


class SlowTester:
    """Q-learning, batches and the two-part rule, with lists."""

    def __init__(self, partition: Any, rows: int, wishes: Wishes, seed: int, run: int) -> None:
        streams = np.random.SeedSequence([seed, run]).spawn(2)
        self.training, self.testing = (np.random.default_rng(stream) for stream in streams)
        self.partition, self.wishes = partition, wishes
        self.q = [[0.0, 0.0] for _ in range(rows)]
        self.starts = uniform(self.testing, 4, wishes.batch)

    def measured(self) -> float:
        states, lengths = dict(enumerate(self.starts)), [0] * len(self.starts)
        for _ in range(self.wishes.cap):
            for lane in list(states):
                values = self.q[place(self.partition, states[lane])]
                s, _, fell = pushed(states[lane], preferred(values, self.wishes.delta, self.testing))
                lengths[lane] += 1
                states[lane] = s
                if fell:
                    del states[lane]
        return float(np.median(lengths))

    def trial(self, before: int) -> int:
        (s,) = uniform(self.training, 3, 1)
        length, fell = 0, False
        while not fell and length < min(self.wishes.training_cap, self.wishes.steps - before):
            values = self.q[place(self.partition, s)]
            a = preferred(values, self.wishes.delta, self.training)
            s, r, fell = pushed(s, a)
            wanted = r if fell else r + self.wishes.gamma * max(self.q[place(self.partition, s)])
            values[a] += self.wishes.alpha * (wanted - values[a])
            length += 1
        return length

    def curve(self) -> tuple[list[int], list[float]]:
        steps, scores, lengths = [0], [self.measured()], []
        while sum(lengths) < self.wishes.steps:
            lengths.append(self.trial(sum(lengths)))
            since = [n for n, end in enumerate(accumulate(lengths)) if end > steps[-1]]
            passed = sum(lengths) - steps[-1]
            enough = passed >= self.wishes.every_steps or len(since) >= self.wishes.every_trials
            if enough or sum(lengths) >= self.wishes.steps:
                steps.append(sum(lengths))
                scores.append(self.measured())
        return steps, scores


WISHES = {
    "as they are": SHORT,
    "without proofs": SHORT._replace(proof=False),
    "ties within delta": SHORT._replace(delta=0.05, proof=False),
    "fast and shortsighted": SHORT._replace(alpha=0.7, gamma=0.6),
}


@pytest.fixture
def same_luck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ties be broken in the same order, and every measurement be made anew."""
    monkeypatch.setattr(decide, "advance_lockstep", lambda *arguments: None)
    monkeypatch.setattr(decide, "evaluate_lockstep", lambda *arguments: None)
    monkeypatch.setattr(_TestTrials, "_known", lambda trials, actions: False)


@pytest.mark.usefixtures("same_luck")
@pytest.mark.parametrize("wishes", WISHES.values(), ids=WISHES)
@pytest.mark.parametrize("seed", [0, 12])
def test_equals_a_slow_tester_bit_for_bit(wishes: Wishes, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for run, partition in enumerate([two(), random_voronoi(rng, 5), random_boxes(rng, 3)]):
        ours = learning_curve(evaluation(partition, wishes), seed, run)
        slow = SlowTester(partition, rows_of(partition), wishes, seed, run)
        assert (ours.training_steps, ours.scores) == slow.curve()
        assert len(set(ours.scores)) > 1


def test_a_run_depends_on_its_seed_and_its_number_alone() -> None:
    first, again = (learning_curve(evaluation(two()), 3, 4) for _ in range(2))
    assert first == again
    assert learning_curve(evaluation(two()), 4, 3) != first
    assert learning_curve(evaluation(two()), 3, 5) != first


@pytest.mark.usefixtures("same_luck")
def test_a_function_of_the_state_is_tested_the_same_way() -> None:
    asked = FunctionPartition(lambda s: place(two(), s), 2)
    assert learning_curve(evaluation(asked, rows=2), 1, 0) == learning_curve(evaluation(two()), 1, 0)


def test_a_function_that_leaves_its_regions_is_told() -> None:
    with pytest.raises(DistinguoError, match=r"gave region 2 for .*; allowed are 0 to 1"):
        learning_curve(evaluation(FunctionPartition(lambda s: 2, 2), rows=2), 0, 0)


# When it measures.


@settings(max_examples=40)
@given(st.integers(1, 900), st.integers(1, 12), st.integers(1, 2500), st.integers(0, 99))
def test_the_two_part_rule(every_steps: int, every_trials: int, steps: int, seed: int) -> None:
    quick = SHORT._replace(batch=2, cap=5, proof=False)
    wishes = quick._replace(every_steps=every_steps, every_trials=every_trials, steps=steps)
    ends: list[int] = []
    curve = learning_curve(evaluation(two(), wishes), seed, 0, ends.append)
    lengths = dict(zip(ends, np.diff([0, *ends]).tolist(), strict=True))
    assert curve.training_steps[0] == 0
    assert set(curve.training_steps[1:]) <= set(ends)
    assert curve.training_steps[-1] == ends[-1] >= steps > ends[-1] - lengths[ends[-1]]
    for before, now in pairwise(curve.training_steps):
        between = [end for end in ends if before < end <= now]
        assert len(between) <= every_trials
        assert now - before < every_steps + lengths[now]
        full = len(between) == every_trials or now - before >= every_steps or now == ends[-1]
        assert full, "measured too early"


@pytest.mark.parametrize(("every_steps", "every_trials", "gap"), [(10, 99, 10), (99, 7, 7), (8, 8, 8)])
def test_the_rule_where_every_trial_is_one_step(every_steps: int, every_trials: int, gap: int) -> None:
    wishes = SHORT._replace(training_cap=1, every_steps=every_steps, every_trials=every_trials, steps=45)
    curve = learning_curve(evaluation(two(), wishes), 0, 0)
    assert curve.training_steps == sorted({*range(0, 45, gap), 45})


def test_both_parts_of_the_rule_are_at_work() -> None:
    """Early on trials are short, so their number decides; later the steps do."""
    ends: list[int] = []
    curve = learning_curve(evaluation(two(), SHORT._replace(steps=6000, every_trials=3)), 2, 0, ends.append)
    trials = [sum(a < end <= b for end in ends) for a, b in pairwise(curve.training_steps)]
    gaps = np.diff(curve.training_steps)
    assert trials[0] == 3
    assert gaps[0] < SHORT.every_steps
    assert trials[-2] < 3
    assert gaps.max() >= SHORT.every_steps


def test_training_trials_are_stopped_at_their_cap() -> None:
    ends: list[int] = []
    learning_curve(evaluation(two(), SHORT._replace(steps=6000)), 2, 0, ends.append)
    assert max(np.diff([0, *ends])) == SHORT.training_cap


# What comes out.

LONG = Wishes(cap=20_000)


def last_scores(partition: Any, runs: int) -> list[float]:
    return [learning_curve(evaluation(partition, LONG), 1, run).scores[-1] for run in range(runs)]


def test_the_diagonal_reaches_the_cap() -> None:
    assert sum(score == LONG.cap for score in last_scores(two(), 10)) >= 9


def test_one_region_never_does() -> None:
    assert max(last_scores(grid([1, 1], HILL.low, HILL.high), 5)) < 200
