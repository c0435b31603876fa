"""A log as a task: the model's answers are those of the real task, and what the log does not show is unknown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import distinguo as dg
from distinguo.cli import app
from distinguo.errors import DistinguoError
from distinguo.offline.log import Transitions, checked_log
from distinguo.offline.record import record_log as record
from distinguo.offline.task import is_logged, log_of, log_spec
from distinguo.runs.configuration import suited_learner
from distinguo.runs.folder import write_run
from distinguo.runs.logged import logged
from distinguo.seam import kernel
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.task import actions, seeded, start, transition


@pytest.mark.parametrize(("name", "seed"), [("puck", 5), ("CartPole-v1", 6), ("MountainCar-v0", 7)])
def test_answers_are_near_the_real_task(name: str, seed: int) -> None:
    """Where the model answers it is far nearer to the truth than a step is long, in states that are not logged."""
    real = task_spec(name)
    spec = log_spec(record(name, steps=4_000, seed=seed), like=real)
    fresh = record(name, steps=300, seed=seed + 100)
    widths = np.subtract(spec.high, spec.low)
    errors, steps, unknown = [], [], 0
    for s, a, s_next, ended in zip(fresh.before, fresh.action, fresh.after, fresh.ended, strict=True):
        after, r, terminal = transition(spec.task, tuple(s), int(a))
        assert spec.task.least <= r <= spec.task.greatest or terminal
        if terminal and not ended:
            unknown += 1
            continue
        errors.append(np.abs((np.array(after) - s_next) / widths).max())
        steps.append(np.abs((s_next - s) / widths).max())
    assert unknown < 0.1 * len(fresh.action)
    assert np.median(errors) < 0.05 * np.median(steps)


def test_what_the_log_does_not_show_ends_a_trial_with_the_worst() -> None:
    spec = log_spec(record("CartPole-v1", steps=2_000, seed=1), like=task_spec("CartPole-v1"))
    far = tuple(3.0 * x for x in spec.high)
    assert transition(spec.task, far, 0) == (far, 0.0, True)  # a reward of 1 would be missed for ever
    spec = log_spec(record("MountainCar-v0", steps=2_000, seed=1), like=task_spec("MountainCar-v0"))
    assert transition(spec.task, (0.5, 0.07), 2)[1:] == (-200.0, True)  # as many steps as a trial may last


def test_the_reach_is_what_the_asked_share_needs() -> None:
    """Of the logged states, that share is answered, but for their own step being among the neighbours."""
    log = record("puck", steps=2_000, seed=2)
    reach = [log_spec(log, {"known": known}).task.model.reach for known in (0.5, 0.9, 0.99)]
    assert reach[0] < reach[1] < reach[2]
    task = log_spec(log, {"known": 0.5}).task
    lost = sum(transition(task, tuple(s), 0)[0] == tuple(s) for s in log.before)
    assert 0.2 < lost / len(log.before) < 0.55


def test_what_solves_it_follows_from_the_log_unless_the_task_is_known() -> None:
    """By length where each step is worth the same and an end never more."""
    by_log = {
        name: log_spec(record(name, steps=1_500, seed=3))
        for name in ("puck", "CartPole-v1", "MountainCar-v0")
    }
    assert {name: spec.score for name, spec in by_log.items()} == {
        "puck": "length",
        "CartPole-v1": "length",
        "MountainCar-v0": "return",
    }
    assert by_log["MountainCar-v0"].limit == 200  # at which episodes were cut
    like = log_spec(record("CartPole-v1", steps=1_500, seed=3), like=task_spec("CartPole-v1"))
    assert (like.score, like.threshold, like.limit) == ("return", 475.0, 500)
    asked = log_spec(record("puck", steps=1_500, seed=3), {"threshold": -0.5, "limit": 300})
    assert (asked.score, asked.threshold, asked.limit) == ("return", -0.5, 300)


def test_an_action_that_was_hardly_taken_is_named() -> None:
    log = record("puck", steps=200, seed=1)
    rare = np.where(np.arange(200) < 3, 1, 0)
    few = checked_log([log.before, rare, *log[3:7]], actions=("left", "right"))
    with pytest.raises(DistinguoError, match="has 3 steps with the action right, and a model needs over 9"):
        log_spec(few)


def test_several_runs_ask_with_rows_of_their_own() -> None:
    spec = log_spec(record("puck", steps=500, seed=1))
    one, other = seeded(spec.task, 1), seeded(spec.task, 2)
    assert one.model.scratch.near is not other.model.scratch.near
    assert one.model.store.before is other.model.store.before
    assert (
        transition(one, (0.0, 0.0), 1)
        == transition(other, (0.0, 0.0), 1)
        == transition(spec.task, (0.0, 0.0), 1)
    )


def test_the_log_comes_back() -> None:
    log = record("puck", steps=500, seed=1)
    back = log_of(log_spec(log))
    assert isinstance(back, Transitions)
    assert all(np.array_equal(a, b) for a, b in zip(back, log, strict=True) if isinstance(a, np.ndarray))


@pytest.mark.second_stage
def test_compiled_answers_are_the_same_and_a_run_can_be_opened_again(tmp_path: Path) -> None:
    log = record("puck", steps=6_000, seed=11)
    log.save(tmp_path / "log.csv")
    spec = log_spec(log)
    ask = kernel(lambda task, s, a: transition(task, s, a))
    for s in log.before[:200]:
        for a in range(actions(spec.task)):
            assert ask(spec.task, tuple(map(float, s)), a) == transition(spec.task, tuple(map(float, s)), a)
    short = {"stage.cap": 20_000, "stage.hold": 20_000}
    run = dg.learn("puck", data=tmp_path / "log.csv", learner="model", settings=short, out=tmp_path / "run")
    assert (run.summary["tried_task"], run.summary["tried_score"]) == ("puck", 20_000)
    opened = dg.open_run(tmp_path / "run")
    assert opened.summary == run.summary
    assert is_logged(opened.configuration.spec.task)
    first = start(opened.configuration.spec.task, np.random.default_rng(0))
    assert transition(opened.configuration.spec.task, first, 0) == transition(
        run.configuration.spec.task, first, 0
    )
    assert dg.open_run(tmp_path / "run", "puck").configuration.spec.name == "puck"
    assert dg.verify(tmp_path / "run", task="puck").verdict in ("proven", "not proven")
    copied = tmp_path / "copied"
    write_run(opened, copied)
    assert is_logged(dg.open_run(copied).configuration.spec.task)
    with pytest.raises(
        DistinguoError, match=r"CartPole-v1 does not fit a run of log.csv: it has 4 coordinates"
    ):
        dg.open_run(tmp_path / "run", "CartPole-v1")
    record("puck", steps=6_000, seed=12, out=tmp_path / "other.csv")
    with pytest.raises(DistinguoError, match="holds another run"):
        dg.learn("puck", data=tmp_path / "other.csv", learner="model", settings=short, out=tmp_path / "run")
    (tmp_path / "other.npz").write_bytes((tmp_path / "run" / "log.npz").read_bytes())
    record("puck", steps=6_000, seed=12, out=tmp_path / "run" / "log.npz")
    with pytest.raises(DistinguoError, match="is not the one that it was learned from"):
        dg.open_run(tmp_path / "run")


@pytest.mark.parametrize("name", ["puck", "CartPole-v1"])
@pytest.mark.parametrize("told", [True, False])
def test_a_log_is_learned_by_the_learner_that_does_best_on_logs(name: str, told: bool) -> None:
    """Whether the task is named or not: without it, lengths are all there is to judge by (docs/how-to/offline.md)."""
    log = record(name, steps=3_000, seed=3)
    spec = log_spec(log, like=task_spec(name) if told else None)
    assert suited_learner(spec) == "probation"


def test_a_model_of_a_log_is_not_proven() -> None:
    with pytest.raises(
        DistinguoError, match="What is learned from a log cannot be proven while it is learned"
    ):
        dg.learn(data=record("puck", steps=500, seed=1), prove=True)


def test_the_parameters_of_the_log_and_of_the_task_are_told_apart() -> None:
    log = record("puck", steps=500, seed=1)
    found = logged(log, "puck", {"task.beta": 0.2, "task.known": 0.9, "learner.gamma": 0.9})
    assert found.real is not None
    assert (found.real.parameters["beta"], found.spec.parameters["known"]) == (0.2, 0.9)
    assert found.changes == {"task.known": 0.9, "learner.gamma": 0.9}
    with pytest.raises(
        DistinguoError, match=r"Unknown setting task.beta; a log has neighbours, known, limit"
    ):
        logged(log, None, {"task.beta": 0.2})
    with pytest.raises(DistinguoError, match=r"Setting task.known should be less than or equal to 1, got 2"):
        logged(log, None, {"task.known": 2})


def test_what_does_not_go_with_a_log_is_said(tmp_path: Path) -> None:
    def said(*words: str) -> str:
        result = CliRunner().invoke(app, ["learn", *words])
        assert isinstance(result.exception, DistinguoError), result.output
        return str(result.exception)

    assert "Name a task to learn, such as puck, or logged steps with --data FILE" in said()
    assert "The task is named twice" in said("puck", "--task", "puck")
    assert "--seeds does not go with --data" in said("--data", "log.csv", "--seeds", "1-2")
    assert "--learner teacher does not go with --data" in said("--data", "log.csv", "--learner", "teacher")
    assert "Cannot read" in said("--data", str(tmp_path / "log.csv"))
