"""Questions to a teacher: what it would do, and what a wrong action costs.

The cost comes from the teacher's own values, or from trying the action and following the teacher from there. This
is the paper's incremental regret (section 2.2) of the teacher's policy: an action that costs nothing is no error,
and a state in which all actions cost the same need not be kept apart from others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from distinguo.distillation.fit import standard_of
from distinguo.distillation.ledger import BudgetEndedError
from distinguo.distillation.teachers import Teacher
from distinguo.distillation.trials import CompiledTrials, Decide, EnvironmentTrials, Followed, Trials, in_step
from distinguo.evaluation.audit import NEXT_TO_NOTHING
from distinguo.search.trials import TrialLanes, step_lanes
from distinguo.tasks.spec import Hold
from distinguo.tasks.task import randomness

MOST_WEIGHT = 10.0  #: times the mean cost, the greatest weight of a state
LEAST_WEIGHT = 0.1  #: of the mean cost, the least weight of a state: estimates are rough
HELD = 5  #: steps for which a wrong action is tried, as MAX_STEPS of Figure 3
ASKED, MOST_ASKED = (
    100,
    300,
)  #: states of a series of trials from which every action is tried, and of all series
NEIGHBOURS = 5  #: of those, whose mean cost a state gets
BY_VALUES, BY_TRIALS = "the teacher's values", "trials that go on with the teacher"
REPLAYED = 25  #: disagreements whose cost is found by running trials again


class TaughtLabel(NamedTuple):
    """The teacher's labels of states: which actions are good there, and what others cost."""

    good: np.ndarray  #: (states, actions)
    weight: np.ndarray  #: (states,)


def plain_label(answers: np.ndarray, actions: int) -> TaughtLabel:
    """Return the label if only the teacher's actions are known: all others are equally wrong."""
    good = np.zeros((len(answers), actions), dtype=np.bool_)
    good[np.arange(len(answers)), answers] = True
    return TaughtLabel(good, np.ones(len(answers)))


def costly_label(answers: np.ndarray, regret: np.ndarray) -> TaughtLabel:
    """Return the label if the cost of each action is known.

    The teacher's own action is always good; the costs of others are relative to the mean over all states.

    >>> label = costly_label(np.array([0, 0]), np.array([[0.0, 8.0], [0.0, 0.01]]))
    >>> label.good.tolist(), label.weight.tolist()
    ([[True, False], [True, True]], [1.0, 0.1])
    """
    count, actions = regret.shape
    wrong = np.ones_like(regret, dtype=np.bool_)
    wrong[np.arange(count), answers] = False
    usual = float(np.abs(regret[wrong]).mean()) if wrong.any() else 0.0
    if not usual > 0.0:
        return plain_label(answers, actions)
    good = ~wrong | (regret <= NEXT_TO_NOTHING * usual)
    bad = ~good
    cost = np.where(bad, np.maximum(regret, 0.0), 0.0).sum(axis=1) / np.maximum(bad.sum(axis=1), 1)
    mean = float(cost[bad.any(axis=1)].mean()) if bad.any() else 1.0
    return TaughtLabel(good, np.clip(cost / mean, LEAST_WEIGHT, MOST_WEIGHT))


def regret_by_values(worth: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """The cost of each action by the teacher's own values, compared with its own action."""
    return np.maximum(worth[np.arange(len(worth)), answers][:, None] - worth, 0.0)


class AskedCosts:
    """Costs that were found by trying every action from some states, and following the teacher from there.

    Only for deterministic compiled tasks, which can start in any state.
    """

    def __init__(self, trials: CompiledTrials, decide: Decide) -> None:
        self.trials, self.decide = trials, decide
        self._seen: list[np.ndarray] = []
        self._regret: list[np.ndarray] = []

    def ask(self, followed: Followed, rng: np.random.Generator) -> None:
        """Try all actions from some of the states of trials, up to a limit."""
        if sum(map(len, self._seen)) >= MOST_ASKED:
            return
        rows = rng.choice(len(followed.states), min(ASKED, len(followed.states)), replace=False)
        self._seen.append(followed.seen[rows])
        self._regret.append(self.regret(followed.states[rows], self.trials.cap - followed.step[rows]))

    def regret(self, states: np.ndarray, left: np.ndarray) -> np.ndarray:
        """The cost of each action from these states, held for a moment, in trials with ``left`` steps left."""
        actions, ledger = len(self.trials.spec.actions), self.trials.ledger

        def run() -> dict[str, np.ndarray]:
            if (actions + 1) * int(left.sum()) > ledger.left:
                raise BudgetEndedError
            worth = np.column_stack([self._worth(states, left, a) for a in range(actions)])
            usual = self._worth(states, left, None)
            return {"regret": np.maximum(usual[:, None] - worth, 0.0)}

        def fits(arrays: dict[str, np.ndarray]) -> bool:
            regret = arrays.get("regret", np.zeros(0))
            return regret.shape == (len(states), actions) and bool(np.isfinite(regret).all())

        return ledger.answer(["regret", states, left], run, fits)["regret"]

    def _worth(self, states: np.ndarray, left: np.ndarray, a: int | None) -> np.ndarray:
        """The return from states, with an action held at first or with the teacher alone."""
        holds = isinstance(self.trials.spec.goal, Hold)
        world = self.trials.world
        lanes = TrialLanes(states.copy(), np.ones(len(states), dtype=np.bool_), np.zeros(len(states)))
        gained, steps = np.zeros(len(states)), 0
        while a is not None and steps < HELD:
            rows = np.flatnonzero(lanes.running & (left > steps))
            step_lanes(world, lanes, rows, np.full(len(rows), a))
            gained[rows] += 1.0 if holds else lanes.rewards[rows]
            self.trials.ledger.spend(0, len(rows))
            steps += 1
        rows = np.flatnonzero(lanes.running & (left > steps))
        if len(rows):
            followed = in_step(world, self.decide, lanes.states[rows], left[rows] - steps, holds)
            gained[rows] += followed.returns
            self.trials.ledger.spend(len(rows), int(followed.lengths.sum()))
        return gained

    def of(self, seen: np.ndarray) -> np.ndarray:
        """The cost of each action for observations: the mean of the nearest states that were tried."""
        known, regret = np.concatenate(self._seen), np.concatenate(self._regret)
        standard = standard_of(known)
        near = cKDTree(standard.of(known)).query(standard.of(seen), k=min(NEIGHBOURS, len(known)))[1]
        return regret[near.reshape(len(seen), -1)].mean(axis=1)


class Questions:
    """Labels the states of trials; with ``costs``, by the cost of each action, if it is known.

    Costs come from the teacher's own values or else, in a task that can start in any state, from trying every
    action in some states and following the teacher from there.
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
        """How costs are found."""
        return BY_TRIALS if self.teacher.values is None else BY_VALUES

    def label(self, followed: Followed) -> TaughtLabel:
        """Which actions are good in the states of trials, and what others cost."""
        answers = self.teacher.answer(followed.seen)
        if not self._costs or (self.teacher.values is None and self._asked is None):
            return plain_label(answers, self._actions)
        if self.teacher.values is None and self._asked is not None:
            self._asked.ask(followed, self.rng)
        return costly_label(answers, self.regret(followed.seen, answers))

    def regret(self, seen: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """The cost of each action for observations, compared with the teacher's answer."""
        if self.teacher.values is not None:
            return regret_by_values(self.teacher.values(seen), answers)
        assert self._asked is not None
        return self._asked.of(seen)

    def costs(
        self, followed: Followed, starts: Sequence[int], rows: np.ndarray
    ) -> tuple[np.ndarray, float] | None:
        """The costs of the actions taken at some steps of trials, and the usual cost among all.

        ``starts`` are those of the trials. None if unknown.
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
        """Replay trials up to these steps, and go on with the teacher, at once or after holding the action."""
        if not isinstance(self.trials, EnvironmentTrials) or not self.trials.spec.restorable:
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
