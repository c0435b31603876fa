"""A trial of a learned controller, step by step: observations, actions and rewards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import choose
from distinguo.errors import DistinguoError, checks_names, counted, shown, whole_number
from distinguo.representations.geometry import learned_extent
from distinguo.representations.partition import prototypes_of
from distinguo.runs.configuration import check_seed
from distinguo.runs.folder import as_run
from distinguo.runs.run import Run
from distinguo.tasks.spec import LARGEST, TaskSpec
from distinguo.tasks.task import State, observe, seeded, start, transition, truncated, unpack

STEPS = 1_000  #: after which a trial is stopped if nothing else ends it
MOST_STEPS = 1_000_000  #: of a trial, because every step of it is kept
ROUNDING = 1e-6  #: of the width of a coordinate; so far outside the box a start may be
TERMINAL, STOPPED, LEFT = "terminal", "stopped", "left"


class Rollout(NamedTuple):
    """A trial without learning; row ``t`` of the observations is what was seen before step ``t``.

    >>> import distinguo
    >>> trial = distinguo.rollout(distinguo.learn("puck", seed=1), (1.0, -1.0), steps=50)
    >>> trial
    Rollout of puck: 50 steps, return 0; still running when stopped after 50 steps
    >>> trial.observations.shape, trial.actions[:3]
    ((51, 2), ('right', 'left', 'left'))
    """

    task: str
    observations: np.ndarray  #: (steps + 1, dimensions), the last one after the last step
    regions: np.ndarray  #: (steps,) where it acted
    choices: np.ndarray  #: (steps,) the numbers of the actions taken
    actions: tuple[str, ...]  #: (steps) their names
    rewards: np.ndarray  #: (steps,)
    ended: str  #: in a "terminal" state, "stopped" by the task or its time limit, or "left" after the steps asked for

    @property
    def gained(self) -> float:
        """Return the sum of the rewards."""
        return float(self.rewards.sum())

    def __repr__(self) -> str:
        steps = len(self.choices)
        how = {TERMINAL: "ended in a terminal state", STOPPED: "stopped by its time limit"}
        end = how.get(self.ended, f"still running when stopped after {counted(steps, 'step')}")
        return f"Rollout of {self.task}: {counted(steps, 'step')}, return {self.gained:zg}; {end}"


@checks_names()
def rollout(
    run: Run | str | Path,
    start: Sequence[float] | None = None,
    *,
    steps: int | None = None,
    seed: int = 0,
    task: Any = None,
) -> Rollout:
    """Follow the greedy policy of a run, or of the run in a folder, through one trial.

    It begins where trials of the task begin, or at ``start``, a state. An environment that is run as plain Python
    only has its own starts; the seed chooses one. The trial is stopped after ``steps`` steps, by default the time
    limit of the task or 1,000; at most 1,000,000, because every step is kept. ``task`` is the environment, or your
    own task, that the run was learned from.
    """
    opened = as_run(run, task)
    spec, controller = opened.configuration.spec, opened.controller
    rng = np.random.default_rng(check_seed(seed))
    world = seeded(spec.task, seed)
    most = whole_number("steps", spec.cap(STEPS) if steps is None else steps, 1, MOST_STEPS)
    s = _first(spec, world, start, rng)
    if start is not None:
        _check_within(opened, observe(world, s))
    seen, ended = [observe(world, s)], LEFT
    regions: list[int] = []
    chosen: list[int] = []
    rewards: list[float] = []
    while ended == LEFT and len(chosen) < most:
        regions.append(controller.region(seen[-1]))
        chosen.append(int(choose(controller.q[regions[-1]], controller.delta, rng)))
        s, r, terminal = transition(world, s, chosen[-1])
        rewards.append(float(r))
        seen.append(observe(world, s))
        ended = TERMINAL if terminal else _stopped(spec, world, s, len(chosen))
    names = tuple(spec.actions[a] for a in chosen)
    numbers = np.array(regions), np.array(chosen)
    return Rollout(spec.name, np.array(seen), *numbers, names, np.array(rewards), ended)


def _stopped(spec: TaskSpec, world: Any, s: State, length: int) -> str:
    return STOPPED if truncated(world, s) or (spec.limit is not None and length >= spec.limit) else LEFT


def _first(spec: TaskSpec, world: Any, given: Any, rng: np.random.Generator) -> State:
    """Return the state to begin from."""
    usual: State = start(world, rng)
    if given is None:
        return usual
    if spec.interpreted:
        raise DistinguoError(
            f"{spec.name} is run as plain Python and chooses its own starts; leave start out, and vary the seed."
        )
    row = np.array(given, dtype=np.float64) if _are_numbers(given) else np.zeros(0)
    if row.shape != (len(usual),) or not (abs(row) <= LARGEST).all():
        names = f" ({', '.join(spec.axes)})" if len(usual) == len(spec.axes) else ""
        raise DistinguoError(
            f"A start of {spec.name} should be a state of {len(usual)} finite numbers{names}, got {shown(given)}."
        )
    first: State = unpack(world, row)
    return first


def _check_within(run: Run, seen: State) -> None:
    """Reject a start whose observation is outside the box of the task and of all prototypes."""
    spec, representation = run.configuration.spec, run.representation
    corners = [spec.low, spec.high, *learned_extent(representation.provenance, spec.low, spec.high)]
    known = prototypes_of(representation.partition)
    rows = np.vstack([corners, *([] if known is None else [known.points])])
    for name, value, low, high in zip(spec.axes, seen, rows.min(axis=0), rows.max(axis=0), strict=True):
        slack = ROUNDING * (high - low) if np.isfinite(high - low) else 0.0
        if not low - slack <= value <= high + slack:
            raise DistinguoError(
                f"{name} of {spec.name} lies between {low:zg} and {high:zg}, got {value:zg}; start within."
            )


def _are_numbers(given: Any) -> bool:
    numbers = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes)
    return numbers and all(isinstance(x, int | float | np.number) for x in given)
