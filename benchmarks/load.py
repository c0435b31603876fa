"""Load: large partitions, many reasons, many cells, many runs. Does it finish, in what time, in how much memory?

python -m benchmarks.load                  # every subject at a tenth of its size and at its size
python -m benchmarks.load show-2 --size 20000

Every measurement has a process of its own, so that its peak of memory is its own. Time per unit should stay the same.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import distinguo as dg
from distinguo.exports.write import FORMATS
from distinguo.representations import file
from distinguo.runs.configuration import configure
from distinguo.runs.digests import DIGESTS
from distinguo.runs.folder import REASONS, open_run, write_run
from distinguo.runs.run import Run
from distinguo.views.show import draw_run
from distinguo.views.text import reasons_table, regions_table, text_map

FIGURES = dict.fromkeys(("trials", "environment_steps", "investigation_steps", "seconds"), 1)
SMALL = {"runs": 1, "steps": 200, "cap": 20}  #: what a cell of a comparison may take


@dg.task(
    name="drift",
    states=tuple(f"o{i}" for i in range(8)),
    actions=("hold", "push"),
    low=(-1.0,) * 8,
    high=(1.0,) * 8,
)
class Drift(NamedTuple):
    """Eight coordinates that turn into each other, one after the other; the first should not grow."""

    rate: float = 0.1

    def transition(self, s: tuple[float, ...], a: int) -> tuple[tuple[float, ...], float, bool]:
        """Turn by one; a push shrinks the first."""
        x = s[0] * (1.0 - self.rate * a)
        return (s[1], s[2], s[3], s[4], s[5], s[6], s[7], x), -1.0, abs(x) < 0.01

    def start(self, rng: np.random.Generator) -> tuple[float, ...]:
        """Begin anywhere."""
        a, b, c, d = (
            rng.uniform(-1.0, 1.0),
            rng.uniform(-1.0, 1.0),
            rng.uniform(-1.0, 1.0),
            rng.uniform(-1.0, 1.0),
        )
        return (a, b, c, d, -a, -b, -c, -d)


def a_map(size: int, dimensions: int) -> file.Representation:
    """Return a map of so many prototypes, a third of them merged in pairs."""
    rng = np.random.default_rng(0)
    primary = np.arange(size)
    primary[2::3] = primary[1:-1:3] if size > 2 else primary[2::3]
    made = dg.voronoi(rng.uniform(-1.0, 1.0, (size, dimensions)), np.full(dimensions, 2.0), primary)
    names = tuple(f"o{i}" for i in range(dimensions))
    return file.Representation(made, names, {"extent": [[-1.0] * dimensions, [1.0] * dimensions]})


def a_run(size: int, dimensions: int) -> Run:
    """Return a run with such a map, on the puck or on a task of eight coordinates."""
    from tests.views.runs import EIGHT

    configuration = configure("puck" if dimensions == 2 else EIGHT)
    made = a_map(size, dimensions)._replace(dimensions=configuration.spec.dimensions)
    q = np.random.default_rng(1).normal(size=(made.regions, len(configuration.spec.actions)))
    head = {"task": configuration.spec.name, "seed": 0, "solved": True, "score": 0.0}
    summary = {**head, "regions": made.regions, "prototypes": made.prototypes, **FIGURES}
    return Run(configuration, made, q, np.ones(q.shape, dtype=np.int64), summary, [], [])


def load(size: int, dimensions: int, place: Path) -> None:
    """Write a representation and read it again."""
    (place / "map.json").write_text(file.dumps(a_map(size, dimensions)))
    assert file.load(place / "map.json").prototypes == size


def show(size: int, dimensions: int, place: Path) -> None:
    """Write a run, open it, and show it as ``distinguo show`` does."""
    write_run(a_run(size, dimensions), place / "run")
    run = open_run(place / "run")
    draw_run(run)
    assert text_map(run) + regions_table(run) + reasons_table(run)


def export(size: int, dimensions: int, place: Path) -> None:
    """Export a run to every format."""
    run = a_run(size, dimensions)
    for known in FORMATS.values():
        dg.export(run, place / known.file, force=True)  # several formats write the same names


def compare(size: int, dimensions: int, place: Path) -> None:
    """Let a fresh learner run on a large map."""
    task = "puck" if dimensions == 2 else Drift()
    dg.compare({"map": a_map(size, dimensions).partition}, task, out=place / "out", workers=1, **SMALL)


def reasons(size: int, place: Path) -> None:
    """Open a run with many reasons and show the latest."""
    write_run(a_run(50, 2), place / "run")
    entry = {
        "event": "split",
        "trial": 1,
        "step": 9,
        "prototypes": [0, 1],
        "states": [[0.0, 0.0], [0.5, 0.5]],
    }
    line = json.dumps({**entry, "profiles": [[0.0, 1.0]] * 2, "rules": ["value (Eq. 4)"], "regret": 0.25})
    (place / "run" / DIGESTS).unlink()  # these reasons were not saved with the rest
    with (place / "run" / REASONS).open("w") as file:
        for _ in range(size):
            file.write(f"{line}\n")
    assert f"({size - 12:,} earlier ones" in reasons_table(open_run(place / "run"))


def cells(size: int, place: Path) -> None:
    """Compare ten maps in so many cells."""
    maps = {f"map{n}": a_map(3 + n, 2).partition for n in range(10)}
    done = dg.compare(maps, "puck", out=place / "out", **{**SMALL, "runs": size // 10})
    assert sum(len(curve.scores) for curve in done.curves) == size // 10 * 10
    assert done.markdown()


def runs(size: int, place: Path) -> None:
    """Learn many times in one process."""
    for seed in range(size):
        dg.learn("puck", seed=seed, settings={"stage.trials": 2, "stage.cap": 50, "stage.hold": 50})


SUBJECTS: dict[str, tuple[int, Callable[[int, Path], None]]] = {
    **{
        f"{work.__name__}-{d}": (100_000, lambda n, place, work=work, d=d: work(n, d, place))  # type: ignore[misc]
        for work in (load, show, export, compare)
        for d in (2, 8)
    },
    "reasons": (1_000_000, reasons),
    "cells": (10_000, cells),
    "runs": (20_000, runs),
}


def measured(name: str, size: int) -> dict[str, Any]:
    """Do the work of a subject twice, first small: seconds of the second time, and the peak of memory."""
    work = SUBJECTS[name][1]
    with tempfile.TemporaryDirectory() as place:
        for part, count in (("first", 20), ("then", size)):
            folder = Path(place) / part
            folder.mkdir()
            before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
            work(count, folder)
            seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"subject": name, "size": size, "seconds": round(seconds, 2), "grown_mb": (peak - before) // 1024}


def main() -> None:
    """Measure one subject, or have every one measured in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("subject", nargs="?", choices=SUBJECTS)
    parser.add_argument("--size", type=int)
    options = parser.parse_args()
    if options.subject and options.size:
        print(json.dumps(measured(options.subject, options.size)))
        return
    for name in [options.subject] if options.subject else SUBJECTS:
        for size in (SUBJECTS[name][0] // 10, SUBJECTS[name][0]):
            command = [sys.executable, "-m", "benchmarks.load", name, "--size", str(size)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            print(done.stdout.strip() or f"{name} {size}: {done.stderr.strip().splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main()
