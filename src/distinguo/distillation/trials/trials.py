"""What trials are to a race: maps are followed from numbered starts, the same for all of them.

A start is a number. It decides where a trial begins and, where chance is at work, what chance does, so that two
maps are compared on equal terms. The results do not depend on how many trials run beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from distinguo.learners.refinement.improvement import PrototypeMap, is_hopeless
from distinguo.tasks.spec import TaskSpec

Batch = np.ndarray  #: of observations, a row each
Decide = Callable[[Batch], np.ndarray]  #: from observations to the numbers of actions

FIRST_LOOKS = (5, 10, 20)  #: trials after which a map may be given up


class Followed(NamedTuple):
    """Trials as they went."""

    returns: np.ndarray  #: (trials,)
    lengths: np.ndarray  #: (trials,)
    seen: np.ndarray  #: (steps of all trials, dimensions) what was seen before each step
    taken: np.ndarray  #: (steps,) the action that was taken
    states: (
        np.ndarray
    )  #: (steps, width of a state) where it was taken; of no width where no task can be put there

    @property
    def step(self) -> np.ndarray:
        """Return the number of every step within its trial."""
        return np.concatenate([np.arange(length) for length in self.lengths])


class Count(NamedTuple):
    """What was run: trials, and their steps."""

    trials: int = 0
    steps: int = 0

    def more(self, trials: int, steps: int) -> Count:
        """Return the count with so many more."""
        return Count(self.trials + trials, self.steps + steps)


class Contender(NamedTuple):
    """A map that is to be judged against what another gained from the same starts; without that, to the end."""

    map: PrototypeMap
    starts: Sequence[int]
    present: np.ndarray | None = None


class Trials(Protocol):
    """Something that can run trials of one task."""

    spec: TaskSpec
    cap: int  #: steps of a trial at most

    @property
    def count(self) -> Count:
        """Return what was run so far."""
        ...

    def follow(self, map_: PrototypeMap, starts: Sequence[int]) -> Followed:
        """Run a map from these starts, and tell what it saw."""
        ...

    def follow_teacher(self, decide: Decide, starts: Sequence[int]) -> Followed:
        """Run a teacher from these starts."""
        ...

    def judge(self, contenders: Sequence[Contender]) -> list[np.ndarray]:
        """Return the returns of maps; of one that was given up, only the first."""
        ...

    def close(self) -> None:
        """Give back what was taken."""
        ...


def judged(contender: Contender, run: Callable[[Sequence[int]], np.ndarray]) -> np.ndarray:
    """Run a map from its starts, and give it up when it is clearly behind.

    >>> map_ = PrototypeMap(np.zeros((1, 1)), np.array([0]), np.ones(1))
    >>> behind = Contender(map_, range(20), np.arange(20.0) + 5.0)
    >>> len(judged(behind, lambda starts: np.array(starts, dtype=float)))
    5
    """
    starts, returns = contender.starts, np.zeros(0)
    looks = [look for look in FIRST_LOOKS if look < len(starts)] if contender.present is not None else []
    for look in (*looks, len(starts)):
        returns = np.concatenate([returns, run(starts[len(returns) : look])])
        if contender.present is not None and look < len(starts):
            differences = returns - contender.present[:look]
            if is_hopeless(differences.tolist()):
                break
    return returns


def trials_of(spec: TaskSpec, cap: int) -> Trials:
    """Return what runs trials of a task: compiled, in other processes, or in the one environment there is."""
    from distinguo.distillation.trials.compiled import CompiledTrials
    from distinguo.distillation.trials.environment import EnvironmentTrials
    from distinguo.distillation.trials.workers import WorkerTrials
    from distinguo.seam import is_compiled

    if is_compiled(spec.task):
        return CompiledTrials(spec, cap)
    if spec.interpreted and spec.portable:
        others = WorkerTrials(spec, cap)
        if others.knows_task():
            return others
        others.close()
    return EnvironmentTrials(spec, cap)


def joined(parts: Sequence[Followed]) -> Followed:
    """Put trials together that were followed apart."""
    return Followed(*(np.concatenate(column) for column in zip(*parts, strict=True)))
