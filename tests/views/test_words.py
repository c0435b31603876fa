"""What a run says of itself: which way it went, and why nothing was learned."""

from __future__ import annotations

from pathlib import Path

import pytest

from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn
from distinguo.tasks.catalog import task_spec
from distinguo.views import words
from distinguo.views.words import way_sentence, why_nothing
from tests.views.runs import made_up


def test_a_run_that_solved_its_task_has_nothing_to_explain() -> None:
    fast = {"stage.cap": 1_000, "stage.hold": 1_000}
    assert why_nothing(learn("puck", seed=3, settings=fast)) == []


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (
            "puck",
            "solved by trials that never end. Learner: economy (the paper's learner: splits a region where",
        ),
        ("Acrobot-v1", "6 numbers observed, 3 actions, states can be restored, deterministic"),
        ("Pendulum-v1", "the return that solves it is unknown. Learner: probation"),
        ("FrozenLake-v1", "1 label observed, 4 actions, states can be restored, stochastic"),
    ],
)
def test_the_task_and_the_learner_are_said_in_one_line(task: str, said: str) -> None:
    sentence = way_sentence(configure(task_spec(task)))
    assert said in sentence
    assert "\n" not in sentence


def test_the_line_says_why_a_learner_was_chosen() -> None:
    assert way_sentence(configure("puck")).endswith("; this is the paper's task.")
    assert "suits" not in way_sentence(configure("CartPole-v1", learner="economy"))


def test_a_run_that_is_not_solved_says_why_and_what_to_try() -> None:
    reason, same, command = why_nothing(learn("puck", seed=1, settings={"stage.trials": 5}))
    assert reason == "Only 5 trials fitted into 488 steps."
    assert same.startswith("Every trial begins in the same state")
    assert command == "Try: distinguo learn puck --seed 1 --set stage.trials=50"


def test_a_state_of_too_many_coordinates_is_not_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    run = made_up("puck", 8)
    assert words.why_command(run, Path("runs/a")).startswith("distinguo explain runs/a --state=")
    monkeypatch.setattr(words, "MOST_TYPED", 1)
    assert words.why_command(run, Path("runs/a")) == ""
