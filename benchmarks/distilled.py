"""Distil teachers, seed by seed, and judge every map by a hundred new trials of Gymnasium's own environment.

    pip install -e ".[others]" && python -m benchmarks.teachers --out teachers
    python -m benchmarks.distilled --teachers teachers --out distilled --seeds 100-109 [TASK …]
    python -m benchmarks.distilled --table docs/distilled.csv

A row of ``distilled.csv`` is one distillation: the prototypes after the fit alone and in the end, the mean return
of a hundred trials that begin from seeds which no distillation uses, its steps and its time. The runs are kept
beside it; rows that it has are not made again. ``--table`` prints the medians and ranges over the
seeds, as docs/distil.md has them.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from benchmarks import rows

import distinguo as dg
from distinguo.distillation.levels import HOLDING
from distinguo.distillation.teachers import load_zip
from distinguo.engines.engine import Engine
from distinguo.runs.seeds import seeds as read_seeds
from distinguo.tasks.gym.registration import PUCK_ID
from distinguo.tasks.spec import Hold

TRIALS, FIRST = 100, 3_000_000_000  #: new trials; distillations draw their starts below 2^31
HEURISTIC, DIAGONAL = "heuristic", "diagonal"
TEACHERS = {
    "LunarLander": ("LunarLander-v3", HEURISTIC, None),
    "LunarLander-ppo": ("LunarLander-v3", "ppo", None),
    "CartPole": ("CartPole-v1", "dqn", None),
    "Acrobot": ("Acrobot-v1", "dqn", None),
    "MountainCar": ("MountainCar-v0", "dqn", None),
    "Pendulum": ("Pendulum-v1", "sac", -200.0),
    "MountainCarContinuous": ("MountainCarContinuous-v0", "sac", None),
    "puck": ("puck", DIAGONAL, None),
}


class Row(NamedTuple):
    """One distillation."""

    name: str
    task: str
    teacher: str
    seed: int
    fitted: str  #: the prototypes after the fit alone, if it keeps the return
    prototypes: int
    actions: int
    kept: bool
    score: float
    new_score: float
    new_error: float
    teacher_score: float
    agreement: float
    environment_steps: int
    seconds: float
    cores: int
    dial: str


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(TEACHERS)}; all by default")
    parser.add_argument("--teachers", type=Path, default=Path("teachers"))
    parser.add_argument("--out", type=Path, default=Path("distilled"))
    parser.add_argument("--seeds", default="100-109")
    parser.add_argument("--set", action="append", default=[], help="a setting, such as learner.costs=false")
    parser.add_argument("--table", type=Path, help="only print the table of a file")
    asked = parser.parse_args()
    if asked.table:
        print(table(asked.table))
        return
    folders = {"teachers": str(asked.teachers), "out": str(asked.out), "changes": asked.set}
    told = {
        (name, *TEACHERS[name][:2], seed): {"name": name, "seed": seed, **folders}
        for name in asked.names or TEACHERS
        for seed in read_seeds(asked.seeds)
    }
    one_by_one = Engine("processes", 1)  # a distillation runs its trials on all cores
    rows.measured(asked.out / "distilled.csv", Row, one, told, one_by_one)


def table(path: Path) -> str:
    """Return the rows of a file as a table: a line for each teacher, over its seeds."""
    known = rows.read(path, Row)
    lines = [
        "| task, teacher | seeds that keep the return | after the fit, median | in the end, median (range) "
        "| mean return, median (lowest) | teacher | seconds, median (range) |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(row.name for row in known):
        own = [row for row in known if row.name == name]
        sizes, scores, seconds, teacher = (
            rows.column(own, key) for key in ("prototypes", "new_score", "seconds", "teacher_score")
        )
        fits = [float(row.fitted or np.inf) for row in own]
        lines.append(
            f"| {own[0].task}, {own[0].teacher} | {sum(row.kept for row in own)} of {len(own)} | {np.median(fits):g} "
            f"| {np.median(sizes):g} ({sizes.min():g}-{sizes.max():g}) "
            f"| {np.median(scores):.1f} ({scores.min():.1f}) | {np.median(teacher):.1f} "
            f"| {np.median(seconds):.0f} ({seconds.min():.0f}-{seconds.max():.0f}) |"
        )
    return "\n".join(lines)


def one(name: str, seed: int, teachers: str, out: str, changes: list[str]) -> Row:
    """Distil a teacher once, and judge the map."""
    warnings.simplefilter("ignore", DeprecationWarning)
    from distinguo.cli.parse import changes as read_changes

    task, kind, keep = TEACHERS[name]
    teacher = FORMULAS.get(kind) or load_zip(Path(teachers) / f"{task}-{kind}.zip")
    began = time.perf_counter()
    small = dg.distil(
        dg.Policy(teacher, kind),
        task,
        seed=seed,
        keep=keep,
        out=Path(out) / f"{name}-{seed}",
        settings=read_changes(changes),
    )
    took = time.perf_counter() - began
    returns = new_returns(small.run)
    return Row(
        name,
        task,
        kind,
        seed,
        str(small.fitted or ""),
        small.run.summary["prototypes"],
        len(small.run.configuration.spec.actions),
        small.kept,
        round(small.fidelity.map.mean, 2),
        round(float(returns.mean()), 2),
        round(float(returns.std(ddof=1) / np.sqrt(TRIALS)), 2),
        round(small.fidelity.teacher.mean, 2),
        round(small.fidelity.on_map, 3),
        small.run.summary["environment_steps"],
        round(took, 1),
        os.cpu_count() or 1,
        ";".join(f"{one.size}:{one.mean:.1f}" for one in small.dial),
    )


def land(seen: np.ndarray) -> int:
    """LunarLander's own heuristic."""
    from gymnasium.envs.box2d.lunar_lander import heuristic

    return int(heuristic(SimpleNamespace(unwrapped=SimpleNamespace(continuous=False)), seen))


def push_back(seen: np.ndarray) -> int:
    """Push the puck against the sum of where it is and how fast it goes."""
    return 0 if seen[0] + seen[1] > 0 else 1


FORMULAS = {HEURISTIC: land, DIAGONAL: push_back}


def new_returns(run: Any, first: int = FIRST, trials: int = TRIALS) -> np.ndarray:
    """Follow a map through new trials of Gymnasium's own environment, with its own time limit.

    Of a task that has no end but failure, the steps are counted, up to a bound.
    """
    spec = run.configuration.spec
    holds = isinstance(spec.goal, Hold)
    env = gymnasium.make(PUCK_ID if spec.name == "puck" else spec.name)
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        env = dg.DiscreteActions(env, list(spec.parameters["levels"]))
    returns = np.zeros(trials)
    for trial in range(trials):
        seen, _ = env.reset(seed=first + trial)
        ended = False
        while not ended:
            seen, reward, terminated, truncated, _ = env.step(run.controller.action(seen))
            returns[trial] += 1.0 if holds else float(reward)
            ended = terminated or truncated or (holds and returns[trial] >= HOLDING)
    return returns


if __name__ == "__main__":
    main()
