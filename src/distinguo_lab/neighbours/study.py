"""The whole comparison: every system on every task and seed; finished parts are saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.comparison.compare import compare
from distinguo.comparison.plan import AveragedCurve
from distinguo.comparison.sources import representation_named
from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job
from distinguo.engines.results import StudyResults, results_file
from distinguo.errors import DistinguoError, checks_names
from distinguo.runs.configuration import check_seed
from distinguo.runs.learn import learn
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.spec import Hold, TaskSpec
from distinguo.writing import check_ours
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
    watch: RunsDone | None = None,
    engine: Engine | None = None,
    shard: tuple[int, int] = (1, 1),
) -> Neighbours:
    """Run every system on every task, with seeds from ``seed`` on; finished runs in the folder are not run again.

    ``quick`` runs the puck with three seeds only. ``watch`` is called with the number of runs done and of all runs.
    """
    check_seed(seed)
    scale = QUICK if quick else FULL
    folder = Path(out or Path("runs") / f"neighbours-{'quick' if quick else 'full'}-seed{seed}")
    check_ours(folder, (PAGE, TABLE, PICTURE), [results_file((1, 1))])
    asked = [(system, task) for task in scale.tasks for system in SYSTEMS]
    seeds = range(seed, seed + scale.seeds)
    jobs = {
        (system.name, task, number): _job(system, task, number, scale.trial)
        for system, task in asked
        for number in seeds
    }
    # each task is made once, before threads use it
    for task in scale.tasks:
        task_spec(task)
    answers = StudyResults(folder).run(list(jobs.values()), engine, shard, watch or (lambda done, of: None))
    cells = [
        _cell(system, task, [answers.get(jobs[system.name, task, n].key) for n in seeds])
        for system, task in asked
    ]
    return Neighbours(cells, folder, seed)


def _job(system: System, task: str, seed: int, trial: Trial) -> Job:
    arguments = {"system": system._asdict(), "task": task, "seed": seed, "trial": trial._asdict()}
    return Job(f"{task}: {system.name}, seed {seed}", measured, arguments)


def measured(system: Mapping[str, Any], task: str, seed: int, trial: Mapping[str, Any]) -> dict[str, Any]:
    """Run a system once; a system that cannot be run on a task says why."""
    try:
        return measure(System(**system), task, seed, Trial(**trial))._asdict()
    except DistinguoError as error:
        return {"refused": str(error)}


def _cell(system: System, task: str, answers: Sequence[Any]) -> Cell:
    refused = [one["refused"] for one in answers if isinstance(one, dict) and "refused" in one]
    if refused:
        return Cell(system, task, (), refused[0])
    return Cell(system, task, tuple(Measurement(**one) for one in answers if isinstance(one, dict)))
