"""What a run says of itself: which way it went, and why nothing was learned."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import distinguo as dg
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn
from distinguo.runs.run import Run
from distinguo.tasks.catalog import task_spec
from distinguo.views.words import way_sentence, why_nothing

BRIEF = {"stage.steps": 600, "stage.confirm": 5, "learner.screen": 1}


@dg.task(
    states=("x",), actions=("left", "right"), low=(-3,), high=(3,), threshold=1.0, limit=20, compiled=False
)
class Dull(NamedTuple):
    """Nothing that is done makes a difference."""

    speed: float = 0.1

    def transition(self, s: Any, a: int) -> Any:
        return (s[0] + self.speed * (2 * a - 1),), 0.0, False

    def start(self, rng: Any) -> Any:
        return (0.0,)


@dg.task(
    states=("x", "y"),
    observations=("x",),
    actions=("left", "right"),
    low=(-3,),
    high=(3,),
    threshold=100.0,
    limit=20,
    compiled=False,
)
class Blind(NamedTuple):
    """Nothing is seen of what changes."""

    speed: float = 0.1

    def transition(self, s: Any, a: int) -> Any:
        return (s[0], s[1] + 1.0), float(a), False

    def observe(self, s: Any) -> Any:
        return (s[0],)

    def start(self, rng: Any) -> Any:
        return (0.0, 0.0)


def words(run: Run) -> str:
    return " ".join(why_nothing(run))


def test_equal_returns_are_named() -> None:
    run = learn(Dull(), seed=1, settings=BRIEF)
    assert not run.solved
    assert "No return differed in" in words(run)
    assert "every trial returned 0" in words(run)


def test_constant_observations_are_named() -> None:
    run = learn(Blind(), seed=1, settings={**BRIEF, "stage.steps": 200})
    assert "No observation ever changed (always [0.0])" in words(run)


def test_a_value_that_never_became_reliable_is_named() -> None:
    run = learn(Dull(), seed=0, learner="economy", settings={"stage.steps": 3_000, "stage.confirm": 2})
    assert "No action value ever became reliable: no trial ended" in words(run)
    assert "--learner probation" in words(run)


def test_a_run_that_solved_its_task_has_nothing_to_explain() -> None:
    fast = {"stage.cap": 1_000, "stage.hold": 1_000}
    assert why_nothing(learn("puck", seed=3, settings=fast)) == []


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("puck", "solved by trials that never end. Learner: economy"),
        ("Acrobot-v1", "6 numbers observed, 3 actions, states can be restored, deterministic"),
        ("Pendulum-v1", "the return that solves it is unknown. Learner: probation"),
        ("FrozenLake-v1", "1 label observed, 4 actions, states can be restored, stochastic"),
    ],
)
def test_the_task_and_the_learner_are_said_in_one_line(task: str, said: str) -> None:
    sentence = way_sentence(configure(task_spec(task)))
    assert said in sentence
    assert "\n" not in sentence
