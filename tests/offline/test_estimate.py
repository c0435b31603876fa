"""What a log says of a controller: coverage is counted, estimates hold the truth, and say when they cannot."""

from __future__ import annotations

import numpy as np
import pytest

from distinguo.controller import Controller
from distinguo.evaluation.simulate import evaluate
from distinguo.offline.estimate import (
    by_importance,
    by_model,
    coverage,
    finding_sentences,
    half_of,
    regions_of_rows,
)
from distinguo.offline.log import Transitions, checked_log
from distinguo.offline.record import record_log
from distinguo.offline.task import log_spec
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.task import start


def two_regions(point: list[float], widths: list[float]) -> Controller:
    """Action 0 on the side of ``point``, action 1 on the other."""
    return Controller(voronoi([point, [-x for x in point]], widths), np.array([[1.0, 0.0], [0.0, 1.0]]))


def test_coverage_counts_every_step_once() -> None:
    log = record_log("puck", steps=3_000, seed=1)
    controller = two_regions([0.3, 0.6], [4.8, 11.0])
    rows = coverage(log, controller, regions_of_rows(controller.partition, log.before))
    regions = np.array([controller.region(s) for s in log.before])
    own = np.array([controller.action(s) for s in log.before]) == log.action
    for row in rows:
        here = regions == row["region"]
        assert (row["steps"], row["own_action"]) == (here.sum(), (here & own).sum())
        assert row["episodes"] == len(set(log.episodes[here & own]))
    assert sum(row["steps"] for row in rows) == 3_000


def test_a_region_without_its_action_is_said() -> None:
    found = {
        "coverage": [{"region": 0, "steps": 9, "own_action": 0, "episodes": 0}],
        "estimate": {
            "model": None,
            "of": "return",
            "left_log": 1.0,
            "importance": None,
            "effective_episodes": 0.0,
        },
    }
    said = finding_sentences(found)
    assert said[0].startswith("Coverage: in 1 of 1 region the log never takes the controller's action")
    assert "too few episodes" in said[1]
    assert "says nothing" in said[2]
    assert finding_sentences({"solved": True}) == []


def test_a_half_has_whole_episodes() -> None:
    log = record_log("CartPole-v1", steps=2_000, seed=2)
    half = half_of(log, np.random.default_rng(0))
    assert len(half.starts) == len(log.starts) // 2
    whole = {tuple(s) for s in log.starts}
    assert all(tuple(s) in whole for s in half.starts)
    lengths = {tuple(s): n for s, n in zip(log.starts, np.bincount(log.episodes), strict=True)}
    assert [lengths[tuple(s)] for s in half.starts] == np.bincount(half.episodes).tolist()


def two_steps(episodes: int, seed: int) -> Transitions:
    """Episodes of two steps; the first action is 1 with probability 0.3, the second with 0.6.

    The reward is 1 for action 1 at the first step, 10 for action 0 at the second, with noise.
    """
    rng = np.random.default_rng(seed)
    action = np.column_stack([rng.random(episodes) < 0.3, rng.random(episodes) < 0.6]).astype(int)
    reward = np.column_stack([action[:, 0] == 1, 10.0 * (action[:, 1] == 0)]) + rng.normal(
        0, 1, (episodes, 2)
    )
    before, after = np.tile([0.0, 1.0], episodes)[:, None], np.tile([1.0, 2.0], episodes)[:, None]
    return checked_log([before, action.ravel(), reward.ravel(), after, np.tile([False, True], episodes)])


def test_importance_sampling_finds_the_return_of_a_policy_that_was_not_logged() -> None:
    """Action 1, then action 0, is worth 11; the policy that was logged gets 4.3. Twenty logs, 90 % intervals."""
    controller = Controller(voronoi([[0.0], [1.0]], [1.0]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    held = []
    for seed in range(20):
        log = two_steps(400, seed)
        found = by_importance(log, controller, regions_of_rows(controller.partition, log.before), seed)
        assert abs(found["importance"] - 11.0) < 1.0
        assert 30 < found["effective_episodes"] < 80  # of 48 expected
        held.append(found["importance_low"] <= 11.0 <= found["importance_high"])
    assert sum(held) >= 14


def test_importance_sampling_says_when_no_episode_agrees() -> None:
    log = record_log("CartPole-v1", steps=3_000, seed=3)
    controller = two_regions([0.0, 0.0, -1.0, -0.3], [1.0] * 4)
    found = by_importance(log, controller, regions_of_rows(controller.partition, log.before), 0)
    assert found["importance"] is None
    assert found["effective_episodes"] < 5


@pytest.mark.second_stage
def test_the_estimate_by_models_is_near_the_truth() -> None:
    """Of controllers that last 42 and 199 steps, from random steps, where trials last 22; two logs."""
    real = task_spec("CartPole-v1")
    rng = np.random.default_rng(7)
    starts = np.array([start(real.task, rng) for _ in range(400)])
    near = 0
    for seed in (40, 41):
        spec = log_spec(record_log("CartPole-v1", steps=6_000, seed=seed), like=real)
        for point in ([0.0, 0.0, -1.0, 0.0], [0.0, 0.0, 0.0, -1.0]):
            controller = two_regions(point, [1.0] * 4)
            truth = evaluate(real.task, controller, rng, starts, 500).returns.mean()
            found = by_model(spec, controller, seed)
            assert 0.5 * truth < found["model"] < 1.5 * truth
            assert found["cautious"] < truth
            near += found["model_low"] <= truth <= found["model_high"]
    assert near >= 2
