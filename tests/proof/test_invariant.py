"""Sets of cells that are never left."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config

from distinguo.controller import Controller
from distinguo.proof.enclosure import cell_box, coordinates, state
from distinguo.proof.hold.invariant import held_set, maximal_set, prove_hold
from distinguo.proof.hold.puck import pucks
from distinguo.representations.partition import region
from distinguo.tasks.puck.analysis import controllable
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import transition

from .policies import GOOD, ideal, trained

COUNTS = (384, 192)
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells")


@pytest.fixture(scope="module")
def whole():
    return maximal_set(Puck(), COUNTS)


def states_in(held, count, seed=0):
    rng = np.random.default_rng(seed)
    places = np.argwhere(held.alive)
    for i, j in places[rng.integers(0, len(places), count)]:
        low, high = cell_box(held.grid, i, j, 1, 1)
        yield state(held.grid.matrix, tuple(rng.uniform(low, high)))


def test_from_every_state_some_action_stays(whole):
    for s in states_in(whole, 3_000):
        steps = [transition(Puck(), s, a) for a in (0, 1)]
        assert any(whole.holds(after) and not fell for after, _, fell in steps)


@pytest.mark.parametrize("prototypes", [2, 24])
def test_a_controller_never_leaves_its_set(whole, prototypes):
    partition, q = (ideal(), GOOD) if prototypes == 2 else trained(0, prototypes)
    held = held_set(Puck(), Controller(partition, q), whole)
    assert held.cells
    for s in states_in(held, 3_000):
        after, _, fell = transition(Puck(), s, int(q[region(partition, s)].argmax()))
        assert held.holds(after)
        assert not fell


def test_the_diagonal_is_proven_wherever_anything_is(whole):
    held = held_set(Puck(), Controller(ideal(), GOOD), whole)
    assert held.cells >= 0.99 * whole.cells


def test_no_doomed_state_is_held(whole):
    for s in states_in(whole, 2_000, seed=1):
        if abs(s[0]) <= 2.4:
            assert controllable(Puck(), s)


def test_bad_controllers_hold_nothing(whole):
    left, right, either = [0.0, -1.0], [-1.0, 0.0], [0.0, 0.0]
    for bad in ([left, left], [right, left], [either, either]):
        assert held_set(Puck(), Controller(ideal(), np.array(bad)), whole).cells == 0


def test_more_uncertainty_holds_less(whole):
    rough = maximal_set(pucks(Puck(mass=0.95), Puck(mass=1.05), (0.0, 0.002)), COUNTS)
    assert 0 < rough.cells < whole.cells
    assert maximal_set(pucks(Puck(), Puck(), (0.0, 0.2)), COUNTS).cells == 0


def test_nothing_held_is_nothing_certified():
    proof = prove_hold(Puck(), Controller(ideal(), GOOD[::-1].copy()), counts=COUNTS)
    assert proof.certificate is None
    assert proof.share_of_provable == 0.0


def test_states_outside_of_the_grid_are_not_held(whole):
    assert not whole.holds((100.0, 100.0))
    assert not whole.holds((np.nan, 0.0))
    assert coordinates(whole.grid.matrix, (0.0, 0.0)) == (0.0, 0.0)
