"""Small runs that tests stop, and what they leave."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from distinguo.runs.configuration import Configuration, configure
from distinguo.runs.learn import learn_configured
from distinguo.runs.stage import Stage

FAST = {"stage.cap": 2000, "stage.hold": 2000}
SAME = ("settings.toml", "representation.json", "values.npz", "trials.csv", "reasons.jsonl", "history.jsonl")


def from_scratch() -> Configuration:
    return configure("puck", seed=1, changes=FAST)


def learned(path: Path) -> dict[str, Any]:
    """Return all that a finished run left, but for the time it took."""
    result = json.loads((path / "result.json").read_text())
    del result["seconds"]
    return {name: (path / name).read_bytes() for name in SAME} | {"result": result}


class Stopped(Exception):
    pass


def stop_after(chunks: int) -> Callable[[Stage], None]:
    left = chunks

    def watch(_: Stage) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Stopped

    return watch


def never_stopped(configuration: Configuration, path: Path) -> tuple[dict[str, Any], int]:
    """Return what a run leaves that is never stopped, and the number of its chunks."""
    chunks = 0

    def count(_: Stage) -> None:
        nonlocal chunks
        chunks += 1

    learn_configured(configuration, path, count)
    return learned(path), chunks


def stopped(path: Path, configuration: Configuration) -> Path:
    with pytest.raises(Stopped):
        learn_configured(configuration, path, stop_after(20))
    return path / "checkpoint.npz"
