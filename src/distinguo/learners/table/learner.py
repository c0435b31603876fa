"""The learner on a fixed table as the stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import NO_BUDGET, Agent
from distinguo.learners.learner import Learner, Setup, register
from distinguo.learners.scheduling.agenda import forget_states
from distinguo.learners.scheduling.kinds import code_of
from distinguo.learners.table.memory import TableMemory, check_table, fresh_table
from distinguo.learners.table.settings import TableSettings
from distinguo.learners.table.trials import PASSIVE, advance_table, begin_table_trial, settle_table
from distinguo.representations.boxes import grid
from distinguo.seam import at_speed

MOST_REGIONS = 100_000  #: of a table; the agenda has some two hundred bytes for each


class Table(Learner):
    """The same grid for ever: what is learned is its values, and what differs is which of them are backed up.

    >>> from distinguo.runs.learn import learn
    >>> run = learn("puck", seed=1, learner="table", settings={"learner.scheduler": "stack"})
    >>> run.summary["solved"], run.summary["regions"]
    (True, 100)
    """

    name = "table"
    about = "Q-learning on a fixed grid"
    settings = TableSettings
    suggested: Mapping[str, Any] = {"stage.restart": 0, "stage.prototypes": 10**6, "stage.trials": 10_000}

    def fresh(self, setup: Setup) -> TableMemory:
        """Cut the extent of the observations into equal intervals."""
        scheduler = setup.settings.scheduler
        self._refuse(setup, scheduler)
        counts = [setup.settings.counts] * len(setup.seen)
        partition = grid(counts, setup.low, setup.high)
        return fresh_table(
            partition, setup.actions, len(setup.first), "stack" if scheduler == "none" else scheduler
        )

    def _refuse(self, setup: Setup, scheduler: str) -> None:
        if setup.categories:
            raise DistinguoError(
                "The learner 'table' cuts amounts into intervals, and this task observes categories; take the "
                "learner sweeping."
            )
        if setup.prototypes:
            raise DistinguoError(
                "The learner 'table' has a fixed grid and cannot begin from prototypes; leave them out."
            )
        if scheduler != "none" and not setup.restorable:
            raise DistinguoError(
                f"The scheduler '{scheduler}' investigates earlier states, and this task cannot come back to them; "
                "take learner.scheduler=none, or the learner model."
            )
        regions = setup.settings.counts ** len(setup.seen)
        if regions > MOST_REGIONS:
            raise DistinguoError(
                f"A table has at most {MOST_REGIONS:,} regions, and learner.counts={setup.settings.counts} makes "
                f"{regions:,} of {len(setup.seen)} coordinates; take fewer."
            )

    def begin(self, agent: Agent) -> None:
        """Begin a trial."""
        at_speed(begin_table_trial, agent.task)(*_with_code(agent))

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Figure 1, step by step, on regions that never change."""
        ended: int = at_speed(advance_table, agent.task)(*_with_code(agent), cap, steps)
        return ended

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Investigate, in the order of the scheduler."""
        if agent.settings.scheduler != "none":
            at_speed(settle_table, agent.task)(*_with_code(agent), left)

    def controller(self, memory: TableMemory, settings: TableSettings) -> Controller:
        """Act by the table."""
        return Controller(memory.partition, memory.q)

    def values(self, memory: TableMemory) -> Mapping[str, np.ndarray]:
        """Return how often each action value was updated."""
        return {"updates": memory.updates}

    def figures(self, memory: TableMemory, settings: TableSettings) -> Mapping[str, Any]:
        """Return how often action values were backed up, in all and before the last trial, and what was looked into.

        For ``rout`` also how many regions are settled, and how many hunts ended in a cycle.
        """
        counters = memory.counters[0]
        figures = {
            "backups": int(counters["backups"]),
            "backups_before_last": int(counters["earlier"]),
            "investigations": int(counters["investigations"]),
        }
        if settings.scheduler == "rout":
            figures["settled"] = int(memory.agenda.settled.sum())
            figures["cycles"] = int(memory.agenda.counters["cycles"][0])
        return figures

    def states_needed(self, memory: TableMemory) -> np.ndarray:
        """Return the state that stands for each region that was seen."""
        states: np.ndarray = memory.agenda.state[memory.agenda.seen_at > 0]
        return states

    def forget_running(self, memory: TableMemory) -> None:
        """Let nothing wait, and forget all states."""
        forget_states(memory.agenda)

    def checked(self, memory: TableMemory, fresh: TableMemory) -> TableMemory:
        """Check a memory from a file."""
        check_table(memory, fresh)
        return memory


def _with_code(agent: Agent) -> Agent:
    """Return the agent with its scheduler as a number, as compiled code knows it."""
    name = agent.settings.scheduler
    return agent._replace(
        settings=agent.settings._replace(scheduler=PASSIVE if name == "none" else code_of(name))
    )


TABLE = Table.name

register(Table())
