"""What a teacher is asked: what it would do, and what it costs to do something else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from distinguo.distillation.teachers.costs import (
    HELD,
    AskedCosts,
    TaughtLabel,
    costly_label,
    plain_label,
    regret_by_values,
)
from distinguo.distillation.teachers.teacher import Teacher
from distinguo.distillation.trials.compiled import CompiledTrials
from distinguo.distillation.trials.environment import EnvironmentTrials
from distinguo.distillation.trials.trials import Followed, Trials
from distinguo.distillation.trials.workers import WorkerTrials
from distinguo.tasks.task import randomness

BY_VALUES, BY_TRIALS = "the teacher's values", "trials that go on with the teacher"
REPLAYED = 25  #: disagreements of which the cost is found out by running trials again


class Questions:
    """Labels the states of trials; with ``costs``, by what each action costs there, if anybody can tell.

    The teacher's own values tell, or else a task that can be put into any state: every action is tried from some of
    them, and the teacher followed from there.
    """

    def __init__(self, teacher: Teacher, trials: Trials, costs: bool, rng: np.random.Generator) -> None:
        self.teacher, self.rng, self.trials = teacher, rng, trials
        self._actions = len(trials.spec.actions)
        self._costs = costs
        self._asked: AskedCosts | None = None
        if isinstance(trials, CompiledTrials) and randomness(trials.spec.task) is None:
            self._asked = AskedCosts(trials, teacher.answer)

    @property
    def way(self) -> str:
        """Return how costs are found out."""
        return BY_TRIALS if self.teacher.values is None else BY_VALUES

    def label(self, followed: Followed) -> TaughtLabel:
        """Return which actions are good in the states of trials, and what others cost."""
        answers = self.teacher.answer(followed.seen)
        if not self._costs or (self.teacher.values is None and self._asked is None):
            return plain_label(answers, self._actions)
        if self.teacher.values is None and self._asked is not None:
            self._asked.ask(followed, self.rng)
        return costly_label(answers, self.regret(followed.seen, answers))

    def regret(self, seen: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return what each action costs where something is seen, beside the teacher's answer."""
        if self.teacher.values is not None:
            return regret_by_values(self.teacher.values(seen), answers)
        assert self._asked is not None
        return self._asked.of(seen)

    def costs(
        self, followed: Followed, starts: Sequence[int], rows: np.ndarray
    ) -> tuple[np.ndarray, float] | None:
        """Return what the actions that were taken cost at some steps of trials, and what is usual among all.

        ``starts`` are those of the trials. None if nobody can tell.
        """
        taken = followed.taken[rows]
        if self.teacher.values is not None:
            regret = self.regret(followed.seen[rows], self.teacher.answer(followed.seen[rows]))
        elif self._asked is not None:
            regret = self._asked.regret(followed.states[rows], self._asked.trials.cap - followed.step[rows])
        else:
            return self._by_replay(followed, starts, rows)
        return regret[np.arange(len(rows)), taken], float(regret.max(axis=1).mean())

    def _by_replay(
        self, followed: Followed, starts: Sequence[int], rows: np.ndarray
    ) -> tuple[np.ndarray, float] | None:
        """Run trials again up to these steps, and go on with the teacher, at once or after a moment of the action."""
        if not isinstance(self.trials, EnvironmentTrials | WorkerTrials) or not self.trials.spec.restorable:
            return None
        some = rows[:: max(1, len(rows) // REPLAYED)]
        trial = np.repeat(np.arange(len(followed.lengths)), followed.lengths)
        first = np.concatenate([[0], np.cumsum(followed.lengths)])
        costs = []
        for row in some:
            moves = followed.taken[first[trial[row]] : row].tolist()
            held = [int(followed.taken[row])] * HELD
            again, instead = (
                self.trials.gained_instead(self.teacher.answer, int(starts[trial[row]]), moves, more)
                for more in ([], held)
            )
            costs.append(max(0.0, again - instead))
        return np.array(costs), float(np.mean(costs))
