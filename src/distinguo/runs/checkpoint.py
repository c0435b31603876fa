"""The whole state of a generation stage as one file, for an exact resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from distinguo.errors import DistinguoError
from distinguo.learners.economy.memory import ACTION, Memory, fresh_memory, with_room
from distinguo.representation.prototypes import grown
from distinguo.representation.voronoi import voronoi
from distinguo.runs.configuration import Configuration
from distinguo.runs.files import pack_arrays, read_arrays, write_atomically
from distinguo.runs.restarts import Best
from distinguo.runs.stage import Generation, _log_for
from distinguo.tasks.task import memories, randomness, remember

VERSION = 2
_PLAIN = ("phase", "solved", "score", "confirmation_steps", "seconds", "returns", "held", "purpose")
_Count = Annotated[int, Field(ge=0)]


class _Facts(BaseModel):
    """What a checkpoint holds beside arrays."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    version: int
    phase: Literal["between trials", "trial", "holding", "confirming", "done"]
    solved: bool
    score: int | float
    returns: list[float] = []
    held: _Count = 0
    purpose: Literal["claim", "attempt over", "stage over"] = "claim"
    best: float | None = None
    confirmation_steps: _Count
    seconds: float
    rng: dict[str, Any]
    chance: dict[str, Any] | None = None  # the task's own generator
    sizes: dict[str, _Count]


def save(generation: Generation, path: Path, sizes: dict[str, int]) -> None:
    """Write a checkpoint; ``sizes`` are the bytes of the growing files that belong to it."""
    facts = {name: getattr(generation, name) for name in _PLAIN}
    facts |= {"version": VERSION, "rng": generation.rng.bit_generator.state, "sizes": sizes}
    chance = randomness(generation.task)
    facts["chance"] = None if chance is None else chance.bit_generator.state
    facts["best"] = None if generation.best is None else generation.best.score
    arrays = _written(generation.memory)
    if generation.best is not None:
        arrays |= {f"best.{name}": array for name, array in _written(generation.best.memory).items()}
    arrays |= {f"task.{k}": v for k, v in memories(generation.task, needed_states(generation.memory)).items()}
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    write_atomically(path, pack_arrays(arrays))


def _written(memory: Memory) -> dict[str, np.ndarray]:
    arrays = {f"memory.{name}": array for name, array in memory._asdict().items() if name != "partition"}
    return arrays | {f"partition.{name}": array for name, array in memory.partition._asdict().items()}


def needed_states(memory: Memory) -> np.ndarray:
    """Return the states that the learner may come back to: of prototypes, on the stack, and the running one."""
    size = int(memory.partition.size[0])
    stacked = memory.stacked[:size][memory.pushed_at[:size] > 0]
    return np.concatenate([memory.states[:size], stacked, memory.now[None]])


def load(path: Path, configuration: Configuration) -> tuple[Generation, dict[str, int]]:
    """Read a checkpoint of a run with this configuration."""
    arrays = read_arrays(path)
    generation = Generation(configuration)
    try:
        written = json.loads(arrays.pop("facts").tobytes())
        if written["version"] > VERSION:
            raise DistinguoError(f"{path} was written by a newer distinguo; upgrade to resume it.")
        facts = _Facts.model_validate(written)
        if facts.best is not None:
            best = {k.removeprefix("best."): v for k, v in arrays.items() if k.startswith("best.")}
            generation.best = Best(facts.best, _memory(best, generation.memory))
        generation.memory = _memory(_upgraded(arrays), generation.memory)
        generation.rng.bit_generator.state = facts.rng
        _restore_task(generation, facts, arrays)
    except DistinguoError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        why = " ".join(str(error).split())[:200]
        raise DistinguoError(f"{path} is damaged ({why}); delete it to learn from the start.") from None
    for name in _PLAIN:
        setattr(generation, name, getattr(facts, name))
    generation.log = _log_for(generation.memory)
    return generation, facts.sizes


def _upgraded(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Give a checkpoint of version 1 what it lacks: then states were observations, and chance was unknown."""
    if "memory.states" in arrays:
        return arrays
    prototypes, q = arrays["partition.prototypes"], arrays["memory.q"]
    fresh = fresh_memory(voronoi(prototypes, np.ones(prototypes.shape[1])), q.shape[1])
    added = {
        f"memory.{name}": getattr(fresh, name) for name in ("gained", "error", "seen", "extremes", "extent")
    }
    counters = np.zeros_like(fresh.counters)
    counters[: len(arrays["memory.counters"])] = arrays["memory.counters"]
    return {**arrays, **added, "memory.states": prototypes.copy(), "memory.counters": counters}


def _restore_task(generation: Generation, facts: _Facts, arrays: dict[str, np.ndarray]) -> None:
    chance = randomness(generation.task)
    if chance is not None and facts.chance is not None:
        chance.bit_generator.state = facts.chance
    remember(
        generation.task, {k.removeprefix("task."): v for k, v in arrays.items() if k.startswith("task.")}
    )


def _memory(arrays: dict[str, np.ndarray], like: Memory) -> Memory:
    """Rebuild the memory, with everything checked that could lead compiled code out of an array."""
    partition = like.partition._replace(
        **{name: arrays[f"partition.{name}"] for name in like.partition._fields}
    )
    rest = {name: arrays[f"memory.{name}"] for name in Memory._fields if name != "partition"}
    memory = Memory(partition=partition, **rest)
    room, actions = len(memory.q), like.q.shape[1]
    expected = fresh_memory(grown(like.partition, room), actions, len(like.now))
    for new, right in zip(_leaves(memory), _leaves(expected), strict=True):
        if new.dtype != right.dtype or new.shape != right.shape or not new.flags.c_contiguous:
            raise ValueError("an array has an unexpected shape or type")
    size = int(partition.size[0])
    primary = partition.primary[:size]
    if not 1 <= size <= room or not ((primary >= 0) & (primary < size)).all():
        raise ValueError("the prototypes are inconsistent")
    if not -1 <= memory.counters[ACTION] < actions:
        raise ValueError("the next action does not exist")
    return with_room(memory, 2 * size + 2)  # as at the begin of every trial: the room that it may need


def _leaves(memory: Memory) -> list[np.ndarray]:
    return [*memory.partition, *memory[1:]]
