"""Environments that others wrote: a small table is measured, goes on where it stopped, and is what the page has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks import rows
from benchmarks.rows import read
from benchmarks.worlds import OURS, REFUSED, RIVAL, WORLDS, Line, World, measure, page

ROOT = Path(__file__).parents[2]
LAKE = World("Lake-v0", 1_000, 0.5)
SEA = World("sea:Sea-v0", 2_000, 9.0, True, {"size": 8})


def line(
    world: World, agent: str, seed: int, anew: float, answer: str = "not solved", words: str = ""
) -> Line:
    steps = world.steps
    return Line(
        world.identifier, agent, seed, "", steps, 2 * steps, world.threshold, answer, anew, 10, 1.0, words
    )


def test_a_small_table_is_measured_once(tmp_path: Path) -> None:
    data = tmp_path / "worlds.csv"
    words = ["--only", "CliffWalking,miniworld", "--seeds", "0-0", "--rival-seeds", "", "--data", str(data)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.worlds", *words],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    lines = read(data, Line)
    cliff, rooms = sorted(lines)
    assert (cliff.world, cliff.seed, cliff.answer, cliff.anew) == ("CliffWalking-v1", 0, "solved", -13.0)
    assert (rooms.answer, rooms.trials, "miniworld" in rooms.words) == (REFUSED, 0, True)
    assert "| -13 (s) | 1 of 1 | 1 of 1 | -13 | not run |" in done.stdout
    had, key = data.read_bytes(), (cliff.world, OURS, 0)
    again = rows.measured(
        data, Line, measure, {key: {}}
    )  # it is there, so nothing is called without arguments
    assert again == [cliff]
    assert data.read_bytes() == had


def test_a_row_has_the_seeds_at_the_threshold_and_the_total_those_of_the_rival() -> None:
    ours = [line(LAKE, OURS, n, r, "solved") for n, r in enumerate((0.4, 0.5, 0.6))]
    ours += [line(SEA, OURS, n, 8.0, words="stalls") for n in range(3)]
    rivals = [line(world, RIVAL, n, world.threshold) for world in (LAKE, SEA) for n in range(2)]
    text = page([LAKE, SEA], ours + rivals)
    assert "| `Lake-v0` | 1,000 | 2,000 | 0.5 (s) | 3 of 3 | 2 of 3 | 0.5 | 2 of 2 | 0.5 |  |" in text
    row = "| `sea:Sea-v0` | 2,000 | 4,000 | 9 (p) | 0 of 3 | 0 of 3 | 8 | 2 of 2 | 9 | `--set task.size=8`; stalls |"
    assert row in text
    assert (
        "reaches the threshold in 1 of them. PPO does in 2 of the 2 where it was run, and ours in 1 of"
        in text
    )


def test_the_page_is_that_of_the_data() -> None:
    docs = ROOT / "docs"
    made = page(WORLDS, read(docs / "worlds.csv", Line)).splitlines()
    had = (docs / "worlds.md").read_text().splitlines()
    rest = [[one for one in lines if not one.startswith("Made at commit ")] for lines in (made, had)]
    assert rest[0] == rest[1]
