"""The tester against a slow one in plain Python, and the rules of section 3.4."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.controls.diagonal import diagonal
from distinguo.errors import DistinguoError
from distinguo.evaluation import tester
from distinguo.evaluation.curve import Curve, checkpoints
from distinguo.evaluation.simulate import Outcome
from distinguo.evaluation.tester import Exam, _Judge, learning_curve
from distinguo.representation.boxes import grid
from distinguo.representation.function import FunctionPartition
from distinguo.representation.voronoi import voronoi
from distinguo.settings import TesterSettings as Wishes  # pytest collects names in Test
from distinguo.tasks.extent import Extent, observed_extent
from distinguo.tasks.puck.puck import Puck
from tests.evaluation.tasks import HILL, place, pushed, random_boxes, random_voronoi, rows_of

EXTENT = Extent((-2.3, -5.4), (2.4, 5.5))
SHORT = Wishes(
    gamma=0.99, alpha=0.1, steps=1500, cap=300, batch=8, every_steps=400, every_trials=6, training_cap=350
)


def exam(partition: Any, wishes: Wishes = SHORT, rows: int | None = None, spec: Any = HILL) -> Exam:
    return Exam(spec, partition, rows_of(partition) if rows is None else rows, wishes, EXTENT)


def two() -> Any:
    return diagonal(HILL).partition


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

    def trial(self) -> int:
        (s,) = uniform(self.training, 3, 1)
        length, fell = 0, False
        while not fell and length < self.wishes.training_cap:
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
            lengths.append(self.trial())
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


@pytest.mark.parametrize("wishes", WISHES.values(), ids=WISHES)
@pytest.mark.parametrize("seed", [0, 12])
def test_equals_a_slow_tester_bit_for_bit(wishes: Wishes, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for run, partition in enumerate([two(), random_voronoi(rng, 5), random_boxes(rng, 3)]):
        ours = learning_curve(exam(partition, wishes), seed, run)
        slow = SlowTester(partition, rows_of(partition), wishes, seed, run)
        assert (ours.training_steps, ours.scores) == slow.curve()
        assert len(set(ours.scores)) > 1


def test_a_run_depends_on_its_seed_and_its_number_alone() -> None:
    first, again = (learning_curve(exam(two()), 3, 4) for _ in range(2))
    assert first == again
    assert learning_curve(exam(two()), 4, 3) != first
    assert learning_curve(exam(two()), 3, 5) != first


def test_a_function_of_the_state_goes_through_the_same_door() -> None:
    asked = FunctionPartition(lambda s: place(two(), s), 2)
    assert learning_curve(exam(asked, rows=2), 1, 0) == learning_curve(exam(two()), 1, 0)


def test_a_function_that_leaves_its_regions_is_told() -> None:
    with pytest.raises(DistinguoError, match=r"gave region 2 for .*; allowed are 0 to 1"):
        learning_curve(exam(FunctionPartition(lambda s: 2, 2), rows=2), 0, 0)


# When it measures.


@settings(max_examples=40)
@given(st.integers(1, 900), st.integers(1, 12), st.integers(1, 2500), st.integers(0, 99))
def test_the_two_part_rule(every_steps: int, every_trials: int, steps: int, seed: int) -> None:
    quick = SHORT._replace(batch=2, cap=5, proof=False)
    wishes = quick._replace(every_steps=every_steps, every_trials=every_trials, steps=steps)
    ends: list[int] = []
    curve = learning_curve(exam(two(), wishes), seed, 0, ends.append)
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
    curve = learning_curve(exam(two(), wishes), 0, 0)
    assert curve.training_steps == sorted({*range(0, 45, gap), 45})


def test_both_parts_of_the_rule_are_at_work() -> None:
    """Early on trials are short, so their number decides; later the steps do."""
    ends: list[int] = []
    curve = learning_curve(exam(two(), SHORT._replace(steps=6000, every_trials=3)), 2, 0, ends.append)
    trials = [sum(a < end <= b for end in ends) for a, b in pairwise(curve.training_steps)]
    gaps = np.diff(curve.training_steps)
    assert trials[0] == 3
    assert gaps[0] < SHORT.every_steps
    assert trials[-2] < 3
    assert gaps.max() >= SHORT.every_steps


def test_training_trials_are_stopped_at_their_cap() -> None:
    ends: list[int] = []
    learning_curve(exam(two(), SHORT._replace(steps=6000)), 2, 0, ends.append)
    assert max(np.diff([0, *ends])) == SHORT.training_cap


# What it may leave out.


def random_exams() -> list[Exam]:
    rng = np.random.default_rng(11)
    often = SHORT._replace(every_steps=60, every_trials=2, steps=2500)
    drawn = [random_voronoi(rng, n % 7 + 1) if n % 2 else random_boxes(rng, n % 5) for n in range(28)]
    wishes = [often._replace(delta=(0.0, 0.0, 0.02)[n % 3], proof=n % 4 == 0) for n in range(29)]
    return [exam(partition, wish) for partition, wish in zip([two(), *drawn], wishes, strict=True)]


def test_reusing_the_last_outcome_never_changes_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    known, reused = _Judge._known, []

    def counted(judge: _Judge, policy: np.ndarray) -> bool:
        reused.append(known(judge, policy))
        return reused[-1]

    monkeypatch.setattr(_Judge, "_known", counted)
    short_cut = [learning_curve(e, 5, n) for n, e in enumerate(random_exams())]
    monkeypatch.setattr(_Judge, "_known", lambda judge, policy: False)
    assert [learning_curve(e, 5, n) for n, e in enumerate(random_exams())] == short_cut
    assert 100 < sum(reused) < len(reused) - 100


def judge_who_saw(policy: list[int], visited: list[bool], tied: bool = False) -> _Judge:
    judge = _Judge(exam(two()), np.random.default_rng(0))
    nothing = np.zeros(SHORT.batch)
    judge.policy = np.array(policy)
    judge.outcome = Outcome(nothing, nothing, nothing, np.array(visited), tied)
    return judge


def test_an_outcome_is_known_while_the_visited_regions_keep_their_action() -> None:
    judge = judge_who_saw([0, 1, 1], [True, False, True])
    assert judge._known(np.array([0, 0, 1]))
    assert not judge._known(np.array([1, 1, 1]))
    assert not judge_who_saw([0, -1, 1], [True, True, True], tied=True)._known(np.array([0, -1, 1]))


# Where trials start.


def test_training_starts_fill_the_central_third(monkeypatch: pytest.MonkeyPatch) -> None:
    firsts: list[np.ndarray] = []
    train = tester.train

    def recorded(*values: Any) -> Any:
        firsts.append(values[5].copy())
        return train(*values)

    monkeypatch.setattr(tester, "train", recorded)
    learning_curve(exam(voronoi([[0.0, 0.0]], HILL.scale), SHORT._replace(steps=10_000)), 0, 0)
    rows, (low, high) = np.array(firsts), middle(3)
    assert ((low <= rows) & (rows <= high)).all()
    assert (np.ptp(rows, axis=0) > 0.9 * (high - low)).all()


def test_test_starts_fill_the_central_quarter_and_stay_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[np.ndarray] = []
    evaluate = _Judge._evaluate

    def recorded(judge: _Judge, q: np.ndarray) -> Outcome:
        batches.append(judge.starts.copy())
        return evaluate(judge, q)

    monkeypatch.setattr(_Judge, "_evaluate", recorded)
    learning_curve(exam(two(), SHORT._replace(batch=60)), 0, 0)
    low, high = middle(4)
    assert batches[0].shape == (60, 2)
    assert ((low <= batches[0]) & (batches[0] <= high)).all()
    assert (np.ptp(batches[0], axis=0) > 0.9 * (high - low)).all()
    assert len(batches) > 1
    assert all(np.array_equal(batch, batches[0]) for batch in batches)


def middle(share: int) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.array(EXTENT.low), np.array(EXTENT.high)
    spare = (high - low) * (1 - 1 / share) / 2
    return low + spare - 1e-12, high - spare + 1e-12


def test_the_preliminary_series_sees_what_pushing_one_way_for_ever_shows() -> None:
    found, s, fell = observed_extent(Puck()), (0.0, 0.0), False
    while not fell:
        fastest = s[1]
        s, _, fell = pushed(s, 1)
    assert found.high[1] == -found.low[1] == fastest == pytest.approx(5.48361927)
    assert s[1] > fastest


def test_the_preliminary_series_counts_no_terminal_states() -> None:
    found = observed_extent(Puck())
    assert 2.35 < found.high[0] < Puck().wall
    assert -Puck().wall < found.low[0] < -2.35
    assert found == observed_extent(Puck())
    assert found != observed_extent(Puck(), seed=1)


def test_more_trials_widen_the_extent() -> None:
    """The first two trials repeat an action each, and both run straight to a wall."""
    few, more = observed_extent(Puck(), trials=2), observed_extent(Puck(), trials=100)
    assert few.low == (-few.high[0], -few.high[1])
    assert more.high[0] > few.high[0]
    assert more.high[1] == few.high[1]


# What it counts.


def judged(monkeypatch: pytest.MonkeyPatch, ended: np.ndarray, spec: Any = HILL) -> tuple[float, float]:
    """Return what a judge makes of a batch in which these trials ended, each at its own time."""
    lengths = np.where(ended, np.arange(len(ended)) + 1, 300)
    returns = -1.0 * np.arange(len(ended))
    outcome = Outcome(lengths, returns, ended, np.ones(2, dtype=bool), False)
    monkeypatch.setattr(_Judge, "_evaluate", lambda *_: outcome)
    judge = _Judge(exam(two(), SHORT._replace(batch=len(ended)), spec=spec), np.random.default_rng(0))
    return judge.measure(np.zeros((2, 2)))


def test_survival_counts_only_starts_that_can_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = _Judge(exam(two(), SHORT._replace(batch=50)), np.random.default_rng(0)).starts
    hopeful = np.array([HILL.controllable(HILL.task, tuple(s)) for s in starts.tolist()])
    assert 0 < hopeful.sum() < 50
    assert judged(monkeypatch, ~hopeful)[1] == 1.0
    assert judged(monkeypatch, hopeful)[1] == 0.0
    mixed = ~hopeful
    mixed[np.flatnonzero(hopeful)[:3]] = True
    assert judged(monkeypatch, mixed)[1] == 1 - 3 / hopeful.sum()


def test_survival_counts_all_starts_where_it_is_not_known_which_can_be_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unknown = HILL._replace(controllable=None)
    assert judged(monkeypatch, np.arange(50) < 20, unknown)[1] == 0.6


def test_a_score_is_the_median_length_or_the_median_return(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = np.arange(50) < 30
    assert judged(monkeypatch, ended)[0] == 25.5
    assert judged(monkeypatch, ended, HILL._replace(score="return"))[0] == -24.5


def test_a_task_judged_by_return_gives_returns() -> None:
    """On the hill a trial is worth -1 if it falls, 0 otherwise; it starts as the task says, on the top."""
    settings = SHORT._replace(steps=4000)
    by_return = learning_curve(exam(two(), settings, spec=HILL._replace(score="return")), 0, 0)
    assert set(by_return.scores) == {-1.0, 0.0}
    assert by_return.scores[-1] == 0.0


def test_a_task_judged_by_return_is_survived_where_its_threshold_is_reached() -> None:
    hill = HILL._replace(score="return", threshold=0.0, controllable=None)
    curve = learning_curve(exam(two(), SHORT._replace(steps=4000), spec=hill), 0, 0)
    assert [score == 0.0 for score in curve.scores] == [share == 1.0 for share in curve.survival]


# Curves.


def test_a_checkpoint_takes_the_first_measurement_after_it() -> None:
    curve = Curve([0, 700, 1200], [20.0, 90.0, 5e6], [0.0, 0.5, 1.0])
    asked = [0, 1, 700, 701, 1200, 99_999]
    assert curve.at(asked).tolist() == [20.0, 90.0, 90.0, 5e6, 5e6, 5e6]
    assert curve.survival_at(asked).tolist() == [0.0, 0.5, 0.5, 1.0, 1.0, 1.0]


@given(st.integers(1, 3000), st.integers(1, 700))
def test_checkpoints_go_from_nothing_to_the_end(steps: int, every: int) -> None:
    found = checkpoints(steps, every)
    assert (found[0], found[-1]) == (0, steps)
    assert {b - a for a, b in pairwise(found[:-1])} <= {every}
    assert 0 < found[-1] - found[-2] <= every


# What comes out.

LONG = Wishes(cap=20_000)


def last_scores(partition: Any, runs: int) -> list[float]:
    return [learning_curve(exam(partition, LONG), 1, run).scores[-1] for run in range(runs)]


def test_the_diagonal_reaches_the_cap() -> None:
    assert sum(score == LONG.cap for score in last_scores(two(), 10)) >= 9


def test_one_region_never_does() -> None:
    assert max(last_scores(grid([1, 1], HILL.low, HILL.high), 5)) < 200
