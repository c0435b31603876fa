"""Many runs of tasks in plain Python: processes give the bits of one run alone, and nothing is lost."""

from __future__ import annotations

import os
import signal
from multiprocessing import active_children, parent_process
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from distinguo.cli.parse import load_named
from distinguo.engines.engine import ENGINES, Engine
from distinguo.errors import DistinguoError
from distinguo.runs import folder
from distinguo.runs.configuration import Configuration, configure
from distinguo.runs.learn import learn_configured
from distinguo.runs.many import _files_in, _unpack, learn_many, learned_elsewhere, one_core_only
from distinguo.runs.settings_file import to_toml
from distinguo.tasks.catalog import spec_of
from distinguo.tasks.gym.task import gym_spec

ID = "Slipping-v0"
TWO = Engine("processes", 2)


class Slipping(gymnasium.Env[np.ndarray, int]):
    """Falls sooner or later; ``fatal`` says what the thousandth step in another process does."""

    def __init__(self, fatal: str = "") -> None:
        self.fatal, self.taken = fatal, 0
        self.observation_space = spaces.Box(-9, 9, (2,), np.float64)  # type: ignore[assignment]
        self.action_space = spaces.Discrete(2)  # type: ignore[assignment]

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.s = self.np_random.uniform(-0.1, 0.1, 2)
        return self.s, {}

    def step(self, a: int) -> Any:
        self.taken += 1
        fatal = self.fatal if self.taken == 1000 and parent_process() is not None else ""
        if fatal == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if fatal == "raises":
            raise RuntimeError("the ice broke")
        self.s = np.array([self.s[0] + 0.1 * self.s[1], self.s[1] + 0.1 * (2 * a - 1)])
        return self.s, 1.0, bool(abs(self.s[0]) > 1.0), False, {}


@pytest.fixture(scope="module", autouse=True)
def known() -> Any:
    gymnasium.register(ID, Slipping, max_episode_steps=50)
    yield
    gymnasium.registry.pop(ID)


def asked(count: int, steps: int = 300, **parameters: Any) -> list[Configuration]:
    spec = gym_spec(ID, parameters)._replace(threshold=1e6)
    changes = {"stage.steps": steps, "stage.confirm": 2, "learner.model": 20}
    return [configure(spec, seed=n, learner="probation", changes=changes) for n in range(count)]


def test_processes_give_the_bytes_of_one_run_alone(tmp_path: Path) -> None:
    wanted, told = asked(3), []
    runs = learn_many(wanted, [tmp_path / str(c.seed) for c in wanted], told.append, engine=TWO)
    assert sorted(run.configuration.seed for run in told) == [0, 1, 2]
    for configuration, run in zip(wanted, runs, strict=True):
        alone = learn_configured(configuration, tmp_path / f"alone-{configuration.seed}")
        assert run.q.tobytes() == alone.q.tobytes()
        assert run.trials == alone.trials
    assert len({run.q.tobytes() + run.representation.partition.prototypes.tobytes() for run in runs}) > 1


def test_a_killed_process_is_told_in_a_sentence(tmp_path: Path) -> None:
    wanted = asked(2, 5_000, fatal="killed")
    with pytest.raises(
        DistinguoError,
        match=r"was not finished: its process ended with exit code -9, 5 times.*same command continues",
    ):
        learn_many(wanted, [tmp_path / str(c.seed) for c in wanted], engine=TWO)
    assert not active_children()


def test_what_an_environment_raises_in_a_process_is_told(tmp_path: Path) -> None:
    wanted = asked(2, 5_000, fatal="raises")
    with pytest.raises(DistinguoError, match="the ice broke"):
        learn_many(wanted, [tmp_path / str(c.seed) for c in wanted], engine=TWO)


def test_running_ones_are_saved_when_all_are_stopped(tmp_path: Path) -> None:
    short, long = asked(1)[0], asked(2, 10**7)[1]

    def stop(_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn_many([short, long], [tmp_path / "0", tmp_path / "1"], stop, engine=TWO)
    assert not active_children()
    assert folder.is_finished(tmp_path / "0")
    assert not folder.is_finished(tmp_path / "1")
    assert folder.resume(tmp_path / "1", long).environment_steps > 0


def test_an_object_stays_in_this_process_and_that_is_told() -> None:
    given = configure(spec_of(Slipping(), {}), seed=0, learner="probation")
    assert "given as an object" in one_core_only(given)
    assert one_core_only(asked(1)[0]) == ""
    assert one_core_only(configure("puck")) == ""


OWN = """
from typing import NamedTuple
import distinguo as dg

@dg.task(states=["x", "v"], low=[-1.0, -2.0], high=[1.0, 2.0], actions=["left", "right"], compiled=False)
class Sledge(NamedTuple):
    grip: float = 0.05
    def start(self, rng):
        return (float(rng.uniform(-0.1, 0.1)), 0.0)
    def transition(self, s, a):
        v = s[1] + self.grip * (2 * a - 1)
        x = s[0] + 0.1 * v
        return (x, v), -1.0 if abs(x) > 1.0 else 0.0, abs(x) > 1.0
"""


@pytest.mark.second_stage
def test_every_engine_learns_the_same_bits_from_a_users_file(tmp_path: Path) -> None:
    """On the cluster, the file comes with the job: its workers cannot know it."""
    (tmp_path / "sledge.py").write_text(OWN)
    changes = {"stage.cap": 200, "stage.hold": 200, "stage.trials": 30}
    spec = spec_of(load_named(f"{tmp_path / 'sledge.py'}:Sledge"))
    wanted = [configure(spec, seed=n, learner="economy", changes=changes) for n in range(2)]
    (tmp_path / "sledge.py").rename(tmp_path / "gone.py")
    (tmp_path / "sledge.py").write_text(OWN)
    for engine in ENGINES:
        runs = learn_many(wanted, [tmp_path / engine / str(n) for n in range(2)], engine=Engine(engine, 2))
        assert [run.path for run in runs] == [tmp_path / engine / str(n) for n in range(2)]
    for n in range(2):
        places = [tmp_path / engine / str(n) for engine in ENGINES]
        kept = [{p.name: p.read_bytes() for p in place.iterdir()} for place in places]
        for name in set(kept[0]) - {"result.json", "checkpoint.npz", "digests.json"}:  # seconds are in them
            assert kept[0][name] == kept[1][name] == kept[2][name], name
        assert {"values.npz", "trials.csv", "representation.json", "result.json"} <= set(kept[2])


@pytest.mark.second_stage
def test_a_run_that_was_begun_here_goes_on_elsewhere(tmp_path: Path) -> None:
    """What was learned before it was stopped goes with it."""
    configuration = configure("puck", seed=3, changes={"stage.cap": 2000, "stage.hold": 2000})
    learn_configured(configuration, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        learn_configured(configuration, tmp_path / "out", lambda stage: _stop_after(stage, 3))
    begun = folder.resume(tmp_path / "out", configuration).environment_steps
    assert begun > 0
    learned = learned_elsewhere(to_toml(configuration), _files_in(tmp_path / "out"))
    _unpack(learned, tmp_path / "out")
    assert folder.open_run(tmp_path / "out").q.tobytes() == folder.open_run(tmp_path / "whole").q.tobytes()


def _stop_after(stage: Any, trials: int) -> None:
    if stage.count_trials >= trials:
        raise KeyboardInterrupt
