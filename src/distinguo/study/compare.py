"""Putting representations on trial: a plan, its folder, and the curves that come out.

The folder holds ``plan.toml``, ``extent.json`` (the observed extremes), ``representations/`` and one file per cell in
``cells/``, written whole when the cell is done. A cell that is there is not run again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.evaluation.curve import Curve, checkpoints
from distinguo.evaluation.statistics import interquartile_mean, interval
from distinguo.representation.file import Representation, dumps, load
from distinguo.runs.files import slug, write_atomically
from distinguo.settings import checked
from distinguo.study import engines
from distinguo.study.cells import pack
from distinguo.study.plan import Cell, Plan, load_plan, write_plan
from distinguo.study.sources import contestant
from distinguo.tasks.extent import Extent, task_extent

T = TypeVar("T")
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
    _check_folder(out, plan)
    representations = {what: _representation(out, plan, what) for what in plan.head.representations}
    _prepare(out, plan, representations)
    extent = _extent(out, plan)
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


def _check_folder(out: Path, plan: Plan) -> None:
    """Refuse a folder that holds something else, before anything is written."""
    path = out / "plan.toml"
    if path.exists():
        if write_plan(load_plan(path)) != write_plan(plan):  # tasks may hold what cannot be compared
            raise DistinguoError(f"{out} holds the results of another plan; choose another --out.")
    elif out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DistinguoError(f"{out} exists and holds no plan; choose another --out.")


def _representation(out: Path, plan: Plan, what: str) -> Representation:
    """Return a representation as it was when the plan was first run, so that all cells see the same one."""
    path = _representation_path(out, what)
    return load(path) if path.exists() else contestant(what, plan.spec, plan.head.seed)


def _representation_path(out: Path, what: str) -> Path:
    return out / "representations" / f"{slug(what)}.json"


def _prepare(out: Path, plan: Plan, representations: dict[str, Representation]) -> None:
    try:
        for folder in ("cells", "representations"):
            (out / folder).mkdir(parents=True, exist_ok=True)
        if not (out / "plan.toml").exists():
            write_atomically(out / "plan.toml", write_plan(plan))
        for what, representation in representations.items():
            if not _representation_path(out, what).exists():
                write_atomically(_representation_path(out, what), dumps(representation))
    except OSError as error:
        raise DistinguoError(f"Cannot write to {out}: {error.strerror}.") from None


def _extent(out: Path, plan: Plan) -> Extent:
    path = out / "extent.json"
    if not path.exists():
        found = task_extent(plan.spec, plan.head.seed)
        write_atomically(path, json.dumps(found._asdict()) + "\n")
    extent = _stored(path, Extent)
    if len(extent.low) != len(plan.spec.dimensions):
        raise _damaged(path)
    return extent


def _path(out: Path, cell: Cell) -> Path:
    return out / "cells" / f"{cell.key}.json"


def _average(
    out: Path, plan: Plan, cells: list[Cell], representations: dict[str, Representation]
) -> list[Averaged]:
    curves = []
    for what in plan.head.representations:
        for variant, settings in plan.variants.items():
            runs = [
                _stored(_path(out, c), Curve)
                for c in cells
                if (c.representation, c.variant) == (what, variant)
            ]
            if not runs:
                continue
            grid = checkpoints(settings.steps, settings.every_steps)
            scores = np.array([run.at(grid) for run in runs])
            survival = np.array([run.survival_at(grid) for run in runs])
            curves.append(Averaged(what, variant, representations[what].regions, grid, scores, survival))
    return curves


def _stored(path: Path, kind: type[T]) -> T:
    """Read a curve or an extent: columns of numbers, all as long."""
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    try:
        content = json.loads(path.read_text())
        found = checked(kind, {name: content[name] for name in fields}, path.name)
        columns = np.array(found, dtype=np.float64)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _damaged(path) from None
    if not columns.size or not np.isfinite(columns).all():
        raise _damaged(path)
    return found


def _damaged(path: Path) -> DistinguoError:
    return DistinguoError(f"{path} is damaged; delete it and run the plan again.")
