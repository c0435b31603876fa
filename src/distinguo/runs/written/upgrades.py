"""Checkpoints of earlier versions, brought up to date: what was learned long ago can still be continued."""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.learners.agent import COUNTS
from distinguo.learners.economy.memory import COUNTERS, EXTRA
from distinguo.runs.written.history import HISTORY

VERSION = 4
Arrays = dict[str, np.ndarray]
#: The places that counters had in versions 1 and 2.
_PROGRESS = ("trials", "trial_steps", "investigation_steps")
_MEMORY = ("sessions", "fe_calls", "merge_calls", "clock")
_TRIAL = ("length", "action", "attempt", "since")
_PLACES = (*_PROGRESS, *_MEMORY, *_TRIAL)


def upgraded(facts: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Return the facts and arrays of a checkpoint as the present version has them."""
    if facts["version"] <= 2:
        arrays = _states_are_observations(arrays)
        facts, arrays = _facts_of_3(facts, arrays), _arrays_of_3(arrays)
    if facts["version"] <= 3:
        facts = {**facts, "sizes": {HISTORY: 0, **facts["sizes"]}}  # frames are taken since version 4
    return {**facts, "version": VERSION}, arrays


def _states_are_observations(arrays: Arrays) -> Arrays:
    """Version 1 knew no states apart from observations, and no noise; the first files of version 2 no extent."""
    prototypes, q = arrays["partition.prototypes"], arrays["memory.q"]
    dimensions = prototypes.shape[1]
    return {
        "memory.states": prototypes.copy(),
        "memory.gained": np.zeros(1),
        "memory.error": np.zeros((len(q) + EXTRA, q.shape[1])),
        "memory.seen": np.zeros((*q.shape, 3)),
        "memory.extremes": np.array([np.inf, -np.inf]),
        "memory.extent": np.array([[np.inf] * dimensions, [-np.inf] * dimensions]),
        **arrays,
    }


def _facts_of_3(facts: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Before version 3 holding was a phase of its own, and the best attempt carried its own counters."""
    new = {"returns": [], "held": 0, "purpose": "claim", "best": None, "chance": None, **facts}
    new["noise"], new["extent"] = new.pop("chance"), None
    if new["phase"] == "holding":
        new |= {"phase": "confirming", "held": new["score"], "returns": [0.0], "purpose": "claim"}
    if new["best"] is not None:
        counters = _named(arrays["best.memory.counters"])
        new["best"] = {
            "score": float(new["best"]),
            "attempt": int(counters["attempt"]),
            "trials": int(counters["trials"]),
        }
    return new


def _arrays_of_3(arrays: Arrays) -> Arrays:
    """Before version 3 the learner's memory held how far the stage had come."""
    new = {k: v for k, v in arrays.items() if k.startswith("task.")}
    new |= _memory_of_3(arrays, "", "memory.")
    if "best.memory.q" in arrays:
        new |= _memory_of_3(arrays, "best.", "best.")
    new["progress.now"], new["progress.extent"] = arrays["memory.now"], arrays["memory.extent"]
    counters = _named(arrays["memory.counters"])
    gained = {"gained": arrays["memory.gained"][0]}
    new["progress.counts"] = _record(COUNTS, {**counters, **gained})
    return new


def _memory_of_3(arrays: Arrays, old: str, new: str) -> Arrays:
    gone = ("now", "gained", "extent")
    memory = {k.removeprefix(f"{old}memory."): v for k, v in arrays.items() if k.startswith(f"{old}memory.")}
    partition = {k.removeprefix(old): v for k, v in arrays.items() if k.startswith(f"{old}partition.")}
    memory["counters"] = _record(COUNTERS, _named(memory["counters"]))
    return {f"{new}{k}": v for k, v in (memory | partition).items() if k not in gone}


def _named(counters: np.ndarray) -> dict[str, Any]:
    """Return counters by name; version 1 had fewer."""
    values = [*counters.tolist(), *[0] * len(_PLACES)][: len(_PLACES)]
    return dict(zip(_PLACES, values, strict=True))


def _record(dtype: np.dtype[Any], values: dict[str, Any]) -> np.ndarray:
    record = np.zeros(1, dtype=dtype)
    for name in dtype.names or ():
        record[name] = values[name]
    return record
