"""The door for learners of your own: a memory with a few methods, and the trials are driven for you."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba.core.errors import NumbaError
from numpy.random import Generator

from distinguo.controller import Controller
from distinguo.errors import DistinguoError, call_user_code
from distinguo.kernel_cache import numba_reason
from distinguo.learners.agent import (
    CAPPED,
    NO_ACTION,
    NO_BUDGET,
    RUNNING,
    TERMINAL,
    Agent,
    Progress,
    Transition,
    begin_counting,
    keep,
)
from distinguo.learners.learner import Learner, Setup, register
from distinguo.representations.partition import count_regions
from distinguo.seam import at_speed, generic, generic_with_default, implements, kernel, part
from distinguo.tasks.task import Observation, observe, start, transition, truncated, unpack

T = TypeVar("T", bound=type)


class NoSettings(NamedTuple):
    """The settings of a learner that has none."""


@generic
def act(memory: Any, agent: Agent, s: Observation) -> int:
    """Return the action to take where ``s`` is observed."""
    raise NotImplementedError


@generic
def learn_from(memory: Any, agent: Agent, t: Transition) -> None:
    """Learn from one step of a trial."""
    raise NotImplementedError


@generic_with_default
def end_trial(memory: Any, agent: Agent) -> None:
    """Learn from a trial as a whole, when it has ended; usually there is nothing left to learn."""


_METHODS = {"act": act, "learn": learn_from, "end_trial": end_trial}
_NEEDED = ("fresh", "act", "learn", "controller")


def learner(name: str, settings: type = NoSettings) -> Callable[[T], T]:
    """Declare a learner: a ``NamedTuple`` of arrays, its memory, with these methods.

    ``fresh(setup)``, called on the class, returns the memory to begin with; ``controller(self)`` what it would act
    by now. ``act(self, agent, s)`` and ``learn(self, agent, t)`` are compiled and called at every step, with
    ``agent.settings`` and ``agent.rng`` at hand and ``t`` a :class:`Transition`; ``end_trial(self, agent)`` may be
    there too. See examples/own_learner.py.
    """

    def declare(memory: T) -> T:
        missing = [method for method in _NEEDED if method not in vars(memory)]
        if missing or not hasattr(memory, "_fields"):
            what = f"has no {', '.join(missing)}" if missing else "is not a NamedTuple"
            raise DistinguoError(
                f"The learner {memory.__name__} {what}; a learner is a NamedTuple with the methods "
                f"{', '.join(_NEEDED)}."
            )
        for method, function in _METHODS.items():
            if method in vars(memory):
                implements(function, memory)(vars(memory)[method])
        register(DeclaredLearner(name, memory, settings))
        return memory

    return declare


class DeclaredLearner(Learner):
    """A learner that was declared by its memory."""

    def __init__(self, name: str, memory: Any, settings: type) -> None:
        self.name, self.declared, self.settings = name, memory, settings

    def fresh(self, setup: Setup) -> Any:
        """Ask the class of the memory, and try whether what it gives belongs together."""
        memory = call_user_code(f"The learner '{self.name}'", self.declared.fresh, setup)
        self._check(memory, setup.actions)
        return memory

    def _check(self, memory: Any, actions: int) -> None:
        """Raise unless the action values have a row for every region: compiled code would read beyond them."""
        if not isinstance(memory, self.declared):
            raise DistinguoError(
                f"fresh of the learner '{self.name}' should return a {self.declared.__name__}, got a "
                f"{type(memory).__name__}."
            )
        controller = call_user_code(f"The learner '{self.name}'", self.declared.controller, memory)
        if not isinstance(controller, Controller):
            raise DistinguoError(
                f"controller of the learner '{self.name}' should return a Controller, got a "
                f"{type(controller).__name__}."
            )
        rows, shape = count_regions(controller.partition), np.shape(controller.q)
        if len(shape) != 2 or shape[0] < rows or shape[1] != actions:
            raise DistinguoError(
                f"The action values of the learner '{self.name}' should have a row for each of {rows} regions and a "
                f"column for each of {actions} actions, got the shape {shape}."
            )

    def begin(self, agent: Agent) -> None:
        """Begin a trial."""
        self._call(begin_declared, agent)

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Drive the trial."""
        ended: int = self._call(drive_declared, agent, cap, steps)
        return ended

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Let the learner learn from the whole trial."""
        self._call(end_declared, agent)

    def _call(self, driver: Any, agent: Agent, *arguments: int) -> Any:
        """Run a kernel on the agent; what cannot be compiled, or fails, is said in one sentence."""
        function = at_speed(driver, agent.task, self.declared.controller(agent.memory).partition)
        try:
            return function(*agent, *arguments)
        except NumbaError as error:
            raise DistinguoError(
                f"The learner '{self.name}' cannot be compiled: {numba_reason(error)}; write arrays element by "
                "element, and call only functions marked with distinguo.part."
            ) from None

    def controller(self, memory: Any, settings: Any) -> Controller:
        """Ask the memory."""
        made: Controller = memory.controller()
        return made


@kernel
def begin_declared(
    task: Any, memory: Any, settings: Any, progress: Progress, log: Any, rng: Generator
) -> None:
    """Begin a trial."""
    agent = Agent(task, memory, settings, progress, log, rng)
    s = start(agent.task, agent.rng)
    begin_counting(agent.progress, s)
    agent.progress.counts["action"][0] = act(agent.memory, agent, observe(agent.task, s))


@kernel
def drive_declared(
    task: Any, memory: Any, settings: Any, progress: Progress, log: Any, rng: Generator, cap: int, steps: int
) -> int:
    """Drive the running trial for at most so many steps, to its end or to the cap."""
    agent = Agent(task, memory, settings, progress, log, rng)
    s = unpack(task, progress.now)
    first = progress.counts["length"][0]
    terminal, stopped = False, False
    while not terminal and not stopped and progress.counts["length"][0] < min(cap, first + steps):
        s, terminal = step_and_learn(agent, s)
        stopped = not terminal and truncated(task, s)
    keep(progress, s)
    if terminal:
        return TERMINAL
    return CAPPED if stopped or progress.counts["length"][0] >= cap else RUNNING


@part
def step_and_learn(agent: Agent, s: Any) -> tuple[Any, bool]:
    """Take the chosen action, learn from it, and choose the next."""
    task, counts = agent.task, agent.progress.counts
    a = counts["action"][0]
    s_next, r, terminal = transition(task, s, a)
    counts["length"][0] += 1
    counts["trial_steps"][0] += 1
    counts["gained"][0] += r
    seen = observe(task, s_next)
    learn_from(agent.memory, agent, Transition(observe(task, s), a, r, seen, terminal))
    counts["action"][0] = NO_ACTION if terminal else act(agent.memory, agent, seen)
    return s_next, terminal


@kernel
def end_declared(task: Any, memory: Any, settings: Any, progress: Progress, log: Any, rng: Generator) -> None:
    """End a trial."""
    end_trial(memory, Agent(task, memory, settings, progress, log, rng))
