"""Representations inspired by Variable Resolution Dynamic Programming (Moore 1991; section 4.2.2, Figures 12-13).

Every box is a square block of the cells of a fine grid, ``2 ** SPLITS`` cells along each coordinate; cutting a box
makes four of half its width. A box is cut as long as a trial came through it, so the trials run through boxes of one
cell. Away from them "resolution falls off gradually according to a constraint on neighboring regions", which we read
as: no box may share an edge with a box of less than half its width. Among all partitions like that this is the
coarsest.
"""

from __future__ import annotations

import numpy as np

from distinguo.controls.making import need_plane, with_provenance
from distinguo.controls.visits import failed_trial, successful_trial
from distinguo.representations.boxes import Box, Boxes, grid, tree
from distinguo.representations.file import Representation
from distinguo.tasks.spec import TaskSpec

#: "performing six binary splits of that coordinate" (paper, section 4.2.2): cells of 0.075 m × 0.171875 m/s.
SPLITS = 6


def vrdp(spec: TaskSpec, seed: int) -> Representation:
    """Build the boxes from two trials: one that fails by repeating an action, and one that succeeds.

    >>> from distinguo.tasks.catalog import task_spec
    >>> vrdp(task_spec("puck"), seed=1).regions
    265
    """
    need_plane(spec, "vrdp")
    cells = _cells(spec)
    failed, successful = failed_trial(spec, cells), successful_trial(spec, cells, seed)
    cut = refinement(_raster(failed.visited | successful.visited))
    return with_provenance(spec, refined(spec, cut), "vrdp", seed=seed, splits=SPLITS)


def vrdp_enhanced(spec: TaskSpec, seed: int) -> Representation:
    """Build the boxes from the successful trial alone: every cut is undone that only the failed trial asked for.

    The paper's second representation "removes most of the boxes resulting from the initial failed trial" and has
    117 categories. It was made by hand and breaks the constraint here and there; ours keeps it.

    >>> from distinguo.tasks.catalog import task_spec
    >>> vrdp_enhanced(task_spec("puck"), seed=1).regions
    103
    """
    need_plane(spec, "vrdp-enhanced")
    successful = successful_trial(spec, _cells(spec), seed)
    cut = refinement(_raster(successful.visited))
    return with_provenance(spec, refined(spec, cut), "vrdp-enhanced", seed=seed, splits=SPLITS)


def _cells(spec: TaskSpec) -> Boxes:
    return grid([2**SPLITS] * 2, spec.low, spec.high)


def _raster(visited: np.ndarray) -> np.ndarray:
    """Return the cells as a plane: a grid numbers its boxes row by row."""
    return visited.reshape(2**SPLITS, 2**SPLITS)


def refinement(visited: np.ndarray) -> list[np.ndarray]:
    """Tell which blocks are cut: an array per level, from the one block of all cells to the blocks of 2 × 2.

    When a block is cut, its neighbours of the same width must be boxes of their own, hence the blocks that hold
    these must be cut, too. That is all the constraint asks for, so one pass from fine to coarse settles it.

    >>> corner = np.zeros((4, 4), dtype=bool)
    >>> corner[0, 0] = True
    >>> [level.astype(int).tolist() for level in refinement(corner)]
    [[[1]], [[1, 0], [0, 0]]]
    """
    levels = [_blocks_of_four(visited)]
    while levels[0].size > 1:
        levels.insert(0, _blocks_of_four(_with_neighbours(levels[0])))
    return levels


def _blocks_of_four(cells: np.ndarray) -> np.ndarray:
    half = len(cells) // 2
    return np.asarray(cells.reshape(half, 2, half, 2).any(axis=(1, 3)))


def _with_neighbours(blocks: np.ndarray) -> np.ndarray:
    wider = blocks.copy()
    wider[1:] |= blocks[:-1]
    wider[:-1] |= blocks[1:]
    wider[:, 1:] |= blocks[:, :-1]
    wider[:, :-1] |= blocks[:, 1:]
    return wider


def refined(spec: TaskSpec, cut: list[np.ndarray]) -> Boxes:
    """Return the boxes of a refinement, each cut made along both coordinates of the task in turn.

    >>> from distinguo.representations.boxes import count_leaves
    >>> from distinguo.tasks.catalog import task_spec
    >>> count_leaves(refined(task_spec("puck"), [np.array([[True]]), np.array([[True, False], [False, False]])]))
    7
    """
    cells = 2 ** len(cut)
    edges = [np.linspace(a, b, cells + 1) for a, b in zip(spec.low, spec.high, strict=True)]

    def halve(box: Box, depth: int) -> tuple[int, float] | None:
        level, axis = divmod(depth, 2)
        width = cells >> level
        first = [int(np.searchsorted(edge, corner)) for edge, corner in zip(edges, box[0], strict=True)]
        if level == len(cut) or not cut[level][first[0] // width, first[1] // width]:
            return None
        return axis, float(edges[axis][first[axis] + width // 2])

    return tree(spec.low, spec.high, halve)
