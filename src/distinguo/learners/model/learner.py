"""The learner by a learned model as the stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import NO_BUDGET, Agent, fresh_progress
from distinguo.learners.economy.learner import ENTRIES, FIRST_ROOM
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
from distinguo.learners.model.memory import ModelMemory, checked_model_memory, memory_with_room, model_in
from distinguo.learners.model.settings import STACK, ModelSettings, economy_settings
from distinguo.learners.model.store import fresh_store, organise, with_empty_lists
from distinguo.learners.model.trials import settle_in_model
from distinguo.registry import SCHEDULERS, added, load_added
from distinguo.representations.growing import growing_voronoi, primary_rows, settled
from distinguo.settings import LearnerSettings
from distinguo.tasks.extent import Extent

#: What suits tasks that are judged by return, whose rewards and bounds may be anything (docs/readings.md).
BY_RETURN: Mapping[str, Any] = {
    "learner.epsilon_share": 0.05,
    "learner.optimistic": True,
    "learner.rescale": True,
}


class ByModel(Learner):
    """The paper's learner, which investigates in a model of its own experience: no state is ever set."""

    name = "model"
    about = "the paper's learner, investigating in a model of its experience: no resets"
    settings = ModelSettings
    #: What was experienced outlives an attempt, and rehearsals take no steps: a new one is cheap.
    suggested: Mapping[str, Any] = {"stage.restart": 12}
    suggested_by_return = BY_RETURN

    def fresh(self, setup: Setup) -> ModelMemory:
        """Begin with one prototype at the first observation, or with those given, and with no experience."""
        if setup.categories:
            raise DistinguoError(
                "The learner 'model' tells similar states by the distance of amounts, and this task observes "
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
        """What the paper's learner is told, which depends on whether a trial has ever ended."""
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
        """Make room, and share the tuples out again if prototypes were added or distances are scaled otherwise."""
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
        """Return what was split, merged and detached, and why; questions to the model take no steps."""
        steps = int(agent.progress.counts["trial_steps"][0])
        return [{**entry, "step": steps} for entry in drain(agent.log, agent.memory.economy.partition)]

    def values(self, memory: ModelMemory) -> Mapping[str, np.ndarray]:
        """Return how often each action value was updated."""
        return {"updates": memory.economy.updates[primary_rows(memory.economy.partition)]}

    def figures(self, memory: ModelMemory, settings: ModelSettings) -> Mapping[str, Any]:
        """Return the epsilon in force, what is kept, and what the model was asked."""
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
        """Optimism begins with what the mean reward would come to."""
        return settings.optimistic

    def forget_running(self, memory: ModelMemory) -> None:
        """Empty the stack."""
        forget_stack(memory.economy)

    def checked(self, memory: ModelMemory, fresh: ModelMemory) -> ModelMemory:
        """Check a memory from a file, which may have more room than a fresh one."""
        return checked_model_memory(memory, fresh)


def _scheduled(memory: Memory, settings: ModelSettings) -> Any:
    """The memory of the paper's learner or, under another scheduler than its stack, what a package makes of it."""
    name, investigations = settings.scheduler, settings.investigations
    if name == STACK and investigations == 0:
        return memory
    if name not in added(SCHEDULERS):
        raise DistinguoError(
            f"No installed package offers the scheduler '{name}'; reinstall distinguo, whose lab has it, or leave "
            "learner.scheduler and learner.investigations as they are by default."
        )
    return load_added(SCHEDULERS, name)(memory, name, investigations)


def _organised(memory: ModelMemory, settings: ModelSettings) -> ModelMemory:
    organise(model_in(memory, settings))
    return memory


MODEL = ByModel.name

register(ByModel())
