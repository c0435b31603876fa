"""The regions of a run as a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from distinguo.representations.partition import has_labels, prototypes_of
from distinguo.runs.run import Run
from distinguo.views.terminal.layout import columns_of

MOST_REGIONS = 30  #: in a table
NARROW = 4  #: coordinates that a table has room for with all decimals


def regions_table(run: Run, most: int = MOST_REGIONS, width: int | None = None) -> str:
    """Return the regions: the primary prototype, how many prototypes, the action, the value, the updates.

    Of very many regions those are shown that were updated most; where there are no prototypes, nothing of them.
    """
    count = run.representation.regions
    numbers = (
        np.argsort(-run.updates.sum(axis=1), kind="stable")[:most].tolist() if count > most else range(count)
    )
    columns = [["region", *map(str, numbers)], *_places(run, numbers), *_learned(run, numbers)]
    lines = columns_of(list(zip(*columns, strict=True)), width)
    if count > len(numbers):
        lines.append(f"… and {count - len(numbers):,} more regions, which were updated less.")
    return "\n".join(lines)


def _places(run: Run, numbers: Sequence[int]) -> list[list[str]]:
    """Return the columns of the primary prototypes, and of how many prototypes each region has."""
    prototypes = prototypes_of(run.representation.partition)
    if prototypes is None:
        return []
    rows = prototypes.points[prototypes.primaries[list(numbers)]]
    places = [
        [name, *(_coordinate(run, value) for value in column)]
        for name, column in zip(run.configuration.spec.dimensions, rows.T.tolist(), strict=True)
    ]
    counts = np.bincount(prototypes.regions)[list(numbers)]
    return [*places, ["prototypes", *map(str, counts.tolist())]]


def _learned(run: Run, numbers: Sequence[int]) -> list[list[str]]:
    """Return the columns of the action, the value and the updates."""
    policy, actions = run.controller.policy, run.configuration.spec.actions
    return [
        ["action", *("tied" if policy[j] < 0 else actions[policy[j]] for j in numbers)],
        ["value", *(f"{run.q[j].max():.4f}" for j in numbers)],
        ["updates", *(str(int(run.updates[j].sum())) for j in numbers)],
    ]


def _coordinate(run: Run, value: float) -> str:
    if has_labels(run.representation.partition):
        return f"{value:.6g}"
    return f"{value:.4f}" if len(run.representation.dimensions) <= NARROW else f"{value:.3g}"
