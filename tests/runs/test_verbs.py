"""What people do with a run and with an agent: the public functions, with the same answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.runs.run import Verbs

PUCK = Path(__file__).parents[1] / "golden" / "formats" / "runs" / "puck-8"
CALLS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "plot": ("show", ("values", "a.png"), {}),
    "rollout": ("rollout", ((0.5, 1.0),), {"steps": 9, "seed": 3}),
    "audit": ("audit", (), {"visits": 7}),
    "verify": ("verify", (), {"cells": 8}),
    "export": ("export", ("c",), {"force": True}),
    "explain": ("explain", ((0.5, 1.0), (0.1, 0.2)), {}),
    "play": ("play", ("a.gif",), {"seed": 2}),
}


@pytest.fixture(scope="module")
def run() -> dg.Run:
    return dg.open_run(PUCK)


@pytest.fixture(scope="module")
def agent() -> dg.Economy:
    return dg.Economy.load(PUCK)


def test_every_verb_is_known() -> None:
    verbs = {name for name in vars(Verbs) if not name.startswith("_")}
    assert verbs == {*CALLS, "report"}
    assert all(callable(getattr(kind, name)) for kind in (dg.Run, dg.Economy) for name in verbs)


@pytest.mark.parametrize("name", CALLS)
def test_a_verb_is_the_public_function(
    name: str, run: dg.Run, agent: dg.Economy, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, arguments, options = CALLS[name]
    told: list[Any] = []
    monkeypatch.setattr(
        dg, public, lambda *given, **named: told.append((given, named)) or "done", raising=False
    )
    assert getattr(run, name)(*arguments, **options) == "done"
    assert getattr(agent, name)(*arguments, **options) == "done"
    for (subject, *given), named in told:
        assert isinstance(subject, dg.Run)
        assert tuple(given) == arguments
        assert named == options
    assert told[0][0][0] is run
    assert np.array_equal(told[1][0][0].q, run.q)


def test_a_report_is_of_a_list_of_runs(run: dg.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(dg, "report", lambda *given, **named: told.append((given, named)), raising=False)
    run.report("a.html")
    assert told == [(([run], "a.html"), {})]


def test_a_rollout_follows_the_greedy_policy(run: dg.Run) -> None:
    trial = run.rollout((1.0, -1.0), steps=200)
    assert trial.ended == "left"
    assert trial.observations.shape == (201, 2)
    assert trial.observations[0].tolist() == [1.0, -1.0]
    for seen, region, name in zip(trial.observations[:-1], trial.regions, trial.actions, strict=True):
        assert (run.controller.region(seen), run.action(seen)) == (region, name)
    task = run.configuration.spec.task
    from distinguo.tasks.task import transition

    state, reward, _ = transition(task, (1.0, -1.0), int(trial.choices[0]))
    assert (state, reward) == (tuple(trial.observations[1]), trial.rewards[0])


def test_a_rollout_from_a_doomed_start_ends(run: dg.Run) -> None:
    trial = run.rollout((2.3, 5.0))
    assert trial.ended == "terminal"
    assert trial.gained == -1.0
    assert len(trial.choices) == len(trial.rewards) == len(trial.observations) - 1 < 20


def test_a_rollout_begins_where_trials_begin(run: dg.Run) -> None:
    assert run.rollout(steps=3).observations[0].tolist() == [0.0, 0.0]
    assert np.array_equal(run.rollout(steps=50, seed=4).choices, run.rollout(steps=50, seed=4).choices)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"start": (0.0,)}, "A start of puck should be a state of 2 finite numbers"),
        ({"start": (float("nan"), 0.0)}, "A start of puck should be"),
        ({"start": "ab"}, "A start of puck should be"),
        ({"start": 5}, "A start of puck should be"),
        ({"steps": 0}, "steps should be"),
        ({"steps": 1.5}, "steps should be"),
        ({"seed": -1}, "The seed should be"),
        ({"stepps": 5}, "did you mean 'steps'"),
    ],
)
def test_rollouts_that_make_no_sense_are_refused(run: dg.Run, options: dict[str, Any], words: str) -> None:
    with pytest.raises(DistinguoError, match=words):
        dg.rollout(run, **options)


def test_a_run_stays_a_tuple_that_can_be_changed_in_part(run: dg.Run) -> None:
    other = run._replace(path=None)
    assert isinstance(other, dg.Run)
    assert (other.path, other.q is run.q) == (None, True)
    assert not hasattr(run, "__dict__")
