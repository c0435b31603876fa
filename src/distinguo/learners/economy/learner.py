"""The paper's learner, as the driver of trials and the stage see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import Agent, widen
from distinguo.learners.driver import first_action, get_action, locate, look_back, pauses
from distinguo.learners.economy import figures
from distinguo.learners.economy.amounts import (
    RangeMemory,
    fresh_bracket,
    refine_bracket,
    sampled_laws,
    take_the_figures,
    with_bracket,
)
from distinguo.learners.economy.memory import (
    Log,
    Memory,
    checked_memory,
    current_epsilon,
    drain,
    forget_stack,
    fresh_log,
    fresh_memory,
    with_room,
)
from distinguo.learners.economy.passive import (
    PassiveSettings,
    consolidate_by_values,
    get_action_passively,
)
from distinguo.learners.learner import Learner, Setup, register
from distinguo.representations.growing import (
    growing_categories,
    growing_voronoi,
    primary_rows,
    region,
    settled,
)
from distinguo.seam import generic, generic_with_default, implements, part
from distinguo.settings import LearnerSettings
from distinguo.tasks.amounts import MOST_LAWS
from distinguo.tasks.extent import Extent
from distinguo.tasks.world import AFTER, BEFORE, look

FIRST_ROOM = 64  #: room for prototypes at first
#: Entries of the log per prototype: a region is popped once in a session, so it is split and detached at most once,
#: and every merge undoes one of the regions there were or that a split or detachment made.
ENTRIES = 5


@implements(locate, Memory)
@part
def region_of_state(memory: Memory, agent: Agent, s: np.ndarray) -> int:
    """The region of a state."""
    return region(memory.partition, look(agent.world, s, BEFORE).seen)


@implements(first_action, Memory)
@part
def begin_in_region(memory: Memory, agent: Agent, s: np.ndarray, j: int) -> int:
    """Choose by the current policy."""
    return figures.next_action(agent, j)


@generic
def step_of_form(
    settings: Any, agent: Agent, s: np.ndarray, j: int, a: int, r: float, k: int, terminal: bool
) -> int:
    """Figure 1, or its non-active form: the class of the settings decides, so that only one is compiled."""
    raise NotImplementedError


@generic
def end_of_form(settings: Any, agent: Agent, left: int) -> None:
    """Figure 2, or the counterpart of the non-active form at the end of a trial."""
    raise NotImplementedError


@implements(step_of_form, LearnerSettings)
def _active_step(
    settings: Any, agent: Agent, s: np.ndarray, j: int, a: int, r: float, k: int, terminal: bool
) -> int:
    return figures.get_action(agent, s, j, a, r, k, terminal)


@implements(step_of_form, PassiveSettings)
def _passive_step(
    settings: Any, agent: Agent, s: np.ndarray, j: int, a: int, r: float, k: int, terminal: bool
) -> int:
    return get_action_passively(agent, s, j, a, r, k, terminal)


@implements(end_of_form, LearnerSettings)
def _active_end(settings: Any, agent: Agent, left: int) -> None:
    figures.process_stack(agent, left)


@implements(end_of_form, PassiveSettings)
def _passive_end(settings: Any, agent: Agent, left: int) -> None:
    consolidate_by_values(agent)


@generic_with_default
def learn_step(
    memory: Any, agent: Agent, s: np.ndarray, j: int, a: int, r: float, k: int, terminal: bool
) -> int:
    """Learn from a step between two regions and choose the next action; a scheduler's memory may do more."""
    return step_of_form(agent.settings, agent, s, j, a, r, k, terminal)


@implements(get_action, Memory)
@part
def learn_and_act(
    memory: Memory, agent: Agent, s: np.ndarray, j: int, a: int, r: float, s_next: np.ndarray, terminal: bool
) -> tuple[int, int]:
    """Figure 1 as the driver calls it."""
    settings = agent.settings
    k = region(memory.partition, look(agent.world, s_next, AFTER).seen)
    a_next = learn_step(memory, agent, s, j, a, r, k, terminal)
    if settings.rescale or not settings.active:
        seen = look(agent.world, s_next, AFTER).seen
        if settings.rescale:
            widen(agent.progress, seen)
        if not settings.active:  # a split may have changed the region
            k = region(memory.partition, seen)
    return a_next, k


@implements(pauses, Memory)
@part
def time_to_pause(memory: Memory, agent: Agent, length: int) -> bool:
    """Whether an investigation is due within a trial (section 5.1), or the room for prototypes is used up."""
    settings = agent.settings
    if settings.investigate_every > 0 and length % settings.investigate_every == 0:
        return True
    return not settings.active and memory.partition.size[0] >= len(memory.q)


@implements(look_back, Memory)
@part
def learn_from_trial(memory: Memory, agent: Agent, left: int) -> None:
    """Figure 2, or the counterpart of the non-active form in its place."""
    end_of_form(agent.settings, agent, left)


take_the_figures((region_of_state, begin_in_region, learn_and_act, time_to_pause, learn_from_trial))


class Economy(Learner):
    """The learner of Figures 1-6."""

    name = "economy"
    about = "the paper's learner: splits a region where a difference costs reward"
    settings: Any = LearnerSettings
    uses_amounts = True

    def fresh(self, setup: Setup) -> Memory:
        """Begin with one prototype at the first state, or with the given prototypes."""
        settings = self.kernel_settings(setup.settings)
        _check_restorable(settings.active, setup.restorable)
        rows = setup.prototypes or (setup.seen,)
        if setup.prototypes and len(setup.first) != len(rows[0]):
            raise DistinguoError(
                "The task cannot start from given prototypes: its states are not its observations; start "
                "from scratch."
            )
        partition: Any = (
            growing_categories(rows, FIRST_ROOM)
            if setup.categories
            else growing_voronoi(rows, setup.extent.widths, FIRST_ROOM)
        )
        bracket = None if setup.box is None else fresh_bracket(setup.box)
        actions = setup.actions if bracket is None else len(bracket.points)
        memory = fresh_memory(partition, actions, len(setup.first))
        memory.states[: len(rows)] = setup.prototypes or (setup.first,)
        if settings.optimistic:
            memory.q[: len(rows)] = max(setup.mean_reward, 0.0) / (1.0 - settings.gamma)
        return memory if bracket is None else with_bracket(memory, bracket)

    def kernel_settings(self, settings: Any, memory: Any = None) -> Any:
        """The settings, in the class for the active or the non-active form."""
        return settings if settings.active else PassiveSettings(*settings)

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
        if isinstance(memory, RangeMemory):
            memory = refine_bracket(memory, agent.settings)
        small = agent.log.profiles.shape[2] != memory.q.shape[1] or len(agent.log.regret) < ENTRIES * len(
            memory.q
        )
        return agent._replace(memory=memory, log=self.fresh_log(memory) if small else agent.log)

    def fresh_log(self, memory: Memory) -> Log:
        """Return an empty log with room for a session."""
        return fresh_log(ENTRIES * len(memory.q), memory.q.shape[1])

    def _in_kernels(self, agent: Agent) -> Agent:
        self.set_laws(agent)
        return super()._in_kernels(agent)

    def set_laws(self, agent: Agent) -> None:
        """Write the sampled amounts into the world, as laws without gains."""
        table = self.laws(agent.memory)
        if table is not None:
            agent.world.laws[: len(table)] = table

    def laws(self, memory: Any) -> np.ndarray | None:
        """The sampled amounts, where actions are amounts."""
        if not isinstance(memory, RangeMemory):
            return None
        return sampled_laws(memory, memory.partition.prototypes.shape[1])

    def most_actions(self, memory: Any) -> int | None:
        """How many amounts are sampled."""
        return memory.q.shape[1] if isinstance(memory, RangeMemory) else None

    def reasons(self, agent: Agent) -> list[dict[str, Any]]:
        """The splits, merges and detachments, with reasons."""
        return drain(agent.log, agent.memory.partition)

    def values(self, memory: Memory) -> Mapping[str, np.ndarray]:
        """How often each action value was updated."""
        return {"updates": memory.updates[primary_rows(memory.partition)]}

    def figures(self, memory: Memory, settings: LearnerSettings) -> Mapping[str, Any]:
        """Return the epsilon in force: as given, or as a share of the range so far."""
        return {"epsilon": float(current_epsilon(memory, self.kernel_settings(settings)))}

    def is_time_to_settle(self, settings: Any, length: int) -> bool:
        """Section 5.1: whether an investigation is due within a trial."""
        every: int = self.kernel_settings(settings).investigate_every
        return every > 0 and length % every == 0

    def needs_mean_reward(self, settings: Any) -> bool:
        """Optimistic values begin at what the mean reward is worth for ever."""
        return bool(settings.optimistic)

    def states_needed(self, memory: Memory) -> np.ndarray | None:
        """Return the states of prototypes and on the stack."""
        size = int(memory.partition.size[0])
        stacked = memory.stacked[:size][memory.pushed_at[:size] > 0]
        return np.concatenate([memory.states[:size], stacked])

    def forget_running(self, memory: Memory) -> None:
        """Empty the stack."""
        forget_stack(memory)

    def checked(self, memory: Memory, fresh: Memory) -> Memory:
        """Check a memory from a file, which may have more room than a fresh one."""
        known = isinstance(memory, RangeMemory) and memory.q.shape[1] <= MOST_LAWS
        same = (known or memory.q.shape[1] == fresh.q.shape[1]) and memory.states.shape[
            1
        ] == fresh.states.shape[1]
        if not same or memory.partition.prototypes.shape[1] != fresh.partition.prototypes.shape[1]:
            raise ValueError("an array has an unexpected shape")
        return with_room(checked_memory(memory), 2 * int(memory.partition.size[0]) + 2)


def _check_restorable(active: bool, restorable: bool) -> None:
    """Raise an error if states would be investigated that cannot be restored."""
    if active and not restorable:
        raise DistinguoError(
            "The learner 'economy' investigates states by restoring them, and the states of this task cannot be "
            "restored; take --learner surprise or --learner model, which need only trials, or leave "
            "learner.active=true out."
        )


ECONOMY = Economy.name

register(Economy())
