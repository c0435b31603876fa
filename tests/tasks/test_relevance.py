"""Which coordinates matter: found among constants, noise and drifts; without evidence, all of them do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.many_coordinates import integrator

import distinguo as dg
from distinguo.runs.configuration import configure
from distinguo.runs.stage import Stage
from distinguo.tasks.catalog import spec_of
from distinguo.tasks.relevance import STEPS, mattering
from distinguo.tasks.task import seeded
from tests.nightly import so_many

SEEDS = range(so_many(3, nightly=50))


@pytest.mark.parametrize("kind", ["constant", "noise", "drift"])
@pytest.mark.parametrize("goal", ["hold", "return"])
def test_the_two_that_matter_are_found(kind: str, goal: str) -> None:
    for seed in SEEDS:
        found, steps = mattering(seeded(integrator(kind, goal, 18), seed), seed, 10**6)
        assert [i for i, matters in enumerate(found) if matters] == [0, 1]
        assert steps == STEPS


class Target:
    """Walk to a place that differs from trial to trial and that no action changes; ``silent`` hides the reward."""

    def __init__(self, silent: bool) -> None:
        self.silent = silent

    def transition(self, s: Any, a: int) -> Any:
        x, goal, *rest = s
        x += 0.2 * a - 0.1
        return (
            (x, goal, *(np.cos(9 * np.array(rest)).tolist())),
            0.0 if self.silent else -abs(x - goal),
            False,
        )

    def start(self, rng: Any) -> Any:
        return tuple(rng.uniform(-1.0, 1.0, 10).tolist())


def targeted(silent: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[bool, ...], int]:
    from distinguo.tasks import relevance

    for name in ("transition", "start"):
        monkeypatch.setattr(relevance, name, lambda task, *given, name=name: getattr(task, name)(*given))
    for name, answer in (
        ("actions", lambda task: 2),
        ("observe", lambda task, s: s),
        ("truncated", lambda task, s: False),
    ):
        monkeypatch.setattr(relevance, name, answer)
    return mattering(Target(silent), 1, 10**6)


def test_what_no_action_changes_may_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert targeted(False, monkeypatch)[0][:2] == (True, True)


def test_without_rewards_and_ends_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(targeted(True, monkeypatch)[0])


def test_a_small_budget_holds_and_leaves_nothing_out() -> None:
    found, steps = mattering(integrator("noise", "hold", 18), 0, 7)
    assert all(found)
    assert steps == 7


def test_it_is_a_setting_for_many_coordinates_only() -> None:
    def left_out(more: int, **changes: Any) -> tuple[int, ...]:
        asked = configure(spec_of(integrator("noise", "hold", more)), seed=0, learner="economy", **changes)
        return Stage(asked).preliminaries.left_out

    assert left_out(18) == tuple(range(2, 20))
    assert left_out(18, changes={"stage.many": 0}) == left_out(18, preset_name="fast") == left_out(10) == ()


@pytest.mark.second_stage
@pytest.mark.parametrize("learner", ["economy", "probation"])
def test_twenty_coordinates_are_learned_as_two(learner: str) -> None:
    def steps(more: int) -> int:
        goal = "hold" if learner == "economy" else "return"
        asked = {"stage.steps": 20_000, "stage.cap": 1_000, "stage.hold": 1_000}
        run = dg.learn(integrator("noise", goal, more), seed=3, learner=learner, settings=asked)
        assert run.solved
        return int(run.summary["environment_steps"])

    assert steps(18) <= 2 * steps(0) + STEPS


@pytest.mark.parametrize(("count", "learner"), [(2, "model"), (8, "probation"), (20, "economy")])
def test_noise_among_many_coordinates_does_not_choose_the_learner(count: int, learner: str) -> None:
    assert configure(spec_of(integrator("noise", "hold", count - 2), {})).learner_name == learner
