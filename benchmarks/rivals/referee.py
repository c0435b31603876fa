"""The rules, which are the same for every rival: when it is put to the test, how it is judged, what is counted."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from benchmarks.rivals.world import Policy, World

from distinguo.evaluation.confirmation import OPEN, PASSED, ReturnQuestion, judge, spent_error
from distinguo.runs.stage import USUAL

LATEST = 3  #: trials whose mean is a claim, if it reaches the threshold
SOONEST = 500  #: learning steps between two tests, at least
EVERY = 2_000  #: learning steps after which a rival is put to the test in any case


class Size(NamedTuple):
    """How large what was learned is, and in what."""

    number: int
    unit: str


class Look(NamedTuple):
    """What a test found."""

    mean: float
    passed: bool


class Referee:
    """Puts the greedy policy of a rival to the test, and counts."""

    def __init__(self, task: str, seed: int, budget: int) -> None:
        self.task, self.seed, self.budget = task, seed, budget
        self.world = World(task, [seed, 1])
        self.threshold = float(self.world.spec.goal.threshold)
        self.least, self.greatest = np.inf, -np.inf
        self.latest: deque[float] = deque(maxlen=LATEST)
        self.curve: list[tuple[int, float]] = []  #: learning steps, and mean return of the test after them
        self.steps = self.asked = self.failed_steps = self.tests = 0
        self.policy: Policy | None = None  #: that was tested last
        self.passed = False
        self.began = time.perf_counter()

    @property
    def over(self) -> bool:
        return self.passed or self.steps >= self.budget

    def after_trial(self, steps: int, gained: float, propose: Callable[[], Policy | None]) -> Look | None:
        """Hear of a training trial, after so many learning steps in all; test the rival if it is time."""
        self.steps = steps
        self.latest.append(gained)
        self._note(gained)
        claims = len(self.latest) == LATEST and np.mean(self.latest) >= self.threshold
        if steps > self.budget or steps - self.asked < (SOONEST if claims else EVERY):
            return None
        policy = propose()
        if policy is None or policy is self.policy:  # that one was turned down already
            return None
        self.asked, self.policy = steps, policy
        return self._test(policy)

    def _note(self, gained: float) -> None:
        self.least, self.greatest = min(self.least, gained), max(self.greatest, gained)

    def _test(self, policy: Policy) -> Look:
        """Test a policy as our own are, with new starts."""
        before, returns, outcome = self.world.steps, [], OPEN
        self.tests += 1
        question = ReturnQuestion(
            self.threshold, self.least, self.greatest, error=spent_error(self.tests), is_claim=True
        )
        while outcome == OPEN:
            returns.append(self.world.trial(policy))
            outcome = judge(returns, self.world.steps - before, question)
            self._note(returns[-1])
        self.passed = outcome == PASSED
        if not self.passed:
            self.failed_steps += self.world.steps - before
        self.curve.append((self.steps, float(np.mean(returns))))
        return Look(self.curve[-1][1], self.passed)

    def outcome(self, rival: str, size: Size) -> dict[str, Any]:
        """Return how the run went; a policy that passed is tried in a hundred new trials."""
        confirmation = self.world.steps
        return {
            "task": self.task,
            "rival": rival,
            "seed": self.seed,
            "budget": self.budget,
            "solved": self.passed,
            "steps": self.steps,
            "failed_steps": self.failed_steps,
            "confirmation_steps": confirmation,
            "size": size.number,
            "unit": size.unit,
            "again": again(self.task, self.seed, self.policy) if self.passed and self.policy else None,
            "seconds": round(time.perf_counter() - self.began, 1),
            "curve": self.curve,
        }


def again(task: str, seed: int, policy: Policy) -> float:
    """Return the mean return of a hundred new trials."""
    world = World(task, [seed, 2])
    return float(np.mean([world.trial(policy) for _ in range(USUAL)]))
