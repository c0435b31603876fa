"""The paper's learner as the stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import NO_BUDGET, Agent
from distinguo.learners.economy.memory import Memory, checked_memory, fresh_memory, with_room
from distinguo.learners.economy.reasons import Log, drain, fresh_log
from distinguo.learners.economy.trials import advance, begin, settle
from distinguo.learners.economy.values import current_epsilon
from distinguo.learners.learner import Learner, Setup, register
from distinguo.representations.growing import growing_categories, growing_voronoi, primary_rows, settled
from distinguo.seam import at_speed
from distinguo.settings import LearnerSettings
from distinguo.tasks.extent import Extent

FIRST_ROOM = 64  #: prototypes that there is room for in the beginning
#: Entries of the log per prototype: a region is popped once in a session, so it is split and detached at most once,
#: and every merge undoes one of the regions there were or that a split or detachment made.
ENTRIES = 5


class Economy(Learner):
    """The learner of Figures 1-6."""

    name = "economy"
    about = "the paper's learner: splits a region where a difference costs reward"
    settings: Any = LearnerSettings

    def fresh(self, setup: Setup) -> Memory:
        """Begin from scratch, with one prototype at the first state, or from the prototypes that were given."""
        _check_restorable(setup)
        rows = setup.prototypes or (setup.seen,)
        if setup.prototypes and len(setup.first) != len(rows[0]):
            raise DistinguoError(
                "The task cannot start from given prototypes: its states cannot be told from observations; start "
                "from scratch."
            )
        partition: Any = (
            growing_categories(rows, FIRST_ROOM)
            if setup.categories
            else growing_voronoi(rows, setup.extent.widths, FIRST_ROOM)
        )
        memory = fresh_memory(partition, setup.actions, len(setup.first))
        memory.states[: len(rows)] = setup.prototypes or (setup.first,)
        if setup.settings.optimistic:
            memory.q[: len(rows)] = max(setup.mean_reward, 0.0) / (1.0 - setup.settings.gamma)
        return memory

    def begin(self, agent: Agent) -> None:
        """Begin a trial."""
        at_speed(begin, agent.task)(*agent)

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Figure 1, step by step."""
        ended: int = at_speed(advance, agent.task)(*agent, cap, steps)
        return ended

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Figure 2."""
        at_speed(settle, agent.task)(*agent, left)

    def controller(self, memory: Memory, settings: LearnerSettings) -> Controller:
        """Act by the action values of the regions."""
        partition = memory.partition
        return Controller(settled(partition), memory.q[primary_rows(partition)], settings.delta)

    def prepared(self, agent: Agent, extent: Extent | None) -> Agent:
        """Make room: a session pops at most one state per region and adds at most one prototype for each."""
        memory = with_room(agent.memory, 2 * int(agent.memory.partition.size[0]) + 2)
        if extent is not None and agent.settings.rescale:
            memory.partition.scale[:] = extent.widths
            memory.partition.weight[:] = 1.0 / memory.partition.scale
        small = len(agent.log.regret) < ENTRIES * len(memory.q)
        return agent._replace(memory=memory, log=self.fresh_log(memory) if small else agent.log)

    def fresh_log(self, memory: Memory) -> Log:
        """Return an empty log with room for a session."""
        return fresh_log(ENTRIES * len(memory.q), memory.q.shape[1])

    def reasons(self, agent: Agent) -> list[dict[str, Any]]:
        """Return what was split, merged and detached, and why."""
        return drain(agent.log, agent.memory.partition)

    def values(self, memory: Memory) -> Mapping[str, np.ndarray]:
        """Return how often each action value was updated."""
        return {"updates": memory.updates[primary_rows(memory.partition)]}

    def figures(self, memory: Memory, settings: LearnerSettings) -> Mapping[str, Any]:
        """Return the epsilon in force: as given, or the present share of what was found."""
        return {"epsilon": float(current_epsilon(memory, settings))}

    def states_needed(self, memory: Memory) -> np.ndarray | None:
        """Return the states of prototypes and on the stack."""
        size = int(memory.partition.size[0])
        stacked = memory.stacked[:size][memory.pushed_at[:size] > 0]
        return np.concatenate([memory.states[:size], stacked])

    def forget_running(self, memory: Memory) -> None:
        """Empty the stack."""
        memory.pushed_at[:] = 0

    def checked(self, memory: Memory, fresh: Memory) -> Memory:
        """Check a memory from a file, which may have more room than a fresh one."""
        same = memory.q.shape[1] == fresh.q.shape[1] and memory.states.shape[1] == fresh.states.shape[1]
        if not same or memory.partition.prototypes.shape[1] != fresh.partition.prototypes.shape[1]:
            raise ValueError("an array has an unexpected shape")
        return with_room(checked_memory(memory), 2 * int(memory.partition.size[0]) + 2)


def _check_restorable(setup: Setup) -> None:
    """Refuse to investigate states that nobody can come back to."""
    if setup.settings.active and not setup.restorable:
        raise DistinguoError(
            "The learner 'economy' investigates states by coming back to them, and the states of this task cannot be "
            "restored; take --learner surprise or --learner model, which need only trials, or leave "
            "learner.active=true out."
        )


ECONOMY = Economy.name

register(Economy())
