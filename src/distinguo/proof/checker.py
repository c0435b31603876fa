"""An independent check of a certificate, in ball arithmetic (Arb).

This module shares no code with the prover: it reads the certificate, knows the equations of the task, and encloses
the image of a block of cells by its own formula, in numbers that carry a rigorous bound of their error. A block whose
image is not certainly inside the certified cells is halved, down to single cells; one that fails refutes the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from flint import arb, ctx

from distinguo.errors import DistinguoError
from distinguo.proof.certificate import BoxesClaim, Certificate, TaskClaim, VoronoiClaim

PRECISION = 100  #: bits of the balls
#: What rounding may change in one step of the program, in units of the numbers that it adds: twenty roundings of
#: 1.1e-16 each are allowed for a hundred times over.
ROUNDING = arb("1e-12")
_ZERO, _ONE = arb(0), arb(1)


class Checked(NamedTuple):
    """What a check went through."""

    cells: int  #: cells that are certified, all of them verified
    blocks: int  #: blocks whose images were enclosed


class Span(NamedTuple):
    """A closed interval between two balls: from the lower end of the first to the upper end of the second."""

    low: Any
    high: Any


def _span(*values: Any) -> Span:
    """Return the hull of some balls."""
    low, high = values[0].lower(), values[0].upper()
    for value in values[1:]:
        low, high = low.min(value.lower()), high.max(value.upper())
    return Span(low, high)


def _ball(low: Any, high: Any) -> Any:
    return low.union(high)


class _Dynamics:
    """The equations of the puck, ``x' = x + d v`` and ``v' = v + d acc(x)``, with parameters in ranges.

    ``acc(x) = (f / m) c + 2 b g x c^2`` where ``c = 1 / sqrt(1 + (2 b x)^2)``.
    """

    def __init__(self, task: TaskClaim) -> None:
        self.low = {name: arb(value) for name, value in task.low.items()}
        self.high = {name: arb(value) for name, value in task.high.items()}
        self.ball = {name: _ball(self.low[name], self.high[name]) for name in self.low}
        self.middle = {name: arb((task.low[name] + task.high[name]) / 2) for name in self.low}
        self.shake_x, self.shake_v = (arb(d) for d in task.disturbance)
        self.push = (self.low["force"] / self.high["mass"], self.high["force"] / self.low["mass"])
        self.rounding = ROUNDING * (_ONE + self.push[1] + self.high["gravity"])

    def acceleration(self, x: Any, a: int) -> Span:
        """Return the range of ``acc`` at one position: each parameter at the end that makes it least, or most."""
        near, far = ((_ONE + (2 * beta["beta"] * x) ** 2).rsqrt() for beta in (self.low, self.high))
        weak, strong = self.push[0] * far, self.push[1] * near
        little = 2 * self.low["beta"] * self.low["gravity"] * x * far**2
        much = 2 * self.high["beta"] * self.high["gravity"] * x * near**2
        pull = _span(little, much)
        push = _span(weak, strong) if a == 1 else _span(-weak, -strong)
        return Span(push.low + pull.low, push.high + pull.high)

    def slope(self, x: Any, a: int, parameters: dict[str, Any]) -> Any:
        """Return the derivative of ``acc`` over a ball of positions."""
        u = 2 * parameters["beta"] * x
        square = u * u
        c2 = 1 / (_ONE + square)
        push = parameters["force"] / parameters["mass"] * (1 if a == 1 else -1)
        k = 2 * parameters["beta"] * parameters["gravity"]
        return k * (_ONE - square) * c2 * c2 - push * 2 * parameters["beta"] * u * c2 * c2.sqrt()


class _Block(NamedTuple):
    """A block of cells as a centre and half widths, in the coordinates of cells and in states."""

    y: Any
    z: Any
    ry: Any
    rz: Any
    x: Any
    v: Any
    rx: Any
    rv: Any
    first: tuple[Any, Any]  #: the state at the end of half an edge
    second: tuple[Any, Any]


class _Checker:
    def __init__(self, certificate: Certificate) -> None:
        self.certificate, self.dynamics = certificate, _Dynamics(certificate.task)
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

    def block(self, i: int, j: int, m: int, n: int) -> _Block:
        ry, rz = m * self.pitch[0] / 2, n * self.pitch[1] / 2
        y, z = self.low[0] + i * self.pitch[0] + ry, self.low[1] + j * self.pitch[1] + rz
        p, q, r, s = self.inverse
        first, second = (p * ry, r * ry), (q * rz, s * rz)
        rx, rv = abs(first[0]) + abs(second[0]), abs(first[1]) + abs(second[1])
        return _Block(y, z, ry, rz, p * y + q * z, r * y + s * z, rx, rv, first, second)

    def keeps(self, block: _Block, a: int) -> bool:
        """Tell whether the image of a block certainly stays off the walls and in the certified cells.

        With ``acc(x) = slope * x + rest(x)`` all but ``rest`` is linear in the coordinates of cells, and so known
        exactly; the mean value theorem bounds ``rest``.
        """
        world, d = self.dynamics, self.dynamics.ball["interval"]
        slope = world.slope(block.x, a, world.middle).mid()
        whole = _ball(block.x - block.rx, block.x + block.rx)
        turn = (world.slope(whole, a, world.ball) - slope) * block.rx
        at = world.acceleration(block.x, a)
        rest = _ball(at.low - abs(turn), at.high + abs(turn)) - slope * block.x
        rounding = world.rounding * (_ONE + abs(whole) + abs(block.v) + block.rv)
        x = [_ONE, d]
        v = [d * slope, _ONE]
        if not self._off_walls(block, x, rounding):
            return False
        ends = []
        for row in (0, 1):
            p, q = self.matrix[2 * row], self.matrix[2 * row + 1]
            of_x, of_v = p * x[0] + q * v[0], p * x[1] + q * v[1]
            spread = abs(of_x * block.first[0] + of_v * block.first[1])
            spread += abs(of_x * block.second[0] + of_v * block.second[1])
            spread += abs(p) * (world.shake_x + rounding) + abs(q) * (world.shake_v + rounding)
            centre = of_x * block.x + of_v * block.v + q * d * rest
            ends.append((centre - spread, centre + spread))
        return self._inside(ends)

    def _off_walls(self, block: _Block, x: list[Any], rounding: Any) -> bool:
        spread = abs(block.first[0] + x[1] * block.first[1]) + abs(block.second[0] + x[1] * block.second[1])
        far = abs(block.x + x[1] * block.v) + spread + self.dynamics.shake_x + rounding
        return bool(far < self.dynamics.low["wall"])

    def _inside(self, ends: list[tuple[Any, Any]]) -> bool:
        """Tell whether a box lies in certified cells: whole numbers say which, balls that it is so."""
        places = []
        for axis, (low, high) in enumerate(ends):
            first = self._edge(axis, low.lower(), False)
            last = self._edge(axis, high.upper(), True)
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


def _voronoi_actions(controller: VoronoiClaim) -> Any:
    points = [(arb(p[0]), arb(p[1])) for p in controller.prototypes]
    w0, w1 = (arb(w) ** 2 for w in controller.weight)
    plain = np.array(controller.prototypes) * np.array(controller.weight)

    def narrow(block: _Block, candidates: list[int]) -> list[int]:
        """Drop the prototypes that another certainly beats everywhere in a block, rounding included."""
        centre = np.array([float(block.x), float(block.v)]) * np.array(controller.weight)
        k = candidates[int(((plain[candidates] - centre) ** 2).sum(axis=1).argmin())]
        size = block.rx**2 * w0 + block.rv**2 * w1
        best = (block.x - points[k][0]) ** 2 * w0 + (block.v - points[k][1]) ** 2 * w1
        kept = []
        for p in candidates:
            d = (block.x - points[p][0]) ** 2 * w0 + (block.v - points[p][1]) ** 2 * w1
            g0, g1 = 2 * (points[p][0] - points[k][0]) * w0, 2 * (points[p][1] - points[k][1]) * w1
            reach = sum(abs(g0 * e[0] + g1 * e[1]) for e in (block.first, block.second))
            if p == k or not d - best - reach > ROUNDING * (_ONE + d + best + size):
                kept.append(p)
        return kept

    return list(range(len(points))), narrow, lambda p: controller.actions[controller.primary[p]]


def _boxes_actions(controller: BoxesClaim) -> Any:
    cuts = [arb(cut) for cut in controller.cut]

    def narrow(block: _Block, candidates: list[int]) -> list[int]:
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

    def from_root(block: _Block, _: list[int]) -> list[int]:
        return narrow(block, [0])

    return [0], from_root, lambda leaf: controller.actions[controller.below[leaf]]


def _policy(claim: VoronoiClaim | BoxesClaim | None) -> Any:
    """Return what to begin with, how to narrow it to what a block may touch, and the actions of what is left."""
    if isinstance(claim, VoronoiClaim):
        return _voronoi_actions(claim)
    if isinstance(claim, BoxesClaim):
        return _boxes_actions(claim)
    return [0], lambda block, candidates: candidates, lambda _: [0, 1]


def _halves(i: int, j: int, m: int, n: int) -> Iterator[tuple[int, int, int, int]]:
    if m >= n:
        yield i, j, m // 2, n
        yield i + m // 2, j, m - m // 2, n
    else:
        yield i, j, m, n // 2
        yield i, j + n // 2, m, n - n // 2


def check(certificate: Certificate, controller: VoronoiClaim | BoxesClaim | None = None) -> Checked:
    """Verify every cell of a certificate, and that it is about this controller if one is given.

    Raises a ``DistinguoError`` that says in one sentence why a certificate is refused.
    """
    if controller is not None and controller != certificate.controller:
        raise DistinguoError("The certificate belongs to another controller.")
    with ctx.workprec(PRECISION):
        return _check(certificate)


def _check(certificate: Certificate) -> Checked:
    checker, claim = _Checker(certificate), certificate.controller
    everything, narrow, actions = _policy(claim)
    enough = any if claim is None else all
    todo, blocks = [((0, 0, *certificate.cells.counts), everything)], 0
    while todo:
        place, candidates = todo.pop()
        if not checker.count(*place):
            continue
        block = checker.block(*place)
        left = narrow(block, candidates)
        chosen = sorted({a for p in left for a in actions(p)})
        blocks += 1
        if max(chosen) < 2 and enough(checker.keeps(block, a) for a in chosen):
            continue
        if place[2:] == (1, 1):
            state = f"({float(block.x):.4f}, {float(block.v):.4f})"
            raise DistinguoError(
                f"The certificate is wrong: a step from the cell around {state} may leave the set."
            )
        todo += [(half, left) for half in _halves(*place)]
    return Checked(int(checker.alive.sum()), blocks)
