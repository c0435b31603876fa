"""Small controllers with amounts: the table of docs/small-controllers.md.

    python -m benchmarks.small                       # all tasks, ten seeds each; a day
    python -m benchmarks.small Pendulum-v1 --seeds 98000-98009
    python -m benchmarks.small --write               # the table of the runs so far

Each run is learned from scratch and then tried in 100 new trials of Gymnasium's own environment. Its row goes to
docs/small-controllers.csv as soon as it is known; what is there is not run again. MuJoCo and Box2D come with
``pip install "distinguo[others]"``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from benchmarks import rows

import distinguo as dg
from distinguo.evaluation.statistics import interquartile_mean
from distinguo.exports.header import to_header
from distinguo.exports.tables import labelled
from distinguo.runs.seeds import seeds as parse_seeds
from distinguo.tasks.amounts import amounts_of, laws_of

NEW = 100  #: trials that a controller is tried in again
FIRST_NEW = 10**6  #: the seed of the first new trial, far from those of any run
HELD_OUT = "98000-98009"
DOCS = Path(__file__).parents[1] / "docs"
TABLE, PAGE = DOCS / "small-controllers.csv", DOCS / "small-controllers.md"
BEGIN, END = "<!-- table -->", "<!-- end of the table -->"
#: The steps of a run, and the mean return to reach.
TASKS: dict[str, tuple[int, float]] = {
    "Pendulum-v1": (300_000, -165.0),
    "MountainCarContinuous-v0": (20_000, 93.0),
    "InvertedPendulum-v5": (100_000, 1000.0),
    "InvertedDoublePendulum-v5": (500_000, 9100.0),
    "Swimmer-v5": (500_000, 340.0),
    "LunarLanderContinuous-v3": (1_500_000, 200.0),
    "Hopper-v5": (5_000_000, 2000.0),
}


class Row(NamedTuple):
    """The figures of a run."""

    task: str
    seed: int
    solved: bool
    anew: float  #: the mean return of the new trials
    worst: float  #: the mean of their worst tenth
    regions: int
    numbers: int
    bytes: int  #: of the header in C, without its comment
    steps: int
    confirmation: int
    seconds: float


def tried_anew(task: str, run: Any) -> np.ndarray:
    """The returns of new trials, in Gymnasium's own environment."""
    env, returns, laws = gymnasium.make(task), [], laws_of(run.configuration.spec)
    box: Any = env.action_space
    for number in range(NEW):
        seen, _ = env.reset(seed=FIRST_NEW + number)
        gained, over = 0.0, False
        while not over:
            amounts = amounts_of(laws, run.controller.action(seen.tolist()), seen.tolist())
            seen, reward, ended, stopped, _ = env.step(np.array(amounts).astype(box.dtype).reshape(box.shape))
            gained, over = gained + float(reward), ended or stopped
        returns.append(gained)
    return np.array(returns)


def measured(task: str, seed: int, steps: int) -> Row:
    """Learn once."""
    run = dg.learn(task, learner="evolution", seed=seed, settings={"stage.steps": steps})
    returns, summary = tried_anew(task, run), run.summary
    worst = np.sort(returns)[: NEW // 10].mean()
    header = to_header(labelled(run))
    return Row(
        task,
        seed,
        run.solved,
        round(float(returns.mean()), 2),
        round(float(worst), 2),
        int(summary["regions"]),
        int(summary["numbers"]),
        len(header[header.index("#ifndef") :].encode()),
        int(summary["environment_steps"]),
        int(summary["confirmation_steps"]),
        float(summary["seconds"]),
    )


def table(known: list[Row]) -> str:
    """The table of the page."""
    head = [
        "task",
        "seeds",
        "reached",
        "return (IQM)",
        "median",
        "worst tenth",
        "regions",
        "numbers",
        "bytes of C",
        "steps",
    ]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for task, (_, wanted) in TASKS.items():
        own = [row for row in known if row.task == task]
        if not own:
            continue
        anew = np.array([row.anew for row in own])
        middle = float(interquartile_mean(anew[:, None])[0])
        cells = [
            *(task, len(own), f"{(anew >= wanted).sum()} of {len(own)} at {wanted:g}", f"{middle:,.1f}"),
            *(f"{np.median(anew):,.1f}", f"{np.median([row.worst for row in own]):,.1f}"),
            *(
                f"{np.median([getattr(row, name) for row in own]):,.0f}"
                for name in ("regions", "numbers", "bytes", "steps")
            ),
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--seeds", default=HELD_OUT, help="FIRST-LAST")
    parser.add_argument("--write", action="store_true", help="write the table and run nothing")
    options = parser.parse_args()
    asked = {
        (task, seed): {"task": task, "seed": seed, "steps": TASKS[task][0]}
        for task in ([] if options.write else options.tasks)
        for seed in parse_seeds(options.seeds)
    }
    rows.measured(TABLE, Row, measured, asked)
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{table(rows.read(TABLE, Row))}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
