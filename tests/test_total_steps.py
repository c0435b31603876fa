"""Every step of an environment is reported: a counter around ``step`` of plain Gymnasium agrees with the summary."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

import distinguo as dg
from distinguo.runs.run import Run

SMALL = {
    "economy": ("CartPole-v1", {"stage.steps": 1_500}),
    "surprise": ("CartPole-v1", {"stage.steps": 1_500}),
    "model": ("CartPole-v1", {"stage.steps": 800}),
    "probation": ("MountainCar-v0", {"stage.steps": 3_000}),
    "evolution": ("MountainCar-v0", {"stage.steps": 3_000}),
    "sweeping": ("FrozenLake-v1", {"stage.steps": 1_500}),
    "table": ("MountainCar-v0", {"stage.steps": 1_500}),
    "kd-tree": ("MountainCar-v0", {"stage.steps": 1_500}),
}
LAB = ("table", "kd-tree")
FEW = {"stage.confirm": 25, "stage.confirm_steps": 2_000}


class Counted(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Counts the steps of all copies."""

    steps = 0

    def step(self, action: Any) -> Any:
        Counted.steps += 1
        return super().step(action)


def counted(name: str) -> Any:
    Counted.steps = 0
    return Counted(gymnasium.make(name))


def parts(summary: dict[str, Any]) -> int:
    names = ("environment_steps", "final_trial_steps", "confirmation_steps", "probe_steps", "replayed_steps")
    return sum(
        summary.get(name, 0) for name in (*names, "representation_steps", "price_steps", "diagnosis_steps")
    )


@pytest.mark.parametrize(
    "learner",
    [pytest.param(name, marks=[pytest.mark.second_stage] * (name in LAB)) for name in SMALL],
)
def test_every_step_of_a_learner_is_reported(learner: str) -> None:
    name, changes = SMALL[learner]
    run = dg.learn(counted(name), seed=3, learner=learner, settings={**changes, **FEW})
    assert run.summary["total_steps"] == Counted.steps == parts(run.summary)
    assert run.summary["probe_steps"] > 0
    assert run.summary["confirmation_steps"] > 0


def test_replays_are_reported_apart() -> None:
    """Mini-trials go back to earlier states, which an environment without snapshots replays."""

    class OnlyReplays(Counted):
        def __deepcopy__(self, memo: Any) -> Any:
            raise TypeError("cannot be copied")

    Counted.steps = 0
    env = OnlyReplays(gymnasium.make("CartPole-v1"))
    run = dg.learn(env, seed=3, learner="economy", settings={"stage.steps": 1_500, **FEW})
    assert run.summary["replayed_steps"] > 0
    assert run.summary["total_steps"] == Counted.steps == parts(run.summary)


def test_a_solved_run_reports_what_came_after() -> None:
    run: Run = dg.learn(counted("CartPole-v1"), seed=3, learner="probation")
    assert run.solved
    assert run.summary["representation_steps"] > 0
    assert run.summary["total_steps"] == Counted.steps == parts(run.summary)


def test_every_step_of_a_distillation_is_reported() -> None:
    def push_to_the_pole(seen: Any) -> int:
        return int(seen[2] + 0.3 * seen[3] > 0)

    small = {"most": 2, "rounds": 1, "trials": 4, "starts": 4, "patience": 4, "states": 200, "costs": False}
    settings = {"learner.steps": 400_000, **{f"learner.{name}": value for name, value in small.items()}}
    made = dg.distil(push_to_the_pole, counted("CartPole-v1"), seed=1, settings=settings)
    assert made.run.summary["total_steps"] == Counted.steps
    assert made.run.summary["probe_steps"] > 0
