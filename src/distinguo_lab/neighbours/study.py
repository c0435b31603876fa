"""The whole comparison: every system on every task, seed after seed, kept as it goes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from distinguo.errors import DistinguoError, checks_names
from distinguo.reading.documents import read_json
from distinguo.runs.configuration import check_seed
from distinguo.tasks.catalog import task_spec
from distinguo.writing.atomic import write_atomically
from distinguo_lab.neighbours.measure import Measurement, Trial, measure
from distinguo_lab.neighbours.systems import SYSTEMS, TASKS, System

LARGEST_FILE = 10_000_000  #: bytes of the file of a cell
RunsDone = Callable[[int, int], None]  #: called with how many runs are done, of how many


class Scale(NamedTuple):
    """How much of the comparison is run."""

    tasks: Sequence[str]
    seeds: int
    trial: Trial


FULL = Scale(TASKS, 100, Trial())
QUICK = Scale(("puck",), 3, Trial(steps=20_000, cap=20_000))


class Cell(NamedTuple):
    """A system on a task."""

    system: System
    task: str
    measurements: tuple[Measurement, ...]
    refused: str = ""  #: why the system cannot be run on the task

    def document(self) -> dict[str, Any]:
        """Return what the file of the cell holds."""
        return {
            "task": self.task,
            "system": self.system.name,
            "asked": self.system.asked_on(self.task),
            "settings": dict(self.system.settings),
            "refused": self.refused,
            "measurements": [one._asdict() for one in self.measurements],
        }


class Neighbours(NamedTuple):
    """All cells, and where they are kept."""

    cells: list[Cell]
    folder: Path
    seed: int

    def on(self, task: str) -> list[Cell]:
        """Return the cells of a task, in the order of the systems."""
        return [cell for cell in self.cells if cell.task == task]


@checks_names()
def compare_neighbours(
    out: str | Path | None = None,
    *,
    quick: bool = False,
    seed: int = 0,
    say: Callable[[str], None] | None = None,
    watch: RunsDone | None = None,
) -> Neighbours:
    """Run every system on every task, on as many seeds from ``seed`` on; what is in the folder is not run again.

    ``quick`` does with the puck and three seeds. ``say`` is given sentences on what is going on, ``watch`` how many
    runs are done, of how many.
    """
    check_seed(seed)
    scale = QUICK if quick else FULL
    folder = Path(out or Path("runs") / f"neighbours-{'quick' if quick else 'full'}-seed{seed}")
    say, watch = say or (lambda text: None), watch or (lambda done, of: None)
    todo = [(system, task) for task in scale.tasks for system in SYSTEMS]
    cells: list[Cell] = []
    for system, task in todo:
        say(f"{task}: {system.name} …")
        cells.append(_cell(system, task, range(seed, seed + scale.seeds), scale.trial, folder))
        watch(len(cells) * scale.seeds, len(todo) * scale.seeds)
    return Neighbours(cells, folder, seed)


def _cell(system: System, task: str, seeds: range, trial: Trial, folder: Path) -> Cell:
    """Return a cell from its file, if that is of the same question; else run it and write the file."""
    path = folder / "cells" / f"{re.sub(r'[^a-zA-Z0-9]+', '-', f'{task} {system.name}')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    asked = {"seeds": [seeds.start, len(seeds)], "trial": trial._asdict()}
    if path.is_file():
        kept = read_json(path, LARGEST_FILE)
        cell = Cell(system, task, _measurements(kept, path), str(kept.get("refused", "")))
        if kept == {**asked, **cell.document()}:
            return cell
    cell = _run(system, task, seeds, trial)
    write_atomically(path, json.dumps({**asked, **cell.document()}, indent=1) + "\n")
    return cell


def _measurements(kept: Any, path: Path) -> tuple[Measurement, ...]:
    try:
        return tuple(Measurement(**one) for one in kept["measurements"])
    except (TypeError, KeyError):
        raise DistinguoError(
            f"{path} is not a cell of the comparison; delete it, and it is run again."
        ) from None


def _run(system: System, task: str, seeds: range, trial: Trial) -> Cell:
    task_spec(task)  # made once, before threads want it
    try:
        first = measure(system, task, seeds[0], trial)  # compiles, and says whether it applies at all
    except DistinguoError as error:
        return Cell(system, task, (), str(error))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        others = pool.map(lambda seed: measure(system, task, seed, trial), seeds[1:])
        return Cell(system, task, (first, *others))
