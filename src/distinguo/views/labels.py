"""Words within the cells of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distinguo.representation.geometry import Outline
from distinguo.views.slices import Pair

ROOM = 0.025  #: of the frame; a word stands in a cell that reaches so far around its middle


class Word(NamedTuple):
    """A word in the picture: the number of a region, or the label of a category."""

    x: float
    y: float
    text: str
    cell: int  #: that it stands in


def words_in(
    cells: Sequence[tuple[Outline, str]], marks: Sequence[Pair], low: Pair, high: Pair
) -> tuple[Word, ...]:
    """Return the words for the middles of convex cells that have room for one, out of the way of marks.

    >>> square = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    >>> words_in([(square, "7")], [], (0.0, 0.0), (2.0, 1.0))
    (Word(x=0.5, y=0.5, text='7', cell=0),)
    """
    middles = [_middle(outline, low, high) for outline, _ in cells]
    words = [Word(*m, text, n) for n, (m, (_, text)) in enumerate(zip(middles, cells, strict=True)) if m]
    return tuple(_aside(word, marks, low, high) for word in words)


def _middle(outline: Outline, low: Pair, high: Pair) -> Pair | None:
    """Return the middle of a cell, if there is room for a word around it."""
    corners = (np.array(outline) - low) / np.subtract(high, low)
    middle = corners.mean(axis=0)
    edges = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(*edges.T)
    inward = edges[:, 0] * (middle - corners)[:, 1] - edges[:, 1] * (middle - corners)[:, 0]
    long = lengths > 1e-12
    if not long.any() or (inward[long] / lengths[long]).min() < ROOM:
        return None
    x, y = (middle * np.subtract(high, low) + low).tolist()
    return x, y


def _aside(word: Word, marks: Sequence[Pair], low: Pair, high: Pair) -> Word:
    """Move a word out of the way of the mark of a prototype."""
    wide, tall = high[0] - low[0], high[1] - low[1]
    near = any(abs(x - word.x) < ROOM * wide and abs(y - word.y) < ROOM * tall for x, y in marks)
    return word._replace(y=word.y - 1.5 * ROOM * tall) if near else word
