"""The grids of Gymnasium's toy texts: which field is ice, a hole, the cliff, a wall or the goal."""

from __future__ import annotations

from collections.abc import Sequence

from distinguo.tasks.spec import TaskSpec

HOLE_FIELD, START_FIELD, GOAL_FIELD, CLIFF_FIELD = "H", "S", "G", "C"  #: letters of a grid
#: What such fields are called.
FIELD_NAMES = {HOLE_FIELD: "hole", CLIFF_FIELD: "cliff", GOAL_FIELD: "goal", START_FIELD: "start"}
ENDS = (HOLE_FIELD, CLIFF_FIELD, GOAL_FIELD)  #: the fields where no action is taken
LAKES = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"),
}
CLIFFS = (*("F" * 12,) * 3, "S" + CLIFF_FIELD * 10 + "G")
TAXI, TAXI_LABELS = "Taxi-v4", 500
TAXI_STOPS = ("red", "green", "yellow", "blue")
STOPS = ((0, 0), (0, 4), (4, 0), (4, 3))  #: the rows and columns of red, green, yellow and blue
#: The walls of the taxi's town: the row, and the column left of each.
TOWN_WALLS = ((0, 1), (1, 1), (3, 0), (3, 2), (4, 0), (4, 2))

#: Where actions lead, in columns to the right and rows upwards.
DIRECTIONS = {
    "left": (-1, 0),
    "right": (1, 0),
    "down": (0, -1),
    "up": (0, 1),
    "west": (-1, 0),
    "east": (1, 0),
    "south": (0, -1),
    "north": (0, 1),
}


def grid_of(spec: TaskSpec) -> tuple[str, ...] | None:
    """Return the rows of a task's grid from the top, a letter for each field; None if its labels are not fields.

    >>> from distinguo.tasks.catalog import task_spec
    >>> grid_of(task_spec("FrozenLake-v1"))
    ('SFFF', 'FHFH', 'FFFH', 'HFFG')
    >>> grid_of(task_spec("puck")) is None
    True
    """
    if spec.name.startswith("CliffWalking"):
        return CLIFFS
    if not spec.name.startswith("FrozenLake") or not spec.portable:  # an object may have another map
        return None
    default = "8x8" if "8x8" in spec.name else "4x4"
    given = spec.parameters.get("desc")
    rows = LAKES.get(str(spec.parameters.get("map_name", default))) if given is None else _rows(given)
    fits = rows is not None and sum(map(len, rows)) == spec.high[0] - spec.low[0] + 1
    return rows if fits else None


def _rows(given: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple("".join(str(field) for field in row) for row in given)
