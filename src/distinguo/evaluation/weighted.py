"""Greedy trials of features with weights: a batch whose trials advance together, as in ``simulate``.

No proof speaks of weighted sums, so trials are simulated, and to follow each for millions of steps would take
hours. On tasks judged by the length of trials, one that still runs after ``FOLLOWED`` steps counts as having
reached the cap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.controller import FeatureController, choose, fill_values, room_for, running_parts
from distinguo.evaluation.simulate import CHUNK_STEPS, Outcome, RunningTrials, fresh_lanes, trials_together
from distinguo.features.feature import Workspace
from distinguo.seam import at_speed, kernel
from distinguo.tasks.task import observe, transition, truncated, unpack

#: Steps of a test trial judged by its length. Of 268 trials of tiles and radial bases on the puck that ran for
#: 1,000 steps, 4 ended before 300,000, all within 1,700.
FOLLOWED = 10_000


def evaluate_features(
    task: Any,
    controller: FeatureController,
    rng: np.random.Generator,
    starts: np.ndarray,
    cap: int,
    patience: int | None = None,
) -> Outcome:
    """Follow the greedy policy from every start, for at most ``cap`` steps or ``patience``, whichever is less.

    >>> from distinguo.features.perceptron import perceptron
    >>> from distinguo.tasks.puck.puck import Puck
    >>> line = perceptron(low=[-2.4, -5.5], high=[2.4, 5.5])
    >>> against = FeatureController(line, np.array([[0.0, 0.0], [1.0, -1.0], [1.3, -1.3]]))
    >>> starts = np.array([[0.0, 0.0], [2.0, 2.0]])
    >>> evaluate_features(Puck(), against, np.random.default_rng(0), starts, 1000).lengths.tolist()
    [1000, 9]
    """
    lanes, room = fresh_lanes(starts, 0), room_for(controller)
    advance = at_speed(_run_weighted, task, *running_parts(controller))
    most = cap if patience is None else min(cap, patience)
    for together in trials_together(task, len(starts)):
        lanes.running[: len(together)] = together
        remaining, done = len(together), 0
        while remaining and done < most:
            steps = min(CHUNK_STEPS, most - done)
            remaining = advance(task, controller, room, rng, lanes, remaining, steps)
            done += steps
        lanes.lengths[lanes.running[:remaining]] = cap
    return Outcome(lanes.lengths, lanes.returns, lanes.ended, lanes.visited, tied=False)


@kernel
def _run_weighted(
    task: Any,
    controller: FeatureController,
    room: Workspace,
    rng: np.random.Generator,
    lanes: RunningTrials,
    count: int,
    steps: int,
) -> int:
    """Advance the first ``count`` running lanes and return how many still run, in their old order."""
    for _ in range(steps):
        kept = 0
        for place in range(count):
            lane = lanes.running[place]
            s = unpack(task, lanes.states[lane])
            fill_values(controller, observe(task, s), room)
            s, r, terminal = transition(task, s, choose(room.q, controller.delta, rng))
            for i in range(len(s)):
                lanes.states[lane, i] = s[i]
            lanes.lengths[lane] += 1
            lanes.returns[lane] += r
            lanes.ended[lane] = terminal
            if not (terminal or truncated(task, s)):
                lanes.running[kept] = lane
                kept += 1
        count = kept
        if count == 0:
            break
    return count
