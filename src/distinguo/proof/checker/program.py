"""An independent check of a certificate about a declared task, by its source, in ball arithmetic (Arb).

Blocks of cells are followed through the controller and the source for as many steps as the certificate says. A block
that may fail, may leave the certified cells, or goes more than one way is halved. A single cell is followed in all of
its ways, and halved a few times; one that fails refutes the certificate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb, arb_mat

from distinguo.errors import DistinguoError
from distinguo.proof.checker.actions import touched_leaves
from distinguo.proof.checker.duals import ZERO, Dual, Unclear
from distinguo.proof.checker.source import Evaluator
from distinguo.proof.schema import ProgramCertificate, PrototypesClaim, TreeClaim

#: A prototype counts as nearest unless another is nearer by this share of the squared distances; in floating point
#: these have a relative error of 1e-15.
NEARER = arb("1e-12")
MOST_WAYS, MOST_OF_BLOCK = (
    20_000,
    64,
)  #: that a cell, and a larger block, may be followed in, all steps together
MOST_CUTS = 2  #: how often a cell that is not clear is halved in each dimension
Block = tuple[tuple[int, int], ...]  #: the first cell and the number of cells, in each dimension
States = tuple[Dual, ...]


class ProgramChecker:
    """Follows blocks of cells."""

    def __init__(self, certificate: ProgramCertificate) -> None:
        self.certificate, self.evaluator = certificate, Evaluator(certificate.task, certificate.controller)
        cells = certificate.cells
        self.dimensions, self.counts = len(cells.counts), cells.counts
        self.matrix = [[arb(number) for number in row] for row in cells.matrix]
        self.low, self.pitch = [arb(number) for number in cells.low], [arb(number) for number in cells.pitch]
        try:
            inverse = arb_mat(self.matrix).inv()
        except (ZeroDivisionError, ValueError):
            raise DistinguoError(
                "The certificate is wrong: its coordinates cannot be turned back into states."
            ) from None
        self.inverse = [[inverse[i, j] for j in range(self.dimensions)] for i in range(self.dimensions)]
        alive = cells.alive()
        self.total = int(alive.sum())
        self.sums = np.zeros([count + 1 for count in self.counts], dtype=np.int64)
        sums = alive.astype(np.int64)
        for axis in range(self.dimensions):
            sums = sums.cumsum(axis=axis)
        self.sums[tuple(slice(1, None) for _ in self.counts)] = sums
        self.controller = certificate.controller
        if isinstance(self.controller, PrototypesClaim):
            self.prototypes = [[arb(number) for number in row] for row in self.controller.prototypes]
            self.weights = [arb(number) ** 2 for number in self.controller.weight]

    def count(self, block: Block) -> int:
        """How many cells of a block are certified."""
        total = 0
        for corner in range(2**self.dimensions):
            place, sign = [], 1
            for axis, (first, size) in enumerate(block):
                upper = corner >> axis & 1
                place.append(first + size if upper else first)
                sign = sign if upper else -sign
            total += sign * int(self.sums[tuple(place)])
        return total

    def states(self, block: Block) -> States:
        """The states of a block."""
        middles, halves = [], []
        for axis, (first, size) in enumerate(block):
            half = size * self.pitch[axis] / 2
            middles.append(self.low[axis] + first * self.pitch[axis] + half)
            halves.append(half)
        found = []
        for row in self.inverse:
            middle = sum((p * q for p, q in zip(row, middles, strict=True)), start=ZERO)
            slopes = tuple(p * half for p, half in zip(row, halves, strict=True))
            found.append(Dual(middle, middle, slopes))
            found[-1].range = sum((slope * arb(0, 1) for slope in slopes), start=middle)
        return tuple(found)

    def actions(self, seen: States) -> set[int]:
        """The actions that the controller may take somewhere in a set of observations."""
        if isinstance(self.controller, TreeClaim):
            return {a for actions, _ in touched_leaves(self.controller, seen) for a in actions}
        distances = []
        for place in self.prototypes:
            terms = (w * (s.middle - p) ** 2 for w, s, p in zip(self.weights, seen, place, strict=True))
            distances.append(sum(terms, start=ZERO))
        k = min(range(len(distances)), key=lambda p: float(distances[p].mid()))
        size = sum(
            (w * (s.range - s.middle).abs_upper() ** 2 for w, s in zip(self.weights, seen, strict=True)),
            start=arb(1),
        )

        def is_nearer(k: int, p: int) -> bool:
            """Whether one prototype is certainly nearer than another everywhere in the set."""
            pairs = list(zip(self.weights, self.prototypes[k], self.prototypes[p], strict=True))
            # the difference of the squared distances is affine in what is seen
            factors = [2 * w * (a - b) for w, a, b in pairs]
            lead = sum((w * (a + b) * (b - a) for w, a, b in pairs), start=ZERO)
            lead += sum((f * s.middle for f, s in zip(factors, seen, strict=True)), start=ZERO)
            for direction in range(self.dimensions):
                turn = (f * s.slopes[direction] for f, s in zip(factors, seen, strict=True))
                lead -= abs(sum(turn, start=ZERO))
            return bool(lead > NEARER * (size + distances[p] + distances[k]))

        near = [p for p in range(len(distances)) if p == k or not is_nearer(k, p)]
        chosen: set[int] = set()
        assert self.controller is not None
        for p in near:
            if p == k or not any(is_nearer(q, p) for q in near if q not in (k, p)):
                chosen.update(self.controller.actions[p])
        return chosen

    def _chosen(self, state: States) -> set[int]:
        """The actions that the controller may take in a set of states."""
        return set().union(*(self.actions(seen) for seen in self.evaluator.observed(state, True)))

    def keeps(self, block: Block, alone: bool) -> bool:
        """Whether no state of a block fails before it is in certified cells again, in every way that it may go.

        Without a controller, it is enough that some action, held so long, does this.
        """
        if self.controller is None:
            return any(self._returns(block, alone, a) for a in range(self.certificate.task.actions))
        return self._returns(block, alone, None)

    def _returns(self, block: Block, alone: bool, held: int | None) -> bool:
        todo: list[tuple[States, int]] = [(self.states(block), self.certificate.steps)]
        ways = 0
        while todo:
            state, left = todo.pop()
            ways += 1
            if ways > (MOST_WAYS if alone else MOST_OF_BLOCK):
                return False
            try:
                for a in self._chosen(state) if held is None else (held,):
                    for after, ended in self.evaluator.steps(state, a, True):
                        if ended:
                            return False
                        reached = tuple(number.tightened() for number in after)
                        if not self._inside(reached):
                            if left == 1:
                                return False
                            todo.append((reached, left - 1))
            except Unclear:
                return False
        return True

    def _inside(self, state: States) -> bool:
        """Whether a set lies in certified cells: whole numbers say which, balls that it is so."""
        block = []
        for axis, row in enumerate(self.matrix):
            middle = sum((p * s.middle for p, s in zip(row, state, strict=True)), start=ZERO)
            spread = ZERO
            for direction in range(self.dimensions):
                spread += abs(
                    sum((p * s.slopes[direction] for p, s in zip(row, state, strict=True)), start=ZERO)
                )
            whole = sum((p * s.range for p, s in zip(row, state, strict=True)), start=ZERO)
            low = (middle - spread).lower().max(whole.lower())
            high = (middle + spread).upper().min(whole.upper())
            first, last = self._edge(axis, low, False), self._edge(axis, high, True)
            if first is None or last is None or last < first:
                return False
            if last == first:  # a number on an edge is in the cells on both sides
                first, last = (first - 1, last) if last == self.counts[axis] else (first, last + 1)
            block.append((first, last - first))
        return self.count(tuple(block)) == math.prod(size for _, size in block)

    def _edge(self, axis: int, place: Any, above: bool) -> int | None:
        """The nearest edge certainly not above a place, or not below it."""
        if not place.is_finite():
            return None
        guess = float((place - self.low[axis]) / self.pitch[axis])
        if not -1 < guess < self.counts[axis] + 1:
            return None
        k = math.ceil(guess) if above else math.floor(guess)
        for edge in (k, k + 1 if above else k - 1):
            where = self.low[axis] + edge * self.pitch[axis]
            if 0 <= edge <= self.counts[axis] and (place <= where if above else where <= place):
                return edge
        return None

    def holds_starts(self) -> bool:
        """Whether every start certainly lies in certified cells."""
        for start in self.evaluator.starts():
            duals = tuple(Dual(ball, ball, (ZERO,) * self.dimensions) for ball in start)
            if not self._inside(duals):
                return False
        return True


def _halves(block: Block) -> list[Block]:
    axis = max(range(len(block)), key=lambda axis: block[axis][1])
    first, size = block[axis]
    parts = ((first, size // 2), (first + size // 2, size - size // 2))
    return [(*block[:axis], part, *block[axis + 1 :]) for part in parts]


def _keeps_in_parts(checker: ProgramChecker, cell: Any, cuts: int) -> bool:
    """Whether the same is true of the halves of a cell, or of theirs: bounds of smaller boxes are narrower."""
    if cuts == 0:
        return False
    axis = max(range(len(cell)), key=lambda axis: cell[axis][1])
    first, size = cell[axis]
    return all(
        checker.keeps(half, True) or _keeps_in_parts(checker, half, cuts - 1)
        for half in (
            (*cell[:axis], (first + part * size / 2, size / 2), *cell[axis + 1 :]) for part in (0, 1)
        )
    )


def check_program(certificate: ProgramCertificate) -> tuple[int, int]:
    """Verify every cell, or raise: how many there are, and how many blocks it took."""
    checker = ProgramChecker(certificate)
    claim = certificate.controller
    observes = "observe" in certificate.task.functions
    if isinstance(claim, PrototypesClaim) and not observes and len(claim.weight) != checker.dimensions:
        raise DistinguoError("The certificate is wrong: its prototypes have another number of coordinates.")
    if certificate.all_starts and not checker.holds_starts():
        raise DistinguoError("The certificate is wrong: a start may lie outside of its cells.")
    todo: list[Block] = [tuple((0, count) for count in checker.counts)]
    blocks = 0
    while todo:
        block = todo.pop()
        if not checker.count(block):
            continue
        alone = all(size == 1 for _, size in block)
        whole = checker.count(block) == math.prod(size for _, size in block)
        if whole:
            blocks += 1
            if checker.keeps(block, alone):
                continue
            if alone and _keeps_in_parts(checker, block, MOST_CUTS * len(block)):
                continue
            if alone:
                centre = ", ".join(f"{float(s.middle):.4f}" for s in checker.states(block))
                raise DistinguoError(
                    f"The certificate is wrong: a step from the cell around ({centre}) may leave the set."
                )
        todo += _halves(block)
    return checker.total, blocks
