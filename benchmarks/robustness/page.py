"""The page docs/robustness.md: its tables, computed from the figures of the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from benchmarks.robustness.measure import PLACES, TRIALS
from benchmarks.robustness.plan import (
    ALL,
    AS_IT_IS,
    DEFAULT,
    DEVELOPMENT,
    FEW,
    LEARNERS,
    PUCK,
    SOME,
    SWITCHES,
    VARIANTS,
    Plan,
)
from benchmarks.robustness.words import ASKED, Some, filled, listed, middle_ratio, select, shortfalls, worth

from distinguo.studies.measure import LONG

WORST, RARE = 90, 95  #: percentiles: one run in ten, or in twenty, is worse
COLUMNS = ("solved", "again", "prototypes", "steps", "with failed claims", "total steps")

HEAD = """# Robustness

How often does the default solve a task that it was not tuned for, and what is each of its parts worth? One command
makes this page and [its data](robustness.csv), a line for every run:

    python -m benchmarks.robustness

"""
TERMS = """
The constants of the learner `probation` ([memory.py](../src/distinguo/learners/probation/memory.py)) were chosen
on the development seeds {development}; every figure below comes from the {kind} seeds {seeds}: the default is
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


def written(plan: Plan, figures: Some, replays: str = "") -> str:
    """Return the page."""
    every, some, few = (len(plan.seeds[:count]) for count in (ALL, SOME, FEW))
    terms = TERMS.format(
        development=_range(DEVELOPMENT),
        seeds=_range(plan.seeds),
        kind="same" if set(plan.seeds) & set(DEVELOPMENT) else "held-out",
        every=every,
        some=some,
        few=few,
        trials=TRIALS,
        places=PLACES,
        long=LONG,
    )
    parts = [HEAD + filled(terms) + "\n", default_table(plan, figures)]
    parts += [switch_table(plan, task, figures) for task in plan.tasks]
    parts.append(worth(plan.rows, figures))
    if plan.variants:
        parts.append(variant_table(plan, figures))
    if plan.puck:
        parts.append(puck_table(figures))
    return "\n".join([*parts, replays]).rstrip() + "\n"


def _range(seeds: range) -> str:
    return f"{seeds[0]}-{seeds[-1]}"


def default_table(plan: Plan, figures: Some) -> str:
    """Return the table of the default, with what is asked for."""
    chosen = {task: select(figures, DEFAULT, AS_IT_IS, task) for task in plan.tasks}
    rows = {task: [*cells(some, RARE), str(ASKED[task])] for task, some in chosen.items()}
    words = "Median / 95th percentile; asked: solved, again; prototypes; median steps."
    title = f"## The default\n\n{PICTURE}\n{words}\n"
    missed = [words for task, some in chosen.items() for words in shortfalls(task, some, ASKED[task])]
    return title + table("task", rows, (*COLUMNS, "asked")) + listed(missed)


def switch_table(plan: Plan, task: str, figures: Some) -> str:
    """Return what becomes of a task when one setting is changed."""
    usual = {one.seed: one for one in select(figures, DEFAULT, AS_IT_IS, task)}
    same = [usual[seed] for seed in plan.seeds[:FEW]]
    rows = {AS_IT_IS: [*cells(same), "1"]}
    for row in plan.rows:
        if row != AS_IT_IS:
            some = select(figures, SWITCHES, row, task)
            rows[row] = [*cells(some), f"{middle_ratio(some, same):.2f}"]
    text = f"""{len(same)} seeds, the same in every row; median / worst decile. The last column is the median, over
        seeds, of the steps as a multiple of those of the default."""
    return f"## {task}: what each part is worth\n\n{filled(text)}\n" + table(
        "the learner", rows, (*COLUMNS, "times")
    )


def variant_table(plan: Plan, figures: Some) -> str:
    """Return how the default does on other tasks of the same kind."""
    chosen = {
        row: [one for one in figures if (one.table, one.row) == (VARIANTS, row)] for row in plan.variants
    }
    asked = ASKED[VARIANTS]
    text = f"""The learner that suits each task, and nothing changed but the task; below, the puck's variants with the
        learner `probation`. Median / 95th percentile. Asked: {asked.solved:.0%} solved, prototypes
        {asked.prototypes:g} / {asked.most_prototypes:g}, median steps {asked.steps:,.0f}."""
    rows = {row: [*cells(some, RARE), some[0].learner] for row, some in chosen.items()}
    missed = [words for row, some in chosen.items() for words in shortfalls(row, some, asked)]
    return f"## Variants\n\n{filled(text)}\n" + table("task", rows, (*COLUMNS, "learner")) + listed(missed)


def puck_table(figures: Some) -> str:
    """Return how both learners do on the puck."""
    chosen = {row: select(figures, PUCK, row, "puck") for row in LEARNERS}
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
