"""Readings of the figures that are not settings: what the other reading would do, on the plain oracle of the tests.

    python -m benchmarks.unset_readings --seeds 0-39

The puck with the preset ``fast``, from scratch, until a trial of learning lasts 5,000 steps (at most 300 trials).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from benchmarks import rows
from tests.oracle import Oracle, Profile, State

from distinguo.settings import LearnerSettings
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.task import start, transition

LONG, TRIALS = 5_000, 300


class Afterwards(Oracle):
    """Surprise looks ahead with the values after the update."""

    def surprising(self, j: int, a: int, q_new: float) -> bool:
        """Look ahead anew."""
        return super().surprising(j, a, self.last_reward + self.last_discount * max(self.q[self.last_region]))

    def learn(self, s: State, a: int, r: float, s_next: State, terminal: bool) -> None:
        """Keep the transition for the test."""
        self.last_reward, self.last_region = r, self.region(s_next)
        self.last_discount = 0.0 if terminal else self.settings.gamma
        super().learn(s, a, r, s_next, terminal)


class Wholly(Oracle):
    """Figure 5 takes a profile whole, unreliable entries too."""

    def update_representation(self, s: State, j: int) -> None:
        """Mark where profiles come from."""
        self.whole = True
        super().update_representation(s, j)
        self.whole = False

    def update(self, j: int, profile: Profile) -> None:
        """Take all entries."""
        entries = [True] * self.actions if getattr(self, "whole", False) else profile.reliable
        super().update(j, Profile(profile.values, entries))


VARIANTS = {
    "as it is": Oracle,
    "surprise looks ahead with the values after the update": Afterwards,
    "Figure 5 takes unreliable entries, too": Wholly,
}


class Row(NamedTuple):
    """A run: whether a trial was long, and the steps of trials and mini-trials."""

    reading: str
    seed: int
    solved: bool
    regions: int
    trials: int
    steps: int


def learned(reading: str, seed: int) -> Row:
    """Learn once."""
    spec, rng = task_spec("puck"), np.random.default_rng(seed)
    task: Any = spec.task
    agent = VARIANTS[reading](
        lambda s, a: transition(task, s, a),
        lambda: start(task, rng),
        2,
        [start(task, rng)],
        spec.scale,
        LearnerSettings(),
        rng,
    )
    for trial in range(1, TRIALS + 1):
        before = agent.steps + agent.investigation_steps
        if agent.run_trial(LONG) == LONG:
            return Row(reading, seed, True, len(set(agent.primary)), trial, before)
    return Row(reading, seed, False, len(set(agent.primary)), TRIALS, before)


def main() -> None:
    """Print one row for each reading: medians over the seeds."""
    options = rows.options(__doc__, "unset-readings", "0-39").parse_args()
    keys = [(name, seed) for name in VARIANTS for seed in options.seeds]
    known = rows.measured(options.table, Row, learned, keys)
    print("| reading | solved | regions | trials | steps |\n|---|---|---|---|---|")
    for name in VARIANTS:
        own = [row for row in known if row.reading == name]
        middle = [f"{np.median(rows.column(own, each)):,.0f}" for each in Row._fields[3:]]
        print(f"| {name} | {sum(row.solved for row in own)} of {len(own)} | {' | '.join(middle)} |")


if __name__ == "__main__":
    main()
