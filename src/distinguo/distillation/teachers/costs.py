"""What a wrong action costs: by the teacher's own values, or by trying it and following the teacher from there.

This is the paper's incremental regret (section 2.2), of the teacher's policy: an action that costs nothing is no
error, and a state in which all cost the same need not be told from others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from distinguo.distillation.fit import standard_of
from distinguo.distillation.trials.compiled import CompiledTrials, TrialLanes, in_step, step_lanes
from distinguo.distillation.trials.trials import Decide, Followed
from distinguo.evaluation.policy_audit import NEXT_TO_NOTHING
from distinguo.tasks.spec import Hold

DEAREST = 10.0  #: times the mean cost that a single state may weigh
LEAST = 0.1  #: of the mean cost that a state weighs at least: estimates are rough
HELD = 5  #: steps that a wrong action is tried for, as MAX_STEPS of Figure 3
ASKED, MOST_ASKED = (
    100,
    300,
)  #: states of a series of trials from which every action is tried, and of all series
NEIGHBOURS = 5  #: of those, whose costs a state takes over


class TaughtLabel(NamedTuple):
    """What the teacher says of states: which actions are good there, and what others cost."""

    good: np.ndarray  #: (states, actions)
    weight: np.ndarray  #: (states,)


def plain_label(answers: np.ndarray, actions: int) -> TaughtLabel:
    """Return the label where only the teacher's actions are known: all others are wrong, and equally so."""
    good = np.zeros((len(answers), actions), dtype=np.bool_)
    good[np.arange(len(answers)), answers] = True
    return TaughtLabel(good, np.ones(len(answers)))


def costly_label(answers: np.ndarray, regret: np.ndarray) -> TaughtLabel:
    """Return the label where it is known what each action costs.

    The teacher's own action is always good; what others cost is measured by the mean over all states.

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
    return TaughtLabel(good, np.clip(cost / mean, LEAST, DEAREST))


def regret_by_values(worth: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return what each action costs by the teacher's own values, beside its own action."""
    return np.maximum(worth[np.arange(len(worth)), answers][:, None] - worth, 0.0)


class AskedCosts:
    """Costs that were found by trying every action from some states, and following the teacher from there.

    Only for compiled tasks without noise, which can be put into any state.
    """

    def __init__(self, trials: CompiledTrials, decide: Decide) -> None:
        self.trials, self.decide = trials, decide
        self._seen: list[np.ndarray] = []
        self._regret: list[np.ndarray] = []

    def ask(self, followed: Followed, rng: np.random.Generator) -> None:
        """Try all actions from some of the states of trials, until enough is known."""
        if sum(map(len, self._seen)) >= MOST_ASKED:
            return
        rows = rng.choice(len(followed.states), min(ASKED, len(followed.states)), replace=False)
        self._seen.append(followed.seen[rows])
        self._regret.append(self.regret(followed.states[rows], self.trials.cap - followed.step[rows]))

    def regret(self, states: np.ndarray, left: np.ndarray) -> np.ndarray:
        """Return what each action costs from these states, held for a moment, in trials with so many steps left."""
        actions = len(self.trials.spec.actions)
        worth = np.column_stack([self._worth(states, left, a) for a in range(actions)])
        usual = self._worth(states, left, None)
        return np.maximum(usual[:, None] - worth, 0.0)

    def _worth(self, states: np.ndarray, left: np.ndarray, a: int | None) -> np.ndarray:
        """Return what is gained from states with an action held at first, or as the teacher goes on from there."""
        task, holds = self.trials.spec.task, isinstance(self.trials.spec.goal, Hold)
        lanes = TrialLanes(states.copy(), np.ones(len(states), dtype=np.bool_), np.zeros(len(states)))
        gained, steps = np.zeros(len(states)), 0
        while a is not None and steps < HELD:
            rows = np.flatnonzero(lanes.running & (left > steps))
            step_lanes(task, lanes, rows, np.full(len(rows), a))
            gained[rows] += 1.0 if holds else lanes.rewards[rows]
            self.trials.count_more([], len(rows))
            steps += 1
        rows = np.flatnonzero(lanes.running & (left > steps))
        if len(rows):
            followed = in_step(task, self.decide, lanes.states[rows], left[rows] - steps, holds)
            gained[rows] += followed.returns
            self.trials.count_more([len(rows)], int(followed.lengths.sum()))
        return gained

    def of(self, seen: np.ndarray) -> np.ndarray:
        """Return what each action costs where something is seen: the mean of the nearest states that were tried."""
        known, regret = np.concatenate(self._seen), np.concatenate(self._regret)
        standard = standard_of(known)
        near = cKDTree(standard.of(known)).query(standard.of(seen), k=min(NEIGHBOURS, len(known)))[1]
        return regret[near.reshape(len(seen), -1)].mean(axis=1)
