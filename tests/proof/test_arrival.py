"""Starts that are certified to arrive do arrive, in time, and those that do not are not certified."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.arrive.arrival import UNKNOWN, Arrivals, arrivals, certified, within
from distinguo.proof.certificate import certificate_text, load_certificate, read_certificate
from distinguo.proof.checker.check import check
from distinguo.proof.question import controller_claim
from distinguo.proof.schema import ArrivalCertificate, domain_of
from distinguo.proof.shield import Shield
from distinguo.tasks.cart_pole import CartPole
from distinguo.tasks.puck.environment import PuckOnAHillEnv

from .cars import CAR, SWING, random_policy, steps_of, swing, swing_in_boxes

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many strips")
GOLDEN = Path(__file__).parents[1] / "golden" / "formats"


@cache
def the_proof() -> Arrivals:
    return arrivals(CAR, Controller(swing(), SWING), pieces=32)


@cache
def the_certificate() -> ArrivalCertificate:
    return certified(CAR, Controller(swing(), SWING, 0.0), the_proof())


def changed(**update) -> ArrivalCertificate:
    """A certificate with other content, a good digest and words that fit."""
    other = the_certificate().model_copy(update=update)
    other = other.model_copy(update={"domain": domain_of(other.starts)})
    return read_certificate(certificate_text(other).encode())


def kept(partition, q, proof: Arrivals, count: int, seed: int = 0) -> bool:
    """Tell whether random starts, and the ends of all pieces, arrive as soon as is certified of their pieces."""
    rng = np.random.default_rng(seed)
    xs = np.concatenate([rng.uniform(-0.6, -0.4, count), proof.boxes[:, 0], proof.boxes[:, 1]])
    inside = (proof.boxes[:, 0] <= xs[:, None]) & (xs[:, None] <= proof.boxes[:, 1]) & proof.proven
    promised = np.where(inside, proof.steps, 10**6).min(axis=1)
    return bool((steps_of(partition, q, xs) <= promised).all())


def test_the_swing_arrives_from_everywhere():
    assert the_proof().share(200) == 1.0
    assert the_proof().longest < 130
    assert check(the_certificate()).cells == len(the_proof().boxes)
    assert kept(swing(), SWING, the_proof(), 300)


def test_a_border_at_rest_counts_as_both():
    proof = arrivals(CAR, Controller(swing(-0.01), SWING), pieces=32)
    assert proof.share(200) > 0.99
    assert proof.longest > 130  # what is taken to the wrong side at first comes later
    assert kept(swing(-0.01), SWING, proof, 100)


def test_boxes():
    partition, q = swing_in_boxes()
    proof = arrivals(CAR, Controller(partition, q), pieces=16)
    assert proof.share(200) == 1.0
    assert check(certified(CAR, Controller(partition, q, 0.0), proof)).cells == len(proof.boxes)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_certified_of_ragged_policies_arrives(seed):
    partition, q = random_policy(seed)
    proof = arrivals(CAR, Controller(partition, q), pieces=32, rounds=3)
    assert kept(partition, q, proof, 300, seed)
    if proof.proven.any():
        few = Arrivals(proof.boxes[proof.proven][:5], proof.steps[proof.proven][:5], 0)
        check(certified(CAR, Controller(partition, q, 0.0), few))


def failing_for_some():
    """A controller that lets a slow car rest in the valley, and otherwise swings."""
    from distinguo.representations.voronoi import voronoi

    places = [[x, v] for x in np.linspace(-1.2, 0.6, 19) for v in (-0.03, -0.0005, 0.0005, 0.03)]
    q = np.array(
        [(0.0, 1.0, 0.0) if abs(v) < 0.01 and -0.62 < x < -0.45 else SWING[int(v < 0)] for x, v in places]
    )
    return voronoi(places, (1.8, 0.14)), q


def test_a_controller_that_fails_for_some_starts_is_not_certified_there():
    partition, q = failing_for_some()
    proof = arrivals(CAR, Controller(partition, q), pieces=32, rounds=2)
    assert kept(partition, q, proof, 2_000)
    lost = steps_of(partition, q, np.random.default_rng(0).uniform(-0.6, -0.4, 2_000)) > 200
    assert 0.1 < lost.mean() < 1 - proof.share(200) < 1


def test_tied_actions_count_as_all_of_them():
    either = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]])  # a coin may hold the car in the valley
    assert not arrivals(CAR, Controller(swing(), either), pieces=8, rounds=0).proven.any()
    near = SWING - [[0.0, 0.0, 0.0], [0.05, 0.0, 0.0]]
    assert arrivals(CAR, Controller(swing(), near, 0.01), pieces=32, rounds=0).proven.all()
    assert not arrivals(CAR, Controller(swing(), near, 1.0), pieces=8, rounds=0).proven.any()


def test_the_rounding_of_observations_decides_nothing():
    """A border that only the rounding to 32 bits moves a start across: both sides must count."""
    from distinguo.representations.boxes import grid

    start = float(np.float64(np.float32(-0.5)) - 1e-9)  # is seen as -0.5
    tree = grid([2, 1], [-1.2, -0.07], [0.2, 0.07])  # cut at -0.5
    sides = [np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])]
    boxes = np.array([[start, start, 0.0, 0.0]])
    for q in sides:
        steps, _ = within(CAR, Controller(tree, q, 0.0), boxes, 200)
        assert steps[0] == UNKNOWN or steps_of(tree, q, [start])[0] <= steps[0]


def test_numbers_that_are_none_are_not_proven():
    steps, _ = within(CAR, Controller(swing(), SWING, 0.0), np.array([[np.nan, np.nan, 0.0, 0.0]]), 200)
    assert steps.tolist() == [UNKNOWN]


def test_too_few_steps_are_not_enough():
    assert not arrivals(CAR, Controller(swing(), SWING), horizon=100, pieces=8, rounds=0).proven.any()


def test_a_goal_that_asks_for_too_much_speed_or_is_out_of_reach():
    assert not arrivals(
        CAR._replace(goal_velocity=0.08), Controller(swing(), SWING), pieces=8, rounds=0
    ).proven.any()
    assert not arrivals(
        CAR._replace(max_position=0.49), Controller(swing(), SWING), pieces=8, rounds=0
    ).proven.any()


def test_the_file(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(certificate_text(the_certificate()))
    claim = controller_claim(Controller(swing(), SWING))
    assert load_certificate(path) == the_certificate()
    assert check(load_certificate(path), claim).cells == 32
    with pytest.raises(DistinguoError, match="another controller"):
        check(load_certificate(path), controller_claim(Controller(swing(-0.02), SWING)))
    with pytest.raises(DistinguoError, match="about arriving"):
        Shield(PuckOnAHillEnv(), path)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**40))
def test_refuses_one_flipped_bit(bit):
    damaged = bytearray(certificate_text(the_certificate()).encode())
    bit %= 8 * len(damaged)
    damaged[bit // 8] ^= 1 << bit % 8
    with pytest.raises(DistinguoError) as refusal:
        read_certificate(bytes(damaged))
    assert "\n" not in str(refusal.value)


def test_refuses_claims_that_are_not_true():
    starts, task, controller = the_certificate().starts, the_certificate().task, the_certificate().controller
    one = starts.model_copy(update={"boxes": starts.boxes[:1], "steps": starts.steps[:1]})
    false = [
        {"starts": one.model_copy(update={"steps": [starts.steps[0] - 3]})},
        {"starts": one.model_copy(update={"boxes": [[-0.6, -0.2, 0.0, 0.0]]})},
        {"starts": one, "task": task.model_copy(update={"parameters": {**task.parameters, "force": 0.0008}})},
        {
            "starts": one,
            "task": task.model_copy(update={"parameters": {**task.parameters, "goal_velocity": 0.06}}),
        },
        {
            "starts": one,
            "task": task.model_copy(update={"parameters": {**task.parameters, "max_position": 0.4}}),
        },
        {"starts": one, "controller": controller.model_copy(update={"actions": [[0], [2]]})},
        {"starts": one, "controller": controller.model_copy(update={"actions": [[1, 2], [0]]})},
        {"starts": one, "controller": controller.model_copy(update={"actions": [[7], [0]]})},
        {"starts": one, "controller": controller.model_copy(update={"primary": [0, 0]})},
    ]
    for update in false:
        with pytest.raises(DistinguoError, match="certificate is wrong"):
            check(changed(**update))


def test_refuses_claims_that_make_no_sense():
    claim = json.loads(certificate_text(the_certificate()))["claim"]
    for part, name, value in (
        ("starts", "steps", [1]),
        ("starts", "boxes", [[1.0, 0.0, 0.0, 0.0]]),
        ("task", "parameters", {"force": 1.0}),
    ):
        other = {**claim, part: {**claim[part], name: value}}
        body = json.dumps(other)
        with pytest.raises(DistinguoError, match="damaged or changed"):
            read_certificate(
                f'{{"format": "distinguo-certificate", "version": 1, "sha256": "", "claim":\n{body}}}\n'.encode()
            )


def test_other_tasks_have_no_such_proof():
    with pytest.raises(DistinguoError, match="CartPole"):
        arrivals(CartPole(), Controller(swing(), SWING))


def test_a_file_of_the_first_release_is_still_read_and_checked():
    certificate = load_certificate(GOLDEN / "certificate-arrival.json")
    assert check(certificate, controller_claim(Controller(swing(), SWING))).cells == 13
    assert max(certificate.starts.steps) == 133
