"""What is measured: tasks x seeds x switches.

The constants of the learner were chosen on the development seeds; every figure of the page comes from the held-out
ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.robustness.walls import UnequalWalls, controllable

from distinguo.runs.configuration import Configuration, configure
from distinguo.tasks.catalog import spec_of

DEVELOPMENT = range(1_000, 1_100)
HELD_OUT = range(80_000, 80_100)
FEW, SOME, ALL = 20, 50, 100  #: of the held-out seeds: for a switch, for a variant, for the default

DEFAULT, SWITCHES, VARIANTS, PUCK = "default", "switches", "variants", "puck"
CLASSIC = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0")
AS_IT_IS = "as it is"
REGRET, SURPRISE = "with proposals by regret", "with proposals by surprise"

#: One setting of the learner each, changed from the default.
ROWS: dict[str, dict[str, Any]] = {
    AS_IT_IS: {},
    "without reuse of what was tried": {"reuse": False},
    "without giving up early": {"give_up": False},
    "without imagined trials": {"screen": 1},
    "without going furthest": {"furthest": 0.0},
    "without restarts": {"stall": 10**6},
    "without several changes at once": {"several": 0.0},
    "without counterexamples": {"counterexamples": 0},
    "without shrinking before a claim": {"shrink": 0},
    "without widening a stalled race": {"more_starts": 1},
    "without the effort of the search": {"effort": 0.0},
    REGRET: {"regret": 0.5},
    SURPRISE: {"surprise": 0.5},
}
PUCKS: dict[str, tuple[Any, dict[str, Any]]] = {
    "puck, beta 0.15": ("puck", {"task.beta": 0.15}),
    "puck, beta 0.6": ("puck", {"task.beta": 0.6}),
    "puck, force 2": ("puck", {"task.force": 2.0}),
    "puck, force 6": ("puck", {"task.force": 6.0}),
    "puck, interval 0.01": ("puck", {"task.interval": 0.01}),
    "puck, interval 0.05": ("puck", {"task.interval": 0.05}),
    "puck, left wall at 1.2": (spec_of(UnequalWalls)._replace(controllable=controllable), {}),
}
POLES: dict[str, tuple[Any, dict[str, Any]]] = {
    "CartPole-v1, half_length 0.25": ("CartPole-v1", {"task.half_length": 0.25}),
    "CartPole-v1, half_length 1.5": ("CartPole-v1", {"task.half_length": 1.5}),
    "CartPole-v1, pole_mass 1": ("CartPole-v1", {"task.pole_mass": 1.0}),
    "CartPole-v1, cart_mass 0.3": ("CartPole-v1", {"task.cart_mass": 0.3}),
    "CartPole-v1, force 5": ("CartPole-v1", {"task.force": 5.0}),
}
#: Other tasks of the same kind: the task, what is changed, and the learner; None for the one that suits the task.
OTHERS: dict[str, tuple[Any, dict[str, Any], str | None]] = {
    **{name: (*given, None) for name, given in {**PUCKS, **POLES}.items()},
    **{f"{name}; probation": (*given, "probation") for name, given in PUCKS.items()},
}
LEARNERS = {"economy (default)": "economy", "probation": "probation"}


class Job(NamedTuple):
    """One run: where it belongs on the page, and what is learned."""

    table: str
    row: str
    task: str
    seed: int

    def configuration(self) -> Configuration:
        """Return what decides the run."""
        if self.table == VARIANTS:
            task, changes, learner = OTHERS[self.row]
            return configure(task, seed=self.seed, changes=changes, learner=learner)
        if self.table == PUCK:
            return configure("puck", seed=self.seed, learner=LEARNERS[self.row])
        changes = {f"learner.{name}": value for name, value in ROWS[self.row].items()}
        return configure(self.task, seed=self.seed, changes=changes, learner="probation")


class Plan(NamedTuple):
    """Which parts of the page are measured, on which seeds."""

    tasks: tuple[str, ...] = CLASSIC
    rows: tuple[str, ...] = tuple(ROWS)
    seeds: range = HELD_OUT
    variants: Mapping[str, Any] = OTHERS
    puck: bool = True

    def jobs(self) -> list[Job]:
        """Return all runs, those of the default first."""
        few, some, every = (self.seeds[:count] for count in (FEW, SOME, ALL))
        jobs = [Job(DEFAULT, AS_IT_IS, task, n) for task in self.tasks for n in every]
        jobs += [
            Job(SWITCHES, row, task, n)
            for task in self.tasks
            for row in self.rows
            if row != AS_IT_IS
            for n in few
        ]
        jobs += [Job(VARIANTS, row, row.partition(",")[0], n) for row in self.variants for n in some]
        if self.puck:
            jobs += [Job(PUCK, row, "puck", n) for row in LEARNERS for n in every]
        return jobs
