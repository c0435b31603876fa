"""Engines: cells that fail, workers that are killed, clusters that are not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from distinguo.comparison import cells
from distinguo.comparison.cells import run_cell
from distinguo.comparison.compare import compare_plan
from distinguo.comparison.plan import Comparison, make_plan
from distinguo.engines import cluster
from distinguo.engines.engine import ENGINES, Engine
from tests.comparison.plans import (
    BAD,
    KEYS,
    local_cluster,
    refusal,
    results,
    some_plan,
)
from tests.nightly import NIGHTLY

# Cells that fail, and workers that are killed.


def stumbling(payload: dict[str, Any]) -> dict[str, Any]:
    if payload["key"] == BAD:
        raise ArithmeticError("no luck today")
    return run_cell(payload)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cell_that_fails_is_named_and_the_others_are_kept(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    expected: dict[str, bytes],
    address: str,
    engine: str,
) -> None:
    how = {"engine": Engine(engine, address=address if engine == "dask" else None)}
    monkeypatch.setattr(cells, "run_cell", stumbling)
    comparison = compare_plan(some_plan(), tmp_path / "out", **how)
    assert comparison.failures == {BAD: "ArithmeticError: no luck today"}
    assert comparison.missing == 1
    assert results(tmp_path / "out") == {n: c for n, c in expected.items() if n != f"{BAD}.json"}
    assert [len(c.scores) for c in comparison.curves] == [2, 1, 2, 2]
    monkeypatch.setattr(cells, "run_cell", run_cell)
    assert compare_plan(some_plan(), tmp_path / "out", **how).failures == {}
    assert results(tmp_path / "out") == expected


def test_a_plan_whose_cells_all_fail_has_no_curves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "run_cell", lambda payload: [][0])
    comparison = compare_plan(some_plan(), tmp_path / "out")
    assert (comparison.curves, sorted(comparison.failures), comparison.missing) == ([], sorted(KEYS), 8)


def test_stopped_half_way_what_is_done_is_kept(
    tmp_path: Path, done: list[str], expected: dict[str, bytes]
) -> None:
    def stop(count: int, of: int) -> None:
        if count == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare_plan(some_plan(), tmp_path / "out", engine=Engine(workers=1), watch=stop)
    kept = results(tmp_path / "out")
    assert len(kept) == 3
    done.clear()
    compare_plan(some_plan(), tmp_path / "out")
    assert len(done) == 5
    assert results(tmp_path / "out") == expected


def test_progress_is_shown_cell_by_cell(tmp_path: Path) -> None:
    counts: list[tuple[int, int]] = []
    compare_plan(some_plan(), tmp_path / "out", shard=(1, 2), watch=lambda *now: counts.append(now))
    assert counts == [(n, 4) for n in range(1, 5)]


def killed_once(payload: dict[str, Any]) -> dict[str, Any]:
    mark = Path(os.environ["MARK"])
    if payload["key"] == BAD and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run_cell(payload)


def killed_always(payload: dict[str, Any]) -> dict[str, Any]:
    if payload["key"] == BAD:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_cell(payload)


def in_processes(
    out: Path, monkeypatch: pytest.MonkeyPatch, function: Callable[[dict[str, Any]], dict[str, Any]]
) -> Comparison:
    monkeypatch.setenv("MARK", str(out.with_name("mark")))
    monkeypatch.setattr(cells, "run_cell", function)
    return compare_plan(some_plan(), out, engine=Engine("processes", 2))


def test_a_process_that_is_killed_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, bytes]
) -> None:
    comparison = in_processes(tmp_path / "out", monkeypatch, killed_once)
    assert (tmp_path / "mark").exists()
    assert (comparison.failures, comparison.missing) == ({}, 0)
    assert results(tmp_path / "out") == expected


def test_a_cell_that_always_kills_its_process_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, bytes]
) -> None:
    comparison = in_processes(tmp_path / "out", monkeypatch, killed_always)
    assert list(comparison.failures) == [BAD]
    assert comparison.failures[BAD].startswith("its process ended with exit code -9, 5 times")
    assert results(tmp_path / "out") == {n: c for n, c in expected.items() if n != f"{BAD}.json"}


#: Without proofs, so that cells take long enough to be caught in the middle.
LONG = make_plan(["diagonal", "seeds"], tester={"runs": 4, "steps": 20_000, "cap": 2_000_000, "proof": False})


@pytest.mark.skipif(
    not NIGHTLY, reason="workers that compile anew take long; the whole command is killed below"
)
def test_a_worker_of_a_cluster_that_is_killed_half_way_changes_nothing(tmp_path: Path) -> None:
    compare_plan(LONG, tmp_path / "whole")
    gone: list[int] = []

    def kill(count: int, of: int) -> None:
        if count == 2:
            workers, states = cluster.workers.values(), cluster.scheduler.workers
            gone.extend(w.pid for w in workers if states[w.worker_address].processing)
            os.kill(gone[0], signal.SIGKILL)

    with local_cluster() as cluster:
        comparison = compare_plan(
            LONG, tmp_path / "out", engine=Engine("dask", address=cluster.scheduler_address), watch=kill
        )
        assert gone
        assert gone[0] not in [worker.pid for worker in cluster.workers.values()]
    assert (comparison.failures, comparison.missing) == ({}, 0)
    assert results(tmp_path / "out") == results(tmp_path / "whole")


def test_two_plans_on_one_cluster_are_not_mixed_up(tmp_path: Path, address: str) -> None:
    """Their cells have the same names, and the cluster still holds the results of the first."""
    first, second = some_plan(seed=1), some_plan(seed=2)
    how: dict[str, Any] = {"engine": Engine("dask", address=address)}

    def cut_in(count: int, of: int) -> None:
        if count == 1:
            compare_plan(second, tmp_path / "second", **how)

    compare_plan(first, tmp_path / "first", watch=cut_in, **how)
    for name, plan in (("first", first), ("second", second)):
        compare_plan(plan, tmp_path / f"{name}-alone")
        assert results(tmp_path / name) == results(tmp_path / f"{name}-alone")


def test_the_whole_command_is_killed_and_continued(tmp_path: Path) -> None:
    """Killed when half of the cells are there, the same command ends with the same bytes."""
    words = ["diagonal", "seeds", "--runs", "4", "--steps", "20000", "--cap", "2000000", "--workers", "1"]
    options = ["--set", "tester.proof=false", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-m", "distinguo", "test", *words, *options]
    started = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    cells = tmp_path / "out" / "cells"
    while not cells.exists() or len(list(cells.glob("[!.]*"))) < 4:
        assert started.poll() is None
        time.sleep(0.005)
    started.send_signal(signal.SIGKILL)
    started.wait()
    assert len(list(cells.glob("[!.]*"))) < 8
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    compare_plan(LONG, tmp_path / "whole")
    assert {n: c for n, c in results(tmp_path / "out").items() if n[0] != "."} == results(tmp_path / "whole")


# Engines that are not there.


def test_a_cluster_that_does_not_answer_is_said_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cluster.CONNECT_SECONDS <= 10
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    began = time.monotonic()
    sentence = refusal(some_plan(), tmp_path / "out", engine=Engine("dask", address="tcp://127.0.0.1:1"))
    assert "No dask scheduler answers at tcp://127.0.0.1:1" in sentence
    assert time.monotonic() - began < 6


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "pigeon://loft:1", ""])
def test_an_address_that_makes_no_sense_gets_one_sentence(tmp_path: Path, address: str) -> None:
    assert "check the address" in refusal(
        some_plan(), tmp_path / "out", engine=Engine("dask", address=address)
    )


def test_a_missing_library_gets_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install" in refusal(some_plan(), tmp_path / "out", engine=Engine("dask"))
