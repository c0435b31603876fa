"""What people call the two sides of a coordinate, and the actions, of the tasks that we ship."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from distinguo.tasks.spec import TaskSpec

LOW, HIGH = 0, 1  #: the sides of a coordinate


class Coordinate(NamedTuple):
    """The words for the two sides of a coordinate, and where one side ends and the other begins."""

    low: str
    high: str
    middle: float | None = 0.0  #: None for the middle of what was observed


class Vocabulary(NamedTuple):
    """The words of a task; two sides together may have a phrase of their own."""

    coordinates: Mapping[str, Coordinate] = {}  # never changed
    together: Mapping[tuple[tuple[str, int], tuple[str, int]], str] = {}
    actions: Mapping[str, str] = {}


_PUSHES = {"left": "push left", "right": "push right"}

KNOWN: Mapping[str, Vocabulary] = {
    "puck": Vocabulary(
        {
            "x": Coordinate("left of the top", "right of the top"),
            "v": Coordinate("moving left", "moving right"),
        },
        {
            (("x", LOW), ("v", LOW)): "left of the top and moving away from it",
            (("x", HIGH), ("v", HIGH)): "right of the top and moving away from it",
            (("x", LOW), ("v", HIGH)): "left of the top and moving up to it",
            (("x", HIGH), ("v", LOW)): "right of the top and moving up to it",
        },
        _PUSHES,
    ),
    "CartPole-v1": Vocabulary(
        {
            "x": Coordinate("cart left of the middle", "cart right of the middle"),
            "v": Coordinate("cart rolling left", "cart rolling right"),
            "angle": Coordinate("pole leaning left", "pole leaning right"),
            "angular_v": Coordinate("pole turning left", "pole turning right"),
        },
        {
            (("angle", LOW), ("angular_v", LOW)): "pole leaning left and falling",
            (("angle", HIGH), ("angular_v", HIGH)): "pole leaning right and falling",
            (("angle", LOW), ("angular_v", HIGH)): "pole leaning left and rising",
            (("angle", HIGH), ("angular_v", LOW)): "pole leaning right and rising",
        },
        _PUSHES,
    ),
    "MountainCar-v0": Vocabulary(
        {
            "x": Coordinate("left of the valley's bottom", "right of the valley's bottom", -0.5236),
            "v": Coordinate("moving left", "moving right"),
        },
        {
            (("x", LOW), ("v", LOW)): "climbing the left slope",
            (("x", LOW), ("v", HIGH)): "coming down the left slope",
            (("x", HIGH), ("v", LOW)): "coming down the right slope",
            (("x", HIGH), ("v", HIGH)): "climbing to the goal",
        },
        {"left": "push left", "none": "let it roll", "right": "push right"},
    ),
    "Acrobot-v1": Vocabulary(
        {
            "cos1": Coordinate("upper link above the joint", "upper link hanging down"),
            "sin1": Coordinate("upper link to the left", "upper link to the right"),
            "cos2": Coordinate("lower link folded back", "lower link stretched"),
            "sin2": Coordinate("lower link bent left", "lower link bent right"),
            "v1": Coordinate("upper link swinging left", "upper link swinging right"),
            "v2": Coordinate("lower link swinging left", "lower link swinging right"),
        },
        {},
        {"-1": "turn the joint left", "0": "let it swing", "+1": "turn the joint right"},
    ),
    "Pendulum-v1": Vocabulary(
        {
            "cos": Coordinate("hanging below", "standing above"),
            "sin": Coordinate("on the right", "on the left"),
            "v": Coordinate("turning right", "turning left"),
        },
    ),
}


def vocabulary_of(spec: TaskSpec) -> Vocabulary:
    """Return the words of a task; of a task that we do not know, the names of its coordinates with low and high.

    >>> from distinguo.tasks.catalog import task_spec
    >>> vocabulary_of(task_spec("CartPole-v1")).coordinates["angle"].high
    'pole leaning right'
    >>> plain = task_spec("puck")._replace(name="mine", dimensions=("speed", "place"))
    >>> vocabulary_of(plain).coordinates["speed"].low
    'speed low'
    """
    known = KNOWN.get(spec.name, Vocabulary())
    if set(spec.dimensions) <= set(known.coordinates):
        return known
    own = {name: Coordinate(f"{name} low", f"{name} high", None) for name in spec.dimensions}
    return Vocabulary(own, actions=known.actions)
