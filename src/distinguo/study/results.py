"""What comes out of a comparison: averaged learning curves, and how they read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.evaluation.statistics import interquartile_mean, interval
from distinguo.study.plan import DEFAULT_VARIANT
from distinguo.tasks.extent import Extent

HEAD = f"{'representation':32}{'regions':>9}{'runs':>6}{'final mean':>14}{'best mean':>14}{'survival':>10}"


class AveragedCurve(NamedTuple):
    """The learning curves of one representation under one variant: runs × checkpoints, and their average."""

    representation: str
    variant: str
    regions: int
    training_steps: list[int]
    scores: np.ndarray
    survival: np.ndarray

    @property
    def name(self) -> str:
        """Return the name of the representation, with the variant if it is not the only one."""
        plain = self.variant == DEFAULT_VARIANT
        return self.representation if plain else f"{self.representation} ({self.variant})"

    def __repr__(self) -> str:
        mean, survival = self.scores.mean(axis=0), self.survival[:, -1].mean()
        numbers = f"{len(self.scores):6}{mean[-1]:14,.0f}{mean.max():14,.0f}{survival:10.2f}"
        return f"{self.name:32}{self.regions:9}{numbers}"

    def as_json(self) -> dict[str, Any]:
        """Return the curve as the command line prints it."""
        low, high = interval(self.scores)
        return {
            "representation": self.representation,
            "variant": self.variant,
            "regions": self.regions,
            "runs": len(self.scores),
            "training_steps": self.training_steps,
            "mean": self.scores.mean(axis=0).tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "interquartile_mean": interquartile_mean(self.scores).tolist(),
            "survival": self.survival.mean(axis=0).tolist(),
            "scores": self.scores.tolist(),
        }


class Comparison(NamedTuple):
    """The curves of the runs that are done, and the cells that failed, each with its reason."""

    curves: list[AveragedCurve]
    extent: Extent  #: the observed extremes, from which trials start
    failures: dict[str, str]
    missing: int  #: cells that failed or are left to other shards
    folder: Path | None = None  #: where the results are kept

    def __repr__(self) -> str:
        low, high = self.extent
        box = " × ".join(f"[{a:.3g}, {b:.3g}]" for a, b in zip(low, high, strict=True))
        return "\n".join([f"Observed extremes: {box}", "", HEAD, *map(repr, self.curves)])

    def as_json(self) -> dict[str, Any]:
        """Return everything as the command line prints it."""
        return {
            "curves": [curve.as_json() for curve in self.curves],
            "extent": self.extent._asdict(),
            "failures": self.failures,
            "missing": self.missing,
        }

    def without_failures(self) -> Comparison:
        """Return the comparison, or say which cell failed and why."""
        if not self.failures:
            return self
        key, reason = next(iter(self.failures.items()))
        kept = (
            ""
            if self.folder is None
            else f"; what is done is in {self.folder}, and only the rest is run again"
        )
        raise DistinguoError(f"Cell {key} failed ({reason}){kept}.")
