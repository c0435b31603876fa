"""The puck on its hill as pixels, without a graphics library.

A shape is the distance of each pixel to its edge, negative inside; painting softens the edge.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from distinguo.tasks.puck.puck import RIGHT, Puck

_HEIGHT, _WIDTH = 400, 600
_CREST, _FOOT = 130, 345  #: rows of the top of the hill and, at most, of its ends
_MARGIN = 45  #: columns outside the walls
_PUCK = (17.0, 7.0)  #: half length and half thickness
_SKY, _EARTH, _GRASS = (236, 242, 248), (121, 134, 112), (84, 100, 78)
_STONE, _RUBBER, _ARROW = (94, 99, 110), (38, 42, 52), (214, 84, 45)
_ROWS, _COLUMNS = np.ogrid[0.5:_HEIGHT, 0.5:_WIDTH]
#: The walls stand where a puck that hits them touches them with its rim, and hide whatever is behind.
_WALLS = np.maximum(_WIDTH / 2 - _MARGIN + _PUCK[0] - np.abs(_COLUMNS - _WIDTH / 2), 60.0 - _ROWS)


def draw(puck: Puck, x: float, push: int | None) -> np.ndarray:
    """Return the hill, the walls, the puck at ``x`` and the last push as 400 x 600 pixels of RGB.

    >>> draw(Puck(), 0.0, RIGHT).shape
    (400, 600, 3)
    """
    frame = _scene(puck).copy()
    part, along, above = _seen_from_puck(frame, puck, min(max(x, -puck.wall), puck.wall))
    _paint(part, _bar(along, above - _PUCK[1], *_PUCK, round_by=4.0), _RUBBER)
    if push is not None:
        _paint(part, _arrow(along if push == RIGHT else -along, above - 36.0), _ARROW)
    _paint(frame, _WALLS, _STONE)
    pixels: np.ndarray = np.rint(frame).astype(np.uint8)
    return pixels


def _paint(frame: np.ndarray, distance: np.ndarray, colour: tuple[int, int, int]) -> None:
    rows, columns = np.nonzero(distance < 0.5)
    cover = np.minimum(0.5 - distance[rows, columns], 1.0)[:, None]
    frame[rows, columns] += cover * (np.array(colour) - frame[rows, columns])


def _scales(puck: Puck) -> tuple[float, float]:
    """Pixels per metre: the same both ways, unless the hill is too high for the picture."""
    across = (_WIDTH / 2 - _MARGIN) / puck.wall
    return across, min(across, (_FOOT - _CREST) / (puck.beta * puck.wall**2))


@functools.lru_cache(maxsize=8)
def _scene(puck: Puck) -> np.ndarray:
    """All that does not move; it is drawn once per hill."""
    frame = np.full((_HEIGHT, _WIDTH, 3), _SKY, dtype=np.float32)
    across, down = _scales(puck)
    x = (_COLUMNS - _WIDTH / 2) / across
    steepness = 2.0 * puck.beta * x * down / across
    depth = (_ROWS - _CREST - down * puck.beta * x**2) / np.hypot(1.0, steepness)
    _paint(frame, -depth, _EARTH)
    _paint(frame, np.abs(depth - 2.0) - 2.0, _GRASS)
    return frame


def _seen_from_puck(frame: np.ndarray, puck: Puck, x: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pixels near the puck, how far right of it along the slope they are, and how far above."""
    across, down = _scales(puck)
    row, column = _CREST + down * puck.beta * x * x, _WIDTH / 2 + across * x
    near = slice(max(int(row) - 64, 0), int(row) + 64), slice(max(int(column) - 64, 0), int(column) + 64)
    angle = math.atan(2.0 * puck.beta * x * down / across)
    right, below = _COLUMNS[:, near[1]] - column, _ROWS[near[0]] - row
    along = right * math.cos(angle) + below * math.sin(angle)
    return frame[near], along, right * math.sin(angle) - below * math.cos(angle)


def _bar(along: np.ndarray, above: np.ndarray, length: float, height: float, round_by: float) -> np.ndarray:
    past_end, past_top = np.abs(along) - length + round_by, np.abs(above) - height + round_by
    outside = np.hypot(np.maximum(past_end, 0.0), np.maximum(past_top, 0.0))
    distance: np.ndarray = outside + np.minimum(np.maximum(past_end, past_top), 0.0) - round_by
    return distance


def _arrow(along: np.ndarray, above: np.ndarray) -> np.ndarray:
    shaft = _bar(along + 6.0, above, 20.0, 2.5, round_by=1.0)
    head = np.maximum(12.0 - along, (2.0 * np.abs(above) + along - 32.0) / math.sqrt(5.0))
    distance: np.ndarray = np.minimum(shaft, head)
    return distance
