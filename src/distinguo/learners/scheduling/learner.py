"""The paper's learner under a scheduler of choice, as the stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import NO_BUDGET, Agent
from distinguo.learners.economy.learner import Economy
from distinguo.learners.economy.memory import Memory
from distinguo.learners.economy.values import current_epsilon
from distinguo.learners.learner import Setup, register
from distinguo.learners.scheduling.agenda import forget_states, fresh_agenda
from distinguo.learners.scheduling.settings import ScheduledSettings, without_scheduler


class Scheduled(Economy):
    """The learner of Figures 1-6 with its replacing-stack exchanged for another way to choose what to investigate.

    Under the scheduler ``stack`` it learns what ``economy`` does, bit for bit.
    """

    name = "scheduled"
    about = "the paper's learner with another order of investigations"
    settings: Any = ScheduledSettings

    def fresh(self, setup: Setup) -> Memory:
        """Begin as the paper's learner does, with an empty agenda."""
        if not setup.restorable:
            raise DistinguoError(
                "The learner 'scheduled' investigates earlier states, and this task cannot come back to them; take "
                "the learner model."
            )
        settings = setup.settings
        memory = super().fresh(setup._replace(settings=without_scheduler(settings)))
        (room, actions), width = memory.q.shape, memory.states.shape[1]
        return memory._replace(
            agenda=fresh_agenda(settings.scheduler, room, actions, width, settings.investigations)
        )

    def begin(self, agent: Agent) -> None:
        """Begin a trial."""
        super().begin(_told(agent))

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Figure 1, step by step."""
        return super().advance(_told(agent), cap, steps, left)

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Figure 2, in the order of the scheduler."""
        super().settle(_told(agent), left)

    def controller(self, memory: Memory, settings: Any) -> Controller:
        """Act by the action values of the regions."""
        return super().controller(memory, without_scheduler(settings))

    def figures(self, memory: Memory, settings: Any) -> Mapping[str, Any]:
        """Return the epsilon in force; for rout also how many hunts ended in a cycle."""
        figures: dict[str, Any] = {"epsilon": float(current_epsilon(memory, without_scheduler(settings)))}
        if settings.scheduler == "rout":
            figures["cycles"] = int(memory.agenda.counters["cycles"][0])
        return figures

    def states_needed(self, memory: Memory) -> np.ndarray:
        """Return the states of prototypes, on the stack and on the agenda."""
        agenda = memory.agenda
        return np.concatenate([super().states_needed(memory), agenda.state[agenda.seen_at > 0]])

    def forget_running(self, memory: Memory) -> None:
        """Empty the stack and the agenda."""
        super().forget_running(memory)
        forget_states(memory.agenda)


def _told(agent: Agent) -> Agent:
    return agent._replace(settings=without_scheduler(agent.settings))


SCHEDULED = Scheduled.name

register(Scheduled())
