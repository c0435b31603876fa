"""What the paper claims of the generation stage, over many seeds: a small version of ``learn --seeds``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from distinguo.controls import PAPER_SEEDS
from distinguo.presets import PRESETS
from distinguo.runs.configuration import configure
from distinguo.runs.many import learn_many
from distinguo.runs.run import Run
from distinguo_lab.paper.claims import facts_of
from tests.nightly import so_many

SEEDS = range(70_000, 70_000 + so_many(10, nightly=100))
#: Medians and 95 % quantiles, of a thousand seeds where the README has them, else of a hundred.
SCRATCH = {
    "paper": {"regions": (16, 29), "trials": (850, 1_400), "environment_steps": (87_000, 600_000)},
    "fast": {"regions": (4, 6), "trials": (18, 26), "environment_steps": (1_444, 2_982)},
    "default": {"regions": (4, 4), "trials": (16, 17), "environment_steps": (1_340, 1_420)},
}
TWO_SEEDS = {
    "paper": {"regions": (4, 5), "trials": (220, 290), "environment_steps": (13_500, 20_000)},
    "fast": {"regions": (2, 8), "trials": (7, 45), "environment_steps": (600, 4_100)},
    "default": {"regions": (2, 8), "trials": (7, 45), "environment_steps": (600, 4_100)},
}
#: Of a hundred seeds, from scratch and from two.
SOLVED = {"paper": (0.98, 0.93), "fast": (0.99, 0.99), "default": (0.99, 0.99)}


def assert_as_measured(runs: list[Run], measured: dict[str, tuple[int, int]]) -> None:
    """Neither half nor double of what was measured, in the middle and at the upper end."""
    for key, (middle, high) in measured.items():
        values = [run.summary[key] for run in runs]
        assert middle / 1.5 <= np.median(values) <= middle * 1.5, key
        assert np.percentile(values, 95) <= 1.5 * high, key


@pytest.mark.parametrize("preset", PRESETS)
def test_from_scratch(preset: str) -> None:
    runs = learn_many([configure("puck", seed=n, preset_name=preset) for n in SEEDS])
    assert sum(run.solved for run in runs) >= SOLVED[preset][0] * len(SEEDS)
    assert all(run.summary["score"] == 500_000 for run in runs if run.solved)
    assert_as_measured(runs, SCRATCH[preset])


@pytest.mark.parametrize("preset", PRESETS)
def test_from_two_seeds(preset: str) -> None:
    runs = learn_many([configure("puck", seed=n, preset_name=preset, prototypes=PAPER_SEEDS) for n in SEEDS])
    assert sum(run.solved for run in runs) >= int(SOLVED[preset][1] * len(SEEDS))
    assert_as_measured([run for run in runs if run.solved], TWO_SEEDS[preset])


def test_the_papers_own_run_is_one_of_ours() -> None:
    """From two seeds two states are added in most runs, one just before each wall, after some two hundred trials."""
    asked = [configure("puck", seed=n, preset_name="paper", prototypes=PAPER_SEEDS) for n in SEEDS]
    runs = [facts_of(run, given=2) for run in learn_many(asked) if run.solved]
    assert sum(run.at_ends for run in runs) > 0.4 * len(runs)
    trials = [run.summary["trials"] for run in runs if run.at_ends]
    assert 150 <= np.median(trials) <= 300


LEARN = """
import sys, time
from pathlib import Path
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn_configured
from distinguo.runs.learn import warm
short = {"stage.cap": 50_000, "stage.hold": 50_000}
asked = configure("puck", seed=5, preset_name="fast", changes=short)
warm(asked)
for out in [Path(sys.argv[1]), *[None] * int(sys.argv[2])]:
    began = time.process_time()
    learn_configured(asked, out)
    print(time.process_time() - began)
"""


def learn_in_process(out: Path, again: int, **environment: str) -> float:
    """Learn in a folder, and again without one; return the processor seconds of the best time."""
    command = [sys.executable, "-c", LEARN, str(out), str(again)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, check=True)
    return min(float(line) for line in done.stdout.split())


def test_compiled_is_the_same_and_much_faster(tmp_path: Path) -> None:
    fast = learn_in_process(tmp_path / "compiled", again=5)
    slow = learn_in_process(tmp_path / "interpreted", again=0, NUMBA_DISABLE_JIT="1")
    for name in ("representation.json", "values.npz", "reasons.jsonl", "trials.csv"):
        assert (tmp_path / "compiled" / name).read_bytes() == (tmp_path / "interpreted" / name).read_bytes()
    assert slow > 90 * fast  # 140 times
