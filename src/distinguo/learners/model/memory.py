"""What the learner by a model remembers: all that the paper's learner does, and its experience."""

from __future__ import annotations

from typing import Any, NamedTuple

from distinguo.learners.economy.memory import checked_memory, with_room
from distinguo.learners.model.model import LearnedModel, model_of
from distinguo.learners.model.settings import ModelSettings
from distinguo.learners.model.store import Store, checked_store, store_with_room


class ModelMemory(NamedTuple):
    """The map with its values, whose states are observations, and the store that the model asks."""

    economy: Any  #: the paper's ``Memory``, or what a scheduler makes of it
    store: Store


def model_in(memory: ModelMemory, settings: ModelSettings) -> LearnedModel:
    """Return the model that a memory holds."""
    return model_of(
        memory.store, memory.economy.partition, settings.neighbours, settings.reach, settings.linear
    )


def memory_with_room(memory: ModelMemory) -> ModelMemory:
    """Return the memory with room for what one session may add: a prototype for every region."""
    economy = with_room(memory.economy, 2 * int(memory.economy.partition.size[0]) + 2)
    return ModelMemory(economy, store_with_room(memory.store, len(economy.q)))


def checked_model_memory(memory: ModelMemory, fresh: ModelMemory) -> ModelMemory:
    """Return a memory that came from a file if compiled code can trust it, else raise ``ValueError``."""
    economy, store = memory.economy, memory.store
    same = economy.q.shape[1:] == fresh.economy.q.shape[1:] and store.before.shape == fresh.store.before.shape
    if not same or economy.states.shape[1] != fresh.economy.states.shape[1]:
        raise ValueError("an array has an unexpected shape")
    if store.kept.shape != economy.q.shape or economy.partition.prototypes.shape[1] != store.before.shape[1]:
        raise ValueError("the store is not that of the map")
    return memory_with_room(ModelMemory(checked_memory(economy), checked_store(store)))
