"""The whole state of a generation stage as one file, for an exact resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from distinguo.errors import DistinguoError, one_line
from distinguo.learners.agent import MOST_COUNTED, check_arrays
from distinguo.learners.learner import leaves, with_leaves
from distinguo.reading.arrays import read_arrays
from distinguo.reading.files import parse_json
from distinguo.runs.configuration import Configuration
from distinguo.runs.request import say_if_changed
from distinguo.runs.restarts import Best
from distinguo.runs.settings_file import CHECKPOINT_VERSION as VERSION
from distinguo.runs.settings_file import upgraded
from distinguo.runs.stage import Stage
from distinguo.tasks.extent import Extent
from distinguo.tasks.task import actions, memories, randomness, remember
from distinguo.versions import software
from distinguo.writing import pack_arrays, write_atomically

_PLAIN = (
    *("phase", "solved", "score", "seconds", "returns", "held", "purpose", "tested", "tied"),
    *("confirmation_steps", "failed_confirmation_steps", "claimed", "answer"),
)
_Count = Annotated[int, Field(ge=0, lt=2**63)]
_Numbers = list[float]
#: The errors that a damaged file may cause.
_DAMAGE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError)


class _BestFacts(BaseModel):
    """The facts on the best attempt, besides its memory."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    score: float
    attempt: _Count
    trials: _Count


class _Facts(BaseModel):
    """The contents of a checkpoint besides arrays."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    version: int
    phase: Literal["between trials", "trial", "confirming", "done"]
    solved: bool
    score: Annotated[int, Field(gt=-(2**63), lt=2**63)] | float
    returns: _Numbers
    held: _Count
    tested: _Count = 0
    least: float | None = None  #: None before the first trial, and in files of earlier versions
    greatest: float | None = None
    purpose: Literal["claim", "attempt over", "stage over"]
    best: _BestFacts | None
    confirmation_steps: _Count
    failed_confirmation_steps: _Count = 0  #: 0 in files of earlier versions, as the next ones
    claimed: _Count = 0
    tied: bool = False
    answer: Literal["", "passed", "failed", "undecided"] = ""
    replayed_steps: _Count = 0
    bounds: Annotated[_Numbers, Field(min_length=2, max_length=2)] | None = None
    seconds: Annotated[float, Field(ge=0)]
    extent: (
        Annotated[list[_Numbers], Field(min_length=2, max_length=2)] | None
    )  #: None in files of earlier versions: as before the first trial
    rng: dict[str, Any]
    noise: dict[str, Any] | None  #: the task's own generator
    sizes: dict[str, _Count]
    checksums: dict[
        str, _Count
    ]  #: CRC-32 of so many bytes of the growing files; empty in files of earlier versions
    versions: dict[str, str] = {}  #: of the software; empty in files of earlier versions


class Growing(NamedTuple):
    """The growing files that belong to a checkpoint, by name: how many bytes of each, and the CRC-32 of those."""

    sizes: dict[str, int]
    checksums: dict[str, int]


def write_checkpoint(stage: Stage, path: Path, growing: Growing) -> None:
    """Write a checkpoint."""
    arrays = {f"memory.{name}": array for name, array in leaves(stage.agent.memory).items()}
    arrays |= {f"progress.{name}": array for name, array in leaves(stage.agent.progress).items()}
    if stage.best is not None:
        arrays |= {f"best.{name}": array for name, array in leaves(stage.best.memory).items()}
    arrays |= {f"task.{name}": array for name, array in memories(stage.task, _needed(stage)).items()}
    arrays["facts"] = np.frombuffer(json.dumps(_facts(stage, growing)).encode(), dtype=np.uint8)
    write_atomically(path, pack_arrays(arrays))


def _facts(stage: Stage, growing: Growing) -> dict[str, Any]:
    own, best = randomness(stage.task), stage.best
    return {name: getattr(stage, name) for name in _PLAIN} | {
        "version": VERSION,
        "rng": stage.rng.bit_generator.state,
        "noise": None if own is None else own.bit_generator.state,
        "best": best and {"score": best.score, "attempt": best.attempt, "trials": best.trials},
        "least": None if np.isinf(stage.least) else stage.least,
        "greatest": None if np.isinf(stage.greatest) else stage.greatest,
        "replayed_steps": stage.replayed_steps,
        "bounds": None if np.isinf(stage.bounds).any() else list(stage.bounds),
        "extent": [list(stage.extent.low), list(stage.extent.high)],
        **growing._asdict(),
        "versions": software(),
    }


def _needed(stage: Stage) -> np.ndarray:
    """Return the states that may be restored: those the learner needs, and the running one."""
    wanted, now = stage.learner.states_needed(stage.agent.memory), stage.agent.progress.now[None]
    return now if wanted is None else np.concatenate([wanted, now])


def load_checkpoint(path: Path, configuration: Configuration) -> tuple[Stage, Growing]:
    """Read a checkpoint of a run with this configuration."""
    arrays = read_arrays(path)
    stage = Stage(configuration)
    try:
        written = parse_json(arrays.pop("facts").tobytes(), str(path))
        if written["version"] > VERSION:
            raise DistinguoError(f"{path} was written by a newer distinguo; upgrade to resume it.")
        written, arrays = upgraded(written, arrays)
        facts = _Facts.model_validate(written)
        say_if_changed(path.parent, facts.versions)
        _restore(stage, facts, arrays)
    except DistinguoError:
        raise
    except _DAMAGE as error:
        raise DistinguoError(
            f"{path} is damaged ({one_line(str(error))}); delete it to learn from the start."
        ) from None
    return stage, Growing(facts.sizes, facts.checksums)


def _restore(stage: Stage, facts: _Facts, arrays: dict[str, np.ndarray]) -> None:
    agent = stage.agent
    memory = _memory(stage, _table(arrays, "memory"))
    progress = with_leaves(agent.progress, _table(arrays, "progress"))
    _check_progress(stage, progress, stage.learner.most_actions(memory) or actions(stage.task))
    if facts.best is not None:
        best = _memory(stage, _table(arrays, "best"))
        stage.best = Best(facts.best.score, best, facts.best.attempt, facts.best.trials)
    log = stage.learner.fresh_log(memory)
    stage.agent = agent._replace(memory=memory, progress=progress, log=log)
    stage.rng.bit_generator.state = facts.rng
    own = randomness(stage.task)
    if own is not None and facts.noise is not None:
        own.bit_generator.state = facts.noise
    remember(stage.task, _table(arrays, "task"))
    if facts.extent is not None:
        if not len(facts.extent[0]) == len(facts.extent[1]) == len(stage.configuration.spec.dimensions):
            raise ValueError("the extent has other coordinates than the task")
        stage.extent = Extent(*(tuple(side) for side in facts.extent))
    if facts.least is not None and facts.greatest is not None:
        stage.least, stage.greatest = facts.least, facts.greatest
    stage.replayed_before = facts.replayed_steps
    if facts.bounds is not None:
        stage.bounds = (facts.bounds[0], facts.bounds[1])
    elif facts.phase == "confirming":  # of an earlier version, which did not keep them
        stage.bounds = (stage.least, stage.greatest)
    for name in _PLAIN:
        setattr(stage, name, getattr(facts, name))


def _table(arrays: dict[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    return {k.removeprefix(f"{name}."): v for k, v in arrays.items() if k.startswith(f"{name}.")}


def _memory(stage: Stage, arrays: dict[str, np.ndarray]) -> Any:
    fresh = stage.agent.memory
    return stage.learner.checked(with_leaves(fresh, arrays), fresh)


_NO_COUNTS = ("action", "gained")  #: fields of the counters that are something else


def _check_progress(stage: Stage, progress: Any, actions: int) -> None:
    like = stage.agent.progress
    check_arrays(progress, width=len(like.now), dimensions=like.extent.shape[1])
    if not -1 <= progress.counts["action"][0] < actions:
        raise ValueError("the next action does not exist")
    counts = [int(progress.counts[name][0]) for name in progress.counts.dtype.names if name not in _NO_COUNTS]
    if (
        not all(0 <= count < MOST_COUNTED for count in counts)
        or progress.counts["since"] > progress.counts["trials"]
    ):
        raise ValueError("a counter is out of range")
    if not np.isfinite(progress.counts["gained"]).all() or not np.isfinite(progress.now).all():
        raise ValueError("a number is not finite")
    if np.isnan(progress.extent).any():
        raise ValueError("the extent is not a number")
