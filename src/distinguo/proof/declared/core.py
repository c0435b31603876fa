"""Sets of a slow system: cells for two fast coordinates, and in each a polygon of the slow ones.

Cells alone are too many in four dimensions, and rounding to them costs more than a slow system contracts. Here only
the distance to the border of two actions and one coordinate that follows it are cut into cells. The others are slow:
in each cell a convex polygon holds them, given by its *supports*, the greatest values of ``direction . slow``.

A set is followed as *pieces*: a cell with its polygon, and the way that it went, a linear map. A piece that the
border cuts goes both ways. When there are too many pieces they are rounded to cells and polygons again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from distinguo.proof.declared.flow import Flow
from distinguo.proof.declared.places import nearest_actions
from distinguo.proof.declared.sliding import Sliding
from distinguo.proof.number.form import Form
from distinguo.seam import kernel

FAST = 2  #: coordinates that are cut into cells
SLACK = 1e-11  #: of the numbers, against the rounding of everything computed here
LEEWAY = 0.02  #: by this share remainders and cells are wider, so that a checker with slightly wider ones can follow
DIRECTIONS = range(
    64, 257, 4
)  #: numbers of directions, of which the one that the slow turn fits best is taken
ENOUGH = 0.03  #: of the contraction, that a polygon may grow by a turn
SPLIT_FAST, SPLIT_SLOW = (1, 1), 2  #: parts of a box whose images are enclosed together
BLOCK = 1.0  #: pieces this near each other in both fast coordinates share one linear map
MOST_STARTS, MOST_CELLS, MOST_ROOM = 60_000, 15_000, 60_000_000
GROWTH = 1.1  #: pieces for each cell, after which they are rounded
SNAP = 4  #: the ends of boxes are multiples of a sixteenth to a thirty-second of their width
LONGEST = 24  #: steps after which pieces are rounded in any case


class Stopped(Exception):  # noqa: N818 - no error
    """Why a set cannot be followed further."""


class Coordinates(NamedTuple):
    """Coordinates ``matrix @ (state - origin)``: two fast ones in cells, the others slow."""

    origin: np.ndarray
    matrix: np.ndarray
    inverse: np.ndarray
    pitch: np.ndarray  #: of the cells, whose edges are whole multiples of it
    directions: np.ndarray  #: (directions, slow coordinates)

    def cones(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Each direction as a sum of two of ours: their numbers, and how much of each; none is negative."""
        count = len(self.directions)
        if q.shape[-1] == 1:
            first = np.where(q[..., 0] >= 0.0, 0, 1)
            return first, first, np.abs(q[..., 0]), np.zeros(q.shape[:-1])
        turn = 2.0 * np.pi / count
        size, angle = np.hypot(q[..., 0], q[..., 1]), np.arctan2(q[..., 1], q[..., 0]) % (2.0 * np.pi)
        first = np.floor(angle / turn).astype(np.int64) % count
        past = np.clip(angle - first * turn, 0.0, turn)
        weights = size / np.sin(turn) * np.array([np.sin(turn - past), np.sin(past)])
        return first, (first + 1) % count, weights[0], weights[1]

    @property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """The directions of the slow coordinates, upwards and downwards."""
        count, slow = self.directions.shape
        if slow == 1:
            return np.array([0]), np.array([1])
        return np.array([0, count // 4]), np.array([count // 2, 3 * count // 4])


class Body(NamedTuple):
    """A set of states: cells, and the supports of the slow coordinates in each."""

    cells: np.ndarray  #: (cells, 2) whole numbers
    supports: np.ndarray  #: (cells, directions)

    @property
    def polygon(self) -> np.ndarray:
        """The supports of the slow coordinates in all cells together."""
        return np.asarray(self.supports.max(axis=0))


class Ways(NamedTuple):
    """Linear maps ``matrix @ w + offset`` from cells to later steps, off by up to ``radius``."""

    matrix: np.ndarray  #: (ways, coordinates, coordinates)
    offset: np.ndarray
    radius: np.ndarray


class Parts(NamedTuple):
    """Parts of a body some steps later: the cell that each comes from, and its way."""

    cell: np.ndarray  #: (pieces,)
    way: np.ndarray  #: (pieces,)
    ways: Ways


def frame_around(found: Sliding, fineness: int) -> Coordinates | None:
    """The coordinates around a sliding point, or None; a push across the border is as wide as ``fineness`` cells.

    The first is the distance to the border. The action moves no other. The second is the one that follows the border
    fastest; the slow ones turn and shrink evenly.
    """
    normal, push = found.border.normal, found.push
    moduli, left = np.linalg.eig(found.matrix.T)
    order = np.argsort(np.abs(moduli), kind="stable")[1:]  # without the one across the border
    moduli, left = moduli[order], left[:, order]
    slow = len(normal) - FAST
    real = np.flatnonzero(np.abs(moduli.imag) < 1e-12)
    if slow not in (1, 2) or not len(real):
        return None
    rest = np.delete(np.arange(len(moduli)), real[0])
    rows = [left[:, real[0]].real, *_slow_rows(left[:, rest], moduli[rest])]
    across = normal @ push
    rows = [row - (row @ push) / across * normal for row in rows]
    matrix = np.array([normal * 2.0 / abs(across), *rows])
    if np.linalg.cond(matrix) > 1e9:
        return None
    matrix[FAST:] /= np.linalg.norm(matrix[FAST])
    # one cell of the second moves the first by one cell
    matrix[1] *= abs(float((matrix @ found.mean @ np.linalg.inv(matrix))[0, 1])) or 1.0
    turn = abs(float(np.angle(moduli[rest[0]])))
    directions = _directions(slow, turn, ENOUGH * abs(1.0 - found.modulus))
    return Coordinates(found.point, matrix, np.linalg.inv(matrix), np.full(FAST, 2.0 / fineness), directions)


def _slow_rows(left: np.ndarray, moduli: np.ndarray) -> list[np.ndarray]:
    """The slow coordinates: left eigenvectors, or the two parts of a complex one."""
    if len(moduli) == 2 and abs(moduli[0].imag) > 1e-12:
        return [left[:, 0].real, left[:, 0].imag]
    return [left[:, k].real / np.linalg.norm(left[:, k].real) for k in range(len(moduli))]


def _directions(slow: int, turn: float, enough: float) -> np.ndarray:
    """Directions of supports: so many that a polygon grows little when a step turns it between them."""
    if slow == 1:
        return np.array([[1.0], [-1.0]])

    def loss(count: int) -> float:
        wide = 2.0 * np.pi / count
        return 0.5 * float(turn % wide) * (wide - turn % wide)

    good = [count for count in DIRECTIONS if loss(count) <= enough]
    count = good[0] if good else min(DIRECTIONS, key=loss)
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angles), np.sin(angles)])


# ---- sets ----------------------------------------------------------------------------------------------------------


@kernel
def raise_supports(
    new: np.ndarray, first: np.ndarray, last: np.ndarray, index: np.ndarray, supports: np.ndarray
) -> int:
    """Raise the supports of all cells that some sets touch to theirs; return the number of cells.

    ``index`` holds the row of every cell that has one, else -1. Without rows in ``supports``, cells are counted only.
    """
    rows = 0
    for n in range(len(new)):
        for i in range(first[n, 0], last[n, 0] + 1):
            for j in range(first[n, 1], last[n, 1] + 1):
                if len(supports) == 0:
                    if index[i, j] < 0:
                        index[i, j] = rows
                        rows += 1
                    continue
                row = index[i, j]
                for k in range(new.shape[1]):
                    supports[row, k] = max(supports[row, k], new[n, k])
    return rows


def body_of(frame: Coordinates, low: np.ndarray, high: np.ndarray, supports: np.ndarray) -> Body:
    """The least body that holds sets with these ends of the fast coordinates and these supports."""
    off = SLACK * (1.0 + np.abs(low) + np.abs(high)) + LEEWAY * frame.pitch
    first = np.floor((low - off) / frame.pitch).astype(np.int64)
    last = np.floor((high + off) / frame.pitch).astype(np.int64)
    corner = first.min(axis=0)
    shape = last.max(axis=0) + 1 - corner
    if np.prod(shape.astype(float)) > MOST_ROOM:
        raise Stopped("spreads over too many cells")
    index = np.full(tuple(shape), -1, dtype=np.int64)
    given = np.ascontiguousarray(supports), first - corner, last - corner, index
    count = raise_supports(*given, np.zeros((0, 1)))
    if count > MOST_CELLS:
        raise Stopped("spreads over too many cells")
    found = np.full((count, supports.shape[1]), -np.inf)
    raise_supports(*given, found)
    places = np.argwhere(index >= 0)
    return Body(places + corner, found[index[tuple(places.T)]])


def united(frame: Coordinates, bodies: list[Body]) -> Body:
    """The least body that holds several."""
    cells = np.concatenate([body.cells for body in bodies])
    supports = np.concatenate([body.supports for body in bodies])
    return body_of(frame, (cells + 0.25) * frame.pitch, (cells + 0.75) * frame.pitch, supports)


def body_of_box(frame: Coordinates, low: np.ndarray, high: np.ndarray) -> Body:
    """The body of a box of states, cut into parts about as large as a cell."""
    width = high - low
    parts = np.maximum(1, np.ceil((np.abs(frame.matrix[:FAST]) / frame.pitch[:, None]).max(axis=0) * width))
    while parts.prod() > MOST_STARTS:
        parts = np.maximum(1, np.floor(0.9 * parts))
    middles = [a + w * (np.arange(int(k)) + 0.5) / k for a, w, k in zip(low, width, parts, strict=True)]
    centres = (np.array(list(product(*middles))) - frame.origin) @ frame.matrix.T
    edges = frame.matrix * (0.5 * width / parts * (1.0 + SLACK))
    reach = np.abs(edges).sum(axis=1) + SLACK * (1.0 + np.abs(centres).max())
    spread = np.abs(frame.directions @ edges[FAST:]).sum(axis=1) + SLACK
    supports = centres[:, FAST:] @ frame.directions.T + spread
    fast = centres[:, :FAST]
    return body_of(frame, fast - reach[:FAST], fast + reach[:FAST], supports)


# ---- following -----------------------------------------------------------------------------------------------------


class Tracker(NamedTuple):
    """Follows bodies through a controller and a program."""

    flow: Flow
    frame: Coordinates
    known: dict[tuple[float, ...], Any]  #: the linear maps of boxes, by action and ends

    def advanced(self, body: Body, most: int) -> tuple[int, Body]:
        """The body after the next rounding, and how many steps that took, at most ``most``."""
        pieces, taken = self.pieces_of(body), 0
        enough = GROWTH * len(body.cells)
        while taken < min(most, LONGEST) and (not taken or len(pieces.cell) <= enough):
            pieces = self.stepped(body, pieces)
            taken += 1
        return taken, self.rounded(body, pieces)

    def pieces_of(self, body: Body) -> Parts:
        """The pieces of a body before any step."""
        count, d = len(body.cells), len(self.frame.origin)
        nothing = np.zeros((1, d))
        return Parts(
            np.arange(count), np.zeros(count, dtype=np.int64), Ways(np.eye(d)[None], nothing, nothing)
        )

    def greatest(self, body: Body, pieces: Parts, rows: np.ndarray) -> np.ndarray:
        """The greatest values of linear functions, (functions, coordinates), on each piece: (pieces, functions)."""
        frame, ways = self.frame, pieces.ways
        found = np.empty((len(pieces.cell), len(rows)))
        for way, members in _groups(pieces.way, len(ways.offset)):
            turned = rows @ ways.matrix[way]
            fast = turned[:, :FAST]
            fixed = rows @ ways.offset[way] + np.abs(rows) @ ways.radius[way]
            fixed += np.abs(fast) @ (0.5 * frame.pitch)
            cell = pieces.cell[members]
            middle = (body.cells[cell] + 0.5) * frame.pitch
            found[members] = fixed + middle @ fast.T + self._supports(body, cell, turned[:, FAST:])
        return np.asarray(found + SLACK * (1.0 + np.abs(found)))

    def _supports(self, body: Body, cell: np.ndarray, q: np.ndarray) -> np.ndarray:
        """The greatest ``q . slow`` in cells: (cells, functions)."""
        first, second, one, two = self.frame.cones(q)
        supports = body.supports[cell]
        return np.asarray(one * supports[:, first] + two * supports[:, second])

    def ends(self, body: Body, pieces: Parts) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest value of every coordinate, on each piece."""
        d = len(self.frame.origin)
        both = self.greatest(body, pieces, np.concatenate([np.eye(d), -np.eye(d)]))
        return -both[:, d:], both[:, :d]

    def rounded(self, body: Body, pieces: Parts) -> Body:
        """Parts as cells and polygons again."""
        rows = np.zeros((len(self.frame.directions), len(self.frame.origin)))
        rows[:, FAST:] = self.frame.directions
        low, high = self.ends(body, pieces)
        return body_of(self.frame, low[:, :FAST], high[:, :FAST], self.greatest(body, pieces, rows))

    def stepped(self, body: Body, pieces: Parts) -> Parts:
        """Where pieces are one step later, whatever the controller may do."""
        chosen = self.actions(body, pieces)
        low, high = self.ends(body, pieces)
        found = []
        for a in range(len(chosen)):
            rows = np.flatnonzero(chosen[a])
            if len(rows):
                found.append(self._pushed(pieces, rows, low[rows], high[rows], a))
        before = np.cumsum([0, *(len(one.ways.offset) for one in found)])
        way = np.concatenate([one.way + first for one, first in zip(found, before, strict=False)])
        ways = Ways(*(np.concatenate(parts) for parts in zip(*(one.ways for one in found), strict=True)))
        return Parts(np.concatenate([one.cell for one in found]), way, ways)

    def actions(self, body: Body, pieces: Parts) -> np.ndarray:
        """Which actions (rows) the controller may take somewhere in each piece (columns)."""
        frame, (up, down) = self.frame, self.frame.axes
        supports = body.supports[pieces.cell]
        top, bottom = supports[:, up], -supports[:, down]
        middle, half = 0.5 * (top + bottom), 0.5 * (top - bottom) + SLACK
        w = np.concatenate([(body.cells[pieces.cell] + 0.5) * frame.pitch, middle], axis=1)
        halves = np.concatenate([np.broadcast_to(0.5 * frame.pitch, (len(w), FAST)), half], axis=1)
        matrix, offset, radius = (part[pieces.way] for part in pieces.ways)
        centre = (matrix @ w[:, :, None])[:, :, 0] + offset
        edges = ((frame.inverse @ matrix) * halves[:, None, :]).transpose(1, 2, 0)
        state = frame.origin[:, None] + frame.inverse @ centre.T
        off = np.abs(frame.inverse) @ radius.T
        off += SLACK * (1.0 + np.abs(state) + np.abs(edges).sum(axis=1))
        forms = tuple(Form(c, g, r) for c, g, r in zip(state, edges, off, strict=True))

        def rise(gradient: np.ndarray, place: np.ndarray) -> np.ndarray:
            """How far a linear function rises from the middle of a piece: in the polygon, not the box around it."""
            q = gradient[FAST:].T / half[place]
            first, second, one, two = frame.cones(q)
            slow = (
                one * supports[place, first] + two * supports[place, second] - (q * middle[place]).sum(axis=1)
            )
            return np.asarray(np.abs(gradient[:FAST]).sum(axis=0) + slow)

        controller = self.flow.policy
        return nearest_actions(controller.partition, controller.action_sets, self.flow.seen(forms), rise)

    def _pushed(self, pieces: Parts, rows: np.ndarray, low: np.ndarray, high: np.ndarray, a: int) -> Parts:
        """Some of the pieces after one action, each by the linear map of the block that it is in."""
        _, block = np.unique(np.floor(0.5 * (low + high)[:, :FAST] / BLOCK), axis=0, return_inverse=True)
        block = block.ravel()
        count, d = int(block.max()) + 1, len(self.frame.origin)
        least, most = np.full((count, d), np.inf), np.full((count, d), -np.inf)
        np.minimum.at(least, block, low)
        np.maximum.at(most, block, high)
        slope, offset, radius = self._maps(*_snapped(least, most), a)
        both, way = np.unique(np.column_stack([pieces.way[rows], block]), axis=0, return_inverse=True)
        before, turn = Ways(*(part[both[:, 0]] for part in pieces.ways)), slope[both[:, 1]]
        ways = Ways(
            turn @ before.matrix,
            (turn @ before.offset[:, :, None])[:, :, 0] + offset[both[:, 1]],
            (np.abs(turn) @ before.radius[:, :, None])[:, :, 0] + radius[both[:, 1]],
        )
        return Parts(pieces.cell[rows], way.ravel(), ways)

    def _maps(self, low: np.ndarray, high: np.ndarray, a: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The linear map of each box: kept from earlier steps, or found now."""
        keys = [(a, *one, *other) for one, other in zip(low.tolist(), high.tolist(), strict=True)]
        new = [n for n, key in enumerate(keys) if key not in self.known]
        if new:
            found = self._linear(low[new], high[new], a)
            self.known.update(
                {keys[n]: parts for n, parts in zip(new, zip(*found, strict=True), strict=True)}
            )
        slope, offset, radius = (np.array(parts) for parts in zip(*map(self.known.get, keys), strict=True))
        return slope, offset, radius

    def _linear(self, low: np.ndarray, high: np.ndarray, a: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Linear maps of boxes, and how far the program's step is off them at most.

        The map is that in the middle. How far it is off is bounded in each of several parts of the box.
        """
        d = len(self.frame.origin)
        middle, half = 0.5 * (low + high), 0.5 * (high - low) * (1.0 + SLACK) + SLACK
        slope = np.zeros((len(low), d, d))
        for rows, after in self._images(middle, 0.1 * half, a):
            for i in range(d):
                slope[rows, i] = after[i].gradient.T / (0.1 * half[rows])
        split = np.array([*SPLIT_FAST, *[SPLIT_SLOW] * (d - FAST)])
        places = np.array(list(product(*[(2 * np.arange(k) + 1) / k - 1 for k in split])))
        parts = (middle[:, None] + half[:, None] * places).reshape(-1, d)
        owner = np.repeat(np.arange(len(low)), len(places))
        least, most = np.full((len(low), d), np.inf), np.full((len(low), d), -np.inf)
        small = half[owner] / split * (1.0 + SLACK)
        for rows, after in self._images(parts, small, a):
            who = owner[rows]
            for i in range(d):
                straight = (slope[who, i] * parts[rows]).sum(axis=1)
                bend = np.abs(after[i].gradient - (slope[who, i] * small[rows]).T).sum(axis=0)
                bend += after[i].radius + SLACK * (1.0 + np.abs(after[i].centre) + np.abs(straight))
                np.minimum.at(least[:, i], who, after[i].centre - straight - bend)
                np.maximum.at(most[:, i], who, after[i].centre - straight + bend)
        return slope, 0.5 * (least + most), 0.5 * (most - least) * (1.0 + LEEWAY) + SLACK

    def _images(
        self, middle: np.ndarray, half: np.ndarray, a: int
    ) -> Iterator[tuple[np.ndarray, list[Form]]]:
        """The images of boxes in our coordinates, way by way."""
        frame = self.frame
        centre = (frame.origin + middle @ frame.inverse.T).T
        forms = Form.of_cells(centre, frame.inverse[:, :, None] * half.T[None])
        state = tuple(Form(f.centre, f.gradient, f.radius + SLACK * f.size) for f in forms)
        for path in self.flow.step(state, a):
            if len(path.lost):
                raise Stopped("may compute something that is not a number")
            if not len(path.rows):
                continue
            after, terminal = path.result
            if terminal:
                raise Stopped("may fail")
            moved = [form.at(path.kept) - float(zero) for form, zero in zip(after, frame.origin, strict=True)]
            yield path.rows, [_combined(moved, row) for row in frame.matrix]


def _groups(labels: np.ndarray, count: int) -> Iterator[tuple[int, np.ndarray]]:
    """The places of each label."""
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(count + 1))
    for label in range(count):
        if ends[label] < ends[label + 1]:
            yield label, order[ends[label] : ends[label + 1]]


def _snapped(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Boxes a little larger, with ends that come again in later steps."""
    unit = 2.0 ** np.floor(np.log2(np.maximum(high - low, 1e-6)) - SNAP)
    return np.floor(low / unit) * unit, np.ceil(high / unit) * unit


def _combined(forms: list[Form], factors: Any) -> Form:
    """A sum of forms, each with its factor."""
    total = forms[0] * float(factors[0])
    for form, factor in zip(forms[1:], factors[1:], strict=True):
        total = total + form * float(factor)
    return total
