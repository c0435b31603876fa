"""Record a log: transitions of a task under random actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError, checks_names, path_from, shown
from distinguo.offline.log import MOST_TRANSITIONS, SHORTEST, Transitions, checked_log
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.spec import CATEGORIES, TaskSpec
from distinguo.tasks.task import observe, seeded, start, transition, truncated

LONGEST = 10_000  #: steps of an episode of a task without a limit


@checks_names()
def record_log(
    task: Any, *, steps: int = 20_000, seed: int = 0, out: str | Path | None = None
) -> Transitions:
    """Take random actions in a task and return every step as a log; ``out`` is a file to save it in, CSV or npz.

    >>> import distinguo
    >>> log = distinguo.record("puck", steps=100, seed=1)
    >>> log.before.shape, log.dimensions, log.actions
    ((100, 2), ('x', 'v'), ('left', 'right'))
    """
    if not isinstance(steps, int) or not SHORTEST <= steps <= MOST_TRANSITIONS:
        raise DistinguoError(
            f"steps should be a whole number from {SHORTEST} to {MOST_TRANSITIONS:,}, got {shown(steps)}."
        )
    spec: TaskSpec = task_spec(task) if isinstance(task, str) else spec_of(task)
    if spec.amounts is not None or spec.kind == CATEGORIES:
        what = "actions that are amounts" if spec.amounts is not None else "labels as observations"
        raise DistinguoError(
            f"{spec.name} has {what}, and a log has numbers and a few actions; take another task."
        )
    world, rng = seeded(spec.task, seed), np.random.default_rng(seed)
    rows: list[Any] = []
    while len(rows) < steps:
        s, longest = start(world, rng), len(rows) + spec.cap(LONGEST)
        ended = cut = False
        while not (ended or cut) and len(rows) < steps:
            seen, a = observe(world, s), int(rng.random() * len(spec.actions))
            s, r, ended = transition(world, s, a)
            cut = not ended and (len(rows) + 1 >= longest or bool(truncated(world, s)))
            rows.append((seen, a, r, observe(world, s), ended, cut))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    name = spec.name if out is None else path_from(out).name
    log = checked_log(columns, source=name, dimensions=spec.dimensions, actions=spec.actions)
    if out is not None:
        log.save(out)
    return log
