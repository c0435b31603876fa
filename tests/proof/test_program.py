"""Proofs by a task's own program: numbers that stand for sets, the prover, the checker that reads the source."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import distinguo as dg
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.certificate import certificate_text, read_certificate
from distinguo.proof.checker.check import check
from distinguo.proof.checker.duals import Dual, Unclear
from distinguo.proof.checker.source import Evaluator
from distinguo.proof.declared.places import nearest_actions
from distinguo.proof.declared.question import ask_program, why_not
from distinguo.proof.number.form import Form
from distinguo.proof.number.paths import paths
from distinguo.proof.number.program import NotProvableError, Parameters, _Reader, program_of, run
from distinguo.proof.question import Request
from distinguo.proof.schema import ProgramCertificate, ProgramClaim
from distinguo.proof.verify import refusal_of
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.catalog import spec_of, task_spec

FACTOR = 0.97


@dg.task(states=("x", "v"), actions=("left", "right"), low=(-1, -2), high=(1, 2))
class Brick(NamedTuple):
    """A brick on ice between two walls."""

    push: float = 1.0
    dt: float = 0.05

    def transition(self, s, a):
        v = FACTOR * s[1] + self.dt * (self.push if a == 1 else -self.push)
        x = s[0] + self.dt * v
        out = abs(x) > 1.0
        return (x, v), (-1.0 if out else 0.0), out

    def start(self, rng):
        return (0.4 * rng.random() - 0.2, rng.uniform(-0.1, 0.1))


@dg.task(states=("x", "v"), actions=("left", "right"), low=(-1, -2), high=(1, 2))
class AtRest(NamedTuple):
    """The same, always started in the middle."""

    push: float = 1.0
    dt: float = 0.05

    transition = Brick.transition

    def start(self, rng):
        return (0.0, 0.0)


@dg.task(states=("x", "y"), actions=("a", "b"), low=(-2, -2), high=(2, 2))
class Everything(NamedTuple):
    """Every operation that can be followed."""

    p: float = 0.7

    def transition(self, s, a):
        x, y = s
        z = math.sin(x) * math.cos(y) + math.tan(0.3 * x) - math.exp(-y * y)
        w = math.sqrt(abs(x) + 1.0) / (2.0 + x**2) + math.log(3.0 + y) * math.tanh(x - y)
        if x > y:
            z += min(x, 0.5, y + 1.0)
        elif -1.0 <= y < 0.5 or not x < 0.0:
            z -= max(x * y, -0.25)
        for i in range(3):
            w = 0.5 * w + i * self.p
        return (z, w if a == 0 else -w), 0.0, z > 100.0

    def start(self, rng):
        return (0.0, 0.0)


@dg.task(states=("x", "y"), actions=("a", "b"), low=(-2, -2), high=(2, 2))
class Periods(NamedTuple):
    """Remainders, whole periods and signs."""

    period: float = 1.3

    def transition(self, s, a):
        x, y = s
        z = (3.0 * x + math.pi) % (2.0 * math.pi) - math.pi
        if a == 0:
            z += np.mod(x - y, -0.7) * math.sin((y % self.period) ** 2) + 5.0 % (0.4 + x * x)
        else:
            z += np.fmod(x, 0.9) * math.copysign(x, y) - 2.0 * x // (0.6 + y * y)
        return (z, math.floor(x) + 0.5 * math.ceil(y) + np.copysign(0.25, x)), 0.0, z > 100.0

    def start(self, rng):
        return (0.0, 0.0)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([Everything(), Periods()]),
    st.lists(st.tuples(*[st.floats(-1.9, 1.9)] * 2), min_size=1, max_size=4),
    st.floats(1e-9, 0.4),
    st.integers(0, 1),
    st.integers(0, 2**32 - 1),
)
def test_forms_enclose_what_the_program_computes(task, centres, width, a, seed):
    program = program_of(task)
    corners = np.array(centres).T
    rng = np.random.default_rng(seed)
    turn = rng.uniform(-width, width, (2, 2))
    forms = Form.of_cells(corners, turn)

    def step(rows):
        fields = Parameters(program.parameters, {}, (2, len(rows)))
        return program.step(fields, tuple(form.at(rows) for form in forms), a)[0]

    with np.errstate(all="ignore"):
        found = list(paths(step, len(centres)))
    for n in range(len(centres)):
        for _ in range(20):
            e = rng.uniform(-1, 1, 2) if rng.random() < 0.7 else rng.choice([-1.0, 1.0], 2)
            s = tuple(float(number) for number in corners[:, n] + turn @ e)
            if any(not form.low[n] <= number <= form.high[n] for form, number in zip(forms, s, strict=True)):
                continue  # rounding moved the point out of the cell
            after = type(task).transition(task, s, a)[0]
            inside = [
                all(
                    form.low[place] <= number <= form.high[place]
                    and abs(number - form.centre[place] - e @ form.gradient[:, place])
                    <= form.radius[place] + 1e-13  # of our own sum
                    for form, number in zip(path.result, after, strict=True)
                )
                for path in found
                for place in np.flatnonzero(np.isin(path.rows, n))
                for place in [path.kept[place]]
            ]
            assert any(inside)


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from([Everything(), Periods()]),
    st.tuples(*[st.floats(-1.9, 1.9)] * 2),
    st.floats(1e-9, 0.3),
    st.integers(0, 1),
    st.integers(0, 2**32 - 1),
)
def test_balls_enclose_what_the_program_computes(task, centre, width, a, seed):
    rng = np.random.default_rng(seed)
    with ctx.workprec(100):
        evaluator = Evaluator(_claim(task))
        turn = rng.uniform(-width, width, (2, 2))
        block = []
        for i in (0, 1):
            slopes = tuple(arb(number) for number in turn[i])
            middle = arb(centre[i])
            block.append(Dual(middle, sum((slope * arb(0, 1) for slope in slopes), start=middle), slopes))
        try:
            ways = [after for after, _ in evaluator.steps(tuple(block), a, True)]
        except Unclear:
            return
        for _ in range(20):
            s = tuple(float(number) for number in np.array(centre) + turn @ rng.uniform(-0.999, 0.999, 2))
            after = type(task).transition(task, s, a)[0]
            assert any(
                all(
                    number.tightened().range.contains(arb(value))
                    for number, value in zip(way, after, strict=True)
                )
                for way in ways
            )


def test_a_cell_at_a_multiple_becomes_its_two_parts():
    """Not the hull of them, from 0 to the period: neither by the prover nor by the checker."""
    cells = Form.of_cells(np.array([[0.5, 1.0, 1.5, -0.25]]), np.array([[0.1]]))[0]
    found = list(paths(lambda rows: cells.at(rows) % 1.0, 4))
    parts = sorted(
        (int(row), *(float(end[place].round(9)) for end in (path.result.low, path.result.high)))
        for path in found
        for row, place in zip(path.rows, path.kept, strict=True)
    )
    assert parts == [(0, 0.4, 0.6), (1, 0.0, 0.1), (1, 0.9, 1.0), (2, 0.4, 0.6), (3, 0.65, 0.85)]
    step = {"transition": "def transition(self, s, a):\n    return (s[0] % 1.0, s[1]), 0.0, False"}
    evaluator = Evaluator(_claim(Brick()).model_copy(update={"functions": step}))
    slopes = (arb(0.1), arb(0))
    state = (Dual(arb(1), arb(1, 0.1), slopes), Dual(arb(0), arb(0), (arb(0), arb(0))))
    ends = sorted(
        tuple(abs(round(float(end), 7)) for end in (after[0].range.lower(), after[0].range.upper()))
        for after, _ in evaluator.steps(state, 0, True)
    )
    assert ends == [(0.0, 0.1), (0.9, 1.0)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_a_set_may_take_the_actions_of_all_its_states_and_of_larger_sets_no_fewer(seed, count):
    rng = np.random.default_rng(seed)
    partition = voronoi(rng.normal(size=(count, 2)).tolist(), [1.0, 2.0])
    sets = np.eye(count, dtype=bool)
    centre, turn = rng.normal(size=(2, 1)), 0.3 * rng.normal(size=(2, 2))
    large = nearest_actions(partition, sets, Form.of_cells(centre, turn))[:, 0]
    inner = centre + turn @ rng.uniform(-0.5, 0.5, (2, 1))
    small = nearest_actions(partition, sets, Form.of_cells(inner, 0.5 * turn))[:, 0]
    assert (large | ~small).all()
    for e in rng.uniform(-1, 1, (40, 2)):
        away = ((centre[:, 0] + turn @ e) - partition.prototypes) * partition.weight
        assert large[(away**2).sum(axis=1).argmin()]


@dg.task(states=("angle", "rate"), actions=("slower", "faster"), low=(0, 0), high=(2 * math.pi, 1))
class Turntable(NamedTuple):
    """It turns for ever, at a speed that should be neither too high nor too low."""

    def transition(self, s, a):
        rate = 0.97 * s[1] + 0.03 * (a + 0.1 * math.sin(s[0]))
        out = abs(rate - 0.5) > 0.4
        return ((s[0] + 0.3 * rate) % (2.0 * math.pi), rate), (-1.0 if out else 0.0), out

    def start(self, rng):
        return (rng.uniform(0.0, 6.28), 0.5)


def test_a_plant_that_turns_past_its_period_is_proven_and_checked():
    controller = Controller(voronoi([[3, 0.3], [3, 0.7]], [0.1, 1.0]), np.array([[-1.0, 0.0], [0.0, -1.0]]))
    found = ask_program(Request(spec_of(Turntable()), controller, cells=900))
    with ctx.workprec(100):
        assert check(found.certificate).cells == found.attempt.alive.sum()
    assert found.answer(True).proven
    # without the cells that is reached past 2 pi, which nobody crosses in so few steps, it is refused
    claim = found.certificate.model_dump()
    assert claim["steps"] == 8
    first = claim["cells"]["counts"][0] * 2 // 5 * claim["cells"]["counts"][1]
    claim["cells"]["runs"] = [run for run in claim["cells"]["runs"] if run[0] >= first]
    claim["all_starts"] = False
    with pytest.raises(DistinguoError, match="may leave the set"):
        check(type(found.certificate).model_validate(claim))


def _claim(task):
    program = program_of(task)
    numbers = {name: float(value) for name, value in program.parameters.items()}
    return ProgramClaim(
        name="task",
        functions=program.functions,
        names=program.names,
        constants=program.constants,
        low=numbers,
        high=numbers,
        dimensions=2,
        actions=2,
    )


def _diagonal():
    return Controller(voronoi([[0.3, 0.6], [-0.3, -0.6]], [2.0, 4.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))


@pytest.fixture(scope="module")
def finding():
    return ask_program(Request(spec_of(Brick()), _diagonal(), cells=2_500))


def test_all_starts_are_proven_and_checked(finding):
    with ctx.workprec(100):
        check(finding.certificate)
    answer = finding.answer(True)
    assert answer.proven
    assert answer.share == 1.0
    assert answer.details["share_of_surviving_states"] > 0.9


def test_starts_on_an_edge_between_cells_are_proven_and_checked():
    """With 32 cells each way, zero is exactly an edge of both coordinates."""
    task, two = AtRest(), voronoi([[-0.3, -0.6], [0.3, 0.6]], [1.0, 1.0])
    back = Controller(two, np.array([[0.0, 1.0], [1.0, 0.0]]))
    certificate = ask_program(Request(spec_of(task), back, cells=1_024)).certificate
    cells = certificate.cells
    assert [
        low + n // 2 * pitch for low, n, pitch in zip(cells.low, cells.counts, cells.pitch, strict=True)
    ] == [0, 0]
    assert certificate.all_starts
    check(certificate)
    alive = cells.alive()
    side = alive.shape[1]
    corner = alive.size // 2 + side // 2  # the cell above the start, and those around it
    gone = [[first, last] for first, last in cells.runs if not first <= corner <= last]
    with pytest.raises(DistinguoError, match="start"):
        check(certificate.model_copy(update={"cells": cells.model_copy(update={"runs": gone})}))


def test_proven_states_never_fail(finding):
    """An independent oracle: the program itself, from corners and random states of proven cells."""
    lattice, alive = finding.attempt.lattice, finding.attempt.alive
    rng, task, controller = np.random.default_rng(0), Brick(), _diagonal()
    cells = rng.choice(np.flatnonzero(alive), 200)
    places = lattice.places(cells).T + np.where(
        rng.random((200, 2)) < 0.5, rng.random((200, 2)), rng.integers(0, 2, (200, 2))
    )
    partition = controller.partition
    for s in places * lattice.pitch + lattice.low:
        s = tuple(map(float, s))
        for _ in range(400):
            nearest = (((np.array(s) - partition.prototypes) * partition.weight) ** 2).sum(axis=1).argmin()
            s, _, out = Brick.transition(task, s, int(nearest))
            assert not out


def test_a_certificate_belongs_to_its_controller_and_program(finding):
    data = certificate_text(finding.certificate).encode()
    assert read_certificate(data) == finding.certificate
    assert refusal_of(data, _diagonal(), Brick()) is None
    assert "push = 1, this has 1.5" in refusal_of(data, _diagonal(), Brick(push=1.5))
    other = Controller(voronoi([[0.3, 0.5], [-0.3, -0.6]], [2.0, 4.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    assert "another controller" in refusal_of(data, other, Brick())
    assert "other functions" in refusal_of(data, _diagonal(), Everything())


def _forged(certificate, rng):
    """A changed certificate: cells, steps, parameters, actions, coordinates or source."""
    claim = certificate.model_dump()
    kind = rng.integers(7)
    cells = claim["cells"]
    if kind == 0:  # more cells
        run = cells["runs"][rng.integers(len(cells["runs"]))]
        run[rng.integers(2)] += int(rng.integers(-40, 40))
    elif kind == 1:
        cells["low"][rng.integers(2)] += float(rng.normal() * 0.3)
    elif kind == 2:
        cells["pitch"][rng.integers(2)] *= float(np.exp(rng.normal() * 0.3))
    elif kind == 3:
        name = ["push", "dt"][rng.integers(2)]
        claim["task"]["high"][name] = claim["task"]["high"][name] * float(np.exp(abs(rng.normal())))
    elif kind == 4:
        claim["controller"]["actions"][rng.integers(2)] = [int(rng.integers(2))]
    elif kind == 5:
        claim["controller"]["prototypes"][rng.integers(2)][rng.integers(2)] += float(rng.normal())
    else:
        source = claim["task"]["functions"]
        source["transition"] = source["transition"].replace("> 1.0", f"> {0.5 + rng.random():.3f}")
    return claim


def test_forged_certificates_are_refused_or_true(finding):
    """What the checker accepts of changed certificates must be true in simulation."""
    rng = np.random.default_rng(1)
    kind, refused = type(finding.certificate), 0
    for _ in range(12):
        try:
            forged = kind.model_validate(_forged(finding.certificate, rng))
            check(forged)
        except (DistinguoError, ValueError):
            refused += 1
            continue
        _simulate(forged, rng)
    assert refused >= 4


def _simulate(forged, rng):
    """Follow random states of the claimed cells by the claimed source, executed as Python."""
    space = {"math": math, "FACTOR": forged.task.constants["FACTOR"]}
    exec(forged.task.functions["transition"], space)  # the test wrote this source itself
    cells, claim = forged.cells, forged.controller
    flat = rng.choice(np.flatnonzero(cells.alive().ravel()), 40)
    places = np.array(np.unravel_index(flat, cells.counts)).T + rng.random((40, 2))
    weight, prototypes = np.array(claim.weight), np.array(claim.prototypes)
    for s in places * np.array(cells.pitch) + np.array(cells.low):
        task = Brick(
            **{name: rng.choice([forged.task.low[name], forged.task.high[name]]) for name in forged.task.low}
        )
        s = tuple(map(float, s))
        for _ in range(150):
            nearest = (((np.array(s) - prototypes) * weight) ** 2).sum(axis=1).argmin()
            s, _, out = space["transition"](task, s, int(rng.choice(claim.actions[nearest])))
            assert not out


gain = 0.5


class Strange(NamedTuple):
    push: float = 0.1

    def reads(self, s, a):
        return (s[0] * gain,), 0.0, False

    def loops(self, s, a):
        while True:
            a += 1
        return (s[0],), 0.0, False

    def listens(self, s, a):
        return (s[0] + np.random.random(),), 0.0, False  # noqa: NPY002

    def opens(self, s, a):
        return (s[0] + len(open("x")),), 0.0, False


@pytest.mark.parametrize(
    ("name", "words"),
    [("reads", "the global gain"), ("loops", "a while"), ("opens", "open"), ("listens", "numpy.random")],
)
def test_what_cannot_be_followed_is_refused_with_its_line(name, words):
    with pytest.raises(NotProvableError, match=words):
        _follow(name)


def _follow(name):
    step = _Reader("Strange").rebuilt(name, getattr(Strange, name))
    program = program_of(Brick())._replace(step=step)
    forms = Form.of_cells(np.array([[0.5]]), np.array([[0.1]]))
    run(program, lambda: list(paths(lambda rows: step(Parameters({"push": 0.1}, {}, (1, 1)), forms, 0), 1)))


def test_reasons_why_a_task_is_not_asked():
    assert "judged by return" in why_not(task_spec("CartPole-v1"), _diagonal())
    wide = spec_of(Brick())._replace(low=(-1.0,) * 4, high=(1.0,) * 4)
    assert "4 dimensions" in why_not(wide, _diagonal())
    assert "infinite" in why_not(spec_of(Brick())._replace(high=(1.0, math.inf)), _diagonal())


def test_the_source_of_a_certificate_is_never_executed(finding):
    claim = finding.certificate.model_dump()
    claim["task"]["functions"]["transition"] = (
        "def transition(self, s, a):\n    return __import__('os').getcwd()\n"
    )
    with pytest.raises(DistinguoError, match="cannot be checked"):
        check(type(finding.certificate).model_validate(claim))


@pytest.mark.parametrize("steps", [2, 3])
def test_the_number_of_steps_is_part_of_the_claim(steps):
    """States around 3.5 come back after exactly three steps."""
    source = {
        "transition": "def transition(self, s, a):\n"
        "    x = s[0] + 1.0\n"
        "    return (3.5 + 0.5 * (x - 6.5) if x > 6.0 else x,), 0.0, False",
        "start": "def start(self, rng):\n    return (3.5,)",
    }
    low = {"name": "turns", "functions": source, "names": {}, "constants": {}, "low": {}, "high": {}}
    cells = {"matrix": [[1.0]], "low": [2.6], "pitch": [0.6], "counts": [2], "runs": [[1, 1]]}
    claim = {
        "task": {**low, "dimensions": 1, "actions": 1},
        "controller": None,
        "steps": steps,
        "cells": cells,
    }
    certificate = ProgramCertificate.model_validate({**claim, "all_starts": False})
    if steps == 3:
        assert check(certificate).cells == 1
        return
    with pytest.raises(DistinguoError, match="may leave the set"):
        check(certificate)
