"""A trial that a time limit stops has not ended: its last state is worth what would have followed.

On a treadmill every step gains 1, for ever, and a limit stops the trial after each step. So every state is worth
1 + γ + γ² + … = 1 / (1 - γ); to a learner that takes the limit for an end it is worth 1.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import TimeLimit

from distinguo import settings as constants
from distinguo.controller import Controller
from distinguo.evaluation.simulate import evaluate
from distinguo.evaluation.training import fresh_training, train
from distinguo.representations.voronoi import voronoi
from distinguo.runs.learn import learn
from distinguo.tasks.gym.task import make_task
from distinguo.tasks.task import start

#: Values move all the way to what is seen, by trials and by mini-trials, and are trusted from the first on.
DIRECT = {
    "learner.gamma": 0.5,
    "learner.alpha": 1.0,
    "learner.min_updates": 0,
    "learner.enough_samples": 1,
    "learner.optimistic": False,
    "learner.rescale": False,
    "learner.coin": 1.0,
    "learner.fe_interval": 10**9,
    "stage.trials": 30,
    "stage.confirm": 1,
}
WORTH = 1.0 / (1.0 - DIRECT["learner.gamma"])


class Treadmill(gymnasium.Env[np.ndarray, int]):
    """One place, two actions that make no difference, and a reward of 1 for every step."""

    observation_space = Box(-1.0, 1.0, shape=(1,), dtype=np.float64)
    action_space = Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(1), {}

    def step(self, action: int) -> Any:
        return np.zeros(1), 1.0, False, False, {}


@pytest.mark.parametrize("limit", [1, 3])
@pytest.mark.parametrize("active", [False, True], ids=["by trials alone", "by mini-trials too"])
def test_the_learner_looks_beyond_the_limit(active: bool, limit: int) -> None:
    run = learn(TimeLimit(Treadmill(), limit), seed=1, settings={**DIRECT, "learner.active": active})
    assert [(trial.ended, trial.length) for trial in run.trials] == [("cap", limit)] * 30
    assert (run.summary["investigation_steps"] > 0) == active
    assert run.q[0].max() == pytest.approx(WORTH, rel=1e-6)


@pytest.mark.parametrize("traces", [0.0, 0.7, 1.0])
def test_so_does_the_tester(traces: float) -> None:
    task = make_task(TimeLimit(Treadmill(), 1))
    settings = constants.TesterSettings(gamma=0.5, alpha=1.0, traces=traces)
    learner, rng = fresh_training(1, 2, settings, 10), np.random.default_rng(0)
    for _ in range(60):
        now = np.array(start(task, rng))
        length, ended = train.py_func(task, voronoi([[0.0]], [2.0]), learner, settings, rng, now, 10)
        assert (length, ended) == (1, False)
    assert learner.q.max() == pytest.approx(WORTH, rel=1e-6)


def test_and_a_greedy_trial_that_was_stopped_has_not_failed() -> None:
    task = make_task(TimeLimit(Treadmill(), 3))
    rng = np.random.default_rng(0)
    controller = Controller(voronoi([[0.0]], [2.0]), np.array([[1.0, 0.0]]), 0.0)
    outcome = evaluate(task, controller, rng, np.array([start(task, rng)]), 10)
    assert outcome.lengths.tolist() == [3]
    assert not outcome.ended.any()
