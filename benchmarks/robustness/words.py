"""Sentences of the page, computed from the figures of the runs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from benchmarks.robustness.measure import AS_IT_IS, DEFAULT, PUCK, REGRET, SURPRISE, SWITCHES, Figures

CLEAR = 0.05  #: two-sided level of the sign test
CHANCE = "Chance alone does as well."
Some = Sequence[Figures]


def filled(text: str) -> str:
    """Return a paragraph in lines of equal length."""
    return textwrap.fill(" ".join(text.split()), 118, break_long_words=False, break_on_hyphens=False)


class Target(NamedTuple):
    """What is asked of a task: shares of runs, prototypes (median and 95th percentile), and median steps."""

    solved: float
    again: float
    prototypes: float
    most_prototypes: float
    steps: float

    def __str__(self) -> str:
        """Return it in words."""
        return (
            f"{self.solved:.0%}, {self.again:.0%}; {self.prototypes:g} / {self.most_prototypes:g}; "
            f"{self.steps:,.0f}"
        )


ASKED = {
    "CartPole-v1": Target(1.0, 0.99, 3, 6, 5_000),
    "Acrobot-v1": Target(0.99, 0.97, 3, 6, 10_000),
    "MountainCar-v0": Target(0.99, 0.97, 3, 6, 30_000),
    "variants": Target(0.98, 0.0, 6, 10, 20_000),
    PUCK: Target(1.0, 1.0, 4, 6, 1_500),
}


def shortfalls(name: str, some: Some, asked: Target) -> list[str]:
    """Say where figures fall short of what is asked."""
    solved, again = (float(np.mean([getattr(one, word) for one in some])) for word in ("solved", "again"))
    middle, most = np.percentile([one.prototypes for one in some], [50, 95])
    steps = float(np.median([one.environment_steps for one in some]))
    checks = [
        (solved < asked.solved, f"{solved:.0%} solved instead of {asked.solved:.0%}"),
        (again < asked.again, f"{again:.0%} again instead of {asked.again:.0%}"),
        (middle > asked.prototypes, f"{middle:g} prototypes instead of {asked.prototypes:g}"),
        (
            most > asked.most_prototypes,
            f"95th percentile of prototypes {most:.3g} instead of {asked.most_prototypes:g}",
        ),
        (steps > asked.steps, f"{steps:,.0f} steps instead of {asked.steps:,.0f}"),
    ]
    wrong = [words for missed, words in checks if missed]
    unsolved = [str(one.seed) for one in some if not one.solved]
    seeds = f" (not solved: seeds {', '.join(unsolved)})" if unsolved else ""
    return [f"- {name}: {', '.join(wrong)}{seeds}."] if wrong else []


def listed(missed: list[str]) -> str:
    """Return the shortfalls as a list."""
    if not missed:
        return "\nNothing falls short of what is asked.\n"
    return "\nShort of what is asked:\n\n" + "\n".join(missed) + "\n"


def worth(rows: Sequence[str], figures: Some) -> str:
    """Say which parts earn their keep, by pairs of runs with the same task and seed."""
    text = f"""Pairs of runs with the same task and seed, all tasks together. A difference in steps, prototypes or
        *again* counts where a two-sided sign test finds it at {CLEAR:.0%}; with so many comparisons, one or two will
        do so by chance."""
    lines = [sentence(row, figures) for row in rows if row != AS_IT_IS]
    return f"## Which parts help\n\n{filled(text)}\n\n" + "\n".join(lines) + "\n"


def sentence(row: str, figures: Some) -> str:
    """Say what a changed setting does to steps, prototypes and success."""
    some = [one for one in figures if (one.plan, one.row) == (SWITCHES, row)]
    usual = {(one.task, one.seed): one for one in figures if one.plan == DEFAULT}
    same = [usual[one.task, one.seed] for one in some]
    steps, sizes, agains = (signs(some, same, n) for n in ("environment_steps", "prototypes", "again"))
    text = f"""- *{row.capitalize()}*: more steps in {steps[0]} of {len(some)} pairs, fewer in {steps[1]} (median
        ratio {middle_ratio(some, same):.2f}); more prototypes in {sizes[0]}, fewer in {sizes[1]}; solved again in
        {agains[0]} where the default was not, and not in {agains[1]} where it was.
        **{verdict(row in (REGRET, SURPRISE), (clear(*steps), clear(*sizes), -clear(*agains)))}**"""
    return filled(text).replace("\n", "\n  ")


def verdict(added: bool, worse: Sequence[int]) -> str:
    """Draw the conclusion about what was taken out, or added; ``worse`` has 1, 0 or -1 for each measure."""
    if max(worse) > 0 > min(worse):
        names = ("steps", "prototypes", "success")
        lost, gained = (
            " and ".join(name for name, way in zip(names, worse, strict=True) if way == sign)
            for sign in (1, -1)
        )
        return f"It loses by {lost} and gains by {gained}."
    if added:
        return "It does harm." if max(worse) > 0 else "It is worth having." if min(worse) < 0 else CHANCE
    return (
        "It earns its keep." if max(worse) > 0 else "It costs." if min(worse) < 0 else "No clear difference."
    )


def signs(some: Some, same: Some, name: str) -> tuple[int, int]:
    """Return in how many pairs a figure is greater, and in how many less."""
    pairs = [(getattr(one, name), getattr(other, name)) for one, other in zip(some, same, strict=True)]
    return sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)


def clear(more: int, fewer: int) -> int:
    """Return the sign of a difference that is clear, else 0."""
    return 0 if sign_test(more, fewer) >= CLEAR else 1 if more > fewer else -1


def sign_test(more: int, fewer: int) -> float:
    """Return the two-sided probability of so uneven a split by chance."""
    count = more + fewer
    tail = sum(math.comb(count, k) for k in range(min(more, fewer) + 1)) / 2**count
    return min(1.0, 2 * tail)


def middle_ratio(some: Some, same: Some) -> float:
    ratios = [one.environment_steps / other.environment_steps for one, other in zip(some, same, strict=True)]
    return float(np.median(ratios))


def select(figures: Some, plan: str, row: str, task: str) -> list[Figures]:
    """Return the runs of a row."""
    return [one for one in figures if (one.plan, one.row, one.task) == (plan, row, task)]
