"""Commands for many runs: what each engine and each part leaves is what the command leaves for a run alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_cli import Call, call
from tests.comparison.plans import local_cluster
from tests.cuts import DISTIL, files_of, without_times

__all__ = ["call"]  # a fixture

SMALL = ("--set", "stage.cap=2000", "--set", "stage.hold=2000")
SEEDS = (1, 2, 3)
ENGINES = (["--engine", "processes", "--workers", "2"], ["--address", "ADDRESS"])


def command(folder: Path, *words: str) -> tuple[int, Any]:
    """Run a command in a folder: its exit code, and its object of JSON."""
    start = [sys.executable, "-P", "-m", "distinguo", *words, "--json"]
    done = subprocess.run(start, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode not in (1, 2), done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local_cluster() as ours:
        yield ours.scheduler_address


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three learned runs."""
    folder = tmp_path_factory.mktemp("many")
    command(folder, "learn", "puck", "--seeds", "1-3", "--out", "runs", *SMALL)
    return folder


@pytest.fixture
def fresh(place: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Copies of that folder."""

    def copied(name: str) -> Path:
        shutil.copytree(place, tmp_path / name)
        return tmp_path / name

    return copied


def without_seconds(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if "seconds" not in name}


@pytest.mark.second_stage
@pytest.mark.parametrize(
    "words",
    [
        ("verify", "--cells", "20000"),
        ("audit", "--visits", "100"),
        ("condense", "--steps", "2000000"),
    ],
    ids=lambda words: words[0],
)
def test_many_runs_leave_what_each_leaves_alone(
    fresh: Callable[[str], Path], address: str, words: tuple[str, ...]
) -> None:
    runs, alone = [f"runs/seed-{n}" for n in SEEDS], fresh("alone")
    expected = {run: command(alone, words[0], run, *words[1:]) for run in runs}
    files = without_times(files_of(alone / "runs"))
    for how in ENGINES:
        folder = fresh(how[1].strip("A"))
        asked = [address if word == "ADDRESS" else word for word in how]
        code, content = command(folder, words[0], *runs, *words[1:], *asked)
        assert code == max(code for code, _ in expected.values())
        assert not content["failures"]
        found = {one["name"]: (one["code"], without_seconds(one["answer"])) for one in content["runs"]}
        assert found == {run: (code, without_seconds(one)) for run, (code, one) in expected.items()}
        assert without_times(files_of(folder / "runs")) == files
    folder = fresh("shards")
    for part in ("2/2", "1/2"):
        _, content = command(folder, words[0], *runs, *words[1:], "--shard", part)
        assert [one["name"] for one in content["runs"]] == (runs[1::2] if part == "2/2" else runs[::2])
    assert without_times(files_of(folder / "runs")) == files


@pytest.mark.second_stage
def test_seeds_of_a_distillation_leave_what_each_leaves_alone(tmp_path: Path, address: str) -> None:
    words = [*DISTIL, "--set", "learner.patience=8"]
    for seed in (1, 2):
        command(tmp_path, *words, "--seed", str(seed), "--out", f"alone/seed-{seed}")
    files = without_times(files_of(tmp_path / "alone"))
    assert "seed-1/representation.json" in files
    for name, how in {"processes": [["--workers", "2"]], "dask": [["--address", address]]}.items():
        for more in how:
            command(tmp_path, *words, "--seeds", "1-2", "--out", name, *more)
        assert without_times(files_of(tmp_path / name)) == files
    for part in ("1/2", "2/2"):
        command(tmp_path, *words, "--seeds", "1-2", "--out", "shards", "--shard", part)
    assert without_times(files_of(tmp_path / "shards")) == files


def living(group: int) -> list[str]:
    """The processes of a group that have not ended."""
    found = []
    for one in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            words = one.read_text().rpartition(")")[2].split()
            found += [one.parent.name] if words[2] == str(group) and words[0] not in "ZX" else []
    return found


@pytest.mark.second_stage
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it is only known there what is left")
def test_a_killed_command_leaves_no_process_and_goes_on(tmp_path: Path) -> None:
    words = [*DISTIL, "--set", "learner.patience=8", "--seeds", "1-2", "--out", "all", "--json"]
    start = [sys.executable, "-P", "-m", "distinguo", *words]
    process = subprocess.Popen(
        start, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    until = time.monotonic() + 120
    while time.monotonic() < until and not list(tmp_path.glob("all/seed-*/request.json")):
        time.sleep(0.05)
    process.kill()
    process.wait()
    until = time.monotonic() + 20
    while left := living(process.pid):
        assert time.monotonic() < until, f"left over: {left}"
        time.sleep(0.1)
    code, content = command(tmp_path, *words[:-1])
    assert code in (0, 3)  # a map that keeps the return, or none
    assert [one["answer"]["seed"] for one in content["runs"]] == [1, 2]


def test_one_run_that_fails_leaves_the_others_alone(call: Call) -> None:
    call("learn", "puck", "--seeds", "1-3", "--out", "runs", *SMALL)
    Path("runs/seed-2/representation.json").write_text("{")
    done = call("audit", "--visits", "20", "--json", *(f"runs/seed-{n}" for n in SEEDS))
    content = json.loads(done.out)
    assert done.code == 1
    assert [one["name"] for one in content["runs"]] == ["runs/seed-1", "runs/seed-3"]
    assert "damaged" in content["failures"]["runs/seed-2"]
    assert "Failed: runs/seed-2: " in done.err
