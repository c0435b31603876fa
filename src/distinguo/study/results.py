"""What comes out of a comparison: averaged learning curves, and how they read."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.evaluation.statistics import interquartile_mean, interval
from distinguo.study.plan import DEFAULT_VARIANT
from distinguo.tasks.extent import Extent
from distinguo.tasks.spec import Hold

CSV, MARKDOWN = "results.csv", "results.md"  #: the table of results: every checkpoint, and the last one
COLUMNS = ("training_steps", "mean", "low", "high", "interquartile_mean", "survival")
HEAD = f"{'representation':32}{'regions':>9}{'runs':>6}{'final mean':>14}{'best mean':>14}{'survival':>10}"


class AveragedCurve(NamedTuple):
    """The learning curves of one representation under one variant: runs × checkpoints, and their average."""

    representation: str
    variant: str
    regions: int
    training_steps: list[int]
    scores: np.ndarray
    survival: np.ndarray
    score: str = Hold().score_name  #: what a batch of trials is judged by

    @property
    def name(self) -> str:
        """Return the name of the representation, with the variant if it is not the only one."""
        plain = self.variant == DEFAULT_VARIANT
        return self.representation if plain else f"{self.representation} ({self.variant})"

    def __repr__(self) -> str:
        mean, survival = self.scores.mean(axis=0), self.survival[:, -1].mean()
        last, best = self.written(mean[-1]), self.written(mean.max())
        numbers = f"{len(self.scores):6}{last:>14}{best:>14}{survival:10.2f}"
        return f"{self.name:32}{self.regions:9}{numbers}"

    def written(self, score: float) -> str:
        """Return a score as people read it: lengths in whole steps, returns with the digits that matter."""
        return f"{score:,.0f}" if self.score == Hold().score_name else readable(score)

    def cells(self) -> list[str]:
        """Return what the curve ends at, for a table."""
        low, high = interval(self.scores)
        mean, survival = self.scores.mean(axis=0), self.survival[:, -1].mean()
        return [
            self.name.replace("|", "/"),
            str(self.regions),
            str(len(self.scores)),
            f"{self.training_steps[-1]:,}",
            self.written(mean[-1]),
            f"{self.written(low[-1])} to {self.written(high[-1])}",
            self.written(mean.max()),
            f"{survival:.2f}",
        ]

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


def readable(number: float) -> str:
    """Return a number with as many digits as it takes to compare it.

    >>> readable(5e6), readable(-105.96), readable(0.7333), readable(-500)
    ('5,000,000', '-106.0', '0.733', '-500')
    """
    if abs(number) >= 1000 or number == round(number):
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= 10 else f"{number:.3g}"


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

    def csv(self) -> str:
        """Return the curves as a table with a row for every checkpoint."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(("representation", "variant", "regions", "runs", "score", *COLUMNS))
        for curve in self.curves:
            content = curve.as_json()
            head = (curve.representation, curve.variant, curve.regions, len(curve.scores), curve.score)
            table.writerows((*head, *row) for row in zip(*(content[name] for name in COLUMNS), strict=True))
        return text.getvalue()

    def markdown(self) -> str:
        """Return what the curves end at as a table in Markdown."""
        lines = [
            "| representation | regions | runs | training steps | final mean | interval | best mean | survival |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [f"| {' | '.join(curve.cells())} |" for curve in self.curves]
        return "\n".join(lines) + "\n"

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
