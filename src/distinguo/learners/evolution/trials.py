"""A trial of a map, and what is noted on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from distinguo.learners.agent import Progress, widen
from distinguo.learners.evolution.memory import Seen
from distinguo.references import by_reference
from distinguo.representations.growing import nearest_growing
from distinguo.seam import kernel
from distinguo.search.maps import PrototypeMap
from distinguo.tasks.world import BEFORE, begin, look, step, stops


@kernel
def draw_start(world: Any, rng: Generator, out: np.ndarray) -> None:
    """Write the start of a new trial."""
    begin(by_reference(world), rng, out)


@kernel
def decide(given: PrototypeMap, noted: Seen, progress: Progress, seen: np.ndarray) -> int:
    """Return the action for an observation, and note it.

    It is a kernel of its own: it uses no task, so it runs compiled even for tasks in plain Python.
    """
    j = nearest_growing(given.partition, seen)
    noted.visits[j] += 1
    noted.times[0] += 1.0
    for i in range(len(seen)):
        difference = seen[i] - noted.mean[i]
        noted.mean[i] += difference / noted.times[0]
        noted.squares[i] += difference * (seen[i] - noted.mean[i])
        noted.low[i], noted.high[i] = min(noted.low[i], seen[i]), max(noted.high[i], seen[i])
    widen(progress, seen)
    return given.actions[j]


@kernel
def run_candidate(
    world: Any, given: PrototypeMap, noted: Seen, progress: Progress, hold: bool, cap: int
) -> tuple[int, float, bool]:
    """Run a trial of a map from the state in ``progress``: its steps, its return, and whether it ended by itself.

    Where trials should never end (``hold``), the return is the number of steps.
    """
    world, given, noted = by_reference(world), by_reference(given), by_reference(noted)
    progress = by_reference(progress)
    s = progress.now
    length, gained, ended = 0, 0.0, False
    while not ended and length < cap:
        a = decide(given, noted, progress, look(world, s, BEFORE).seen)
        r, terminal = step(world, s, a, s)
        gained += 1.0 if hold else r
        length += 1
        ended = terminal or stops(world, s)
    return length, gained, ended
