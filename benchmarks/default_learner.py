"""Which learner suits which task? Every learner that applies on every task, and the default beside the best.

    python -m benchmarks.default_learner [--seeds 90000-90004] [--table docs/default-learner.csv] [--only NAME]

A run has 200,000 steps to learn, whatever the learner. *Steps* are those of learning; a run that is not solved counts
with its whole budget, and so does one that takes more than 10 seconds of computing. The rule (``choice_for``) was
found with the development seeds 500-502; the page has the held-out ones. Runs that the data has already are not
repeated.
"""

from __future__ import annotations

import math
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks import plants, rows

from distinguo.runs.configuration import Configuration, choice_for, configure
from distinguo.runs.learn import learn_configured, warm
from distinguo.runs.stage import Stage
from distinguo.settings import StageSettings
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.spec import CATEGORIES, Hold, TaskSpec

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from own_task import Hover

BUDGET = 200_000  #: steps to learn
SECONDS = 10.0  #: of computing that a run may take
HELD_OUT = "90000-90004"
NUMBERS, LABELS = ("economy", "probation", "model"), ("economy", "sweeping")
ALLOWED = 1.3  #: times the steps of the best learner

#: Each task with its parameters, and the threshold where it names none.
TASKS: dict[str, tuple[Any, dict[str, Any], float | None]] = {
    "puck": ("puck", {}, None),
    "puck, beta 0.6": ("puck", {"beta": 0.6}, None),
    "puck, noise 0.1": ("puck", {"noise": 0.1}, None),
    "puck, noise 1": ("puck", {"noise": 1.0}, None),
    "puck-continuing": ("puck-continuing", {}, None),
    "hover": (Hover, {}, None),
    "hover, lift 25": (Hover, {"lift": 25.0}, None),
    "double integrator": (plants.DoubleIntegrator, {}, None),
    "gusty cart": (plants.GustyCart, {}, None),
    "upright pendulum": (plants.UprightPendulum, {}, None),
    "held pole": (plants.HeldPole, {}, None),
    "held pole, 5 % of actions at random": (plants.HeldPole, {"noisy_actions": 0.05}, None),
    "boost converter": (plants.BoostConverter, {}, None),
    "two tanks": (plants.TwoTanks, {}, None),
    "three rooms": (plants.ThreeRooms, {}, None),
    "lane keeping": (plants.LaneKeeping, {}, None),
    "tilted table": (plants.TiltedTable, {}, None),
    "CartPole-v1": ("CartPole-v1", {}, None),
    "CartPole-v1, 10 % of actions at random": ("CartPole-v1", {"noisy_actions": 0.1}, None),
    "MountainCar-v0": ("MountainCar-v0", {}, None),
    "MountainCar-v0, 10 % of actions at random": ("MountainCar-v0", {"noisy_actions": 0.1}, -130.0),
    "Acrobot-v1": ("Acrobot-v1", {}, None),
    "Pendulum-v1": ("Pendulum-v1", {}, -300.0),
    "maze": ("maze", {}, None),
    "inventory": (plants.Inventory, {}, None),
    "parking": (plants.Parking, {}, None),
    "ferry": (plants.Ferry, {}, None),
    "stirred tank": (plants.StirredTank, {}, None),
    "windy grid": (plants.WindyGrid, {}, None),
    "FrozenLake-v1": ("FrozenLake-v1", {}, None),
    "FrozenLake-v1, not slippery": ("FrozenLake-v1", {"is_slippery": False}, None),
    "CliffWalking-v1": ("CliffWalking-v1", {}, -13.0),
}


class Figures(NamedTuple):
    """A line of the data: a run in short."""

    task: str
    learner: str
    seed: int
    solved: int
    score: float
    prototypes: int
    steps: int  #: to learn; the budget, if it is not solved
    failed_claim_steps: int
    seconds: float


def spec_named(name: str) -> TaskSpec:
    """The task of a row."""
    task, parameters, threshold = TASKS[name]
    spec = task_spec(task, parameters) if isinstance(task, str) else spec_of(task, parameters)
    return spec if threshold is None else spec._replace(threshold=threshold)


def configured(spec: TaskSpec, learner: str, seed: int) -> Configuration:
    """A run as its learner suggests it, with the common budget.

    The last trial of a solved run, which should never end, does not count as learning, so it has steps of its own.
    """
    steps = BUDGET + (StageSettings().cap if isinstance(spec.goal, Hold) else 0)
    return configure(spec, seed=seed, learner=learner, changes={"stage.steps": steps, "stage.trials": 10**6})


def learners_for(spec: TaskSpec) -> tuple[str, ...]:
    """The learners that apply to a task."""
    return LABELS if spec.kind == CATEGORIES else NUMBERS


class _TooLongError(Exception):
    """A run took too long."""


def measured(task: str, learner: str, seed: int) -> Figures:
    """Learn, and keep the figures."""
    began = time.process_time()

    def stop_late(_: Stage) -> None:
        if time.process_time() - began > SECONDS:
            raise _TooLongError

    configuration = configured(spec_named(task), learner, seed)
    warm(configuration)
    began = time.process_time()
    try:
        summary = learn_configured(configuration, watch=stop_late).summary
    except _TooLongError:
        return Figures(task, learner, seed, 0, math.nan, 0, BUDGET, 0, SECONDS)
    solved = summary["solved"] and summary["environment_steps"] <= BUDGET
    return Figures(
        task,
        learner,
        seed,
        int(solved),
        round(summary["score"], 3),
        summary["prototypes"],
        summary["environment_steps"] if solved else BUDGET,
        summary["failed_confirmation_steps"],
        round(time.process_time() - began, 2),
    )


def table(lines: list[Figures]) -> str:
    """The page's table: of each learner the runs solved and the median steps, and the default beside the best."""
    found: dict[str, dict[str, list[Figures]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        found[line.task][line.learner].append(line)
    names = ("economy", "probation", "model", "sweeping")
    lines_of = [
        f"| task | {' | '.join(names)} | default | times the best |",
        "|---|" + "---|" * (len(names) + 2),
    ]
    for task in (name for name in TASKS if name in found):
        spec = spec_named(task)
        chosen = choice_for(spec).learner
        of = {learner: _solved_and_steps(runs) for learner, runs in found[task].items()}
        best = max(of, key=lambda learner: (of[learner][0], -of[learner][1]))
        cells = [f"{of[n][0]} of {len(found[task][n])}; {of[n][1]:,.0f}" if n in of else "" for n in names]
        short = " **not solved as often**" if of[chosen][0] < of[best][0] else ""
        times = of[chosen][1] / of[best][1]
        times_text = f"**{times:.2f}**" if times > ALLOWED else f"{times:.2f}"
        lines_of.append(f"| {task} | {' | '.join(cells)} | {chosen} | {times_text}{short} |")
    return "\n".join(lines_of)


def _solved_and_steps(runs: list[Figures]) -> tuple[int, float]:
    return sum(run.solved for run in runs), float(np.median([run.steps for run in runs]))


def main() -> None:
    parser = rows.options(__doc__, "default-learner", HELD_OUT)
    parser.set_defaults(table=Path("docs/default-learner.csv"))
    parser.add_argument("--only", default="", help="a part of the names of the tasks")
    asked = parser.parse_args()
    keys = [
        (name, learner, seed)
        for name in TASKS
        if asked.only in name
        for learner in learners_for(spec_named(name))
        for seed in asked.seeds
    ]
    print(table(rows.measured(asked.table, Figures, measured, keys)))


if __name__ == "__main__":
    main()
