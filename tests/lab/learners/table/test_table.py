"""The same table under each scheduler: what is backed up, in which order, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.learners.agent import Agent
from distinguo.learners.learner import learner_named, leaves
from distinguo.runs.configuration import configure
from distinguo.runs.stage import Stage
from distinguo.tasks.catalog import spec_of
from distinguo.tasks.puck.puck import Puck
from distinguo_lab.learners.scheduling.agenda import SCHEDULERS
from tests.lab.learners.table.toys import LENGTH, Chain, Fork, Ring
from tests.nightly import interpreted_by_day, so_many

SEEDS = range(so_many(3, nightly=50))
QUICK = {"learner.counts": LENGTH, "stage.confirm": 400, "stage.confirm_steps": 10_000, "stage.trials": 300}
PAIRS_OF_CHAIN, PAIRS_OF_FORK = 2 * LENGTH, 2 * (2 * LENGTH - 1)


def learned(task: Any, scheduler: str, seed: int, **changes: Any) -> Any:
    changed = {f"learner.{name}": value for name, value in changes.items()}
    return dg.learn(
        task, learner="table", seed=seed, settings={**QUICK, "learner.scheduler": scheduler, **changed}
    )


def stage_after(task: Any, scheduler: str, **changes: Any) -> Stage:
    changed = {f"learner.{name}": value for name, value in changes.items()}
    settings = {**QUICK, "learner.scheduler": scheduler, **changed}
    stage = Stage(configure(spec_of(task), learner="table", changes=settings))
    for _ in stage.work():
        pass
    return stage


@pytest.mark.parametrize("seed", SEEDS)
def test_work_at_the_frontier_saves_backups(seed: int) -> None:
    """The stack learns the fork in two trials, one for each lane, and backs hardly more up than there is to learn.

    Q-learning takes what is learned at the end one region further in each trial; the medians are 552 and 47.
    """
    plain = learned(Fork(), "none", seed).summary
    stack = learned(Fork(), "stack", seed, min_updates=1).summary
    assert plain["solved"]
    assert stack["solved"]
    assert stack["backups"] <= 2 * PAIRS_OF_FORK
    assert 400 < plain["backups"] < 700
    assert plain["backups"] == plain["environment_steps"]  # each step is a backup, and nothing else is


@pytest.mark.parametrize("seed", SEEDS)
def test_rout_backs_each_pair_up_once_from_the_end_to_the_beginning(seed: int) -> None:
    stage = stage_after(Chain(), "rout")
    memory = stage.agent.memory
    assert stage.solved
    assert memory.agenda.settled.all()
    assert memory.updates.tolist() == [[1, 1]] * LENGTH
    assert memory.counters["backups"][0] == PAIRS_OF_CHAIN
    assert (np.diff(memory.agenda.updated_at[:, 0]) < 0).all()
    values = -0.1 * (1 - 0.99 ** np.arange(LENGTH, 0, -1)) / (1 - 0.99)
    assert np.allclose(memory.q[:, 0], values)


def test_rout_gives_up_where_there_are_cycles() -> None:
    summary = learned(Ring(), "rout", 0, counts=4).summary
    assert summary["cycles"] > 0
    assert summary["settled"] == summary["backups"] == 0


@pytest.mark.parametrize("scheduler", ["none", *SCHEDULERS])
def test_every_scheduler_comes_to_the_same_policy(scheduler: str) -> None:
    run = learned(Chain(), scheduler, 0, min_updates=1)
    assert run.summary["solved"]
    assert run.summary["environment_steps"] < 2 * 300  # the most of five seeds was 261
    assert run.controller.action((0.5,)) == 0


def test_a_session_is_as_long_as_asked() -> None:
    asked = learned(Chain(), "dyna", 0, investigations=7).summary
    assert asked["investigations"] == 7 * asked["trials"]
    for scheduler in ("stack", "rout"):
        few = stage_after(Chain(), scheduler, investigations=1)
        assert few.agent.memory.counters["investigations"][0] <= few.count_trials


def test_investigations_stop_where_the_budget_of_steps_ends() -> None:
    for scheduler in SCHEDULERS:
        stage = stage_after(Fork(), scheduler, horizon=20, max_steps=5)
        for left in (0, 9, 60):
            before = stage.investigation_steps
            memory, agent = stage.agent.memory, stage.agent
            memory.agenda.seen_at[:] = memory.agenda.pushed_at[:] = 1
            memory.agenda.settled[:] = False
            stage.learner.settle(agent, left)
            assert stage.investigation_steps - before <= left


def three_trials(scheduler: str) -> Agent:
    stage = Stage(configure("puck", seed=3, learner="table", changes={"learner.scheduler": scheduler}))
    for _ in range(3):
        stage.learner.begin(stage.agent)
        stage.learner.advance(stage.agent, 300, 300)
        stage.learner.settle(stage.agent, 10**6)
    return stage.agent


@pytest.mark.parametrize("scheduler", ["sweeping", "rout"])
def test_compiled_equals_interpreted(scheduler: str) -> None:
    compiled = three_trials(scheduler)
    with interpreted_by_day(Puck):
        plain = three_trials(scheduler)
    assert compiled.memory.q.any()
    for fast, slow in ((compiled.memory, plain.memory), (compiled.progress, plain.progress)):
        ours, theirs = leaves(fast), leaves(slow)
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours | theirs)


def sentence(**changed: Any) -> str:
    stage = Stage(configure(spec_of(Chain()), learner="table"))
    setup = stage._setup(stage.rng)
    settings = setup.settings._replace(**changed.pop("settings", {}))
    with pytest.raises(DistinguoError) as caught:
        learner_named("table").fresh(setup._replace(settings=settings, **changed))
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_what_it_cannot_learn_is_refused_in_a_sentence() -> None:
    assert "cannot restore" in sentence(restorable=False)
    assert "categories" in sentence(categories=True)
    assert "omit them" in sentence(prototypes=[(0.5,)])
    assert "takes fewer" not in sentence(seen=(0.0,) * 7)
    assert "10,000,000 of 7 coordinates; take fewer" in sentence(seen=(0.0,) * 7)
    with pytest.raises(DistinguoError, match=r"learner\.scheduler should be 'none', 'stack'.*got 'queue'"):
        configure("puck", learner="table", changes={"learner.scheduler": "queue"})


def test_plain_q_learning_needs_no_restoring() -> None:
    stage = Stage(configure(spec_of(Chain()), learner="table", changes={"learner.scheduler": "none"}))
    setup = stage._setup(stage.rng)._replace(restorable=False)
    assert learner_named("table").fresh(setup).q.shape == (10, 2)


def test_a_run_goes_on_from_its_folder_with_the_same_bits(tmp_path: Any) -> None:
    settings = {**QUICK, "learner.scheduler": "sweeping", "learner.min_updates": 3}
    whole = dg.learn(Fork(), learner="table", seed=1, settings=settings)

    def stop(stage: Stage) -> None:
        if stage.count_trials == 5:
            raise KeyboardInterrupt

    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        dg.learn(Fork(), learner="table", seed=1, settings=settings, out=folder, watch=stop)
    more = dg.learn(Fork(), learner="table", seed=1, settings=settings, out=folder)
    assert more.summary["trials"] == whole.summary["trials"] > 5
    assert more.summary["backups"] == whole.summary["backups"]
    assert np.array_equal(more.controller.q, whole.controller.q)
