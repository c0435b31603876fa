"""Our own learner, as ``distinguo learn`` runs it: it makes its own claims, and the stage confirms them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from benchmarks.rivals.referee import EVERY, again
from benchmarks.rivals.world import World

import distinguo
from distinguo.runs.stage import Stage

#: A trial for every proposal from its very start, for those who cannot put their task back into a state.
FROM_THE_START = {"learner.reuse": False}
TRIALS = 3  #: greedy trials of a point of the curve, which are part of no count


class Curve:
    """Measures, every so many steps, what the present map gains."""

    def __init__(self, task: str, seed: int) -> None:
        self.world, self.points, self.next = World(task, [seed, 3]), [], EVERY

    def __call__(self, stage: Stage) -> None:
        if stage.environment_steps >= self.next:
            policy = stage.controller.action
            mean = np.mean([self.world.trial(policy) for _ in range(TRIALS)])
            self.points.append((stage.environment_steps, float(mean)))
            self.next = stage.environment_steps + EVERY


def learn(task: str, seed: int, budget: int, name: str = "ours", **changes: Any) -> dict[str, Any]:
    """Learn, and say how it went in the words of the other rivals."""
    began, curve = time.perf_counter(), Curve(task, seed)
    last: list[Stage] = []

    def watch(stage: Stage) -> None:
        last[:] = [stage]
        curve(stage)

    run = distinguo.learn(task, seed=seed, settings={"stage.steps": budget, **changes}, watch=watch)
    summary = run.summary
    solved = (
        run.solved and summary["environment_steps"] <= budget
    )  # a proposal that was begun is tried to its end
    final = last[0].tested  # steps of the last confirmation; those before it failed
    curve.points.append((summary["environment_steps"], float(summary["score"])))
    return {
        "task": task,
        "rival": name,
        "seed": seed,
        "budget": budget,
        "solved": solved,
        "steps": summary["environment_steps"],
        "failed_steps": summary["confirmation_steps"] - final,
        "confirmation_steps": summary["confirmation_steps"],
        "size": summary["prototypes"],
        "unit": "prototypes",
        "again": again(task, seed, run.controller.action) if solved else None,
        "seconds": round(time.perf_counter() - began, 1),
        "curve": curve.points,
    }
