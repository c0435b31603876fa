"""The audit of a run: the same in memory and from its folder, and how it reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.audit import audit_controller
from distinguo.runs.learn import learn
from distinguo.study.audit import audit


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
        gamma=0.97,
        epsilon=0.02,
        visits=500,
        seed=3,
    )
    for one, other in zip(findings, expected, strict=True):
        assert np.array_equal(one, other)
    assert repr(audit(tmp_path / "run", visits=500, seed=3)) == repr(findings)
    assert repr(audit(str(tmp_path / "run"), visits=500, seed=3)) == repr(findings)


def test_states_of_ones_own_are_audited() -> None:
    findings = audit(learn("puck", seed=1), states=[(0.1, 0.2), (2.39, 5.4)])
    assert findings.regions.shape == (2,)
    assert findings.q1[1].tolist() == [-1.0, -1.0]  # it falls at once, whatever it does
    first, second, third = repr(findings).splitlines()
    assert "2 states are" in first
    assert "Eq. 1" in second
    assert third.startswith("Greatest regret")


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DistinguoError, match="not a run folder"):
        audit(tmp_path)
