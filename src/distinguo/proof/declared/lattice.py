"""Cells in any number of dimensions, and the greatest set of them that is never left."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.proof.number.form import Form
from distinguo.seam import kernel, part

#: Cells and images are widened by this share, so that a checker whose bounds are a little wider can follow.
LEEWAY = 1e-2
SLACK = (
    1e-11  #: of the numbers: the edges of cells are real numbers, and finding a cell takes three roundings
)


class Lattice(NamedTuple):
    """Boxes of an even grid in the coordinates ``matrix @ state``.

    >>> lattice = lattice_over(np.array([-1.0, -2.0]), np.array([1.0, 2.0]), (4, 8))
    >>> lattice.cells, lattice.pitch.tolist(), lattice.find(np.array([[0.1, 0.1]])).tolist()
    (32, [0.5, 0.5], [20])
    """

    matrix: np.ndarray  #: (dimensions, dimensions)
    inverse: np.ndarray
    low: np.ndarray
    pitch: np.ndarray
    counts: tuple[int, ...]

    @property
    def cells(self) -> int:
        """The number of cells."""
        return int(np.prod(self.counts))

    def places(self, flat: np.ndarray) -> np.ndarray:
        """The place of each cell, a row for each dimension."""
        return np.array(np.unravel_index(flat, self.counts))

    def forms(self, flat: np.ndarray) -> tuple[Form, ...]:
        """The states of some cells, and a little more."""
        middle = self.low[:, None] + (self.places(flat) + 0.5) * self.pitch[:, None]
        edges = self.inverse * (0.5 * self.pitch * (1.0 + LEEWAY))[None, :]
        forms = Form.of_cells(self.inverse @ middle, edges)
        for form in forms:  # against the rounding of the coordinates
            form.radius = form.radius + SLACK * form.size
        return tuple(Form(form.centre, form.gradient, form.radius) for form in forms)

    def halved(self) -> Lattice:
        """The lattice with cells of half the size."""
        return self._replace(pitch=0.5 * self.pitch, counts=tuple(2 * count for count in self.counts))

    def find(self, states: np.ndarray) -> np.ndarray:
        """The cell of every state (a row each); -1 outside."""
        places = np.floor((states @ self.matrix.T - self.low) / self.pitch)
        inside = ((places >= 0) & (places < np.array(self.counts))).all(axis=1)
        clipped = np.clip(places, 0, np.array(self.counts) - 1).astype(np.int64)
        return np.where(inside, np.ravel_multi_index(tuple(clipped.T), self.counts), -1)

    def covers(
        self, state: tuple[Form, ...], leeway: float = LEEWAY
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The first and the last cell, in each dimension, that some sets touch, and which of these leave the grid."""
        ends = []
        for row in self.matrix:
            terms = [form * float(factor) for form, factor in zip(state, row, strict=True) if factor != 0.0]
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            ends.append((total.low, total.high))
        low, high = (np.stack([pair[i] for pair in ends], axis=1) for i in (0, 1))
        slack = SLACK * (1.0 + np.abs(low) + np.abs(high)) + leeway * self.pitch
        first = np.floor((low - slack - self.low) / self.pitch)
        last = np.floor((high + slack - self.low) / self.pitch)
        off = ~((first >= 0) & (last < np.array(self.counts))).all(axis=1)
        first[off], last[off] = 0, 0
        return first.astype(np.int32), last.astype(np.int32), off


def lattice_over(
    low: np.ndarray, high: np.ndarray, counts: tuple[int, ...], matrix: np.ndarray | None = None
) -> Lattice:
    """Lay cells over a box of states; with a matrix, over the box around it in these coordinates."""
    turn = np.eye(len(low)) if matrix is None else matrix
    centre, reach = turn @ (0.5 * (low + high)), np.abs(turn) @ (0.5 * (high - low))
    pitch = 2.0 * reach / np.array(counts)
    return Lattice(turn, np.linalg.inv(turn), centre - reach, pitch, counts)


class Images(NamedTuple):
    """Where cells lead: boxes of cells, in the order of the cells that they come from.

    The boxes of a cell are in groups, such as one for each number of steps: it is enough that all of one group stay.
    """

    begin: np.ndarray  #: (cells + 1,) the first box of each cell
    group: np.ndarray  #: (boxes,)
    first: np.ndarray  #: (boxes, dimensions)
    last: np.ndarray


def sorted_images(cells: int, found: list[tuple[np.ndarray, int, np.ndarray, np.ndarray]], d: int) -> Images:
    """Sort boxes by the cells that they come from; each entry has cells, their group, and first and last cells."""
    source = np.concatenate([np.zeros(0, dtype=np.int64), *(who for who, _, _, _ in found)])
    group = np.concatenate(
        [np.zeros(0, dtype=np.int16), *(np.full(len(w), g, np.int16) for w, g, _, _ in found)]
    )
    ends = [np.concatenate([np.zeros((0, d), dtype=np.int32), *(one[i] for one in found)]) for i in (2, 3)]
    order = np.lexsort((group, source))
    begin = np.searchsorted(source[order], np.arange(cells + 1)).astype(np.int64)
    return Images(begin, group[order], *(np.ascontiguousarray(end[order]) for end in ends))


@part
def _stays(alive: np.ndarray, counts: np.ndarray, first: Any, last: Any, place: np.ndarray) -> bool:
    """Whether all cells of a box are alive."""
    d = len(counts)
    for k in range(d):
        place[k] = first[k]
    while True:
        flat = 0
        for k in range(d):
            flat = flat * counts[k] + place[k]
        if not alive[flat]:
            return False
        k = d - 1
        while k >= 0:
            place[k] += 1
            if place[k] <= last[k]:
                break
            place[k] = first[k]
            k -= 1
        if k < 0:
            return True


@kernel
def _mark_hopeful(
    alive: np.ndarray,
    counts: np.ndarray,
    begin: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    place: np.ndarray,
    dead: np.ndarray,
    hopeful: np.ndarray,
) -> None:
    for c in range(len(alive)):
        for row in range(begin[c], begin[c + 1]):
            hopeful[c] = hopeful[c] or (
                not alive[c] and not _stays(dead, counts, first[row], last[row], place)
            )


def hopeful_cells(alive: np.ndarray, counts: tuple[int, ...], images: Images) -> np.ndarray:
    """Which cells that are not alive lead to some cell that is."""
    hopeful, room = np.zeros(len(alive), dtype=bool), np.zeros(len(counts), dtype=np.int64)
    sizes = np.array(counts, dtype=np.int64)
    _mark_hopeful(alive, sizes, images.begin, images.first, images.last, room, ~alive, hopeful)
    return hopeful


@kernel
def _all_stay(
    alive: np.ndarray,
    counts: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    place: np.ndarray,
    out: np.ndarray,
) -> None:
    for row in range(len(out)):
        out[row] = _stays(alive, counts, first[row], last[row], place)


def boxes_stay(alive: np.ndarray, counts: tuple[int, ...], first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Which boxes of cells (a row each) have no cell that is not alive."""
    out, room = np.zeros(len(first), dtype=bool), np.zeros(len(counts), dtype=np.int64)
    _all_stay(alive, np.array(counts, dtype=np.int64), first, last, room, out)
    return out


@kernel
def strike_once(
    alive: np.ndarray,
    counts: np.ndarray,
    begin: np.ndarray,
    group: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    place: np.ndarray,
    forward: bool,
) -> int:
    """Remove every cell none of whose groups of boxes stays among the cells that are alive; return how many were."""
    struck = 0
    total = len(alive)
    for t in range(total):
        c = t if forward else total - 1 - t
        if not alive[c] or begin[c] == begin[c + 1]:
            continue
        row, held = begin[c], False
        while row < begin[c + 1] and not held:
            now, held = group[row], True
            while row < begin[c + 1] and group[row] == now:
                held = held and _stays(alive, counts, first[row], last[row], place)
                row += 1
        if not held:
            alive[c] = False
            struck += 1
    return struck


def greatest_set(alive: np.ndarray, counts: tuple[int, ...], images: Images) -> np.ndarray:
    """The greatest set of cells, among those alive, with a group of boxes that lie in the set; others stay.

    >>> boxes = [(np.arange(4), 0, np.array([[0], [2], [3], [3]]), np.array([[0], [2], [3], [3]]))]
    >>> greatest_set(np.array([True, True, True, False]), (4,), sorted_images(4, boxes, 1)).tolist()
    [True, False, False, False]
    """
    remaining = alive.copy()
    room, sizes = np.zeros(len(counts), dtype=np.int64), np.array(counts, dtype=np.int64)
    forward = True
    while strike_once(remaining, sizes, *images, room, forward):
        forward = not forward
    return remaining
