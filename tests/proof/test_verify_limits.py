"""Where a claim of ``verify`` ends: one step too few, trials that go on, tasks that do not say what is good."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from distinguo import verification
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.simulate import Outcome
from distinguo.proof.arrive.arrival import Arrivals, certified
from distinguo.proof.arrive.car import enclose_strip
from distinguo.proof.arrive.question import ARRIVES, mean_return_at_least
from distinguo.proof.checker.check import check
from distinguo.proof.declared.question import PROGRAM
from distinguo.proof.enclosure import enclose
from distinguo.proof.hold.question import HOLDS
from distinguo.proof.number.program import NotProvableError
from distinguo.proof.verify import question_about
from distinguo.representations.file import Representation, dumps
from distinguo.seam import implements
from distinguo.tasks.catalog import task_spec
from distinguo.verification import LABEL, bounds, median_bound, trial_sentences, verify

from .cars import CAR, SWING, steps_of, swing


def test_one_step_less_than_a_start_takes_is_refused():
    """The certificate of one single start, whose steps are known by simulation."""
    for x in (-0.6, -0.51, -0.45):
        steps = int(steps_of(swing(), SWING, [x])[0])
        proof = Arrivals(np.array([[x, x, 0.0, 0.0]]), np.array([steps]), 0)
        assert check(certified(CAR, Controller(swing(), SWING, 0.0), proof)).cells == 1
        with pytest.raises(DistinguoError, match="may not be at the goal"):
            check(certified(CAR, Controller(swing(), SWING, 0.0), proof._replace(steps=proof.steps - 1)))


def test_what_is_not_proven_may_go_on_until_the_task_stops_it():
    halves = Arrivals(np.array([[-0.6, -0.5, 0.0, 0.0], [-0.5, -0.4, 0.0, 0.0]]), np.array([100, -1]), 0)
    valley = task_spec("MountainCar-v0")
    assert mean_return_at_least(valley, halves, 120) == pytest.approx(-150)  # not -110
    assert mean_return_at_least(valley, halves, 300) == pytest.approx(-200)
    assert mean_return_at_least(valley._replace(limit=None), halves, 120) is None


def test_a_representation_of_another_task_is_refused(tmp_path):
    path = tmp_path / "swing.json"
    path.write_text(dumps(Representation(swing(), ("x", "v"), {"task": "MountainCar-v0"})))
    with pytest.raises(DistinguoError, match="learned on MountainCar-v0, not on puck"):
        verify(path, task="puck", out=tmp_path)


def outcome(returns) -> Outcome:
    count = len(returns)
    return Outcome(np.full(count, 200), np.array(returns), np.zeros(count, bool), np.ones(1, bool), False)


def test_trials_are_judged_by_what_the_task_says_is_good():
    returns = np.arange(-300.0, -200.0)
    assert bounds(task_spec("MountainCar-v0"), outcome(returns))["held"] == 0
    assert bounds(task_spec("puck"), outcome(returns))["held"] == 100
    details = bounds(task_spec("Pendulum-v1"), outcome(returns))  # nobody says which return is good
    assert details["bound"] is None
    assert details["median_return"] == [-261.0, -240.0]
    assert "median return" in trial_sentences({**details, "label": LABEL, "trials": 100})[0]


def test_a_task_is_asked_what_it_has_an_enclosure_for():
    class Held(NamedTuple):
        pass

    class Arriving(NamedTuple):
        pass

    assert question_about(Held()) is question_about(Arriving()) is None
    implements(enclose, Held)(lambda task, low, high, a: (low, high, True))
    implements(enclose_strip, Arriving)(lambda task, strip, a, way: (strip, 0))
    assert question_about(Held()) is HOLDS
    assert question_about(Arriving()) is ARRIVES


def test_bounds_of_a_median_hold_as_often_as_they_say():
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(2_000):
        low, high = median_bound(rng.exponential(size=25))
        held += low <= np.log(2.0) <= high
    assert 0.95 <= held / 2_000 <= 0.98


def test_options_of_a_proof_that_fails_are_no_reason_to_refuse_the_trials(monkeypatch):
    """Where the prover gives up, trials are what is left; the options were its own."""

    def gives_up(request):
        raise NotProvableError("Not proven: too wide.")

    monkeypatch.setattr(verification, "question_for", lambda request: PROGRAM._replace(prove=gives_up))
    proof = verify("diagonal", ranges={"mass": (0.9, 1.1)})
    assert not proof.holds
    assert "Not proven: too wide." in proof.sentences
    assert any(LABEL in sentence for sentence in proof.sentences)
