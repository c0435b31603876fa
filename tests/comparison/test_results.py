"""The table of results on disk: it says what the curves say, and nothing twice."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from distinguo.comparison.compare import compare, compare_plan, plan_for
from distinguo.representations.boxes import grid
from distinguo.settings import TESTER_BY_RETURN, TESTER_OF_CATEGORIES
from distinguo.tasks.catalog import task_spec
from tests.comparison.plans import some_plan

CAR = task_spec("MountainCar-v0")
BRIEF: dict[str, Any] = {"runs": 2, "steps": 1500, "batch": 5, "every_steps": 500}


def rows_in(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.csv").open() as file:
        return list(csv.DictReader(file))


def test_every_checkpoint_of_every_curve_is_a_row(tmp_path: Path) -> None:
    comparison = compare_plan(some_plan(), tmp_path / "out")
    rows = rows_in(tmp_path / "out")
    assert len(rows) == sum(len(curve.training_steps) for curve in comparison.curves)
    for curve in comparison.curves:
        own = [
            r for r in rows if (r["representation"], r["variant"]) == (curve.representation, curve.variant)
        ]
        assert [int(row["training_steps"]) for row in own] == curve.training_steps
        assert [float(row["mean"]) for row in own] == curve.scores.mean(axis=0).tolist()
        assert {row["score"] for row in own} == {"median length"}


def test_the_readable_table_has_a_row_for_every_curve(tmp_path: Path) -> None:
    comparison = compare_plan(some_plan(), tmp_path / "out")
    head, line, *rows = (tmp_path / "out" / "results.md").read_text().splitlines()
    assert head.count("|") == line.count("|") == rows[0].count("|")
    assert [row.split(" | ")[0].strip("| ") for row in rows] == [curve.name for curve in comparison.curves]


def test_a_damaged_table_is_written_anew(tmp_path: Path) -> None:
    compare_plan(some_plan(), tmp_path / "out")
    whole = (tmp_path / "out" / "results.csv").read_bytes()
    (tmp_path / "out" / "results.csv").write_bytes(b"\xff")
    compare_plan(some_plan(), tmp_path / "out")
    assert (tmp_path / "out" / "results.csv").read_bytes() == whole


def test_returns_are_judged_by_their_mean_and_say_so(tmp_path: Path) -> None:
    comparison = compare({"four": grid([2, 2], CAR.low, CAR.high)}, CAR, out=tmp_path / "out", **BRIEF)
    (curve,) = comparison.curves
    assert curve.score == "mean return"
    assert curve.scores.min() >= -200.0
    assert curve.scores.max() < 0.0
    assert {row["score"] for row in rows_in(tmp_path / "out")} == {"mean return"}
    assert curve.written(-105.96) == "-106.0"


@pytest.mark.parametrize(
    ("task", "suited"),
    [
        ("puck", {}),
        ("CartPole-v1", TESTER_BY_RETURN),
        ("CliffWalking-v1", {**TESTER_OF_CATEGORIES, "cap": 10_000}),
    ],
)
def test_the_tester_suits_the_task_unless_it_is_told_otherwise(task: str, suited: dict[str, Any]) -> None:
    (found,) = plan_for(["diagonal"], task=task).variants.values()
    assert found == type(found)(**suited)
    (told,) = plan_for(["diagonal"], task=task, tester={"gamma": 0.5, "hold": False}).variants.values()
    assert told == type(found)(**{**suited, "gamma": 0.5, "hold": False})
