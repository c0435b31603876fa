"""States that look alike: what is learned can be saved, read again and drawn, however different their futures are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete

from distinguo.runs.folder import open_run
from distinguo.runs.learn import learn
from distinguo.views.show import draw_run


class Rounded(gymnasium.ObservationWrapper):  # type: ignore[type-arg]
    """Observations as whole numbers: most states look like many others."""

    def observation(self, observation: Any) -> Any:
        return np.round(observation)


class Corridor(gymnasium.Env):  # type: ignore[type-arg]
    """Eight places that look like two: left and right pay at the ends, and the middle is crossed blindly."""

    observation_space = Discrete(2)
    action_space = Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(2, 6))
        return self.at % 2, {}

    def step(self, action: int) -> Any:
        self.at += 1 if action else -1
        return self.at % 2, float(self.at * self.at), self.at in (0, 7), False, {}


TASKS = {
    "amounts": lambda: Rounded(gymnasium.make("CartPole-v1")),
    "categories": Corridor,
    "lake": lambda: "FrozenLake-v1",
}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", TASKS)
def test_learn_save_load_show(name: str, seed: int, tmp_path: Path) -> None:
    brief = {"stage.steps": 4_000, "stage.cap": 300, "stage.confirm": 3}
    run = learn(TASKS[name](), seed=seed, learner="economy", settings=brief, out=tmp_path / "run")
    points = run.representation.partition.prototypes
    assert len(np.unique(points, axis=0)) == len(points)
    again = open_run(tmp_path / "run")
    assert again.q.tobytes() == run.q.tobytes()
    assert draw_run(again).exists()
