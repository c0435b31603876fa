"""Cores and tubes: slow systems that never fail, from all of their starts; the checker follows the sets again."""

import json
import math
from typing import NamedTuple

import numpy as np
import pytest
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

import distinguo as dg
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.certificate import certificate_text, read_certificate
from distinguo.proof.checker.check import check
from distinguo.proof.checker.core import CoreChecker, Sets
from distinguo.proof.declared.core import Tracker, body_of_box, frame_around
from distinguo.proof.declared.flow import Flow
from distinguo.proof.declared.sliding import sliding
from distinguo.proof.declared.tube import Tube, _certificate, ask_core, reward_of, why_no_core
from distinguo.proof.number.program import program_of
from distinguo.proof.question import Request
from distinguo.proof.schema import CoreCertificate
from distinguo.proof.verify import refusal_of
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.cart_pole import CartPole
from distinguo.tasks.catalog import spec_of, task_spec
from tests.nightly import NIGHTLY

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells")


@dg.task(
    states=("v", "angle", "turning"),
    actions=("left", "right"),
    low=(-2, -0.3, -4),
    high=(2, 0.3, 4),
    limit=80,
)
class Broom(NamedTuple):
    """A broom on a hand that moves; the hand has all the room that it needs, but not any speed."""

    push: float = 6.0
    dt: float = 0.02
    gravity: float = 9.8

    def transition(self, s, a):
        v, angle, turning = s
        f = self.push if a == 1 else -self.push
        v_next = v + self.dt * f
        angle_next = angle + self.dt * turning
        turning_next = turning + self.dt * 1.5 * (self.gravity * math.sin(angle) - f * math.cos(angle))
        fell = abs(angle_next) > 0.3 or abs(v_next) > 2.0
        return (v_next, angle_next, turning_next), (-1.0 if fell else 0.0), fell

    def start(self, rng):
        return (rng.uniform(-0.05, 0.05), rng.uniform(-0.02, 0.02), rng.uniform(-0.05, 0.05))


def across(normal, more=()):
    """Two prototypes on either side of the border ``normal . s = 0``: right where it is positive."""
    normal = np.array(normal) / np.abs(normal).max() * 0.1
    places = [normal.tolist(), (-normal).tolist(), *more]
    actions = [[0.0, 1.0], [1.0, 0.0], *[[0.0, 1.0]] * len(more)]
    return Controller(voronoi(places, [1.0] * len(normal)), np.array(actions))


GOOD = (0.1, 1.0, 0.25)  #: a border along which the broom settles
DRIFTS = (-0.02, 1.0, 0.25)  #: and one along which it does not
POLE = (0.05, 0.1, 1.0, 0.2)  #: a border along which the pole on the cart settles


@pytest.fixture(scope="module")
def finding():
    return ask_core(Request(spec_of(Broom()), across(GOOD)))


def _falls(task, controller, states, steps):
    """An independent oracle: how many of some states fail in the program itself."""
    partition, kind = controller.partition, type(task)
    count = 0
    for s in states:
        s = tuple(map(float, s))
        for _ in range(steps):
            nearest = (((np.array(s) - partition.prototypes) * partition.weight) ** 2).sum(axis=1).argmin()
            s, _, ended = kind.transition(task, s, int(controller.greedy[partition.regions[nearest]]))
            if ended:
                count += 1
                break
    return count


@pytest.mark.second_stage
def test_all_starts_are_proven_for_ever_and_checked(finding):
    answer = finding.answer(True)
    assert answer.proven
    assert answer.details["for_ever"]
    assert finding.certificate.closes
    with ctx.workprec(100):
        check(finding.certificate)
    assert not finding.answer(False).proven


@pytest.mark.second_stage
def test_simulated_states_stay_in_the_sets(finding):
    """Every state of simulated trials is in the set that the follower has for its step; none fails."""
    controller = across(GOOD)
    program, frame = program_of(Broom()), finding.tube.frame
    follower, rng = Tracker(Flow(program, controller, {}), frame, {}), np.random.default_rng(3)
    low, high = np.array([-0.05, -0.02, -0.05]), np.array([0.05, 0.02, 0.05])
    states = rng.uniform(low, high, (60, 3))
    states[:8] = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, 8).T
    body = body_of_box(frame, low, high)
    for _ in range(40):
        taken, body = follower.advanced(body, 100)
        held = {tuple(cell): n for n, cell in enumerate(body.cells.tolist())}
        for n, s in enumerate(states):
            s = tuple(map(float, s))
            for _ in range(taken):
                places = controller.partition.prototypes
                s, _, ended = Broom.transition(
                    Broom(), s, int(controller.greedy[((np.array(s) - places) ** 2).sum(axis=1).argmin()])
                )
                assert not ended
            states[n] = s
            w = frame.matrix @ (states[n] - frame.origin)
            row = held[tuple(np.floor(w[:2] / frame.pitch).astype(int).tolist())]
            assert (frame.directions @ w[2:] <= body.supports[row] + 1e-12).all()


@pytest.mark.second_stage
def test_the_states_of_a_core_never_fail(finding):
    frame, core = finding.tube.frame, finding.tube.legs[-1].core
    rng = np.random.default_rng(0)
    cells = core.cells[rng.integers(len(core.cells), size=60)] + rng.random((60, 2))
    slow = rng.choice([-core.supports[1], core.supports[0]], (60, 1)) * rng.random((60, 1))
    states = frame.origin + np.hstack([cells * frame.pitch, slow]) @ frame.inverse.T
    assert _falls(Broom(), across(GOOD), states, 20_000 if NIGHTLY else 1_500) == 0


@pytest.mark.second_stage
def test_a_certificate_belongs_to_its_controller_and_program(finding):
    data = certificate_text(finding.certificate).encode()
    assert read_certificate(data) == finding.certificate
    assert len(data) < 100_000
    assert refusal_of(data, across(GOOD), Broom()) is None
    assert "push = 6, this has 6.5" in refusal_of(data, across(GOOD), Broom(push=6.5))
    assert "another controller" in refusal_of(data, across(DRIFTS), Broom())


def _forged(certificate, rng):
    """A changed certificate: source, numbers, supports, cells, schedules, legs or actions."""
    claim = json.loads(certificate.model_dump_json())
    leg, source = claim["legs"][-1], claim["task"]["functions"]
    changes = {
        "source": lambda: source.update(
            transition=source["transition"].replace("> 0.3", f"> {rng.uniform(0.01, 0.06):.3f}")
        ),
        "physics": lambda: source.update(transition=source["transition"].replace("1.5 *", "-1.5 *")),
        "starts": lambda: source.update(start=source["start"].replace("0.02", "0.29")),
        "supports": lambda: leg.update(
            supports=[number * rng.uniform(0.2, 0.9) for number in leg["supports"]]
        ),
        "cells": lambda: leg.update(cells=leg["cells"][: len(leg["cells"]) // 2]),
        "schedule": lambda: claim.update(schedule=claim["schedule"][:1]),
        "legs": lambda: claim.update(legs=claim["legs"][:1], schedule=claim["legs"][0]["schedule"][:3]),
        "matrix": lambda: claim["coordinates"]["matrix"][int(rng.integers(3))].reverse(),
        "pitch": lambda: claim["coordinates"].update(
            pitch=[number * 20.0 for number in claim["coordinates"]["pitch"]]
        ),
        "actions": lambda: claim["controller"].update(actions=claim["controller"]["actions"][::-1]),
        "tied": lambda: claim["controller"].update(actions=[[0, 1], [0]]),
        "places": lambda: claim["controller"]["prototypes"][0].reverse(),
        "push": lambda: claim["task"]["high"].update(push=12.0),
        "reward": lambda: claim.update(reward=1.0),
    }
    return changes, claim


KINDS = (
    "source",
    "physics",
    "starts",
    "supports",
    "cells",
    "schedule",
    "legs",
    "matrix",
    "pitch",
    "actions",
    "tied",
)


@pytest.mark.second_stage
@pytest.mark.parametrize("kind", [*KINDS, "places", "push", "reward"])
def test_forged_certificates_are_refused_or_true(finding, kind):
    """What the checker accepts of a changed certificate must be true in simulation."""
    rng = np.random.default_rng(1)
    changes, claim = _forged(finding.certificate, rng)
    changes[kind]()
    must_fail = kind not in ("matrix", "pitch", "legs", "cells", "supports", "schedule")
    try:
        forged = CoreCertificate.model_validate(claim)
        check(forged)
    except (DistinguoError, ValueError):
        return
    assert not must_fail, kind
    # only the sets were changed: the claim about the same task and controller is as true as before
    assert forged.task == finding.certificate.task
    assert forged.controller == finding.certificate.controller


@pytest.mark.second_stage
def test_a_core_that_is_too_small_is_refused(finding):
    """Broken on purpose: the last set without its widening, with fewer cells, or never come back to."""
    claim = json.loads(finding.certificate.model_dump_json())
    for change in (
        {"supports": [0.5 * number for number in claim["legs"][-1]["supports"]]},
        {"cells": claim["legs"][-1]["cells"][::2]},
    ):
        legs = [*claim["legs"][:-1], {**claim["legs"][-1], **change}]
        with pytest.raises(DistinguoError, match="come back"):
            check(CoreCertificate.model_validate({**claim, "legs": legs}))


@pytest.mark.second_stage
def test_wrong_physics_are_refused(finding):
    claim = json.loads(finding.certificate.model_dump_json())
    source = claim["task"]["functions"]
    source["transition"] = source["transition"].replace("f * math.cos", "0.1 * f * math.cos")
    with pytest.raises(DistinguoError, match=r"may fail|come back|too many"):
        check(CoreCertificate.model_validate(claim))


@pytest.mark.second_stage
def test_unstable_sliding_is_named_and_not_proven():
    found = sliding(program_of(Broom()), across(DRIFTS))
    assert found.modulus > 1.0
    assert not found.is_stable
    answer = ask_core(Request(spec_of(Broom())._replace(limit=None), across(DRIFTS))).answer(True)
    assert not answer.proven
    assert any(f"{found.modulus:.5f}" in sentence for sentence in answer.sentences)


def test_the_modulus_is_that_of_the_simulated_sliding():
    """An independent oracle: the rate at which the mixture that stays on the border really shrinks."""
    task, controller = Broom(), across(GOOD)
    found = sliding(program_of(task), controller)
    normal = found.border.normal
    s = np.array([0.01, -0.001, 0.0])
    s -= normal * (normal @ s - found.border.offset) / (normal @ normal)
    sizes = []
    for _ in range(400):
        f, g = (np.array(Broom.transition(task, tuple(map(float, s)), a)[0]) for a in (0, 1))
        share = (found.border.offset - normal @ f) / (normal @ (g - f))
        s = (1.0 - share) * f + share * g
        sizes.append(np.linalg.norm(s - found.point))
    assert (sizes[-1] / sizes[-101]) ** 0.01 == pytest.approx(found.modulus, abs=1e-4)


@pytest.mark.second_stage
def test_for_as_long_as_trials_last():
    """A controller that drifts holds the steps of a trial; the certificate claims these and no more."""
    finding = ask_core(Request(spec_of(Broom()), across(DRIFTS)))
    answer = finding.answer(True)
    assert answer.proven
    assert not answer.details["for_ever"]
    assert not finding.certificate.closes
    assert finding.certificate.steps == 80
    check(finding.certificate)
    claim = json.loads(finding.certificate.model_dump_json())
    with pytest.raises(ValueError, match="come back to"):
        CoreCertificate.model_validate({**claim, "closes": True})


@pytest.mark.second_stage
def test_a_third_prototype_is_followed():
    """One that takes the other action far away changes nothing; one beside the border spoils the proof."""
    far = across(GOOD, more=[[1.9, 0.0, 0.0]])
    assert ask_core(Request(spec_of(Broom()), far)).certificate.closes
    checker = CoreChecker(ask_core(Request(spec_of(Broom()), across(GOOD))).certificate)
    sets = Sets(np.array([[0, 0], [5, 0]]), np.full((2, 2), 0.01))
    low, high = checker.ends(sets, moved := checker._at_rest(sets))
    with ctx.workprec(100):
        assert checker._possible(sets, moved, low, high).tolist() == [[True, True], [True, False]]


def test_only_tasks_whose_steps_pay_the_same_qualify():
    pole = task_spec("CartPole-v1")
    assert reward_of(program_of(pole.task), pole) == 1.0
    assert why_no_core(pole, across(POLE)) is None
    other = pole._replace(task=CartPole(sutton_barto_reward=True))
    assert "does not always pay the same" in why_no_core(other, across(POLE))
    assert "cores need" in why_no_core(task_spec("MountainCar-v0"), across((1.0, 1.0)))


def test_coordinates_fit_the_sliding():
    found = sliding(program_of(CartPole()), across(POLE))
    frame = frame_around(found, 40)
    turned = frame.matrix @ found.mean @ frame.inverse
    assert frame.matrix @ found.push == pytest.approx([-2.0, 0.0, 0.0, 0.0], abs=1e-9)
    assert turned[2:, 1] == pytest.approx([0.0, 0.0], abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_linear_maps_enclose_what_the_program_computes(seed):
    """Of the prover and of the checker, on boxes of any size and place: the program itself is the oracle."""
    rng, task, controller = np.random.default_rng(seed), CartPole(), across(POLE)
    program = program_of(task)
    frame = frame_around(sliding(program, controller), 40)
    request = Request(task_spec("CartPole-v1"), controller)
    checker = CoreChecker(_certificate(request, program, Tube(frame, [], [1], False, 1)))
    tracker = Tracker(Flow(program, controller, {}), frame, {})
    middle, half = rng.uniform(-0.05, 0.05, 4), 10.0 ** rng.uniform(-4, -1, 4)
    low, high, a = middle - half, middle + half, int(rng.integers(2))
    with ctx.workprec(100):
        checked = checker._image(low, high, a)
    proven = tuple(part[0] for part in tracker._maps(low[None], high[None], a))
    for e in (*rng.uniform(-1, 1, (30, 4)), *rng.choice([-1.0, 1.0], (30, 4))):
        w = middle + e * half
        s = tuple(map(float, frame.origin + frame.inverse @ w))
        after = frame.matrix @ (np.array(CartPole.transition(task, s, a)[0]) - frame.origin)
        for slope, shift, error in (checked, proven):
            assert (np.abs(after - slope @ w - shift) <= error + 1e-11).all()
    assert (checked[2] < 0.5 * half.max() + 1e-9).all()  # and no wider than they need to be
    assert (proven[2] < 0.5 * half.max() + 1e-9).all()


@pytest.mark.skipif(not NIGHTLY, reason="a minute")
def test_the_pole_never_falls():
    spec = task_spec("CartPole-v1")
    finding = ask_core(Request(spec, across(POLE)))
    assert finding.certificate.closes
    assert finding.certificate.reward == 1.0
    assert "every trial has a return of 500" in finding.answer(True).sentences[0]
    check(finding.certificate)
    rng = np.random.default_rng(0)
    assert _falls(spec.task, across(POLE), rng.uniform(-0.05, 0.05, (20, 4)), 5_000) == 0
