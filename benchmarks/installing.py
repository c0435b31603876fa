"""What an installation downloads and how long it takes, and how long the first word takes, now and at another commit.

    python -m benchmarks.installing
    python -m benchmarks.installing --before 40ba8d7 --rounds 3

Each round builds an environment for each of the two, in turns, without a cache of packages. The download is what pip
fetches for ``pip install .``: it does not vary. Of the times, the least of all rounds counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORDS = (
    ("import distinguo", ["python", "-c", "import distinguo"]),
    ("distinguo --help", ["distinguo", "--help"]),
)


def timed(command: Sequence[str], cwd: Path) -> tuple[float, float]:
    """Run a command: seconds of wall clock and of computing."""
    quiet = {**os.environ, "PIP_QUIET": "1", "PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=cwd, env=quiet, check=True, capture_output=True)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime


def tree_of(commit: str, place: Path) -> Path:
    """The files of a commit."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    place.mkdir()
    subprocess.run(["tar", "x", "-C", str(place)], input=archive, check=True)
    return place


def downloaded(tree: Path, place: Path) -> int:
    """The bytes of the packages that pip fetches."""
    timed([sys.executable, "-m", "pip", "download", "--dest", str(place), str(tree)], place.parent)
    return sum(one.stat().st_size for one in place.iterdir() if not one.name.startswith("distinguo-"))


def measured(tree: Path, place: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """The least seconds of wall clock and of computing for each thing, in a new environment."""
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    found = {"pip install .": timed([str(place / "bin" / "pip"), "install", "."], tree)}
    for name, (program, *rest) in WORDS:
        times = [timed([str(place / "bin" / program), *rest], place) for _ in range(rounds)]
        found[name] = min(one for one, _ in times[1:]), min(one for _, one in times[1:])
    return found


def main() -> None:
    """Measure both in turns, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", default="40ba8d7")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        trees = {"before": tree_of(asked.before, place / "before"), "now": tree_of("HEAD", place / "now")}
        bytes_of = {name: downloaded(tree, place / f"{name}-packages") for name, tree in trees.items()}
        best: dict[tuple[str, str], list[float]] = {}
        for n in range(asked.rounds):
            for name, tree in trees.items():
                for what, times in measured(tree, place / f"{name}-{n}", 21).items():
                    known = best.setdefault((what, name), [float("inf")] * 2)
                    best[what, name] = [min(pair) for pair in zip(known, times, strict=True)]
        print("| what | before | now |\n|---|---|---|")
        print(f"| download of `pip install .`, bytes | {bytes_of['before']:,} | {bytes_of['now']:,} |")
        for what in ("pip install .", *(name for name, _ in WORDS)):
            (wall, cpu), (new_wall, new_cpu) = best[what, "before"], best[what, "now"]
            print(f"| `{what}`, seconds | {wall:.3f} | {new_wall:.3f} |")
            print(f"| `{what}`, seconds of computing | {cpu:.3f} | {new_cpu:.3f} |")


if __name__ == "__main__":
    main()
