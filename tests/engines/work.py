"""Functions that other processes find by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any


def waves(number: float) -> dict[str, float]:
    return {"third": number / 3, "tiny": number * 1e-310, "none": float("inf")}


def noted(number: int, mark: str) -> int:
    """Leave a line in a file, so that jobs that are done twice are seen."""
    with Path(mark).open("a") as file:
        file.write(f"{number}\n")
    time.sleep(0.001)
    return number


def deadly(number: int, bad: int, how: str, mark: str = "") -> int:
    if number == bad and not (mark and Path(mark).exists()):
        if mark:
            Path(mark).touch()
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "endless":
            time.sleep(3600)
        raise ArithmeticError("no luck today")
    return number


def sleepy(number: int, seconds: float = 0.05) -> int:
    time.sleep(seconds)
    return number


def task_named(name: str) -> Any:
    from distinguo.tasks.catalog import task_spec

    return list(task_spec(name).dimensions)
