"""Measure the learner by a learned model: the tables of docs/readings.md, "The learner by a model".

    python -m benchmarks.by_model puck --seeds 30000-30099
    python -m benchmarks.by_model puck-continuing --seeds 30000-30099
    python -m benchmarks.by_model CartPole-v1 --seeds 30000-30099 --plain-gymnasium
    python -m benchmarks.by_model puck --seeds 0-99 --rows
    python -m benchmarks.by_model memory

A budget of 30,000 steps makes CartPole-v1 count as solved only within these; confirmation is counted apart.
``--plain-gymnasium`` learns Gymnasium's own environment behind a wall that lets nothing through but ``reset`` and
``step``, and that does not hear seeds either. ``--rows`` changes one setting at a time. ``memory`` runs the
continuing puck for 1,000,000 steps and prints what the store holds.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from benchmarks import rows

import distinguo as dg
from distinguo.learners.learner import leaves
from distinguo.runs.configuration import configure
from distinguo.runs.stage import Stage

BUDGET = {"stage.steps": 30_000}
FIGURES = ("regions", "environment_steps", "model_queries", "model_unknown")
ROWS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "answers are means": {"learner.linear": False},
    "reach 0.2": {"learner.reach": 0.2},
    "reach 1": {"learner.reach": 1.0},
    "2 neighbours per term": {"learner.neighbours": 2},
    "4 neighbours per term": {"learner.neighbours": 4},
    "200 tuples kept": {"learner.capacity": 200},
    "1,000 tuples kept": {"learner.capacity": 1_000},
    "a tenth of the actions at random": {"learner.explore": 0.1},
    "coin 0.05": {"learner.coin": 0.05},
    "MIN_UPDATES 0": {"learner.min_updates": 0},
    "1 rehearsal": {"learner.rehearsals": 1},
}


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


class Row(NamedTuple):
    """The figures of a run."""

    task: str
    change: str
    walled: bool
    seed: int
    solved: bool
    regions: int
    environment_steps: int
    model_queries: int
    model_unknown: int
    first: float  #: what the first trial gained
    last: float
    seconds: float  #: of the processor


def measured(task: str, change: str, walled: bool, seed: int) -> Row:
    """Learn once."""
    began, what = time.process_time(), Walled(task, seed) if walled else task
    run = dg.learn(what, learner="model", seed=seed, settings={**_budget(task), **ROWS[change]})
    figures = (int(run.summary[name]) for name in FIGURES)
    gained = (float(run.trials[n].gained) for n in (0, -1))
    return Row(task, change, walled, seed, run.solved, *figures, *gained, time.process_time() - began)


def told(runs: list[Row]) -> str:
    """A line of figures: how many were solved, then medians with the range of 5 to 95 %."""
    cells = [f"{sum(run.solved for run in runs)} of {len(runs)}"]
    cells += [rows.spread(rows.column(runs, name)) for name in FIGURES]
    if runs[0].task == "puck-continuing":
        falls = (np.median(-rows.column(runs, name)) for name in ("first", "last"))
        cells.append(" to ".join(f"{fall:,.0f}" for fall in falls))
    return " | ".join([*cells, f"{rows.column(runs, 'seconds').mean():.1f} s"])


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
    parser = rows.options(__doc__, "by-model", "0-99")
    parser.add_argument("what")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--plain-gymnasium", action="store_true")
    asked = parser.parse_args()
    if asked.what == "memory":
        memory_after(1_000_000)
        return
    changes = list(ROWS) if asked.rows else list(ROWS)[:1]
    keys = [(asked.what, change, asked.plain_gymnasium, seed) for change in changes for seed in asked.seeds]
    known = rows.measured(asked.table, Row, measured, keys)
    for change in changes:
        print(f"| {change} | {told([run for run in known if run.change == change])} |")


if __name__ == "__main__":
    main()
