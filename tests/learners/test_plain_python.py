"""Tasks in plain Python on compiled learners: the bits of a run in which everything is interpreted."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.runs import stage
from distinguo.tasks.world import python_world


class Slide(gymnasium.Env[np.ndarray, int]):
    """A double integrator with one more coordinate; ``labels`` numbers what it observes."""

    def __init__(self, labels: bool = False, fails_at: int = -1) -> None:
        self.labels, self.fails_at, self.taken = labels, fails_at, 0
        self.observation_space = spaces.Discrete(49) if labels else spaces.Box(-9, 9, (3,), np.float64)  # type: ignore[assignment]
        self.action_space = spaces.Discrete(2)  # type: ignore[assignment]

    def _seen(self) -> Any:
        if self.labels:
            x, v = np.clip((3 + 3 * self.s[:2]).astype(int), 0, 6)
            return int(7 * x + v)
        return self.s

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t, self.s = 0, np.append(self.np_random.uniform(-0.1, 0.1, 2), 1.0)
        return self._seen(), {}

    def step(self, a: int) -> Any:
        self.taken += 1
        if self.taken == self.fails_at:
            raise RuntimeError("the cable broke")
        self.t += 1
        self.s = np.array([self.s[0] + 0.1 * self.s[1], self.s[1] + 0.1 * (2 * a - 1), -self.s[2]])
        return self._seen(), 1.0, bool(abs(self.s[0]) > 1.0), self.t >= 60, {}


def told(learner: str) -> dict[str, Any]:
    brief = {"stage.steps": 60 if learner == "sweeping" else 400, "stage.confirm": 2}
    if learner == "probation":
        brief |= {"learner.model": 20, "learner.screen": 3}
    run = dg.learn(Slide(learner == "sweeping"), seed=5, learner=learner, settings=brief, threshold=59.5)
    summary = {key: value for key, value in run.summary.items() if key != "seconds"}
    return {"summary": summary, "q": run.q.tobytes(), "trials": run.trials, "reasons": run.reasons}


SECOND = [pytest.param(name, marks=pytest.mark.second_stage) for name in ("surprise", "model", "sweeping")]


@pytest.mark.parametrize("learner", ["economy", "probation", *SECOND])
def test_only_the_task_is_interpreted_and_the_bits_are_the_same(
    learner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = told(learner)
    assert fast["summary"]["environment_steps"] >= 50
    monkeypatch.setattr(stage, "world_of", python_world)
    assert told(learner) == fast


def test_an_environment_that_fails_within_a_run_says_so_in_its_own_words() -> None:
    with pytest.raises(DistinguoError, match="the cable broke"):
        dg.learn(Slide(fails_at=6_000), seed=5, learner="probation", threshold=1e6)
