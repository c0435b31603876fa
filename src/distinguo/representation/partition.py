"""What a partition is: anything that implements ``region(partition, s)``."""

from __future__ import annotations

from typing import Any

from distinguo.seam import generic, generic_with_default


@generic
def region(partition: Any, s: tuple[float, ...]) -> int:
    """Return the region of the state-space that ``s`` falls in."""
    raise NotImplementedError


@generic
def nearest(partition: Any, s: tuple[float, ...]) -> int:
    """Return the index of the prototype nearest to ``s``, of equally near ones the oldest."""
    raise NotImplementedError


@generic_with_default
def trimmed(partition: Any) -> Any:
    """Return the partition without room to grow; usually it has none."""
    return partition
