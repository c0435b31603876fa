"""The test trials of the tester: what they may leave out, where trials start, what is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from distinguo.evaluation import tester
from distinguo.evaluation import tester as decide
from distinguo.evaluation.simulate import Outcome
from distinguo.evaluation.tester import Evaluation, _TestTrials, learning_curve
from distinguo.representations.voronoi import voronoi
from tests.evaluation.tasks import EXTENT, HILL, SHORT, evaluation, random_boxes, random_voronoi, two

# What it may leave out.


def random_evaluations() -> list[Evaluation]:
    rng = np.random.default_rng(11)
    often = SHORT._replace(every_steps=60, every_trials=2, steps=2500)
    drawn = [random_voronoi(rng, n % 7 + 1) if n % 2 else random_boxes(rng, n % 5) for n in range(28)]
    wishes = [often._replace(delta=(0.0, 0.0, 0.02)[n % 3], proof=n % 4 == 0) for n in range(29)]
    return [evaluation(partition, wish) for partition, wish in zip([two(), *drawn], wishes, strict=True)]


def test_reusing_the_last_outcome_never_changes_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    known, reused = _TestTrials._known, []

    def counted(trials: _TestTrials, actions: np.ndarray) -> bool:
        lucky = trials.outcome is not None and trials.outcome.tied  # then another draw would differ
        reused.append(known(trials, actions) and not lucky)
        return reused[-1]

    for name in ("advance_lockstep", "evaluate_lockstep"):  # takes random numbers also where none were needed
        monkeypatch.setattr(decide, name, lambda *arguments: None)
    monkeypatch.setattr(_TestTrials, "_known", counted)
    short_cut = [learning_curve(e, 5, n) for n, e in enumerate(random_evaluations())]
    monkeypatch.setattr(_TestTrials, "_known", lambda trials, actions: False)
    assert [learning_curve(e, 5, n) for n, e in enumerate(random_evaluations())] == short_cut
    assert 100 < sum(reused) < len(reused) - 100


def trials_that_saw(actions: list[list[bool]], visited: list[bool]) -> _TestTrials:
    trials = _TestTrials(evaluation(two()), np.random.default_rng(0))
    nothing = np.zeros(SHORT.batch)
    trials.actions = np.array(actions)
    trials.outcome = Outcome(nothing, nothing, nothing, np.array(visited), tied=True)
    return trials


def test_an_outcome_is_known_while_the_visited_regions_keep_their_action() -> None:
    left, right, both = [True, False], [False, True], [True, True]
    trials = trials_that_saw([left, right, both], [True, False, True])
    assert trials._known(np.array([left, left, both]))
    assert not trials._known(np.array([both, right, both]))
    assert not trials._known(np.array([left, right, right]))


# Where trials start.


def test_training_starts_fill_the_central_third(monkeypatch: pytest.MonkeyPatch) -> None:
    firsts: list[np.ndarray] = []
    train = tester.train

    def recorded(*values: Any) -> Any:
        firsts.append(values[5].copy())
        return train(*values)

    monkeypatch.setattr(tester, "train", recorded)
    learning_curve(evaluation(voronoi([[0.0, 0.0]], HILL.scale), SHORT._replace(steps=10_000)), 0, 0)
    rows, (low, high) = np.array(firsts), middle(3)
    assert ((low <= rows) & (rows <= high)).all()
    assert (np.ptp(rows, axis=0) > 0.9 * (high - low)).all()


def test_test_starts_fill_the_central_quarter_and_stay_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[np.ndarray] = []
    evaluate = _TestTrials._evaluate

    def recorded(trials: _TestTrials, q: np.ndarray) -> Outcome:
        batches.append(trials.starts.copy())
        return evaluate(trials, q)

    monkeypatch.setattr(_TestTrials, "_evaluate", recorded)
    learning_curve(evaluation(two(), SHORT._replace(batch=60)), 0, 0)
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


# What it counts.


def measured_of(monkeypatch: pytest.MonkeyPatch, ended: np.ndarray, spec: Any = HILL) -> tuple[float, float]:
    """Return what is measured of a batch in which these trials ended, each at its own time."""
    lengths = np.where(ended, np.arange(len(ended)) + 1, 300)
    returns = -1.0 * np.arange(len(ended))
    outcome = Outcome(lengths, returns, ended, np.ones(2, dtype=bool), False)
    monkeypatch.setattr(_TestTrials, "_evaluate", lambda *_: outcome)
    trials = _TestTrials(
        evaluation(two(), SHORT._replace(batch=len(ended)), spec=spec), np.random.default_rng(0)
    )
    return trials.measure(trials.evaluation.fresh_training())


def test_survival_counts_only_starts_that_can_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = _TestTrials(evaluation(two(), SHORT._replace(batch=50)), np.random.default_rng(0)).starts
    hopeful = np.array([HILL.controllable(HILL.task, tuple(s)) for s in starts.tolist()])
    assert 0 < hopeful.sum() < 50
    assert measured_of(monkeypatch, ~hopeful)[1] == 1.0
    assert measured_of(monkeypatch, hopeful)[1] == 0.0
    mixed = ~hopeful
    mixed[np.flatnonzero(hopeful)[:3]] = True
    assert measured_of(monkeypatch, mixed)[1] == 1 - 3 / hopeful.sum()


def test_survival_counts_all_starts_where_it_is_not_known_which_can_be_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unknown = HILL._replace(controllable=None)
    assert measured_of(monkeypatch, np.arange(50) < 20, unknown)[1] == 0.6


def test_a_score_is_the_median_length_or_the_median_return(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = np.arange(50) < 30
    assert measured_of(monkeypatch, ended)[0] == 25.5
    assert measured_of(monkeypatch, ended, HILL._replace(score="return"))[0] == -24.5


def test_a_task_scored_by_return_gives_returns() -> None:
    """On the hill a trial is worth -1 if it falls, 0 otherwise; it starts as the task says, on the top."""
    settings = SHORT._replace(steps=4000)
    by_return = learning_curve(evaluation(two(), settings, spec=HILL._replace(score="return")), 0, 0)
    assert set(by_return.scores) == {-1.0, 0.0}
    assert by_return.scores[-1] == 0.0


def test_a_task_scored_by_return_is_survived_where_its_threshold_is_reached() -> None:
    hill = HILL._replace(score="return", threshold=0.0, controllable=None)
    curve = learning_curve(evaluation(two(), SHORT._replace(steps=4000), spec=hill), 0, 0)
    assert [score == 0.0 for score in curve.scores] == [share == 1.0 for share in curve.survival]
