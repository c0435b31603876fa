"""The page docs/robustness.md: its tables, computed from the figures of the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from benchmarks import planned
from benchmarks.robustness.measure import (
    AS_IT_IS,
    DEFAULT,
    DEVELOPMENT,
    PLACES,
    PUCK,
    SWITCHES,
    VARIANTS,
    Plans,
    seeds_of,
)
from benchmarks.robustness.words import ASKED, Some, filled, listed, middle_ratio, select, shortfalls, worth

from distinguo.studies.measure import LONG
from distinguo.studies.plan import SUITED

WORST, RARE = 90, 95  #: percentiles: one run in ten, or in twenty, is worse
COLUMNS = ("solved", "again", "prototypes", "steps", "with failed claims", "total steps")

HEAD = """# Robustness

How often does the default solve a task that it was not tuned for, and what is each of its parts worth? One command
makes this page and [its data](robustness.csv), a line for every run:

    python -m benchmarks.robustness

It runs the plans `robustness-*.toml` in [benchmarks/plans](../benchmarks/plans), as `distinguo study` does one.
"""
TERMS = """
The constants of the learner `probation` ([memory.py](../src/distinguo/learners/probation/memory.py)) were chosen
on the development seeds {development}; every figure below comes from the held-out seeds {seeds}: the default is
measured on {every} of them, a variant on {some}, a changed setting on {few}. *Solved*: the run's own confirmation was
passed. *Again*: solved, and the mean return of {trials} new greedy trials is still at the threshold (for the puck: of
{places} new starts in the central quarter, those that are not doomed last {long:,} steps in the median). *Steps* are
those of learning. Claims that did not pass teach, too: *with failed claims* adds their steps. *Total steps* are all
that the task took, the confirmation, values and prices included. Two figures are the median and the worst decile of
all runs, or, where a table says so, the median and the 95th percentile; a run that is not solved has used up its
budget.
"""


PICTURE = """\
![Steps until solved, from the quickest run to the slowest, for three tasks](images/robustness.png)

*All runs of the default, from the quickest to the slowest.* (`python -m tools.pictures robustness`)
"""


def written(plans: Plans, figures: Some, replays: str = "") -> str:
    """Return the page."""
    default, switches = plans[DEFAULT], plans[SWITCHES]
    variants = {name: plans[name] for name in VARIANTS if name in plans}
    seeds = seeds_of(default)
    terms = TERMS.format(
        development=_range(DEVELOPMENT),
        seeds=_range(seeds),
        every=len(seeds),
        some=max((len(seeds_of(plan)) for plan in variants.values()), default=0),
        few=len(seeds_of(switches)),
        trials=default.head.trials,
        places=PLACES,
        long=LONG,
    )
    rows = list(dict.fromkeys(planned.words_of(cell.settings) for cell in switches.cells))
    parts = [HEAD + filled(terms) + "\n", default_table(default.head.tasks, figures)]
    parts += [switch_table(rows, seeds_of(switches), task, figures) for task in default.head.tasks]
    parts.append(worth(rows, figures))
    if variants:
        parts.append(variant_table(variants, figures))
    if PUCK in plans:
        parts.append(puck_table(plans[PUCK].head.learners, figures))
    return "\n".join([*parts, replays]).rstrip() + "\n"


def _range(seeds: Sequence[int]) -> str:
    return f"{seeds[0]}-{seeds[-1]}"


def default_table(tasks: Sequence[str], figures: Some) -> str:
    """Return the table of the default, with what is asked for."""
    chosen = {task: select(figures, DEFAULT, AS_IT_IS, task) for task in tasks}
    rows = {task: [*cells(some, RARE), str(ASKED[task])] for task, some in chosen.items()}
    words = "Median / 95th percentile; asked: solved, again; prototypes; median steps."
    title = f"## The default\n\n{PICTURE}\n{words}\n"
    missed = [words for task, some in chosen.items() for words in shortfalls(task, some, ASKED[task])]
    return title + table("task", rows, (*COLUMNS, "asked")) + listed(missed)


def switch_table(changes: Sequence[str], seeds: Sequence[int], task: str, figures: Some) -> str:
    """Return what becomes of a task when one setting is changed."""
    usual = {one.seed: one for one in select(figures, DEFAULT, AS_IT_IS, task)}
    same = [usual[seed] for seed in seeds]
    rows = {AS_IT_IS: [*cells(same), "1"]}
    for change in changes:
        some = select(figures, SWITCHES, change, task)
        rows[change] = [*cells(some), f"{middle_ratio(some, same):.2f}"]
    text = f"""{len(same)} seeds, the same in every row; median / worst decile. The last column is the median, over
        seeds, of the steps as a multiple of those of the default."""
    return f"## {task}: what each part is worth\n\n{filled(text)}\n" + table(
        "the learner", rows, (*COLUMNS, "times")
    )


def variant_table(plans: Plans, figures: Some) -> str:
    """Return how the default does on other tasks of the same kind."""
    learners = dict.fromkeys(learner for plan in plans.values() for learner in plan.head.learners)
    chosen = {
        f"{cell.task}, {planned.words_of(cell.settings)}{'' if cell.learner == SUITED else f'; {cell.learner}'}": [
            one for one in figures if (one.plan, one.task, one.asked, one.settings) == (name, *cell)
        ]
        for learner in learners
        for name, plan in plans.items()
        for cell in plan.cells
        if cell.learner == learner
    }
    asked = ASKED["variants"]
    text = f"""The learner that suits each task, or the one that is named, and nothing changed but the task. Median /
        95th percentile. Asked: {asked.solved:.0%} solved, prototypes {asked.prototypes:g} /
        {asked.most_prototypes:g}, median steps {asked.steps:,.0f}."""
    rows = {row: [*cells(some, RARE), some[0].learner] for row, some in chosen.items()}
    missed = [words for row, some in chosen.items() for words in shortfalls(row, some, asked)]
    return f"## Variants\n\n{filled(text)}\n" + table("task", rows, (*COLUMNS, "learner")) + listed(missed)


def puck_table(learners: Sequence[str], figures: Some) -> str:
    """Return how each learner does on the puck."""
    chosen = {
        f"{learner}{' (default)' if number == 0 else ''}": [
            one for one in figures if (one.plan, one.asked) == (PUCK, learner)
        ]
        for number, learner in enumerate(learners)
    }
    rows = {row: cells(some, RARE) for row, some in chosen.items()}
    missed = [words for row, some in chosen.items() for words in shortfalls(row, some, ASKED[PUCK])]
    title = f"## The puck, from scratch\n\nMedian / 95th percentile; asked: {ASKED[PUCK]}.\n"
    return title + table("learner", rows, COLUMNS) + listed(missed)


def table(first: str, rows: Mapping[str, list[str]], columns: Sequence[str]) -> str:
    """Return a table in Markdown."""
    lines = [f"| {first} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(row) + " |" for name, row in rows.items()]
    return "\n" + "\n".join(lines) + "\n"


def cells(some: Some, worst: int = WORST) -> list[str]:
    """Return the cells of a row."""
    first = [f"{sum(one.solved for one in some)} of {len(some)}", f"{sum(one.again for one in some)}"]
    learning = [one.environment_steps + one.failed_confirmation_steps for one in some]
    numbers = [[one.prototypes for one in some], [one.environment_steps for one in some], learning]
    return first + [spread(values, worst) for values in (*numbers, [one.total_steps for one in some])]


def spread(values: Sequence[float], worst: int = WORST) -> str:
    """Return the median and a percentile."""
    middle, far = np.percentile(values, [50, worst])
    return f"{middle:,.0f} / {far:,.0f}" if middle >= 100 else f"{middle:g} / {far:.3g}"
