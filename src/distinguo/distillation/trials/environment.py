"""Trials in an environment of Gymnasium, one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from distinguo.distillation.trials.compiled import lookup_of
from distinguo.distillation.trials.trials import Contender, Count, Decide, Followed, judged
from distinguo.learners.refinement.improvement import PrototypeMap
from distinguo.representations.voronoi import nearest_of
from distinguo.seam import kernel
from distinguo.tasks.gym.checked_env import CheckedEnv
from distinguo.tasks.spec import TaskSpec

Act = Callable[[tuple[float, ...]], int]


class EnvironmentTrials:
    """Runs trials of the one environment of a task."""

    def __init__(self, spec: TaskSpec, cap: int) -> None:
        self.spec, self.cap, self.count = spec, cap, Count()
        self._checked: CheckedEnv = spec.task.driver.checked_env

    def judge(self, contenders: Sequence[Contender]) -> list[np.ndarray]:
        """Return the returns of maps; of one that was given up, only the first."""
        return [self._judge(one) for one in contenders]

    def _judge(self, contender: Contender) -> np.ndarray:
        act = action_by(contender.map)
        return judged(contender, lambda starts: np.array([self._run(act, n)[0] for n in starts]))

    def follow(self, map_: PrototypeMap, starts: Sequence[int]) -> Followed:
        """Run a map from these starts, and tell what it saw."""
        return self._follow(action_by(map_), starts)

    def follow_teacher(self, decide: Decide, starts: Sequence[int]) -> Followed:
        """Run a teacher from these starts."""
        return self._follow(lambda seen: int(decide(np.array([seen]))[0]), starts)

    def _follow(self, act: Act, starts: Sequence[int]) -> Followed:
        trials = [self._run(act, n) for n in starts]
        return Followed(
            np.array([gained for gained, _, _ in trials]),
            np.array([len(taken) for _, _, taken in trials]),
            np.array([row for _, seen, _ in trials for row in seen]),
            taken := np.array([a for _, _, done in trials for a in done]),
            np.zeros((len(taken), 0)),
        )

    def _run(self, act: Act, number: int) -> tuple[float, list[tuple[float, ...]], list[int]]:
        """Run a trial: what it gained, what was seen, and what was done."""
        now = self._checked.reset(number, number)
        seen: list[tuple[float, ...]] = []
        taken: list[int] = []
        gained, ended = 0.0, False
        while not ended and len(taken) < self.cap:
            seen.append(now)
            taken.append(act(now))
            now, reward, terminated, truncated = self._checked.step(taken[-1], number, len(taken))
            gained += reward
            ended = terminated or truncated
        self.count = self.count.more(1, len(taken))
        return gained, seen, taken

    def gained_instead(self, decide: Decide, number: int, moves: Sequence[int], held: Sequence[int]) -> float:
        """Return what a trial gains that takes these moves, then the held ones, and then follows a teacher.

        The number of its start brings the same chance about again.
        """
        begun = [*moves, *held]

        def act(seen: tuple[float, ...]) -> int:
            step = next(steps)
            return begun[step] if step < len(begun) else int(decide(np.array([seen]))[0])

        steps = itertools.count()
        return self._run(act, number)[0]

    def close(self) -> None:
        """There is nothing to give back."""


def action_by(map_: PrototypeMap) -> Act:
    """Return what a map does where something is seen."""
    table: Any = lookup_of(map_)
    return lambda seen: int(look_up(*table, seen))


@kernel
def look_up(prototypes: np.ndarray, weight: np.ndarray, actions: np.ndarray, seen: tuple[float, ...]) -> int:
    """Return the action of the prototype that is nearest to an observation."""
    return actions[nearest_of(prototypes, len(prototypes), weight, seen)]
