"""What the systems of our own tasks look like: scenes of lines, areas and discs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from distinguo.tasks.acrobot import Acrobot
from distinguo.tasks.amounts import amounts_of, laws_of
from distinguo.tasks.cart_pole import CartPole
from distinguo.tasks.grids import (
    CLIFF_FIELD,
    DIRECTIONS,
    FIELD_NAMES,
    GOAL_FIELD,
    HOLE_FIELD,
    STOPS,
    TAXI_STOPS,
    TOWN_WALLS,
    grid_of,
)
from distinguo.tasks.maze import GOAL_HIGH, GOAL_LOW, WALLS, Maze
from distinguo.tasks.mountain_car import MountainCar
from distinguo.tasks.pendulum import Pendulum
from distinguo.tasks.puck.puck import ContinuingPuck, Puck
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.vocabulary import action_in_words, labels_of

# What a scene is made of: lines, areas and discs, in the coordinates of the system.


Place = tuple[float, float]
GROUND, BODY, LINK, GOAL, LIMIT, PUSH = "ground", "body", "link", "goal", "limit", "push"
ICE, HOLE, CARD = "ice", "hole", "card"


class Stroke(NamedTuple):
    """A line through places, or the area within them."""

    role: str  #: decides its colour
    places: tuple[Place, ...]
    width: float = 2.0  #: in points; 0 for an area


class Disc(NamedTuple):
    """A filled circle."""

    role: str
    centre: Place
    radius: float


class Words(NamedTuple):
    """A few words around a place."""

    role: str
    centre: Place
    text: str


Shape = Stroke | Disc | Words


class Scene(NamedTuple):
    """A system at one moment, its shapes from back to front, and the frame around it."""

    shapes: tuple[Shape, ...]
    low: Place
    high: Place


def arrow(at: Place, by: Place, role: str = PUSH) -> list[Shape]:
    """Return an arrow from a place along a vector; empty if the vector is zero.

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


# What the systems of our own tasks look like, from the observation and the action.
#
# A scene is a function of an observation and an action, which is ``None`` at the end of a trial.


SceneOf = Callable[[Sequence[float], int | None], Scene]
SECOND_LINK = 1.0  #: m; the length of the acrobot's second link is no parameter of its dynamics
POINTS = 80  #: of a curve


def scene_for(spec: TaskSpec) -> SceneOf | None:
    """Return the function that draws a task's system; None for an unknown task.

    >>> from distinguo.tasks.catalog import task_spec
    >>> scene = scene_for(task_spec("puck"))((0.0, 1.0), 1)
    >>> scene.low[0], scene.high[0]
    (-2.88, 2.88)
    """
    known = _SCENES.get(spec.name)
    if known is None:
        return None
    kind, make = known
    return make({**_defaults(kind), **spec.parameters}, spec)


def seconds_of_step(spec: TaskSpec) -> float | None:
    """Return the duration of a step in the task's own time, if it defines one.

    >>> from distinguo.tasks.catalog import task_spec
    >>> seconds_of_step(task_spec("puck")), seconds_of_step(task_spec("MountainCar-v0"))
    (0.02, None)
    """
    known = _SCENES.get(spec.name)
    own: Mapping[str, Any] = _defaults(known[0]) if known else {}
    interval = {**own, **spec.parameters}.get("interval")
    return None if interval is None else float(interval)


def _defaults(kind: Any) -> Mapping[str, Any]:
    """The parameters of a class of tasks, or of an environment of Gymnasium."""
    found: Mapping[str, Any] = kind if isinstance(kind, Mapping) else kind._field_defaults
    return found


def _puck(own: Mapping[str, Any], spec: TaskSpec) -> SceneOf:
    wall, beta = float(own["wall"]), float(own["beta"])

    def height(x: float) -> float:
        return -beta * x * x

    low, radius = height(wall), 0.06 * wall
    hill = [(x, height(x)) for x in np.linspace(-wall, wall, POINTS).tolist()]
    still = [
        *(line(LIMIT, [(side, low), (side, low + 0.5 * wall)]) for side in (-wall, wall)),
        line(GROUND, hill, 3.0),
    ]

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        x = seen[0]
        slope = -2.0 * beta * x
        up = 1.0 / math.hypot(1.0, slope)
        centre = (x - radius * slope * up, height(x) + radius * up)
        push = [] if a is None else arrow(centre, ((2 * a - 1) * 0.25 * wall, 0.0))
        shapes = (*still, Disc(BODY, centre, radius), *push)
        return Scene(shapes, (-1.2 * wall, low - 0.15 * wall), (1.2 * wall, 0.3 * wall))

    return scene


def _cart_pole(own: Mapping[str, Any], spec: TaskSpec) -> SceneOf:
    wall, length = float(own["wall"]), 2.0 * float(own["half_length"])
    wide, tall = 0.1 * wall, 0.05 * wall

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        x, angle = seen[0], seen[2]
        tip = (x + length * math.sin(angle), length * math.cos(angle))
        push = [] if a is None else arrow((x, 0.0), ((2 * a - 1) * 0.25 * wall, 0.0))
        shapes = (
            line(GROUND, [(-1.1 * wall, -tall), (1.1 * wall, -tall)]),
            *(line(LIMIT, [(side, -2 * tall), (side, 3 * tall)]) for side in (-wall, wall)),
            box(BODY, (x - wide, -tall), (x + wide, tall)),
            line(LINK, [(x, 0.0), tip], 5.0),
            *push,
        )
        return Scene(shapes, (-1.2 * wall, -0.25 * wall), (1.2 * wall, max(1.2 * length, 0.5 * wall)))

    return scene


def _mountain_car(own: Mapping[str, Any], spec: TaskSpec) -> SceneOf:
    left, right, goal = (float(own[f"{name}_position"]) for name in ("min", "max", "goal"))

    def height(x: float) -> float:
        return 0.45 * math.sin(3.0 * x) + 0.55

    valley = [(x, height(x)) for x in np.linspace(left, right, POINTS).tolist()]
    flag = [(goal, height(goal)), (goal, height(goal) + 0.2), (goal + 0.1, height(goal) + 0.16)]
    ways = {"left": -1.0, "none": 0.0, "right": 1.0}
    named = spec.actions if laws_of(spec) is None else ()
    strengths = [ways[name] if name in ways else float(name) for name in named]
    strength = _of_range(spec, strengths, 1.0)
    still = [line(GROUND, valley, 3.0), line(GOAL, [*flag, (goal, height(goal) + 0.12)])]

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        x = seen[0]
        slope = 1.35 * math.cos(3.0 * x)
        along = 1.0 / math.hypot(1.0, slope)
        centre = (x - 0.04 * slope * along, height(x) + 0.04 * along)
        drive = 0.0 if a is None else 0.2 * strength(seen, a)
        push = arrow(centre, (drive * along, drive * slope * along))
        return Scene((*still, Disc(BODY, centre, 0.04), *push), (left - 0.1, 0.0), (right + 0.1, 1.3))

    return scene


def _of_range(
    spec: TaskSpec, strengths: Sequence[float], greatest: float
) -> Callable[[Sequence[float], int], float]:
    """How strong an action is where something is seen, as a share of the greatest amount."""
    known = laws_of(spec)
    if known is None:
        return lambda seen, a: float(strengths[a])
    return lambda seen, a: amounts_of(known, a, seen)[0] / greatest


def _acrobot(own: Mapping[str, Any], spec: TaskSpec) -> SceneOf:
    first = float(own["length_1"])
    reach = 1.1 * (first + SECOND_LINK)

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        one = math.atan2(seen[1], seen[0])
        two = one + math.atan2(seen[3], seen[2])
        joint = (first * math.sin(one), -first * math.cos(one))
        tip = (joint[0] + SECOND_LINK * math.sin(two), joint[1] - SECOND_LINK * math.cos(two))
        turn = 0.0 if a is None else (a - 1) * 0.5
        shapes = (
            line(GOAL, [(-reach, float(own["height"])), (reach, float(own["height"]))]),
            line(LINK, [(0.0, 0.0), joint], 6.0),
            line(LINK, [joint, tip], 6.0),
            Disc(GROUND, (0.0, 0.0), 0.08),
            Disc(BODY, joint, 0.08),
            *arrow(tip, (turn * math.cos(two), turn * math.sin(two))),
        )
        return Scene(shapes, (-reach, -reach), (reach, reach))

    return scene


def _pendulum(own: Mapping[str, Any], spec: TaskSpec) -> SceneOf:
    length, levels = float(own["length"]), own["levels"]
    pushes = (
        np.linspace(-1.0, 1.0, len(spec.actions))
        if isinstance(levels, int)
        else np.array(levels) / own["max_torque"]
    ).tolist()
    strength = _of_range(spec, pushes, float(own["max_torque"]))

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        up, aside = seen[0], seen[1]  # cosine and sine of the angle, which is 0 upright and grows to the left
        tip: Place = (-length * aside, length * up)
        turn = 0.0 if a is None else 0.6 * length * strength(seen, a)
        shapes = (
            line(LINK, [(0.0, 0.0), tip], 8.0),
            Disc(GROUND, (0.0, 0.0), 0.06 * length),
            Disc(BODY, tip, 0.08 * length),
            *arrow(tip, (-turn * up, -turn * aside)),
        )
        return Scene(shapes, (-1.6 * length, -1.6 * length), (1.6 * length, 1.6 * length))

    return scene


def _maze(own: Mapping[str, Any], spec: TaskSpec) -> SceneOf:
    walls = [line(GROUND, [(x, y), (to_x, to_y)], 4.0) for x, y, to_x, to_y in WALLS[: int(own["layout"])]]
    frame = line(GROUND, [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)], 3.0)
    still = [box(GOAL, (GOAL_LOW, GOAL_LOW), (GOAL_HIGH, GOAL_HIGH)), frame, *walls]

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        at, turn = (seen[0], seen[1]), 0.0 if a is None else a * math.pi / 4
        push = [] if a is None else arrow(at, (0.12 * math.cos(turn), 0.12 * math.sin(turn)))
        return Scene((*still, Disc(BODY, at, 0.025), *push), (-0.05, -0.05), (1.05, 1.05))

    return scene


_FIELDS = {HOLE_FIELD: HOLE, CLIFF_FIELD: HOLE, GOAL_FIELD: GOAL}


def _fields(grid: Sequence[str]) -> list[Shape]:
    """Return the fields of a grid, with the names of those that are special."""
    found: list[Shape] = []
    for row, letters in enumerate(grid):
        for column, letter in enumerate(letters):
            x, y = column - 0.5, len(grid) - 1.5 - row
            found.append(box(_FIELDS.get(letter, ICE), (x + 0.03, y + 0.03), (x + 0.97, y + 0.97)))
            if letter in FIELD_NAMES:
                found.append(Words(_FIELDS.get(letter, ICE), (x + 0.5, y + 0.5), FIELD_NAMES[letter]))
    return found


def _grid(own: Mapping[str, Any], spec: TaskSpec) -> SceneOf:
    grid = grid_of(spec) or ("F" * round(spec.high[0] + 1),)
    wide, high, still = len(grid[0]), len(grid), _fields(grid)

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        row, column = divmod(int(seen[0]), wide)
        at = (float(column), float(high - 1 - row))
        step = [] if a is None else _step(spec.actions[a], at)
        shapes = (*still, Disc(BODY, at, 0.25), *step)
        return Scene(shapes, (-0.6, -0.6), (wide - 0.4, high - 0.4))

    return scene


def _step(name: str, at: Place) -> list[Shape]:
    dx, dy = DIRECTIONS.get(name, (0, 0))
    return arrow(at, (0.7 * dx, 0.7 * dy))


def _taxi(own: Mapping[str, Any], spec: TaskSpec) -> SceneOf:
    read, size = labels_of(spec).read, 5

    def middle(row: int, column: int) -> Place:
        return float(column), float(size - 1 - row)

    still: list[Shape] = [
        box(ICE, (c - 0.47, r - 0.47), (c + 0.47, r + 0.47)) for r in range(size) for c in range(size)
    ]
    for (row, column), name in zip(STOPS, TAXI_STOPS, strict=True):
        x, y = middle(row, column)
        still.append(Words(ICE, (x, y - 0.32), name))
    for row, column in TOWN_WALLS:
        x, y = middle(row, column)
        still.append(line(GROUND, [(x + 0.5, y - 0.5), (x + 0.5, y + 0.5)], 4.0))

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        passenger, destination, row, column = read(tuple(seen))
        at, (x, y) = middle(row, column), middle(*STOPS[destination])
        goal = line(GOAL, [(x - 0.4, y - 0.4), (x + 0.4, y - 0.4), (x + 0.4, y + 0.4), (x - 0.4, y + 0.4),
                           (x - 0.4, y - 0.4)], 3.0)  # fmt: skip
        car = box(BODY, (at[0] - 0.3, at[1] - 0.18), (at[0] + 0.3, at[1] + 0.18))
        who = at if passenger == len(STOPS) else middle(*STOPS[passenger])
        step = [] if a is None else _step(spec.actions[a], at)
        shapes = (*still, goal, car, Disc(LINK, (who[0], who[1] + 0.05), 0.1), *step)
        return Scene(shapes, (-0.6, -0.6), (size - 0.4, size - 0.4))

    return scene


def _blackjack(own: Mapping[str, Any], spec: TaskSpec) -> SceneOf:
    def scene(seen: Sequence[float], a: int | None) -> Scene:
        total, dealer, ace = (int(value) for value in seen)
        shapes: list[Shape] = []
        for x, title, value in (
            (0.0, "you", f"{total}" + ("\nwith an ace" if ace else "")),
            (2.0, "dealer", "ace" if dealer == 1 else f"{dealer}"),
        ):
            shapes += [box(CARD, (x - 0.6, -0.8), (x + 0.6, 0.8)), Words(CARD, (x, 0.0), value)]
            shapes.append(Words(ICE, (x, 1.05), title))
        if a is not None:
            shapes.append(Words(ICE, (1.0, -1.2), action_in_words(spec, a) or spec.actions[a]))
        return Scene(tuple(shapes), (-1.0, -1.5), (3.0, 1.4))

    return scene


def _turned(places: Sequence[Place], angle: float, by: Place) -> list[Place]:
    """Turn places around the origin, then move them."""
    c, s = math.cos(angle), math.sin(angle)
    return [(c * x - s * y + by[0], s * x + c * y + by[1]) for x, y in places]


_HULL = ((-0.11, 0.0), (-0.13, 0.1), (-0.08, 0.14), (0.08, 0.14), (0.13, 0.1), (0.11, 0.0))  #: of the lander
#: Where each engine pushes, and how far.
_THRUSTS = {"left_engine": (0.25, 0.0), "main_engine": (0.0, 0.3), "right_engine": (-0.25, 0.0)}


def _lander(own: Mapping[str, Any], spec: TaskSpec) -> SceneOf:
    still = (line(GROUND, [(-1.2, 0.0), (1.2, 0.0)], 2.0), line(GOAL, [(-0.2, 0.0), (0.2, 0.0)], 6.0))

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        at, angle = (seen[0], seen[1]), seen[4]
        legs = [
            line(
                GOAL if seen[side] > 0.5 else LINK,
                _turned([(0.1 * x, 0.05), (0.17 * x, -0.06)], angle, at),
                4.0,
            )
            for side, x in ((6, -1), (7, 1))
        ]
        thrust = (0.0, 0.0) if a is None else _THRUSTS.get(spec.actions[a], (0.0, 0.0))
        (dx, dy), middle = _turned([thrust], angle, (0.0, 0.0))[0], _turned([(0.0, 0.07)], angle, at)[0]
        body = Stroke(BODY, tuple(_turned(_HULL, angle, at)), 0.0)
        return Scene((*still, *legs, body, *arrow(middle, (dx, dy))), (-1.2, -0.15), (1.2, 1.6))

    return scene


_TRUNK = ((-1.0, -0.3), (-1.0, 0.3), (0.2, 0.3), (1.1, 0.05), (1.1, -0.3))  #: of the walker


def _walker(own: Mapping[str, Any], spec: TaskSpec) -> SceneOf:
    length = 1.13

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        legs: list[Shape] = []
        feet = []
        for first, role in ((4, LINK), (9, GROUND)):
            thigh = seen[0] + seen[first]
            shin = thigh + seen[first + 2] - 1.0  # the observation adds 1 to the angle of the knee
            knee = _turned([(0.0, -length)], thigh, (0.0, -0.2))[0]
            foot = _turned([(0.0, -length)], shin, knee)[0]
            legs.append(line(role, [(0.0, -0.2), knee, foot], 7.0))
            if seen[first + 4] > 0.5:
                legs.append(Disc(GOAL, foot, 0.12))
            feet.append(foot[1])
        ground = line(GROUND, [(-3.0, min(feet) - 0.1), (3.0, min(feet) - 0.1)], 3.0)
        trunk = Stroke(BODY, tuple(_turned(_TRUNK, seen[0], (0.0, 0.0))), 0.0)
        return Scene((ground, *legs, trunk), (-3.0, -3.0), (3.0, 1.5))

    return scene


_BOX2D = {"interval": 1 / 50}
#: For each task with a scene: its parameters, or the class that has them, and the function that makes the scene.
_SCENES: dict[str, tuple[Any, Callable[[Mapping[str, Any], TaskSpec], SceneOf]]] = {
    "puck": (Puck, _puck),
    "puck-continuing": (ContinuingPuck, _puck),
    "maze": (Maze, _maze),
    "CartPole-v1": (CartPole, _cart_pole),
    "MountainCar-v0": (MountainCar, _mountain_car),
    "MountainCarContinuous-v0": ({**MountainCar._field_defaults, "goal_position": 0.45}, _mountain_car),
    "Acrobot-v1": (Acrobot, _acrobot),
    "Pendulum-v1": (Pendulum, _pendulum),
    "FrozenLake-v1": ({}, _grid),
    "FrozenLake8x8-v1": ({}, _grid),
    "CliffWalking-v1": ({}, _grid),
    "CliffWalkingSlippery-v1": ({}, _grid),
    "Taxi-v4": ({}, _taxi),
    "Blackjack-v1": ({}, _blackjack),
    "LunarLander-v3": (_BOX2D, _lander),
    "LunarLanderContinuous-v3": (_BOX2D, _lander),
    "BipedalWalker-v3": (_BOX2D, _walker),
}
