"""States investigated again, by what is known now: the action profile of a state, in rewards.

There are four ways, the first that can be gone being taken. *Mini-trials* are the paper's own investigation
(Figure 3) with the settings of the run. *Trials* hold an action as a mini-trial does and follow the map to the end:
for maps whose values are no rewards, or whose discount is unknown. Where a state cannot be set, the *values* that
were learned for its region stand for it or, if they are no rewards, *trials from the start* in which its whole region
takes each action in turn.

Everything runs as plain Python, a few hundred steps at most, so that nothing has to be compiled for a question.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller, choose, region_at
from distinguo.errors import DistinguoError, reason_of
from distinguo.explanations.states import state_behind
from distinguo.explanations.subject import Asked
from distinguo.learners.agent import NO_ACTION, Agent, fresh_progress
from distinguo.learners.economy.investigation import repeated_mini_trial
from distinguo.learners.refinement.improvement import HELD
from distinguo.tasks.task import State, seeded, start, transition, truncated

MINI_TRIALS, TRIALS, STARTS, VALUES = "mini-trials", "trials", "trials from the start", "learned values"
MOST_STEPS = 6_000  #: for the profiles of two states
LONGEST = 1_000  #: steps of a trial, where the task has no limit
SAMPLES = 5  #: trials of each action where chance is at work, if there are steps for so many


class ActionProfile(NamedTuple):
    """What each action is worth in a state, and how that is known."""

    values: tuple[float, ...]
    reliable: tuple[bool, ...]  #: whether the learner would rely on each
    way: str  #: "mini-trials", "trials", "trials from the start" or "learned values"
    steps: int = 0  #: that finding out took

    @property
    def q1(self) -> np.ndarray:
        """Return the values as the criteria want them."""
        return np.array(self.values)

    def document(self) -> dict[str, Any]:
        """Return the profile as plain values."""
        return {
            "values": list(self.values),
            "reliable": list(self.reliable),
            "way": self.way,
            "steps": self.steps,
        }


class Learned(NamedTuple):
    """What a mini-trial looks up: the map, its action values and how often they were updated."""

    partition: Any
    q: np.ndarray
    updates: np.ndarray


class Investigator:
    """Investigates states of one run; its task is a copy, so that the run stays as it is."""

    def __init__(self, asked: Asked) -> None:
        self.asked, self.controller = asked, asked.controller
        self.obstacle = ""  #: why states cannot be set, in a sentence
        self.no_trials = ""  #: why not even trials can be run
        self._task: Any = None

    def profile(self, seen: tuple[float, ...]) -> ActionProfile:
        """Return the profile of what was observed, by the best way there is."""
        if not self.obstacle:
            try:
                return self._investigated(seen)
            except DistinguoError as error:
                self.obstacle = str(error)
            except Exception as error:  # whatever a task of somebody's own may raise
                self.obstacle = f"{self.asked.spec.name} failed when it was tried ({reason_of(error)})."
        return self.of_region(self.controller.region(seen))

    def of_region(self, j: int) -> ActionProfile:
        """Return the profile of a region as a whole."""
        if self.asked.values_name_actions and not self.no_trials:
            try:
                return self._by_starts(j)
            except Exception as error:  # the environment is not there, or fails
                self.no_trials = reason_of(error)
        return self.learned(j)

    def learned(self, j: int) -> ActionProfile:
        """Return the values that were learned for a region."""
        row = self.controller.q[j].tolist()
        least = getattr(self.asked.run.configuration.learner, "min_updates", 1)
        enough = (self.asked.run.updates[j] >= least).tolist()
        return ActionProfile(tuple(row), tuple(enough), VALUES)

    def _investigated(self, seen: tuple[float, ...]) -> ActionProfile:
        spec = self.asked.spec
        if not spec.restorable:
            raise DistinguoError(f"{spec.name} cannot be put into a state that is asked for.")
        if self._task is None:
            self._task = seeded(spec.task, self.asked.run.configuration.seed)
        s = state_behind(self._task, seen)
        if s is None:
            raise DistinguoError(
                f"{spec.name} cannot be put into a state that is asked for: what is observed of it is not the state."
            )
        profile = self._by_mini_trials(s) if self.asked.investigates else self._by_trials(s)
        if not np.isfinite(profile.values).all():
            raise DistinguoError(f"{spec.name} gives rewards that are not finite.")
        return profile

    def _by_mini_trials(self, s: State) -> ActionProfile:
        """Investigate a state as the learner did (Figure 3), each action as often as it did (Definition 5)."""
        run = self.asked.run
        settings = run.configuration.learner
        longest = min(settings.max_steps, LONGEST)
        samples = max(1, min(settings.samples, self._share() // longest))
        settings = settings._replace(max_steps=longest, samples=samples)
        progress = fresh_progress(len(s), len(self.asked.spec.dimensions))
        memory, rng = Learned(self.controller.partition, run.q, run.updates), np.random.default_rng(0)
        agent = Agent(self._task, memory, settings, progress, None, rng)
        j = region_at(self._task, memory.partition, s)
        found = [repeated_mini_trial(agent, s, j, a) for a in range(run.q.shape[1])]
        steps = int(progress.counts["investigation_steps"][0])
        values, reliable = tuple(float(one[0]) for one in found), tuple(bool(one[1]) for one in found)
        return ActionProfile(values, reliable, MINI_TRIALS, steps)

    def _by_trials(self, s: State) -> ActionProfile:
        """Hold each action for a while and follow the map to the end of the trial."""
        spec, count = self.asked.spec, self.controller.q.shape[1]
        cap = min(spec.cap(LONGEST), self._share())
        samples = 1 if spec.stochastic == "no" else max(1, min(SAMPLES, self._share() // cap))
        values, steps = [], 0
        for a in range(count):
            gained = 0.0
            for _ in range(samples):
                total, length = held_and_followed(self._task, self.controller, s, a, cap)
                gained, steps = gained + total / samples, steps + length
            values.append(gained)
        return ActionProfile(tuple(values), (True,) * count, TRIALS, steps)

    def _by_starts(self, j: int) -> ActionProfile:
        """Run trials from the same starts with every action for the whole region in turn."""
        spec, count = self.asked.spec, self.controller.q.shape[1]
        cap = min(spec.cap(LONGEST), self._share())
        values, steps = [], 0
        for a in range(count):
            q = self.controller.q.copy()
            q[j] = np.eye(count)[a]
            task, rng = seeded(spec.task, self.asked.run.configuration.seed), np.random.default_rng(0)
            returns: list[float] = []
            used = 0
            while used + cap <= self._share() and len(returns) < SAMPLES:
                s = start(task, rng)
                gained, length = held_and_followed(task, self.controller._replace(q=q), s, NO_ACTION, cap)
                returns.append(gained)
                used += length
            values.append(float(np.mean(returns)))
            steps += used
        return ActionProfile(tuple(values), (True,) * count, STARTS, steps)

    def _share(self) -> int:
        """Return the steps that there are for one action of one of two states."""
        return max(1, MOST_STEPS // (2 * self.controller.q.shape[1]))


def held_and_followed(task: Any, controller: Controller, s: State, a: int, cap: int) -> tuple[float, int]:
    """Return what is gained from ``s`` if ``a`` is held until its region is left, and the map followed then.

    Rewards are not discounted; the second number is the steps that were taken, at most ``cap``. With ``NO_ACTION``
    none is held.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> diagonal = Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> held_and_followed(Puck(), diagonal, (2.2, 1.0), 1, 300), held_and_followed(Puck(), diagonal, (0, 0), 1, 300)
    ((-1.0, 8), (0.0, 300))
    """
    rng, j = np.random.default_rng(0), region_at(task, controller.partition, s)
    gained, steps, held, done = 0.0, 0, a != NO_ACTION, False
    while not done and steps < cap:
        k = region_at(task, controller.partition, s)
        held = held and k == j and steps < HELD
        s, r, terminal = transition(task, s, a if held else choose(controller.q[k], controller.delta, rng))
        gained, steps = gained + r, steps + 1
        done = terminal or truncated(task, s)
    return gained, steps
