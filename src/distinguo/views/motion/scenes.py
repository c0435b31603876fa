"""What the systems of our own tasks look like: scenes of lines, areas and discs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from distinguo.tasks.acrobot import Acrobot
from distinguo.tasks.cart_pole import CartPole
from distinguo.tasks.mountain_car import MountainCar
from distinguo.tasks.pendulum import Pendulum
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.spec import TaskSpec

# What a scene is made of: lines, areas and discs, in the coordinates of the system.


Place = tuple[float, float]
GROUND, BODY, LINK, GOAL, LIMIT, PUSH = "ground", "body", "link", "goal", "limit", "push"


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


Shape = Stroke | Disc


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
    return make({**kind._field_defaults, **spec.parameters}, len(spec.actions))


def seconds_of_step(spec: TaskSpec) -> float | None:
    """Return the duration of a step in the task's own time, if it defines one.

    >>> from distinguo.tasks.catalog import task_spec
    >>> seconds_of_step(task_spec("puck")), seconds_of_step(task_spec("MountainCar-v0"))
    (0.02, None)
    """
    known = _SCENES.get(spec.name)
    own: Mapping[str, Any] = known[0]._field_defaults if known else {}
    interval = {**own, **spec.parameters}.get("interval")
    return None if interval is None else float(interval)


def _puck(own: Mapping[str, Any], actions: int) -> SceneOf:
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


def _cart_pole(own: Mapping[str, Any], actions: int) -> SceneOf:
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


def _mountain_car(own: Mapping[str, Any], actions: int) -> SceneOf:
    left, right, goal = (float(own[f"{name}_position"]) for name in ("min", "max", "goal"))

    def height(x: float) -> float:
        return 0.45 * math.sin(3.0 * x) + 0.55

    valley = [(x, height(x)) for x in np.linspace(left, right, POINTS).tolist()]
    flag = [(goal, height(goal)), (goal, height(goal) + 0.2), (goal + 0.1, height(goal) + 0.16)]
    still = [line(GROUND, valley, 3.0), line(GOAL, [*flag, (goal, height(goal) + 0.12)])]

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        x = seen[0]
        slope = 1.35 * math.cos(3.0 * x)
        along = 1.0 / math.hypot(1.0, slope)
        centre = (x - 0.04 * slope * along, height(x) + 0.04 * along)
        drive = 0.0 if a is None else (a - 1) * 0.2
        push = arrow(centre, (drive * along, drive * slope * along))
        return Scene((*still, Disc(BODY, centre, 0.04), *push), (left - 0.1, 0.0), (right + 0.1, 1.3))

    return scene


def _acrobot(own: Mapping[str, Any], actions: int) -> SceneOf:
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


def _pendulum(own: Mapping[str, Any], actions: int) -> SceneOf:
    length, levels = float(own["length"]), own["levels"]
    pushes = (
        np.linspace(-1.0, 1.0, actions) if isinstance(levels, int) else np.array(levels) / own["max_torque"]
    )

    def scene(seen: Sequence[float], a: int | None) -> Scene:
        up, aside = seen[0], seen[1]  # cosine and sine of the angle, which is 0 upright and grows to the left
        tip: Place = (-length * aside, length * up)
        turn = 0.0 if a is None else 0.6 * length * float(pushes[a])
        shapes = (
            line(LINK, [(0.0, 0.0), tip], 8.0),
            Disc(GROUND, (0.0, 0.0), 0.06 * length),
            Disc(BODY, tip, 0.08 * length),
            *arrow(tip, (-turn * up, -turn * aside)),
        )
        return Scene(shapes, (-1.6 * length, -1.6 * length), (1.6 * length, 1.6 * length))

    return scene


#: For each task with a scene: the class of its parameters, and the function that makes the scene.
_SCENES: dict[str, tuple[Any, Callable[[Mapping[str, Any], int], SceneOf]]] = {
    "puck": (Puck, _puck),
    "CartPole-v1": (CartPole, _cart_pole),
    "MountainCar-v0": (MountainCar, _mountain_car),
    "Acrobot-v1": (Acrobot, _acrobot),
    "Pendulum-v1": (Pendulum, _pendulum),
}
