"""What the default learner reaches on text tasks: `python benchmarks/categories.py [--seeds 70000-70019] [TASK …]`.

The true mean return is computed from the environment's own table of transitions, over a whole trial.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import numpy as np

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


def measure(word: str, seeds: range) -> str:
    """Return a row of the table."""
    name, arguments, asked = TASKS[word]
    runs = [
        distinguo.learn(name, seed=seed, settings={f"task.{k}": v for k, v in arguments.items()})
        for seed in seeds
    ]
    means = [true_mean(name, arguments, run.controller, run.configuration.spec.cap(1000)) for run in runs]
    column = {
        key: np.array([run.summary[key] for run in runs], dtype=float)
        for key in (
            "solved",
            "environment_steps",
            "confirmation_steps",
            "states_seen",
            "regions",
            "prototypes",
        )
    }
    steps = column["environment_steps"]
    reached = sum(mean >= asked - 0.005 for mean in means)
    cells = (
        f"{word} ({asked:g})",
        f"{int(column['solved'].sum())} of {len(runs)}",
        f"{reached} of {len(runs)}, median {np.median(means):.3f}",
        f"{np.median(steps):,.0f} / {steps.max():,.0f}",
        f"{np.median(column['confirmation_steps']):,.0f}",
        f"{np.median(column['states_seen']):.0f}",
        f"{np.median(column['regions']):.0f} / {np.median(column['prototypes']):.0f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table, a row when it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=list(TASKS), choices=[*TASKS, []])
    parser.add_argument("--seeds", default="70000-70019")
    given = parser.parse_args()
    first, last = map(int, given.seeds.split("-"))
    print("| task (asked) | confirmed | true mean reaches it | steps, median / most | confirmation | states seen "
          "| regions / prototypes |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for word in given.tasks:
        print(measure(word, range(first, last + 1)), flush=True)


if __name__ == "__main__":
    main()
