"""The lock-step against the plain evaluation: the same bits, whatever the partition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from distinguo.controller import Controller
from distinguo.evaluation.lockstep.driver import advance_lockstep, evaluate_lockstep
from distinguo.evaluation.lockstep.lanes import BITS
from distinguo.evaluation.simulate import evaluate
from distinguo.representations.boxes import grid
from distinguo.representations.voronoi import Voronoi, voronoi
from distinguo.tasks.puck.puck import Puck
from tests.evaluation.lockstep.tasks import SCALE, Lattice, Ring, alike
from tests.nightly import NIGHTLY
from tests.partitions import some_merged

RNG = np.random.default_rng(0)  #: for ties

WIDTHS = {Puck: (2.4, 5.5), Lattice: (3.0, 3.0, 3.0), Ring: (2.0,) * 8}
ACTIONS = {Puck: 2, Lattice: 3, Ring: 2}


def random_map(rng: np.random.Generator, task: Any, size: int, lattice: bool, merged: bool) -> Voronoi:
    widths = np.array(WIDTHS[type(task)])
    places = rng.uniform(-widths, widths, (size, len(widths)))
    if lattice:  # prototypes and starts on halves, so that distances are often equal
        places = np.unique(np.round(places * 2) / 2, axis=0)
        places = rng.permutation(places)
    scale = np.ones(len(widths)) if lattice else 2 * widths
    return voronoi(places, scale, some_merged(rng, len(places), 0.4) if merged else None)


def random_values(rng: np.random.Generator, task: Any, partition: Voronoi, good: bool) -> np.ndarray:
    rows = partition.prototypes[partition.primaries]
    q = rng.normal(size=(len(rows), ACTIONS[type(task)]))
    if good and isinstance(task, Puck):
        left = rows[:, 1] > -1.7615 * rows[:, 0]
        q = np.where(left[:, None], [0.0, -1.0], [-1.0, 0.0])
    return q


def agree(task: Any, partition: Voronoi, q: np.ndarray, starts: np.ndarray, cap: int) -> None:
    cap = -(-cap // SCALE)
    plain = evaluate(task, Controller(partition, q, 0.0), np.random.default_rng(0), starts, cap)
    quick = evaluate_lockstep(task, Controller(partition, q, 0.0), RNG, starts, cap)
    assert quick is not None
    if plain.tied or quick.tied:  # a matter of luck, see below
        return
    for name, one, other in zip(plain._fields, plain, quick, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)


cases = given(
    seed=st.integers(0, 2**32),
    size=st.sampled_from([1, 2, 3, 7, 24, BITS - 1, BITS, BITS + 1, BITS + 2, 150]),
    lanes=st.sampled_from([1, 2, 8, 9, 50, 64, 65, 130]),
    lattice=st.booleans(),
    merged=st.booleans(),
    good=st.booleans(),
)


def run_case(
    task: Any, cap: int, seed: int, size: int, lanes: int, lattice: bool, merged: bool, good: bool
) -> None:
    rng = np.random.default_rng(seed)
    widths = np.array(WIDTHS[type(task)])
    partition = random_map(rng, task, size, lattice, merged)
    starts = rng.uniform(-widths / 2, widths / 2, (lanes, len(widths)))
    starts = np.round(starts * 4) / 4 if lattice else starts
    agree(task, partition, random_values(rng, task, partition, good), starts, cap)


@settings(max_examples=1 + 80 // SCALE)
@example(seed=0, size=24, lanes=50, lattice=False, merged=True, good=True)
@cases
def test_puck(seed: int, size: int, lanes: int, lattice: bool, merged: bool, good: bool) -> None:
    run_case(Puck(), 400, seed, size, lanes, lattice, merged, good)


@pytest.mark.skipif(not NIGHTLY, reason="compiles a task of its own")
@settings(max_examples=1 + 60 // SCALE)
@cases
def test_lattice_with_three_actions(
    seed: int, size: int, lanes: int, lattice: bool, merged: bool, good: bool
) -> None:
    run_case(Lattice(), 300, seed, size, lanes, lattice, merged, good)


@pytest.mark.skipif(not NIGHTLY, reason="takes ten seconds to compile; three other tasks are tried by day")
@settings(max_examples=1 + 40 // SCALE)
@cases
def test_eight_dimensions(seed: int, size: int, lanes: int, lattice: bool, merged: bool, good: bool) -> None:
    run_case(Ring(), 200, seed, size, lanes, lattice, merged, good)


def test_lattice_walks_come_between_prototypes() -> None:
    rng = np.random.default_rng(5)
    partition = random_map(rng, Lattice(), 150, lattice=True, merged=False)
    starts = np.round(rng.uniform(-1.5, 1.5, (500, 3)) * 4) / 4
    distances = ((starts[:, None] - partition.prototypes) ** 2).sum(axis=2)
    assert ((distances == distances.min(axis=1, keepdims=True)).sum(axis=1) > 1).mean() > 0.2


@pytest.mark.parametrize("size", [2, 24, 100, 1000])
def test_long_trials_that_hold(size: int) -> None:
    rng = np.random.default_rng(size)
    partition = random_map(rng, Puck(), size, lattice=False, merged=True)
    q = random_values(rng, Puck(), partition, good=True)
    if size == 2:
        partition, q = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0]), np.eye(2)
    starts = rng.uniform([-0.6, -1.4], [0.6, 1.4], (50, 2))
    agree(Puck(), partition, q, starts, 30_000 if size <= 24 else 2_000)  # more than one chunk


def test_all_ten_thousand_prototypes_are_considered() -> None:
    rng = np.random.default_rng(7)
    partition = random_map(rng, Puck(), 10_000, lattice=False, merged=False)
    q = random_values(rng, Puck(), partition, good=True)
    agree(Puck(), partition, q, rng.uniform([-0.6, -1.4], [0.6, 1.4], (20, 2)), 200)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, where nothing is compiled
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, 1e-320])
def test_states_that_are_no_numbers(value: float) -> None:
    rng = np.random.default_rng(1)
    for task in (Puck(), Ring()):
        partition = random_map(rng, task, 30, lattice=False, merged=True)
        starts = rng.uniform(-1, 1, (10, len(partition.weight)))
        starts[3] = value
        starts[7, 1] = value
        agree(task, partition, random_values(rng, task, partition, False), starts, 50)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, where nothing is compiled
def test_prototypes_far_away_and_close_together() -> None:
    rng = np.random.default_rng(2)
    places = np.vstack([rng.normal(size=(20, 2)) * size for size in (1e-160, 1e-9, 1.0, 1e150, 1e200)])
    partition = voronoi(places, [4.8, 11.0])
    q = rng.normal(size=(100, 2))
    agree(Puck(), partition, q, rng.normal(size=(40, 2)) * 1e-9, 300)
    agree(Puck(), partition, q, np.zeros((3, 2)), 300)


def test_ties_matter_only_where_a_trial_comes() -> None:
    two = voronoi([[0.3, 0.6], [-0.3, -0.6], [90.0, 90.0]], [4.8, 11.0])
    q = np.array([[0.0, -1.0], [-1.0, 0.0], [0.5, 0.5]])
    starts = np.array([[0.0, 0.0], [0.1, 0.2]])
    assert (Controller(None, q, 0.0).policy == -1).any()
    agree(Puck(), two, q, starts, 500)
    outcome = evaluate_lockstep(Puck(), Controller(two, q, 2.0), RNG, starts, 500)
    assert outcome is not None
    assert outcome.tied


@pytest.mark.parametrize("size", [24, 200])
@pytest.mark.parametrize("task", [Puck(), Lattice()], ids=["two actions", "three actions"])
def test_tied_actions_are_a_fair_draw(task: Any, size: int) -> None:
    rng = np.random.default_rng(1)
    partition = random_map(rng, task, size, lattice=False, merged=True)
    q = np.round(rng.random((size, ACTIONS[type(task)])))
    alike(task, Controller(partition, q, 0.0), np.zeros(len(WIDTHS[type(task)])))


def test_a_trial_goes_on_from_where_it_was() -> None:
    two = Controller(voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    starts = np.random.default_rng(0).uniform([-1.2, -2.7], [1.2, 2.7], (70, 2))
    whole = evaluate_lockstep(Puck(), two, RNG, starts, 400)
    states = starts.copy()
    first = advance_lockstep(Puck(), two, RNG, states, 150)
    alive = np.flatnonzero(~first.ended)
    rest = advance_lockstep(Puck(), two, RNG, states[alive], 250)
    assert 0 < len(alive) < 70
    assert np.array_equal(whole.lengths[alive], 150 + rest.lengths)
    assert np.array_equal(whole.ended[alive], rest.ended)


def test_what_is_not_supported_is_left_to_the_plain_evaluation() -> None:
    starts = np.zeros((2, 2))
    assert (
        evaluate_lockstep(Puck(), Controller(grid([2, 2], [-1, -1], [1, 1]), np.eye(4), 0.0), RNG, starts, 5)
        is None
    )
    assert (
        evaluate_lockstep(Puck(), Controller(voronoi([[0.0]], [1.0]), np.eye(2)[:1], 0.0), RNG, starts, 5)
        is None
    )


@pytest.mark.parametrize(("lanes", "cap"), [(0, 10), (3, 0), (3, 1)])
def test_no_trials_and_no_steps(lanes: int, cap: int) -> None:
    two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    agree(Puck(), two, np.eye(2), np.zeros((lanes, 2)), cap)
