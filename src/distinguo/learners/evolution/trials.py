"""A trial of a map, and what is noted on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from distinguo.learners.agent import Progress, widen
from distinguo.learners.evolution.memory import Experience, Seen
from distinguo.references import by_reference
from distinguo.representations.growing import nearest_growing
from distinguo.seam import kernel
from distinguo.search.maps import PrototypeMap
from distinguo.tasks.world import AFTER, BEFORE, begin, look, step, stops


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
def note_first(noted: Experience, seen: np.ndarray, row: int) -> None:
    """Note what is observed when a trial begins."""
    for i in range(len(seen)):
        noted.first[row, i] = seen[i]


@kernel
def note_before(
    noted: Experience, table: np.ndarray, box: np.ndarray, a: int, seen: np.ndarray, row: int
) -> None:
    """Note what is observed before a step, and the amounts that law ``a`` then takes."""
    for i in range(len(seen)):
        noted.before[row, i] = seen[i]
    for k in range(table.shape[1]):
        u = table[a, k, len(seen)]
        for i in range(len(seen)):
            u += table[a, k, i] * seen[i]
        noted.amounts[row, k] = min(box[1, k], max(box[0, k], u))


@kernel
def note_after(noted: Experience, r: float, terminal: bool, seen: np.ndarray, row: int) -> None:
    """Note the reward of a step, whether it ended the trial, and what is observed then."""
    noted.reward[row] = r
    noted.ended[row] = terminal
    for i in range(len(seen)):
        noted.after[row, i] = seen[i]


@kernel
def run_candidate(
    world: Any,
    given: PrototypeMap,
    noted: Seen,
    known: Experience,
    box: np.ndarray,
    begun: int,
    before: int,
    progress: Progress,
    hold: bool,
    cap: int,
) -> tuple[int, float, bool]:
    """Run a trial of a map from the state in ``progress``: its steps, its return, and whether it ended by itself.

    Where trials should never end (``hold``), the return is the number of steps. Where actions are amounts, steps are
    noted in ``known``, after the ``before`` that were noted so far, and its start, if it is number ``begun`` of them.
    """
    world, given, noted, known = (
        by_reference(world),
        by_reference(given),
        by_reference(noted),
        by_reference(known),
    )
    progress = by_reference(progress)
    s, rows = progress.now, len(known.reward)
    length, gained, ended = 0, 0.0, False
    while not ended and length < cap:
        seen = look(world, s, BEFORE).seen
        a = decide(given, noted, progress, seen)
        row = (before + length) % rows if rows else 0
        if rows and length == 0:
            note_first(known, seen, (begun - 1) % len(known.first))
        if rows:
            note_before(known, world.laws, box, a, seen, row)
        r, terminal = step(world, s, a, s)
        if rows:
            note_after(known, r, terminal, look(world, s, AFTER).seen, row)
        gained += 1.0 if hold else r
        length += 1
        ended = terminal or stops(world, s)
    return length, gained, ended
