"""A map that is followed in its task, step by step, from any state: trials that say what an action is worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.controller import Controller, choose
from distinguo.learners.agent import NO_ACTION
from distinguo.learners.refinement.improvement import HELD
from distinguo.representations.partition import has_labels, region
from distinguo.tasks.task import Observation, State, observe, transition, truncated


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
        )  #: steps that an action is tried for; a step among labels is a whole move
        self._regions: dict[Observation, int] | None = {} if labels else None

    def region(self, s: State) -> int:
        """Return the region of a state; where there are few observations, each is looked up once."""
        seen = observe(self.task, s)
        if self._regions is None:
            return int(region(self.controller.partition, seen))
        if seen not in self._regions:
            self._regions[seen] = int(region(self.controller.partition, seen))
        return self._regions[seen]

    def action(self, j: int) -> int:
        """Return what is done in a region; of tied actions any."""
        return choose(self.controller.q[j], self.controller.delta, self.rng)

    def step(self, s: State, a: int) -> tuple[State, float, bool]:
        """Take an action: the next state, the reward, and whether the trial is over."""
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

    def way_to(self, s: State, seen: Observation, steps: int) -> State | None:
        """Return the first state from ``s`` on that looks exactly like this, if it comes within so many steps."""
        for _ in range(steps):
            if observe(self.task, s) == seen:
                return s
            s, _, over = self.step(s, self.action(self.region(s)))
            if over:
                return None
        return None
