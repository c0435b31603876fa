"""Small tasks in which a mistake of the learner, the tester or the stage shows at once, run as plain Python.

``tests/mutants.py`` makes these mistakes on purpose.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from distinguo import settings as constants
from distinguo.evaluation.confirmation import FAILED, OPEN, PASSED, ReturnQuestion, judge
from distinguo.evaluation.training import fresh_training, train
from distinguo.learners.agent import CAPPED, TERMINAL, Agent, fresh_progress
from distinguo.learners.driver import advance_trial, begin_trial
from distinguo.learners.economy.learner import Economy
from distinguo.learners.economy.memory import drain, fresh_log, fresh_memory
from distinguo.representations.growing import growing_voronoi
from distinguo.representations.voronoi import voronoi
from distinguo.runs.restarts import better, is_over
from distinguo.runs.stage import HoldStage
from distinguo.seam import implements_interpreted
from distinguo.tasks.task import actions, start, transition, truncated, unpack
from distinguo.tasks.world import python_world


class Corridor(NamedTuple):
    """Walk to the right, with a reward at every place; it ends at ``wall``, or is stopped at ``stop``."""

    wall: float = 99.0
    stop: float = 99.0
    reward: float = 2.0


@implements_interpreted(transition, Corridor)
def _step(task: Corridor, s: Any, a: int) -> Any:
    return (s[0] + 1.0,), task.reward, s[0] + 1.0 >= task.wall


@implements_interpreted(start, Corridor)
def _entrance(task: Corridor, rng: Any) -> Any:
    return (0.0,)


@implements_interpreted(actions, Corridor)
def _two(task: Corridor) -> int:
    return 2


@implements_interpreted(unpack, Corridor)
def _place(task: Corridor, row: np.ndarray) -> Any:
    return (float(row[0]),)


@implements_interpreted(truncated, Corridor)
def _stopped(task: Corridor, s: Any) -> bool:
    return bool(s[0] >= task.stop)


#: Learns all at once: the next value replaces the old one.
SETTINGS = constants.LearnerSettings(gamma=0.5, alpha=1.0, epsilon=1.0, coin=0.0)


def agent_in(task: Corridor, prototypes: list[list[float]], q: float, settings: Any = SETTINGS) -> Agent:
    """Return an agent whose regions are all reliable and worth the same."""
    memory = fresh_memory(growing_voronoi(prototypes, [1.0], room=8), 2)
    memory.q[:], memory.updates[:] = q, 5
    world, rng = python_world(task, 1, 1), np.random.default_rng(0)
    told = Economy().kernel_settings(settings)
    return Agent(world, memory, told, fresh_progress(1, 1), fresh_log(40, 2), rng)


def walk(agent: Agent, cap: int = 50) -> int:
    begin_trial.py_func(*agent)
    ended: int = advance_trial.py_func(*agent, cap, cap)
    return ended


def test_a_trial_that_is_stopped_is_worth_what_may_follow() -> None:
    agent = agent_in(Corridor(stop=1.0), [[0.0]], q=10.0)
    assert walk(agent) == CAPPED
    assert np.sort(agent.memory.q[0]).tolist() == [2.0 + 0.5 * 10.0, 10.0]


def test_a_trial_that_ends_is_worth_its_reward() -> None:
    agent = agent_in(Corridor(wall=1.0, reward=-3.0), [[0.0]], q=10.0)
    assert walk(agent) == TERMINAL
    assert np.sort(agent.memory.q[0]).tolist() == [-3.0, 10.0]


def test_the_rewards_of_a_trial_are_summed() -> None:
    agent = agent_in(Corridor(wall=4.0), [[0.0]], q=0.0)
    walk(agent)
    assert agent.progress.counts["gained"][0] == 4 * 2.0
    assert agent.progress.counts["length"][0] == agent.progress.counts["trial_steps"][0] == 4


def test_every_region_learns_from_the_steps_taken_in_it() -> None:
    agent = agent_in(Corridor(stop=2.0), [[0.0], [1.0], [2.0]], q=10.0)
    walk(agent)
    learned = (agent.memory.q[:3] != 10.0).sum(axis=1)
    assert learned.tolist() == [1, 1, 0]


def test_the_state_on_the_stack_is_the_latest_of_its_region() -> None:
    agent = agent_in(Corridor(stop=3.0), [[0.0]], q=100.0)
    walk(agent)
    assert agent.memory.pushed_at[0] > 0
    assert agent.memory.stacked[0].tolist() == [2.0]


@pytest.mark.parametrize("surprise", [True, False])
def test_without_mini_trials_a_surprising_state_becomes_a_region(surprise: bool) -> None:
    settings = SETTINGS._replace(active=False, epsilon=1.0, surprise_by_transition=True, alpha=0.1)
    q = 100.0 if surprise else 4.0  # worth 2 + 0.5 q: far from q, or near it
    agent = agent_in(Corridor(stop=2.0), [[0.0]], q, settings)
    begin_trial.py_func(*agent)
    advance_trial.py_func(*agent, 2, 2)
    assert agent.memory.partition.size[0] == (2 if surprise else 1)
    assert [e["event"] for e in drain(agent.log, agent.memory.partition)] == ["split"] * surprise


def taught(task: Corridor, prototypes: list[list[float]]) -> np.ndarray:
    """Train the tester's learner in one trial, from values of 10."""
    settings = constants.TesterSettings(gamma=0.5, alpha=1.0)
    learner = fresh_training(len(prototypes), 2, settings, 50)
    learner.q[:] = 10.0
    partition, rng = voronoi(prototypes, [1.0]), np.random.default_rng(0)
    train.py_func(task, partition, learner, settings, rng, np.zeros(1), 50)
    return np.sort(learner.q, axis=1)


def test_the_tester_knows_a_stop_from_an_end() -> None:
    assert taught(Corridor(stop=1.0), [[0.0]])[0].tolist() == [2.0 + 0.5 * 10.0, 10.0]
    assert taught(Corridor(wall=1.0), [[0.0]])[0].tolist() == [2.0, 10.0]


def test_the_tester_learns_in_every_region_it_comes_through() -> None:
    learned = (taught(Corridor(stop=2.0), [[0.0], [1.0], [2.0]]) != 10.0).sum(axis=1)
    assert learned.tolist() == [1, 1, 0]


def test_a_few_lucky_trials_do_not_solve_a_task() -> None:
    cart = ReturnQuestion(475.0, 9.0, 500.0)
    assert judge([500.0] * 3, 1_500, cart) == OPEN
    assert judge([500.0] * 53, 26_500, cart) == OPEN
    assert judge([500.0] * 54, 27_000, cart) == PASSED
    assert judge([500.0, 300.0] * 10, 8_000, cart) == FAILED


class Holding(SimpleNamespace):
    """A stage whose greedy policy never falls, a hundred steps at a time."""

    def follow(self, most: int) -> bool:
        self.held += min(most, 100)
        return False

    def end_trial(self, how: str) -> None:
        self.ended = how

    def finish(self, solved: bool) -> None:
        self.solved = solved


def test_holding_is_confirmed_to_the_last_step() -> None:
    asked = SimpleNamespace(stage=SimpleNamespace(hold=250))
    stage: Any = Holding(configuration=asked, held=0, solved=False)
    for solved in (False, False, True):
        HoldStage.confirm(stage)
        assert stage.solved is solved
    assert stage.score == stage.held == 250


def test_attempts_end_after_as_many_trials_as_luby_says() -> None:
    progress = fresh_progress(1, 1)
    progress.counts["attempt"], progress.counts["since"] = 2, 20  # the third attempt is twice as long
    over = []
    for trials in (29, 39, 40):
        progress.counts["trials"] = trials
        over.append(is_over(progress, 10))
    assert over == [False, False, True]
    assert not is_over(progress, 0)


def test_the_best_attempt_is_kept() -> None:
    agent = agent_in(Corridor(), [[0.0]], q=1.0)
    first = better(None, 5.0, agent)
    assert better(first, 4.0, agent) is first
    assert better(first, 5.0, agent) is first
    assert better(first, 6.0, agent).score == 6.0
    agent.memory.q[:] = 7.0
    assert (first.memory.q == 1.0).all()  # a copy: learning goes on without it
