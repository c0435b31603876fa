"""The learner for categories at work: text tasks solved, small maps, saved, stopped and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete, MultiDiscrete

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import TERMINAL
from distinguo.learners.sweeping.learner import Sweeping
from distinguo.runs import learn as lab
from distinguo.runs.configuration import configure
from distinguo.runs.folder import open_run
from distinguo.runs.folder import read_settings as open_settings
from distinguo.runs.learn import learn
from distinguo.runs.stage import Stage
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.spec import MeanReturn
from distinguo.views.show import draw_run

#: Environment steps that are enough, and the steps of a trial.
LAKES = {"FrozenLake-v1": (600, 100), "FrozenLake8x8-v1": (2_000, 200)}
RESULTS = ("representation.json", "values.npz", "trials.csv")


def true_mean(name: str, controller: Controller, horizon: int, **parameters: Any) -> float:
    """Return the mean return of a controller, computed from what the environment knows of itself."""
    env: Any = gymnasium.make(name, **parameters).unwrapped
    states = len(env.P)
    go, reward, value = np.zeros((states, states)), np.zeros(states), np.zeros(states)
    for s in range(states):
        for share, k, r, ends in env.P[s][controller.action((float(s),))]:
            reward[s] += share * r
            go[s, k] += 0.0 if ends else share
    for _ in range(horizon):
        value = reward + go @ value
    return float(env.initial_state_distrib @ value)


def swept(task: Any, steps: int, seed: int = 1, out: Path | None = None, **parameters: Any) -> Any:
    """Learn for so many steps, whatever a lucky trial may claim: without a threshold, nothing is solved before."""
    spec = task_spec(task, parameters) if isinstance(task, str) else spec_of(task)
    settings = {"stage.steps": steps, "stage.confirm": 5, "stage.cap": 200}
    return learn(spec._replace(threshold=None), seed=seed, learner="sweeping", settings=settings, out=out)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", LAKES)
def test_a_lake_that_is_not_slippery_needs_two_regions(name: str, seed: int) -> None:
    steps, horizon = LAKES[name]
    run = swept(name, steps, seed, is_slippery=False)
    assert true_mean(name, run.controller, horizon, is_slippery=False) == 1.0
    assert run.summary["regions"] == 2
    assert run.summary["prototypes"] <= 8 < run.summary["states_seen"]
    assert not run.summary["chance"]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_slippery_lake(seed: int) -> None:
    run = swept("FrozenLake-v1", 15_000, seed)
    assert run.summary["chance"]
    assert true_mean("FrozenLake-v1", run.controller, 100) >= 0.70
    assert run.summary["regions"] <= 4


def test_the_cliff_needs_three_prototypes() -> None:
    run = swept("CliffWalking-v1", 3_000)
    assert true_mean("CliffWalking-v1", run.controller, 100) == -13.0
    assert (run.summary["score"], run.summary["regions"], run.summary["prototypes"]) == (-13.0, 3, 3)
    assert run.summary["states_seen"] == 38


def test_the_taxi_is_driven_as_well_as_can_be() -> None:
    """Its registered threshold, 8, is above the mean of the best returns from all of its starts, 7.93."""
    name = "Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3"
    run = swept(name, 20_000)
    assert true_mean(name, run.controller, 200) == pytest.approx(7.93)
    assert run.summary["states_seen"] == 404
    assert run.summary["regions"] == 6
    assert run.summary["representation_regions"] < 250


class Grid(gymnasium.Env):  # type: ignore[type-arg]
    """A square whose places are two categories: from one corner to the other."""

    observation_space = MultiDiscrete([5, 5])
    action_space = Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = np.array([0, 0])
        return self.at.copy(), {}

    def step(self, action: int) -> Any:
        self.at = np.clip(self.at + [(1, 0), (0, 1), (-1, 0), (0, -1)][action], 0, 4)
        return self.at.copy(), -1.0, bool((self.at == 4).all()), False, {}


def test_categories_of_several_coordinates(tmp_path: Path) -> None:
    run = swept(Grid(), 2_000, out=tmp_path / "run")
    assert run.summary["score"] == -8.0
    assert run.summary["regions"] == 2
    assert open_run(tmp_path / "run").q.tobytes() == run.q.tobytes()


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1"])
def test_learn_save_load_show(name: str, tmp_path: Path) -> None:
    run = swept(name, 2_000, out=tmp_path / "run")
    again = open_run(tmp_path / "run")
    assert again.q.tobytes() == run.q.tobytes()
    assert again.representation.partition.regions.tolist() == run.representation.partition.regions.tolist()
    assert draw_run(again).exists()


class StoppedError(Exception):
    """Somebody stopped the run."""


def test_a_run_stopped_again_and_again_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr("distinguo.runs.stage.SLOW_CHUNK", 40)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    swept("FrozenLake8x8-v1", 3_000, out=whole)

    def stop_soon() -> Any:
        left = 37

        def watch(_: Stage) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise StoppedError

        return watch

    stops = 0
    while not (cut / "result.json").exists():
        try:
            lab.learn_configured(open_settings(whole), cut, stop_soon())
        except StoppedError:
            stops += 1
    assert stops > 2
    for file in RESULTS:
        assert (whole / file).read_bytes() == (cut / file).read_bytes(), file


def test_success_is_claimed_once_for_a_plan() -> None:
    asked = {"task.is_slippery": False, "stage.steps": 2_000, "stage.confirm": 1}
    stage = Stage(configure("FrozenLake-v1", seed=1, learner="sweeping", changes=asked))
    learner, claims = Sweeping(), []
    while not claims and stage.environment_steps < 2_000:
        learner.prepared(stage.agent, None)
        learner.begin(stage.agent)
        learner.advance(stage.agent, 100, 100)
        learner.settle(stage.agent)
        if learner.claims(stage.agent, TERMINAL, MeanReturn(1.0)):
            claims = [learner.claims(stage.agent, TERMINAL, MeanReturn(goal)) for goal in (1.0, None)]
    assert claims == [False, False]
    assert true_mean("FrozenLake-v1", stage.controller, 100, is_slippery=False) == 1.0


@pytest.mark.parametrize(("task", "given"), [("CartPole-v1", None), ("FrozenLake-v1", [[0.0]])])
def test_what_it_cannot_do_is_said_in_a_sentence(task: str, given: Any) -> None:
    with pytest.raises(DistinguoError, match=r"^The learner 'sweeping' [^\n]+\.$"):
        learn(task, seed=1, learner="sweeping", prototypes=given)
