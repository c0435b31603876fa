"""Whatever an agent wants, a shielded task of anybody's never fails, also where no single step leads back."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import gymnasium
import numpy as np
import pytest
from numba import config

import distinguo as dg
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.simulate import evaluate
from distinguo.proof.certificate import certificate_text
from distinguo.proof.checker.check import check
from distinguo.proof.declared.guard import ProgramGuard
from distinguo.proof.declared.question import ask_program, certify_declared, policy_claim, why_not
from distinguo.proof.question import Request
from distinguo.proof.shield import OUTSIDE, REPLACED, Shield
from distinguo.proof.verify import refusal_of
from distinguo.representations.partition import region
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.catalog import spec_of
from tests.nightly import so_many

from .test_forged_programs import BACK as LAWFUL
from .test_forged_programs import BOXED, Sledge, driven

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells")


@dg.task(states=("x", "v"), actions=("left", "right"), low=(-1, -2), high=(1, 2))
class Brick(NamedTuple):
    """A brick on ice between two walls."""

    push: float = 1.0

    def transition(self, s, a):
        v = 0.97 * s[1] + 0.05 * (self.push if a == 1 else -self.push)
        x = s[0] + 0.05 * v
        out = abs(x) > 1.0
        return (x, v), (-1.0 if out else 0.0), out

    def start(self, rng):
        return (0.4 * rng.random() - 0.2, rng.uniform(-0.1, 0.1))


@dg.task(states=("x", "v"), actions=("left", "none", "right"), low=(-1, -2), high=(1, 2))
class Gusty(NamedTuple):
    """The same in gusts of wind, with a spring."""

    rng: np.random.Generator = np.random.default_rng(0)

    def transition(self, s, a):
        v = s[1] + 0.05 * ((a - 1) + 0.3 * self.rng.uniform(-1.0, 1.0) - 0.2 * math.sin(s[0]))
        x = s[0] + 0.05 * v
        out = abs(x) > 1.0
        return (x, v), (-1.0 if out else 0.0), out

    def start(self, rng):
        return (0.0, 0.0)


def _diagonal(actions=2):
    last = actions - 1
    q = np.full((2, actions), -1.0)
    q[0, 0] = q[1, last] = 0.0
    return Controller(voronoi([[0.3, 0.6], [-0.3, -0.6]], [2.0, 4.0]), q)


@functools.cache
def _certificates(kind):
    spec = spec_of(kind())
    own = ask_program(Request(spec, _diagonal(len(spec.actions)), cells=2_500)).certificate
    return own, certify_declared(spec, 2_500)


@pytest.mark.parametrize("task", [Brick(), Gusty()])
def test_shielded_random_agents_never_fail(task):
    for certificate in _certificates(type(task)):
        check(certificate)
        guard = ProgramGuard(certificate, task)
        low, high = spec_of(task).low, spec_of(task).high
        states = np.random.default_rng(0).uniform(low, high, (200, 2))
        inside = int(guard.all_held(states).sum())
        steps = so_many(150, nightly=15_000)
        assert inside > 50
        assert guard.walk(states, steps, seed=1) == inside * steps


@pytest.mark.parametrize("which", [0, 1])
def test_in_the_set_an_action_is_always_allowed_and_some_are_refused(which):
    guard = ProgramGuard(_certificates(Brick)[which], Brick())
    states = np.random.default_rng(2).uniform((-1, -2), (1, 2), (300, 2))
    states = states[guard.all_held(states)]
    masks = np.array([guard.allowed_actions(s) for s in states])
    assert masks.any(axis=1).all()
    assert not masks.all()


def test_a_guard_that_forgets_its_detour_would_fail():
    """From some states of the set no step leads back: what the certified action begins must be carried on."""
    guard = ProgramGuard(_certificates(Brick)[1], Brick())
    states = np.random.default_rng(2).uniform((-1, -2), (1, 2), (2_000, 2))
    states = states[guard.all_held(states)]
    stuck = states[~guard.returning(states).any(axis=1)]
    assert len(stuck)
    for s in stuck[:20]:
        held = guard.certified_action(s)
        assert held is not None
        s, steps = tuple(s), 0
        while steps == 0 or not guard.holds(s):
            assert guard.allowed_actions(s, held if steps else None)[held]
            s, _, failed = Brick().transition(s, held)
            steps += 1
            assert not failed
        assert 1 < steps <= guard.certificate.steps


def test_ranges_are_enclosed():
    """An action is allowed only if it is safe for every value of a parameter."""
    exact = _certificates(Brick)[1]
    rough = certify_declared(spec_of(Brick()), 2_500, {"push": (0.8, 1.2)})
    check(rough)
    one, all_of_them = ProgramGuard(exact, Brick()), ProgramGuard(rough, Brick())
    states = np.random.default_rng(3).uniform((-1, -2), (1, 2), (2_000, 2))
    states = states[all_of_them.all_held(states)]
    allowed = all_of_them.returning(states)
    for push in (0.8, 1.2):
        for s, row in zip(states, allowed, strict=True):
            for a in np.flatnonzero(row):
                after, _, failed = Brick(push=push).transition(tuple(s), int(a))
                assert not failed
                assert all_of_them.holds(after)
    assert all_of_them.alive.sum() < one.alive.sum()


@pytest.mark.parametrize("which", [0, 1])
def test_the_gymnasium_wrapper_never_fails(which, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(certificate_text(_certificates(Brick)[which]))
    env = Shield(Brick(), path)
    rng, replaced = np.random.default_rng(0), 0
    for seed in range(3):
        env.reset(seed=seed)
        for step in range(120):
            assert env.action_masks().any()
            wish = 1 if seed == 0 else int(rng.integers(2))
            _, _, terminated, _, info = env.step(wish)
            assert not terminated, step
            replaced += info.get("shield") == REPLACED
    assert replaced


def test_outside_of_the_set_the_certified_policy_acts():
    env = Shield(Brick(), _certificates(Brick)[0])
    env.reset(seed=0)
    env.unwrapped._state = (0.95, 1.9)
    assert not env.allowed_actions().any()
    assert env.action_masks().all()
    assert env.step(1)[4]["shield"] == OUTSIDE


def test_another_task_is_refused():
    certificate = _certificates(Brick)[0]
    with pytest.raises(DistinguoError, match=r"push = 1, this has 1\.5"):
        Shield(Brick(push=1.5), certificate)
    with pytest.raises(DistinguoError, match="give it as task"):
        Shield(gymnasium.make("CartPole-v1"), certificate)


def test_a_forged_maximal_set_is_refused():
    """One more run of cells, where some lead out of the set whatever is done."""
    certificate = _certificates(Brick)[1]
    outside = np.flatnonzero(~certificate.cells.alive().ravel())
    rng, refused = np.random.default_rng(0), 0
    for cell in rng.choice(outside, 20):
        alive = certificate.cells.alive().ravel()
        alive[cell] = True
        ends = np.flatnonzero(np.diff(np.concatenate([[False], alive, [False]]).astype(np.int8)))
        claim = certificate.model_dump()
        claim["cells"]["runs"] = np.column_stack([ends[::2], ends[1::2] - 1]).tolist()
        try:
            check(type(certificate).model_validate(claim))
        except DistinguoError:
            refused += 1
            continue
        _simulate_cell(certificate, int(cell))
    assert refused >= 10


def _simulate_cell(certificate, cell):
    """From everywhere in the cell, some action leads back into the set if it is held."""
    guard = ProgramGuard(certificate, Brick())
    places = guard.lattice.places(np.array([cell]))[:, 0] + np.random.default_rng(1).random((20, 2))
    for s in places * guard.lattice.pitch + guard.lattice.low:
        assert any(_leads_back(guard, tuple(s.tolist()), a) for a in (0, 1))


def _leads_back(guard, s, a):
    for _ in range(guard.certificate.steps):
        s, _, failed = Brick().transition(s, a)
        if failed or guard.holds(s):
            return not failed
    return False


# ---- trees of boxes ------------------------------------------------------------------------------------------------


def test_a_tree_of_boxes_is_proven_over_cells_checked_and_guards():
    """By the same program: nine boxes, of which the middle one has a tie."""
    spec, rng = spec_of(Sledge()), np.random.default_rng(0)
    finding = ask_program(Request(spec, BOXED, cells=10_000))
    assert finding.answer(True).proven
    data = certificate_text(finding.certificate).encode()
    assert refusal_of(data, BOXED, Sledge()) is None
    other = Controller(BOXED.partition, -BOXED.q)
    assert refusal_of(data, other, Sledge()) == "The certificate belongs to another controller."
    guard = ProgramGuard(finding.certificate, Sledge())
    states = rng.uniform(spec.low, spec.high, (2_000, 2))
    states = states[guard.all_held(states)]
    assert len(states) > 1_500
    chosen = guard.certified_actions(states, np.full(len(states), -1))
    mine = [BOXED.action_sets[region(BOXED.partition, tuple(s))] for s in states.tolist()]
    assert all(sets[a] for sets, a in zip(mine, chosen, strict=True))
    assert not evaluate(spec.task, BOXED, rng, states, 2_000).ended.any()
    assert guard.walk(states[:50], 300) == 50 * 300
    away = BOXED.partition._replace(cut=BOXED.partition.cut - 0.5)
    claim = policy_claim(Controller(away, BOXED.q), Sledge())
    with pytest.raises(DistinguoError, match="may leave the set"):
        check(finding.certificate.model_copy(update={"controller": claim}))


def test_laws_are_not_proven_over_boxes():
    """A tree has no laws, so its actions would be taken for amounts."""
    lawful = Controller(BOXED.partition, BOXED.q)
    with pytest.raises(DistinguoError, match="over prototypes"):
        why_not(driven(), lawful)
    with pytest.raises(DistinguoError, match="over prototypes"):
        policy_claim(lawful, driven().task)


def test_a_set_for_any_controller_is_not_about_laws():
    """Its certificate has no laws, so the checker would take the number of a law for an amount."""
    certificate = ask_program(Request(driven(), LAWFUL, cells=900)).certificate
    ProgramGuard(certificate, driven().task)
    with pytest.raises(DistinguoError, match="not about laws"):
        certify_declared(driven(), 900)
    with pytest.raises(DistinguoError, match="not about laws"):
        ProgramGuard(certificate.model_copy(update={"controller": None}), driven().task)
