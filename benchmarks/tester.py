"""The tables of docs/readings.md, "The tester": what each setting does on tasks judged by return.

python benchmarks/tester.py --seeds 70000-70009
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import region_at
from distinguo.evaluation.tester import Evaluation, learning_curve
from distinguo.representations.boxes import grid
from distinguo.representations.partition import count_regions
from distinguo.representations.voronoi import voronoi
from distinguo.settings import TESTER_BY_RETURN, TesterSettings
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import Extent
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import observe, start, transition

NEVER = 10**12
STEPWISE = {"explore": 0.0, "hold": False, "traces": 0.0, "averaging": False}
CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("as it is", {}),
    ("gamma 0.95", {"gamma": 0.95}),
    ("gamma 0.999", {"gamma": 0.999}),
    ("alpha 0.05", {"alpha": 0.05}),
    ("alpha 0.3", {"alpha": 0.3}),
    ("no averaging", {"averaging": False}),
    ("explore 0", {"explore": 0.0}),
    ("explore 0.05", {"explore": 0.05}),
    ("explore 0.4", {"explore": 0.4}),
    ("no hold", {"hold": False}),
    ("traces 0.9", {"traces": 0.9}),
    ("traces 0 (step by step)", {"traces": 0.0}),
    ("step by step, 10 % random actions", {**STEPWISE, "explore": 0.1}),
    ("as for the puck", {**STEPWISE, "gamma": 0.95}),
]
KINDS: dict[str, dict[str, Any]] = {"as it is": {}, "step by step": {**STEPWISE, "explore": 0.1}}


class Subject(NamedTuple):
    """A map of a task."""

    name: str
    spec: TaskSpec
    partition: Any


def subjects() -> list[Subject]:
    """Return maps that solve their tasks with a few regions, and grids that nobody learned."""
    pole, car, acrobot = (task_spec(name) for name in ("CartPole-v1", "MountainCar-v0", "Acrobot-v1"))
    leaning = voronoi([[0.1, 0.2, 0.05, 0.4], [-0.1, -0.2, -0.05, -0.4]], [4.8, 4.0, 0.4, 2.0])
    narrow = voronoi([[-0.4421, 0.0052], [-0.338, -0.0029], [-0.2853, 0.0133]], [2.852, 0.14])
    turning = voronoi([[1, 0, 1, 0, 0.5, 0], [1, 0, 1, 0, -0.5, 0]], [2, 2, 2, 2, 1, 20])
    boxes = grid([3, 3, 6, 3], (-2.4, -2.0, -0.21, -2.0), (2.4, 2.0, 0.21, 2.0))
    speeds = grid([1, 1, 1, 1, 4, 4], (-1, -1, -1, -1, -5, -9), (1, 1, 1, 1, 5, 9))
    return [
        Subject("CartPole-v1, 2 regions", pole, leaning),
        Subject("162 boxes", pole, boxes),
        Subject("MountainCar-v0, 3 regions", car, narrow),
        Subject("4 × 4 grid", car, grid([4, 4], car.low, car.high)),
        Subject("Acrobot-v1, 2 regions", acrobot, turning),
        Subject("4 × 4 grid of velocities", acrobot, speeds),
    ]


def refined(subject: Subject, pairs: int, rng: np.random.Generator) -> Subject:
    """Return a map of two regions with more prototypes in mirrored pairs, so that the border stays where it is."""
    first, second = subject.partition.prototypes * subject.partition.weight
    across = (first - second) / np.linalg.norm(first - second)
    visited = _visited(subject, rng, pairs) * subject.partition.weight - (first + second) / 2
    mirrored = visited - 2 * np.outer(visited @ across, across)
    places = np.vstack([first, second, *(half + (first + second) / 2 for half in (visited, mirrored))])
    return subject._replace(partition=voronoi(places * subject.partition.scale, subject.partition.scale))


def _visited(subject: Subject, rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw observations of random maps' trials: every region takes one action."""
    seen, task = [], subject.spec.task
    while len(seen) < 50 * max(count, 1):
        s, terminal, steps = start(task, rng), False, 0
        held = rng.integers(len(subject.spec.actions), size=2)
        while not terminal and steps < (subject.spec.limit or 200):
            s, _, terminal = transition(task, s, int(held[region_at(task, subject.partition, s)]))
            seen.append(observe(task, s))
            steps += 1
    return np.array(seen)[rng.choice(len(seen), count, replace=False)]


def score(subject: Subject, changes: dict[str, Any], seed: int) -> float:
    """Return the mean return of 100 greedy trials of a fresh learner after 50,000 steps."""
    wishes = {**TESTER_BY_RETURN, **changes, "every_steps": NEVER, "every_trials": NEVER}
    spec, extent = subject.spec, Extent(subject.spec.low, subject.spec.high)
    rows = count_regions(subject.partition)
    evaluation = Evaluation(spec, subject.partition, rows, TesterSettings(**wishes), extent)
    return learning_curve(evaluation, seed, 0).scores[-1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="70000-70009")
    first, last = map(int, parser.parse_args().seeds.split("-"))
    maps = subjects()
    print("| change | " + " | ".join(subject.name for subject in maps) + " |")
    print("|---" * (len(maps) + 1) + "|")
    for name, changes in CHANGES:
        scores = [[score(subject, changes, seed) for seed in range(first, last + 1)] for subject in maps]
        cells = [f"{np.median(each):.0f} ({min(each):.0f} to {max(each):.0f})" for each in scores]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print_refined([maps[0], maps[4]], range(first, last + 1))


def print_refined(maps: list[Subject], seeds: range) -> None:
    """Print what a fresh learner makes of ever more distinctions, none of which changes what can be decided."""
    print("\n| prototypes | " + " | ".join(f"{m.name}, {kind}" for m in maps for kind in KINDS) + " |")
    print("|---" * (len(maps) * len(KINDS) + 1) + "|")
    for pairs in (0, 2, 4, 9, 19):
        scores = [
            [score(refined(m, pairs, np.random.default_rng(seed)), changes, seed) for seed in seeds]
            for m in maps
            for changes in KINDS.values()
        ]
        cells = [f"{np.median(each):.0f} ({min(each):.0f} to {max(each):.0f})" for each in scores]
        print(f"| {2 + 2 * pairs} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
