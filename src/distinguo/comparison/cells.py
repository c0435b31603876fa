"""The cells of a comparison: each a job, and its result a file in the folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from distinguo.comparison.plan import CSV, MARKDOWN, Comparison, Plan, PlanCell, load_plan, write_plan
from distinguo.engines.code import code_behind
from distinguo.engines.jobs import Job
from distinguo.errors import DistinguoError
from distinguo.evaluation.statistics import Curve
from distinguo.evaluation.tester import Evaluation, learning_curve
from distinguo.reading.files import MEBIBYTE, read_bytes, read_json
from distinguo.representations.file import Representation, can_be_written, dumps, load, loads
from distinguo.settings import TesterSettings, checked
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import Extent, task_extent
from distinguo.tasks.spec import TaskSpec
from distinguo.writing import is_leftover, remove_leftovers, slug, write_atomically


def job_of(plan: Plan, cell: PlanCell, representation: str | Representation, extent: Extent) -> Job:
    """Collect everything that decides the result of a cell; a representation is the text of its file."""
    arguments = {
        "key": cell.key,
        "task": plan.spec if plan.in_memory else plan.task_by_name,
        "representation": representation,
        "tester": plan.variants[cell.variant]._asdict(),
        "extent": [list(extent.low), list(extent.high)],
        "seed": plan.head.seed,
        "run": cell.run,
    }
    return Job(cell.key, run_cell, {"payload": arguments}, code_behind(type(plan.spec.task)))


def run_cell(payload: dict[str, Any]) -> dict[str, Any]:
    """Run a cell."""
    task, representation = payload["task"], payload["representation"]
    if isinstance(representation, str):
        representation = loads(representation, payload["key"])
    evaluation = Evaluation(
        task if isinstance(task, TaskSpec) else task_spec(**task),
        representation.partition,
        representation.regions,
        checked(TesterSettings, payload["tester"], "tester"),
        Extent(*(tuple(side) for side in payload["extent"])),
    )
    curve = learning_curve(evaluation, payload["seed"], payload["run"])
    return {"key": payload["key"], "run": payload["run"], **curve._asdict()}


# The folder of a comparison.
#
# It holds ``plan.toml``, ``extent.json`` (the observed extremes), ``representations/`` and one file per cell in
# ``cells/``, each written whole when it is done. A finished cell is not run again. ``results.csv`` and
# ``results.md`` are made from the finished cells.


_FOLDERS = ("cells", "representations")
LARGEST_CELL, LARGEST_TABLES = 16 * MEBIBYTE, 2**30  #: bytes

Columns = TypeVar("Columns", Curve, Extent)


class Folder(NamedTuple):
    """The folder with the results of a plan."""

    path: Path
    plan: Plan

    def check(self) -> None:
        """Refuse a folder that holds something else, before anything is written."""
        path, plan = self.path / "plan.toml", self.plan
        if path.exists():
            if plan.in_memory and plan.spec.interpreted:
                raise DistinguoError(
                    f"{self.path} holds results of {plan.spec.name}, which may have been another environment then; "
                    "choose another --out."
                )
            if write_plan(load_plan(path)) != write_plan(
                plan
            ):  # tasks may hold objects that cannot be compared
                raise DistinguoError(f"{self.path} holds the results of another plan; choose another --out.")
        elif self.path.exists() and not self._is_newborn():
            raise DistinguoError(f"{self.path} exists and holds no plan; choose another --out.")

    def _is_newborn(self) -> bool:
        """Whether the folder holds no more than a plan leaves that was killed right at its start."""
        if not self.path.is_dir():
            return False
        others = [one for one in self.path.iterdir() if not is_leftover(one)]
        return all(one.name in _FOLDERS and one.is_dir() and not any(one.iterdir()) for one in others)

    def prepare(self, texts: Mapping[str, str]) -> None:
        """Write the plan and the files of the representations, if they are missing."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if not (self.path / "plan.toml").exists():
                write_atomically(self.path / "plan.toml", write_plan(self.plan))
            for folder in _FOLDERS:
                (self.path / folder).mkdir(exist_ok=True)
            for folder in ("", *_FOLDERS):
                remove_leftovers(self.path / folder)
            for what, text in texts.items():
                if not self.has_cells or not self.representation_path(what).exists():
                    write_atomically(self.representation_path(what), text)
        except OSError as error:
            raise DistinguoError(f"Cannot write to {self.path}: {error.strerror}.") from None

    def representation_path(self, what: str) -> Path:
        """Return the file of a representation."""
        return self.path / "representations" / f"{slug(what)}.json"

    def representation(self, what: str) -> Representation | None:
        """Return a representation as it was when the plan was first run: all cells use the same one."""
        path = self.representation_path(what)
        return load(path) if path.exists() else None

    def extent(self) -> Extent:
        """Return the observed extremes; the first call observes them."""
        path = self.path / "extent.json"
        if not path.exists():
            observed = task_extent(self.plan.spec, self.plan.head.seed)
            write_atomically(path, json.dumps(observed._asdict()) + "\n")
        extent = _columns(path, Extent)
        if len(extent.low) != len(self.plan.spec.dimensions):
            raise _damaged(path)
        return extent

    @property
    def has_cells(self) -> bool:
        """Whether any cell is done."""
        cells = self.path / "cells"
        return cells.is_dir() and any(not is_leftover(one) for one in cells.iterdir())

    def has(self, cell: PlanCell) -> bool:
        """Whether a cell is done."""
        return self._cell_path(cell.key).exists()

    def curve(self, cell: PlanCell) -> Curve:
        """Read the curve of a cell that is done."""
        return _columns(self._cell_path(cell.key), Curve)

    def keep(self, key: str, result: Mapping[str, Any]) -> None:
        """Write the result of a cell."""
        write_atomically(self._cell_path(key), json.dumps(result) + "\n")

    def keep_table(self, comparison: Comparison) -> None:
        """Write the table of results: every checkpoint for programs, the last one for readers."""
        for name, text in ((CSV, comparison.csv()), (MARKDOWN, comparison.markdown())):
            path = self.path / name
            if not path.exists() or read_bytes(path, LARGEST_TABLES) != text.encode():
                write_atomically(path, text)

    def _cell_path(self, key: str) -> Path:
        return self.path / "cells" / f"{key}.json"


def written(representation: Representation) -> str | None:
    """Return the text of the file of a representation; None if its partition has no file."""
    return dumps(representation) if can_be_written(representation.partition) else None


def _columns(path: Path, kind: type[Columns]) -> Columns:
    """Read a curve or an extent: columns of numbers of the same length."""
    try:
        content = read_json(path, LARGEST_CELL)
        columns = checked(kind, {name: content[name] for name in kind._fields}, path.name)
        numbers = np.array(columns, dtype=np.float64)
    except (ValueError, LookupError, TypeError, ArithmeticError):
        raise _damaged(path) from None
    if not numbers.size or not np.isfinite(numbers).all():
        raise _damaged(path)
    return columns


def _damaged(path: Path) -> DistinguoError:
    return DistinguoError(f"{path} is damaged; delete it and run the plan again.")
