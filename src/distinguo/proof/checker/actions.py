"""The checker's own answer to the question which actions a controller may take in a block of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from distinguo.proof.checker.balls import ONE, ROUNDING, Block
from distinguo.proof.schema import BoxesClaim, VoronoiClaim


def _voronoi_actions(controller: VoronoiClaim) -> Any:
    points = [(arb(p[0]), arb(p[1])) for p in controller.prototypes]
    w0, w1 = (arb(w) ** 2 for w in controller.weight)
    weight = np.array(controller.weight)
    plain = np.array(controller.prototypes) * weight

    def narrow(block: Block, candidates: list[int]) -> list[int]:
        """Drop the prototypes that another certainly beats everywhere in a block, rounding included."""
        k, candidates = _near(plain, weight, block, candidates)
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


def _near(
    plain: np.ndarray, weight: np.ndarray, block: Block, candidates: list[int]
) -> tuple[int, list[int]]:
    """Return the candidate nearest to the centre, and those that are not out of question by far.

    A prototype that is farther from the centre than another by the whole width of the block is the nearest nowhere.
    Plain numbers, off by 1e-15, may say so, as they are given a leeway of 1e-9: balls decide where it is close.
    """
    centre = np.array([float(block.x), float(block.v)]) * weight
    reach = np.array([float(block.rx.abs_upper()), float(block.rv.abs_upper())]) * weight
    distances = ((plain[candidates] - centre) ** 2).sum(axis=1)
    far = (np.sqrt(distances.min()) + 2.0 * np.hypot(*reach)) ** 2
    leeway = 1e-6 * far + 1e-9 * (1.0 + (centre**2).sum())
    kept = [p for p, drop in zip(candidates, distances > far + leeway, strict=True) if not drop]
    return candidates[int(distances.argmin())], kept


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
