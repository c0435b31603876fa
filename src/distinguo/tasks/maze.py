"""A maze in the plane: a point walks around walls to a goal.

============ ===================== ============
state        meaning               range
============ ===================== ============
``x``        to the right          ``0 .. 1``
``y``        upwards               ``0 .. 1``
============ ===================== ============

Actions: eight directions, ``stride`` far each, counted counterclockwise from the right. A move that would touch a
wall on its way, or leave the square, is not made.

Start: anywhere in the box from (0.05, 0.05) to (0.15, 0.15). End: in the box from (0.8, 0.8) to (0.95, 0.95).
Reward: -1 for every step.

Walls are lines. The layouts, by number, each with those of the one before::

    0   none
    1   from (0.3, 0) up to (0.3, 0.7): over the top
    2   from (0.6, 0.3) up to (0.6, 1): and below the next
    3   from (0.7, 0.55) to (1, 0.55): and through a gap of a tenth

    +---------------|-------+
    |               |   +-+ |
    |       |       |   |G| |
    |       |       |   +-+ |
    |       |       |   ----|
    |       |       |       |
    |       |               |
    | S     |               |
    +-------|---------------+

The shortest path through layout 3 from the middle of the start is 1.67 long, 33.4 strides of the default length. A
mean return of -67, twice that, solves the task: a path may keep away from the walls and use eight directions only,
but it cannot wander behind a wall.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.seam import part
from distinguo.tasks.declare import task

Point = tuple[float, float]

START_LOW, START_HIGH = 0.05, 0.15  #: of both coordinates of the first state
GOAL_LOW, GOAL_HIGH = 0.8, 0.95  #: of both coordinates of the goal
#: The ends of the walls: x, y, x, y.
WALLS = ((0.3, 0.0, 0.3, 0.7), (0.6, 0.3, 0.6, 1.0), (0.7, 0.55, 1.0, 0.55))
DIRECTIONS = ("east", "northeast", "north", "northwest", "west", "southwest", "south", "southeast")
#: How far each goes to the right and upwards, as a share of the stride.
_SHARES = tuple((math.cos(k * math.pi / 4), math.sin(k * math.pi / 4)) for k in range(len(DIRECTIONS)))


@task(
    name="maze",
    states=("x", "y"),
    actions=DIRECTIONS,
    low=(0.0, 0.0),
    high=(1.0, 1.0),
    threshold=-67.0,
    limit=300,
)
class Maze(NamedTuple):
    """The parameters of the task.

    >>> from distinguo.tasks.task import transition
    >>> transition(Maze(), (0.28, 0.5), 0), transition(Maze(layout=0), (0.25, 0.5), 0)
    (((0.28, 0.5), -1.0, False), ((0.3, 0.5), -1.0, False))
    """

    layout: Annotated[int, Field(ge=0, le=3, description="how many of the walls there are (ours)")] = 3
    stride: Annotated[float, Field(gt=0, le=0.1, description="length of a move (ours)")] = 0.05

    def transition(self, s: Point, a: int) -> tuple[Point, float, bool]:
        """Move, unless something is in the way."""
        share = _SHARES[a]
        x, y = s[0] + self.stride * share[0], s[1] + self.stride * share[1]
        if is_blocked(self.layout, s, (x, y)):
            return s, -1.0, False
        arrived = bool(GOAL_LOW <= x <= GOAL_HIGH and GOAL_LOW <= y <= GOAL_HIGH)
        return (x, y), -1.0, arrived

    def start(self, rng: np.random.Generator) -> Point:
        """Start in the lower left corner."""
        x = rng.uniform(START_LOW, START_HIGH)
        return (x, rng.uniform(START_LOW, START_HIGH))

    def goal_box(self) -> tuple[Point, Point]:
        """Return the goal."""
        return (GOAL_LOW, GOAL_LOW), (GOAL_HIGH, GOAL_HIGH)


@part
def is_blocked(layout: int, s: Point, to: Point) -> bool:
    """Whether the straight line between two points leaves the square or touches a wall."""
    if not (0.0 <= to[0] <= 1.0 and 0.0 <= to[1] <= 1.0):
        return True
    for n in range(layout):
        wall = WALLS[n]
        if do_touch(s, to, (wall[0], wall[1]), (wall[2], wall[3])):
            return True
    return False


@part
def do_touch(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether the lines from ``a`` to ``b`` and from ``c`` to ``d`` have a point in common.

    Each must have its ends on both sides of the other, or on it, and their shadows on the axes must meet.

    >>> [do_touch((0.0, 0.0), end, (0.0, 1.0), (1.0, 0.0)) for end in ((1.0, 1.0), (0.4, 0.4))]
    [True, False]
    """
    apart_x = max(a[0], b[0]) < min(c[0], d[0]) or max(c[0], d[0]) < min(a[0], b[0])
    apart_y = max(a[1], b[1]) < min(c[1], d[1]) or max(c[1], d[1]) < min(a[1], b[1])
    if apart_x or apart_y:
        return False
    across = side_of(a, b, c) * side_of(a, b, d) <= 0.0
    return across and side_of(c, d, a) * side_of(c, d, b) <= 0.0


@part
def side_of(a: Point, b: Point, p: Point) -> float:
    """The side of the line through ``a`` and ``b`` that a point is on, by the sign; 0 on the line."""
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
