"""An independent check of a certificate that a set of cells is never left, in ball arithmetic (Arb).

This module knows the equations of the task, and encloses the image of a block of cells by its own formula, in numbers
that carry a rigorous bound of their error. A block whose image is not certainly inside the certified cells is halved,
down to single cells; one that fails refutes the certificate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import arb

from distinguo.errors import DistinguoError
from distinguo.proof.checker.actions import decisions
from distinguo.proof.checker.balls import ONE, PuckEquations, Span, StateBlock, ball, span
from distinguo.proof.schema import HoldCertificate


class CellChecker:
    """Encloses the images of blocks of cells under the equations of a certificate."""

    def __init__(self, certificate: HoldCertificate) -> None:
        self.certificate, self.equations = certificate, PuckEquations(certificate.task)
        cells = certificate.cells
        self.matrix, self.low = [arb(n) for n in cells.matrix], [arb(n) for n in cells.low]
        self.pitch, self.counts = [arb(n) for n in cells.pitch], cells.counts
        a, b, c, d = self.matrix
        determinant = a * d - b * c
        if determinant.contains(0):
            raise DistinguoError(
                "The certificate is wrong: its coordinates cannot be turned back into states."
            )
        self.inverse = [d / determinant, -b / determinant, -c / determinant, a / determinant]
        self.alive = certificate.alive()
        self.sums = np.zeros((self.counts[0] + 1, self.counts[1] + 1), dtype=np.int64)
        self.sums[1:, 1:] = self.alive.cumsum(axis=0, dtype=np.int64).cumsum(axis=1)

    def count(self, i: int, j: int, m: int, n: int) -> int:
        """Return how many cells of a block are certified."""
        s = self.sums
        return int(s[i + m, j + n] - s[i, j + n] - s[i + m, j] + s[i, j])

    def block(self, i: int, j: int, m: int, n: int) -> StateBlock:
        """Return the states of a block of cells."""
        ry, rz = m * self.pitch[0] / 2, n * self.pitch[1] / 2
        y, z = self.low[0] + i * self.pitch[0] + ry, self.low[1] + j * self.pitch[1] + rz
        p, q, r, s = self.inverse
        first, second = (p * ry, r * ry), (q * rz, s * rz)
        rx, rv = abs(first[0]) + abs(second[0]), abs(first[1]) + abs(second[1])
        return StateBlock(p * y + q * z, r * y + s * z, rx, rv, (first, second))

    def keeps(self, block: StateBlock, a: int) -> bool:
        """Tell whether the image of a block certainly stays off the walls and in the certified cells.

        With ``acc(x) = slope * x + rest(x)`` all but ``rest`` is linear in the coordinates of cells, and so known
        exactly; the mean value theorem bounds ``rest``. As a step is affine in its interval, the steps of all
        intervals lie between those of the shortest and of the longest.
        """
        equations = self.equations
        slope = equations.slope(block.x, a, equations.middle).mid()
        whole = ball(block.x - block.rx, block.x + block.rx)
        turn = (equations.slope(whole, a, equations.ball) - slope) * block.rx
        at = equations.acceleration(block.x, a)
        rest = ball(at.low - abs(turn), at.high + abs(turn)) - slope * block.x
        rounding = equations.rounding * (ONE + abs(whole) + abs(block.v) + block.rv)
        images = []
        for d in equations.intervals:
            if not self._off_walls(block, d, rounding):
                return False
            images.append([self._image(block, row, d, slope, rest, rounding) for row in (0, 1)])
        return self._inside([span(*(end for image in images for end in image[row])) for row in (0, 1)])

    def _image(
        self, block: StateBlock, row: int, d: Any, slope: Any, rest: Any, rounding: Any
    ) -> tuple[Any, Any]:
        """Return the ends of one coordinate of the image."""
        p, q = self.matrix[2 * row], self.matrix[2 * row + 1]
        of_x, of_v = p + q * d * slope, p * d + q
        spread = sum((abs(of_x * e[0] + of_v * e[1]) for e in block.edges), start=arb(0))
        spread += abs(p) * (self.equations.shake_x + rounding) + abs(q) * (self.equations.shake_v + rounding)
        centre = of_x * block.x + of_v * block.v + q * d * rest
        return centre - spread, centre + spread

    def _off_walls(self, block: StateBlock, d: Any, rounding: Any) -> bool:
        spread = sum((abs(e[0] + d * e[1]) for e in block.edges), start=arb(0))
        far = abs(block.x + d * block.v) + spread + self.equations.shake_x + rounding
        return bool(far < self.equations.low["wall"])

    def _inside(self, ends: list[Span]) -> bool:
        """Tell whether a box lies in certified cells: whole numbers say which, balls that it is so."""
        places = []
        for axis, (low, high) in enumerate(ends):
            first, last = self._edge(axis, low, False), self._edge(axis, high, True)
            if first is None or last is None:
                return False
            places.append((first, last - first))
        (i, m), (j, n) = places
        return m > 0 and n > 0 and self.count(i, j, m, n) == m * n

    def _edge(self, axis: int, place: Any, above: bool) -> int | None:
        """Return the nearest edge certainly not above a place, or not below it."""
        guess = float((place - self.low[axis]) / self.pitch[axis])
        if not -1 < guess < self.counts[axis] + 1:
            return None
        k = math.ceil(guess) if above else math.floor(guess)
        for edge in (k, k + 1 if above else k - 1):
            where = self.low[axis] + edge * self.pitch[axis]
            if 0 <= edge <= self.counts[axis] and (place <= where if above else where <= place):
                return edge
        return None


def _halves(i: int, j: int, m: int, n: int) -> Iterator[tuple[int, int, int, int]]:
    if m >= n:
        yield i, j, m // 2, n
        yield i + m // 2, j, m - m // 2, n
    else:
        yield i, j, m, n // 2
        yield i, j + n // 2, m, n - n // 2


def check_cells(certificate: HoldCertificate) -> tuple[int, int]:
    """Verify every cell, or raise: how many there are, and how many blocks it took."""
    checker, claim = CellChecker(certificate), certificate.controller
    policy = decisions(claim)
    enough = any if claim is None else all
    todo, blocks = [((0, 0, *certificate.cells.counts), policy.everywhere)], 0
    while todo:
        place, candidates = todo.pop()
        if not checker.count(*place):
            continue
        block = checker.block(*place)
        touched = policy.narrowed(block, candidates)
        chosen = sorted(policy.actions_at(touched))
        blocks += 1
        if max(chosen) < 2 and enough(checker.keeps(block, a) for a in chosen):
            continue
        if place[2:] == (1, 1):
            state = f"({float(block.x):.4f}, {float(block.v):.4f})"
            raise DistinguoError(
                f"The certificate is wrong: a step from the cell around {state} may leave the set."
            )
        todo += [(half, touched) for half in _halves(*place)]
    return int(checker.alive.sum()), blocks
