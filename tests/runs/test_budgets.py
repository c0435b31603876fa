"""Every budget is an upper bound, counted by an environment that knows how often it was asked for a step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import TimeLimit

import distinguo as dg
from distinguo.runs.configuration import configure
from distinguo.runs.stage import USUAL, Stage
from distinguo.tasks.catalog import spec_of
from tests.nightly import so_many

LIMIT = 40


class Counting(gymnasium.Env[Any, int]):
    """A place on a ring, told as an amount or as a label; it can be put anywhere, and no trial ends by itself."""

    def __init__(self, labels: bool, ends: bool, counts: list[int]) -> None:
        self.labels, self.ends, self.counts = labels, ends, counts
        box = Box(0.0, 8.0, shape=(1,), dtype=np.float64)
        self.observation_space: Any = Discrete(9) if labels else box
        self.action_space: Any = Discrete(3)
        self.place = 0.0

    def observation(self) -> Any:
        return int(self.place) if self.labels else np.array([self.place])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.place = float(self.np_random.integers(9))
        if options:
            self.place = float(np.ravel(options["state"])[0])
        return self.observation(), {}

    def step(self, action: int) -> Any:
        self.counts[0] += 1
        self.place = (self.place + action) % 9.0
        terminated = self.ends and self.place == 4.0 and action == 2
        return self.observation(), -1.0 if self.place else 0.5, terminated, False, {}

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("there is one counter")


LEARNERS = [
    ("economy", False),
    ("probation", False),
    ("evolution", False),
    ("economy", True),
    ("sweeping", True),
    ("passive", False),
]
PASSIVE = {"learner.active": False, "learner.explore": 0.1}


def counted(
    learner: str, labels: bool, limited: bool, ends: bool, settings: dict[str, Any], seed: int
) -> tuple[Stage, int]:
    """Learn to the end: the stage, and how many steps the environment was asked for, without those of the probe."""
    counts = [0]
    env: Any = Counting(labels, ends, counts)
    spec = spec_of(TimeLimit(env, LIMIT) if limited else env)
    spec = spec._replace(limit=LIMIT if limited else None, threshold=-1e6 if seed % 2 else None)
    driver = spec.task.driver
    assert driver.restoring.name == "options"
    before = counts[0]
    changes = settings | (PASSIVE if learner == "passive" else {})
    name = "economy" if learner == "passive" else learner
    stage = Stage(configure(spec, seed=seed, changes=changes, learner=name))
    for _ in stage.work():
        pass
    replayed = stage.task.driver.replayed
    return stage, counts[0] - before - replayed


@pytest.mark.parametrize(("learner", "labels"), LEARNERS)
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("ends", [False, True])
def test_steps_are_never_more_than_the_budget(learner: str, labels: bool, limited: bool, ends: bool) -> None:
    rng = np.random.default_rng([labels, limited, ends, len(learner)])
    for seed in range(so_many(3, 60)):
        budget, confirm_steps = int(rng.integers(1, 500)), int(rng.integers(1, 40))
        settings = {"stage.steps": budget, "stage.confirm_steps": confirm_steps, "stage.confirm": 30}
        stage, asked = counted(learner, labels, limited, ends, settings, seed)
        assert stage.environment_steps + stage.confirmation_steps == asked, (budget, seed)
        assert stage.investigation_steps <= stage.environment_steps <= budget
        assert stage.tested <= confirm_steps + (USUAL * LIMIT if limited else 0)
        assert np.isfinite(stage.score)


def test_an_endless_trial_is_cut_at_the_budget_and_confirmed_within_its_own() -> None:
    settings = {"stage.steps": 3000, "stage.confirm_steps": 1000}
    stage, asked = counted("economy", False, False, False, settings, seed=0)
    assert (stage.environment_steps, stage.confirmation_steps) == (3000, 1000)
    assert asked == 4000
    assert (stage.count_trials, len(stage.trials), len(stage.returns)) == (1, 0, 1)


def test_the_trials_of_a_confirmation_that_were_not_cut_count() -> None:
    """Trials of a constant policy that ends now and then, of which the last is cut."""
    settings = {"stage.steps": 300, "stage.confirm_steps": 30, "stage.confirm": 30}
    for seed in range(0, 20, 2):
        stage, _ = counted("sweeping", True, False, True, settings, seed)
        assert stage.tested <= 30
        if len(stage.returns) > 1:
            assert stage.score == pytest.approx(np.mean(stage.returns))


@pytest.mark.parametrize(
    ("learner", "labels"), [("economy", False), ("probation", False), ("sweeping", True)]
)
def test_a_cut_trial_does_not_change_an_exact_resume(
    learner: str, labels: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distinguo.runs.stage.SLOW_CHUNK", 50)

    def learned(out: Path, watch: Callable[[Stage], None] | None = None) -> dg.Run:
        env = Counting(labels, True, [0])
        settings = {"stage.steps": 777, "stage.confirm_steps": 30, "stage.confirm": 10}
        return dg.learn(env, seed=3, learner=learner, settings=settings, out=out, watch=watch)

    class Stop(Exception):
        """As by a kill."""

    def stop(stage: Stage) -> None:
        if stage.environment_steps > 400 or stage.phase == "confirming":
            raise Stop

    whole = learned(tmp_path / "whole")
    with pytest.raises(Stop):
        learned(tmp_path / "cut", stop)
    resumed = learned(tmp_path / "cut")
    again = {"seconds": 0, "replayed_steps": 0, "total_steps": 0}  # to go on, states are restored
    assert whole.summary | again == resumed.summary | again
    assert whole.q.tobytes() == resumed.q.tobytes()


def test_a_budget_of_one_prototype_ends() -> None:
    """A fresh map has one already; without a trial in each attempt the stage began again for ever."""
    settings = {"stage.prototypes": 1, "stage.restart": 5, "stage.steps": 300, "stage.cap": 100}
    run = dg.learn("puck", settings=settings)
    assert 0 < run.summary["environment_steps"] <= 300
