"""The learner on a fixed table as the stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.learner import Learner, Setup, register
from distinguo.representations.boxes import grid
from distinguo.settings import Alpha, Coin, EnoughSamples, Explore, Gamma, Investigations, MaxSteps
from distinguo_lab.learners.scheduling.agenda import code_of, forget_states
from distinguo_lab.learners.table.memory import TableMemory, check_table, fresh_table
from distinguo_lab.learners.table.trials import PASSIVE

MOST_REGIONS = 100_000  #: of a table; the agenda has some two hundred bytes for each


class TableSettings(NamedTuple):
    """The constants of the learner ``table``.

    >>> TableSettings().scheduler
    'stack'
    """

    scheduler: Annotated[
        Literal["none", "stack", "sweeping", "dyna", "dyna-oldest", "rout"],
        Field(
            description="what drives investigation: stack, sweeping, dyna, dyna-oldest or rout; none for plain "
            "Q-learning; paper, sections 5.3 and 5.4"
        ),
    ] = "stack"
    counts: Annotated[int, Field(ge=1, le=10_000, description="intervals per coordinate; ours")] = 10
    gamma: Gamma = 0.99
    alpha: Alpha = 0.1
    epsilon: Annotated[
        float, Field(gt=0, allow_inf_nan=False, description="error of a value that is surprising; ours")
    ] = 0.01
    min_updates: Annotated[
        int,
        Field(ge=0, le=10**9, description="MIN_UPDATES, 0 to back up from any region; the paper has 3"),
    ] = 0
    enough_samples: EnoughSamples = 3
    max_steps: MaxSteps = 50
    coin: Coin = 0.001
    explore: Explore = 0.0
    investigations: Investigations = 0
    simulations: Annotated[
        int, Field(ge=1, le=10**6, description="of each action in a hunt of rout; ours")
    ] = 1
    horizon: Annotated[
        int, Field(ge=1, le=10**9, description="steps of a simulation of rout, at most; ours")
    ] = 1000


class Table(Learner):
    """A grid that never changes: only its values are learned; a scheduler decides which of them are backed up.

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
                "The learner 'table' cuts numbers into intervals, and this task observes categories; take the "
                "learner sweeping."
            )
        if setup.prototypes:
            raise DistinguoError("The learner 'table' has a fixed grid and takes no prototypes; omit them.")
        if scheduler != "none" and not setup.restorable:
            raise DistinguoError(
                f"The scheduler '{scheduler}' investigates earlier states, and this task cannot restore them; "
                "take learner.scheduler=none, or the learner model."
            )
        regions = setup.settings.counts ** len(setup.seen)
        if regions > MOST_REGIONS:
            raise DistinguoError(
                f"A table has at most {MOST_REGIONS:,} regions, and learner.counts={setup.settings.counts} makes "
                f"{regions:,} of {len(setup.seen)} coordinates; take fewer."
            )

    def kernel_settings(self, settings: Any, memory: Any = None) -> Any:
        """The settings with the scheduler as a number, as compiled code knows it."""
        name = settings.scheduler
        return settings._replace(scheduler=PASSIVE if name == "none" else code_of(name))

    def controller(self, memory: TableMemory, settings: TableSettings) -> Controller:
        """Act by the table."""
        return Controller(memory.partition, memory.q)

    def values(self, memory: TableMemory) -> Mapping[str, np.ndarray]:
        """How often each action value was updated."""
        return {"updates": memory.updates}

    def figures(self, memory: TableMemory, settings: TableSettings) -> Mapping[str, Any]:
        """The backups of values, in all and before the last trial, and the number of investigations.

        For ``rout`` also how many regions are settled, and how many searches ended in a cycle.
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
        """The state that stands for each region that was seen."""
        states: np.ndarray = memory.agenda.state[memory.agenda.seen_at > 0]
        return states

    def forget_running(self, memory: TableMemory) -> None:
        """Empty the agenda, states included."""
        forget_states(memory.agenda)

    def checked(self, memory: TableMemory, fresh: TableMemory) -> TableMemory:
        """Check a memory from a file."""
        check_table(memory, fresh)
        return memory


TABLE = Table.name

register(Table())
