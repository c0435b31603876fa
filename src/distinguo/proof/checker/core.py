"""An independent check of a certificate about a slow system: sets of cells and polygons are followed again.

A certificate names coordinates, how long sets are followed before they are rounded, and the sets that must hold them
on the way. All else is computed here: the program on blocks of states in Arb balls, by the mean value form; the
linear part of its images in double precision, each sum widened by far more than its own rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat

from distinguo.errors import DistinguoError
from distinguo.proof.checker.duals import ZERO, Dual, Unclear, subtract
from distinguo.proof.checker.source import Evaluator, refused
from distinguo.proof.schema import CoreCertificate

FAST = 2  #: coordinates in cells
#: A sum of at most 60 products of doubles is off by less than 1e-14 of the magnitudes of its terms.
WIDER = 1e-12
NEARER = 1e-12  #: a prototype is left out only if another is nearer by this share of the squared distances
PARTS = (2, 2, 3, 3)  #: in which a block is enclosed, along each coordinate
STRAIGHT = 0.03
NEAR = 1.0  #: sets whose middles lie in the same square of this side, in fast coordinates, share a block
MOST_SETS, MOST_ENTRIES, MOST_BLOCKS = 200_000, 5_000_000, 200_000
MOST_NUMBERS = 120_000_000


class Sets(NamedTuple):
    """Cells and the supports of the polygon in each."""

    cells: np.ndarray
    supports: np.ndarray


class Moved(NamedTuple):
    """Sets some steps later: the row that each came from, its path, and the linear map of every path."""

    row: np.ndarray
    path: np.ndarray
    slope: np.ndarray  #: (paths, d, d)
    shift: np.ndarray
    error: np.ndarray


class CoreChecker:
    """Follows sets through the controller and the source."""

    def __init__(self, certificate: CoreCertificate) -> None:
        self.certificate, self.evaluator = certificate, Evaluator(certificate.task)
        claim = certificate.coordinates
        self.d = certificate.task.dimensions
        self.origin, self.matrix = np.array(claim.origin), np.array(claim.matrix)
        self.exact = [[arb(number) for number in row] for row in claim.matrix]
        try:
            turned = arb_mat(self.exact).inv()
        except (ZeroDivisionError, ValueError):
            raise DistinguoError(
                "The certificate is wrong: its coordinates cannot be turned back into states."
            ) from None
        self.back = [[turned[i, j] for j in range(self.d)] for i in range(self.d)]
        self.inverse = np.array([[float(ball.mid()) for ball in row] for row in self.back])
        off = [[float((ball - float(ball.mid())).abs_upper()) for ball in row] for row in self.back]
        self.inverse_off = np.array(off) * (1.0 + WIDER)
        self.pitch = np.array(claim.pitch)
        self.directions = directions_of(claim.directions, self.d - FAST)
        policy = certificate.controller
        self.places, self.weights = np.array(policy.prototypes), np.array(policy.weight) ** 2
        self.known: dict[Any, Any] = {}
        self.blocks, self.extent = 0, 0.0

    # ---- sets ------------------------------------------------------------------------------------------------------

    def gathered(self, low: np.ndarray, high: np.ndarray, supports: np.ndarray) -> Sets:
        """Cells for sets with these ends of the fast coordinates and these supports."""
        off = WIDER * 10.0 * (1.0 + np.abs(low) + np.abs(high))
        first = np.floor((low - off) / self.pitch)
        last = np.floor((high + off) / self.pitch)
        if not (np.isfinite(first).all() and np.isfinite(last).all() and np.abs([first, last]).max() < 2**20):
            raise DistinguoError("The certificate is wrong: its sets spread beyond any bound.")
        sizes = (last - first + 1).astype(np.int64)
        counts = sizes.prod(axis=1)
        if counts.sum() > MOST_ENTRIES:
            raise DistinguoError("The certificate cannot be checked: its sets touch too many cells.")
        source = np.repeat(np.arange(len(sizes)), counts)
        place = np.arange(len(source)) - np.repeat(counts.cumsum() - counts, counts)
        wide = sizes[source, 1]
        cells = first[source].astype(np.int64) + np.column_stack([place // wide, place % wide])
        cells, row = np.unique(cells, axis=0, return_inverse=True)
        if len(cells) * supports.shape[1] > MOST_NUMBERS:
            raise DistinguoError("The certificate cannot be checked: its sets touch too many cells.")
        row = row.ravel()
        order = np.argsort(row, kind="stable")
        begin, source = np.searchsorted(row[order], np.arange(len(cells))), source[order]
        found = [np.maximum.reduceat(column[source], begin) for column in np.ascontiguousarray(supports.T)]
        return Sets(cells, np.stack(found, axis=1))

    def starts(self) -> Sets:
        """The sets of all starts: boxes, cut into parts about as wide as a cell."""
        found: list[Any] = []
        for start in self.evaluator.starts():
            low = np.array([float(ball.lower()) for ball in start])
            high = np.array([float(ball.upper()) for ball in start])
            wide = np.maximum(high - low, 0.0)
            parts = np.ceil((np.abs(self.matrix[:FAST]) / self.pitch[:, None]).max(axis=0) * wide)
            parts = np.maximum(parts, 1.0)
            while parts.prod() > 40_000:
                parts = np.maximum(np.floor(parts * 0.8), 1.0)
            steps = [a + w / k * (np.arange(k) + 0.5) for a, w, k in zip(low, wide, parts, strict=True)]
            middle = (np.array(list(product(*steps))) - self.origin) @ self.matrix.T
            edges = self.matrix * (0.5 * wide / parts)
            size = np.abs(self.matrix) @ (np.abs(low) + np.abs(high) + np.abs(self.origin))
            reach = np.abs(edges).sum(axis=1) + WIDER * size
            along = np.abs(self.directions @ edges[FAST:]).sum(axis=1)
            along += WIDER * (np.abs(self.directions) @ size[FAST:])
            fast, reach = middle[:, :FAST], reach[:FAST]
            found.append((fast - reach, fast + reach, middle[:, FAST:] @ self.directions.T + along))
        return self.gathered(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    # ---- linear functions ------------------------------------------------------------------------------------------

    def _along(self, supports: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Upper bounds of ``q . slow`` in polygons: (polygons, functions).

        Each q is a sum of two directions, with weights that are not negative, and a rest. The rest costs its size
        times that of the polygon.
        """
        first, second, one, two = summed(self.directions, q)
        rest = q - one[:, None] * self.directions[first] - two[:, None] * self.directions[second]
        magnitudes = one * np.abs(supports[:, first]) + two * np.abs(supports[:, second])
        size = (
            4.0
            * np.abs(supports).max(axis=1, keepdims=True)
            * (np.abs(rest).sum(axis=1) + WIDER * np.abs(q).sum(axis=1))
        )
        return np.asarray(one * supports[:, first] + two * supports[:, second] + size + WIDER * magnitudes)

    def above(self, sets: Sets, moved: Moved, rows: np.ndarray) -> np.ndarray:
        """Upper bounds of linear functions of the coordinates of moved sets: (sets, functions)."""
        bounds = np.empty((len(moved.row), len(rows)))
        half = 0.5 * self.pitch
        for path in range(len(moved.shift)):
            here = np.flatnonzero(moved.path == path)
            if not len(here):
                continue
            turned = rows @ moved.slope[path]
            size = np.abs(rows) @ np.abs(moved.slope[path])
            fixed = rows @ moved.shift[path] + np.abs(turned[:, :FAST]) @ half
            fixed += np.abs(rows) @ (moved.error[path] + WIDER * np.abs(moved.shift[path]))
            source = moved.row[here]
            middle = (sets.cells[source] + 0.5) * self.pitch
            slow = np.abs(sets.supports[source]).max(axis=1, keepdims=True) * 2.0
            rounding = WIDER * (
                (np.abs(middle) + half) @ size[:, :FAST].T + slow * size[:, FAST:].sum(axis=1) + np.abs(fixed)
            )
            bounds[here] = (
                fixed
                + middle @ turned[:, :FAST].T
                + self._along(sets.supports[source], turned[:, FAST:])
                + rounding
            )
        return bounds

    def ends(self, sets: Sets, moved: Moved) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of the coordinates of moved sets."""
        both = self.above(sets, moved, np.vstack([np.eye(self.d), -np.eye(self.d)]))
        return -both[:, self.d :], both[:, : self.d]

    # ---- steps -----------------------------------------------------------------------------------------------------

    def followed(self, sets: Sets, schedule: list[int]) -> Sets:
        """The sets after all steps of a schedule, rounded after each part of it."""
        along = np.zeros((len(self.directions), self.d))
        along[:, FAST:] = self.directions
        for count in schedule:
            moved = self._at_rest(sets)
            # no coordinate of any state of the sets is greater
            self.extent = float(
                (np.abs(sets.cells).max() + 1.0) * self.pitch.max() + 2.0 * np.abs(sets.supports).max()
            )
            for _ in range(count):
                moved = self._stepped(sets, moved)
                if len(moved.row) > MOST_SETS:
                    raise DistinguoError("The certificate cannot be checked: its sets go too many ways.")
            low, high = self.ends(sets, moved)
            sets = self.gathered(low[:, :FAST], high[:, :FAST], self.above(sets, moved, along))
        return sets

    def _at_rest(self, sets: Sets) -> Moved:
        count = len(sets.cells)
        zeros = np.zeros((1, self.d))
        return Moved(np.arange(count), np.zeros(count, dtype=np.int64), np.eye(self.d)[None], zeros, zeros)

    def _stepped(self, sets: Sets, moved: Moved) -> Moved:
        low, high = self.ends(sets, moved)
        possible = self._possible(sets, moved, low, high)
        found: list[Moved] = []
        for a in range(self.certificate.task.actions):
            chosen = np.flatnonzero(possible[:, a])
            if not len(chosen):
                continue
            square = np.floor(0.5 * (low[chosen, :FAST] + high[chosen, :FAST]) / NEAR)
            _, block = np.unique(square, axis=0, return_inverse=True)
            found += self._by_block(moved, chosen, block.ravel(), low, high, a)
        first = np.cumsum([0, *(len(one.shift) for one in found)])
        path = [one.path + begin for one, begin in zip(found, first, strict=False)]
        joined = [np.concatenate(parts) for parts in zip(*found, strict=True)]
        return Moved(joined[0], np.concatenate(path), *joined[2:])

    def _by_block(
        self, moved: Moved, chosen: np.ndarray, block: np.ndarray, low: np.ndarray, high: np.ndarray, a: int
    ) -> Iterator[Moved]:
        for number in range(int(block.max()) + 1):
            here = chosen[block == number]
            slope, shift, error = self._image(low[here].min(axis=0), high[here].max(axis=0), a)
            paths, path = np.unique(moved.path[here], return_inverse=True)
            before, size = moved.slope[paths], np.abs(slope)
            rounding = WIDER * (size @ (np.abs(moved.shift[paths]) + moved.error[paths]).T).T
            rounding += WIDER * (size @ np.abs(before)).sum(axis=2) * self.extent
            yield Moved(
                moved.row[here],
                path.ravel(),
                slope @ before,
                moved.shift[paths] @ slope.T + shift,
                (moved.error[paths] @ size.T + error) * (1.0 + WIDER) + rounding,
            )

    def _possible(self, sets: Sets, moved: Moved, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The actions that the controller may take somewhere in each set: (sets, actions)."""
        origin = self.origin
        state = (
            np.abs(origin)
            + np.abs(np.stack([low, high])).max(axis=(0, 1)) @ (np.abs(self.inverse) + self.inverse_off).T
        )
        blur = self._blur(low.min(axis=0), high.max(axis=0))
        far = float(
            (self.weights * (state + blur) ** 2).sum() + (self.weights * self.places**2).sum(axis=1).max()
        )
        count, policy = len(self.places), self.certificate.controller.actions
        possible = np.zeros((len(moved.row), self.certificate.task.actions), dtype=bool)
        for p in range(count):
            others = [k for k in range(count) if k != p]
            beaten = np.zeros(len(moved.row), dtype=bool)
            if others:
                # prototype p is farther than k by slope . state + fixed
                slope = 2.0 * self.weights * (self.places[others] - self.places[p])
                fixed = (self.weights * (self.places[p] ** 2 - self.places[others] ** 2)).sum(axis=1)
                rows = slope @ self.inverse
                most = self.above(sets, moved, -rows) - slope @ origin - fixed
                unsure = np.abs(slope) @ blur + (NEARER + 100.0 * WIDER) * (1.0 + 4.0 * far)
                beaten = (most + unsure < 0.0).any(axis=1)
            possible[np.ix_(~beaten, np.array(policy[p]))] = True
        return possible

    def _blur(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """How far what is observed may be off the state, anywhere in a box."""
        low, high = rounded_out(low, high)
        key = ("blur", *low, *high)
        if key not in self.known:
            state = self._state(low, high)
            found = np.zeros(self.d)
            for seen in self.evaluator.observed(state, True):
                if len(seen) != self.d:
                    raise refused("observes other numbers than the state")
                for i, (x, y) in enumerate(zip(seen, state, strict=True)):
                    apart = subtract(x, y)
                    ball = apart.middle + sum((slope * arb(0, 1) for slope in apart.slopes), start=ZERO)
                    if not ball.is_finite():
                        raise refused("observes what may not be a number")
                    found[i] = max(found[i], float(ball.abs_upper()) * (1.0 + WIDER))
            # the inverse that is used in double precision is off, too
            found += self.inverse_off @ np.maximum(np.abs(low), np.abs(high))
            self.known[key] = found
        return np.asarray(self.known[key])

    def _state(self, low: np.ndarray, high: np.ndarray) -> tuple[Dual, ...]:
        """The states of a box of our coordinates."""
        middles = [(arb(float(a)) + arb(float(z))) / 2 for a, z in zip(low, high, strict=True)]
        halves = [(arb(float(z)) - arb(float(a))) / 2 for a, z in zip(low, high, strict=True)]
        states = []
        for zero, row in zip(self.origin, self.back, strict=True):
            middle = sum((p * q for p, q in zip(row, middles, strict=True)), start=arb(float(zero)))
            slopes = tuple(p * half for p, half in zip(row, halves, strict=True))
            states.append(Dual(middle, sum((slope * arb(0, 1) for slope in slopes), start=middle), slopes))
        return tuple(states)

    def _image(self, low: np.ndarray, high: np.ndarray, a: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A linear map and how far the program's step is off it at most, anywhere in a box."""
        low, high = rounded_out(low, high)
        key = (a, *low, *high)
        if key not in self.known:
            self.blocks += 1
            if self.blocks > MOST_BLOCKS:
                raise DistinguoError("The certificate cannot be checked: it takes too many blocks.")
            self.known[key] = self._enclosed(low, high, a)
        found: tuple[np.ndarray, np.ndarray, np.ndarray] = self.known[key]
        return found

    def _enclosed(
        self, low: np.ndarray, high: np.ndarray, a: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The linear map in the middle of a box; how far the step is off it is bounded part by part."""
        middle, half = 0.5 * (low + high), 0.01 * (high - low)
        slope, bends = np.zeros((self.d, self.d)), np.zeros(self.d)
        for _, slopes in self._ways(middle - half, middle + half, a):
            slope = np.array([[float(ball.mid()) for ball in row] for row in slopes]) / half
        for _, slopes in self._ways(low, high, a):
            bends = np.maximum(
                bends, np.array([[float(ball.rad()) for ball in row] for row in slopes]).sum(axis=0)
            )
        # along coordinates in which the program is nearly straight, one part will do
        parts = [k if bend > STRAIGHT * bends.max() else 1 for k, bend in zip(PARTS, bends, strict=False)]
        least, most = np.full(self.d, np.inf), np.full(self.d, -np.inf)
        edges = [np.linspace(p, q, k + 1) for p, q, k in zip(low, high, parts, strict=True)]
        for place in product(*(range(k) for k in parts)):
            first = np.array([edge[i] for edge, i in zip(edges, place, strict=True)])
            last = np.array([edge[i + 1] for edge, i in zip(edges, place, strict=True)])
            centres = [(arb(float(p)) + arb(float(q))) / 2 for p, q in zip(first, last, strict=True)]
            halves = [(arb(float(q)) - arb(float(p))) / 2 for p, q in zip(first, last, strict=True)]
            for middles, slopes in self._ways(first, last, a):
                for i in range(self.d):
                    off = middles[i]
                    for j in range(self.d):
                        straight = arb(float(slope[i, j]))
                        off = off - straight * centres[j] + (slopes[i][j] - straight * halves[j]) * arb(0, 1)
                    if not off.is_finite():
                        raise refused("computes what may not be a number")
                    least[i] = min(least[i], float(off.lower()))
                    most[i] = max(most[i], float(off.upper()))
        shift = 0.5 * (least + most)
        error = np.maximum(most - shift, shift - least)
        return slope, shift, error + WIDER * (np.abs(least) + np.abs(most))

    def _ways(self, low: np.ndarray, high: np.ndarray, a: int) -> Iterator[tuple[list[Any], list[list[Any]]]]:
        """Every way of one step from a box: the coordinates in the middle, and their derivatives."""
        try:
            for after, reward, ended, _ in self.evaluator.outcomes(self._state(low, high), a, True):
                if ended:
                    raise DistinguoError("The certificate is wrong: a step from its sets may fail.")
                if self.certificate.reward is not None and not bool(reward.range == self.certificate.reward):
                    raise DistinguoError("The certificate is wrong: a step may have another reward.")
                apart = [after[k].middle - arb(float(self.origin[k])) for k in range(self.d)]
                middles = [
                    sum((p * x for p, x in zip(row, apart, strict=True)), start=ZERO) for row in self.exact
                ]
                slopes = [
                    [
                        sum((p * after[k].slopes[j] for k, p in enumerate(row)), start=ZERO)
                        for j in range(self.d)
                    ]
                    for row in self.exact
                ]
                yield middles, slopes
        except Unclear:
            raise DistinguoError("The certificate is wrong: a step from its sets may be undefined.") from None


def directions_of(count: int, slow: int) -> np.ndarray:
    """The directions of supports: up and down, or evenly around."""
    if slow == 1:
        return np.array([[1.0], [-1.0]])
    angles = np.arange(count) * (2.0 * np.pi / count)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def summed(directions: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """For each vector two directions and weights, none negative, whose sum is nearly the vector."""
    if directions.shape[1] == 1:
        first = (q[:, 0] < 0.0).astype(np.int64)
        return first, first, np.abs(q[:, 0]), np.zeros(len(q))
    first = np.floor(np.arctan2(q[:, 1], q[:, 0]) / (2.0 * np.pi) * len(directions)).astype(np.int64)
    first %= len(directions)
    second = (first + 1) % len(directions)
    (ax, ay), (bx, by) = directions[first].T, directions[second].T
    area = ax * by - ay * bx
    one, two = (q[:, 0] * by - q[:, 1] * bx) / area, (ax * q[:, 1] - ay * q[:, 0]) / area
    return first, second, np.maximum(one, 0.0), np.maximum(two, 0.0)


def rounded_out(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A box a little larger, so that the boxes of other steps are often the same."""
    unit = 2.0 ** np.floor(np.log2(np.maximum(high - low, 2.0**-30)) - 4.0)
    return np.floor(low / unit) * unit, np.ceil(high / unit) * unit


def check_core(certificate: CoreCertificate) -> tuple[int, int]:
    """Follow all starts through the sets on the way, or raise: how many cells there were, and how many blocks."""
    if len(certificate.controller.weight) != certificate.task.dimensions:
        raise DistinguoError("The certificate is wrong: its prototypes have another number of coordinates.")
    checker = CoreChecker(certificate)
    sets, cells = checker.starts(), 0
    for leg in certificate.legs:
        sets = checker.followed(sets, leg.schedule)
        cells = max(cells, len(sets.cells))
        _check_inside(sets, leg.places(), np.array(leg.supports))
        sets = Sets(leg.places(), np.tile(leg.supports, (len(leg.places()), 1)))
    sets = checker.followed(sets, certificate.schedule)
    if certificate.closes:
        last = certificate.legs[-1]
        _check_inside(sets, last.places(), np.array(last.supports))
    return max(cells, len(sets.cells)), checker.blocks


def _check_inside(sets: Sets, cells: np.ndarray, supports: np.ndarray) -> None:
    known = {tuple(cell) for cell in cells.tolist()}
    held = all(tuple(cell) in known for cell in sets.cells.tolist())
    if not held or not (sets.supports <= supports).all():
        raise DistinguoError("The certificate is wrong: a state may not come back into its sets.")
