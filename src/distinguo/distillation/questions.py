"""What a teacher is asked: what it would do, and what it costs to do something else."""

from __future__ import annotations

import numpy as np

from distinguo.distillation.teachers.costs import (
    AskedCosts,
    Label,
    costly_label,
    plain_label,
    regret_by_values,
)
from distinguo.distillation.teachers.teacher import Teacher
from distinguo.distillation.trials.compiled import CompiledTrials
from distinguo.distillation.trials.trials import Followed, Trials
from distinguo.tasks.task import randomness

BY_VALUES, BY_TRIALS = "the teacher's values", "trials that go on with the teacher"


class Questions:
    """Labels the states of trials; with ``costs``, by what each action costs there, if anybody can tell.

    The teacher's own values tell, or else a task that can be put into any state: every action is tried from some of
    them, and the teacher followed from there.
    """

    def __init__(self, teacher: Teacher, trials: Trials, costs: bool, rng: np.random.Generator) -> None:
        self.teacher, self.rng = teacher, rng
        self._actions = len(trials.spec.actions)
        self._costs = costs
        self._asked: AskedCosts | None = None
        if isinstance(trials, CompiledTrials) and randomness(trials.spec.task) is None:
            self._asked = AskedCosts(trials, teacher.answer)

    @property
    def way(self) -> str:
        """Return how costs are found out; empty if they are not."""
        if self.teacher.values is not None:
            return BY_VALUES
        return BY_TRIALS if self._asked is not None else ""

    def label(self, followed: Followed) -> Label:
        """Return which actions are good in the states of trials, and what others cost."""
        answers = self.teacher.answer(followed.seen)
        if not self._costs or not self.way:
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

    def costs(self, followed: Followed, rows: np.ndarray) -> np.ndarray | None:
        """Return what the actions that were taken cost at some steps of trials; None if nobody can tell."""
        if not self.way:
            return None
        taken = followed.taken[rows]
        if self.teacher.values is None and self._asked is not None:
            regret = self._asked.regret(followed.states[rows], self._asked.trials.cap - followed.step[rows])
        else:
            regret = self.regret(followed.seen[rows], self.teacher.answer(followed.seen[rows]))
        return np.asarray(regret[np.arange(len(rows)), taken])
