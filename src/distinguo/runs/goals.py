"""How a stage knows that its task is solved: one set of rules for each goal.

A task whose trials should never end is solved when the greedy policy holds for the required length from the start of
a trial; one that asks for a mean return, when a sequential test of greedy trials says so
(evaluation/confirmation.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from distinguo.evaluation.confirmation import FAILED, OPEN, PASSED, PATIENCE, USUAL, ReturnQuestion, judge
from distinguo.learners.agent import NO_BUDGET, TERMINAL
from distinguo.tasks.spec import Goal, MeanReturn

if TYPE_CHECKING:
    from distinguo.runs.stage import Stage

#: Why a confirmation is run: a good trial claims success; an attempt, or the stage, is over.
CLAIM, ATTEMPT_OVER, STAGE_OVER = "claim", "attempt over", "stage over"
SAMPLE = 20  #: greedy trials that an attempt is judged by when it is over


class Rules(Protocol):
    """What depends on the goal of a task."""

    def after_trial(self, stage: Stage, ended: int) -> None:
        """Draw the conclusion from a trial that ended in a terminal state or was stopped."""

    def confirm(self, stage: Stage) -> None:
        """Do a chunk of a confirmation."""

    def end_attempt(self, stage: Stage) -> None:
        """End an attempt that was long enough."""

    def end_stage(self, stage: Stage) -> None:
        """End the stage: a budget is used up."""

    def final_trial_steps(self, stage: Stage) -> int:
        """Return the steps of a trial that ended a solved stage and do not count as learning."""


class HoldRules:
    """A trial that reaches the cap claims success; the frozen greedy policy must then hold as long as asked."""

    def after_trial(self, stage: Stage, ended: int) -> None:
        """Confirm a trial that reached the cap; learn from one that fell."""
        if stage.claims(ended):
            stage.begin_confirmation(CLAIM)
            stage.score = 0
        else:
            stage.settle()
            stage.end_trial("wall")

    def confirm(self, stage: Stage) -> None:
        """Hold on; a fall sends the learner back to work."""
        hold = stage.configuration.stage.hold
        fell = stage.follow(hold - stage.held)
        stage.score = stage.held
        if fell:
            stage.settle()
            stage.end_trial("cap")
            stage.learner.refuted(stage.agent, [])
        elif stage.held >= hold:
            stage.end_trial("cap")
            stage.finish(solved=True)

    def end_attempt(self, stage: Stage) -> None:
        """Begin again: there is nothing to judge, it did not hold."""
        stage.restart()

    def end_stage(self, stage: Stage) -> None:
        """End without success."""
        stage.finish(solved=False)

    def final_trial_steps(self, stage: Stage) -> int:
        """Return the length of the trial that reached the cap."""
        return stage.trial_length if stage.solved and stage.learner.ends_with_long_trial else 0


class ReturnRules:
    """A trial that reaches the threshold claims success; greedy trials tell whether that was luck."""

    def __init__(self, goal: MeanReturn) -> None:
        self.threshold = goal.threshold

    def after_trial(self, stage: Stage, ended: int) -> None:
        """Learn from the trial, and confirm the greedy policy if it was good."""
        stage.settle()
        claimed = stage.claims(ended)
        stage.end_trial("terminal" if ended == TERMINAL else "cap")
        if claimed:
            stage.begin_confirmation(CLAIM if self.threshold is not None else STAGE_OVER)

    def confirm(self, stage: Stage) -> None:
        """Follow the greedy policy for a while, and judge it when a trial ends.

        A task without a time limit may go on for ever: its trials are cut where the steps of a confirmation end.
        """
        most = most_steps(stage)
        ended = stage.follow(min(stage.cap - stage.held, most - stage.tested))
        spent, whole = stage.tested >= most, ended or stage.held >= stage.cap
        if not whole and not spent:
            return
        if not whole and len(stage.returns) > 1:  # what the others gained says more
            stage.returns.pop()
        outcome = self._judge(stage)
        if outcome == OPEN and spent:
            outcome = FAILED
        if outcome == OPEN:
            stage.begin_greedy_trial()
        else:
            self._conclude(stage, outcome == PASSED)

    def _judge(self, stage: Stage) -> str:
        """Judge the trials so far; a mere sample will do where there is no threshold, or an attempt is over."""
        most, count = stage.configuration.stage.confirm, len(stage.returns)
        if self.threshold is None or stage.purpose == ATTEMPT_OVER:
            enough = min(most, SAMPLE if stage.purpose == ATTEMPT_OVER else USUAL)
            return FAILED if count >= enough else OPEN
        question = ReturnQuestion(
            self.threshold,
            stage.least,
            stage.greatest,
            steps=stage.configuration.stage.confirm_steps,
            most=most,
            alone=not stage.learner.only_controls,
        )
        return judge(stage.returns, stage.tested, question, final=stage.purpose != CLAIM)

    def _conclude(self, stage: Stage, passed: bool) -> None:
        """Draw the conclusion; a mere sample is enough to keep an attempt in mind, not to call it solved."""
        stage.score = float(np.mean(stage.returns))
        if stage.purpose == ATTEMPT_OVER:
            stage.keep_if_best()
            stage.restart()
        elif stage.purpose == CLAIM and not passed:
            stage.keep_if_best()
            stage.learner.refuted(stage.agent, stage.returns)
            stage.go_on()
        elif passed or not stage.turn_to_best():
            stage.finish(solved=passed)

    def end_attempt(self, stage: Stage) -> None:
        """Judge an attempt before the next one."""
        stage.begin_confirmation(ATTEMPT_OVER)

    def end_stage(self, stage: Stage) -> None:
        """Find the mean return first."""
        stage.begin_confirmation(STAGE_OVER)

    def final_trial_steps(self, stage: Stage) -> int:
        """Return nothing: all trials were for learning."""
        return 0


def most_steps(stage: Stage) -> int:
    """Return the steps after which a confirmation ends in any case, where trials have no limit of their own."""
    if stage.configuration.spec.limit is not None:
        return NO_BUDGET
    return PATIENCE * stage.configuration.stage.confirm_steps


def rules_for(goal: Goal) -> Rules:
    """Return the rules for the goal of a task.

    >>> from distinguo.tasks.spec import Hold
    >>> type(rules_for(Hold())).__name__
    'HoldRules'
    """
    return ReturnRules(goal) if isinstance(goal, MeanReturn) else HoldRules()
