"""The lock-step over tables of boxes against the plain evaluation: the same bits, whatever the boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from distinguo.controller import Controller
from distinguo.evaluation.lockstep.driver import evaluate_lockstep
from distinguo.evaluation.lockstep.lanes import BITS
from distinguo.evaluation.simulate import Outcome, evaluate
from distinguo.evaluation.tester import Batch, outcome_of
from distinguo.representations.boxes import (
    Box,
    Boxes,
    BoxTable,
    count_leaves,
    grid,
    leaf_boxes,
    leaf_of,
    tabulated,
    tree,
)
from distinguo.seam import implements_interpreted
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import transition
from tests.evaluation.lockstep.tasks import SCALE, Lattice, Ring, alike
from tests.nightly import NIGHTLY

RNG = np.random.default_rng(0)  #: for ties

WIDTHS = {Puck: (2.4, 5.5), Lattice: (3.0, 3.0, 3.0), Ring: (2.0,) * 8}
ACTIONS = {Puck: 2, Lattice: 3, Ring: 2}


class Foreign(Puck):
    """A puck that nothing is compiled for."""


implements_interpreted(transition, Foreign)(lambda task, s, a: (s, 0.0, False))


def random_tree(rng: np.random.Generator, task: Any, depth: int, lattice: bool) -> Boxes:
    """Cut at random, on halves if asked, so that lattice walks come to lie exactly on cuts."""
    widths = WIDTHS[type(task)]

    def cut(box: Box, at: int) -> tuple[int, float] | None:
        if at >= depth or rng.random() < 0.1:
            return None
        axis = int(rng.integers(len(widths)))
        low, high = box[0][axis], box[1][axis]
        where = rng.uniform(low, high)
        return axis, float(np.clip(np.round(where * 2) / 2, low, high) if lattice else where)

    return tree([-w for w in widths], widths, cut)


def random_values(rng: np.random.Generator, task: Any, boxes: Boxes, good: bool) -> np.ndarray:
    if good and isinstance(task, Puck):
        middle = np.mean(leaf_boxes(boxes), axis=1)
        return np.where(middle[:, 1:] > -1.7615 * middle[:, :1], [0.0, -1.0], [-1.0, 0.0])
    return rng.normal(size=(count_leaves(boxes), ACTIONS[type(task)]))


def random_starts(rng: np.random.Generator, table: BoxTable, task: Any, lanes: int) -> np.ndarray:
    """Draw starts, some coordinates exactly on a cut or beside it by the least difference."""
    widths = np.array(WIDTHS[type(task)])
    starts = rng.uniform(-widths / 2, widths / 2, (lanes, len(widths)))
    starts = np.round(starts * 4) / 4 if isinstance(task, Lattice) else starts
    for i, cuts in enumerate(table.cuts):
        finite = cuts[np.isfinite(cuts)]
        if len(finite):
            on = rng.random(lanes) < 0.3
            starts[on, i] = rng.choice(finite, on.sum())
            below = on & (rng.random(lanes) < 0.3)
            starts[below, i] = np.nextafter(starts[below, i], -np.inf)
    return starts


def agree(task: Any, table: Any, q: np.ndarray, starts: np.ndarray, cap: int) -> Outcome | None:
    assert isinstance(table, BoxTable)
    cap = -(-cap // SCALE)
    plain = evaluate(task, Controller(table, q, 0.0), np.random.default_rng(0), starts, cap)
    quick = evaluate_lockstep(task, Controller(table, q, 0.0), RNG, starts, cap)
    assert quick is not None
    if plain.tied or quick.tied:  # a matter of luck, see below
        return None
    for name, one, other in zip(plain._fields, plain, quick, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)
    return quick


cases = given(
    seed=st.integers(0, 2**32),
    depth=st.integers(0, 6),
    lanes=st.sampled_from([1, 2, 8, 9, 50, 64, 65, 130]),
    lattice=st.booleans(),
    good=st.booleans(),
    cap=st.sampled_from([1, 7, 8, 9, 300]),
)


def run_case(task: Any, seed: int, depth: int, lanes: int, lattice: bool, good: bool, cap: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = random_tree(rng, task, depth, lattice)
    table = tabulated(boxes)
    assert isinstance(table, BoxTable)
    q = random_values(rng, task, boxes, good)
    if seed % 4 == 0:  # a tie, where a trial may come or not
        q[rng.integers(len(q))] = 0.0
    agree(task, table, q, random_starts(rng, table, task, lanes), cap)


@settings(max_examples=1 + 100 // SCALE)
@example(seed=1, depth=5, lanes=50, lattice=False, good=True, cap=300)
@cases
def test_puck(seed: int, depth: int, lanes: int, lattice: bool, good: bool, cap: int) -> None:
    run_case(Puck(), seed, depth, lanes, lattice, good, cap)


@pytest.mark.skipif(not NIGHTLY, reason="compiles a task of its own")
@settings(max_examples=1 + 60 // SCALE)
@cases
def test_lattice_with_three_actions(
    seed: int, depth: int, lanes: int, lattice: bool, good: bool, cap: int
) -> None:
    run_case(Lattice(), seed, depth, lanes, lattice, good, cap)


@pytest.mark.skipif(not NIGHTLY, reason="takes ten seconds to compile; three other tasks are tried by day")
@settings(max_examples=1 + 30 // SCALE)
@cases
def test_eight_dimensions(seed: int, depth: int, lanes: int, lattice: bool, good: bool, cap: int) -> None:
    run_case(Ring(), seed, min(depth, 4), lanes, lattice, good, cap)


@pytest.mark.parametrize("cuts", [1, 3, 6, 7, 8, 30, 100])
def test_grids_of_few_and_of_many_places(cuts: int) -> None:
    """With up to 62 places in the box each has a bit of its own, with more it has none."""
    rng = np.random.default_rng(cuts)
    boxes = grid([cuts + 1] * 2, low=[-0.2, -0.4], high=[0.2, 0.4])
    assert (cuts < 7) == (count_leaves(boxes) <= BITS)
    starts = rng.uniform(-0.3, 0.3, (50, 2))
    outcome = agree(Puck(), tabulated(boxes), random_values(rng, Puck(), boxes, good=True), starts, 2_000)
    assert outcome is not None
    assert outcome.visited.sum() > 1


def test_long_trials_that_hold() -> None:
    boxes = grid([10, 10], low=[-2.4, -5.5], high=[2.4, 5.5])
    rng = np.random.default_rng(0)
    q = random_values(rng, Puck(), boxes, good=True)
    outcome = agree(Puck(), tabulated(boxes), q, rng.uniform(-0.3, 0.3, (50, 2)), 30_000)  # several chunks
    assert outcome is not None
    assert not outcome.ended.any()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, where nothing is compiled
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, 1e-320])
def test_states_that_are_no_numbers(value: float) -> None:
    rng = np.random.default_rng(1)
    for task in (Puck(), Ring()):
        widths = WIDTHS[type(task)]
        boxes = grid([3] * len(widths), low=[-w for w in widths], high=widths)
        starts = rng.uniform(-1, 1, (10, len(widths)))
        starts[3] = value
        starts[7, 1] = value
        agree(task, tabulated(boxes), random_values(rng, task, boxes, False), starts, 50)


def test_beyond_the_last_cut_at_infinity() -> None:
    boxes = grid([5, 2], low=[-1.0, -1.0], high=[1.0, 1.0])
    q = np.eye(10)[:, :2] - 0.1 * np.arange(2)  # no ties
    start = np.array([[0.1, np.inf]])
    outcome = evaluate_lockstep(Puck(), Controller(tabulated(boxes), q, 0.0), RNG, start, 1)
    assert outcome is not None
    assert np.flatnonzero(outcome.visited).tolist() == [leaf_of(boxes, (0.1, np.inf))]


def test_ties_matter_only_where_a_trial_comes() -> None:
    boxes = grid([2, 12], low=[-2.4, -5.5], high=[2.4, 5.5])
    q = random_values(np.random.default_rng(0), Puck(), boxes, good=True)
    q[leaf_of(boxes, (2.0, 5.4))] = 0.5
    starts = np.array([[0.0, 0.0], [0.1, 0.2]])
    table = tabulated(boxes)
    assert agree(Puck(), table, q, starts, 500) is not None
    assert not followed(table, q, starts).tied
    assert followed(table, q, np.array([[0.0, 0.0], [2.0, 5.4]])).tied


def followed(table: Any, q: np.ndarray, starts: np.ndarray) -> Outcome:
    outcome = evaluate_lockstep(Puck(), Controller(table, q, 0.0), RNG, starts, 500)
    assert outcome is not None
    return outcome


@pytest.mark.parametrize("counts", [[4, 6], [100, 100]], ids=["few", "many"])
def test_tied_actions_are_a_fair_draw(counts: list[int]) -> None:
    """In a box that is cut into few or many, some of them with ties."""
    table = tabulated(grid(counts, low=[-2.4, -5.5], high=[2.4, 5.5]))
    q = np.round(np.random.default_rng(0).random((count_leaves(grid(counts, [-1, -1], [1, 1])), 2)))
    alike(Puck(), Controller(table, q, 0.0), np.array([0.0, 0.0]))


def test_what_is_not_supported_is_left_to_the_plain_evaluation() -> None:
    starts, q = np.zeros((2, 2)), np.eye(4)[:, :2]
    four = grid([2, 2], [-1, -1], [1, 1])
    assert evaluate_lockstep(Puck(), Controller(four, q, 0.0), RNG, starts, 5) is None
    assert evaluate_lockstep(Foreign(), Controller(tabulated(four), q, 0.0), RNG, starts, 5) is None
    nine = tabulated(grid([2] + [1] * 8, [-1] * 9, [1] * 9))
    assert evaluate_lockstep(Puck(), Controller(nine, q, 0.0), RNG, np.zeros((2, 9)), 5) is None


@pytest.mark.parametrize(("lanes", "cap"), [(0, 10), (3, 0), (3, 1)])
def test_no_trials_and_no_steps(lanes: int, cap: int) -> None:
    two = tabulated(grid([2, 1], low=[-1.0, -1.0], high=[1.0, 1.0]))
    agree(Puck(), two, np.eye(2), np.zeros((lanes, 2)), cap)


def test_outcomes_over_boxes_need_no_plain_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = grid([10, 10], low=[-2.4, -5.5], high=[2.4, 5.5])
    q = random_values(np.random.default_rng(0), Puck(), boxes, good=True)
    starts = np.random.default_rng(0).uniform(-0.3, 0.3, (20, 2))
    table = tabulated(boxes)
    expected = evaluate(Puck(), Controller(table, q, 0.0), np.random.default_rng(0), starts, 200)
    monkeypatch.setattr("distinguo.evaluation.tester.evaluate", None)
    batch = Batch(starts, cap=200)
    outcome = outcome_of(Puck(), Controller(table, q, 0.0), np.random.default_rng(0), batch)
    for one, other in zip(expected, outcome, strict=True):
        np.testing.assert_array_equal(one, other)
