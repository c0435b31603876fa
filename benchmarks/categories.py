"""What the default learner reaches on text tasks: `python -m benchmarks.categories [--seeds 70000-70019] [TASK …]`.

The true mean return is computed from the environment's own table of transitions, over a whole trial.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import numpy as np
from benchmarks import rows

import distinguo
from distinguo.controller import Controller

#: Name, environment, arguments, and the mean return asked for.
TASKS: dict[str, tuple[str, dict[str, Any], float]] = {
    "lake": ("FrozenLake-v1", {"is_slippery": False}, 1.0),
    "lake8x8": ("FrozenLake8x8-v1", {"is_slippery": False}, 1.0),
    "slippery": ("FrozenLake-v1", {}, 0.70),
    "slippery8x8": ("FrozenLake8x8-v1", {}, 0.85),
    "cliff": ("CliffWalking-v1", {}, -13.0),
    "taxi": ("Taxi-v4", {}, 7.93),  # the best there is; its makers ask for 8
}


def true_mean(name: str, arguments: dict[str, Any], controller: Controller, cap: int) -> float:
    """Return the mean return of a controller, by the transitions that the environment tells of."""
    table: Any = gymnasium.make(name, **arguments).unwrapped
    count = len(table.P)
    follow, reward = np.zeros((count, count)), np.zeros(count)
    for s, outcomes in table.P.items():
        for chance, following, gained, ends in outcomes[controller.action((float(s),))]:
            reward[s] += chance * gained
            follow[s, following] += 0.0 if ends else chance
    value = np.zeros(count)
    for _ in range(cap):
        value = reward + follow @ value
    return float(table.initial_state_distrib @ value)


class Row(NamedTuple):
    """The figures of a run."""

    task: str
    seed: int
    solved: bool
    mean: float  #: true
    steps: int
    confirmation: int
    states: int
    regions: int
    prototypes: int


FIGURES = ("environment_steps", "confirmation_steps", "states_seen", "regions", "prototypes")


def measured(task: str, seed: int) -> Row:
    """Learn once."""
    name, arguments, _ = TASKS[task]
    run = distinguo.learn(name, seed=seed, settings={f"task.{k}": v for k, v in arguments.items()})
    mean = true_mean(name, arguments, run.controller, run.configuration.spec.cap(1000))
    return Row(task, seed, run.solved, mean, *(int(run.summary[key]) for key in FIGURES))


def told(runs: list[Row]) -> str:
    """A row of the table."""
    asked = TASKS[runs[0].task][2]
    steps, confirmation, states, regions, prototypes = (rows.column(runs, key) for key in Row._fields[4:])
    means = rows.column(runs, "mean")
    cells = (
        f"{runs[0].task} ({asked:g})",
        f"{sum(run.solved for run in runs)} of {len(runs)}",
        f"{(means >= asked - 0.005).sum()} of {len(runs)}, median {np.median(means):.3f}",
        f"{np.median(steps):,.0f} / {steps.max():,.0f}",
        f"{np.median(confirmation):,.0f}",
        f"{np.median(states):.0f}",
        f"{np.median(regions):.0f} / {np.median(prototypes):.0f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure, and print the table."""
    parser = rows.options(__doc__, "categories", "70000-70019")
    parser.add_argument("tasks", nargs="*", default=list(TASKS), choices=[*TASKS, []])
    given = parser.parse_args()
    known = rows.measured(
        given.table, Row, measured, [(task, n) for task in given.tasks for n in given.seeds]
    )
    print("| task (asked) | confirmed | true mean reaches it | steps, median / most | confirmation | states seen "
          "| regions / prototypes |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for task in given.tasks:
        print(told([row for row in known if row.task == task]))


if __name__ == "__main__":
    main()
