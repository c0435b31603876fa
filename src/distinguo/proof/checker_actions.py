"""The checker's own answer to the question which actions a controller may take in a block of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from distinguo.proof.balls import ONE, ROUNDING, Block
from distinguo.proof.claims import BoxesClaim, VoronoiClaim


def _voronoi_actions(controller: VoronoiClaim) -> Any:
    points = [(arb(p[0]), arb(p[1])) for p in controller.prototypes]
    w0, w1 = (arb(w) ** 2 for w in controller.weight)
    plain = np.array(controller.prototypes) * np.array(controller.weight)

    def narrow(block: Block, candidates: list[int]) -> list[int]:
        """Drop the prototypes that another certainly beats everywhere in a block, rounding included."""
        centre = np.array([float(block.x), float(block.v)]) * np.array(controller.weight)
        k = candidates[int(((plain[candidates] - centre) ** 2).sum(axis=1).argmin())]
        size = block.rx**2 * w0 + block.rv**2 * w1
        best = (block.x - points[k][0]) ** 2 * w0 + (block.v - points[k][1]) ** 2 * w1
        kept = []
        for p in candidates:
            d = (block.x - points[p][0]) ** 2 * w0 + (block.v - points[p][1]) ** 2 * w1
            g0, g1 = 2 * (points[p][0] - points[k][0]) * w0, 2 * (points[p][1] - points[k][1]) * w1
            reach = sum(abs(g0 * e[0] + g1 * e[1]) for e in block.edges)
            if p == k or not d - best - reach > ROUNDING * (ONE + d + best + size):
                kept.append(p)
        return kept

    return list(range(len(points))), narrow, lambda p: controller.actions[controller.primary[p]]


def _boxes_actions(controller: BoxesClaim) -> Any:
    cuts = [arb(cut) for cut in controller.cut]

    def narrow(block: Block, candidates: list[int]) -> list[int]:
        """Follow every cut that a block is not certainly on one side of; nodes stand for what is below them."""
        todo, leaves = list(candidates), []
        while todo:
            node = todo.pop()
            axis = controller.axis[node]
            if axis < 0:
                leaves.append(node)
                continue
            middle, half = ((block.x, block.rx), (block.v, block.rv))[axis]
            if not middle - half >= cuts[node]:
                todo.append(controller.below[node])
            if not middle + half < cuts[node]:
                todo.append(controller.above[node])
        return leaves

    def from_root(block: Block, _: list[int]) -> list[int]:
        return narrow(block, [0])

    return [0], from_root, lambda leaf: controller.actions[controller.below[leaf]]


def policy(claim: VoronoiClaim | BoxesClaim | None) -> Any:
    """Return what to begin with, how to narrow it to what a block may touch, and the actions of what is left.

    >>> policy(None)[2](0)
    [0, 1]
    """
    if isinstance(claim, VoronoiClaim):
        return _voronoi_actions(claim)
    if isinstance(claim, BoxesClaim):
        return _boxes_actions(claim)
    return [0], lambda block, candidates: candidates, lambda _: [0, 1]
