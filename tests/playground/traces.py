"""Runs that the playground and the package both make, to be compared bit for bit."""

from __future__ import annotations

from typing import Any, NamedTuple

import distinguo
from distinguo.controls import PAPER_SEEDS
from distinguo.learners.economy.memory import RULES
from distinguo.runs.run import Run

#: A puck that is held for so long is held; half a million steps more would only take longer.
SHORT = {"cap": 2_000, "hold": 2_000}
STAGE = ("cap", "hold", "trials", "prototypes", "restart", "confirm_steps")
#: The package's names of the tasks, what they are made with, and the settings that the playground learns them with.
NAMES = {"puck": "puck", "car": "MountainCar-v0", "lake": "FrozenLake-v1"}
MADE_WITH: dict[str, dict[str, Any]] = {"lake": {"task.is_slippery": False}}
SUITED: dict[str, dict[str, Any]] = {
    "puck": {},
    "car": {
        "gamma": 0.93,
        "epsilon": 8.0,
        "alpha": 0.3,
        "min_updates": 0,
        "max_steps": 1,
        "merge_interval": 0,
        "trials": 1_000,
        "restart": 200,
    },
    "lake": {"gamma": 0.9, "explore": 0.1, "coin": 0.1, "max_steps": 1, "min_updates": 1},
}
POINTS = tuple((x, v) for x in (-0.75, 0.15) for v in (-0.0525, -0.0175, 0.0175, 0.0525))
STARTS: dict[str, Any] = {"scratch": None, "seeds": PAPER_SEEDS, "points": POINTS}


class Case(NamedTuple):
    """What is learned: the choices of a reader, and changes of single settings."""

    preset: str = "default"
    seed: int = 0
    start: str = "scratch"
    task: str = "puck"
    epsilon: float | None = None
    gamma: float | None = None
    changes: dict[str, Any] = SHORT

    def choice(self) -> dict[str, Any]:
        """Return the choices as JavaScript reads them; the seed is a BigInt there."""
        chosen = {name: getattr(self, name) for name in ("task", "preset", "start", "epsilon", "gamma")}
        return {**chosen, "seed": str(self.seed)}


#: Every setting that a preset of the puck leaves alone is changed once.
VARIANTS = (
    {"restart": 4, "trials": 60},
    {"review_merged": True, "merge_interval": 1},
    {"review_merged": True, "merge_interval": 1, "new_updates": 3},
    {"merge_into_youngest": True, "merge_interval": 1, "new_updates": 3},
    {"surprise_reliable": True, "explore": 0.1, "trials": 40},
    {"fe_counts_trials": False, "fe_interval": 2, "new_updates": 3, "new_investigated": False, "trials": 60},
    {"delta": 0.02, "coin": 0.2, "min_updates": 1, "prototypes": 6},
)


def cases() -> list[Case]:
    """Return the runs to compare: twenty seeds, all presets, both starts, other settings."""
    return [
        *(Case(seed=seed) for seed in range(20)),
        *(Case("fast", seed) for seed in (0, 5)),
        Case("paper", 1),
        *(Case(preset, 3, "seeds") for preset in ("default", "fast", "paper")),
        Case(seed=5, epsilon=0.03, gamma=0.95),
        Case(seed=2**63 - 1, epsilon=0.3),
        *(Case(changes={**SHORT, **changed}) for changed in VARIANTS),
    ]


def cases_of(task: str) -> list[Case]:
    """Return twenty seeds of a task of Gymnasium as the page learns it."""
    start = "points" if task == "car" else "scratch"
    return [Case(seed=seed, task=task, start=start, changes={}) for seed in range(20)]


def learned(case: Case) -> Run:
    """Learn a case with the package."""
    changes = {**SUITED[case.task], **case.changes}
    settings = {f"{'stage' if name in STAGE else 'learner'}.{name}": to for name, to in changes.items()}
    for name in ("epsilon", "gamma"):
        if getattr(case, name) is not None:
            settings[f"learner.{name}"] = getattr(case, name)
    return distinguo.learn(
        NAMES[case.task],
        seed=case.seed,
        preset=case.preset if case.task == "puck" else "fast",
        settings={**MADE_WITH.get(case.task, {}), **settings},
        learner="economy",
        prototypes=STARTS[case.start],
    )


def trace(run: Run) -> dict[str, Any]:
    """Return what the playground's ``Stage.trace`` returns."""
    partition, names = run.representation.partition, ("length", "ended", "regions", "prototypes", "gained")
    bits = {name: bit for bit, name in RULES.items()}
    return {
        "solved": run.solved,
        "trials": [
            {**{name: getattr(row, name) for name in names}, "steps": row.environment_steps}
            for row in run.trials
        ],
        "score": run.summary["score"],
        "prototypes": partition.prototypes.tolist(),
        "primary": partition.primaries[partition.regions].tolist(),
        "q": run.q.tolist(),
        "updates": run.updates.tolist(),
        "reasons": [{**entry, "rules": sum(bits[name] for name in entry["rules"])} for entry in run.reasons],
        "investigation_steps": run.summary["investigation_steps"],
        "attempts": run.summary["attempts"],
    }


def differences(case: Case, theirs: dict[str, Any]) -> list[str]:
    """Return what a trace of the playground has otherwise than the package."""
    ours = trace(learned(case))
    assert set(ours) == set(theirs)
    return [name for name, value in ours.items() if value != theirs[name]]
