"""Plans at work: whoever does the cells, and whatever happens to them, the results are the same bytes."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.controls.diagonal import diagonal
from distinguo.errors import DistinguoError
from distinguo.evaluation.tester import Exam, learning_curve
from distinguo.representation.file import Representation, dumps
from distinguo.representation.voronoi import voronoi
from distinguo.runs.learn import learn
from distinguo.study import compare as trial
from distinguo.study import engines
from distinguo.study.cells import work
from distinguo.study.compare import Report, put_on_trial
from distinguo.study.plan import Plan, make_plan, write_plan
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import observed_extent

SHORT = {"steps": 1200, "cap": 200, "batch": 5, "every_steps": 300, "runs": 2, "proof": False}
VARIANTS: dict[str, Any] = {"plain": {}, "slow": {"alpha": 0.02}}
KEYS = [f"{what}--{how}--run-{n}" for what in ("diagonal", "grid-3x3") for how in VARIANTS for n in (0, 1)]
BAD = "diagonal--slow--run-1"


def some_plan(whats: tuple[str, ...] = ("diagonal", "grid:3x3"), seed: int = 3, **changes: Any) -> Plan:
    return make_plan(whats, seed=seed, tester=SHORT | changes, variants=VARIANTS)


def results(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "cells").iterdir()}


def everything(out: Path) -> dict[str, tuple[int, bytes]]:
    return {str(p): (p.stat().st_mtime_ns, p.read_bytes()) for p in out.rglob("*") if p.is_file()}


def refusal(plan: Plan, out: Path, **how: Any) -> str:
    with pytest.raises(DistinguoError) as caught:
        put_on_trial(plan, out, **how)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the results of one worker who does one cell after the other."""
    out = tmp_path_factory.mktemp("expected") / "out"
    put_on_trial(some_plan(), out, workers=1)
    return results(out)


def local_cluster() -> Any:
    from distributed import LocalCluster

    return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local_cluster() as cluster:
        yield cluster.scheduler_address


# The same bytes.


def test_there_is_a_file_for_every_cell(expected: dict[str, bytes]) -> None:
    assert sorted(expected) == sorted(f"{key}.json" for key in KEYS)
    assert len(set(expected.values())) == len(KEYS)
    for name, content in expected.items():
        assert json.loads(content)["key"] == name.removesuffix(".json")


@pytest.mark.parametrize("run", [0, 1])
def test_a_cell_is_a_run_of_the_tester(expected: dict[str, bytes], run: int) -> None:
    hill, wishes = task_spec("puck"), some_plan().variants["slow"]
    exam = Exam(hill, diagonal(hill).partition, 2, wishes, observed_extent(hill.task, seed=3))
    wanted = learning_curve(exam, seed=3, run=run)._asdict()
    key = f"diagonal--slow--run-{run}"
    assert json.loads(expected[f"{key}.json"]) == {"key": key, "run": run, **wanted}


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("engine", engines.ENGINES)
@pytest.mark.usefixtures("address")
def test_neither_the_engine_nor_the_number_of_workers_matters(
    tmp_path: Path, expected: dict[str, bytes], engine: str, workers: int
) -> None:
    """Nor that another cluster is at work on the same machine."""
    report = put_on_trial(some_plan(), tmp_path / "out", engine=engine, workers=workers)
    assert (report.failures, report.missing) == ({}, 0)
    assert results(tmp_path / "out") == expected


def test_a_cell_depends_on_nothing_but_itself(tmp_path: Path, expected: dict[str, bytes]) -> None:
    """Not on the other representations, nor on how many runs there are."""
    put_on_trial(some_plan(("grid:3x3",), runs=1), tmp_path / "out")
    alone = results(tmp_path / "out")
    assert alone == {name: expected[name] for name in alone}
    assert len(alone) == 2


def test_the_seed_matters(tmp_path: Path, expected: dict[str, bytes]) -> None:
    put_on_trial(some_plan(seed=4), tmp_path / "out")
    other = results(tmp_path / "out")
    assert not any(other[name] == expected[name] for name in expected)


def test_a_report_averages_the_files(tmp_path: Path) -> None:
    report = put_on_trial(some_plan(), tmp_path / "out")
    assert [(c.representation, c.variant, c.regions) for c in report.curves] == [
        ("diagonal", "plain", 2),
        ("diagonal", "slow", 2),
        ("grid:3x3", "plain", 9),
        ("grid:3x3", "slow", 9),
    ]
    shown = report.curves[3].as_json()
    runs = [json.loads((tmp_path / f"out/cells/grid-3x3--slow--run-{n}.json").read_text()) for n in (0, 1)]
    last = [run["scores"][-1] for run in runs]
    assert shown["training_steps"] == [0, 300, 600, 900, 1200]
    assert (shown["runs"], shown["mean"][-1]) == (2, np.mean(last))
    assert shown["low"][-1] <= shown["mean"][-1] <= shown["high"][-1]
    assert shown["survival"][-1] == np.mean([run["survival"][-1] for run in runs])
    assert shown["scores"][1][0] == runs[1]["scores"][0]


# Only what is missing.


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which every cell that is worked through is added."""
    keys: list[str] = []

    def counted(payload: dict[str, Any]) -> dict[str, Any]:
        keys.append(payload["key"])
        return work(payload)

    monkeypatch.setattr(engines, "work", counted)
    return keys


def test_only_missing_cells_are_run_again(
    tmp_path: Path, done: list[str], expected: dict[str, bytes]
) -> None:
    first = put_on_trial(some_plan(), tmp_path / "out")
    assert sorted(done) == sorted(KEYS)
    done.clear()
    (tmp_path / "out" / "cells" / f"{BAD}.json").unlink()
    again = put_on_trial(some_plan(), tmp_path / "out")
    assert done == [BAD]
    assert results(tmp_path / "out") == expected
    assert [c.as_json() for c in again.curves] == [c.as_json() for c in first.curves]


def test_a_plan_that_is_done_is_not_touched(tmp_path: Path, done: list[str]) -> None:
    """Not even its plan, which somebody may have written by hand, with comments."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "plan.toml").write_text("# my plan\n" + write_plan(some_plan()))
    put_on_trial(some_plan(), tmp_path / "out")
    before = everything(tmp_path / "out")
    done.clear()
    put_on_trial(some_plan(), tmp_path / "out")
    assert done == []
    assert everything(tmp_path / "out") == before
    assert (tmp_path / "out" / "plan.toml").read_text().startswith("# my plan")


def test_shards_share_the_cells_out(tmp_path: Path, done: list[str], expected: dict[str, bytes]) -> None:
    parts, missing = [], []
    for number in (2, 3, 1):
        done.clear()
        missing.append(put_on_trial(some_plan(), tmp_path / "out", shard=(number, 3)).missing)
        parts.append(sorted(done))
    assert sorted(key for part in parts for key in part) == sorted(KEYS)
    assert {len(part) for part in parts} == {2, 3}
    assert missing == [5, 3, 0]
    assert results(tmp_path / "out") == expected


def test_more_shards_than_cells_leave_some_without_work(tmp_path: Path, done: list[str]) -> None:
    counts = []
    for number in range(1, 12):
        done.clear()
        put_on_trial(some_plan(), tmp_path / "out", shard=(number, 11))
        counts.append(len(done))
    assert counts == [1] * 8 + [0] * 3


def test_representations_stay_as_they_were_when_the_plan_was_first_run(tmp_path: Path) -> None:
    """A run may go on learning, and its folder may even be gone: all cells of a plan see the same regions."""
    path = tmp_path / "mine.json"
    path.write_text(dumps(diagonal(task_spec("puck"))))
    first = put_on_trial(some_plan((str(path),)), tmp_path / "out", shard=(1, 2))
    path.unlink()
    assert put_on_trial(some_plan((str(path),)), tmp_path / "out").missing == 0
    assert first.missing == 2


# Folders of something else.


@pytest.mark.parametrize(
    "other",
    [some_plan(seed=4), some_plan(("diagonal",)), some_plan(gamma=0.9)],
    ids=["seed", "words", "gamma"],
)
def test_a_folder_of_another_plan_is_refused_and_untouched(tmp_path: Path, other: Plan) -> None:
    put_on_trial(some_plan(), tmp_path / "out")
    before = everything(tmp_path)
    assert "another plan" in refusal(other, tmp_path / "out")
    assert everything(tmp_path) == before


def test_a_folder_of_something_else_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear all")
    before = everything(tmp_path)
    assert "holds no plan" in refusal(some_plan(), tmp_path)
    assert "holds no plan" in refusal(some_plan(), tmp_path / "letter.txt")
    assert everything(tmp_path) == before


def test_a_slip_of_the_pen_leaves_no_folder_behind(tmp_path: Path) -> None:
    """Or the right words would be refused afterwards, as another plan."""
    assert refusal(some_plan(("diagnoal",)), tmp_path / "out").endswith("did you mean 'diagonal'?")
    assert put_on_trial(some_plan(("diagonal",)), tmp_path / "out").failures == {}


# Cells that fail, and workers that are killed.


def stumbling(payload: dict[str, Any]) -> dict[str, Any]:
    if payload["key"] == BAD:
        raise ArithmeticError("no luck today")
    return work(payload)


@pytest.mark.parametrize("engine", engines.ENGINES)
def test_a_cell_that_fails_is_named_and_the_others_are_kept(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    expected: dict[str, bytes],
    address: str,
    engine: str,
) -> None:
    how = {"engine": engine, "address": address if engine == "dask" else None}
    monkeypatch.setattr(engines, "work", stumbling)
    report = put_on_trial(some_plan(), tmp_path / "out", **how)
    assert report.failures == {BAD: "ArithmeticError: no luck today"}
    assert report.missing == 1
    assert results(tmp_path / "out") == {n: c for n, c in expected.items() if n != f"{BAD}.json"}
    assert [len(c.scores) for c in report.curves] == [2, 1, 2, 2]
    monkeypatch.setattr(engines, "work", work)
    assert put_on_trial(some_plan(), tmp_path / "out", **how).failures == {}
    assert results(tmp_path / "out") == expected


def test_a_plan_whose_cells_all_fail_has_no_curves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "work", lambda payload: [][0])
    report = put_on_trial(some_plan(), tmp_path / "out")
    assert (report.curves, sorted(report.failures), report.missing) == ([], sorted(KEYS), 8)


def test_stopped_half_way_what_is_done_is_kept(
    tmp_path: Path, done: list[str], expected: dict[str, bytes]
) -> None:
    def stop(count: int, of: int) -> None:
        if count == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put_on_trial(some_plan(), tmp_path / "out", workers=1, watch=stop)
    kept = results(tmp_path / "out")
    assert len(kept) == 3
    done.clear()
    put_on_trial(some_plan(), tmp_path / "out")
    assert len(done) == 5
    assert results(tmp_path / "out") == expected


def test_progress_is_told_cell_by_cell(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    put_on_trial(some_plan(), tmp_path / "out", shard=(1, 2), watch=lambda *counts: told.append(counts))
    assert told == [(n, 4) for n in range(1, 5)]


def killed_once(payload: dict[str, Any]) -> dict[str, Any]:
    mark = Path(os.environ["MARK"])
    if payload["key"] == BAD and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return work(payload)


def killed_always(payload: dict[str, Any]) -> dict[str, Any]:
    if payload["key"] == BAD:
        os.kill(os.getpid(), signal.SIGKILL)
    return work(payload)


def in_processes(
    out: Path, monkeypatch: pytest.MonkeyPatch, function: Callable[[dict[str, Any]], dict[str, Any]]
) -> Report:
    monkeypatch.setenv("MARK", str(out.with_name("mark")))
    monkeypatch.setattr(engines, "work", function)
    return put_on_trial(some_plan(), out, engine="processes", workers=2)


def test_a_process_that_is_killed_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, bytes]
) -> None:
    report = in_processes(tmp_path / "out", monkeypatch, killed_once)
    assert (tmp_path / "mark").exists()
    assert (report.failures, report.missing) == ({}, 0)
    assert results(tmp_path / "out") == expected


def test_a_cell_that_always_kills_its_process_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, bytes]
) -> None:
    report = in_processes(tmp_path / "out", monkeypatch, killed_always)
    assert list(report.failures) == [BAD]
    assert "BrokenProcessPool" in report.failures[BAD]
    assert results(tmp_path / "out") == {n: c for n, c in expected.items() if n != f"{BAD}.json"}


#: Without proofs, so that cells take long enough to be caught in the middle.
LONG = make_plan(["diagonal", "seeds"], tester={"runs": 4, "steps": 20_000, "cap": 2_000_000, "proof": False})


def test_a_worker_of_a_cluster_that_is_killed_half_way_changes_nothing(tmp_path: Path) -> None:
    put_on_trial(LONG, tmp_path / "whole")
    gone: list[int] = []

    def kill(count: int, of: int) -> None:
        if count == 2:
            workers, states = cluster.workers.values(), cluster.scheduler.workers
            gone.extend(w.pid for w in workers if states[w.worker_address].processing)
            os.kill(gone[0], signal.SIGKILL)

    with local_cluster() as cluster:
        report = put_on_trial(
            LONG, tmp_path / "out", engine="dask", address=cluster.scheduler_address, watch=kill
        )
        assert gone
        assert gone[0] not in [worker.pid for worker in cluster.workers.values()]
    assert (report.failures, report.missing) == ({}, 0)
    assert results(tmp_path / "out") == results(tmp_path / "whole")


def test_two_plans_on_one_cluster_are_not_mixed_up(tmp_path: Path, address: str) -> None:
    """Their cells have the same names, and the cluster still holds the results of the first."""
    first, second = some_plan(seed=1), some_plan(seed=2)
    how: dict[str, Any] = {"engine": "dask", "address": address}

    def cut_in(count: int, of: int) -> None:
        if count == 1:
            put_on_trial(second, tmp_path / "second", **how)

    put_on_trial(first, tmp_path / "first", watch=cut_in, **how)
    for name, plan in (("first", first), ("second", second)):
        put_on_trial(plan, tmp_path / f"{name}-alone")
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
    put_on_trial(LONG, tmp_path / "whole")
    assert {n: c for n, c in results(tmp_path / "out").items() if n[0] != "."} == results(tmp_path / "whole")


# Engines that are not there.


def test_a_cluster_that_does_not_answer_is_told_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert engines.CONNECT_SECONDS <= 10
    monkeypatch.setattr(engines, "CONNECT_SECONDS", 1)
    began = time.monotonic()
    told = refusal(some_plan(), tmp_path / "out", engine="dask", address="tcp://127.0.0.1:1")
    assert "No dask scheduler answers at tcp://127.0.0.1:1" in told
    assert time.monotonic() - began < 20  # a second, however busy the machine; dask's own patience is 30


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "pigeon://loft:1", ""])
def test_an_address_that_makes_no_sense_is_told(tmp_path: Path, address: str) -> None:
    assert "check the address" in refusal(some_plan(), tmp_path / "out", engine="dask", address=address)


def test_a_missing_library_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install" in refusal(some_plan(), tmp_path / "out", engine="dask")


def test_wrong_engines_are_told(tmp_path: Path) -> None:
    assert refusal(some_plan(), tmp_path / "out", engine="thread").endswith("did you mean 'threads'?")
    assert "--engine dask" in refusal(some_plan(), tmp_path / "out", address="tcp://127.0.0.1:1")


# Damaged files.

CURVE: dict[str, Any] = {"training_steps": [0, 9], "scores": [1.0, 2.0], "survival": [0.0, 1.0]}
DAMAGES: dict[str, bytes] = {
    "cut off": b'{"key": "diag',
    "empty": b"",
    "noise": b"\xff\xfe",
    "a list": b"[]",
    "very deep": b"[" * 100_000,
    "a key left out": json.dumps({k: v for k, v in CURVE.items() if k != "survival"}).encode(),
    "no measurements": json.dumps({name: [] for name in CURVE}).encode(),
    "one measurement short": json.dumps(CURVE | {"scores": [1.0]}).encode(),
    "words for numbers": json.dumps(CURVE | {"scores": ["high", "low"]}).encode(),
    "no number": json.dumps(CURVE | {"scores": [1.0, None]}).encode(),
    "not a number": json.dumps(CURVE | {"scores": [1.0, float("nan")]}).encode(),
    "a number for a list": json.dumps(CURVE | {"training_steps": 3}).encode(),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cell_is_told(tmp_path: Path, damage: str) -> None:
    put_on_trial(some_plan(), tmp_path / "out")
    path = tmp_path / "out" / "cells" / f"{BAD}.json"
    path.write_bytes(DAMAGES[damage])
    assert refusal(some_plan(), tmp_path / "out") == f"{path} is damaged; delete it and run the plan again."
    path.unlink()
    assert put_on_trial(some_plan(), tmp_path / "out").missing == 0


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b"{}", b'{"low": [1], "high": [2]}', b'{"low": [-1, -1], "high": [1, NaN]}'],
)
def test_a_damaged_extent_is_told(tmp_path: Path, content: bytes) -> None:
    put_on_trial(some_plan(), tmp_path / "out", shard=(1, 2))
    (tmp_path / "out" / "extent.json").write_bytes(content)
    assert r"extent.json is damaged" in refusal(some_plan(), tmp_path / "out")


@pytest.mark.parametrize(("content", "why"), [(b"\xff", "UTF-8"), (b"plan", "not TOML")])
def test_a_damaged_plan_is_told(tmp_path: Path, content: bytes, why: str) -> None:
    put_on_trial(some_plan(), tmp_path / "out")
    (tmp_path / "out" / "plan.toml").write_bytes(content)
    assert why in refusal(some_plan(), tmp_path / "out")


def test_a_damaged_representation_is_told(tmp_path: Path) -> None:
    put_on_trial(some_plan(), tmp_path / "out")
    (tmp_path / "out" / "representations" / "diagonal.json").write_bytes(b"{")
    assert "diagonal.json is not a whole JSON file" in refusal(some_plan(), tmp_path / "out")


# What can be put on trial.


def final(what: object, out: Path) -> list[list[float]]:
    """Return the scores of every run under the first variant."""
    report = put_on_trial(some_plan((str(what),)), out)
    assert report.failures == {}
    return report.curves[0].scores.tolist()


def test_files_and_arrays_of_the_same_regions_get_the_same_curves(tmp_path: Path) -> None:
    two = diagonal(task_spec("puck"))
    (tmp_path / "two.json").write_text(dumps(two))
    np.save(tmp_path / "two.npy", two.partition.prototypes)
    wanted = final("diagonal", tmp_path / "control")
    assert final(tmp_path / "two.json", tmp_path / "file") == wanted
    assert final(tmp_path / "two.npy", tmp_path / "array") == wanted
    assert final("grid:2x1", tmp_path / "other") != wanted


def test_a_run_folder_is_put_on_trial(tmp_path: Path) -> None:
    run = learn("puck", seed=1, settings={"stage.cap": 1000, "stage.hold": 1000}, out=tmp_path / "run")
    plan = make_plan([str(tmp_path / "run")], tester=SHORT)
    report = put_on_trial(plan, tmp_path / "out")
    assert report.curves[0].regions == run.representation.regions


def test_a_file_at_the_end_of_a_long_path_is_put_on_trial(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["folder-" * 8] * 5)
    deep.mkdir(parents=True)
    (deep / "two.json").write_text(dumps(diagonal(task_spec("puck"))))
    assert final(deep / "two.json", tmp_path / "out") == final("diagonal", tmp_path / "control")


def test_a_representation_of_other_dimensions_is_refused(tmp_path: Path) -> None:
    three = Representation(voronoi([[0.0, 0.0, 0.0]], [1.0, 1.0, 1.0]), ("x", "y", "z"))
    (tmp_path / "three.json").write_text(dumps(three))
    told = refusal(some_plan((str(tmp_path / "three.json"),)), tmp_path / "out")
    assert "three.json has 3 dimensions (x, y, z), but the task puck has 2 (x, v)" in told


class Trap:
    """Makes a file when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path(os.environ["MARK"]),)


def test_a_pickle_is_refused_and_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARK", str(tmp_path / "sprung"))
    np.save(tmp_path / "objects.npy", np.array([[Trap(), Trap()]], dtype=object), allow_pickle=True)
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(Trap()))
    for name in ("objects.npy", "pickle.npy"):
        assert "not a whole .npy file of numbers" in refusal(
            some_plan((str(tmp_path / name),)), tmp_path / "out"
        )
    assert not (tmp_path / "sprung").exists()


def header(*shape: int) -> bytes:
    from io import BytesIO

    buffer = BytesIO()
    fields = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, fields)
    return buffer.getvalue()


ARRAYS: dict[str, tuple[Any, str]] = {
    "words": (np.array([["a", "b"], ["c", "d"]]), "not a whole .npy file of numbers"),
    "complex numbers": (np.array([[1j, 0.0]]), "not a whole .npy file of numbers"),
    "three coordinates": (np.zeros((2, 3)), "should have 2 coordinates"),
    "a single number": (np.float64(3.0), "should have 2 coordinates"),
    "nothing": (np.zeros((0, 2)), "empty"),
    "not a number": (np.array([[0.0, np.nan]]), "finite"),
    "twice the same": (np.zeros((2, 2)), "differ"),
    "cut off": (header(3, 2) + bytes(40), "not a whole .npy file of numbers"),
    "declared beyond all memory": (header(10**13, 2), "not a whole .npy file of numbers"),
    "text": (b"0.3 0.6", "not a whole .npy file of numbers"),
    "no file": (None, "No such file"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_wrong_arrays_are_refused(tmp_path: Path, case: str) -> None:
    content, why = ARRAYS[case]
    path = tmp_path / "some.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content)
    assert why in refusal(some_plan((str(path),)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_engine_is_asked_for_nothing_when_all_is_there(tmp_path: Path, monkeypatch: Any) -> None:
    asked: list[int] = []
    put_on_trial(some_plan(), tmp_path / "out")
    monkeypatch.setattr(
        trial.engines, "run_all", lambda payloads, *_: iter(asked.append(len(payloads)) or ())
    )
    assert put_on_trial(some_plan(), tmp_path / "out").missing == 0
    assert asked == [0]
