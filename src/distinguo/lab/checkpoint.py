"""The whole state of a generation stage as one file, for an exact resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from distinguo.errors import DistinguoError
from distinguo.lab.configuration import Configuration
from distinguo.lab.files import pack_arrays, read_arrays, write_atomically
from distinguo.lab.generation import Generation, _log_for
from distinguo.learners.memory import ACTION, Memory, fresh_memory, with_room
from distinguo.representation.voronoi import Voronoi, grown

VERSION = 1
_PLAIN = ("phase", "solved", "score", "confirmation_steps", "seconds")
_Count = Annotated[int, Field(ge=0)]


class _Facts(BaseModel):
    """What a checkpoint holds beside arrays."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    version: int
    phase: Literal["between trials", "trial", "holding", "done"]
    solved: bool
    score: _Count
    confirmation_steps: _Count
    seconds: float
    rng: dict[str, Any]
    sizes: dict[str, _Count]


def save(generation: Generation, path: Path, sizes: dict[str, int]) -> None:
    """Write a checkpoint; ``sizes`` are the bytes of the growing files that belong to it."""
    facts = {name: getattr(generation, name) for name in _PLAIN}
    facts |= {"version": VERSION, "rng": generation.rng.bit_generator.state, "sizes": sizes}
    arrays = {f"memory.{k}": v for k, v in generation.memory._asdict().items() if k != "partition"}
    arrays |= {f"partition.{k}": v for k, v in generation.memory.partition._asdict().items()}
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    write_atomically(path, pack_arrays(arrays))


def load(path: Path, configuration: Configuration) -> tuple[Generation, dict[str, int]]:
    """Read a checkpoint of a run with this configuration."""
    arrays = read_arrays(path)
    generation = Generation(configuration)
    try:
        written = json.loads(arrays.pop("facts").tobytes())
        if written["version"] > VERSION:
            raise DistinguoError(f"{path} was written by a newer distinguo; upgrade to resume it.")
        facts = _Facts.model_validate(written)
        generation.memory = _memory(arrays, generation.memory)
        generation.rng.bit_generator.state = facts.rng
    except DistinguoError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        why = " ".join(str(error).split())[:200]
        raise DistinguoError(f"{path} is damaged ({why}); delete it to learn from the start.") from None
    for name in _PLAIN:
        setattr(generation, name, getattr(facts, name))
    generation.log = _log_for(generation.memory)
    return generation, facts.sizes


def _memory(arrays: dict[str, np.ndarray], like: Memory) -> Memory:
    """Rebuild the memory, with everything checked that could lead compiled code out of an array."""
    partition = Voronoi(**{name: arrays[f"partition.{name}"] for name in Voronoi._fields})
    rest = {name: arrays[f"memory.{name}"] for name in Memory._fields if name != "partition"}
    memory = Memory(partition=partition, **rest)
    room, actions = len(memory.q), like.q.shape[1]
    expected = fresh_memory(grown(like.partition, room), actions)
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
