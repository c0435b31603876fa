"""A trial of a map, and what is noted on the way."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from distinguo.learners.agent import Progress, widen
from distinguo.learners.evolution.memory import NotedSteps, Seen
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


class Noting(NamedTuple):
    """Where the steps of a trial with laws are noted."""

    steps: NotedSteps
    box: np.ndarray  #: (2, amounts) the least and the greatest of each amount
    begun: int  #: trials before this one
    before: int  #: their steps


@kernel
def note_before(noting: Noting, table: np.ndarray, a: int, seen: np.ndarray, length: int) -> None:
    """Note what is observed before a step, and the amounts that law ``a`` then takes."""
    steps, box = noting.steps, noting.box
    row = (noting.before + length) % len(steps.reward)
    for i in range(len(seen)):
        steps.before[row, i] = seen[i]
        if length == 0:
            steps.first[noting.begun % len(steps.first), i] = seen[i]
    for k in range(table.shape[1]):
        u = table[a, k, len(seen)]
        for i in range(len(seen)):
            u += table[a, k, i] * seen[i]
        steps.amounts[row, k] = min(box[1, k], max(box[0, k], u))


@kernel
def note_after(noting: Noting, outcome: tuple[float, bool], seen: np.ndarray, length: int) -> None:
    """Note the reward of a step, whether it ended the trial, and what is observed then."""
    steps = noting.steps
    row = (noting.before + length) % len(steps.reward)
    steps.reward[row], steps.ended[row] = outcome
    for i in range(len(seen)):
        steps.after[row, i] = seen[i]


@kernel
def run_candidate(
    world: Any,
    given: PrototypeMap,
    noted: Seen,
    noting: Noting,
    progress: Progress,
    hold: bool,
    cap: int,
    shown: int,
) -> tuple[int, float, bool, float, float]:
    """Run a trial of a map from the state in ``progress``: its steps, its return, and whether it ended by itself.

    Where trials should never end (``hold``), the return is the number of steps. Where actions are amounts, steps are
    noted for a model. The last two numbers are the return of the first half of ``shown`` steps, and of all of them.
    """
    world, given, noted, noting = (
        by_reference(world),
        by_reference(given),
        by_reference(noted),
        by_reference(noting),
    )
    progress = by_reference(progress)
    s, rows = progress.now, len(noting.steps.reward)
    length, gained, ended, half, whole = 0, 0.0, False, 0.0, 0.0
    while not ended and length < cap:
        seen = look(world, s, BEFORE).seen
        a = decide(given, noted, progress, seen)
        if rows:
            note_before(noting, world.laws, a, seen, length)
        r, terminal = step(world, s, a, s)
        if rows:
            note_after(noting, (r, terminal), look(world, s, AFTER).seen, length)
        gained += 1.0 if hold else r
        length += 1
        ended = terminal or stops(world, s)
        if length <= shown // 2:
            half = gained
        if length <= shown:
            whole = gained
    return length, gained, ended, half, whole
