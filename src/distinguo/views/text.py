"""A run as text: a coarse map for the terminal, and tables of its regions and reasons."""

from __future__ import annotations

from collections import Counter

import numpy as np

from distinguo.lab.folder import Run
from distinguo.representation.partition import region
from distinguo.representation.voronoi import Voronoi

COLUMNS, ROWS = 64, 20


def text_map(run: Run) -> str:
    """Return the policy over a two-dimensional state-space, one letter per place; '.' where actions are tied.

    The first coordinate grows to the right, the second upwards.
    """
    world = run.configuration.world
    if len(world.dimensions) != 2:
        return f"(no map: {world.name} has {len(world.dimensions)} dimensions)"
    (x0, y0), (x1, y1) = world.low, world.high
    lines = [f"{world.dimensions[1]}  greedy action: " + ", ".join(f"{a[0]} = {a}" for a in world.actions)]
    for y in np.linspace(y1, y0, ROWS):
        letters = "".join(_letter(run, (float(x), float(y))) for x in np.linspace(x0, x1, COLUMNS))
        lines.append(f"{y:7.2f} |{letters}")
    lines.append(f"{'':8}{x0:<.2f}{x1:>{COLUMNS - 4}.2f}  {world.dimensions[0]}")
    return "\n".join(lines)


def _letter(run: Run, s: tuple[float, float]) -> str:
    q = run.q[region(run.representation.partition, s)]
    best = np.flatnonzero(q == q.max())
    return run.configuration.world.actions[best[0]][0] if len(best) == 1 else "."


def regions_table(run: Run) -> str:
    """Return the regions: the primary prototype, how many prototypes, the action, the value, the updates."""
    partition = run.representation.partition
    if not isinstance(partition, Voronoi):
        return f"{run.representation.regions} boxes"
    world = run.configuration.world
    names = "".join(f"{name:>11}" for name in world.dimensions)
    lines = [f"region{names}  prototypes     action     value  updates"]
    for j, count in sorted(Counter(partition.primary.tolist()).items()):
        place = "".join(f"{c:11.4f}" for c in partition.prototypes[j])
        best = np.flatnonzero(run.q[j] == run.q[j].max())
        action = world.actions[best[0]] if len(best) == 1 else "tied"
        lines.append(f"{j:6}{place}{count:12}{action:>11}{run.q[j].max():10.4f}{run.updates[j].sum():9}")
    return "\n".join(lines)


def reasons_table(run: Run, most: int = 12) -> str:
    """Return the latest splits, merges and detachments, each with the rule that fired and the reward at stake."""
    if not run.reasons:
        return "Nothing was split, merged or detached."
    lines = [" trial  event    prototypes  at stake  rules"]
    for reason in run.reasons[-most:]:
        first, second = reason["prototypes"]
        rules = ", ".join(reason["rules"]) or "compatible"
        lines.append(
            f"{reason['trial']:6}  {reason['event']:7}{first:6} /{second:4}{reason['regret']:10.4f}  {rules}"
        )
    if len(run.reasons) > most:
        lines.insert(1, f"  ({len(run.reasons) - most} earlier ones are in reasons.jsonl)")
    return "\n".join(lines)
