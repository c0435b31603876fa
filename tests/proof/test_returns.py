"""Returns proven by following pieces of the starts: bounds against simulation, and the independent check."""

import math
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from benchmarks.plants import SwingUp
from flint import ctx
from hypothesis import event, given, settings
from hypothesis import strategies as st

import distinguo as dg
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.certificate import certificate_text, read_certificate
from distinguo.proof.checker.check import check
from distinguo.proof.checker.returns import ReturnChecker
from distinguo.proof.declared.flow import Flow
from distinguo.proof.declared.forward import PieceFollower
from distinguo.proof.declared.pieces import Pieces, Window, absorbed, halves, looked_at, renewed
from distinguo.proof.declared.question import policy_claim, program_claim
from distinguo.proof.declared.returns import ask_returns, simulated_trial, why_no_returns
from distinguo.proof.number.program import program_of
from distinguo.proof.question import Request
from distinguo.proof.schema import ReturnCertificate, StartTree
from distinguo.proof.verify import question_by_program, refusal_of
from distinguo.representations.boxes import Boxes, grid
from distinguo.representations.partition import region
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.mountain_car import MountainCar
from tests.nightly import NIGHTLY

from .cars import SWING, swing

TURNS = (0.5, 0.25, 0.125)


@dg.task(states=("x", "y"), actions=("a", "b"), low=(-3, -3), high=(3, 3), threshold=4.0, limit=40)
class Carousel(NamedTuple):
    """States turn; a loop, a tuple of constants, a reward that depends on the state, and two ways to end."""

    pull: float = 0.3

    def transition(self, s, a):
        x, y = s
        turn = 0.0
        for part in TURNS:
            turn += part * self.pull
        while turn > 0.2:
            turn -= 0.11
        c, k = math.cos(turn), math.sin(turn)
        push = 0.05 if a == 1 else -0.05
        x, y = 0.99 * (c * x - k * y) + push, 0.99 * (k * x + c * y) - 0.02 * x * x ** (2.0 + 0.0 * y)
        if y > 1.5:
            y = 1.5
        return (x, y), 0.25 - 0.1 * x * x, x > 1.9 or (x < -0.5 and y < -1.0)

    def start(self, rng):
        return (rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0))


PLANTS = (
    (Carousel(), (1.0, 1.0), (-1.0, 1.0, -1.0, 1.0)),
    (SwingUp(), (3.0, 4.0), (3.0, 3.14, -0.1, 0.1)),
    (MountainCar(), (0.6, 0.05), (-0.6, -0.4, 0.0, 0.0)),
)
SCALE = np.array([4.0, 12.0])


def controller_on(task, spread, rng, count):
    actions = len(spec_of(task).actions)
    places = rng.uniform(-1.0, 1.0, (count, 2)) * spread + (
        -0.5 if isinstance(task, MountainCar) else 0.0,
        0.0,
    )
    values = rng.choice([0.0, -1.0, -2.0], (count, actions))
    return Controller(voronoi(places.tolist(), list(spread)), values)


@settings(max_examples=200 if NIGHTLY else 8, deadline=None)
@given(st.sampled_from(PLANTS), st.integers(2, 4), st.floats(1e-4, 0.05), st.integers(0, 2**32 - 1))
def test_no_trial_falls_below_its_bound(plant, count, width, seed):
    """An independent oracle: the task itself, with any of the tied actions, from corners and random starts."""
    task, spread, (x0, x1, v0, v1) = plant
    rng, cap = np.random.default_rng(seed), 40
    controller = controller_on(task, spread, rng, count)
    low = np.column_stack([rng.uniform(x0, x1, 6), rng.uniform(v0, v1, 6)])
    high = low + width * np.array([x1 - x0, v1 - v0])
    found = PieceFollower(Flow(program_of(task), controller, {}), SCALE, cap).follow(low, high)
    for n in range(len(low)):
        for _ in range(8):
            share = rng.random(2) if rng.random() < 0.6 else rng.integers(0, 2, 2)
            first = tuple(map(float, low[n] + share * (high[n] - low[n])))
            gained, steps, ended = simulated(task, controller, first, cap, rng)
            assert gained >= found.returns[n] - 1e-12
            assert not found.steps[n] or (ended and steps <= found.steps[n])


def simulated(task, controller, s, cap, rng):
    partition, sets = controller.partition, controller.action_sets
    gained = 0.0
    for step in range(cap):
        seen = np.float32(s).astype(float) if isinstance(task, MountainCar) else np.array(s)
        if isinstance(partition, Boxes):
            row = region(partition, tuple(seen))
        else:
            row = partition.regions[
                (((seen - partition.prototypes) * partition.weight) ** 2).sum(axis=1).argmin()
            ]
        a = int(rng.choice(np.flatnonzero(sets[row])))
        s, reward, ended = type(task).transition(task, s, a)
        gained += reward
        if ended:
            return gained, step + 1, True
    return gained, cap, False


@settings(max_examples=200 if NIGHTLY else 8, deadline=None)
@given(st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_shapes_lose_no_state(d, seed):
    """Turning, cutting and renewing a piece keeps every state in one of its parts."""
    rng = np.random.default_rng(seed)
    n, scale = 5, rng.uniform(0.1, 10.0, d)
    columns = rng.normal(size=(n, d, 2 * d)) * np.exp(rng.normal(size=(n, 1, 2 * d)) * 3)
    piece = Pieces(
        rng.normal(size=(n, d)), columns, np.exp(rng.normal(size=(n, d))), np.arange(n), np.zeros(n)
    )
    e, off = rng.uniform(-1, 1, (n, 2 * d)), rng.uniform(-1, 1, (n, d))
    states = piece.centre + (columns @ e[:, :, None])[:, :, 0] + off * piece.rest
    slope, least = rng.normal(size=(n, 2 * d)) * np.exp(2.0 * rng.normal(size=(n, 2 * d))), rng.normal(size=n)
    keeps = ((slope * e).sum(axis=1) + least) <= 0.5
    window = Window.whole(n, 2 * d).within(least, slope, np.full(n, 0.5))
    assert not window.empty[keeps].any()
    assert ((window.low <= e) & (e <= window.high))[keeps].all()
    longest = (columns**2).sum(axis=1).argmax(axis=1)
    for parts, which in (
        (absorbed(piece, scale), np.ones(n, bool)),
        (renewed(piece, scale), np.ones(n, bool)),
        (halves(piece, longest), np.ones(n, bool)),
        (looked_at(piece, window), keeps),
    ):
        inside = np.zeros(n, bool)
        for k in range(len(parts.owner)):
            i = parts.owner[k]
            inside[i] |= contains(parts.at(np.array([k])), states[i])
        assert inside[which].all()


def contains(piece, state):
    """Whether some ``e`` and rest give a state: a linear programme, which our code does not use."""
    from scipy.optimize import linprog

    parts = np.concatenate([piece.columns[0], np.diag(piece.rest[0])], axis=1)
    size = np.abs(parts).sum(axis=1) + 1e-12
    short = (state - piece.centre[0]) / size
    found = linprog(
        np.zeros(parts.shape[1]), A_eq=parts / size[:, None], b_eq=short, bounds=(-1.000001, 1.000001)
    )
    return found.status == 0


def driver():
    """Drives the way that the car moves; brings it up from everywhere."""
    return Controller(swing(), SWING)


@pytest.fixture(scope="module")
def finding():
    return ask_returns(Request(task_spec("MountainCar-v0"), driver(), cells=1_000))


def test_every_start_arrives_and_is_checked(finding):
    answer = finding.answer(True)
    assert answer.proven
    assert answer.share == 1.0
    assert -125 < answer.details["mean_return_at_least"] < -110
    assert answer.details["least_return"] == -answer.details["steps"]
    assert sum(finding.tree.weights) == pytest.approx(1.0)


def few(finding, count=3):
    """The certificate about the first pieces only: it is checked sooner."""
    claim = finding.certificate.model_dump()
    starts, kept = claim["starts"], 0
    for i, cut in enumerate(starts["cuts"]):
        if cut == -1:
            kept += 1
            starts["cuts"][i] = -1 if kept <= count else -2
    starts["returns"], starts["steps"] = starts["returns"][:count], starts["steps"][:count]
    return {**claim, "all_starts": False}


def test_a_certificate_belongs_to_its_controller_and_program(finding):
    kind = type(finding.certificate)
    small = kind.model_validate(few(finding))
    data = certificate_text(small).encode()
    assert read_certificate(data) == small
    assert refusal_of(data, driver(), MountainCar()) is None
    assert "gravity = 0.0025, this has 0.003" in refusal_of(data, driver(), MountainCar(gravity=0.003))
    other = Controller(voronoi([[-0.5, -0.02], [-0.5, 0.01]], [1.8, 0.14]), SWING[:2])
    assert "another controller" in refusal_of(data, other, MountainCar())


def forged(finding, kind):
    claim = few(finding, 2)
    starts, task = claim["starts"], claim["task"]
    if kind == "return":
        starts["returns"][1] += 8.0
    elif kind == "steps":
        starts["steps"][0] -= 8
    elif kind == "starts":
        starts["low"][0][0] += 0.05
        claim["all_starts"] = True
        starts["cuts"] = [-1]
        starts["returns"], starts["steps"] = starts["returns"][:1], starts["steps"][:1]
    elif kind == "gravity":
        task["high"]["gravity"] = 0.0045
    elif kind == "actions":
        claim["controller"]["actions"] = [[0], [0, 1]]
    elif kind == "source":
        task["functions"]["transition"] = task["functions"]["transition"].replace(
            "-1.0, arrived", "-2.0, arrived"
        )
    elif kind == "goal":
        task["low"]["goal_position"] = task["high"]["goal_position"] = 0.59
    return type(finding.certificate).model_validate(claim)


@pytest.mark.parametrize("kind", ["return", "steps", "starts", "gravity", "actions", "source", "goal"])
def test_forged_certificates_are_refused(finding, kind):
    words = "a start may lie outside" if kind == "starts" else "may not gain|actions that"
    with pytest.raises(DistinguoError, match=f"The certificate is wrong.*({words})"):
        check(forged(finding, kind))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cuts": [-1, -1]}, "a piece for every end"),
        ({"cuts": [2, -1, -1]}, "a cut should be a coordinate"),
        ({"cuts": [0, -1, -2]}, "a return and its steps"),
        ({"steps": [999, 10]}, "longer than the limit"),
    ],
)
def test_trees_that_make_no_sense_are_refused(finding, change, words):
    claim = few(finding, 2)
    claim["starts"] |= {"cuts": [0, -1, -1]} | change
    with pytest.raises(ValueError, match=words):
        type(finding.certificate).model_validate(claim)


def test_balls_and_forms_agree_on_loops_constants_and_ends():
    """The checker accepts what the prover claims of a program with a while, a loop over constants and a power."""
    task = Carousel()
    controller = Controller(
        voronoi([[0.1, 0.4], [-0.1, -0.4]], [1.0, 1.0]), np.array([[1.0, 0.0], [0.0, 1.0]])
    )
    found = ask_returns(Request(spec_of(task)._replace(limit=12), controller, cells=1_000))
    claim = few(found, 4)
    assert check(type(found.certificate).model_validate(claim)).cells == 4
    claim["starts"]["returns"] = [number + 0.5 for number in claim["starts"]["returns"]]
    with pytest.raises(DistinguoError, match="may not gain"):
        check(type(found.certificate).model_validate(claim))


def test_a_car_that_stays_is_refuted():
    stays = Controller(voronoi([[-0.5, 0.0]], [1.8, 0.14]), np.array([[0.0, 1.0, 0.0]]))
    found = ask_returns(Request(task_spec("MountainCar-v0"), stays, cells=1_000))
    assert not found.costs  # no trial ever ends
    assert found.answer(True).share == 0.0
    assert found.answer(True).refuted
    assert np.all(found.tree.returns == -200.0)
    assert simulated_trial(MountainCar(), stays, (-0.5, 0.0), 10).gained == -10.0


def test_who_is_asked():
    car = task_spec("MountainCar-v0")
    assert question_by_program(Request(car, driver())).name == "returns"
    assert "not judged by return" in why_no_returns(task_spec("puck"), driver())
    assert "cannot be read" in why_no_returns(car._replace(interpreted=True), driver())


@settings(max_examples=200 if NIGHTLY else 6, deadline=None)
@given(
    st.sampled_from(PLANTS), st.integers(1, 3), st.floats(1e-3, 0.1), st.booleans(), st.integers(0, 2**32 - 1)
)
def test_the_checker_accepts_no_more_than_what_trials_show(plant, count, width, boxed, seed):
    """Claims a little above the least return that was simulated, or one step too early, must be refused."""
    task, spread, (x0, x1, v0, v1) = plant
    rng, cap = np.random.default_rng(seed), 12
    controller = controller_on(task, spread, rng, count)
    if boxed:
        tree = grid([2, 2], (x0, v0 - 0.01), (x1, v1 + 0.01))
        controller = Controller(tree, rng.choice([0.0, -1.0], (4, controller.q.shape[1])))
    low = np.array([rng.uniform(x0, x1), rng.uniform(v0, v1)])
    high = low + width * np.array([x1 - x0, v1 - v0])
    shares = np.vstack([rng.random((12, 2)), [[0, 0], [0, 1], [1, 0], [1, 1]]])
    trials = [
        simulated(task, controller, tuple(map(float, low + e * (high - low))), cap, rng) for e in shares
    ]
    least, longest = min(one[0] for one in trials), max(one[1] for one in trials)
    spec = spec_of(task)
    certificate = ReturnCertificate(
        task=program_claim(program_of(task), {}, Title(spec.name, 2, len(spec.actions))),
        controller=policy_claim(controller, task),
        limit=cap,
        starts=StartTree(low=[low.tolist()], high=[high.tolist()], cuts=[-1], returns=[least], steps=[0]),
        all_starts=False,
    )
    checker = ReturnChecker(certificate)
    corners = low.tolist(), high.tolist()
    with ctx.workprec(100), patch("distinguo.proof.checker.returns.BUDGET", 60):
        assert not checker.keeps(*corners, least + 1e-9, 0, halvings=0)
        assert longest == 1 or not checker.keeps(*corners, least - 9.0, longest - 1, halvings=0)
        accepted = checker.keeps(*corners, least - 0.5, 0, halvings=0)
    event("accepted" if accepted else "undecided")


class Title(NamedTuple):
    name: str
    dimensions: int
    actions: int


@dg.task(states=("x",), actions=("go", "stay"), low=(-1,), high=(1,), threshold=0.0, limit=3)
class Fork(NamedTuple):
    """Grows on one side of 0 only, and fails far out there."""

    def transition(self, s, a):
        x = 1.5 * s[0] if s[0] > 0.0 else 0.5 * s[0]
        return (x,), (-5.0 if x > 0.3 else 0.0), x > 0.3

    def start(self, rng):
        return (rng.uniform(-0.1, 0.1),)


def test_each_way_goes_on_with_the_part_that_takes_it():
    """A trial from 0.1 fails in the third step, one from 0.08 does not; prover and checker must find so."""
    task, only = Fork(), Controller(voronoi([[0.0]], [1.0]), np.array([[0.0, -1.0]]))
    found = ask_returns(Request(spec_of(task), only, cells=1_000))
    assert not found.costs  # steps are free, so an end is not an arrival
    ends = np.array([node.high[0] for node in found.tree.nodes])
    assert (found.tree.returns[ends > 0.0889] <= -5.0).all()
    assert (found.tree.returns[ends < 0.0885] == 0.0).all()
    assert check(found.certificate).cells == len(ends)
    claim = found.certificate.model_dump()
    claim["starts"] |= {"cuts": [-1], "returns": [0.0], "steps": [0]}
    with pytest.raises(DistinguoError, match="may not gain"):
        check(type(found.certificate).model_validate(claim))
