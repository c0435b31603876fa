"""False proofs: every field of a certificate changed, and the digest made anew. What the checker accepts is true."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.arrive.arrival import arrivals, certified
from distinguo.proof.certificate import certificate_text, read_certificate
from distinguo.proof.checker.check import check
from distinguo.proof.hold.invariant import prove_hold
from distinguo.proof.question import controller_claim, partition_of, task_claim
from distinguo.proof.schema import ArrivalCertificate, Certificate, HoldCertificate, domain_of
from distinguo.proof.verify import refusal_of
from distinguo.representations.partition import region
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.mountain_car import MountainCar
from distinguo.tasks.puck.noisy import NoisyPuck
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import observe, transition
from tests.nightly import NIGHTLY

from .cars import CAR, SWING, swing
from .policies import GOOD, ideal

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells")
Path = tuple[Any, ...]
STEPS = 1000 if NIGHTLY else 60  #: that are taken to see whether a set is left
FEW = None if NIGHTLY else 2  #: numbers of a long list that are changed


@cache
def truth(kind: str) -> Certificate:
    """Return a small certificate that is true."""
    if kind == "hold":
        return prove_hold(Puck(), Controller(ideal(), GOOD), counts=(48, 24)).certificate
    proof = arrivals(CAR, Controller(swing(), SWING), pieces=32)
    few = proof._replace(boxes=proof.boxes[:1], steps=proof.steps[:1])
    return certified(CAR, Controller(swing(), SWING, 0.0), few)


def own(kind: str) -> tuple[Any, Any, Controller, Any]:
    """Return the claims that a run makes of its controller and task, and these themselves."""
    controller, task = (
        (Controller(ideal(), GOOD), Puck()) if kind == "hold" else (Controller(swing(), SWING), CAR)
    )
    return controller_claim(controller), task_claim(task), controller, task


def forged(claim: Any) -> bytes:
    """Return the file of a claim, whatever it says, with a digest that fits."""
    body = json.dumps(claim).replace('], "', '],\n"').replace('}, "', '},\n"')
    digest = hashlib.sha256(body.encode()).hexdigest()
    head = f'{{"format": "distinguo-certificate", "version": 1, "sha256": "{digest}", "claim":\n'
    return f"{head}{body}}}\n".encode()


def leaves(content: Any, path: Path = ()) -> Iterator[Path]:
    """Go through all fields; of long lists some will do."""
    if isinstance(content, dict):
        for name in content:
            yield from leaves(content[name], (*path, name))
    elif isinstance(content, list):
        some = range(len(content)) if len(content) <= 6 or FEW is None else [0, len(content) // 3][:FEW]
        for n in some:
            yield from leaves(content[n], (*path, n))
        yield path
    else:
        yield path


def others(value: Any) -> list[Any]:
    """Return what may be put in place of a value: near and far, of its kind and of others."""
    if isinstance(value, float):
        near, far = math.nextafter(value, math.inf), value * 1.02 + 1e-4
        more = [math.nextafter(value, -math.inf), value / 1.3, 0.0, 1e155, -1e-155, "1", None]
        return [near, far, -value, 1e300, *(more if NIGHTLY else [])]
    if isinstance(value, int):
        return [value + 1, value - 1, 2**70, *([value + 1000, -1, 0.5, None] if NIGHTLY else [])]
    if isinstance(value, str):
        return ["puck", "MountainCar-v0", "boxes", f"{value} ", ""]
    return [value[1:], value[:-1], [*value, *value[-1:]], value[::-1], []] if isinstance(value, list) else [0]


def replaced(claim: Any, path: Path, value: Any) -> Any:
    changed = copy.deepcopy(claim)
    if not path:
        return value
    *way, last = path
    inner = changed
    for step in way:
        inner = inner[step]
    inner[last] = value
    return changed


def with_words(claim: Any) -> Any:
    """Let the words of a certificate of arrival fit what is claimed, as a careful forger would."""
    try:
        ArrivalCertificate.model_validate({**claim, "domain": ""})
    except ValueError as error:
        if "words for the starts" not in str(error):
            return claim
    starts = truth("arrive").starts.model_copy(update=claim["starts"])
    return {**claim, "domain": domain_of(starts)}


def outcome(data: bytes, kind: str) -> str:
    """Return what becomes of a file: refused, true but about another run, or accepted; no other is."""
    if refusal_from(lambda: check(read_certificate(data))):
        return "refused"
    certificate, (controller, task, *_) = read_certificate(data), own(kind)
    assert is_true(certificate), data[:300]
    refusal = refusal_from(lambda: check(certificate, controller, task))
    assert refusal == "" or "belongs to another" in refusal
    assert refusal or is_about(certificate, kind)
    return "another" if refusal else "accepted"


def refusal_from(work: Callable[[], Any]) -> str:
    """Return the one sentence that something is refused with, or nothing."""
    try:
        work()
    except DistinguoError as error:
        sentence = str(error)
    else:
        return ""
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


def is_about(certificate: Any, kind: str) -> bool:
    """Tell whether what was accepted for a run covers its task, and has its controller's decisions everywhere."""
    _, _, controller, task = own(kind)
    claimed = certificate.task
    values = task._asdict()
    low, high = (claimed.low, claimed.high) if kind == "hold" else (claimed.parameters, claimed.parameters)
    states = np.random.default_rng(0).uniform((-1.2, -2.0), (0.6, 2.0), (200, 2)).tolist()
    same = all(
        certificate.controller.actions[region(partition_of(certificate.controller), tuple(s))]
        == np.flatnonzero(controller.preferred(s)).tolist()
        for s in states
    )
    return same and all(low[name] <= values[name] <= high[name] for name in values)


def is_true(certificate: Any) -> bool:
    return _holds(certificate) if isinstance(certificate, HoldCertificate) else _arrives(certificate)


def _holds(certificate: HoldCertificate) -> bool:
    """Take many steps from the cells, by all that the claim allows: none leaves them."""
    rng, cells, task = np.random.default_rng(0), certificate.cells, certificate.task
    matrix = np.array(cells.matrix).reshape(2, 2)
    places = np.argwhere(certificate.alive())
    for i, j in places[rng.integers(0, len(places), STEPS)]:
        place = np.array(cells.low) + (np.array([i, j]) + rng.random(2)) * cells.pitch
        s = tuple(np.linalg.solve(matrix, place).tolist())
        puck = Puck(**{n: rng.choice([task.low[n], task.high[n]]).item() for n in task.low})
        after = [
            _shaken(transition(puck, s, a), task.disturbance, rng, puck) for a in _choices(certificate, s)
        ]
        inside = [_is_inside(certificate, matrix, end) for end in after]
        if not (any(inside) if certificate.controller is None else all(inside)):
            return False
    return True


def _choices(certificate: Any, s: tuple[float, ...]) -> list[int]:
    if certificate.controller is None:
        return [0, 1]
    claim = certificate.controller
    return claim.actions[region(partition_of(claim), s)]


def _shaken(step: Any, disturbance: list[float], rng: np.random.Generator, puck: Puck) -> np.ndarray:
    (x, v), _, fell = step
    end = np.array([x, v]) + rng.choice([-1.0, 1.0], 2) * disturbance
    return np.array([np.inf, np.inf]) if fell or abs(end[0]) >= puck.wall else end


def _is_inside(certificate: HoldCertificate, matrix: np.ndarray, s: np.ndarray) -> bool:
    if not np.isfinite(s).all():
        return False
    place = (matrix @ s - certificate.cells.low) / certificate.cells.pitch
    alive = certificate.alive()
    near = [
        (math.floor(y), math.floor(z)) for y in place[0] + [-1e-9, 1e-9] for z in place[1] + [-1e-9, 1e-9]
    ]
    return any(0 <= i < alive.shape[0] and 0 <= j < alive.shape[1] and alive[i, j] for i, j in near)


def _arrives(certificate: ArrivalCertificate) -> bool:
    """Follow many starts for as long as is claimed."""
    rng, car = np.random.default_rng(0), MountainCar(**certificate.task.parameters)
    partition, claim = partition_of(certificate.controller), certificate.controller
    for (x0, x1, v0, v1), steps in zip(certificate.starts.boxes, certificate.starts.steps, strict=True):
        for share in (0.0, 1.0, *rng.random(3)):
            s, arrived = (x0 + share * (x1 - x0), v0 + share * (v1 - v0)), False
            for _ in range(steps):
                s, _, arrived = transition(
                    car, s, int(rng.choice(claim.actions[region(partition, observe(car, s))]))
                )
                if arrived:
                    break
            if not arrived:
                return False
    return True


@pytest.mark.parametrize("kind", ["hold", "arrive"])
def test_the_truth_is_accepted(kind: str) -> None:
    data = certificate_text(truth(kind)).encode()
    assert forged(json.loads(data)["claim"]) == data
    assert outcome(data, kind) == "accepted"


@pytest.mark.parametrize("kind", ["hold", "arrive"])
def test_every_field_changed(kind: str) -> None:
    claim = truth(kind).model_dump()
    names, counts = set(), {"refused": 0, "another": 0, "accepted": 0}
    for path in leaves(claim):
        value: Any = claim
        for step in path:
            value = value[step]
        for other in others(value):
            if path[0] == "starts" and other == 0.59375 and not NIGHTLY:
                continue  # a box across the whole valley takes the checker half a minute to refuse
            changed = replaced(claim, path, other)
            if kind == "arrive" and path[0] == "starts":
                changed = with_words(changed)
            counts[outcome(forged(changed), kind)] += 1
        names.add(".".join(str(step) for step in path if isinstance(step, str)))
    wanted = {
        "task.name",
        "controller.kind",
        "controller.prototypes",
        "controller.primary",
        "controller.weight",
    }
    assert names >= wanted | {"controller.actions"}
    assert counts["refused"] > 0.6 * sum(counts.values())  # what is left is true, as was seen
    assert sum(counts.values()) > 100


@pytest.mark.parametrize("kind", ["hold", "arrive"])
@settings(max_examples=2000 if NIGHTLY else 40, deadline=None)
@given(data=st.data())
def test_several_fields_changed_at_random(kind: str, data: st.DataObject) -> None:
    claim = truth(kind).model_dump()
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(leaves(claim))))
        value: Any = claim
        for step in path:
            value = value[step]
        numbers = (
            st.floats(allow_nan=False, allow_infinity=False)
            if isinstance(value, float)
            else st.integers(0, 9)
        )
        drawn = data.draw(numbers if isinstance(value, float | int) else st.sampled_from(others(value)))
        claim = replaced(claim, path, drawn)
        if not isinstance(claim, dict) or len(list(leaves(claim))) < 5:
            break
    outcome(forged(claim), kind)


@pytest.mark.parametrize("kind", ["hold", "arrive"])
def test_a_field_left_out_or_added(kind: str) -> None:
    claim = truth(kind).model_dump()
    for name in claim:
        assert outcome(forged({n: v for n, v in claim.items() if n != name}), kind) == "refused"
        if isinstance(claim[name], dict):
            for inner in claim[name]:
                fewer = {n: v for n, v in claim[name].items() if n != inner}
                assert outcome(forged({**claim, name: fewer}), kind) == "refused"
            assert outcome(forged({**claim, name: {**claim[name], "note": 1}}), kind) == "refused"
    assert outcome(forged({**claim, "note": 1}), kind) == "refused"


def test_numbers_that_would_overflow_in_the_program_are_refused() -> None:
    """The checker's numbers never do, so that a nearest prototype may be another one for it than for the program."""
    claim, many = truth("hold").model_dump(), [0.208e160, 0.0909e160]
    assert outcome(forged(replaced(claim, ("controller", "weight"), many)), "hold") == "refused"
    for path in (("task", "high", "wall"), ("controller", "prototypes", 0, 0), ("cells", "low", 0)):
        with pytest.raises(
            DistinguoError, match="was damaged or changed after it was written: Input should be"
        ):
            read_certificate(forged(replaced(claim, path, 1e61)))
    wide = ideal()._replace(weight=np.array(many))
    with pytest.raises(DistinguoError, match="There is no certificate for this controller: Input should be"):
        controller_claim(Controller(wide, GOOD))


def test_another_task_other_parameters_other_arithmetic() -> None:
    data, controller = certificate_text(truth("hold")).encode(), Controller(ideal(), GOOD)
    assert refusal_of(data, controller, Puck()) is None
    for task, why in (
        (Puck(mass=1.3), "The certificate belongs to another task: it is about mass = 1, this has 1.3."),
        (Puck(wall=2.4 - 1e-15), "The certificate belongs to another task: it is about wall = 2.4"),
        (MountainCar(), "The certificate belongs to another task: it is about puck, this is MountainCar-v0."),
        (NoisyPuck(), "There are no certificates about a NoisyPuck."),
        (task_spec("CartPole-v1").task, "There are no certificates about a CartPole."),
    ):
        refusal = refusal_of(data, controller, task)
        assert refusal is not None
        assert refusal.startswith(why)
    other = Controller(ideal(), GOOD[::-1])
    assert refusal_of(data, other, Puck()) == "The certificate belongs to another controller."
    arrival = certificate_text(truth("arrive")).encode()
    assert refusal_of(arrival, Controller(swing(), SWING), CAR) is None
    assert refusal_of(arrival, Controller(swing(), SWING), CAR._replace(force=0.0011)) is not None
