"""MuJoCo's environments are restored by the state of their simulation, and their actions need no setting."""

from __future__ import annotations

import numpy as np
import pytest

from distinguo.tasks.gym.task import make_task
from distinguo.tasks.task import actions, start, transition

pytest.importorskip("mujoco")
pytest.importorskip("imageio")


@pytest.mark.parametrize(("name", "number"), [("InvertedPendulum-v5", 5), ("Hopper-v5", 27)])
def test_the_simulation_is_restored(name: str, number: int) -> None:
    task = make_task(name)
    assert actions(task) == number
    assert task.driver.restoring.name == "set_state"
    assert "is put back by MuJoCo's own mj_setState" in task.driver.restoring.sentence
    rng = np.random.default_rng(0)
    for _ in range(3):
        s, done, log = start(task, rng), False, []
        while not done and len(log) < 80:
            a = int(rng.integers(number))
            after, reward, done = transition(task, s, a)
            log.append((s, a, after, reward))
            s = after
        for i in rng.integers(len(log), size=10).tolist():
            s, a, after, reward = log[i]
            ahead, again, _ = transition(task, s, a)
            assert (ahead[2:], again) == (after[2:], reward)
