"""Write docs/gallery.md: for each task the smallest controller that ``benchmarks/distilled.py`` found.

    python -m benchmarks.gallery --runs distilled --out docs

Of the runs of a task that keep the return, the one with the fewest prototypes and then the best return of new trials
is shown: its picture, its prototypes, its size as C, and the command that makes it.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.distilled import FORMULAS, new_returns

import distinguo as dg
from distinguo.proof.verify import question_about
from distinguo.views.descriptions import border_in_words, regions_in_words

SHOWN, SHOWN_TRIALS = 3_000_000, 300  #: the first seed of the trials that are shown, and how many
#: The smallest published, or found by others, as regions or leaves with their return; None if we know of none.
PUBLISHED = {
    "LunarLander-v3": "14 leaves, 200.7; 18 leaves, 233 (trees)",
    "CartPole-v1": "3 leaves, 500 (evolution and imitation)",
    "MountainCar-v0": "4 leaves, -100.5 (the same)",
    "Acrobot-v1": "2 regions, -93",
    "Pendulum-v1": "none known to us",
    "MountainCarContinuous-v0": "none known to us",
    "puck": "4 categories (the paper)",
}
COMMANDS = {
    "heuristic": "python -m benchmarks.distilled LunarLander --seeds {seed}",
    "diagonal": "python -m benchmarks.distilled puck --seeds {seed}",
    "ppo": "distinguo distil teachers/{task}-ppo.zip --task {task} --seed {seed}",
    "dqn": "distinguo distil teachers/{task}-dqn.zip --task {task} --seed {seed}",
    "sac": "distinguo distil teachers/{task}-sac.zip --task {task} --seed {seed}{keep}",
}
HEAD = """# Gallery of small controllers

This page has, for each task, the smallest controller distilled so far, beside the smallest published one that we know
of. The returns are means over 300 trials of Gymnasium's own environments, with 95 % intervals, from seeds that no
distillation and no choice of a controller has used. C is the size, in bytes of code and constants, of the header that
`distinguo export RUN --to c` writes, compiled with `cc -Os`. `python -m benchmarks.teachers` makes the teachers,
`python -m benchmarks.distilled` the runs, and `python -m benchmarks.gallery` this page; see also [how it
works](distil.md). Each controller is the best of several seeds, by size and then by return; [the table of all
seeds](distil.md#how-well) says what to expect of one.

"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=Path, action="append", required=True, help="of benchmarks.distilled")
    parser.add_argument("--out", type=Path, default=Path("docs"))
    asked = parser.parse_args()
    best = smallest(asked.runs)
    rows = [entry(folder, row, asked.out) for folder, row in best]
    table = "| task | prototypes | mean return | teacher | C, bytes | smallest published |\n"
    table += "|---|---|---|---|---|---|\n"
    table += "".join(f"| [{r['task']}](#{r['anchor']}) | {r['cells']} |\n" for r in rows)
    text = HEAD + table + "".join(r["text"] for r in rows)
    (asked.out / "gallery.md").write_text(text)


def smallest(folders: list[Path]) -> list[tuple[Path, dict[str, str]]]:
    """Return the best row of every task, with its folder of runs."""
    chosen: dict[str, tuple[Path, dict[str, str]]] = {}
    for folder in folders:
        for row in csv.DictReader((folder / "distilled.csv").read_text().splitlines()):
            if row["kept"] != "True":
                continue
            known = chosen.get(row["task"])
            key = (int(row["prototypes"]), -float(row["new_score"]))
            if known is None or key < (int(known[1]["prototypes"]), -float(known[1]["new_score"])):
                chosen[row["task"]] = (folder, row)
    return list(chosen.values())


def entry(folder: Path, row: dict[str, str], out: Path) -> dict[str, Any]:
    """Return the line and the section of a task."""
    run = dg.open_run(folder / f"{row['name']}-{row['seed']}")
    task, returns = row["task"], new_returns(run, SHOWN, SHOWN_TRIALS)
    mean, spread = float(returns.mean()), 1.96 * float(returns.std(ddof=1)) / np.sqrt(len(returns))
    picture = f"gallery-{row['name'].lower()}.png"
    dg.show(run, path=out / "images" / picture)
    size = bytes_of(run)
    keep = " --keep=-200" if task == "Pendulum-v1" else ""
    command = COMMANDS[row["teacher"]].format(task=task, seed=row["seed"], keep=keep)
    score = f"{mean:.1f} ({mean - spread:.1f} to {mean + spread:.1f})"
    teacher = f"{row['teacher']}, {float(row['teacher_score']):.1f}"
    published = PUBLISHED[task]
    text = f"\n## {task}\n\n![The regions of the smallest controller of {task}](images/{picture})\n\n"
    text += words(run) + prototypes(run)
    text += f"\nReturn {score}, teacher {teacher}; C: {size} bytes.{proven(run)} Made by\n\n    {command}"
    text += "\n" if row["teacher"] in FORMULAS else "  # needs the teacher\n"
    cells = f"{row['prototypes']} | {score} | {teacher} | {size} | {published}"
    return {"task": task, "anchor": task.lower(), "cells": cells, "text": text}


def words(run: Any) -> str:
    border = border_in_words(run)
    told = f"- border: {border}\n" if border else ""
    return "".join(f"- {one}\n" for one in regions_in_words(run)) + told + "\n"


def proven(run: Any) -> str:
    """Say what is proven of a controller, where something can be."""
    if question_about(run.configuration.spec.task) is None:
        return ""
    proof = dg.verify(run)
    return f" `distinguo verify`: {proof.answer.sentences[0]}"


def prototypes(run: Any) -> str:
    """Return the prototypes as a table: a state is treated as the nearest of them, by these widths."""
    spec, partition = run.configuration.spec, run.representation.partition
    dimensions, actions = spec.dimensions, spec.actions
    greedy = run.controller.greedy[partition.regions]
    lines = ["| " + " | ".join((*dimensions, "action")) + " |", "|" + "---|" * (len(dimensions) + 1)]
    for place, a in zip(partition.prototypes, greedy, strict=True):
        lines.append("| " + " | ".join([*(f"{x:.4g}" for x in place), actions[a]]) + " |")
    widths = partition.scale / partition.scale.min()
    lines.append("| " + " | ".join([*(f"{x:.3g}" for x in widths), "*width*"]) + " |")
    return "\n".join(lines) + "\n"


def bytes_of(run: Any) -> int:
    """Return the bytes of code and constants of the exported controller."""
    with tempfile.TemporaryDirectory() as place:
        header = run.export(f"{place}/controller.h")
        assert header.name == "controller.h"
        source = Path(place) / "use.c"
        source.write_text(
            '#include "controller.h"\nint act(const double *s) { return distinguo_action(s); }\n'
        )
        subprocess.run(["cc", "-Os", "-c", str(source), "-o", f"{place}/use.o"], check=True)
        sizes = subprocess.run(["size", f"{place}/use.o"], check=True, capture_output=True, text=True).stdout
    numbers = np.array(sizes.splitlines()[1].split()[:2], dtype=int)
    return int(numbers.sum())


if __name__ == "__main__":
    main()
