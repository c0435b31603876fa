"""The whole comparison: every system on every task and seed; finished parts are saved."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.comparison.compare import compare
from distinguo.comparison.plan import AveragedCurve
from distinguo.comparison.sources import representation_named
from distinguo.errors import DistinguoError, checks_names
from distinguo.reading.files import read_json
from distinguo.runs.configuration import check_seed
from distinguo.runs.learn import learn
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.spec import Hold, TaskSpec
from distinguo.writing import check_ours, write_atomically
from distinguo_lab.planning import sparse_trials

# One system, one task, one seed: did it succeed, how large is its map, what did it cost, does it carry over?


class Measurement(NamedTuple):
    """The result of one run."""

    seed: int
    succeeded: bool
    size: int  #: regions or features; 0 for a planner
    #: Environment steps: all of a learner's; training steps until a fresh learner reached the goal; or a planner's
    #: calls of its model at every step.
    steps: int
    carries: (
        bool | None
    )  #: whether a fresh learner reaches the goal on the map; None if ``succeeded`` says so
    seconds: float  #: of a run; of a planner's decision


class Trial(NamedTuple):
    """How a map is judged: a fresh learner's training, and the goal of its test trials."""

    steps: int = 50_000
    cap: int = 100_000  #: of a test trial, if the task itself has no limit


def measure(system: System, task: str, seed: int, trial: Trial) -> Measurement:
    """Run a system once.

    >>> from distinguo_lab.neighbours.study import SYSTEMS
    >>> measure(SYSTEMS[0], "puck", 1, Trial(steps=20_000, cap=2_000)).succeeded
    True
    """
    spec = task_spec(task)
    if system.door == LEARNER:
        return _of_learner(system, spec, seed, trial)
    if system.door == PLANNER:
        return _of_planner(system, spec, seed)
    return _of_representation(system, spec, seed, trial)


def _of_learner(system: System, spec: TaskSpec, seed: int, trial: Trial) -> Measurement:
    began = time.perf_counter()
    run = learn(
        spec.name, learner=system.asked_on(spec.name), seed=seed, settings=dict(system.settings) or None
    )
    took = time.perf_counter() - began
    carries = _first_reached(_curve(run, spec, seed, trial), spec, trial) is not None
    summary = run.summary
    return Measurement(
        seed,
        bool(summary["solved"]),
        int(summary["regions"]),
        int(summary["environment_steps"]),
        carries,
        took,
    )


def _of_representation(system: System, spec: TaskSpec, seed: int, trial: Trial) -> Measurement:
    began = time.perf_counter()
    representation = representation_named(system.asked_on(spec.name), spec, seed)
    curve = _curve(representation, spec, seed, trial)
    took = time.perf_counter() - began
    reached = _first_reached(curve, spec, trial)
    return Measurement(
        seed, reached is not None, curve.regions, trial.steps if reached is None else reached, None, took
    )


def _of_planner(system: System, spec: TaskSpec, seed: int) -> Measurement:
    """Decide every step of one trial by looking ahead, without learning anything."""
    trial = sparse_trials(spec, depth=int(system.asked_on(spec.name)), seeds=[seed])
    reached = bool(spec.goal.reached(trial.ended, trial.returns)[0])
    decisions = int(trial.lengths.sum())
    return Measurement(seed, reached, 0, round(trial.calls_per_decision), None, trial.seconds / decisions)


def _curve(what: Any, spec: TaskSpec, seed: int, trial: Trial) -> AveragedCurve:
    """Return the learning curve of one fresh learner."""
    tester: dict[str, Any] = {
        "runs": 1,
        "steps": trial.steps,
        "cap": trial.cap,
    }  # or the task's limit, if less
    return compare({"it": what}, spec.name, seed=seed, **tester).curves[0]


def _first_reached(curve: AveragedCurve, spec: TaskSpec, trial: Trial) -> int | None:
    """Return the training steps after which the goal stayed reached; None if it is not reached at the end."""
    goal = spec.goal
    asked = trial.cap if isinstance(goal, Hold) else goal.threshold
    assert asked is not None  # the tasks of the comparison all have one
    missed = np.flatnonzero(curve.scores[0] < asked)
    first = int(missed[-1]) + 1 if len(missed) else 0
    return curve.training_steps[first] if first < len(curve.training_steps) else None


# The systems of the comparison, each by its kind.


TASKS = ("puck", "MountainCar-v0", "CartPole-v1", "Acrobot-v1")
#: Kinds: a learner makes its own map; a representation is given to the fresh learner of the separate tester; a
#: planner has no map and looks ahead at every step.
LEARNER, REPRESENTATION, PLANNER = "learner", "representation", "planner"


class System(NamedTuple):
    """A system, and how to run it."""

    name: str
    door: str
    asked: str  #: the name of the learner or of the representation, or the depth of the planner
    source: str  #: its authors, and the section of the paper about it
    settings: Mapping[str, Any] = {}  #: by dotted name
    by_task: Mapping[str, str] = {}  #: replaces ``asked``, by task

    def asked_on(self, task: str) -> str:
        """Return the name or depth to use on a task.

        >>> a_grid = System("a grid", REPRESENTATION, "grid:10x10", "", by_task={"CartPole-v1": "grid:3x3x6x3"})
        >>> a_grid.asked_on("puck"), a_grid.asked_on("CartPole-v1")
        ('grid:10x10', 'grid:3x3x6x3')
        """
        return self.by_task.get(task, self.asked)


SYSTEMS: tuple[System, ...] = (
    System("the paper's learner", LEARNER, "economy", "sections 3 and 4, our defaults"),
    System("by surprise", LEARNER, "surprise", "section 5.4, without mini-trials"),
    System("by a learned model", LEARNER, "model", "section 5.4, investigations ask a model"),
    System("on probation", LEARNER, "probation", "ours, the default of tasks judged by return"),
    System("decision boundaries", LEARNER, "kd-tree", "Reynolds 2000, section 5.5"),
    System("parti-game", LEARNER, "parti-game", "Moore and Atkeson 1995, section 5.2"),
    System(
        "variable resolution",
        REPRESENTATION,
        "variable-resolution:influence,200",
        "Munos and Moore 2002, section 5.5",
    ),
    System("finest along paths", REPRESENTATION, "vrdp", "Moore 1991, sections 2.1 and 4.2.2"),
    System(
        "finest near the start",
        REPRESENTATION,
        "near-start:3",
        "Hu and Fellman 1996, section 2.1",
        by_task={"CartPole-v1": "near-start:2", "Acrobot-v1": "near-start:1"},
    ),
    System("finest where visited most", REPRESENTATION, "most-visited:24", "Holdaway 1989, section 2.1"),
    System("vigilance", REPRESENTATION, "vigilance:0.9", "ART, section 5.2"),
    System(
        "uniform grid",
        REPRESENTATION,
        "grid:10x10",
        "section 4.2.2",
        by_task={"CartPole-v1": "grid:3x3x6x3", "Acrobot-v1": "grid:3x3x3x3x4x4"},
    ),
    System(
        "tile coding",
        REPRESENTATION,
        "tiles:8x10x10",
        "CMAC, section 1",
        by_task={"CartPole-v1": "tiles:8x6x6x6x6", "Acrobot-v1": "tiles:8x4x4x4x4x4x4"},
    ),
    System(
        "radial basis functions",
        REPRESENTATION,
        "rbf:10x10",
        "section 1",
        by_task={"CartPole-v1": "rbf:4x4x4x4", "Acrobot-v1": "rbf:3x3x3x3x3x3"},
    ),
    System("perceptron", REPRESENTATION, "perceptron", "section 1"),
    System("sparse sampling", PLANNER, "8", "Kearns, Mansour and Ng 2002, section 5.3"),
)


LARGEST_FILE = 10_000_000  #: bytes of the file of a cell
RunsDone = Callable[[int, int], None]  #: called with the number of runs done and of all runs


class Scale(NamedTuple):
    """The extent of the comparison."""

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
        """Return the content of the cell's file."""
        return {
            "task": self.task,
            "system": self.system.name,
            "asked": self.system.asked_on(self.task),
            "settings": dict(self.system.settings),
            "refused": self.refused,
            "measurements": [one._asdict() for one in self.measurements],
        }


PAGE, TABLE, PICTURE = "neighbours.md", "neighbours.csv", "neighbours.png"  #: beside the cells


class Neighbours(NamedTuple):
    """All cells, and their folder."""

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
    """Run every system on every task, with seeds from ``seed`` on; finished cells in the folder are not run again.

    ``quick`` runs the puck with three seeds only. ``say`` is called with sentences on the progress, ``watch`` with
    the number of runs done and of all runs.
    """
    check_seed(seed)
    scale = QUICK if quick else FULL
    folder = Path(out or Path("runs") / f"neighbours-{'quick' if quick else 'full'}-seed{seed}")
    check_ours(folder, (PAGE, TABLE, PICTURE), ["cells"])
    say, watch = say or (lambda text: None), watch or (lambda done, of: None)
    todo = [(system, task) for task in scale.tasks for system in SYSTEMS]
    cells: list[Cell] = []
    for system, task in todo:
        say(f"{task}: {system.name} …")
        cells.append(_cell(system, task, range(seed, seed + scale.seeds), scale.trial, folder))
        watch(len(cells) * scale.seeds, len(todo) * scale.seeds)
    return Neighbours(cells, folder, seed)


def _cell(system: System, task: str, seeds: range, trial: Trial, folder: Path) -> Cell:
    """Return a cell from its file if that has the same settings; otherwise run it and write the file."""
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
    task_spec(task)  # made once, before threads use it
    try:
        first = measure(system, task, seeds[0], trial)  # compiles, and raises if it does not apply
    except DistinguoError as error:
        return Cell(system, task, (), str(error))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        others = pool.map(lambda seed: measure(system, task, seed, trial), seeds[1:])
        return Cell(system, task, (first, *others))
