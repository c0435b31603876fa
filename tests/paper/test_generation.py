"""What the paper claims of the generation stage, over many seeds: a small version of ``learn --seeds``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from distinguo.controls.fixed import PAPER_SEEDS
from distinguo.presets import PRESETS
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn_many
from distinguo.runs.run import Run
from tests.nightly import so_many

SEEDS = range(70_000, 70_000 + so_many(16, nightly=100))
#: Medians and 95 % quantiles, of a thousand seeds where the README has them, else of a hundred.
SCRATCH = {
    "paper": {"regions": (4, 6), "trials": (18, 26), "environment_steps": (1_444, 2_982)},
    "default": {"regions": (4, 4), "trials": (16, 17), "environment_steps": (1_340, 1_420)},
}
TWO_SEEDS = {"regions": (2, 8), "trials": (7, 45), "environment_steps": (600, 4_100)}


def assert_as_measured(runs: list[Run], measured: dict[str, tuple[int, int]]) -> None:
    """Neither half nor double of what was measured, in the middle and at the upper end."""
    for key, (middle, high) in measured.items():
        values = [run.summary[key] for run in runs]
        assert middle / 1.5 <= np.median(values) <= middle * 1.5, key
        assert np.percentile(values, 95) <= 1.5 * high, key


@pytest.mark.parametrize("preset", PRESETS)
def test_from_scratch(preset: str) -> None:
    runs = learn_many([configure("puck", seed=n, preset_name=preset) for n in SEEDS])
    assert sum(run.solved for run in runs) >= 0.99 * len(SEEDS)
    assert all(run.summary["score"] == 500_000 for run in runs if run.solved)
    assert_as_measured(runs, SCRATCH[preset])


@pytest.mark.parametrize("preset", PRESETS)
def test_from_two_seeds(preset: str) -> None:
    runs = learn_many([configure("puck", seed=n, preset_name=preset, prototypes=PAPER_SEEDS) for n in SEEDS])
    assert sum(run.solved for run in runs) >= 0.99 * len(SEEDS)
    assert_as_measured(runs, TWO_SEEDS)


LEARN = """
import sys, time
from pathlib import Path
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn_configured
from distinguo.runs.learn import warm
short = {"stage.cap": 50_000, "stage.hold": 50_000}
asked = configure("puck", seed=5, preset_name="paper", changes=short)
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
