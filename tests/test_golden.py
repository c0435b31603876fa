"""The same bits as ever: what runs and the reproduction wrote when it was last meant to change."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.nightly import NIGHTLY

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).with_name("golden")


def benchmark(name: str) -> Any:
    """Import a script of benchmarks/."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HASHES = json.loads((GOLDEN / "runs.json").read_text())
BY_DAY = dict.fromkeys(HASHES, "12") | {"Taxi-v4": "1"}
RUNS = [(name, int(seed)) for name in HASHES for seed in (HASHES[name] if NIGHTLY else BY_DAY[name])]


@pytest.mark.parametrize(("name", "seed"), RUNS)
def test_a_run_has_the_same_bits_as_ever(name: str, seed: int) -> None:
    assert benchmark("golden").measured(name, seed) == HASHES[name][str(seed)]


@pytest.mark.skipif(not NIGHTLY, reason="compiles everything once more for each processor")
@pytest.mark.parametrize("cpu", ["generic", "haswell", "host"])
def test_the_bits_do_not_depend_on_the_processor_that_is_compiled_for(cpu: str, tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    if cpu != "host":
        environment["NUMBA_CPU_NAME"] = cpu
    if cpu == "generic":
        environment["NUMBA_CPU_FEATURES"] = ""
    command = [sys.executable, str(ROOT / "benchmarks" / "golden.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.stdout == "all golden hashes are the same\n", done.stderr


@pytest.mark.skipif(not NIGHTLY, reason="a minute; tests/lab/paper/test_reproduce.py has a tiny one")
def test_the_quick_reproduction_claims_the_same_as_ever(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "distinguo", "reproduce", "--quick", "--out", str(tmp_path / "out")]
    subprocess.run(command, check=True, capture_output=True)
    claims = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert claims == json.loads((GOLDEN / "claims-quick.json").read_text())
