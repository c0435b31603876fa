"""The checker's own answer to the question which actions a controller may take in a block of states."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from distinguo.errors import DistinguoError
from distinguo.proof.checker.balls import ONE, ROUNDING, StateBlock
from distinguo.proof.checker.duals import Dual, negative
from distinguo.proof.schema import BoxesClaim, TreeClaim, VoronoiClaim

Places = list[int]  #: prototypes, or nodes of a tree


class Decisions(NamedTuple):
    """How a controller decides, by places that each stand for a region."""

    everywhere: Places  #: where the search for the places of a block begins
    narrowed: Callable[
        [StateBlock, Places], Places
    ]  #: those that a block may touch, of those of a larger block
    actions: Callable[[int], list[int]]  #: the actions of a place

    def possible(self, block: StateBlock) -> set[int]:
        """Return the actions that may be taken somewhere in a block."""
        return self.actions_at(self.narrowed(block, self.everywhere))

    def actions_at(self, places: Places) -> set[int]:
        """Return the actions of any of these places."""
        return {a for place in places for a in self.actions(place)}


@singledispatch
def decisions(claim: Any) -> Decisions:
    """Return how the controller of a claim decides.

    >>> decisions(None).actions(0)
    [0, 1]
    """
    raise DistinguoError(f"The checker knows no controllers like a {type(claim).__name__}.")


@decisions.register
def _(claim: None) -> Decisions:
    """Without a controller any action may be taken."""
    return Decisions([0], lambda block, places: places, lambda place: [0, 1])


@decisions.register
def _(claim: VoronoiClaim) -> Decisions:
    points = [(arb(p[0]), arb(p[1])) for p in claim.prototypes]
    w0, w1 = (arb(w) ** 2 for w in claim.weight)
    weight = np.array(claim.weight)
    plain = np.array(claim.prototypes) * weight

    def narrowed(block: StateBlock, prototypes: Places) -> Places:
        """Drop the prototypes that another certainly beats everywhere in a block, rounding included."""
        k, near = _near(plain, weight, block, prototypes)
        size = block.rx**2 * w0 + block.rv**2 * w1
        best = (block.x - points[k][0]) ** 2 * w0 + (block.v - points[k][1]) ** 2 * w1
        kept = []
        for p in near:
            d = (block.x - points[p][0]) ** 2 * w0 + (block.v - points[p][1]) ** 2 * w1
            g0, g1 = 2 * (points[p][0] - points[k][0]) * w0, 2 * (points[p][1] - points[k][1]) * w1
            reach = sum(abs(g0 * e[0] + g1 * e[1]) for e in block.edges)
            if p == k or not d - best - reach > ROUNDING * (ONE + d + best + size):
                kept.append(p)
        return kept

    return Decisions(list(range(len(points))), narrowed, lambda p: claim.actions[claim.primary[p]])


def _near(plain: np.ndarray, weight: np.ndarray, block: StateBlock, prototypes: Places) -> tuple[int, Places]:
    """Return the prototype nearest to the centre, and those that are not out of question by far.

    A prototype that is farther from the centre than another by the whole width of the block is the nearest nowhere.
    Plain numbers, off by 1e-15, may say so, as they are given a leeway of 1e-9: balls decide where it is close.
    """
    with np.errstate(all="ignore"):  # what overflows is far, and what is no number is kept
        centre = np.array([float(block.x), float(block.v)]) * weight
        reach = np.array([float(block.rx.abs_upper()), float(block.rv.abs_upper())]) * weight
        distances = ((plain[prototypes] - centre) ** 2).sum(axis=1)
        far = (np.sqrt(distances.min()) + 2.0 * np.hypot(*reach)) ** 2
        leeway = 1e-6 * far + 1e-9 * (1.0 + (centre**2).sum())
    kept = [p for p, drop in zip(prototypes, distances > far + leeway, strict=True) if not drop]
    return prototypes[int(distances.argmin())], kept


@decisions.register
def _(claim: BoxesClaim) -> Decisions:
    cuts = [arb(cut) for cut in claim.cut]

    def leaves(block: StateBlock, _: Places) -> Places:
        """Follow, from the root, every cut that a block is not certainly on one side of."""
        todo, reached = [0], []
        while todo:
            node = todo.pop()
            axis = claim.axis[node]
            if axis < 0:
                reached.append(node)
                continue
            middle, half = ((block.x, block.rx), (block.v, block.rv))[axis]
            if not middle - half >= cuts[node]:
                todo.append(claim.below[node])
            if not middle + half < cuts[node]:
                todo.append(claim.above[node])
        return reached

    return Decisions([0], leaves, lambda leaf: claim.actions[claim.below[leaf]])


def touched_leaves(claim: TreeClaim, seen: tuple[Dual, ...]) -> list[tuple[list[int], list[Dual]]]:
    """The leaves of a tree that a set of observations may touch: their actions, and numbers not above 0 there."""
    found: list[tuple[list[int], list[Dual]]] = []
    todo: list[tuple[int, list[Dual]]] = [(0, [])]
    while todo:
        node, limits = todo.pop()
        axis = claim.axis[node]
        if axis < 0:
            found.append((claim.actions[claim.below[node]], limits))
            continue
        if axis >= len(seen):
            raise DistinguoError("The certificate is wrong: its tree cuts a coordinate that is not there.")
        number, cut = seen[axis].tightened(), arb(claim.cut[node])
        over = Dual(number.middle - cut, number.range - cut, number.slopes)
        if not number.range >= cut:
            todo.append((claim.below[node], [*limits, over]))
        if not number.range < cut:
            todo.append((claim.above[node], [*limits, negative(over)]))
    return found
