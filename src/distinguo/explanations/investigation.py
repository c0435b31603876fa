"""States investigated again with what is known now: the action profile of a state, in rewards.

There are four ways; the first possible one is taken. *Mini-trials* are the paper's own investigation (Figure 3) with
the settings of the run. *Trials* hold an action as a mini-trial does and then follow the map to the end, for maps
whose values are not rewards or whose discount is unknown. If a state cannot be set, the *learned values* of its
region are used. If those are not rewards, *trials from the start* are run in which the whole region takes each action
in turn.

Everything runs as plain Python, a few hundred steps at most, so that a question compiles nothing.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller, choose
from distinguo.errors import DistinguoError, reason_of
from distinguo.explanations.choices import LEARNED, NOW, without_noise
from distinguo.explanations.subject import Asked
from distinguo.learners.agent import NO_ACTION, Agent, fresh_progress
from distinguo.learners.economy.figures import repeated_mini_trial
from distinguo.learners.refinement.improvement import HELD
from distinguo.representations.partition import has_labels, region
from distinguo.seam import is_compiled
from distinguo.tasks.acrobot import Acrobot
from distinguo.tasks.gym.snapshots import OPTIONS
from distinguo.tasks.gym.task import GymTask
from distinguo.tasks.pendulum import Pendulum, PendulumOfTorques
from distinguo.tasks.task import Observation, State, observe, seeded, start, transition, truncated
from distinguo.tasks.world import BEFORE, look, python_world

MINI_TRIALS, TRIALS, STARTS, VALUES = "mini-trials", "trials", "trials from the start", "learned values"
MOST_STEPS = 6_000  #: for the profiles of two states
LONGEST = 1_000  #: steps of a trial, if the task has no limit
SEARCHES, SEARCH = (
    20,
    50,
)  #: trials, and steps of each, that collect states which can be restored
SAMPLES = 20  #: trials of each action in a stochastic task, if there are enough steps


class ActionProfile(NamedTuple):
    """What each action is worth in a state, and how that is known."""

    values: tuple[float, ...]
    reliable: tuple[bool, ...]  #: whether the learner would rely on each
    way: str  #: "mini-trials", "trials", "trials from the start" or "learned values"
    steps: int = 0  #: used to find the values
    samples: int = 1  #: trials or mini-trials of each action

    @property
    def q1(self) -> np.ndarray:
        """The values as an array, for the criteria."""
        return np.array(self.values)

    @property
    def source(self) -> str:
        """Whether these are the learned values, or were found by a look-ahead now."""
        return LEARNED if self.way == VALUES else NOW

    def document(self) -> dict[str, Any]:
        """Return the profile as plain values."""
        return {
            "values": list(self.values),
            "reliable": list(self.reliable),
            "way": self.way,
            "steps": self.steps,
            "samples": self.samples,
        }


class Learned(NamedTuple):
    """What a mini-trial looks up: the map, its action values and their numbers of updates."""

    partition: Any
    q: np.ndarray
    updates: np.ndarray


class Investigator:
    """Investigates states of one run in a copy of its task, so that the run does not change."""

    def __init__(self, asked: Asked) -> None:
        self.asked, self.controller = asked, asked.controller
        self.obstacle = ""  #: a sentence on why a state could not be set
        self.failed = False  #: whether no state can be set
        self.no_trials = ""  #: a sentence on why trials cannot be run
        self._task: Any = None
        self._places: dict[tuple[float, ...], State] | None = (
            None  # states that can be restored, once collected
        )

    def profile(self, seen: tuple[float, ...]) -> ActionProfile:
        """Return the profile of an observation, in the best possible way."""
        if not self.failed:
            try:
                return self._investigated(seen)
            except DistinguoError as error:
                self.failed, self.obstacle = True, str(error)
            except Exception as error:  # a user's task may raise anything
                self.failed = True
                self.obstacle = f"{self.asked.spec.name} failed when it was tried ({reason_of(error)})."
        return self.of_region(self.controller.region(seen))

    def of_region(self, j: int) -> ActionProfile:
        """Return the profile of a region as a whole."""
        if self.asked.values_name_actions and not self.no_trials:
            try:
                return self._by_starts(j)
            except Exception as error:  # the environment is missing, or fails
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
            raise DistinguoError(f"The state of {spec.name} cannot be set.")
        s = state_behind(spec.task, seen)  # this may find out more about an environment
        if self._is_better_learned():
            self.obstacle = f"{spec.name} is stochastic."
            return self.of_region(self.controller.region(seen))
        if self._task is None:
            self._task = seeded(spec.task, self.asked.run.configuration.seed)
        if s is None:
            s = self._visited(seen)
        if s is None:
            self.obstacle = f"{spec.name} cannot be put into this state."
            return self.of_region(self.controller.region(seen))
        profile = self._by_mini_trials(s) if self.asked.investigates else self._by_trials(s)
        if not np.isfinite(profile.values).all():
            raise DistinguoError(f"{spec.name} gives rewards that are not finite.")
        return profile

    def _is_better_learned(self) -> bool:
        """Whether the learned values are rewards that say more than a few stochastic trials."""
        asked = self.asked
        driver = getattr(asked.spec.task, "driver", None)
        stochastic = asked.spec.stochastic != "no" or (driver is not None and driver.stochastic)
        return stochastic and not asked.investigates and not asked.values_name_actions

    def _by_mini_trials(self, s: State) -> ActionProfile:
        """Investigate a state as the learner did (Figure 3), each action as often as it did (Definition 5)."""
        run = self.asked.run
        settings = run.configuration.learner
        longest = min(settings.max_steps, LONGEST)
        samples = max(1, min(settings.samples, self._share() // longest))
        settings = settings._replace(max_steps=longest, samples=samples)
        width, dimensions = len(s), len(self.asked.spec.dimensions)
        world, progress = python_world(self._task, width, dimensions), fresh_progress(width, dimensions)
        memory, rng = Learned(self.controller.partition, run.q, run.updates), np.random.default_rng(0)
        agent, first = Agent(world, memory, settings, progress, None, rng), np.array(s)
        j = region(memory.partition, look(world, first, BEFORE).seen)
        found = [repeated_mini_trial(agent, first, j, a) for a in range(run.q.shape[1])]
        steps = int(progress.counts["investigation_steps"][0])
        values, reliable = without_noise(one[0] for one in found), tuple(bool(one[1]) for one in found)
        return ActionProfile(values, reliable, MINI_TRIALS, steps, samples)

    def _by_trials(self, s: State) -> ActionProfile:
        """Hold each action for a while and follow the map to the end of the trial."""
        count, samples = self.controller.q.shape[1], self._samples()
        if self.asked.spec.stochastic == "no":
            samples = 1
        follower = Follower(self._task, self.controller, self._cap())
        trials = [[follower.gained(s, a) for _ in range(samples)] for a in range(count)]
        return _of_trials(trials, TRIALS)

    def _by_starts(self, j: int) -> ActionProfile:
        """Run trials from the same starts with every action for the whole region in turn."""
        count, trials = self.controller.q.shape[1], []
        for a in range(count):
            q = self.controller.q.copy()
            q[j] = np.eye(count)[a]
            task = seeded(self.asked.spec.task, self.asked.run.configuration.seed)
            follower, rng = (
                Follower(task, self.controller._replace(q=q), self._cap()),
                np.random.default_rng(0),
            )
            trials.append([follower.gained(start(task, rng)) for _ in range(self._samples())])
        return _of_trials(trials, STARTS)

    def _visited(self, seen: tuple[float, ...]) -> State | None:
        """Return a state of greedy trials with exactly this observation.

        An environment that can only be restored can be put there.
        """
        if is_compiled(self._task):  # its state can be set
            return None
        if self._places is None:
            self._places = Follower(self._task, self.controller, SEARCH).visited(SEARCHES, SEARCH)
        return self._places.get(seen)

    def _cap(self) -> int:
        """The limit of the steps of a trial."""
        return min(self.asked.spec.cap(LONGEST), self._share())

    def _samples(self) -> int:
        """Return the number of trials of each action that the steps allow."""
        return max(1, min(SAMPLES, self._share() // self._cap()))

    def _share(self) -> int:
        """Return the steps available for one action of one of two states."""
        return max(1, MOST_STEPS // (2 * self.controller.q.shape[1]))


def _of_trials(trials: list[list[tuple[float, int]]], way: str) -> ActionProfile:
    """Return the profile of mean returns of each action's trials."""
    values = without_noise(float(np.mean([gained for gained, _ in of_action])) for of_action in trials)
    steps = sum(length for of_action in trials for _, length in of_action)
    return ActionProfile(values, (True,) * len(trials), way, steps, len(trials[0]))


# A map followed in its task, step by step, from any state: trials that measure the value of an action.


class Follower:
    """Follows the greedy policy of a controller, for at most ``cap`` steps.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> diagonal = Follower(Puck(), Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]])), cap=300)
    >>> diagonal.gained((2.2, 1.0), 1), diagonal.gained((0.0, 0.0), 1)
    ((-1.0, 8), (0.0, 300))
    """

    def __init__(self, task: Any, controller: Controller, cap: int) -> None:
        self.task, self.controller, self.cap = task, controller, cap
        self.rng = np.random.default_rng(0)  #: decides among tied actions
        labels = has_labels(controller.partition)
        self.held = (
            1 if labels else HELD
        )  #: steps for which an action is held; with labels, one step is a whole move
        self._regions: dict[Observation, int] | None = {} if labels else None

    def region(self, s: State) -> int:
        """Return the region of a state; few observations are looked up once each."""
        seen = observe(self.task, s)
        if self._regions is None:
            return int(region(self.controller.partition, seen))
        if seen not in self._regions:
            self._regions[seen] = int(region(self.controller.partition, seen))
        return self._regions[seen]

    def action(self, j: int) -> int:
        """Return the action of a region; a random one of tied actions."""
        return choose(self.controller.q[j], self.controller.delta, self.rng)

    def step(self, s: State, a: int) -> tuple[State, float, bool]:
        """Take an action; return the next state, the reward, and whether the trial is over."""
        s_next, r, terminal = transition(self.task, s, a)
        return s_next, r, bool(terminal or truncated(self.task, s_next))

    def gained(self, s: State, a: int = NO_ACTION) -> tuple[float, int]:
        """Return the rewards of a trial from ``s``, not discounted, and its steps.

        ``a`` is held as in a mini-trial (Figure 3), until the region is left or for a few steps; then the map is
        followed.
        """
        j, total, steps = self.region(s), 0.0, 0
        holding, over = a != NO_ACTION, False
        while not over and steps < self.cap:
            k = self.region(s)
            holding = holding and k == j and steps < self.held
            s, r, over = self.step(s, a if holding else self.action(k))
            total, steps = total + r, steps + 1
        return total, steps

    def visited(self, trials: int, steps: int) -> dict[Observation, State]:
        """Return the states that trials of so many steps visit, by observation."""
        found: dict[Observation, State] = {}
        for _ in range(trials):
            s, over, length = start(self.task, self.rng), False, 0
            while not over and length < steps:
                found.setdefault(observe(self.task, s), s)
                s, _, over = self.step(s, self.action(self.region(s)))
                length += 1
        return found


# From an observation back to the state: a look-ahead starts from a state, but users give observations.


CLOSE = 1e-5  #: relative difference below which observations are equal: environments give 32 bits


@singledispatch
def state_behind(task: Any, seen: Observation) -> State | None:
    """Return a state with this observation, or None if none is known.

    If the whole state is observed, even if rounded, the observation itself is the state.

    >>> from distinguo.tasks.cart_pole import CartPole
    >>> state_behind(CartPole(), (0.1, 0.0, 0.02, 0.0))
    (0.1, 0.0, 0.02, 0.0)
    """
    if len(start(task, np.random.default_rng(0))) != len(seen):  # some of the state is hidden
        return None
    shown = observe(task, seen)
    return seen if len(shown) == len(seen) and all(map(_alike, shown, seen)) else None


def _alike(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE)


@state_behind.register
def _(task: Acrobot, seen: Observation) -> State | None:
    """Angles are observed by cosine and sine."""
    cos_1, sin_1, cos_2, sin_2, turning_1, turning_2 = seen
    return (math.atan2(sin_1, cos_1), math.atan2(sin_2, cos_2), turning_1, turning_2)


@state_behind.register(Pendulum)
@state_behind.register(PendulumOfTorques)
def _(task: Any, seen: Observation) -> State | None:
    cosine, sine, turning = seen
    return (math.atan2(sine, cosine), turning)


@state_behind.register
def _(task: GymTask, seen: Observation) -> State | None:
    """Only an environment that takes states by ``reset(options=...)`` can be put anywhere."""
    return (0.0, 0.0, *seen) if task.driver.restoring.name == OPTIONS else None
