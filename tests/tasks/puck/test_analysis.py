"""Section 4.1: the controllable zone, its edges, and what separates them."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.tasks.puck.analysis import (
    DIAGONAL_SLOPE,
    DONT_CARE,
    DOOMED,
    HIGH,
    LOW,
    MUST_PUSH_LEFT,
    MUST_PUSH_RIGHT,
    PuckMap,
    analyse,
    balance_point,
    classify,
    controllable,
    final_wall,
    separated_share,
    separates,
)
from distinguo.tasks.puck.puck import LEFT, RIGHT, Puck
from distinguo.tasks.task import transition

full_grid = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="half a million states need compiled code"
)


@pytest.fixture(scope="module")
def paper_map() -> PuckMap:
    return analyse(Puck())


@full_grid
def test_counts_on_the_paper_grid(paper_map: PuckMap) -> None:
    assert paper_map.codes.shape == (481, 1101)
    assert (paper_map.x[0], paper_map.v[0]) == LOW
    assert (paper_map.x[-1], paper_map.v[-1]) == HIGH
    assert paper_map.controllable == 124_101
    assert paper_map.count(MUST_PUSH_LEFT) == 4_457
    assert paper_map.count(MUST_PUSH_RIGHT) == 4_457
    assert paper_map.count(DOOMED) + paper_map.controllable == 481 * 1101


@full_grid
def test_the_map_turned_by_half_a_turn_swaps_left_and_right(paper_map: PuckMap) -> None:
    swap = np.zeros(4, dtype=np.int8)
    swap[[DONT_CARE, MUST_PUSH_LEFT, MUST_PUSH_RIGHT]] = DONT_CARE, MUST_PUSH_RIGHT, MUST_PUSH_LEFT
    assert np.array_equal(paper_map.codes, swap[paper_map.codes[::-1, ::-1]])


@full_grid
def test_critical_states_are_the_edges_of_the_zone(paper_map: PuckMap) -> None:
    """From low to high velocity: doomed, must-push-right, don't-care, must-push-left, doomed."""
    order = np.array([DOOMED, MUST_PUSH_RIGHT, DONT_CARE, MUST_PUSH_LEFT, DOOMED])
    for column in paper_map.codes:
        runs = column[np.flatnonzero(np.diff(column, prepend=-1))]
        assert "".join(map(str, runs)) in "".join(map(str, order))


@full_grid
def test_lines_that_separate_the_critical_states(paper_map: PuckMap) -> None:
    x, v = 0.2680, 0.6200  # one of the paper's two seed points; the other is its mirror image
    assert separates(paper_map, DIAGONAL_SLOPE)
    assert separates(paper_map, -(x / 4.8**2) / (v / 11.0**2))  # their bisector when distances are scaled
    assert not separates(paper_map, -x / v)
    assert separated_share(paper_map, -x / v) == pytest.approx(0.66, abs=0.005)


def test_a_map_without_critical_states_is_separated() -> None:
    assert separated_share(analyse(Puck(), (0.0, 0.0), (0.1, 0.1), 0.1), 1.0) == 1.0


def test_balance_point() -> None:
    task = Puck()
    point = balance_point(task)
    assert point == pytest.approx(math.tan(math.asin(3.0 / 9.8)) / 0.6, rel=1e-15)
    assert round(point, 2) == 0.54
    assert transition(task, (point, 0.0), LEFT)[0][1] == pytest.approx(0.0, abs=1e-16)
    assert controllable(task, (point - 1e-3, 0.0))
    assert not controllable(task, (point + 1e-3, 0.0))
    assert balance_point(Puck(force=9.8)) == balance_point(Puck(mass=0.1)) == math.inf


NEAR_TOP = 0.2
MESH = 50  # states per metre and per metre a second that a search tells apart


def search(x: float, v: float) -> bool:
    """Try all sequences of pushes, with the paper's own equations: can one of them bring the puck to the top?

    States that come close to each other are followed up once; near the top one can balance the puck.
    """
    reached = np.array([[x, v]])
    for _ in range(400):
        theta = np.arctan(-0.6 * reached[:, 0])
        pulls = [(f - 9.8 * np.sin(theta)) * np.cos(theta) for f in (-3.0, 3.0)]
        moved = reached[:, 0] + 0.02 * reached[:, 1]
        after = [np.column_stack([moved, reached[:, 1] + 0.02 * pull]) for pull in pulls]
        reached = np.concatenate([states[np.abs(moved) < 2.4] for states in after])
        if (np.abs(reached) < NEAR_TOP).all(axis=1).any():
            return True
        if not len(reached):
            return False
        _, first = np.unique(np.rint(reached * MESH) @ (1.0, 1e6), return_index=True)
        reached = reached[first]
    raise AssertionError(f"undecided: {x}, {v}")


def test_near_the_top_the_puck_can_be_balanced() -> None:
    """What ``search`` relies on."""
    for x in (-NEAR_TOP, 0.0, NEAR_TOP):
        for v in (-NEAR_TOP, 0.0, NEAR_TOP):
            s = (x, v)
            for _ in range(2000):
                s, _, fell = transition(Puck(), s, LEFT if s[1] + 2 * s[0] > 0 else RIGHT)
                assert not fell


def test_controllable_agrees_with_a_search_over_all_pushes() -> None:
    xs, vs = np.linspace(-2.3, 2.3, 13), np.linspace(-5.4, 5.4, 25)
    for x in xs:
        for v in vs:
            assert controllable(Puck(), (x, v)) == search(x, v), (x, v)


def test_classes_agree_with_a_search_from_the_next_states() -> None:
    for s in [
        (0.0, 1.2),
        (0.0, -1.2),
        (0.0, 0.5),
        (1.0, -1.0),
        (-1.6, 2.0),
        (0.4, 0.2),
        (1.0, -2.0),
        (2.3, -3.0),
    ]:
        left, right = (search(*transition(Puck(), s, a)[0]) for a in (LEFT, RIGHT))
        expected = {
            (True, True): DONT_CARE,
            (True, False): MUST_PUSH_LEFT,
            (False, True): MUST_PUSH_RIGHT,
        }[left, right]
        assert classify(Puck(), s) == expected, s


TASKS = [
    Puck(),
    Puck(force=12.0),  # the thrusters are always stronger than the hill
    Puck(force=1e-6),  # the thrusters hardly matter
    Puck(beta=2.0, wall=5.0),
    Puck(beta=1e-3),  # nearly flat
    Puck(interval=0.1),
]


@pytest.mark.parametrize("task", TASKS)
def test_the_final_wall_is_where_pushing_for_ever_leads(task: Puck) -> None:
    rng = np.random.default_rng(1)
    for x, v in rng.uniform((-0.99 * task.wall, -5.5), (0.99 * task.wall, 5.5), size=(200, 2)):
        for a in (LEFT, RIGHT):
            s, fell = (float(x), float(v)), False
            while not fell:
                s, _, fell = transition(task, s, a)
            assert final_wall(task, (x, v), a) == (1 if s[0] > 0 else -1)


def test_a_puck_that_no_push_moves_is_not_doomed() -> None:
    still = Puck(interval=1e-300)
    assert final_wall(still, (1.0, 1.0), LEFT) == 0
    assert controllable(still, (1.0, 1.0))


@full_grid
@pytest.mark.parametrize("interval", [1e-4, 1e-5, 3e-6, 1e-6, 1e-9, 1e-12])
def test_however_short_the_pushes_are_what_can_be_held_stays_the_same(interval: float) -> None:
    task = Puck(interval=interval)
    for s in [(1.0, 0.0), (-1.0, -0.5), (0.0, 1.5), (2.0, -2.0)]:
        assert not controllable(task, s)
    for s in [(0.0, 0.0), (0.3, 0.5), (1.0, -1.9), (-0.5, 0.2)]:
        assert controllable(task, s)


def test_states_beyond_a_wall_are_doomed_and_states_on_it_are_judged_by_what_follows() -> None:
    assert not controllable(Puck(), (2.5, -3.0))
    assert classify(Puck(), (math.nan, 0.0)) == classify(Puck(), (0.0, math.nan)) == DOOMED
    assert controllable(Puck(), (2.4, -3.5))
    assert not controllable(Puck(), (2.4, 0.0))


def test_whole_numbers_are_states_too() -> None:
    assert classify(Puck(), (0, 0)) == classify(Puck(), (0, 0.0)) == DONT_CARE


@pytest.mark.parametrize("task", [Puck(interval=0.5), Puck(force=1e6), Puck(beta=100.0, gravity=1000.0)])
def test_pushes_too_coarse_for_the_analysis_are_an_error(task: Puck) -> None:
    with pytest.raises(DistinguoError, match=r"both are doomed at \(.*\) with interval = .*; reduce one"):
        analyse(task, resolution=0.1)


@pytest.mark.parametrize("resolution", [0.0, -0.1, math.nan, math.inf])
def test_a_bad_resolution_is_an_error(resolution: float) -> None:
    with pytest.raises(DistinguoError, match="positive resolution"):
        analyse(Puck(), resolution=resolution)


def test_a_bad_extent_is_an_error() -> None:
    with pytest.raises(DistinguoError, match=r"low <= high, got resolution = 0\.1 from 1\.0 to -1\.0"):
        analyse(Puck(), (1.0, 0.0), (-1.0, 1.0), 0.1)


def test_compiled_equals_interpreted() -> None:
    rng = np.random.default_rng(2)
    for x, v in rng.uniform(LOW, HIGH, size=(300, 2)):
        assert classify(Puck(), (x, v)) == classify.py_func(Puck(), (x, v))
        for a in (LEFT, RIGHT):
            assert final_wall(Puck(), (x, v), a) == final_wall.py_func(Puck(), (x, v), a)
