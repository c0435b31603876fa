"""Plans at work: whoever does the cells, and whatever was done before, the results are the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.comparison.compare import compare_plan
from distinguo.comparison.plan import write_plan
from distinguo.controls import diagonal
from distinguo.engines.engine import ENGINES, Engine
from distinguo.evaluation.tester import Evaluation, learning_curve
from distinguo.representations.file import dumps
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import observed_extent
from tests.comparison.plans import (
    BAD,
    KEYS,
    everything,
    results,
    some_plan,
)
from tests.nightly import NIGHTLY

# The same bytes.


def test_there_is_a_file_for_every_cell(expected: dict[str, bytes]) -> None:
    assert sorted(expected) == sorted(f"{key}.json" for key in KEYS)
    assert len(set(expected.values())) == len(KEYS)
    for name, content in expected.items():
        assert json.loads(content)["key"] == name.removesuffix(".json")


@pytest.mark.parametrize("run", [0, 1])
def test_a_cell_is_a_run_of_the_tester(expected: dict[str, bytes], run: int) -> None:
    hill, wishes = task_spec("puck"), some_plan().variants["slow"]
    evaluation = Evaluation(hill, diagonal(hill).partition, 2, wishes, observed_extent(hill.task, seed=3))
    wanted = learning_curve(evaluation, seed=3, run=run)._asdict()
    key = f"diagonal--slow--run-{run}"
    assert json.loads(expected[f"{key}.json"]) == {"key": key, "run": run, **wanted}


@pytest.mark.parametrize("workers", [1, 3] if NIGHTLY else [2])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("address")
def test_neither_the_engine_nor_the_number_of_workers_matters(
    tmp_path: Path, expected: dict[str, bytes], engine: str, workers: int
) -> None:
    """Nor that another cluster is at work on the same machine."""
    comparison = compare_plan(some_plan(), tmp_path / "out", engine=Engine(engine, workers))
    assert (comparison.failures, comparison.missing) == ({}, 0)
    assert results(tmp_path / "out") == expected


def test_a_cell_depends_on_nothing_but_itself(tmp_path: Path, expected: dict[str, bytes]) -> None:
    """Not on the other representations, nor on how many runs there are."""
    compare_plan(some_plan(("grid:3x3",), runs=1), tmp_path / "out")
    alone = results(tmp_path / "out")
    assert alone == {name: expected[name] for name in alone}
    assert len(alone) == 2


def test_the_seed_matters(tmp_path: Path, expected: dict[str, bytes]) -> None:
    compare_plan(some_plan(seed=4), tmp_path / "out")
    other = results(tmp_path / "out")
    assert not any(other[name] == expected[name] for name in expected)


def test_a_comparison_averages_the_files(tmp_path: Path) -> None:
    comparison = compare_plan(some_plan(), tmp_path / "out")
    assert [(c.representation, c.variant, c.regions) for c in comparison.curves] == [
        ("diagonal", "plain", 2),
        ("diagonal", "slow", 2),
        ("grid:3x3", "plain", 9),
        ("grid:3x3", "slow", 9),
    ]
    shown = comparison.curves[3].as_json()
    runs = [json.loads((tmp_path / f"out/cells/grid-3x3--slow--run-{n}.json").read_text()) for n in (0, 1)]
    last = [run["scores"][-1] for run in runs]
    assert shown["training_steps"] == [0, 300, 600, 900, 1200]
    assert (shown["runs"], shown["mean"][-1]) == (2, np.mean(last))
    assert shown["low"][-1] <= shown["mean"][-1] <= shown["high"][-1]
    assert shown["survival"][-1] == np.mean([run["survival"][-1] for run in runs])
    assert shown["scores"][1][0] == runs[1]["scores"][0]


# Only what is missing.


def test_only_missing_cells_are_run_again(
    tmp_path: Path, done: list[str], expected: dict[str, bytes]
) -> None:
    first = compare_plan(some_plan(), tmp_path / "out")
    assert sorted(done) == sorted(KEYS)
    done.clear()
    (tmp_path / "out" / "cells" / f"{BAD}.json").unlink()
    again = compare_plan(some_plan(), tmp_path / "out")
    assert done == [BAD]
    assert results(tmp_path / "out") == expected
    assert [c.as_json() for c in again.curves] == [c.as_json() for c in first.curves]


def test_a_plan_that_is_done_is_not_touched(tmp_path: Path, done: list[str]) -> None:
    """Not even its plan, which somebody may have written by hand, with comments."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "plan.toml").write_text("# my plan\n" + write_plan(some_plan()))
    compare_plan(some_plan(), tmp_path / "out")
    before = everything(tmp_path / "out")
    done.clear()
    compare_plan(some_plan(), tmp_path / "out")
    assert done == []
    assert everything(tmp_path / "out") == before
    assert (tmp_path / "out" / "plan.toml").read_text().startswith("# my plan")


def test_shards_share_the_cells_out(tmp_path: Path, done: list[str], expected: dict[str, bytes]) -> None:
    parts, missing = [], []
    for number in (2, 3, 1):
        done.clear()
        missing.append(compare_plan(some_plan(), tmp_path / "out", shard=(number, 3)).missing)
        parts.append(sorted(done))
    assert sorted(key for part in parts for key in part) == sorted(KEYS)
    assert {len(part) for part in parts} == {2, 3}
    assert missing == [5, 3, 0]
    assert results(tmp_path / "out") == expected


def test_more_shards_than_cells_leave_some_without_work(tmp_path: Path, done: list[str]) -> None:
    counts = []
    for number in range(1, 12):
        done.clear()
        compare_plan(some_plan(), tmp_path / "out", shard=(number, 11))
        counts.append(len(done))
    assert counts == [1] * 8 + [0] * 3


def test_representations_stay_as_they_were_when_the_plan_was_first_run(tmp_path: Path) -> None:
    """A run may go on learning, and its folder may even be gone: all cells of a plan see the same regions."""
    path = tmp_path / "mine.json"
    path.write_text(dumps(diagonal(task_spec("puck"))))
    first = compare_plan(some_plan((str(path),)), tmp_path / "out", shard=(1, 2))
    path.unlink()
    assert compare_plan(some_plan((str(path),)), tmp_path / "out").missing == 0
    assert first.missing == 2


def test_the_engine_is_asked_for_nothing_when_all_is_there(tmp_path: Path, monkeypatch: Any) -> None:
    asked: list[int] = []
    compare_plan(some_plan(), tmp_path / "out")
    monkeypatch.setattr(Engine, "run", lambda _, jobs: iter(asked.append(len(jobs)) or ()))
    assert compare_plan(some_plan(), tmp_path / "out").missing == 0
    assert asked == [0]
