"""The folder of a comparison: other folders, and damaged files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from distinguo.comparison.compare import compare_plan
from distinguo.comparison.plan import Plan
from tests.comparison.plans import (
    BAD,
    everything,
    refusal,
    some_plan,
)

# Folders of something else.


@pytest.mark.parametrize(
    "other",
    [some_plan(seed=4), some_plan(("diagonal",)), some_plan(gamma=0.9)],
    ids=["seed", "words", "gamma"],
)
def test_a_folder_of_another_plan_is_refused_and_untouched(tmp_path: Path, other: Plan) -> None:
    compare_plan(some_plan(), tmp_path / "out")
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
    assert compare_plan(some_plan(("diagonal",)), tmp_path / "out").failures == {}


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
def test_a_damaged_cell_gets_one_sentence(tmp_path: Path, damage: str) -> None:
    compare_plan(some_plan(), tmp_path / "out")
    path = tmp_path / "out" / "cells" / f"{BAD}.json"
    path.write_bytes(DAMAGES[damage])
    assert refusal(some_plan(), tmp_path / "out") == f"{path} is damaged; delete it and run the plan again."
    path.unlink()
    assert compare_plan(some_plan(), tmp_path / "out").missing == 0


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b"{}", b'{"low": [1], "high": [2]}', b'{"low": [-1, -1], "high": [1, NaN]}'],
)
def test_a_damaged_extent_gets_one_sentence(tmp_path: Path, content: bytes) -> None:
    compare_plan(some_plan(), tmp_path / "out", shard=(1, 2))
    (tmp_path / "out" / "extent.json").write_bytes(content)
    assert r"extent.json is damaged" in refusal(some_plan(), tmp_path / "out")


@pytest.mark.parametrize(("content", "why"), [(b"\xff", "UTF-8"), (b"plan", "not TOML")])
def test_a_damaged_plan_gets_one_sentence(tmp_path: Path, content: bytes, why: str) -> None:
    compare_plan(some_plan(), tmp_path / "out")
    (tmp_path / "out" / "plan.toml").write_bytes(content)
    assert why in refusal(some_plan(), tmp_path / "out")


def test_a_damaged_representation_gets_one_sentence(tmp_path: Path) -> None:
    compare_plan(some_plan(), tmp_path / "out")
    (tmp_path / "out" / "representations" / "diagonal.json").write_bytes(b"{")
    assert "diagonal.json is not a whole JSON file" in refusal(some_plan(), tmp_path / "out")
