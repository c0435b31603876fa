"""What the control representations share: how they tell their making, and what they ask of a world."""

from __future__ import annotations

from typing import Any

from distinguo.errors import DistinguoError
from distinguo.representation.boxes import Boxes
from distinguo.representation.file import Representation
from distinguo.representation.voronoi import Voronoi
from distinguo.tasks.world import World


def made(world: World, partition: Voronoi | Boxes, control: str, **how: Any) -> Representation:
    """Wrap a partition of a world's states, telling the control and the numbers that it was made by.

    >>> from distinguo.representation.boxes import grid
    >>> from distinguo.tasks.catalog import world
    >>> hill = world("puck")
    >>> made(hill, grid([1, 2], hill.low, hill.high), "grid", counts=[1, 2]).provenance["counts"]
    [1, 2]
    """
    provenance = {"task": world.name, "parameters": dict(world.parameters), "control": control, **how}
    return Representation(partition, world.dimensions, provenance)


def need_plane(world: World, control: str) -> None:
    """Raise an error unless the states of a world are points of a plane.

    >>> from distinguo.tasks.catalog import world
    >>> need_plane(world("puck")._replace(dimensions=("x", "y", "z")), "diagonal")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: The control 'diagonal' is made for two coordinates, but the task 'puck' has 3.
    """
    if len(world.dimensions) != 2:
        raise DistinguoError(
            f"The control '{control}' is made for two coordinates, but the task '{world.name}' has "
            f"{len(world.dimensions)}."
        )
