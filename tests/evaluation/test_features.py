"""Features in the audit and in the tester: a partition as features is that partition; critical states are found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from distinguo.controller import Controller, FeatureController
from distinguo.criteria import POLICY
from distinguo.errors import DistinguoError
from distinguo.evaluation.audit import Visits, audit_controller
from distinguo.evaluation.gradient import _share_out as share_out
from distinguo.evaluation.gradient import evaluate_features, fresh_feature_training, train_weights
from distinguo.evaluation.tester import Evaluation, learning_curve, trained_values
from distinguo.evaluation.training import fresh_training, train
from distinguo.features.bases import radial_bases, tiles
from distinguo.features.feature import FunctionFeatures
from distinguo.representations.declare import FunctionPartition
from distinguo.representations.partition import OneHot, region
from distinguo.representations.voronoi import voronoi
from distinguo.settings import TESTER_BY_RETURN
from distinguo.settings import TesterSettings as Wishes  # pytest collects names in Test
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import Extent
from distinguo.tasks.puck.analysis import DONT_CARE, MUST_PUSH_LEFT, MUST_PUSH_RIGHT, ExactValues, analyse
from distinguo.tasks.puck.puck import Puck

HILL = task_spec("puck")
LOW, HIGH = HILL.low, HILL.high
MAP = voronoi([[0.268, 0.62], [-0.268, -0.62], [1.5, -2.0]], [4.8, 11.0])
Q = np.array([[-0.1, -0.14], [-0.6, -0.3], [-0.2, -0.2]])


@pytest.mark.parametrize("compiled", [True, False])
def test_a_partition_as_features_has_the_same_audit_to_the_bit(compiled: bool) -> None:
    states: Any = np.random.default_rng(0).uniform(LOW, HIGH, (500, 2)) if compiled else Visits(300, seed=4)
    partition = MAP if compiled else FunctionPartition(lambda s: region(MAP, s), 3)
    plain = audit_controller("puck", Controller(partition, Q, 0.05), states, gamma=0.95, epsilon=0.1)
    summed = FeatureController(OneHot(partition), Q, 0.05)
    hot = audit_controller("puck", summed, states, gamma=0.95, epsilon=0.1)
    for name in ("states", "observations", "regions", "q1", "rules", "regret"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(hot, name), name)
    assert repr(plain) == repr(hot)
    assert 0 < plain.value_failures < len(plain.states)


SETTINGS = [
    Wishes(),
    Wishes(**TESTER_BY_RETURN),
    Wishes(**TESTER_BY_RETURN)._replace(traces=0.6, averaging=False, hold=False),
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_partition_as_features_is_learned_to_the_bit(settings: Wishes) -> None:
    table, sums = fresh_training(3, 2, settings, 60), fresh_feature_training(OneHot(MAP), 2, settings, 60, 2)
    rngs = [np.random.default_rng(7) for _ in range(2)]
    for _ in range(12):
        first = [rng.uniform(-1.0, 1.0, 2) for rng in rngs]
        ends = train.py_func(Puck(), MAP, table, settings, rngs[0], first[0], 60)
        assert ends == train_weights.py_func(Puck(), OneHot(MAP), sums, settings, rngs[1], first[1], 60)
    np.testing.assert_array_equal(table.q, sums.weights)
    assert len(np.unique(table.q)) > 3


@pytest.mark.parametrize("settings", [Wishes(), Wishes(**TESTER_BY_RETURN)])
def test_compiled_and_interpreted_learners_agree_to_the_bit(settings: Wishes) -> None:
    features = tiles(4, [5, 5], LOW, HIGH)
    learners = [fresh_feature_training(features, 2, settings, 60, 2) for _ in range(2)]
    for learner, speed in zip(learners, (train_weights, train_weights.py_func), strict=True):
        rng = np.random.default_rng(3)
        for _ in range(6):
            speed(Puck(), features, learner, settings, rng, rng.uniform(-1.5, 1.5, 2), 60)
    np.testing.assert_array_equal(learners[0].weights, learners[1].weights)
    assert np.count_nonzero(learners[0].weights) > 4


def test_a_step_of_the_gradient_by_hand() -> None:
    """Strengths 1 and 1/2 and weights 0.2 and 0.4 give Q = 0.4; towards 1.4 at alpha 0.5: an error of 1 over 5/4."""
    settings = Wishes(alpha=0.5)
    learner = fresh_feature_training(FunctionFeatures(list, 3), 2, settings, 10, 2)
    learner.weights[:, 1] = 0.2, 0.7, 0.4
    work = learner.here
    work.number[0], work.active[:2], work.strengths[:2], work.q[1] = 2, (0, 2), (1.0, 0.5), 0.4
    share_out(learner, settings, work, 1, 1.4)
    np.testing.assert_allclose(learner.weights[:, 1], [0.2 + 0.4, 0.7, 0.4 + 0.2])
    assert not learner.weights[:, 0].any()
    whole = Wishes(alpha=0.01, averaging=True)  # the first lesson counts whole
    share_out(learner, whole, work._replace(q=np.array([0.0, 0.0])), 0, 2.0)
    assert learner.weights[[0, 2], 0] @ (1.0, 0.5) == pytest.approx(2.0)


GAMMA, COUNTS = 0.999, 0.5  #: a regret that counts: falling on the hill, not falling a few steps sooner
EXACT = FeatureController(ExactValues(Puck(), GAMMA), np.eye(2))


@pytest.fixture(scope="module")
def hill() -> tuple[np.ndarray, np.ndarray]:
    """Return the states of a grid and the class of each."""
    known = analyse(Puck(), resolution=0.1)
    rows = np.array([(x, v) for x in known.x[1:-1] for v in known.v])
    return rows, known.codes[1:-1].ravel()


def test_exact_values_are_adequate_everywhere(hill: tuple[np.ndarray, np.ndarray]) -> None:
    findings = audit_controller("puck", EXACT, hill[0], gamma=GAMMA, epsilon=1e-9)
    assert findings.adequate == 1.0
    critical = hill[1] > DONT_CARE
    assert findings.stakes[critical].min() > COUNTS > 2 * findings.stakes[~critical].max()


def test_features_that_know_nothing_are_misled_at_the_critical_states_and_nowhere_else(
    hill: tuple[np.ndarray, np.ndarray],
) -> None:
    blank = FeatureController(tiles(2, [3, 3], LOW, HIGH), np.zeros((32, 2)))
    findings = audit_controller("puck", blank, hill[0], gamma=GAMMA, epsilon=COUNTS, values=EXACT)
    np.testing.assert_array_equal((findings.rules & POLICY) > 0, hill[1] > DONT_CARE)
    assert findings.policy_failures == 94 == (hill[1] > DONT_CARE).sum()


@pytest.mark.parametrize("features", [tiles(8, [10, 10], LOW, HIGH), radial_bases([10, 10], LOW, HIGH)])
def test_the_audit_of_trained_features_finds_the_critical_states_that_they_get_wrong(
    features: Any, hill: tuple[np.ndarray, np.ndarray]
) -> None:
    rows, codes = hill
    evaluation = Evaluation(HILL, features, 0, Wishes(steps=5000), Extent(LOW, HIGH))
    learned = FeatureController(features, trained_values(evaluation, np.random.default_rng(0)))
    findings = audit_controller("puck", learned, rows, gamma=GAMMA, epsilon=COUNTS, values=EXACT)
    reported = (findings.rules & POLICY) > 0
    wrong, bad = np.zeros(len(rows), dtype=bool), {MUST_PUSH_LEFT: 1, MUST_PUSH_RIGHT: 0}
    for n in np.flatnonzero(codes > DONT_CARE):
        wrong[n] = learned.preferred(tuple(rows[n]))[bad[codes[n]]]
    np.testing.assert_array_equal(reported, wrong)
    assert 5 <= wrong.sum() <= 90  # some of 94 are learned, others are not
    assert findings.regret[wrong].min() > COUNTS > 2 * findings.regret[~wrong].max()


def test_a_line_against_the_fall_never_falls() -> None:
    against = FunctionFeatures(lambda s: [s[1] + 1.7615 * s[0]], 1)
    starts = np.array([[0.0, 0.0], [0.5, -0.5], [2.0, 2.0]])
    controller = FeatureController(against, np.array([[1.0, -1.0]]))
    outcome = evaluate_features(Puck(), controller, np.random.default_rng(0), starts, 10**12, patience=200)
    assert outcome.lengths.tolist() == [10**12, 10**12, 9]
    assert outcome.ended.tolist() == [False, False, True]


def test_weights_that_run_away_get_one_sentence() -> None:
    """A single feature that grows faster along every fall than values are discounted."""
    steep = FunctionFeatures(lambda s: [math.exp(20.0 * abs(s[0]))], 1)
    evaluation = Evaluation(HILL, steep, 1, Wishes(steps=20_000), Extent(LOW, HIGH))
    with pytest.raises(DistinguoError, match=r"diverged to .*; take a smaller tester.alpha than 0.1"):
        trained_values(evaluation, np.random.default_rng(0))


def test_a_curve_of_features_is_measured_like_any_other() -> None:
    short = Wishes(steps=3000, cap=1000, batch=10)
    evaluation = Evaluation(HILL, tiles(4, [5, 5], LOW, HIGH), 144, short, Extent(LOW, HIGH))
    curve = learning_curve(evaluation, seed=0, run=0)
    assert curve == learning_curve(evaluation, seed=0, run=0)
    assert curve != learning_curve(evaluation, seed=0, run=1)
    assert max(curve.survival) > 0.2


def test_a_wrong_controller_gets_one_sentence() -> None:
    eight = tiles(8, [10, 10], LOW, HIGH)
    for controller, words in (
        (FeatureController(eight, np.zeros((7, 2))), "968 features needs as many rows"),
        (FeatureController(eight, np.full((968, 2), np.nan)), "finite weights"),
        (3, "got a value of the class int"),
    ):
        with pytest.raises(DistinguoError, match=words):
            audit_controller("puck", controller, [(0.0, 0.0)], gamma=0.9, epsilon=0.1)  # type: ignore[arg-type]
    lost = HILL._replace(restorable=False)
    with pytest.raises(DistinguoError, match="cannot be restored"):
        audit_controller(lost, EXACT, [(0.0, 0.0)], gamma=0.9, epsilon=0.1)
    with pytest.raises(DistinguoError, match="2 finite numbers"):
        EXACT.q((0.0,))
    short = FunctionFeatures(lambda s: [1.0], 2)
    with pytest.raises(DistinguoError, match="gave 1 numbers"):
        audit_controller(
            "puck", FeatureController(short, np.zeros((2, 2))), [(0.0, 0.0)], gamma=0.9, epsilon=0.1
        )
