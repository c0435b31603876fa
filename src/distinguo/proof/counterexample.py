"""How a controller fails: one greedy trial, step by step, with its last states."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller, choose, region_at
from distinguo.tasks.task import State, start, transition

SHOWN = 10  #: states before the last that are kept


class GreedyTrial(NamedTuple):
    """A simulated trial: its steps, whether it ended in a terminal state, and its last states."""

    steps: int
    ended: bool
    states: list[list[float]]

    def as_json(self) -> dict[str, Any]:
        """Return the trial as the command line prints it."""
        return {"steps": self.steps, "states": self.states}

    @property
    def place(self) -> str:
        """Say where the trial was last.

        >>> GreedyTrial(2, True, [[0.0, 1.0], [2.5, 1.25]]).place
        '(2.500, 1.250)'
        """
        return "(" + ", ".join(f"{number:.3f}" for number in self.states[-1]) + ")"


def greedy_trial(
    task: Any, controller: Controller, seed: int, cap: int, first: State | None = None
) -> GreedyTrial:
    """Follow the greedy policy from a state, or from a start of the task, for at most ``cap`` steps.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> always_left = Controller(voronoi([[0.0, 0.0]], [4.8, 11.0]), np.array([[0.0, -1.0]]))
    >>> greedy_trial(Puck(), always_left, seed=0, cap=1000).steps
    54
    """
    rng = np.random.default_rng(seed)
    s = start(task, rng) if first is None else first
    states = [_plain(s)]
    for step in range(cap):
        a = choose(controller.q[region_at(task, controller.partition, s)], controller.delta, rng)
        s, _, terminal = transition(task, s, a)
        states = [*states[-SHOWN:], _plain(s)]
        if terminal:
            return GreedyTrial(step + 1, True, states)
    return GreedyTrial(cap, False, states)


def _plain(s: State) -> list[float]:
    return [float(number) for number in s]
