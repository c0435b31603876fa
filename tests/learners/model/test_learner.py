"""The learner by a learned model, in whole runs: no resets into states, continuing tasks, bounded memory, resume."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.learners.learner import leaves
from distinguo.learners.model import learner as by_model
from distinguo.learners.model.model import ModelSettings
from distinguo.runs import stage as stages
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn_configured
from distinguo.runs.run import Run
from distinguo.runs.stage import Stage
from distinguo.tasks.puck.puck import ContinuingPuck, Puck
from tests.nightly import NIGHTLY, interpreted_by_day, so_many
from tests.runs.stopping import FAST, learned, never_stopped, stopped

SEEDS = range(75_000, 75_000 + so_many(8, nightly=100))


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run as plain Python by day what only this test would compile: the same source, the same bits."""
    if not NIGHTLY:
        monkeypatch.setattr(by_model, "settle_in_model", by_model.settle_in_model.py_func)
        monkeypatch.setattr(by_model, "organise", by_model.organise.py_func)


def learn_puck(seed: int, **settings: Any) -> Run:
    changes = {f"learner.{name}": value for name, value in settings.items()}
    return dg.learn("puck", learner="model", seed=seed, settings=changes)


def test_the_puck_is_learned_without_any_mini_trial_in_the_world() -> None:
    runs = [learn_puck(seed) for seed in SEEDS]
    found = {name: float(np.median([run.summary[name] for run in runs])) for name in runs[0].summary if name in
             ("regions", "environment_steps", "investigation_steps", "model_queries")}  # fmt: skip
    assert [run.configuration.seed for run in runs if not run.solved] == []
    assert found["investigation_steps"] == 0
    assert found["regions"] <= 8, found  # of 30 seeds 5; 287; 3,399
    assert found["environment_steps"] <= 500, found
    assert 0 < found["model_queries"] <= 6_000, found


class Slope(gymnasium.Env[np.ndarray, int]):
    """A thing to keep off the ends of a slope, with nothing to it but ``reset`` and ``step``."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self) -> None:
        self.__chance, self.__x, self.__left = np.random.default_rng(0), 0.0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin anywhere near the middle, whatever the seed is."""
        self.__x, self.__left = float(self.__chance.uniform(-0.3, 0.3)), 100
        return np.array([self.__x]), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Slide down, pushed the one or the other way."""
        self.__x += 0.05 * self.__x + (0.07 if action else -0.07)
        self.__left -= 1
        fell = abs(self.__x) >= 1.0
        return np.array([np.clip(self.__x, -1.0, 1.0)]), 0.0 if fell else 1.0, fell, self.__left == 0, {}

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("there is only one of it")


@pytest.mark.usefixtures("plain")
def test_an_environment_that_can_only_be_reset_and_stepped_is_learned() -> None:
    run = dg.learn(Slope(), learner="model", seed=1, threshold=95.0, settings={"stage.steps": 20_000})
    assert not run.configuration.spec.restorable
    assert run.solved
    assert run.summary["score"] >= 95.0
    assert run.summary["environment_steps"] <= 6_000


def test_in_a_task_without_an_end_falls_go_to_none() -> None:
    windows = {} if NIGHTLY else {"stage.confidence": 0.5, "stage.cap": 2_000}
    for seed in SEEDS if NIGHTLY else SEEDS[:2]:
        with interpreted_by_day(ContinuingPuck):
            run = dg.learn("puck-continuing", learner="model", seed=seed, settings=windows)
        falls = [-trial.gained for trial in run.trials]
        assert run.solved
        assert falls[0] >= 5
        assert falls[-1] == 0
        assert len(falls) <= 4


def _worked(stage: Stage) -> Iterator[Stage]:
    with interpreted_by_day(ContinuingPuck):
        yield from stage.work()


def test_memory_is_bounded_whatever_is_experienced() -> None:
    sizes = []
    changes = {"learner.capacity": 60, "stage.steps": 3_000, "stage.cap": 3_000}
    stage = Stage(configure("puck-continuing", learner="model", seed=1, changes=changes))
    for working in _worked(stage):
        memory = working.agent.memory
        sizes.append(sum(array.nbytes for array in leaves(memory.store).values()))
        assert memory.store.counters["size"][0] <= 60
        if working.environment_steps >= 3_000:
            break
    counters = stage.agent.memory.store.counters[0]
    assert (counters["size"], counters["experienced"]) == (60, stage.agent.progress.counts["trial_steps"][0])
    assert counters["experienced"] >= 2_000
    assert len(set(sizes)) <= 2  # lists for more prototypes, if anything


def test_a_run_that_is_stopped_goes_on_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages.Stage, "slow_chunk", 20)
    monkeypatch.setattr(stages, "CHUNK", 20)
    asked = configure("puck", seed=2, changes={**FAST, "learner.capacity": 400}, learner="model")
    whole, chunks = never_stopped(asked, tmp_path / "whole")
    assert chunks > 20
    stopped(tmp_path / "run", asked)
    learn_configured(asked, tmp_path / "run")
    assert learned(tmp_path / "run") == whole


def test_another_attempt_keeps_the_experience_of_the_last() -> None:
    stage = Stage(configure("puck", seed=1, changes={**FAST, "stage.trials": 3}, learner="model"))
    for _ in stage.work():
        pass
    before = stage.agent.memory.store.counters[0].copy()
    stage.restart()
    store = stage.agent.memory.store
    assert stage.prototypes == 1
    assert before["size"] > 50
    assert store.counters["size"][0] == before["size"] == store.kept.sum()


def test_what_the_model_knows_can_be_asked_and_what_it_does_not_is_said(tmp_path: Path) -> None:
    run = dg.learn("puck", learner="model", seed=2, settings=FAST, out=tmp_path / "run")
    answers = {answer.action: answer for answer in dg.ask_model(run, (0.2, 0.3))}
    done = dg.rollout(run, (0.2, 0.3), steps=1)
    assert np.allclose(answers[done.actions[0]].after, done.observations[1], atol=0.02)
    for wrong, words in [((2.3, -5.4), "knows too little of"), ((1.0,), "2 numbers"), ("no", "numbers")]:
        with pytest.raises(DistinguoError, match=words) as caught:
            dg.ask_model(tmp_path / "run", wrong)
        assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(DistinguoError, match="learned in memory"):
        dg.ask_model(run._replace(path=None), (0.0, 0.0))


def test_categories_are_refused_in_a_sentence() -> None:
    with pytest.raises(DistinguoError, match="take the learner sweeping"):
        dg.learn("FrozenLake-v1", learner="model")


def test_compiled_and_interpreted_runs_have_the_same_bits(tmp_path: Path) -> None:
    asked = configure("puck", seed=3, changes={**FAST, "learner.rehearsals": 1}, learner="model")
    compiled, _ = never_stopped(asked, tmp_path / "compiled")
    with pytest.MonkeyPatch.context() as patch, interpreted_by_day(Puck):
        patch.setattr(by_model, "settle_in_model", by_model.settle_in_model.py_func)
        patch.setattr(by_model, "organise", by_model.organise.py_func)
        plain_run, _ = never_stopped(asked, tmp_path / "plain")
    assert compiled == plain_run
    assert compiled["result"]["regions"] > 2


def test_settings_say_what_they_share_with_the_papers_learner() -> None:
    assert ModelSettings().gamma == configure("puck").learner.gamma
