"""Numbers about learning as time goes by, kept as Stable-Baselines3's logger does and written for TensorBoard."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.runs.stage import Stage
from distinguo.runs.written.trial_table import TrialRow


class Scalars:
    """What was recorded since the last dump, by name; a dump writes it where a writer is.

    >>> scalars = Scalars()
    >>> scalars.record("economy/regions", 12)
    >>> scalars.name_to_value
    {'economy/regions': 12}
    >>> scalars.dump(1000)
    >>> scalars.name_to_value, scalars.latest
    ({}, {'economy/regions': 12})
    """

    def __init__(self, writer: Any = None) -> None:
        self.writer = writer
        self.name_to_value: dict[str, Any] = {}
        self.latest: dict[str, Any] = {}  #: what was dumped last
        self._excluded: set[str] = set()

    def record(self, key: str, value: Any, exclude: str | Sequence[str] | None = None) -> None:
        """Keep a number until the next dump; one that excludes ``"tensorboard"`` is not written there."""
        self.name_to_value[key] = value
        if exclude is not None and "tensorboard" in exclude:
            self._excluded.add(key)

    def dump(self, step: int = 0) -> None:
        """Write what was recorded, at this time step, and forget it."""
        for key, value in self.name_to_value.items():
            if self.writer is not None and key not in self._excluded and np.isscalar(value):
                self.writer.add_scalar(key, value, step)
        if self.writer is not None:
            self.writer.flush()
        self.latest, self.name_to_value = self.name_to_value, {}
        self._excluded = set()

    def close(self) -> None:
        """Close the file."""
        if self.writer is not None:
            self.writer.close()
            self.writer = None


def describe(stage: Stage, recent: Collection[TrialRow]) -> dict[str, float]:
    """Return the numbers about a stage that are worth a curve; means are over the ``recent`` trials."""
    return {
        "rollout/ep_rew_mean": _mean([trial.gained for trial in recent]),
        "rollout/ep_len_mean": _mean([trial.length for trial in recent]),
        "time/episodes": stage.count_trials,
        "economy/regions": stage.regions,
        "economy/prototypes": stage.prototypes,
        "economy/investigation_steps": stage.investigation_steps,
        "economy/attempts": stage.attempts,
    }


def _mean(numbers: Sequence[float]) -> float:
    return float(np.mean(numbers)) if numbers else math.nan


def tensorboard_writer(folder: str | os.PathLike[str], name: str, anew: bool) -> Any:
    """Return a writer to the next free ``folder/name_1``, ``name_2``, …, or to the latest if it is not to be anew."""
    try:
        writer = import_module("tensorboardX").SummaryWriter
    except ImportError:
        raise DistinguoError(
            'TensorBoard scalars need tensorboardX, which is not installed; run: pip install "distinguo[tensorboard]"'
        ) from None
    latest = _latest(Path(folder), name)
    return writer(str(Path(folder) / f"{name}_{max(1, latest + anew)}"))


def _latest(folder: Path, name: str) -> int:
    found = (path.name.removeprefix(f"{name}_") for path in folder.glob(f"{name}_*"))
    return max((int(number) for number in found if number.isdecimal()), default=0)
