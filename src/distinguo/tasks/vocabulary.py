"""What people call the coordinates, the labels and the actions of the tasks that we list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from distinguo.tasks.amounts import law_formula, laws_of
from distinguo.tasks.grids import ENDS, TAXI, TAXI_STOPS, grid_of
from distinguo.tasks.maze import DIRECTIONS
from distinguo.tasks.spec import TaskSpec

LOW, HIGH = 0, 1  #: the sides of a coordinate


class Coordinate(NamedTuple):
    """The words for the two sides of a coordinate, and where one side ends and the other begins."""

    low: str
    high: str
    middle: float | None = 0.0  #: None: the middle of the observations


class AmountWords(NamedTuple):
    """The words for actions that are amounts, such as "-2": below zero, none at all, and above zero."""

    below: str
    none: str
    above: str
    unit: str = ""


class Facet(NamedTuple):
    """One of the things that a label says, such as the row of a field."""

    one: str  #: "row {}"
    many: str = ""  #: "rows {}"; by default as for one
    values: tuple[str, ...] = ()  #: the words for 0, 1, 2, …; by default the numbers


class Labels(NamedTuple):
    """What a label says: its facets, their numbers from the label, and whether one acts where it is observed."""

    facets: tuple[Facet, ...]
    read: Callable[[tuple[float, ...]], tuple[int, ...]]
    is_met: Callable[[tuple[float, ...]], bool] = lambda label: True


class Vocabulary(NamedTuple):
    """The words of a task; a pair of sides may have a phrase of its own."""

    coordinates: Mapping[str, Coordinate] = {}  # never changed
    together: Mapping[tuple[tuple[str, int], tuple[str, int]], str] = {}
    actions: Mapping[str, str] = {}
    amounts: AmountWords | None = None


# Tasks whose observations are numbers.


_PUSHES = {"left": "push left", "right": "push right"}
_PUCK = Vocabulary(
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
)
_CAR = Vocabulary(
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
    AmountWords("push left", "let it roll", "push right"),
)
_LANDER = Vocabulary(
    {
        "x": Coordinate("left of the pad", "right of the pad"),
        "y": Coordinate("below the pad's level", "above the pad's level"),
        "vx": Coordinate("drifting left", "drifting right"),
        "vy": Coordinate("falling", "rising"),
        "angle": Coordinate("tilted right", "tilted left"),
        "spin": Coordinate("turning right", "turning left"),
        "left_leg": Coordinate("left leg in the air", "left leg on the ground", 0.5),
        "right_leg": Coordinate("right leg in the air", "right leg on the ground", 0.5),
    },
    {},
    {
        "nothing": "fire no engine",
        "left_engine": "fire the left engine",
        "main_engine": "fire the main engine",
        "right_engine": "fire the right engine",
    },
)
_LEG = {
    "hip": Coordinate("thigh back", "thigh forward"),
    "hip_v": Coordinate("thigh swinging back", "thigh swinging forward"),
    "knee": Coordinate("knee bent", "knee stretched", None),
    "knee_v": Coordinate("knee bending", "knee stretching"),
    "foot": Coordinate("foot in the air", "foot on the ground", 0.5),
}
WALKER = (
    *("hull", "hull_v", "vx", "vy"),
    *(f"{part}{leg}" for leg in (1, 2) for part in _LEG),
    *(f"lidar{n}" for n in range(10)),
)  #: the coordinates of the bipedal walker
WALKER_ANGLES = ("hull", "hip1", "knee1", "hip2", "knee2")  #: those in radians
_STEPS = {"left": "go left", "down": "go down", "right": "go right", "up": "go up"}

KNOWN: Mapping[str, Vocabulary] = {
    "puck": _PUCK,
    "puck-continuing": _PUCK,
    "maze": Vocabulary(
        {
            "x": Coordinate("in the left half", "in the right half", 0.5),
            "y": Coordinate("in the lower half", "in the upper half", 0.5),
        },
        {
            (("x", LOW), ("y", LOW)): "in the lower left quarter",
            (("x", LOW), ("y", HIGH)): "in the upper left quarter",
            (("x", HIGH), ("y", LOW)): "in the lower right quarter",
            (("x", HIGH), ("y", HIGH)): "in the upper right quarter",
        },
        {direction: f"go {direction}" for direction in DIRECTIONS},
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
    "MountainCar-v0": _CAR,
    "MountainCarContinuous-v0": _CAR,
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
        amounts=AmountWords("turn right", "let it swing", "turn left", "N m"),
    ),
    "LunarLander-v3": _LANDER,
    "LunarLanderContinuous-v3": _LANDER._replace(actions={}),
    "BipedalWalker-v3": Vocabulary(
        {
            "hull": Coordinate("hull tilted forward", "hull tilted back"),
            "hull_v": Coordinate("hull tipping forward", "hull tipping back"),
            "vx": Coordinate("moving back", "moving forward"),
            "vy": Coordinate("sinking", "rising"),
            **{
                f"{part}{leg}": Coordinate(f"leg {leg}: {side.low}", f"leg {leg}: {side.high}", side.middle)
                for leg in (1, 2)
                for part, side in _LEG.items()
            },
            **{f"lidar{n}": Coordinate(f"ray {n} short", f"ray {n} long", None) for n in range(10)},
        },
    ),
    "FrozenLake-v1": Vocabulary(actions=_STEPS),
    "FrozenLake8x8-v1": Vocabulary(actions=_STEPS),
    "CliffWalking-v1": Vocabulary(actions=_STEPS),
    "CliffWalkingSlippery-v1": Vocabulary(actions=_STEPS),
    TAXI: Vocabulary(
        actions={
            **{side: f"go {side}" for side in ("south", "north", "east", "west")},
            "pick_up": "pick up the passenger",
            "drop_off": "drop off the passenger",
        }
    ),
    "Blackjack-v1": Vocabulary(actions={"stick": "stick", "hit": "take a card"}),
}


def vocabulary_of(spec: TaskSpec) -> Vocabulary:
    """Return the words of a task; for an unknown task, the names of its coordinates with low and high.

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
    return known._replace(coordinates=own, together={})


# Actions.


_GERUNDS = {
    "drop": "dropping",
    "fire": "firing",
    "go": "going",
    "let": "letting",
    "pick": "picking",
    "push": "pushing",
    "stick": "sticking",
    "take": "taking",
    "turn": "turning",
}  #: of all verbs that the phrases of actions begin with


def action_in_words(spec: TaskSpec, a: int) -> str | None:
    """Return an action as an instruction; None if the task has no words for it.

    >>> from distinguo.tasks.catalog import task_spec
    >>> action_in_words(task_spec("puck"), 0), action_in_words(task_spec("Pendulum-v1"), 4)
    ('push left', 'turn left with 2 N m')
    """
    name, words = spec.actions[a], vocabulary_of(spec)
    if name in words.actions:
        return words.actions[name]
    try:
        amount = float(name)
    except ValueError:
        return None
    if words.amounts is None:
        return None
    if amount == 0.0:
        return words.amounts.none
    way = words.amounts.below if amount < 0.0 else words.amounts.above
    return f"{way} with {abs(amount):g} {words.amounts.unit}".rstrip()


def acting(spec: TaskSpec, a: int) -> str:
    """Return an action as an activity.

    >>> from distinguo.tasks.catalog import task_spec
    >>> acting(task_spec("puck"), 0), acting(task_spec("MountainCar-v0"), 1)
    ('pushing left', 'letting it roll')
    >>> acting(task_spec("puck")._replace(name="mine"), 0)
    "taking 'left'"
    """
    said = action_in_words(spec, a)
    known = laws_of(spec)
    if said is None and known is not None:
        constant = not known.table[a, :, :-1].any()
        return f"taking {law_formula(spec, a)}" if constant else f"following {spec.actions[a]}"
    if said is None:
        return f"taking '{spec.actions[a]}'"
    verb, *rest = said.split(" ")
    return " ".join([_GERUNDS[verb], *rest])


# Labels.


_TAXI_FACETS = (
    Facet("passenger {}", values=(*(f"at {stop}" for stop in TAXI_STOPS), "in the taxi")),
    Facet("destination {}", values=TAXI_STOPS),
    Facet("row {}", "rows {}"),
    Facet("column {}", "columns {}"),
)
_CARDS = (
    Facet("sum {}", "sums {}"),
    Facet("dealer's card {}", "dealer's cards {}"),
    Facet("{}", values=("without a usable ace", "with a usable ace")),
)


def labels_of(spec: TaskSpec) -> Labels:
    """What the labels of a task say; for an unknown task, the numbers themselves.

    >>> from distinguo.tasks.catalog import task_spec
    >>> labels = labels_of(task_spec("FrozenLake-v1"))
    >>> [facet.one for facet in labels.facets], labels.read((6.0,))
    (['row {}', 'column {}'], (1, 2))
    """
    if spec.name == TAXI:
        return Labels(_TAXI_FACETS, _taxi, lambda label: _taxi(label)[0] != _taxi(label)[1])
    grid = grid_of(spec)
    if grid is not None:
        wide, fields = len(grid[0]), "".join(grid)
        return Labels(
            _TAXI_FACETS[2:],
            lambda label: divmod(int(label[0]), wide),
            lambda label: fields[int(label[0])] not in ENDS,
        )
    if spec.name == "Blackjack-v1" and len(spec.dimensions) == len(_CARDS):
        return Labels(_CARDS, _numbers, _is_hand)
    return Labels(tuple(Facet(f"{own} {{}}") for own in spec.dimensions), _numbers)


def label_in_words(spec: TaskSpec, label: Sequence[float]) -> str:
    """A label with what it says, where that is more than its numbers.

    >>> from distinguo.tasks.catalog import task_spec
    >>> label_in_words(task_spec("FrozenLake-v1"), (6.0,)), label_in_words(task_spec("Taxi-v4"), (328.0,))
    ('field 6: row 1, column 2', 'situation 328: passenger at yellow, destination red, row 3, column 1')
    """
    labels = labels_of(spec)
    said = [f"{name} {value:g}" for name, value in zip(spec.dimensions, label, strict=True)]
    facets = [
        facet.one.format(facet.values[value] if facet.values else value)
        for facet, value in zip(labels.facets, labels.read(tuple(label)), strict=True)
    ]
    return ", ".join(said) if facets == said else f"{', '.join(said)}: {', '.join(facets)}"


def _numbers(label: tuple[float, ...]) -> tuple[int, ...]:
    return tuple(int(value) for value in label)


def _is_hand(label: tuple[float, ...]) -> bool:
    """Whether cards can add up so: two or more, at most 21, and an ace counts 11."""
    total, dealer, ace = label
    return (12 if ace else 4) <= total <= 21 and 1 <= dealer <= 10


def _taxi(label: tuple[float, ...]) -> tuple[int, ...]:
    """The passenger, the destination, the row and the column of a situation of the taxi.

    >>> _taxi((328.0,))
    (2, 0, 3, 1)
    """
    rest, destination = divmod(int(label[0]), 4)
    rest, passenger = divmod(rest, 5)
    row, column = divmod(rest, 5)
    return passenger, destination, row, column
