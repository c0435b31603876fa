"""Declare a learner: a memory with a few methods; the driver runs the trials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba.core.errors import NumbaError

from distinguo.controller import Controller
from distinguo.errors import DistinguoError, call_user_code
from distinguo.kernel_cache import numba_reason
from distinguo.learners.agent import NO_BUDGET, Agent
from distinguo.learners.driver import act, end_trial, learn_from
from distinguo.learners.learner import Learner, Setup, register
from distinguo.representations.partition import count_regions
from distinguo.seam import implements, is_compiled

T = TypeVar("T", bound=type)


class NoSettings(NamedTuple):
    """The settings of a learner that has none."""


_METHODS = {"act": act, "learn": learn_from, "end_trial": end_trial}
_NEEDED = ("fresh", "act", "learn", "controller")


def learner(name: str, settings: type = NoSettings) -> Callable[[T], T]:
    """Declare a learner: a ``NamedTuple`` of arrays, its memory, with these methods.

    ``fresh(setup)``, called on the class, returns the first memory; ``controller(self)`` returns the present
    controller. ``act(self, agent, s)`` and ``learn(self, agent, t)`` are compiled and called at every step; they
    may use ``agent.settings`` and ``agent.rng``. ``s`` is a row of numbers and ``t`` a
    :class:`~distinguo.learners.driver.Transition`; the next step overwrites both. ``end_trial(self, agent)`` is
    optional. See examples/own_learner.py.
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
        """Call ``fresh`` of the declared class, and check the memory."""
        memory = call_user_code(f"The learner '{self.name}'", self.declared.fresh, setup)
        self._check(memory, setup.actions)
        return memory

    def _check(self, memory: Any, actions: int) -> None:
        """Raise an error unless the action values have a row for every region, which compiled code relies on."""
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

    def runs_compiled(self, memory: Any) -> bool:
        """Whether compiled code can use its partition."""
        return is_compiled(self.declared.controller(memory).partition)

    def begin(self, agent: Agent) -> None:
        """Begin a trial."""
        self._call(super().begin, agent)

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Drive the trial."""
        ended: int = self._call(super().advance, agent, cap, steps)
        return ended

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Let the learner learn from the whole trial."""
        self._call(super().settle, agent)

    def _call(self, drive: Callable[..., Any], *arguments: Any) -> Any:
        """Drive a trial; report code that cannot be compiled in one sentence."""
        try:
            return drive(*arguments)
        except NumbaError as error:
            raise DistinguoError(
                f"The learner '{self.name}' cannot be compiled: {numba_reason(error)}; write arrays element by "
                "element, and call only functions marked with distinguo.part."
            ) from None

    def controller(self, memory: Any, settings: Any) -> Controller:
        """The controller that the declared class returns."""
        made: Controller = memory.controller()
        return made
