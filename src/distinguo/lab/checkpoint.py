"""The whole state of a generation stage as one file, for an exact resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.lab.configuration import Configuration
from distinguo.lab.files import pack_arrays, read_arrays, write_atomically
from distinguo.lab.generation import Generation, _log_for
from distinguo.learners.memory import Memory
from distinguo.representation.voronoi import Voronoi

VERSION = 1
_PLAIN = ("phase", "solved", "score", "confirmation_steps", "seconds")


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
        facts: dict[str, Any] = json.loads(arrays.pop("facts").tobytes())
        if facts["version"] > VERSION:
            raise DistinguoError(f"{path} was written by a newer distinguo; upgrade to resume it.")
        generation.memory = _memory(arrays, generation.memory)
        generation.rng.bit_generator.state = facts["rng"]
        for name in _PLAIN:
            setattr(generation, name, facts[name])
        sizes = {str(name): int(size) for name, size in facts["sizes"].items()}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, DistinguoError):
            raise
        raise DistinguoError(f"{path} is damaged ({error!r}); delete it to learn from the start.") from None
    generation.log = _log_for(generation.memory)
    return generation, sizes


def _memory(arrays: dict[str, np.ndarray], like: Memory) -> Memory:
    """Rebuild the memory, with the shapes that the compiled code relies on checked."""
    partition = Voronoi(**{name: arrays[f"partition.{name}"] for name in Voronoi._fields})
    rest = {name: arrays[f"memory.{name}"] for name in Memory._fields if name != "partition"}
    memory = Memory(partition=partition, **rest)
    room = len(memory.q)
    for new, old in zip(_leaves(memory), _leaves(like), strict=True):
        rows = room if old.shape[:1] == like.q.shape[:1] and old.ndim > 0 else old.shape[0]
        if new.dtype != old.dtype or new.shape != (rows, *old.shape[1:]):
            raise ValueError("an array has an unexpected shape or type")
    if (
        not 1 <= partition.size[0] <= room
        or not ((partition.primary >= 0) & (partition.primary < room)).all()
    ):
        raise ValueError("the prototypes are inconsistent")
    return memory


def _leaves(memory: Memory) -> list[np.ndarray]:
    return [*memory.partition, *memory[1:]]
