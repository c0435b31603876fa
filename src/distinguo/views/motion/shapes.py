"""What a scene is made of: lines, areas and discs, in the coordinates of the system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Place = tuple[float, float]
GROUND, BODY, LINK, GOAL, LIMIT, PUSH = "ground", "body", "link", "goal", "limit", "push"


class Stroke(NamedTuple):
    """A line through places, or the area within them."""

    role: str  #: what it stands for, which decides its colour
    places: tuple[Place, ...]
    width: float = 2.0  #: in points; 0 for an area


class Disc(NamedTuple):
    """A round thing."""

    role: str
    centre: Place
    radius: float


Shape = Stroke | Disc


class Scene(NamedTuple):
    """A system at one moment, back to front, and the frame that it is seen in."""

    shapes: tuple[Shape, ...]
    low: Place
    high: Place


def arrow(at: Place, by: Place, role: str = PUSH) -> list[Shape]:
    """Return an arrow from a place by a vector; none if there is nothing to point out.

    >>> arrow((0.0, 0.0), (0.0, 0.0))
    []
    >>> [len(shape.places) for shape in arrow((0.0, 0.0), (1.0, 0.0))]
    [2, 3]
    """
    (x, y), (dx, dy) = at, by
    length = math.hypot(dx, dy)
    if length == 0.0:
        return []
    tip, neck = (x + dx, y + dy), (x + 0.6 * dx, y + 0.6 * dy)
    aside = (-0.25 * dy, 0.25 * dx)
    head = (tip, (neck[0] + aside[0], neck[1] + aside[1]), (neck[0] - aside[0], neck[1] - aside[1]))
    return [Stroke(role, (at, neck), 3.0), Stroke(role, head, 0.0)]


def box(role: str, low: Place, high: Place) -> Stroke:
    """Return a rectangle as an area.

    >>> len(box(BODY, (0.0, 0.0), (1.0, 2.0)).places)
    4
    """
    (x0, y0), (x1, y1) = low, high
    return Stroke(role, ((x0, y0), (x1, y0), (x1, y1), (x0, y1)), 0.0)


def line(role: str, places: Sequence[Place], width: float = 2.0) -> Stroke:
    """Return a line through places.

    >>> line(GROUND, [(0.0, 0.0), (1.0, 0.0)]).width
    2.0
    """
    return Stroke(role, tuple(places), width)
