"""The audit of a run: the same in memory and from its folder, and how it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete

from distinguo.comparison.audit import audit
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.audit import Visits, audit_controller
from distinguo.runs.learn import learn


def test_a_run_is_audited_where_its_policy_leads() -> None:
    findings = audit(learn("puck", seed=1), visits=5000)
    assert findings.states[0].tolist() == [0.0, 0.0]
    assert np.array_equal(findings.observations, findings.states)
    assert (
        np.abs(findings.states[:, 0]) < 2.4
    ).all()  # the run is solved, so nothing it visits is at the wall
    assert findings.adequate > 0.9


def test_a_run_is_audited_with_its_own_settings(tmp_path: Path) -> None:
    run = learn(
        "puck", seed=1, settings={"learner.epsilon": 0.02, "learner.gamma": 0.97}, out=tmp_path / "run"
    )
    findings = audit(run, visits=500, seed=3)
    expected = audit_controller(
        run.configuration.spec.task,
        Controller(run.representation.partition, run.q, run.configuration.learner.delta),
        Visits(500, seed=3),
        gamma=0.97,
        epsilon=0.02,
    )
    for one, other in zip(findings, expected, strict=True):
        assert np.array_equal(one, other)
    assert repr(audit(tmp_path / "run", visits=500, seed=3)) == repr(findings)
    assert repr(audit(str(tmp_path / "run"), visits=500, seed=3)) == repr(findings)


def test_states_of_ones_own_are_audited() -> None:
    findings = audit(learn("puck", seed=1), states=[(0.1, 0.2), (2.39, 5.4)])
    assert findings.regions.shape == (2,)
    assert findings.q1[1].tolist() == [-1.0, -1.0]  # it falls at once, whatever it does
    first, second, third, fourth = repr(findings).splitlines()
    assert "2 states are" in first
    assert "Eq. 1" in second
    assert third.startswith("Greatest regret")
    assert fourth.startswith("All are adequate for an epsilon of")


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DistinguoError, match="not a run folder"):
        audit(tmp_path)


class Corridor(gymnasium.Env[Any, int]):
    """A walk without end that can only be come back to by taking its steps again; all steps are counted."""

    def __init__(self, counts: list[int]) -> None:
        self.observation_space: Any = Discrete(50)
        self.action_space: Any = Discrete(2)
        self.counts, self.place = counts, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.place = int(self.np_random.integers(50))
        return self.place, {}

    def step(self, action: int) -> Any:
        self.counts[0] += 1
        self.place = (self.place + 1 + action) % 50
        return self.place, float(action), False, False, {}

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("there is one counter")


def test_the_work_grows_with_the_visits_and_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distinguo.comparison.audit.LONGEST", 40)
    counts = [0]
    run = learn(
        Corridor(counts), learner="economy", settings={"stage.steps": 1500, "stage.confirm_steps": 100}
    )
    done: list[tuple[int, int]] = []
    steps = []
    for visits in (160, 320, 640):
        counts[0] = 0
        findings = audit(run, visits=visits, watch=lambda *now: done.append(now))
        steps.append(counts[0])
        assert len(findings.states) == visits
        assert done[-1] == (visits, visits)
    assert len(done) == (160 + 320 + 640) / 20
    assert steps[2] < 2.2 * steps[1] < 4.5 * steps[0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"seed": -5}, "The seed should be a whole number from 0 to 2^63 - 1, got -5."),
        ({"seed": True}, "The seed should be a whole number from 0 to 2^63 - 1, got True."),
        ({"visits": 0}, "visits should be a whole number from 1 to 10000000, got 0."),
        ({"visits": 2.5}, "visits should be a whole number from 1 to 10000000, got 2.5."),
        ({"states": [(0.0,)]}, "States to audit should be finite rows of 2 numbers, got shape (1, 1)."),
        ({"states": "here"}, "States to audit should be finite rows of 2 numbers, got 'here'."),
    ],
)
def test_what_cannot_be_audited(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DistinguoError) as caught:
        audit(learn("puck", seed=1), **words)
    assert str(caught.value) == sentence
