"""False proofs about declared tasks: cells, sets for any controller, returns, cores. What is accepted is true.

A number, a name, a rule of the source or a part of a list is changed at random, one to three times. The oracle runs
the source of what was accepted as plain Python, by all that it claims: any tied action, any parameter, any noise.
"""

from __future__ import annotations

import ast
import math
import random
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from benchmarks.plants import SwingUp
from numba import config

import distinguo as dg
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.certificate import certificate_text
from distinguo.proof.checker.check import check
from distinguo.proof.declared.question import ask_program, certify_declared, why_not
from distinguo.proof.declared.returns import ask_returns
from distinguo.proof.declared.tube import ask_core
from distinguo.proof.question import Request
from distinguo.proof.schema import (
    Certificate,
    CoreCertificate,
    LawsClaim,
    ProgramCertificate,
    ReturnCertificate,
    TreeClaim,
)
from distinguo.proof.verify import refusal_of
from distinguo.representations.boxes import grid
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.amounts import with_laws
from distinguo.tasks.catalog import spec_of
from tests.nightly import so_many

from .test_core import DRIFTS, GOOD, Broom, across
from .test_forged import leaves, others, replaced

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells")

COUNTS = {
    "cells": (6, 1_200),
    "any": (2, 900),
    "range": (2, 900),
    "noise": (2, 900),
    "returns": (2, 900),
    "laws": (2, 900),
    "boxes": (2, 900),
    "core": (0, 250),
    "tube": (0, 150),
}  #: forged certificates of each kind, by day and by night
SAMPLES, FAR = 40, 400  #: trials that judge what is accepted, and steps of a claim about all time


@dg.task(states=("x", "v"), actions=("left", "right"), low=(-1, -2), high=(1, 2))
class Sledge(NamedTuple):
    """A sledge between two walls, in gusts of wind."""

    push: float = 2.0
    gust: float = 0.0
    rng: np.random.Generator = np.random.default_rng(0)

    def transition(self, s: Any, a: int) -> Any:
        wind = self.gust * self.rng.uniform(-1.0, 1.0)
        v = 0.96 * s[1] + 0.05 * ((self.push if a == 1 else -self.push) + wind)
        x = s[0] + 0.05 * v
        out = abs(x) > 1.0
        return (x, v), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.2, 0.2), rng.uniform(-0.1, 0.1))


@dg.task(states=("x", "v"), observations=("x2", "v"), actions=dg.amounts(-2, 2), low=(-2, -2), high=(2, 2))
class Driven(NamedTuple):
    """The same sledge, driven by any force that its motor has; it is seen a little larger."""

    wall: float = 1.0

    def transition(self, s: Any, u: float) -> Any:
        v = 0.96 * s[1] + 0.05 * u
        x = s[0] + 0.05 * v
        out = abs(x) > self.wall
        return (x, v), (-1.0 if out else 0.0), out

    def observe(self, s: Any) -> Any:
        return (2.0 * s[0], s[1])

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.2, 0.2), rng.uniform(-0.1, 0.1))


@cache
def driven() -> Any:
    """One law brings the sledge back from the right, the other from the left; both saturate there."""
    return with_laws(spec_of(Driven()), [[[-1.5, -1.0, 0.05]], [[-2.5, -1.5, -0.05]]])


BACK = Controller(voronoi([[-0.3, -0.5], [0.3, 0.5]], [1.0, 1.0]), np.array([[0.0, 1.0], [1.0, 0.0]]))
BOXED = Controller(
    grid([3, 3], (-1.0, -2.0), (1.0, 2.0)),  # by x and then by v, low before high
    np.array([[0.0, 1.0]] * 3 + [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]] + [[1.0, 0.0]] * 3),
)
SWINGS = Controller(
    voronoi([[3.14, 1.0], [3.14, -1.0], [0.3, 0.0]], [1.0, 2.0]),
    np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
)


@cache
def truth(kind: str) -> Any:
    """A small certificate that is true."""
    if kind == "any":
        return certify_declared(spec_of(Sledge()), 900)
    if kind == "returns":
        return ask_returns(Request(spec_of(SwingUp())._replace(limit=25), SWINGS)).certificate
    if kind in ("core", "tube"):
        return ask_core(Request(spec_of(Broom()), across(GOOD if kind == "core" else DRIFTS))).certificate
    if kind == "laws":
        return ask_program(Request(driven(), BACK, cells=900)).certificate
    task = Sledge(gust=0.4) if kind == "noise" else Sledge()
    ranges = {"push": (1.9, 2.1)} if kind == "range" else {}
    controller = BOXED if kind == "boxes" else BACK
    return ask_program(Request(spec_of(task), controller, cells=900, ranges=ranges)).certificate


# ---- forging -------------------------------------------------------------------------------------------------------


class _Rules(ast.NodeTransformer):
    """Changes one rule of a source: a number, an operation or a comparison."""

    def __init__(self, rng: random.Random, at: int) -> None:
        self.rng, self.at, self.seen = rng, at, 0

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if not isinstance(node, ast.Constant | ast.BinOp | ast.Compare | ast.UnaryOp):
            return node
        self.seen += 1
        if self.seen != self.at:
            return node
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            near = [node.value * 1.001, node.value * 0.7, -node.value, node.value + 1, 0.0]
            return ast.Constant(self.rng.choice(near))
        if isinstance(node, ast.BinOp):
            node.op = self.rng.choice([ast.Add(), ast.Sub(), ast.Mult(), ast.Div()])
        if isinstance(node, ast.Compare):
            node.ops = [self.rng.choice([ast.Lt(), ast.Gt(), ast.LtE(), ast.GtE()]) for _ in node.ops]
        return node.operand if isinstance(node, ast.UnaryOp) else node


def other_source(source: str, rng: random.Random) -> str:
    """A source with another rule."""
    tree = ast.parse(source)
    rules = _Rules(rng, 0)
    rules.visit(tree)
    return ast.unparse(ast.fix_missing_locations(_Rules(rng, rng.randint(1, rules.seen)).visit(tree)))


def forged(claim: Any, rng: random.Random) -> Any:
    """The claim with one to three changes, each in a part of its own."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        paths = [path for path in leaves(claim) if path]
        part = rng.choice(sorted({path[:2] for path in paths if path[0] != "runs"}, key=str))
        path = rng.choice([path for path in paths if path[: len(part)] == part])
        value: Any = claim
        for step in path:
            value = value[step]
        if isinstance(value, str) and "\n" in value:
            other: Any = other_source(value, rng)
        elif isinstance(value, bool):
            other = not value
        elif isinstance(value, int | float) and rng.random() < 0.7:
            other = type(value)(
                value * rng.choice([0.5, 0.9, 0.999, 1.001, 1.1, 2.0]) + rng.choice([0, 0, 1])
            )
        else:
            other = rng.choice(others(value))
        claim = replaced(claim, path, other)
    return claim


# ---- the oracle ----------------------------------------------------------------------------------------------------


class _Noise:
    """Draws at the ends as well as between them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        return low + (high - low) * self.random()

    def random(self) -> float:
        return self.rng.choice([0.0, 1.0 - 2.0**-53, self.rng.random()])


class Told:
    """A task as a certificate tells it, as plain Python."""

    def __init__(self, claim: Any, rng: random.Random) -> None:
        space: dict[str, Any] = {"math": math, "np": np, "numpy": np, **claim.constants}
        for source in claim.functions.values():
            exec(source, space)  # the test wrote this source itself
        self.space, self.claim, self.rng = space, claim, rng

    def fields(self) -> Any:
        low, high = self.claim.low, self.claim.high
        drawn = {name: self.rng.choice([low[name], high[name]]) for name in low}
        return SimpleNamespace(**drawn, rng=_Noise(self.rng))

    def start(self) -> tuple[float, ...]:
        return tuple(map(float, self.space["start"](self.fields(), _Noise(self.rng))))

    def step(self, s: tuple[float, ...], a: int) -> Any:
        after, reward, ended = self.space["transition"](self.fields(), s, a)
        return tuple(map(float, after)), float(reward), bool(ended)

    def choice(self, controller: Any, s: tuple[float, ...]) -> Any:
        seen = self.space["observe"](self.fields(), s) if "observe" in self.claim.functions else s
        if isinstance(controller, TreeClaim):
            node = 0
            while (axis := controller.axis[node]) >= 0:
                node = (controller.below if seen[axis] < controller.cut[node] else controller.above)[node]
            return int(self.rng.choice(controller.actions[controller.below[node]]))
        away = (np.array(controller.prototypes) - seen) * np.array(controller.weight)
        a = int(self.rng.choice(controller.actions[(away**2).sum(axis=1).argmin()]))
        if not isinstance(controller, LawsClaim):
            return a
        (law,), (low,), (high,) = controller.laws[a], controller.low, controller.high
        return float(np.clip(np.dot(law[:-1], seen) + law[-1], low, high))


def is_true(certificate: Certificate, rng: random.Random) -> bool:
    """Whether simulated trials agree with all that a certificate claims."""
    told = Told(certificate.task, rng)
    if isinstance(certificate, ProgramCertificate):
        return _stays(certificate, told)
    if isinstance(certificate, CoreCertificate):
        return all(_lasts(certificate, told) for _ in range(SAMPLES))
    assert isinstance(certificate, ReturnCertificate)
    return all(_gains(certificate, told) for _ in range(SAMPLES))


def _is_held(certificate: ProgramCertificate, alive: np.ndarray, s: tuple[float, ...]) -> bool:
    place = (np.array(certificate.cells.matrix) @ s - certificate.cells.low) / certificate.cells.pitch
    near = {tuple(np.floor(place + off).astype(int)) for off in (-1e-9, 1e-9)}
    return any(
        all(0 <= i < n for i, n in zip(cell, alive.shape, strict=True)) and alive[cell] for cell in near
    )


def _stays(certificate: ProgramCertificate, told: Told) -> bool:
    rng, alive = told.rng, certificate.cells.alive()
    places, inverse = np.argwhere(alive), np.linalg.inv(certificate.cells.matrix)
    if certificate.all_starts and not all(_is_held(certificate, alive, told.start()) for _ in range(SAMPLES)):
        return False
    for _ in range(SAMPLES):
        inner = [rng.choice([1e-6, 1.0 - 1e-6, rng.random()]) for _ in alive.shape]
        place = certificate.cells.low + (rng.choice(places) + inner) * certificate.cells.pitch
        first = tuple((inverse @ place).tolist())
        if certificate.controller is not None:
            if not _returns(certificate, told, alive, first, None):
                return False
        elif not any(_returns(certificate, told, alive, first, a) for a in range(certificate.task.actions)):
            return False
    return True


def _returns(certificate: Any, told: Told, alive: np.ndarray, s: tuple[float, ...], a: int | None) -> bool:
    for _ in range(certificate.steps):
        s, _, ended = told.step(s, told.choice(certificate.controller, s) if a is None else a)
        if ended:
            return False
        if _is_held(certificate, alive, s):
            return True
    return False


def _lasts(certificate: CoreCertificate, told: Told) -> bool:
    s = told.start()
    for _ in range(FAR if certificate.closes else certificate.steps):
        s, reward, ended = told.step(s, told.choice(certificate.controller, s))
        if ended or certificate.reward not in (None, reward):
            return False
    return True


def _gains(certificate: ReturnCertificate, told: Told) -> bool:
    s, gained, starts = told.start(), 0.0, certificate.starts
    found = [
        number
        for (low, high), number in starts.pieces()
        if all(a <= x <= b for a, x, b in zip(low, s, high, strict=True))
    ]
    if not found or min(found) < 0:
        return not certificate.all_starts
    least, most = min(starts.returns[n] for n in found), max(starts.steps[n] for n in found)
    for step in range(1, certificate.limit + 1):
        s, reward, ended = told.step(s, told.choice(certificate.controller, s))
        gained += reward
        if ended:
            return gained >= least - 1e-9 and step <= (most or math.inf)
    return gained >= least - 1e-9 and most == 0


# ---- the tests -----------------------------------------------------------------------------------------------------


def kinds(column: int) -> list[str]:
    """The kinds of which some are tested."""
    return [kind for kind, counts in COUNTS.items() if so_many(*counts) and counts[column]]


@pytest.mark.parametrize("kind", kinds(0))
def test_the_truth_is_accepted_and_true(kind: str) -> None:
    certificate = truth(kind)
    check(certificate)
    assert is_true(certificate, random.Random(0))


@pytest.mark.parametrize("kind", kinds(1))
def test_what_is_accepted_of_forged_certificates_is_true(kind: str) -> None:
    certificate, rng = truth(kind), random.Random(kind)
    claim, model, refused = certificate.model_dump(), type(certificate), 0
    count = so_many(*COUNTS[kind])
    for _ in range(count):
        lie = forged(claim, rng)
        try:
            one = model.model_validate(lie)
            check(one)
        except (DistinguoError, ValueError):
            refused += 1
            continue
        assert is_true(one, rng), one
    assert refused >= 0.4 * count


@pytest.mark.parametrize("gain", [-1.0, -0.1, 0.0, 0.02])
def test_laws_with_other_gains_are_refused(gain: float) -> None:
    """Gains of another sign, none, and too small ones, each in the file of a certificate that is true."""
    lie = truth("laws").model_dump()
    for law in lie["controller"]["laws"]:
        law[0][:2] = [gain * number for number in law[0][:2]]
    one = ProgramCertificate.model_validate(lie)
    with pytest.raises(DistinguoError, match="may leave the set"):
        check(one)
    assert gain > -1.0 or not is_true(one, random.Random(0))


def test_a_certificate_of_other_laws_is_refused() -> None:
    """It is about another controller, even if it is true."""
    other = with_laws(driven(), 1.0001 * driven().task.laws.table)
    data = certificate_text(truth("laws")).encode()
    assert refusal_of(data, BACK, driven().task) is None
    assert refusal_of(data, BACK, other.task) == "The certificate belongs to another controller."


def test_the_oracle_finds_what_is_false() -> None:
    """Claims that the checker refuses, and that trials refute."""
    claim = truth("cells").model_dump()
    far = {"low": {**claim["task"]["low"], "push": -2.0}, "high": {**claim["task"]["high"], "push": -2.0}}
    for lie in (
        replaced(claim, ("controller", "actions"), claim["controller"]["actions"][::-1]),
        replaced(claim, ("task",), {**claim["task"], **far}),
        replaced(claim, ("cells", "runs"), claim["cells"]["runs"][:2]),
    ):
        one = ProgramCertificate.model_validate(lie)
        with pytest.raises(DistinguoError):
            check(one)
        assert not is_true(one, random.Random(0))


@pytest.mark.parametrize("gain", [1e3, 1e30, 1e300])
def test_gains_that_blow_up_are_followed_or_named(gain: float) -> None:
    """A law with huge gains is a switch; beyond what the checker's numbers hold it is refused in a sentence."""
    spec = with_laws(driven(), -gain * np.abs(driven().task.laws.table))
    why = why_not(spec, BACK)
    assert (why == "a law of Driven has a gain of 2.5e+300, and proofs go up to 1e+60") == (gain == 1e300)
    if why is None:
        certificate = ask_program(Request(spec, BACK, cells=900)).certificate
        assert (
            certificate is None or refusal_of(certificate_text(certificate).encode(), BACK, spec.task) is None
        )
