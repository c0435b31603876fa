"""The views by name, and the door for views of one's own: a function from a run to a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from distinguo.errors import DistinguoError, did_you_mean
from distinguo.runs.folder import Run
from distinguo.views.pictures import PartitionPicture, ValuePicture, partition_picture

ViewFunction = Callable[[Run], Any]
F = TypeVar("F", bound=ViewFunction)
_views: dict[str, ViewFunction] = {}


def view(name: str) -> Callable[[F], F]:
    """Register a function from a run to a picture, so that ``show`` knows it by name.

    A picture is a value: a ``PartitionPicture``, a ``ValuePicture``, a ``SeriesPicture``, or a class of one's own
    that ``draw`` was told how to draw. A figure of matplotlib will do as well.

    >>> @view("only values")
    ... def only_values(run):
    ...     return ValuePicture(partition_picture(run))
    >>> view_named("only values") is only_values
    True
    """

    def register(function: F) -> F:
        _views[name] = function
        return function

    return register


def view_named(name: str) -> ViewFunction:
    """Return the view of that name.

    >>> view_named("partitoin")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown view 'partitoin'; did you mean 'partition'?
    """
    if name not in _views:
        raise DistinguoError(f"Unknown view '{name}'; {did_you_mean(name, _views)}")
    return _views[name]


@view("partition")
def partition_view(run: Run) -> PartitionPicture:
    """Show the regions: hue for the action, shade for the value."""
    return partition_picture(run)


@view("values")
def values_view(run: Run) -> ValuePicture:
    """Show the state value of each region."""
    return ValuePicture(partition_picture(run))


@view("trials")
def trials_view(run: Run) -> Any:
    """Show the length of the trials and the size of the partition as it was learned."""
    from distinguo.views.curves import trials_picture  # it loads matplotlib

    return trials_picture(run)
