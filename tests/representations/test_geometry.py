"""Cells of a plane: they tile it, and each holds what is nearest to its prototype, whatever the dimensions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distinguo.representations.boxes import Box, tree
from distinguo.representations.geometry import (
    Outline,
    Plane,
    box_outlines,
    learned_extent,
    shared_edges,
    voronoi_cells,
    voronoi_outlines,
)
from distinguo.representations.partition import nearest, region
from distinguo.representations.voronoi import Voronoi, voronoi

LOW, HIGH = (-3.0, -2.0), (3.0, 2.0)


def area(outlines: Iterable[Outline]) -> float:
    """Return the sum of areas; an outline that runs clockwise would count against it."""
    total = 0.0
    for outline in filter(None, outlines):
        x, y = np.array(outline).T
        total += 0.5 * float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())
    return total


def depth(outline: Outline, place: tuple[float, float]) -> float:
    """Return how deep a place lies within a convex outline; negative outside of it."""
    corners = np.array(outline)
    edges = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(*edges.T)
    to_place = np.array(place) - corners
    cross = edges[:, 0] * to_place[:, 1] - edges[:, 1] * to_place[:, 0]
    long = lengths > 1e-9
    return float((cross[long] / lengths[long]).min(initial=np.inf))


@st.composite
def slices(draw: st.DrawFn) -> tuple[Voronoi, Plane]:
    """Draw a partition of up to eight dimensions and a plane, often one with a symmetry or a prototype in it."""
    dimensions, count = draw(st.integers(2, 8)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    rows = rng.normal(size=(count, dimensions))
    if draw(st.booleans()):
        rows = np.unique(rows.round(), axis=0)
    axes = sorted(rng.choice(dimensions, 2, replace=False).tolist())
    at = rows[0] if draw(st.booleans()) else rng.normal(size=dimensions)
    partition = voronoi(rng.permutation(rows), rng.uniform(0.5, 2.0, dimensions))
    return partition, Plane(tuple(axes), tuple(at.tolist()))


def on_border(partition: Any, s: tuple[float, ...]) -> bool:
    """Tell whether two prototypes are equally near but for rounding."""
    rows = partition.prototypes
    distances = np.sort((((np.array(s) - rows) * partition.weight) ** 2).sum(axis=1))
    return len(distances) > 1 and distances[1] - distances[0] < 1e-9


@given(slices(), st.integers(0, 99))
def test_a_place_is_in_the_cell_of_its_prototype_and_in_no_other(
    case: tuple[Voronoi, Plane], seed: int
) -> None:
    partition, plane = case
    outlines = voronoi_outlines(partition, plane, LOW, HIGH)
    assert len(outlines) == len(partition.prototypes)
    assert area(outlines) == pytest.approx(24.0)
    for x, y in np.random.default_rng(seed).uniform(LOW, HIGH, (20, 2)).tolist():
        s = plane.state(x, y)
        if not on_border(partition, s):
            inside = {p for p, outline in enumerate(outlines) if outline and depth(outline, (x, y)) > 0.0}
            assert inside <= {nearest(partition, s)}
            assert depth(outlines[nearest(partition, s)], (x, y)) > -1e-9


def test_of_prototypes_that_mirror_each_other_at_the_plane_the_oldest_has_the_cell() -> None:
    partition = voronoi([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 1.0]], [1.0, 1.0, 1.0])
    plane = Plane((0, 1), (0.0, 0.0, 0.0))
    first, mirrored, beside = voronoi_outlines(partition, plane, LOW, HIGH)
    assert (bool(first), mirrored, bool(beside)) == (True, (), True)
    assert region(partition, plane.state(0.1, 0.1)) == 0


def test_a_plane_far_from_a_prototype_does_not_meet_its_cell() -> None:
    partition = voronoi([[0.0, 0.0, 0.0], [0.1, 0.0, 9.0], [0.0, 0.0, 1.0]], [1.0, 1.0, 1.0])
    near, far, behind = voronoi_outlines(partition, Plane((0, 1), (0.0, 0.0, 0.0)), LOW, HIGH)
    assert area([near]) == pytest.approx(24.0)
    assert far == behind == ()


def test_a_prototype_may_own_a_part_of_the_plane_that_it_does_not_stand_over() -> None:
    """Its shadow lies in the cell of another, as the offset moves the border beyond it."""
    partition = voronoi([[0.0, 0.0, 0.0], [1.0, 0.0, 2.0]], [1.0, 1.0, 1.0])
    _, second = voronoi_outlines(partition, Plane((0, 1), (0.0, 0.0, 0.0)), LOW, HIGH)
    assert min(x for x, _ in second) == pytest.approx(2.5)


@given(slices())
def test_neighbours_share_a_border_on_which_both_are_nearest(case: tuple[Voronoi, Plane]) -> None:
    partition, plane = case
    low, high = (tuple(np.array(c) * partition.scale[list(plane.axes)]) for c in (LOW, HIGH))
    cells = voronoi_cells(partition, plane, low, high)
    pairs = shared_edges(cells, 1e-6)
    for p, cell in enumerate(cells):
        for (xa, ya, q), (xb, yb, _) in zip(cell, [*cell[1:], *cell[:1]], strict=True):
            if q < 0 or math.hypot(xb - xa, yb - ya) <= 1e-6:
                continue
            assert (min(p, q), max(p, q)) in pairs
            wide, tall = partition.scale[list(plane.axes)].tolist()
            s = np.array(plane.state((xa + xb) / 2 * wide, (ya + yb) / 2 * tall))
            rows = partition.prototypes
            distances = (((s - rows) * partition.weight) ** 2).sum(axis=1)
            assert distances[[p, q]] == pytest.approx(distances.min(), abs=1e-9)


def test_points_on_one_circle_meet_in_a_corner_and_are_no_neighbours_across_it() -> None:
    square = voronoi([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], [1.0, 1.0])
    cells = voronoi_cells(square, Plane((0, 1), (0.0, 0.0)), LOW, HIGH)
    assert shared_edges(cells, 1e-9) == {(0, 1), (1, 2), (2, 3), (0, 3)}


@given(st.data())
def test_boxes_tile_a_plane_and_hold_their_region(data: st.DataObject) -> None:
    dimensions = data.draw(st.integers(1, 4))

    def cut(box: Box, level: int) -> tuple[int, float] | None:
        if level == 5 or not data.draw(st.booleans()):
            return None
        axis = data.draw(st.integers(0, dimensions - 1))
        return axis, (box[0][axis] + box[1][axis]) / 2

    partition = tree([-1.0] * dimensions, [1.0] * dimensions, cut)
    at = tuple(data.draw(st.floats(-2, 2)) for _ in range(dimensions))
    plane = Plane(tuple(sorted({0, dimensions - 1})), at)
    outlines = box_outlines(partition, plane)
    assert area(outlines) == pytest.approx(4.0 if dimensions > 1 else 2.0)
    for number, outline in enumerate(outlines):
        if outline:
            x, y = np.mean(outline, axis=0).tolist()
            assert region(partition, plane.state(x, y)) == number


@pytest.mark.parametrize(
    "told",
    [
        *(None, 3, "wide", [], [[0, 0]], [[0.0], [1.0]], {"low": 1}),
        *([[0, 0], ["a", 1]], [[0, math.inf], [1, 1]], [[2, 0], [1, 1]]),
    ],
)
def test_an_extent_that_is_none_is_not_believed(told: Any) -> None:
    known = ((-1.0, -2.0), (1.0, 2.0))
    assert learned_extent({"extent": told}, *known) == known
    assert learned_extent({}, *known) == known
