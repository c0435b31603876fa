"""Why a run did not solve its task: a small task for every trouble, and the command that is advised."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.runs import unsolved
from distinguo.runs.history import TrialRow
from distinguo.runs.learn import learn
from distinguo.runs.run import Run
from distinguo.runs.unsolved import LookAround, UnsolvedReason, UnsolvedRun, command_to_try, found_reason
from tests.cli.test_cli import Call, call  # noqa: F401 - a fixture

BRIEF = {"stage.steps": 600, "stage.confirm": 5, "learner.screen": 1}
PLAIN: dict[str, Any] = {"compiled": False}


@dg.task(
    states=("x", "key"), actions=("left", "right"), low=(-3, 0), high=(3, 1), threshold=1.0, limit=20, **PLAIN
)
class Errand(NamedTuple):
    """Fetch a key on the left, then open the door on the right: only that is rewarded."""

    far: float = 3.0

    def transition(self, s: Any, a: int) -> Any:
        x = min(max(s[0] + (1.0 if a else -1.0), -self.far), self.far)
        key = 1.0 if s[1] or x == -self.far else 0.0
        done = bool(key) and x == self.far
        return (x, key), float(done), done

    def start(self, rng: Any) -> Any:
        return (0.0, 0.0)


@dg.task(
    states=("x", "y"),
    observations=("x",),
    actions=("left", "right"),
    low=(-3,),
    high=(3,),
    threshold=100.0,
    limit=20,
    **PLAIN,
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


@dg.task(
    states=("x", "v"),
    observations=("x",),
    actions=("left", "right"),
    low=(-1,),
    high=(1,),
    threshold=200.0,
    limit=100,
    **PLAIN,
)
class Unseen(NamedTuple):
    """A cart whose speed is not observed: nobody can brake in time."""

    push: float = 3.0

    def transition(self, s: Any, a: int) -> Any:
        v = s[1] + 0.05 * (self.push if a else -self.push)
        x = s[0] + 0.05 * v
        return (x, v), 1.0, abs(x) > 1.0

    def observe(self, s: Any) -> Any:
        return (s[0],)

    def start(self, rng: Any) -> Any:
        return (float(rng.uniform(-0.5, 0.5)), float(rng.uniform(-0.5, 0.5)))


@dg.task(states=("x",), actions=("left", "right"), low=(-3,), high=(3,), threshold=30.0, limit=20, **PLAIN)
class Bonus(NamedTuple):
    """One action pays, wherever it is; more is asked than it pays."""

    speed: float = 0.1

    def transition(self, s: Any, a: int) -> Any:
        return (min(max(s[0] + self.speed * (2 * a - 1), -3.0), 3.0),), float(a), False

    def start(self, rng: Any) -> Any:
        return (float(rng.uniform(-0.1, 0.1)),)


@dg.task(
    states=("sign", "t"),
    observations=("t",),
    actions=("minus", "plus"),
    low=(0,),
    high=(5,),
    threshold=0.9,
    limit=6,
    **PLAIN,
)
class Recall(NamedTuple):
    """Only the sign of the start is rewarded, in the last step, and it is never shown."""

    far: float = 5.0

    def transition(self, s: Any, a: int) -> Any:
        done = s[1] + 1.0 >= self.far
        return (s[0], s[1] + 1.0), (1.0 if a == s[0] else -1.0) if done else 0.0, done

    def observe(self, s: Any) -> Any:
        return (s[1],)

    def start(self, rng: Any) -> Any:
        return (float(rng.integers(2)), 0.0)


def why(run: Run) -> dict[str, Any]:
    assert not run.solved
    found: dict[str, Any] = run.summary["not_solved"]
    return found


def tried(call: Call, command: str, *more: str) -> dict[str, Any]:  # noqa: F811
    """What the advised command comes to."""
    program, *words = shlex.split(command)
    assert program == "distinguo"
    done = call(*words, *more, "--json")
    assert done.code in (0, 3), done
    result: dict[str, Any] = json.loads(done.out)
    return result


def test_no_reward_and_a_larger_budget_that_finds_it(call: Call) -> None:  # noqa: F811
    settings = {**BRIEF, "stage.steps": 50}
    said = why(learn(Errand(), seed=2, settings=settings))
    assert said["reason"] == unsolved.NO_REWARD
    assert "No reward was seen in 50 steps: every trial returned 0" in said["sentence"]
    assert said["one_start"] is True
    for _ in range(4):
        result = tried(call, said["command"])
        if result["solved"]:
            break
        said = result["not_solved"]
    assert result["solved"]


def test_observations_that_never_change(call: Call) -> None:  # noqa: F811
    said = why(learn(Blind(), seed=1, learner="economy", settings={"stage.steps": 3_000, "stage.confirm": 2}))
    assert said["reason"] == unsolved.NOTHING_CHANGES
    assert "No observation ever changed (always [0.0])" in said["sentence"]
    assert tried(call, said["command"], "--set", "stage.trials=9")["learner"] == "probation"


@pytest.mark.parametrize("learner", ["probation", "economy"])
def test_an_observation_that_says_too_little(learner: str, call: Call) -> None:  # noqa: F811
    run = learn(Unseen(), seed=1, learner=learner, settings={"stage.steps": 5_000, "stage.confirm": 3})
    said = why(run)
    assert said["reason"] == unsolved.TOO_LITTLE, said
    assert "'left' has different" in said["sentence"] or "'right' has different" in said["sentence"]
    assert 0 < run.summary["diagnosis_steps"] <= 500
    assert tried(call, said["command"], "--set", "stage.trials=3")["learner"] == "probation"


def test_rewards_that_equal_observations_do_not_explain() -> None:
    run = learn(Recall(), seed=1, settings={"stage.steps": 3_000, "stage.confirm": 20})
    said = why(run)
    assert said["reason"] == unsolved.TOO_LITTLE, said
    assert "where it is t 4" in said["sentence"]


def test_an_observation_that_says_enough_is_not_blamed() -> None:
    env = gymnasium.make("CartPole-v1")
    run = learn(env, seed=1, learner="economy", settings={"stage.steps": 3_000, "stage.confirm": 2})
    assert why(run)["reason"] != unsolved.TOO_LITTLE
    assert run.summary["diagnosis_steps"] > 200


def test_a_map_that_overfits_its_starts(call: Call) -> None:  # noqa: F811
    end = ending([9.0, 300.0] * 40, "probation")
    summary = {**end.summary, "starts": 2, "starts_return": 300.0}
    assert (
        found_reason(end._replace(summary=summary, returns=[250.0, 350.0] * 20), LookAround()).name
        == unsolved.STALLS
    )
    found = found_reason(end._replace(summary=summary, returns=[20.0, 40.0] * 20), LookAround())
    assert found.name == unsolved.OVERFITS
    assert "is 300 on the 2 starts that it was chosen by, and 30 on new ones" in found.sentence
    command = command_to_try(end.configuration, found)
    assert "--set learner.starts=4" in command
    tried(call, command)


def test_the_return_on_the_starts_of_a_race_is_in_the_summary() -> None:
    run = learn("CartPole-v1", seed=1, settings={"stage.steps": 1_000, "stage.confirm": 2})
    assert run.summary["starts"] >= 1
    assert 9.0 <= run.summary["starts_return"] <= 500.0


def test_a_constant_action_that_is_as_good(call: Call) -> None:  # noqa: F811
    said = why(learn(Bonus(), seed=1, settings={**BRIEF, "stage.steps": 1_000}))
    assert said["reason"] == unsolved.CONSTANT
    assert "is as good: always 'right' returns 20 on average" in said["sentence"]
    assert tried(call, said["command"])["environment_steps"] == 4_000


def test_a_trial_that_the_budget_cut(call: Call) -> None:  # noqa: F811
    brief = {"stage.cap": 5_000, "stage.hold": 5_000}
    said = why(learn("puck", seed=1, settings={**brief, "stage.steps": 4_000}))
    assert said["reason"] == unsolved.CUT
    assert tried(call, said["command"])["solved"]


def test_two_equal_returns_are_too_few_to_say_so() -> None:
    for returns, reason in (
        ([153.0] * 2, unsolved.FEW),
        ([153.0] * 5, unsolved.EQUAL),
        ([0.0] * 2, unsolved.NO_REWARD),
    ):
        assert found_reason(ending(returns), LookAround()).name == reason


def test_too_few_trials(call: Call) -> None:  # noqa: F811
    brief = {"stage.cap": 5_000, "stage.hold": 5_000}
    said = why(learn("puck", seed=1, settings={**brief, "stage.trials": 5}))
    assert said["reason"] == unsolved.FEW
    assert tried(call, said["command"])["solved"]


def test_a_confirmation_that_was_too_short(call: Call) -> None:  # noqa: F811
    settings = {"stage.confirm": 20, "stage.steps": 20_000}
    said = why(learn("CartPole-v1", seed=1, settings=settings))
    assert said["reason"] == unsolved.CLOSE
    assert "--set stage.confirm=" in said["command"]
    assert tried(call, said["command"])["solved"]


def ending(gained: Sequence[float], learner: str = "economy", task: str = "CartPole-v1") -> UnsolvedRun:
    """The end of a run that was not solved, with these returns or lengths, ten steps each."""
    run = learn(task, seed=1, learner=learner, settings={"stage.steps": 50, "stage.confirm": 2})
    trials = [
        TrialRow(n + 1, int(value), "terminal", 1, 1, 10 * (n + 1), 0, value)
        for n, value in enumerate(gained)
    ]
    summary = {**run.summary, "environment_steps": 10 * len(trials), "answer": "failed"}
    return UnsolvedRun(run.configuration, summary, trials, run.controller)


@pytest.mark.parametrize(
    ("gained", "learner", "reason", "advice"),
    [
        (np.linspace(10.0, 300.0, 80), "economy", unsolved.IMPROVING, "--set stage.steps="),
        ([100.0, 120.0] * 40, "economy", unsolved.STALLS, "distinguo learn CartPole-v1 --seed 1"),
        ([100.0, 120.0] * 40, "probation", unsolved.STALLS, "--set stage.steps=3200"),
        ([20.0, 30.0] * 5, "economy", unsolved.FEW, "--set stage.steps=1000"),
        ([20.0] * 50, "probation", unsolved.EQUAL, "--set stage.steps=2500"),
    ],
)
def test_the_course_of_returns_says_what_to_try(
    gained: Sequence[float],
    learner: str,
    reason: str,
    advice: str,
    call: Call,  # noqa: F811
) -> None:
    end = ending(gained, learner)
    found = found_reason(end, LookAround())
    command = command_to_try(end.configuration, found)
    assert found.name == reason
    assert advice in command
    tried(call, command)


def test_a_rise_needs_a_budget_that_would_reach_the_threshold() -> None:
    found = found_reason(ending(np.linspace(10.0, 300.0, 80)), LookAround())
    assert "about 580 more steps, by a straight line" in found.sentence
    assert 800 + 175 / 290 * 800 < found.settings["stage.steps"] < 20 * 800


@pytest.mark.parametrize(
    ("lengths", "reason"),
    [(np.linspace(10.0, 300.0, 80), unsolved.IMPROVING), ([10.0, 12.0] * 40, unsolved.STALLS)],
)
def test_trials_that_should_never_end_are_judged_by_their_lengths(
    lengths: Sequence[float], reason: str
) -> None:
    assert found_reason(ending(lengths, task="puck"), LookAround()).name == reason


def test_values_that_never_became_reliable() -> None:
    found = found_reason(ending([10.0, 20.0] * 40)._replace(reliable=False), LookAround())
    assert found.name == unsolved.UNRELIABLE
    assert found.learner == "probation"


def test_an_environment_that_only_python_can_make_gets_a_call() -> None:
    env = gymnasium.make("CartPole-v1")
    run = learn(env, seed=1, settings={"stage.steps": 300, "stage.confirm": 2})
    command = why(run)["command"]
    assert command.startswith("distinguo.learn(")
    assert "settings={'stage.steps': " in command


def test_an_environment_that_fails_in_the_end_leaves_what_the_trials_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: Any) -> LookAround:
        raise DistinguoError("it broke")

    monkeypatch.setattr(unsolved, "look_around", fails)
    run = learn(Bonus(), seed=1, settings={**BRIEF, "stage.steps": 2_000})
    assert why(run)["reason"] == unsolved.STALLS
    assert run.summary["diagnosis_steps"] == 0


def test_the_same_is_in_a_run_folder(tmp_path: Any) -> None:
    settings = {**BRIEF, "stage.steps": 2_000}
    kept = learn(Bonus(), seed=1, settings=settings, out=tmp_path / "run")
    assert why(kept) == why(learn(Bonus(), seed=1, settings=settings))


def test_a_reason_without_settings_keeps_those_of_the_run() -> None:
    configuration = learn("puck", seed=1, settings={"stage.trials": 2, "learner.epsilon": 0.2}).configuration
    assert "learner.epsilon=0.2" in command_to_try(
        configuration, UnsolvedReason("x", "y", {"stage.trials": 9})
    )
