"""What a run says of itself: which way it went, and why nothing was learned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

import distinguo as dg
from distinguo.runs.configuration import configure
from distinguo.runs.history import TrialRow
from distinguo.runs.learn import learn
from distinguo.runs.run import Run
from distinguo.tasks.catalog import task_spec
from distinguo.views.words import way_sentence, why_nothing
from tests.cli.test_cli import Call, call  # noqa: F401 - a fixture

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


def with_returns(gained: Sequence[float], learner: str = "economy") -> Run:
    """A run on CartPole that was not solved, with these returns, ten steps each."""
    run = learn("CartPole-v1", seed=1, learner=learner, settings={"stage.steps": 50, "stage.confirm": 2})
    trials = [TrialRow(n + 1, 10, "terminal", 1, 1, 10 * (n + 1), 0, value) for n, value in enumerate(gained)]
    summary = {**run.summary, "environment_steps": 10 * len(trials), "answer": "failed", "solved": False}
    return run._replace(trials=trials, summary=summary, updates=np.ones_like(run.updates))


@pytest.mark.parametrize(
    ("gained", "learner", "course", "advice"),
    [
        (np.linspace(10.0, 300.0, 80), "economy", "still rising", "--set stage.steps="),
        ([100.0, 120.0] * 40, "economy", "no longer rose", "--learner probation"),
        ([100.0, 120.0] * 40, "probation", "no longer rose", "--set stage.steps=3200"),
        ([20.0, 30.0] * 5, "economy", "Only 10 trials fitted into 100 steps", "--set stage.steps=1000"),
    ],
)
def test_the_course_of_returns_says_what_to_try(
    gained: Sequence[float], learner: str, course: str, advice: str
) -> None:
    sentence = words(with_returns(gained, learner))
    assert course in sentence
    assert advice in sentence


def test_what_is_advised_is_a_command(call: Call) -> None:  # noqa: F811
    for gained in (np.linspace(10.0, 300.0, 80), [100.0, 120.0] * 40):
        options = re.search(r"(--\S+(?: \S+)?)\.$", words(with_returns(gained)))
        assert options is not None
        brief = ["--set", "stage.trials=2", "--set", "stage.confirm=2", "--out", options[1][2:9]]
        assert call("learn", "CartPole-v1", *options[1].split(), *brief).code in (0, 3)


def test_a_rise_needs_a_budget_that_would_reach_the_threshold() -> None:
    sentence = words(with_returns(np.linspace(10.0, 300.0, 80)))
    steps = int(sentence.rstrip(".").rpartition("=")[2])
    assert 800 + 175 / 290 * 800 < steps < 20 * 800
