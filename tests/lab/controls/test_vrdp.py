"""The boxes of VRDP: where the trials pass, how resolution falls off, and that nothing is finer than it must be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.representations.boxes import Boxes, grid, leaf_boxes
from distinguo.representations.file import Representation, dumps
from distinguo.representations.partition import region
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.analysis import controllable
from distinguo.tasks.puck.puck import RIGHT
from distinguo.tasks.task import transition
from distinguo_lab.controls import vrdp as visits
from distinguo_lab.controls.vrdp import (
    SPLITS,
    failed_trial,
    follow_through,
    refined,
    refinement,
    successful_trial,
    vrdp,
    vrdp_enhanced,
)
from tests.controls import needs_speed

HILL = task_spec("puck")
CELLS = grid([64, 64], HILL.low, HILL.high)
Block = tuple[int, int, int, int]  # the first cell along x and v, and the width along each, in cells


@pytest.fixture(scope="module")
def original() -> Representation:
    return vrdp(HILL, seed=0)


@pytest.fixture(scope="module")
def enhanced() -> Representation:
    return vrdp_enhanced(HILL, seed=0)


def blocks(partition: Boxes, cells: int) -> list[Block]:
    low, cell = np.array(HILL.low), np.array(HILL.scale) / cells
    found = []
    for corner, other in leaf_boxes(partition):
        first, last = (np.array(corner) - low) / cell, (np.array(other) - low) / cell
        assert np.allclose(first, np.round(first), atol=1e-9)
        (i, j), (k, m) = np.round(first).astype(int), np.round(last).astype(int)
        found.append((int(i), int(j), int(k - i), int(m - j)))
    return found


def share_an_edge(a: Block, b: Block) -> bool:
    """Boxes touch along one coordinate and overlap along the other."""
    touch = [a[i] + a[i + 2] == b[i] or b[i] + b[i + 2] == a[i] for i in (0, 1)]
    overlap = [a[i] < b[i] + b[i + 2] and b[i] < a[i] + a[i + 2] for i in (0, 1)]
    return (touch[0] and overlap[1]) or (touch[1] and overlap[0])


def broken_pairs(found: list[Block]) -> list[tuple[Block, Block]]:
    return [
        (a, b)
        for a, b in itertools.combinations(found, 2)
        if share_an_edge(a, b) and max(a[2], b[2]) > 2 * min(a[2], b[2])
    ]


def slowly(visited: np.ndarray) -> set[Block]:
    """Quarter what was visited, then whatever breaks the constraint, for as long as anything does."""

    def quarters(block: Block) -> set[Block]:
        i, j, width, _ = block
        h = width // 2
        return {(a, b, h, h) for a in (i, i + h) for b in (j, j + h)}

    done: set[Block] = set()
    todo = {(0, 0, len(visited), len(visited))}
    while todo:
        i, j, width, _ = block = todo.pop()
        if width > 1 and visited[i : i + width, j : j + width].any():
            todo |= quarters(block)
        else:
            done.add(block)
    while pairs := broken_pairs(sorted(done)):
        wide = max(pairs[0], key=lambda block: block[2])
        done = (done - {wide}) | quarters(wide)
    return done


@pytest.mark.parametrize("count", [0, 1, 2, 5, 30])
@pytest.mark.parametrize("seed", range(4))
def test_refinement_is_the_coarsest_that_keeps_the_constraint(count: int, seed: int) -> None:
    visited = np.zeros(256, dtype=bool)
    visited[np.random.default_rng(seed).choice(256, count, replace=False)] = True
    visited = visited.reshape(16, 16)
    assert set(blocks(refined(HILL, refinement(visited)), 16)) == slowly(visited)


@needs_speed
def test_the_failed_trial_runs_through_boxes_of_the_finest_size(original: Representation) -> None:
    boxes, s, fell = leaf_boxes(original.partition), (0.0, 0.0), False
    while not fell:
        low, high = boxes[region(original.partition, s)]
        assert np.subtract(high, low) == pytest.approx((0.075, 0.171875))
        s, _, fell = transition(HILL.task, s, RIGHT)


@needs_speed
def test_the_successful_trial_runs_through_boxes_of_the_finest_size(
    original: Representation, enhanced: Representation
) -> None:
    trial = successful_trial(HILL, CELLS, seed=0)
    assert (trial.length, trial.fell) == (100_000, False)
    cells = {(n // 64, n % 64, 1, 1) for n in np.flatnonzero(trial.visited).tolist()}
    assert len(cells) > 5
    assert cells <= set(blocks(original.partition, 64))
    assert cells <= set(blocks(enhanced.partition, 64))


@needs_speed
@pytest.mark.parametrize("which", ["original", "enhanced"])
def test_neighbours_differ_by_a_factor_of_two_at_most(which: str, request: pytest.FixtureRequest) -> None:
    found = blocks(request.getfixturevalue(which).partition, 64)
    assert sum(width * height for _, _, width, height in found) == 64 * 64
    assert all(width == height for _, _, width, height in found)
    assert broken_pairs(found) == []
    assert max(width for _, _, width, _ in found) >= 8  # far from the trials it stays coarse


@needs_speed
def test_the_enhanced_boxes_are_those_of_the_original_put_together(
    original: Representation, enhanced: Representation
) -> None:
    assert enhanced.regions < original.regions / 2
    for low, high in leaf_boxes(original.partition):
        middle = tuple(np.add(low, high) / 2)
        wide_low, wide_high = leaf_boxes(enhanced.partition)[region(enhanced.partition, middle)]
        assert (np.array(wide_low) <= low).all()
        assert (np.array(wide_high) >= high).all()


@needs_speed
def test_sizes_are_near_the_papers() -> None:
    """The paper's enhanced representation has 117 categories; the size of the original is not given."""
    assert all(90 <= vrdp_enhanced(HILL, seed).regions <= 150 for seed in range(5))


@needs_speed
def test_the_seed_decides(original: Representation) -> None:
    assert dumps(vrdp(HILL, seed=0)) == dumps(original)
    assert leaf_boxes(vrdp(HILL, seed=1).partition) != leaf_boxes(original.partition)


@needs_speed
def test_a_successful_trial_stays_with_the_controllable_states() -> None:
    trial = successful_trial(HILL, CELLS, seed=2)
    for n in np.flatnonzero(trial.visited).tolist():
        corner = np.array(HILL.low) + np.array([n // 64, n % 64]) * np.array(HILL.scale) / 64
        assert any(
            controllable(HILL.task, tuple(corner + d)) for d in itertools.product((0, 0.075), (0, 0.171875))
        )


def test_compiled_visits_equal_interpreted_ones() -> None:
    q = np.random.default_rng(0).normal(size=(4, 2))
    results = []
    for follow in (follow_through, follow_through.py_func):
        visited = np.zeros(4096, dtype=bool)
        coarse = grid([2, 2], HILL.low, HILL.high)
        ends = follow(
            HILL.task, Controller(coarse, q), np.random.default_rng(1), np.zeros(2), 300, CELLS, visited
        )
        results.append((ends, visited.tobytes()))
    assert results[0] == results[1]


def test_a_hopeless_task_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "EFFORT", 3000)
    with pytest.raises(DistinguoError, match=r"With seed 7 no greedy trial .* within 3,000 training steps"):
        successful_trial(task_spec("puck", {"force": 0.001}), CELLS, seed=7)


def test_a_first_trial_that_does_not_fail_is_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "HOLD", 10)
    with pytest.raises(DistinguoError, match="'right' in the task 'puck' held for 10 steps"):
        failed_trial(HILL, CELLS)


def test_six_splits_give_the_papers_cells() -> None:
    assert HILL.scale[0] / 2**SPLITS == 0.075
    assert HILL.scale[1] / 2**SPLITS == 0.171875
