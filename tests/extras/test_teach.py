"""A network is trained and distilled: every step counts, budgets hold, and no run is trained twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest

import distinguo as dg
from distinguo.distillation.teach import NetworkTraining, TrainingStoppedError, teaching_of, training_of
from distinguo.runs.folder import NETWORK
from tests.agents.common import CART, sb3
from tests.cli.test_cli import Call, call
from tests.distillation.common import QUICKEST

__all__ = ["call"]  # a fixture

sb3("common.base_class")
FEW = {name: value for name, value in QUICKEST.items() if name != "learner.steps"} | {
    "learner.algorithm": "dqn",
    "learner.steps": 700,
    "learner.distil_steps": 300_000,
}


class Counted(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Counts its steps; it cannot be copied."""

    steps = 0

    def step(self, action: Any) -> Any:
        Counted.steps += 1
        return super().step(action)


@pytest.mark.parametrize("algorithm", ["dqn", "ppo"])
def test_every_step_is_counted_and_the_budget_of_training_holds(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[int] = []
    done = NetworkTraining.done

    def counting(self: NetworkTraining, watch: Any) -> Any:
        before = Counted.steps
        found = done(self, watch)
        trained.append(Counted.steps - before)
        return found

    monkeypatch.setattr(NetworkTraining, "done", counting)
    Counted.steps = 0
    env = Counted(gymnasium.make(CART))
    run = dg.learn(env, learner="teacher", seed=1, settings=FEW | {"learner.algorithm": algorithm})
    summary = run.summary
    assert trained == [summary["training_steps"]]
    assert 0.8 * 700 <= trained[0] <= 700
    assert summary["environment_steps"] == trained[0] + summary["distillation_steps"]
    assert summary["total_steps"] == Counted.steps
    assert summary["training"] == algorithm.upper()
    env.reset(seed=0)  # it was not closed


def test_an_interrupted_run_goes_on_and_is_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(text: str) -> None:
        if text.startswith("following"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dg.teach(CART, seed=1, settings=FEW, out=tmp_path / "run", watch=stop)
    assert (tmp_path / "run" / NETWORK).exists()
    with pytest.raises(
        dg.DistinguoError, match=r"not finished.*distinguo learn CartPole-v1 --learner teacher"
    ):
        dg.show(tmp_path / "run")
    whole = dg.teach(CART, seed=1, settings=FEW, out=tmp_path / "whole")

    def trained_again(self: NetworkTraining, watch: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(NetworkTraining, "done", trained_again)
    monkeypatch.setattr("pickle.loads", trained_again)  # nothing in the zip is unpickled
    run = dg.learn(CART, learner="teacher", seed=1, settings=FEW, out=tmp_path / "run")
    np.testing.assert_array_equal(run.q, whole.run.q)
    for name in ("total_steps", "training_steps", "prototypes", "score"):
        assert run.summary[name] == whole.run.summary[name]
    (tmp_path / "run" / NETWORK).write_bytes(b"never read to open a run")
    assert (
        dg.learn(CART, learner="teacher", seed=1, settings=FEW, out=tmp_path / "run").summary == run.summary
    )


def test_a_stop_during_training_says_what_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distinguo.distillation.teach.SECONDS", -1.0)

    def stop(text: str) -> None:
        assert text.startswith("training DQN: ")
        raise StopIteration

    with pytest.raises(TrainingStoppedError, match=r"Stopped while DQN was trained .* which are lost"):
        dg.teach(CART, settings=FEW, out=tmp_path / "run", watch=stop)
    assert not (tmp_path / "run").exists()


class Slope(NamedTuple):
    """A cart on a line that should stay near 0."""

    push: float = 0.1

    def transition(self, s, a):  # type: ignore[no-untyped-def]
        x = s[0] + (self.push if a == 1 else -self.push)
        return (x,), (1.0 if abs(x) < 0.5 else 0.0), abs(x) > 0.9

    def start(self, rng):  # type: ignore[no-untyped-def]
        return (rng.uniform(-0.3, 0.3),)


def test_a_task_of_ones_own() -> None:
    task = dg.task(
        states=("x",),
        actions=("left", "right"),
        low=(-2,),
        high=(2,),
        limit=20,
        threshold=15.0,
        compiled=False,
    )(Slope)
    run = dg.learn(task, learner="teacher", settings=FEW | {"learner.algorithm": ""})
    assert run.summary["training"] == "PPO"
    assert run.representation.regions >= 1


def test_continuous_actions_are_trained_as_they_are() -> None:
    asked = {"learner.steps": 150, "task.levels": 2}
    training = training_of(teaching_of("Pendulum-v1", 0, None, None, asked))
    model, steps, _ = training.done(lambda text: None)
    assert (training.name, model.action_space.shape) == ("SAC", (1,))
    assert sum(steps) <= 150


def test_the_command(call: Call, tmp_path: Path) -> None:
    words = [
        word for name, value in FEW.items() for word in ("--set", f"{name}={value}".replace("False", "false"))
    ]
    answer = call("learn", CART, "--learner", "teacher", *words, "--out", "run")
    assert answer.code in (0, 3), answer.err
    assert "training DQN for at most 700 environment steps, then distilling" in answer.err
    assert "Trained DQN (" in answer.err
    assert "Traceback" not in answer.err
    again = call("learn", CART, "--learner", "teacher", *words, "--out", "run")
    assert "finished already" in again.err
    wrong = call(
        "learn", "Pendulum-v1", "--learner", "teacher", "--set", "learner.algorithm=dqn", "--out", "no"
    )
    assert wrong.code == 2
    assert "DQN could not be trained on Pendulum-v1" in wrong.err
    assert not (tmp_path / "no").exists()
