"""A table has the regions of its tree, on the cuts and everywhere else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from distinguo.representations.boxes import MOST_CUTS, Box, Boxes, BoxTable, for_lookup, grid, tabulated, tree
from distinguo.representations.partition import region
from distinguo.representations.voronoi import voronoi


def random_tree(seed: int, dimensions: int) -> Boxes:
    rng = np.random.default_rng(seed)

    def cut(box: Box, depth: int) -> tuple[int, float] | None:
        if depth == 6 or (depth and rng.random() < 0.3):
            return None
        axis = int(rng.integers(dimensions))
        return axis, float(rng.uniform(box[0][axis], box[1][axis]))

    return tree([-1.0] * dimensions, [1.0] * dimensions, cut)


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_same_regions_as_the_tree(seed: int, dimensions: int) -> None:
    boxes = random_tree(seed, dimensions)
    table = tabulated(boxes)
    assert isinstance(table, BoxTable)
    rng = np.random.default_rng(seed)
    states = rng.uniform(-1.2, 1.2, (60, dimensions))
    cuts = boxes.cut[boxes.axis >= 0]
    if len(cuts):  # half of the states have a coordinate exactly on a cut, or a rounding away from one
        chosen = rng.choice(cuts, 30)
        states[:30, int(rng.integers(dimensions))] = np.where(
            rng.random(30) < 0.5, chosen, np.nextafter(chosen, -9)
        )
    for s in map(tuple, states.tolist()):
        assert region(table, s) == region(boxes, s)


def test_too_many_cuts_stay_a_tree() -> None:
    wide = grid([MOST_CUTS + 2, 1], [0.0, 0.0], [1.0, 1.0])
    assert tabulated(wide) is wide


def test_only_boxes_are_changed_for_lookup() -> None:
    two = voronoi([[0.0], [1.0]], [1.0])
    assert for_lookup(two) is two
