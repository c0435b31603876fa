"""Which cells of a picture belong together: areas of a region, borders between regions, a number in each area.

A region may have several prototypes, and so several cells; where two of them touch there is no border to draw. A
region may also lie in several places that do not touch: these are its *areas*, and each carries its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from distinguo.representations.geometry import Outline, Pair

MOST_JOINED = 2000  #: no borders are computed for more cells
NEAR = 1e-6  #: of the frame; corners this close count as the same
ROOM = 0.032  #: of the frame; the space around its middle that an area needs to hold its number
MOST_BESIDE = 12  #: numbers written beside areas too small for them; if there are more, none is
#: Where to move a number, across and up, if a mark is in its way: in units of ``ROOM``.
WAYS_ASIDE = (
    (0.0, 0.0),
    (0.0, -1.4),
    (0.0, 1.4),
    (-1.6, 0.0),
    (1.6, 0.0),
    (0.0, -2.8),
    (0.0, 2.8),
    (-3.2, 0.0),
)

Segment = tuple[Pair, Pair]


class Label(NamedTuple):
    """A few letters in a picture: the number of a region, or the name of a category."""

    x: float
    y: float
    text: str
    cell: int  #: the cell it is in
    beside: bool = False  #: whether its place is too small, so that it is written beside it with a pointer


class Areas(NamedTuple):
    """The cells of each area, by their numbers, and the borders between different regions.

    >>> halves = [((0.0, 0.0), (0.5, 0.0), (0.5, 1.0), (0.0, 1.0)), ((0.5, 0.0), (1.0, 0.0), (1.0, 1.0), (0.5, 1.0))]
    >>> areas_of(halves, [3, 3], (0.0, 0.0), (1.0, 1.0))
    Areas(members=((0, 1),), borders=())
    >>> areas_of(halves, [3, 4], (0.0, 0.0), (1.0, 1.0))
    Areas(members=((0,), (1,)), borders=(((0.5, 0.0), (0.5, 1.0)),))
    """

    members: tuple[tuple[int, ...], ...]
    borders: tuple[Segment, ...]


class _Piece(NamedTuple):
    """A part of the edge of a cell that no other cell's corner lies in."""

    cell: int
    begin: Pair
    end: Pair


def areas_of(outlines: Sequence[Outline], regions: Sequence[int], low: Pair, high: Pair) -> Areas:
    """Join the cells of the same region that share an edge; cells without an outline are in no area.

    Above ``MOST_JOINED`` cells, each cell is an area of its own and there are no borders.
    """
    shown = [n for n, outline in enumerate(outlines) if outline]
    if len(shown) > MOST_JOINED:
        return Areas(tuple((n,) for n in shown), ())
    low_, size = np.array(low), np.subtract(high, low)
    pieces = _pieces([(n, (np.array(outlines[n]) - low_) / size) for n in shown])
    belongs = {n: n for n in shown}
    borders = []
    for one, other in _neighbours(pieces):
        if regions[one.cell] == regions[other.cell]:
            _join(belongs, one.cell, other.cell)
        else:
            ends = (np.array([one.begin, one.end]) * size + low_).tolist()
            borders.append(((ends[0][0], ends[0][1]), (ends[1][0], ends[1][1])))
    together: dict[int, list[int]] = {}
    for n in shown:
        together.setdefault(_root(belongs, n), []).append(n)
    return Areas(tuple(tuple(members) for members in together.values()), tuple(borders))


def _pieces(cells: list[tuple[int, np.ndarray]]) -> list[_Piece]:
    """Cut the edge of every cell at each corner of another cell that lies on it."""
    corners = np.concatenate([outline for _, outline in cells]) if cells else np.empty((0, 2))
    pieces = []
    for n, outline in cells:
        for begin, end in zip(outline, np.roll(outline, -1, axis=0), strict=True):
            length = float(np.hypot(*(end - begin)))
            if length < NEAR:
                continue
            way = (end - begin) / length
            apart = corners - begin
            along, off = apart @ way, apart @ np.array([-way[1], way[0]])
            within = (np.abs(off) < NEAR) & (along > NEAR) & (along < length - NEAR)
            places = [0.0, *np.unique(along[within].round(7)).tolist(), length]
            ends = [tuple((begin + place * way).tolist()) for place in places]
            pieces += [_Piece(n, a, b) for a, b in pairwise(ends)]
    return pieces


def _neighbours(pieces: list[_Piece]) -> list[tuple[_Piece, _Piece]]:
    """Return the pieces that two cells share: pieces with the same middle."""
    from scipy.spatial import cKDTree  # takes a while to load

    if not pieces:
        return []
    middles = np.array([(np.array(piece.begin) + piece.end) / 2 for piece in pieces])
    pairs = sorted(cKDTree(middles).query_pairs(10 * NEAR))
    return [(pieces[i], pieces[j]) for i, j in pairs if pieces[i].cell != pieces[j].cell]


def _root(belongs: dict[int, int], n: int) -> int:
    while belongs[n] != n:
        n = belongs[n]
    return n


def _join(belongs: dict[int, int], one: int, other: int) -> None:
    roots = sorted((_root(belongs, one), _root(belongs, other)))
    belongs[roots[1]] = roots[0]


def numbers_in(
    areas: Areas, cells: Sequence[tuple[Outline, int]], marks: Sequence[Pair], low: Pair, high: Pair
) -> tuple[Label, ...]:
    """Return a label with the region's number for every area, in its roomiest cell and clear of marks.

    >>> square = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    >>> numbers_in(Areas(((0,),), ()), [(square, 7)], [], (0.0, 0.0), (2.0, 1.0))
    (Label(x=0.5, y=0.5, text='7', cell=0, beside=False),)
    """
    size = np.subtract(high, low)
    middles = {n: _centroid((np.array(cells[n][0]) - low) / size) for area in areas.members for n in area}
    depths = dict(
        zip(middles, _depths(np.array([*middles.values()]), _scaled(areas.borders, low, size)), strict=True)
    )
    labels = []
    for members in areas.members:
        n = max(members, key=depths.__getitem__)
        x, y = (middles[n] * size + low).tolist()
        label = Label(x, y, str(cells[n][1]), n, beside=depths[n] < ROOM)
        labels.append(label if label.beside else _aside(label, depths[n], marks, low, high))
    return tuple(labels)


def _scaled(segments: Sequence[Segment], low: Pair, size: np.ndarray) -> np.ndarray:
    return (np.array(segments).reshape(-1, 2, 2) - low) / size


def _depths(places: np.ndarray, borders: np.ndarray) -> list[float]:
    """Return the distance of each place to the nearest border or to the frame, as a share of the frame."""
    begin, along = borders[:, 0], borders[:, 1] - borders[:, 0]
    squares = np.maximum((along**2).sum(axis=1), 1e-300)
    depths = []
    for place in places:
        share = np.clip(((place - begin) * along).sum(axis=1) / squares, 0.0, 1.0)
        off = np.hypot(*(begin + share[:, None] * along - place).T)
        depths.append(float(min([*place, *(1.0 - place), off.min(initial=np.inf)])))
    return depths


def _centroid(corners: np.ndarray) -> np.ndarray:
    """Return the centroid of a polygon; for a line, the middle of its corners."""
    first = corners[0]
    here = corners - first  # a tiny cell far from the origin keeps its digits
    after = np.roll(here, -1, axis=0)
    cross = here[:, 0] * after[:, 1] - after[:, 0] * here[:, 1]
    area = cross.sum() / 2
    if abs(area) < 1e-15:
        return np.asarray(corners.mean(axis=0))
    return np.asarray(first + ((here + after) * cross[:, None]).sum(axis=0) / (6 * area))


def _aside(label: Label, depth: float, marks: Sequence[Pair], low: Pair, high: Pair) -> Label:
    """Move a label out of the way of the marks of prototypes, if its cell has the room."""
    wide, tall = high[0] - low[0], high[1] - low[1]
    letters = 0.6 + 0.35 * len(label.text)
    for across, up in WAYS_ASIDE:
        if max(abs(across), abs(up)) * ROOM > max(depth - 0.3 * ROOM, 0.0) and (across or up):
            continue
        x, y = label.x + across * ROOM * wide, label.y + up * ROOM * tall
        if not any(abs(a - x) < letters * ROOM * wide and abs(b - y) < ROOM * tall for a, b in marks):
            return label._replace(x=x, y=y)
    return label
