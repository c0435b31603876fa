"""What the control representations share: a record of how they were made, and what they ask of a task."""

from __future__ import annotations

from typing import Any

from distinguo.errors import DistinguoError
from distinguo.representations.file import Representation
from distinguo.tasks.spec import TaskSpec


def with_provenance(spec: TaskSpec, partition: Any, control: str, **numbers: Any) -> Representation:
    """Return a partition of a task's states with the name of the control and the numbers that it was made by.

    >>> from distinguo.representations.boxes import grid
    >>> from distinguo.tasks.catalog import task_spec
    >>> hill = task_spec("puck")
    >>> with_provenance(hill, grid([1, 2], hill.low, hill.high), "grid", counts=[1, 2]).provenance["counts"]
    [1, 2]
    """
    provenance = {"task": spec.name, "parameters": dict(spec.parameters), "control": control, **numbers}
    return Representation(partition, spec.dimensions, provenance)


def need_plane(spec: TaskSpec, control: str) -> None:
    """Raise an error unless the states of a task are points of a plane.

    >>> from distinguo.tasks.catalog import task_spec
    >>> need_plane(task_spec("puck")._replace(dimensions=("x", "y", "z")), "diagonal")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: The control 'diagonal' is made for two coordinates, but the task 'puck' has 3.
    """
    if len(spec.dimensions) != 2:
        raise DistinguoError(
            f"The control '{control}' is made for two coordinates, but the task '{spec.name}' has "
            f"{len(spec.dimensions)}."
        )
