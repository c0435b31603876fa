"""What the runs say: a table and a paragraph in Markdown, the runs as CSV, and a picture."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.rivals.referee import EVERY, LATEST, SOONEST
from benchmarks.rivals.world import TASKS
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from distinguo.tasks.catalog import task_spec
from distinguo.views.colours import HUES
from distinguo.views.plots import save_figure

Run = dict[str, Any]
Runs = dict[str, dict[str, list[Run]]]  #: by task and rival
COLUMNS = [
    "task",
    "rival",
    "seed",
    "budget",
    "solved",
    "steps",
    "failed_steps",
    "confirmation_steps",
    "size",
    "unit",
    "again",
    "seconds",
]
HEAD = "| rival | size | solved | again | learning steps: median | worst | × ours | failed tests: steps |"
OURS = "ours"

RULES = f"""\
# Comparison with other learners

`python -m benchmarks.rivals` writes this page, [the runs](rivals.csv) and the picture.

**What is the same for all.** Every step of a training trial counts, also those of candidates that are discarded. A
rival's greedy policy is frozen and tested when the mean of its last {LATEST} training trials reaches the threshold,
at most every {SOONEST} steps, and in any case every {EVERY:,} steps. The test is the sequential one that confirms our
own runs (`distinguo.evaluation.confirmation.judge`), on new starts. The steps of tests are counted apart, so a
test costs a rival nothing. A run ends when a test is passed or the budget is used up. It counts as solved after the
steps before that test, or as the whole budget. Our learner claims success itself, when its map reaches the threshold
on the starts of its race. *Again*: of the solved runs, those whose mean over 100 further trials still reaches the
threshold.

**What differs.** Our learner restores earlier states, which the others never do: it re-runs a proposal only from the
first decision that differs. *Ours, from the start* does not restore states: every proposal is a whole trial. Both of
ours learn from the trials of failed tests (their worst starts join the race), and random search and the tree use the
mean of a failed test as the score of the policy; the others do not. The last column gives the steps of failed tests.
Refining the map of a solved run for other learners takes further steps, which are not in this table.
"""
NOTES = """\
**The rivals** (`benchmarks/rivals/`). *Random search*: 2-4 prototypes at visited states with random actions,
the best by three trials. *Evolutionary tree*: axis-parallel cuts, eight parents, eight children a generation, one
more trial for each. *Grid*: Q-learning (α 0.2, γ 0.99, optimistic) on the 162 boxes of Barto, Sutton and
Anderson, on 20 × 20 and on 6 × 6 × 5 × 5 boxes. *Tiles*: SARSA(0.9) with replacing traces, greedy with
optimistic values; MountainCar with ten tilings of 8 × 8 as in Sutton and Barto, the others with sixteen of 6 to the
fourth. On Acrobot both observe the angles. *ARS* is ours, *DQN* and *PPO* are Stable-Baselines3's, *QR-DQN* is
sb3-contrib's, with the settings that the RL Zoo publishes (DLR-RM/rl-baselines3-zoo, commit 22e3ff2,
hyperparams/ars.yml, dqn.yml, ppo.yml, qrdqn.yml); schedules run over the steps published with them. We chose the
settings of grid, tiles and tree on seeds 1000-1001, so others may do better. PPO's settings for
MountainCar and Acrobot are meant for a million steps.
"""


def grouped(runs: list[Run]) -> Runs:
    found: Runs = defaultdict(lambda: defaultdict(list))
    for run in runs:
        found[run["task"]][run["rival"]].append(run)
    return found


def median_steps(runs: list[Run], *also: str) -> float:
    """Return the median of the learning steps, in which a run that was not solved counts as infinitely many."""
    sums = [sum(r[key] for key in ("steps", *also)) if r["solved"] else np.inf for r in runs]
    return float(np.median(sums))


def told(steps: float, budget: int) -> str:
    return f"{steps:,.0f}" if np.isfinite(steps) else f"> {budget:,}"


def times(theirs: float, ours: float, budget: int) -> str:
    """Return how many times our steps a rival needs, at least, where it did not solve the task."""
    if not np.isfinite(ours):
        return ""
    return f"{theirs / ours:.2f}" if np.isfinite(theirs) else f"> {budget / ours:.1f}"


def size_of(runs: list[Run]) -> str:
    return f"{np.median([r['size'] for r in runs]):,.0f} {runs[0]['unit']}"


def row(name: str, runs: list[Run], ours: float) -> str:
    threshold, budget = task_spec(runs[0]["task"]).goal.threshold, runs[0]["budget"]
    solved = [r for r in runs if r["solved"]]
    middle = median_steps(runs)
    worst = max(r["steps"] for r in runs) if len(solved) == len(runs) else np.inf
    cells = [
        name,
        size_of(solved or runs),
        f"{len(solved)} of {len(runs)}",
        f"{sum(r['again'] >= threshold for r in solved)} of {len(solved)}" if solved else "",
        told(middle, budget),
        told(worst, budget),
        times(middle, ours, budget),
        f"{np.median([r['failed_steps'] for r in runs]):,.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def table(task: str, rivals: dict[str, list[Run]]) -> str:
    ours = median_steps(rivals[OURS]) if OURS in rivals else np.inf
    threshold = task_spec(task).goal.threshold
    lines = [f"## {task}: a mean return of {threshold:g}", "", HEAD, "|---" * (HEAD.count("|") - 1) + "|"]
    return "\n".join([*lines, *(row(name, runs, ours) for name, runs in rivals.items())])


def paragraph(found: Runs) -> str:
    """Say of each task how many times our steps DQN needed, and who needed fewer than ours."""
    return "\n".join(f"- {sentence(task, rivals)}" for task, rivals in found.items() if OURS in rivals)


def sentence(task: str, rivals: dict[str, list[Run]]) -> str:
    ours, budget = median_steps(rivals[OURS]), rivals[OURS][0]["budget"]
    quicker = [n for n, runs in rivals.items() if not n.startswith(OURS) and median_steps(runs) < ours]
    text = f"**{task}**: ours {told(ours, budget)} steps and {size_of(rivals[OURS])}"
    if "DQN" in rivals:
        theirs = median_steps(rivals["DQN"])
        text += (
            f", DQN {told(theirs, budget)} ({times(theirs, ours, budget)} times) and {size_of(rivals['DQN'])}"
        )
    with_tests = [
        f"{name} {told(median_steps(rivals[name], 'failed_steps'), budget)}"
        for name in (OURS, "DQN")
        if name in rivals
    ]
    return f"{text}. With failed tests: {', '.join(with_tests)}. Quicker than ours: {', '.join(quicker) or 'none'}."


def seeds_told(found: Runs) -> str:
    """Say which seeds were run, and what a run that was not solved counts as."""
    spans: dict[str, list[str]] = defaultdict(list)
    for rivals in found.values():
        for name, runs in rivals.items():
            seeds = sorted(r["seed"] for r in runs)
            span = f"{seeds[0]}-{seeds[-1]}"
            spans[span] += [] if name in spans[span] else [name]
    budget = max(r["budget"] for rivals in found.values() for runs in rivals.values() for r in runs)
    text = "; ".join(f"{span} for {', '.join(names)}" for span, names in spans.items())
    return f"Seeds: {text}. Budget: {budget:,} learning steps; a run not solved within them counts as more."


def level(run: Run, at: np.ndarray) -> np.ndarray:
    """Return the return of the latest test before each of these steps; of a solved run the last for ever after."""
    steps = np.array([point[0] for point in run["curve"]])
    means = np.array([np.nan, *(point[1] for point in run["curve"])])
    return means[np.searchsorted(steps, at, side="right")]


def picture(found: Runs) -> Figure:
    """Draw the return against the steps: the median over the seeds of what was last measured."""
    figure = Figure(figsize=(5.2 * len(found), 6.2), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (task, rivals) in zip(
        figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True
    ):
        budget = max(r["budget"] for runs in rivals.values() for r in runs)
        at = np.geomspace(min(500, budget / 2), budget, 200)
        for k, (name, runs) in enumerate(rivals.items()):
            levels = np.array([level(run, at) for run in runs])
            known = ~np.isnan(levels).any(axis=0)
            width = 3.0 if name == OURS else 1.3
            label = f"{name}: {size_of(runs)}"
            axes.plot(
                at[known],
                np.median(levels[:, known], axis=0),
                color=HUES[k % len(HUES)],
                lw=width,
                label=label,
            )
        threshold = task_spec(task).goal.threshold
        axes.axhline(threshold, color="#777777", lw=0.8, ls="--")
        axes.set(xscale="log", xlabel="learning steps", ylabel="return of the greedy policy", title=task)
        axes.legend(fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    return figure


def write(runs: list[Run], out: Path, left_out: list[str]) -> None:
    """Write the page, the runs and the picture."""
    by_task = grouped(runs)
    found = {task: by_task[task] for task in TASKS if task in by_task}
    (out / "images").mkdir(parents=True, exist_ok=True)
    with (out / "rivals.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(runs)
    save_figure(picture(found), out / "images" / "rivals.png")
    image = "![Return against learning steps](images/rivals.png)"
    caption = (
        "The median over the seeds of the mean return in the latest test; solved runs stay where they were."
    )
    parts = [RULES, seeds_told(found), paragraph(found), *left_out]
    parts += [f"{image}\n\n{caption}", *(table(task, rivals) for task, rivals in found.items()), NOTES]
    (out / "rivals.md").write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
