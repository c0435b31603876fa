"""Environments that are stepped themselves, and tasks of chance: what is counted, and what is learned."""

from __future__ import annotations

import random
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

import distinguo as dg
from distinguo.learners.agent import Agent
from distinguo.learners.probation.memory import run_trial
from distinguo.learners.probation.race import NEVER
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn, learn_configured
from distinguo.runs.stage import Stage
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.world import python_world
from tests.nightly import NIGHTLY

#: No imagining, which takes long in plain Python.
BRIEF = {"stage.confidence": 0.5, "learner.screen": 1}


def interpreted(work: Stage) -> Agent:
    """The agent in a world on which parts can be called from here."""
    world = work.agent.world
    return work.agent._replace(world=python_world(work.task, world.spare.shape[1], world.sights.shape[1]))


@pytest.mark.parametrize(("name", "steps"), [("CartPole-v1", 1500), ("MountainCar-v0", 2500)])
def test_gymnasiums_own_environment_is_learned(name: str, steps: int) -> None:
    """And the tree is what it does: from the same start the same map has the same return without the tree."""
    work = Stage(
        configure(task_spec(name, interpreted=True), seed=1, changes={**BRIEF, "stage.steps": steps})
    )
    for _ in work.work():
        pass
    agent = interpreted(work)
    assert work.learner.name == "probation"
    assert work.environment_steps >= steps
    assert not agent.memory.facts["returns"][0]
    assert agent.memory.facts["repeats"][0]
    fresh = agent._replace(settings=agent.settings._replace(reuse=False))
    for root in agent.memory.starts.tests[:3]:
        gained = [
            float(x.memory.tree.gained[run_trial(x, x.memory.incumbent, int(root), work.cap, NEVER)[0]])
            for x in (agent, fresh, agent)
        ]
        assert gained[0] == gained[1] == gained[2]


class Slope(gymnasium.Env[Any, int]):
    """Roll down to either side; every step pays one. It counts the steps of all slopes together."""

    taken: ClassVar[int] = 0

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, shape=(2,), dtype=np.float64)
        self.action_space = Discrete(2)
        self.x = self.v = 0.0
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x, self.v, self.steps = float(self.np_random.uniform(-0.5, 0.5)), 0.0, 0
        return np.array([self.x, self.v]), {}

    def step(self, action: int) -> Any:
        self.v += 0.3 * self.x + (0.5 if action else -0.5)
        self.x += 0.5 * self.v
        self.steps += 1
        Slope.taken += 1
        return np.array([self.x, self.v]), 1.0, abs(self.x) > 3.0, self.steps >= 60, {}


STEPS = (
    "environment_steps",
    "confirmation_steps",
    "representation_steps",
    "price_steps",
    "probe_steps",
    "diagnosis_steps",
)


@pytest.mark.parametrize("threshold", [58.0, 61.0], ids=["solved", "out of reach"])
def test_every_step_that_is_taken_is_counted(threshold: float) -> None:
    """Those by which a state is come back to from its start, too; those of what follows a solution apart."""
    Slope.taken = 0
    spec = spec_of(Slope())._replace(threshold=threshold)
    run = learn_configured(configure(spec, seed=1, changes={**BRIEF, "stage.steps": 3000}))
    assert run.solved == (threshold < 60)
    assert run.solved or run.summary["kept"] > 0
    assert sum(run.summary.get(kind, 0) for kind in STEPS) == Slope.taken


class NoWayBack(Slope):
    """Its noise comes from elsewhere and it cannot be copied: no state can be restored, nor any start."""

    noise = random.Random(1)

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("cannot be copied")

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x = self.noise.uniform(-0.5, 0.5)
        return np.array([self.x, self.v]), {}

    def step(self, action: int) -> Any:
        self.v += self.noise.gauss(0.0, 0.02)
        return super().step(action)


def test_where_no_state_can_be_restored_each_trial_begins_anew() -> None:
    Slope.taken = 0
    run = dg.learn(
        NoWayBack(), seed=1, learner="probation", threshold=55.0, settings={**BRIEF, "stage.steps": 20_000}
    )
    assert run.solved
    assert "cannot be put back" in run.configuration.spec.note
    assert run.summary["total_steps"] == Slope.taken


# Chance.

LINE: dict[str, Any] = {"states": ("x", "v"), "actions": ("left", "right"), "low": (-3, -4), "high": (3, 4)}


@dg.task(**LINE, threshold=55.0, limit=60, compiled=False)
class Gusts(NamedTuple):
    """Stay on a ridge where the wind blows: every step pays one."""

    wind: float = 0.1
    rng: np.random.Generator = np.random.default_rng(0)

    def transition(self, s: Any, a: int) -> Any:
        v = s[1] + 0.2 * s[0] + (0.4 if a == 1 else -0.4) + self.wind * self.rng.standard_normal()
        x = s[0] + 0.5 * v
        return (x, v), 1.0, abs(x) > 3.0

    def start(self, rng: np.random.Generator) -> Any:
        return (rng.random() - 0.5, 0.0)


def test_a_task_of_chance_is_learned_by_pairs_of_trials() -> None:
    """One action everywhere lasts six steps or so; what is learned lasts at least four times as long."""
    brief = {"learner.screen": 1, "stage.steps": 5000, "stage.confirm_steps": 3000, "stage.confidence": 0.8}
    runs = [learn(Gusts(), seed=seed, settings=brief) for seed in range(5)]
    assert all(run.configuration.learner_name == "probation" for run in runs)
    assert sum(run.solved for run in runs) >= 3
    assert all(run.summary["score"] >= 24.0 for run in runs)


def test_where_chance_is_at_work_nothing_known_is_taken_for_certain() -> None:
    work = Stage(configure(spec_of(Gusts()), seed=1, changes={**BRIEF, "stage.steps": 800}))
    for _ in work.work():
        pass
    assert not work.agent.memory.facts["repeats"][0]
    root, given = 0, work.agent.memory.incumbent
    ran = [run_trial(interpreted(work), given, root, 60, NEVER) for _ in range(4)]
    gained = [float(work.agent.memory.tree.gained[last]) for last, _ in ran]
    assert [steps for _, steps in ran] == gained  # every trial was run to its end, from the start
    states = {work.agent.memory.tree.states[last].tobytes() for last, _ in ran}
    assert len(states) == 4


@pytest.mark.skipif(not NIGHTLY, reason="it is compiled for minutes")
def test_a_cart_pole_whose_actions_are_noisy_is_solved() -> None:
    runs = [
        learn("CartPole-v1", seed=seed, learner="probation", settings={"task.noisy_actions": 0.1})
        for seed in range(74_000, 74_010)
    ]
    assert sum(run.solved for run in runs) >= 6  # of seeds 1000 to 1009, eight
