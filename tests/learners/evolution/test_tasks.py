"""What is learned: tasks judged by return and by length, restorable or not; budgets; and tasks that are refused."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.learners.evolution.memory import EvolutionSettings, fresh_evolution_memory
from tests.learners.probation.test_foreign import NoWayBack, Slope
from tests.nightly import so_many

SMALL = {"learner.population": 8, "learner.warm_up": 5, "learner.tests": 4, "stage.confidence": 0.5}


def learned(task: Any, seed: int = 1, threshold: float | None = None, **changes: Any) -> Any:
    given = {"threshold": threshold} if threshold is not None else {}
    named = {key.replace("__", "."): value for key, value in changes.items()}
    return dg.learn(task, seed=seed, learner="evolution", settings={**SMALL, **named}, **given)


@pytest.mark.parametrize("seed", range(so_many(2, nightly=10)))
def test_cart_pole_is_solved(seed: int) -> None:
    run = learned("CartPole-v1", 200 + seed)
    assert run.solved
    assert run.summary["prototypes"] <= 3
    assert run.summary["generations"] > 0


@pytest.mark.parametrize("steps", [1, 777, 3_000])
def test_a_budget_holds_to_the_step(steps: int) -> None:
    run = learned("MountainCar-v0", stage__steps=steps, stage__confirm=1)
    assert not run.solved
    assert run.summary["environment_steps"] == steps


def test_every_step_that_is_taken_is_counted() -> None:
    Slope.taken = 0
    run = learned(Slope(), threshold=61.0, stage__steps=3_000)
    kinds = (
        "environment_steps",
        "confirmation_steps",
        "representation_steps",
        "price_steps",
        "probe_steps",
        "diagnosis_steps",
    )
    assert sum(run.summary.get(kind, 0) for kind in kinds) == Slope.taken


def test_where_no_state_can_be_restored_each_trial_begins_anew() -> None:
    run = learned(NoWayBack(), threshold=55.0, stage__steps=60_000)
    assert run.solved
    assert "cannot be put back" in run.configuration.spec.note


def test_a_task_whose_trials_should_never_end_is_held() -> None:
    run = learned("puck", stage__hold=20_000)
    assert run.solved
    assert run.summary["prototypes"] <= 3


@dg.task(
    states=("x",),
    actions=("left", "idle", "right", "jump"),
    low=(-4,),
    high=(4,),
    threshold=45.0,
    limit=50,
    compiled=False,
)
class Beam(NamedTuple):
    """Stay away from both ends, which draw nearer by themselves; to jump is never of use."""

    drift: float = 0.3

    def transition(self, s: Any, a: int) -> Any:
        x = s[0] + self.drift * s[0] + (-0.5, 0.0, 0.5, 3.0)[a]
        return (x,), 1e6, abs(x) > 3.0  # ranks do not depend on the scale of rewards

    def start(self, rng: np.random.Generator) -> Any:
        return (float(rng.uniform(-1.0, 1.0)),)


def test_more_prototypes_than_scores_allow_and_those_not_needed_drop_out() -> None:
    """One coordinate and four actions: the search is over prototypes, and only what is needed is kept."""
    run = learned(Beam(), stage__steps=100_000)
    assert run.solved
    assert run.summary["prototypes"] <= 3
    assert 3 not in run.controller.greedy


def test_labels_and_given_prototypes_are_refused() -> None:
    with pytest.raises(DistinguoError, match=r"needs observations that are numbers.* --learner sweeping"):
        dg.learn("FrozenLake-v1", learner="evolution")
    with pytest.raises(DistinguoError, match=r"finds its own prototypes.* --learner economy"):
        dg.learn("puck", learner="evolution", prototypes=[(0.0, 0.0)])


def test_too_many_coordinates_are_refused_in_one_sentence() -> None:
    with pytest.raises(DistinguoError, match=r"at most 3,000 numbers, but 6 prototypes for 700 .* 3,505"):
        fresh_evolution_memory(700, 700, EvolutionSettings())
