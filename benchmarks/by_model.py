"""Measure the learner by a learned model: the tables of docs/readings.md, "The learner by a model".

    python benchmarks/by_model.py puck --seeds 30000-30099
    python benchmarks/by_model.py puck-continuing --seeds 30000-30099
    python benchmarks/by_model.py CartPole-v1 --seeds 30000-30099 --plain-gymnasium
    python benchmarks/by_model.py puck --seeds 0-99 --rows
    python benchmarks/by_model.py memory

A budget of 30,000 steps makes CartPole-v1 count as solved only within these; confirmation is counted apart.
``--plain-gymnasium`` learns Gymnasium's own environment behind a wall that lets nothing through but ``reset`` and
``step``, and that does not hear seeds either. ``--rows`` changes one setting at a time. ``memory`` runs the
continuing puck for 1,000,000 steps and prints what the store holds.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import gymnasium
import numpy as np

import distinguo as dg
from distinguo.learners.learner import leaves
from distinguo.runs.configuration import configure
from distinguo.runs.stage import Stage

BUDGET = {"stage.steps": 30_000}
FIGURES = ("regions", "environment_steps", "model_queries", "model_unknown")
ROWS: list[tuple[str, dict[str, Any]]] = [
    ("as it is", {}),
    ("answers are means", {"learner.linear": False}),
    ("reach 0.2", {"learner.reach": 0.2}),
    ("reach 1", {"learner.reach": 1.0}),
    ("2 neighbours per term", {"learner.neighbours": 2}),
    ("4 neighbours per term", {"learner.neighbours": 4}),
    ("200 tuples kept", {"learner.capacity": 200}),
    ("1,000 tuples kept", {"learner.capacity": 1_000}),
    ("a tenth of the actions at random", {"learner.explore": 0.1}),
    ("coin 0.05", {"learner.coin": 0.05}),
    ("MIN_UPDATES 0", {"learner.min_updates": 0}),
    ("1 rehearsal", {"learner.rehearsals": 1}),
]


class Walled(gymnasium.Env[Any, Any]):
    """A system that can be reset and stepped, and nothing else."""

    def __init__(self, name: str, seed: int) -> None:
        inner = gymnasium.make(name)
        self.observation_space, self.action_space, self.spec = (
            inner.observation_space,
            inner.action_space,
            inner.spec,
        )
        inner.reset(seed=seed)
        self._reset, self._step = (lambda: inner.reset()), (lambda action: inner.step(action))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Begin a trial, from wherever the system likes."""
        return self._reset()

    def step(self, action: Any) -> Any:
        """Take a step."""
        return self._step(action)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse to be copied."""
        raise TypeError("there is only one of it")


def measured(task: str, seeds: range, changes: dict[str, Any], walled: bool = False) -> str:
    """Return a row of figures: how many were solved, then medians with the range of 5 to 95 %."""
    began, runs = time.process_time(), []
    for seed in seeds:
        what = Walled(task, seed) if walled else task
        runs.append(dg.learn(what, learner="model", seed=seed, settings={**_budget(task), **changes}))
        print(".", end="", flush=True)
    print()
    cells = [f"{sum(run.solved for run in runs)} of {len(runs)}"]
    for name in FIGURES:
        values = [run.summary[name] for run in runs]
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        cells.append(f"{middle:,.0f} ({low:,.0f}-{high:,.0f})")
    if task == "puck-continuing":
        falls = np.array([[-run.trials[n].gained for n in (0, -1)] for run in runs])
        cells.append(f"{np.median(falls[:, 0]):,.0f} to {np.median(falls[:, 1]):,.0f}")
    return " | ".join([*cells, f"{(time.process_time() - began) / len(runs):.1f} s"])


def _budget(task: str) -> dict[str, Any]:
    return BUDGET if task == "CartPole-v1" else {}


def memory_after(steps: int) -> None:
    """Print what the store holds as the continuing puck goes on and on."""
    configuration = configure(
        "puck-continuing", learner="model", changes={"stage.steps": steps, "stage.restart": 0}
    )
    stage = Stage(configuration)
    stage.after_trial = lambda ended: (stage.settle(), stage.end_trial("cap"))  # type: ignore[method-assign]
    shown = 0
    for _ in stage.work():
        store = stage.agent.memory.store
        if stage.environment_steps >= shown:
            size = sum(array.nbytes for array in leaves(store).values())
            print(
                f"{stage.environment_steps:>9,} steps: {store.counters['size'][0]:,} tuples, {size:,} bytes"
            )
            shown += steps // 10
        if stage.environment_steps >= steps:
            return


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what")
    parser.add_argument("--seeds", default="0-99")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--plain-gymnasium", action="store_true")
    asked = parser.parse_args()
    if asked.what == "memory":
        memory_after(1_000_000)
        return
    first, _, last = asked.seeds.partition("-")
    for words, changes in ROWS if asked.rows else ROWS[:1]:
        row = measured(asked.what, range(int(first), int(last) + 1), changes, asked.plain_gymnasium)
        print(f"| {words} | {row} |", flush=True)


if __name__ == "__main__":
    main()
