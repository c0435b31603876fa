"""Putting representations on trial: a plan, its folder, and the curves that come out.

The folder holds ``plan.toml``, ``extent.json`` (the observed extremes), ``representations/`` and one file per cell in
``cells/``, written whole when the cell is done. A cell that is there is not run again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.lab import engines
from distinguo.lab.cells import pack
from distinguo.lab.contestants import contestant
from distinguo.lab.files import write_atomically
from distinguo.lab.plan import Cell, Plan, read_plan, slug, write_plan
from distinguo.representation.file import Representation, dumps, load
from distinguo.testing.curve import Curve, checkpoints
from distinguo.testing.extent import Extent, observed_extent
from distinguo.testing.statistics import interquartile_mean, interval

Watch = Callable[[int, int], None]  #: told how many cells are done, of how many


class Averaged(NamedTuple):
    """The learning curves of one representation under one variant: runs × checkpoints, and their average."""

    representation: str
    variant: str
    regions: int
    training_steps: list[int]
    scores: np.ndarray
    survival: np.ndarray

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


class Report(NamedTuple):
    """What became of a plan: the curves of finished cells, and the cells that failed, each with its reason."""

    curves: list[Averaged]
    extent: Extent
    failures: dict[str, str]
    missing: int  #: cells left to other shards


def put_on_trial(
    plan: Plan,
    out: Path,
    *,
    engine: str = "threads",
    workers: int | None = None,
    address: str | None = None,
    shard: tuple[int, int] = (1, 1),
    watch: Watch | None = None,
) -> Report:
    """Run what is missing of a plan and return all its curves."""
    _prepare(out, plan)
    extent = _extent(out, plan)
    representations = {what: _representation(out, plan, what) for what in plan.head.representations}
    cells = plan.cells()
    mine = [cell for n, cell in enumerate(cells) if n % shard[1] == shard[0] - 1]
    todo = [cell for cell in mine if not _path(out, cell).exists()]
    payloads = [pack(plan, cell, representations[cell.representation], extent) for cell in todo]
    failures: dict[str, str] = {}
    done = len(mine) - len(todo)
    for key, outcome in engines.run_all(payloads, engine, workers, address):
        done += 1
        if isinstance(outcome, BaseException):
            failures[key] = f"{type(outcome).__name__}: {outcome}"
        else:
            write_atomically(out / "cells" / f"{key}.json", json.dumps(outcome) + "\n")
        if watch:
            watch(done, len(mine))
    there = [cell for cell in cells if _path(out, cell).exists()]
    return Report(_average(out, plan, there, representations), extent, failures, len(cells) - len(there))


def _prepare(out: Path, plan: Plan) -> None:
    path = out / "plan.toml"
    try:
        if path.exists():
            if read_plan(path.read_text(), str(path)) != plan:
                raise DistinguoError(f"{out} holds the results of another plan; choose another --out.")
        elif out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise DistinguoError(f"{out} exists and holds no plan; choose another --out.")
        for folder in ("cells", "representations"):
            (out / folder).mkdir(parents=True, exist_ok=True)
        write_atomically(path, write_plan(plan))
    except OSError as error:
        raise DistinguoError(f"Cannot write to {out}: {error.strerror}.") from None


def _extent(out: Path, plan: Plan) -> Extent:
    path = out / "extent.json"
    if not path.exists():
        found = observed_extent(plan.world.task, plan.head.seed)
        write_atomically(path, json.dumps(found._asdict()) + "\n")
    content = json.loads(path.read_text())
    return Extent(tuple(content["low"]), tuple(content["high"]))


def _representation(out: Path, plan: Plan, what: str) -> Representation:
    """Return a representation as it was when the plan was first run, so that all cells see the same one."""
    path = out / "representations" / f"{slug(what)}.json"
    if not path.exists():
        write_atomically(path, dumps(contestant(what, plan.world, plan.head.seed)))
    return load(path)


def _path(out: Path, cell: Cell) -> Path:
    return out / "cells" / f"{cell.key}.json"


def _average(
    out: Path, plan: Plan, cells: list[Cell], representations: dict[str, Representation]
) -> list[Averaged]:
    curves = []
    for what in plan.head.representations:
        for variant, settings in plan.variants.items():
            runs = [_read(_path(out, c)) for c in cells if (c.representation, c.variant) == (what, variant)]
            if not runs:
                continue
            grid = checkpoints(settings.steps, settings.every_steps)
            scores = np.array([run.at(grid) for run in runs])
            survival = np.array([run.survival_at(grid) for run in runs])
            curves.append(Averaged(what, variant, representations[what].regions, grid, scores, survival))
    return curves


def _read(path: Path) -> Curve:
    try:
        content = json.loads(path.read_text())
        return Curve(content["training_steps"], content["scores"], content["survival"])
    except (ValueError, KeyError, TypeError):
        raise DistinguoError(f"{path} is damaged; delete it and run the plan again.") from None
