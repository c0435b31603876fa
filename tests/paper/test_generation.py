"""What the paper claims of the generation stage, over many seeds: a small version of ``learn --seeds``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from distinguo.controls.seeds import PAPER_SEEDS
from distinguo.presets import PRESETS
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn_many
from distinguo.runs.run import Run

SEEDS = range(70_000, 70_040)


def middle(runs: list[Run], key: str) -> float:
    return float(np.median([run.summary[key] for run in runs]))


@pytest.mark.parametrize("preset", PRESETS)
def test_from_scratch(preset: str) -> None:
    runs = learn_many([configure("puck", seed=n, preset_name=preset) for n in SEEDS])
    assert sum(run.solved for run in runs) >= 38  # of 40; both presets miss about one in a hundred at most
    assert all(run.summary["score"] == 500_000 for run in runs if run.solved)
    assert middle(runs, "regions") <= 24
    assert middle(runs, "environment_steps") <= 20_000


@pytest.mark.parametrize("preset", PRESETS)
def test_from_two_seeds(preset: str) -> None:
    runs = learn_many([configure("puck", seed=n, preset_name=preset, prototypes=PAPER_SEEDS) for n in SEEDS])
    assert sum(run.solved for run in runs) >= 38
    assert middle(runs, "regions") <= 6


def learn_in_process(out: Path, **environment: str) -> dict:
    command = [sys.executable, "-m", "distinguo", "learn", "puck", "--preset", "paper", "--seed", "5"]
    options = ["--set", "stage.cap=50000", "--set", "stage.hold=50000", "--out", str(out), "--json"]
    done = subprocess.run(
        [*command, *options], env={**os.environ, **environment}, capture_output=True, check=True
    )
    return json.loads(done.stdout)


def test_compiled_is_the_same_and_much_faster(tmp_path: Path) -> None:
    fast = learn_in_process(tmp_path / "compiled")
    slow = learn_in_process(tmp_path / "interpreted", NUMBA_DISABLE_JIT="1")
    for name in ("representation.json", "values.npz", "reasons.jsonl", "trials.csv"):
        assert (tmp_path / "compiled" / name).read_bytes() == (tmp_path / "interpreted" / name).read_bytes()
    assert slow["seconds"] >= 30 * fast["seconds"]
