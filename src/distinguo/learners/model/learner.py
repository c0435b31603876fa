"""The learner by a learned model as the stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import NO_BUDGET, Agent, Progress, fresh_progress, widen
from distinguo.learners.driver import first_action, get_action, locate, look_back, pauses
from distinguo.learners.economy.learner import ENTRIES, FIRST_ROOM, learn_step, time_to_pause
from distinguo.learners.economy.memory import (
    Log,
    Memory,
    current_epsilon,
    drain,
    forget_stack,
    fresh_log,
    fresh_memory,
)
from distinguo.learners.learner import Learner, Setup, register
from distinguo.learners.model.model import (
    STACK,
    ModelMemory,
    ModelSettings,
    checked_model_memory,
    economy_settings,
    memory_with_room,
    model_in,
)
from distinguo.learners.model.store import fresh_store, keep_tuple, organise, remember_start, with_empty_lists
from distinguo.presets import NEVER_ENDING
from distinguo.references import by_reference
from distinguo.registry import SCHEDULERS, added, load_added
from distinguo.representations.growing import growing_voronoi, nearest, primary_rows, region, settled
from distinguo.seam import implements, kernel, part
from distinguo.settings import LearnerSettings
from distinguo.tasks.extent import Extent
from distinguo.tasks.world import AFTER, BEFORE, NEXT, OWN, begin, knows, look, step

# Trials in the world, in which every step is remembered, and what is done in the model between them.
#
# The learner only knows observations: these surprise, and these are pushed on the stack.


LONGEST_REHEARSAL = 500  #: steps of a trial in the model


@part
def inner(memory: ModelMemory, agent: Agent) -> Agent:
    """The paper's learner within the one by a model."""
    return Agent(agent.world, memory.economy, agent.settings, agent.progress, agent.log, agent.rng)


@implements(locate, ModelMemory)
def _nearest_prototype(memory: ModelMemory, agent: Agent, s: np.ndarray) -> int:
    return nearest(memory.economy.partition, look(agent.world, s, BEFORE).seen)


@implements(first_action, ModelMemory)
def _first_action(memory: ModelMemory, agent: Agent, s: np.ndarray, p: int) -> int:
    seen = look(agent.world, s, BEFORE).seen
    remember_start(memory.store, seen)
    j = memory.economy.partition.primary[p]
    return first_action(memory.economy, inner(memory, agent), seen, j)


@implements(get_action, ModelMemory)
def _remember_and_act(
    memory: ModelMemory,
    agent: Agent,
    s: np.ndarray,
    p: int,
    a: int,
    r: float,
    s_next: np.ndarray,
    terminal: bool,
) -> tuple[int, int]:
    """Keep the tuple, then do as Figure 1 does."""
    partition = memory.economy.partition
    seen, seen_next = look(agent.world, s, BEFORE).seen, look(agent.world, s_next, AFTER).seen
    keep_tuple(memory.store, p, seen, a, r, seen_next, terminal)
    p_next = nearest(partition, seen_next)
    j, k = partition.primary[p], partition.primary[p_next]
    a_next = learn_step(memory.economy, inner(memory, agent), seen, j, a, r, k, terminal)
    if agent.settings.rescale:
        widen(agent.progress, seen_next)
    return a_next, p_next


@implements(pauses, ModelMemory)
def _pauses(memory: ModelMemory, agent: Agent, length: int) -> bool:
    return time_to_pause(memory.economy, agent, length)


@part
def rehearse_trial(agent: Agent) -> None:
    """Run a trial in the model from a remembered start, until it ends or the model cannot answer.

    The learner learns from it as from a trial in the world, except where the model has no answer.
    """
    model, memory = agent.world, agent.memory
    s, s_next = model.spare[OWN], model.spare[NEXT]
    begin(model, agent.rng, s)
    j = region(memory.partition, s)
    a = first_action(memory, agent, s, j)
    for _ in range(LONGEST_REHEARSAL):
        r, terminal = step(model, s, a, s_next)
        if not knows(model, s_next):
            return
        k = region(memory.partition, s_next)
        a = learn_step(memory, agent, s, j, a, r, k, terminal)
        if terminal:
            return
        s, s_next, j = s_next, s, k


@part
def has_room(agent: Agent) -> bool:
    """Whether the map and the log have room for another session."""
    size = agent.memory.partition.size[0]
    return 2 * size + 2 <= len(agent.memory.q) and agent.log.size[0] + 2 * ENTRIES * size <= len(
        agent.log.regret
    )


@kernel
def settle_in_model(
    model: Any,
    memory: Any,
    settings: LearnerSettings,
    progress: Progress,
    log: Log,
    rng: Generator,
    rehearsals: int,
) -> None:
    """Process the stack by questions to the model, then rehearse: trials in the model, each with its own session."""
    agent = by_reference(Agent(model, memory, settings, progress, log, rng))
    look_back(agent.memory, agent, NO_BUDGET)
    for _ in range(rehearsals):
        if has_room(agent):
            rehearse_trial(agent)
            look_back(agent.memory, agent, NO_BUDGET)


#: The settings for tasks judged by return, whose rewards and bounds may be anything (docs/readings.md).
BY_RETURN: Mapping[str, Any] = {
    "learner.epsilon_share": 0.05,
    "learner.optimistic": True,
    "learner.rescale": True,
}


class ByModel(Learner):
    """The paper's learner, investigating in a model of its own experience: no state is ever restored."""

    name = "model"
    about = "the paper's learner, investigating in a model of its experience: no resets"
    settings = ModelSettings
    #: Experience outlives an attempt, and rehearsals take no steps: a new attempt is cheap.
    suggested: Mapping[str, Any] = {**NEVER_ENDING, "stage.restart": 12}
    suggested_by_return = BY_RETURN

    def fresh(self, setup: Setup) -> ModelMemory:
        """Begin with one prototype at the first observation, or with those given, and with no experience."""
        if setup.categories:
            raise DistinguoError(
                "The learner 'model' measures the distance between states, but this task observes "
                "categories; take the learner sweeping."
            )
        rows = setup.prototypes or (setup.seen,)
        partition = growing_voronoi(rows, setup.extent.widths, FIRST_ROOM)
        economy = _scheduled(fresh_memory(partition, setup.actions), setup.settings)
        economy.states[: len(rows)] = rows
        if setup.settings.optimistic:
            economy.q[: len(rows)] = max(setup.mean_reward, 0.0) / (1.0 - setup.settings.gamma)
        store = fresh_store(setup.settings.capacity, len(economy.q), setup.actions, len(setup.seen))
        return _organised(ModelMemory(economy, store), setup.settings)

    def begin_again(self, setup: Setup, memory: ModelMemory) -> ModelMemory:
        """Begin with one prototype again, but keep all experience: the world has not changed."""
        economy = self.fresh(setup).economy
        store = with_empty_lists(memory.store, len(economy.q))
        return _organised(ModelMemory(economy, store), setup.settings)

    def kernel_settings(self, settings: ModelSettings, memory: Any = None) -> LearnerSettings:
        """The settings of the paper's learner; they depend on whether a trial has ever ended."""
        return economy_settings(settings, memory is None or bool(memory.store.counters["ends"][0]))

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Figure 2, by questions to the model."""
        memory, now = agent.memory, agent.progress
        model = model_in(memory, agent.settings)
        progress = fresh_progress(model.spare.shape[1], model.spare.shape[1])
        for name in ("trials", "trial_steps"):
            progress.counts[name] = now.counts[name]
        inner = Agent(
            model,
            memory.economy,
            self.kernel_settings(agent.settings, memory),
            progress,
            agent.log,
            agent.rng,
        )
        rehearsals = agent.settings.rehearsals if memory.store.counters["ends"][0] else 0
        settle_in_model(*inner, rehearsals)

    def controller(self, memory: ModelMemory, settings: ModelSettings) -> Controller:
        """Act by the action values of the regions."""
        partition = memory.economy.partition
        return Controller(settled(partition), memory.economy.q[primary_rows(partition)])

    def prepared(self, agent: Agent, extent: Extent | None) -> Agent:
        """Make room, and reassign the tuples if prototypes were added or distances were rescaled."""
        memory = memory_with_room(agent.memory)
        partition = memory.economy.partition
        if extent is not None and agent.settings.rescale:
            partition.scale[:] = extent.widths
            partition.weight[:] = 1.0 / partition.scale
        small = len(agent.log.regret) < ENTRIES * len(memory.economy.q)
        log = self.fresh_log(memory) if small else agent.log
        return agent._replace(memory=_organised(memory, agent.settings), log=log)

    def fresh_log(self, memory: ModelMemory) -> Log:
        """Return an empty log with room for a session."""
        return fresh_log(ENTRIES * len(memory.economy.q), memory.economy.q.shape[1])

    def reasons(self, agent: Agent) -> list[dict[str, Any]]:
        """The splits, merges and detachments, with reasons; questions to the model take no steps."""
        steps = int(agent.progress.counts["trial_steps"][0])
        return [{**entry, "step": steps} for entry in drain(agent.log, agent.memory.economy.partition)]

    def values(self, memory: ModelMemory) -> Mapping[str, np.ndarray]:
        """How often each action value was updated."""
        return {"updates": memory.economy.updates[primary_rows(memory.economy.partition)]}

    def figures(self, memory: ModelMemory, settings: ModelSettings) -> Mapping[str, Any]:
        """Return the epsilon in force, the size of the store, and the questions to the model."""
        counters = memory.store.counters[0]
        return {
            "epsilon": float(current_epsilon(memory.economy, self.kernel_settings(settings))),
            "tuples_kept": int(counters["size"]),
            "tuples_experienced": int(counters["experienced"]),
            "model_queries": int(counters["queries"]),
            "model_unknown": int(counters["unknown"]),
        }

    def is_time_to_settle(self, settings: ModelSettings, length: int) -> bool:
        """Section 5.1: whether an investigation is due within a trial."""
        return settings.investigate_every > 0 and length % settings.investigate_every == 0

    def needs_mean_reward(self, settings: ModelSettings) -> bool:
        """Optimistic values begin at what the mean reward is worth for ever."""
        return settings.optimistic

    def forget_running(self, memory: ModelMemory) -> None:
        """Empty the stack."""
        forget_stack(memory.economy)

    def checked(self, memory: ModelMemory, fresh: ModelMemory) -> ModelMemory:
        """Check a memory from a file, which may have more room than a fresh one."""
        return checked_model_memory(memory, fresh)


def _scheduled(memory: Memory, settings: ModelSettings) -> Any:
    """The memory of the paper's learner or, with another scheduler, the one that its package makes."""
    name, investigations = settings.scheduler, settings.investigations
    if name == STACK and investigations == 0:
        return memory
    if name not in added(SCHEDULERS):
        raise DistinguoError(
            f"No installed package offers the scheduler '{name}'; reinstall distinguo, which includes it, or leave "
            "learner.scheduler and learner.investigations as they are by default."
        )
    return load_added(SCHEDULERS, name)(memory, name, investigations)


def _organised(memory: ModelMemory, settings: ModelSettings) -> ModelMemory:
    organise(model_in(memory, settings))
    return memory


MODEL = ByModel.name

register(ByModel())
