"""The learner by surprise (section 5.4): it solves tasks from trials alone, and takes back what was not needed."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.learners.catalog import ECONOMY, PROBATION, SURPRISE
from distinguo.learners.learner import learner_named
from distinguo.presets import SURPRISE_BY_RETURN
from distinguo.representations.growing import add
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn
from distinguo.runs.run import Run
from distinguo.runs.stage import Stage
from distinguo.tasks.catalog import task_spec
from tests.nightly import NIGHTLY, so_many

BRIEF = {"stage.cap": 20_000, "stage.hold": 20_000}
LONG = {} if NIGHTLY else BRIEF
PUCK = task_spec("puck")
NO_WAY_BACK = PUCK._replace(restorable=False)
SLOW = task_spec("puck", interpreted=True)


def middle(runs: list[Run], figure: str) -> float:
    return median(run.summary[figure] for run in runs)


# It solves its tasks.


@pytest.fixture(scope="module")
def pucks() -> list[Run]:
    return [learn(NO_WAY_BACK, seed=s, settings=LONG) for s in range(1000, 1000 + so_many(10, nightly=100))]


def test_the_puck_is_solved_by_trials_alone(pucks: list[Run]) -> None:
    """Three regions and about 515 steps are usual: twice as many of either would not pass."""
    assert sum(run.solved for run in pucks) >= 0.99 * len(pucks)
    assert middle(pucks, "regions") <= 5
    assert middle(pucks, "environment_steps") <= 1000


def test_there_are_no_mini_trials_and_every_region_was_a_surprise(pucks: list[Run]) -> None:
    for run in pucks:
        assert run.summary["learner"] == SURPRISE
        assert run.summary["investigation_steps"] == 0
        assert sum(reason["event"] == "split" for reason in run.reasons) == run.summary["prototypes"] - 1


def test_the_pole_is_balanced_by_trials_alone() -> None:
    """Seven regions and 13,000 steps are usual; more than twice as many of either would not pass."""
    count = so_many(3, nightly=100)
    runs = [learn("CartPole-v1", learner=SURPRISE, seed=s) for s in range(1000, 1000 + count)]
    assert sum(run.solved for run in runs) >= 0.98 * count
    assert middle(runs, "regions") <= 15
    assert middle(runs, "environment_steps") <= 30_000
    assert {run.summary["investigation_steps"] for run in runs} == {0}


# One source.


def with_speed(spec: Any, learner: str, **changes: Any) -> Run:
    settings = {"stage.cap": 700, "stage.hold": 700, **{f"learner.{k}": v for k, v in changes.items()}}
    return learn(spec, learner=learner, seed=5, settings=settings)


def same_bits(one: Run, other: Run) -> bool:
    prototypes = [run.representation.partition.prototypes for run in (one, other)]
    return one.q.tobytes() == other.q.tobytes() and prototypes[0].tobytes() == prototypes[1].tobytes()


def test_compiled_and_interpreted_give_the_same_bits() -> None:
    fast, slow = (with_speed(spec, SURPRISE, explore=0.05, epsilon_share=0.02) for spec in (PUCK, SLOW))
    assert same_bits(fast, slow)
    assert fast.trials == slow.trials
    assert fast.summary["regions"] > 1


def test_it_is_the_papers_learner_without_mini_trials() -> None:
    alike = {"gamma": 0.9, "epsilon": 0.01, "alpha": 0.1, "new_updates": 1, "reduced_updates": 0}
    assert same_bits(with_speed(PUCK, SURPRISE), with_speed(PUCK, ECONOMY, active=False, **alike))


@pytest.mark.parametrize("learner", [SURPRISE, ECONOMY])
def test_a_share_is_one_of_what_trials_have_shown(learner: str) -> None:
    """Without mini-trials the range of values used to stay empty, and every share of it nothing."""
    active = {} if learner == SURPRISE else {"active": False}
    run = with_speed(SLOW, learner, epsilon_share=0.25, **active)
    assert 0.2 < run.summary["epsilon"] <= 0.25  # from -1, a fall, to about 0


# Consolidation.


def two_regions(updates: int, second: list[float]) -> tuple[Stage, Any]:
    """Prepare a stage whose learner has a second region, with values of its own."""
    stage = Stage(configure(SLOW, learner=SURPRISE, changes={"learner.merge_interval": 2}))
    memory = stage.agent.memory
    add(memory.partition, (1.0, 1.0))
    memory.updates[:2] = updates
    memory.q[:2] = [[-0.5, -0.2], second]
    return stage, memory


@pytest.mark.parametrize(
    ("updates", "second", "regions"),
    [
        (3, [-0.5, -0.205], 1),  # not needed: the same action, within epsilon of the value
        (3, [-0.5, -0.3], 2),  # worth less
        (3, [-0.2, -0.5], 2),  # another action is best
        (2, [-0.5, -0.205], 2),  # nobody knows yet
    ],
)
def test_consolidation_takes_back_what_is_not_needed(updates: int, second: list[float], regions: int) -> None:
    stage, memory = two_regions(updates, second)
    stage.learner.settle(stage.agent)  # the first of two trials: not yet
    assert memory.partition.primary[:2].tolist() == [0, 1]
    stage.learner.settle(stage.agent)
    assert len(np.unique(memory.partition.primary[:2])) == regions
    assert [reason["event"] for reason in stage.learner.reasons(stage.agent)] == ["merge"] * (2 - regions)


# Which learner, with which settings.


def test_it_is_taken_where_states_cannot_be_restored() -> None:
    cart = task_spec("CartPole-v1")._replace(restorable=False)
    assert configure(NO_WAY_BACK).learner_name == SURPRISE
    assert configure(NO_WAY_BACK, prototypes=[[1.0, 0.0], [-1.0, 0.0]]).learner_name == SURPRISE
    assert configure(cart).learner_name == PROBATION  # which needs no way back, and fewer regions
    assert configure(cart, prototypes=[[0.0] * 4]).learner_name == SURPRISE
    asked = configure(NO_WAY_BACK, changes={"learner.coin": 0.1})  # only the paper's learner has a coin
    assert (asked.learner_name, asked.learner.active) == (ECONOMY, False)


def test_what_suits_the_goal_and_the_noise() -> None:
    cart = configure("CartPole-v1", learner=SURPRISE)
    suited = {f"learner.{name}": value for name, value in cart.learner._asdict().items()}
    assert {**suited, "stage.prototypes": cart.stage.prototypes}.items() >= SURPRISE_BY_RETURN.items()
    assert configure("puck", learner=SURPRISE).learner == learner_named(SURPRISE).settings()
    assert configure("puck", learner=SURPRISE, changes={"task.noise": 0.1}).learner.confidence == 2.0
    amount = configure("CartPole-v1", learner=SURPRISE, changes={"learner.epsilon": 0.5})
    assert amount.learner.epsilon_share == 0.0


@pytest.mark.parametrize("name", ["active", "coin", "max_steps", "samples", "investigate_every"])
def test_a_setting_of_mini_trials_is_not_one_of_its_own(name: str) -> None:
    with pytest.raises(DistinguoError, match=f"^Unknown setting learner.{name}; "):
        configure("puck", learner=SURPRISE, changes={f"learner.{name}": 1})


def test_an_active_learner_refuses_a_task_without_a_way_back() -> None:
    with pytest.raises(
        DistinguoError, match="cannot be restored; take --learner surprise or --learner model"
    ) as e:
        learn(NO_WAY_BACK, learner=ECONOMY, settings={"learner.active": True})
    assert len(str(e.value).splitlines()) == 1
    assert learn(NO_WAY_BACK, learner=SURPRISE, seed=1, settings=BRIEF).solved
