"""``compare`` as people call it: names, runs, files and values, in memory or in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distinguo
from distinguo.comparison import cells
from distinguo.comparison.compare import compare, compare_plan, plan_for
from distinguo.controls import diagonal
from distinguo.errors import DistinguoError
from distinguo.representations.boxes import grid
from distinguo.representations.declare import FunctionPartition
from distinguo.representations.file import dumps
from distinguo.runs.learn import learn
from distinguo.tasks.catalog import spec_of, task_spec
from tests.comparison.plans import BAD, SHORT, some_plan

HILL = task_spec("puck")
TINY: dict[str, Any] = {"steps": 600, "cap": 100, "batch": 3, "every_steps": 300, "runs": 1}


def scores(*whats: Any, **how: Any) -> list[list[list[float]]]:
    return [curve.scores.tolist() for curve in compare(list(whats), **(TINY | how)).curves]


def refusal(*whats: Any, **how: Any) -> str:
    with pytest.raises(DistinguoError) as caught:
        compare(list(whats), **(TINY | how))
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def sides() -> FunctionPartition:
    return FunctionPartition(lambda s: int(s[1] < -1.7615 * s[0]), 2)


# The same curves, however a representation is given.


def test_names_are_compared_as_a_plan_would(tmp_path: Path) -> None:
    comparison = compare(["diagonal", "grid:3x3"], seed=3, **SHORT)
    plan = plan_for(["diagonal", "grid:3x3"], seed=3, tester=SHORT)
    expected = compare_plan(plan, tmp_path / "out")
    assert comparison.as_json() == expected.as_json()
    assert (comparison.folder, expected.folder) == (None, tmp_path / "out")
    assert distinguo.compare is compare


def test_values_get_the_curves_of_their_files(tmp_path: Path) -> None:
    two = diagonal(HILL)
    (tmp_path / "two.json").write_text(dumps(two))
    by_name = scores("diagonal")
    assert [curve.scores.tolist() for curve in compare(two, **TINY).curves] == by_name
    for what in (two, two.partition, tmp_path / "two.json", str(tmp_path / "two.json")):
        assert scores(what) == by_name
    assert scores(grid([3, 3], HILL.low, HILL.high)) == scores("grid:3x3")


def test_a_run_is_compared_from_memory_and_from_its_folder(tmp_path: Path) -> None:
    brief = {"stage.cap": 1000, "stage.hold": 1000, "task.beta": 0.25}
    run = learn("puck", seed=1, settings=brief, out=tmp_path / "run")
    in_memory = compare([run, "diagonal"], **TINY)
    assert in_memory.curves[0].regions == run.representation.regions
    assert in_memory.as_json() == compare([tmp_path / "run", "diagonal"], **TINY).as_json()
    assert scores("diagonal", settings={"task.beta": 0.25})[0] == in_memory.curves[1].scores.tolist()
    assert scores("diagonal")[0] != in_memory.curves[1].scores.tolist()


def test_a_task_may_be_a_spec_or_an_environment() -> None:
    assert scores("diagonal", task=task_spec("puck", {"beta": 0.25})) == scores(
        "diagonal", settings={"task.beta": 0.25}
    )
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make("MountainCar-v0")
    how = {"steps": 200, "batch": 2}
    assert scores("grid:2x2", task=env, **how) == scores("grid:2x2", task=spec_of(env), **how)


def test_names_of_ones_own_and_numbers_for_the_same(tmp_path: Path) -> None:
    own = compare({"mine": diagonal(HILL), "theirs": "grid:2x1"}, **TINY)
    assert [curve.representation for curve in own.curves] == ["mine", "theirs"]
    boxes = grid([2, 1], HILL.low, HILL.high)
    numbered = compare([boxes, boxes, "diagonal"], **TINY)
    assert [curve.representation for curve in numbered.curves] == ["Boxes", "Boxes-2", "diagonal"]


def test_a_comparison_reads_like_a_table() -> None:
    lines = repr(compare(["diagonal", "grid:2x2"], **TINY)).splitlines()
    box, _, head, row, other = lines[:5]
    assert box == "Observed extremes: x (m) -2.4 to 2.4, v (m/s) -5.48 to 5.48"
    assert len({len(line) for line in (head, row, other)}) == 1
    assert [line.partition(":")[0] for line in lines[6:]] == ["score", "final", "survival"]
    assert "in steps" in lines[6]
    assert head.split()[:3] == ["representation", "regions", "runs"]
    assert row.split()[:3] == ["diagonal", "2", "1"]
    assert other.split()[:3] == ["grid:2x2", "4", "1"]


# Partitions without a file.


def test_a_function_of_ones_own_is_compared_on_threads() -> None:
    comparison = compare({"sides": sides(), "diagonal": "diagonal"}, **TINY)
    assert [(curve.name, curve.regions) for curve in comparison.curves] == [("sides", 2), ("diagonal", 2)]
    assert np.isfinite(comparison.curves[0].scores).all()


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_other_engines_are_refused_what_has_no_file(tmp_path: Path, engine: str) -> None:
    assert "use the engine 'threads'" in refusal(sides(), engine=engine, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_results_of_a_function_are_not_taken_for_those_of_another(tmp_path: Path) -> None:
    scores(sides(), out=tmp_path / "out")
    assert "choose another --out" in refusal(sides(), out=tmp_path / "out")


# Folders.


def test_results_are_kept_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = diagonal(HILL)
    first = compare({"mine": two}, out=tmp_path / "out", **TINY)
    monkeypatch.setattr(cells, "run_cell", lambda payload: pytest.fail("run again"))
    assert compare({"mine": two}, out=str(tmp_path / "out"), **TINY).as_json() == first.as_json()


def test_a_folder_with_another_of_the_name_is_refused(tmp_path: Path) -> None:
    scores(diagonal(HILL), out=tmp_path / "out")
    other = diagonal(HILL)._replace(dimensions=("x", "speed"))
    assert "another Representation" in refusal(other, out=tmp_path / "out")


def test_a_cell_that_fails_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "run_cell", lambda payload: [][0])
    reason = "Cell diagonal--plain--run-0 failed (IndexError: list index out of range)"
    assert refusal("diagonal") == f"{reason}."
    assert refusal("diagonal", out=tmp_path / "out").startswith(f"{reason}; finished cells are in {tmp_path}")
    failed = compare_plan(some_plan(), tmp_path / "other")
    assert BAD in failed.failures


# What is refused.


def test_wrong_wishes_get_one_sentence() -> None:
    assert refusal("diagonal", rnus=3).endswith("did you mean 'runs'?")
    assert "exclude each other" in refusal("diagonal", settings={"tester.runs": 3})
    assert refusal("diagonal", settings={"tseter.gamma": 0.9}).endswith("did you mean 'tester.gamma'?")
    assert "named twice" in refusal("diagonal", "diagonal")
    assert refusal("diagnoal").endswith("did you mean 'diagonal'?")
    assert "at least 1" in refusal()
