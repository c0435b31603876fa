"""``distinguo test`` as scripts and people meet it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from distinguo.cli import main
from distinguo.comparison import cells
from distinguo.comparison.cells import run_cell
from distinguo.representations.file import Representation, dumps
from distinguo.representations.voronoi import voronoi

#: The contract that scripts depend on.
KEYS = {"representation", "regions", "runs", "training_steps", "mean", "low", "high", "survival"}
SHORT = ["--runs", "2", "--steps", "3000", "--cap", "200"]
PLAN = '[plan]\nrepresentations = ["diagonal", "grid:2x2"]\n[tester]\nruns = 2\nsteps = 900\ncap = 100\n'


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def content(self) -> Any:
        """Return the JSON object of the last line, which is the only one."""
        assert len(self.out.splitlines()) == 1
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """Return what is said of bad input."""
        assert (self.code, self.out) == (2, "")
        assert len(self.err.splitlines()) == 1
        return self.err.removeprefix("distinguo: ").rstrip()


Call = Callable[..., Answer]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Return the command, run in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["distinguo", "test", *words])
        capfd.readouterr()
        try:
            main()
            code: Any = 0
        except SystemExit as end:
            code = end.code or 0
        return Answer(code, *capfd.readouterr())

    return run


# Answers.


def test_every_curve_has_what_was_promised(call: Call) -> None:
    answer = call("diagonal", "grid:2x2", *SHORT, "--json")
    assert answer.code == 0
    curves = answer.content["curves"]
    assert [(c["representation"], c["regions"], c["runs"]) for c in curves] == [
        ("diagonal", 2, 2),
        ("grid:2x2", 4, 2),
    ]
    for curve in curves:
        assert set(curve) >= KEYS
        assert curve["training_steps"] == [0, 2500, 3000]
        assert {len(curve[key]) for key in ("mean", "low", "high", "survival")} == {3}
        for low, mean, high in zip(curve["low"], curve["mean"], curve["high"], strict=True):
            assert 0 < low <= mean <= high <= 200
        assert all(0 <= share <= 1 for share in curve["survival"])


def test_without_json_people_get_a_table_on_standard_output(call: Call) -> None:
    answer = call("diagonal", *SHORT)
    assert answer.code == 0
    assert "Observed extremes: x (m) -2.4 to 2.4, v (m/s) -5.48 to 5.48" in answer.out
    assert "Observed" not in answer.err
    row = next(line for line in answer.out.splitlines() if line.startswith("diagonal"))
    assert row.split()[1:3] == ["2", "2"]


def test_a_picture_is_drawn_and_the_results_are_kept(call: Call, tmp_path: Path) -> None:
    out = Path(call("diagonal", *SHORT, "--json").content["run"])
    assert out.parent == Path("runs")
    assert (out / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((tmp_path / out / "cells").iterdir())) == 2


def test_the_same_command_finds_its_results_again(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    first = call("diagonal", *SHORT, "--json").content
    monkeypatch.setattr(cells, "run_cell", lambda payload: pytest.fail("run again"))
    assert call("diagonal", *SHORT, "--json").content == first
    monkeypatch.undo()


def test_other_words_get_another_folder(call: Call) -> None:
    folders = {
        call("diagonal", *SHORT, *words, "--json").content["run"]
        for words in ([], ["--seed", "1"], ["--set", "tester.alpha=0.2"], ["--set", "task.beta=0.25"])
    }
    assert len(folders) == 4


def test_a_plan_says_it_all(call: Call, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN + "[variant.plain]\n[variant.slow]\nalpha = 0.01\n")
    answer = call("--plan", "plan.toml", "--out", "out", "--json")
    found = [(c["representation"], c["variant"], c["runs"]) for c in answer.content["curves"]]
    assert found == [(what, how, 2) for what in ("diagonal", "grid:2x2") for how in ("plain", "slow")]
    assert "grid:2x2 (slow)" in answer.err


def test_options_and_settings_reach_the_tester(call: Call, tmp_path: Path) -> None:
    call("diagonal", *SHORT, "--set", "tester.batch=7", "--set", "task.beta=0.25", "--out", "out")
    written = (tmp_path / "out" / "plan.toml").read_text()
    for line in ("runs = 2", "steps = 3000", "cap = 200", "batch = 7", "beta = 0.25"):
        assert line in written.splitlines()


def test_shards_one_after_the_other_and_then_all(call: Call, tmp_path: Path) -> None:
    words = ["diagonal", "grid:2x2", *SHORT, "--runs", "3", "--out", "out", "--json"]
    first, second, both = (
        call(*words, *part).content for part in (["--shard", "1/2"], ["--shard", "2/2"], [])
    )
    assert (first["missing"], second["missing"], both["missing"]) == (3, 0, 0)
    assert [c["runs"] for c in first["curves"]] == [2, 1]
    assert both["curves"] == second["curves"]
    assert both["curves"] == call(*words, "--out", "whole").content["curves"]


# A cell that fails.


@pytest.fixture
def _stumble(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumbling(payload: dict[str, Any]) -> dict[str, Any]:
        if payload["key"] == "grid-2x2--plain--run-1":
            raise ArithmeticError("no luck today")
        return run_cell(payload)

    monkeypatch.setattr(cells, "run_cell", stumbling)


@pytest.mark.usefixtures("_stumble")
def test_a_cell_that_fails_is_named_and_the_others_are_kept(call: Call, tmp_path: Path) -> None:
    answer = call("diagonal", "grid:2x2", *SHORT, "--out", "out", "--json")
    assert answer.code == 1
    assert answer.content["failures"] == {"grid-2x2--plain--run-1": "ArithmeticError: no luck today"}
    assert answer.content["missing"] == 1
    assert [c["runs"] for c in answer.content["curves"]] == [2, 1]
    assert "Failed: grid-2x2--plain--run-1: ArithmeticError: no luck today" in answer.err
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 3


def test_the_same_command_then_does_what_failed(
    call: Call, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    request.getfixturevalue("_stumble")
    words = ["diagonal", "grid:2x2", *SHORT, "--out", "out", "--json"]
    assert call(*words).code == 1
    monkeypatch.setattr(cells, "run_cell", run_cell)
    again = call(*words)
    assert (again.code, again.content["failures"], again.content["missing"]) == (0, {}, 0)


# Bad input.

WRONG: dict[str, tuple[list[str], str]] = {
    "nothing": ([], "There is no run in runs"),
    "an unknown control": (["diagnoal"], "did you mean 'diagonal'?"),
    "a grid of no size": (["grid:axb"], "grid:10x10"),
    "a shard of nothing": (["diagonal", "--shard", "0/2"], "--shard takes I/N"),
    "a shard beyond the last": (["diagonal", "--shard", "3/2"], "--shard takes I/N"),
    "a shard in words": (["diagonal", "--shard", "half"], "--shard takes I/N"),
    "an unknown engine": (["diagonal", "--engine", "thread"], "did you mean 'threads'?"),
    "an address without dask": (
        ["diagonal", "--engine", "threads", "--address", "tcp://127.0.0.1:1"],
        "--engine dask",
    ),
    "an unknown task": (["diagonal", "--task", "pukc"], "did you mean 'puck'?"),
    "an unknown setting": (["diagonal", "--set", "tester.gama=0.9"], "did you mean 'gamma'?"),
    "an unknown table": (["diagonal", "--set", "tseter.gamma=0.9"], "did you mean 'tester.gamma'?"),
    "a setting of nothing": (["diagonal", "--set", "gamma"], "TABLE.NAME=VALUE"),
    "no runs": (["diagonal", "--runs", "0"], "tester.runs"),
    "a negative seed": (["diagonal", "--seed", "-1"], "plan.seed"),
    "twice the same": (["diagonal", "diagonal"], "named twice"),
    "a setting given twice": (["diagonal", "--runs", "2", "--set", "tester.runs=3"], "exclude each other"),
    "a plan that is not there": (["--plan", "no.toml"], "Cannot read no.toml"),
    "a plan with an unknown key": (["--plan", "bad.toml"], "did you mean 'seed'?"),
    "a plan that is noise": (["--plan", "noise.toml"], "noise.toml is damaged: it is not text"),
    "a plan and words": (["diagonal", "--plan", "good.toml"], "With --plan"),
    "a plan and runs": (["--plan", "good.toml", "--runs", "3"], "'runs'"),
    "a plan and a seed": (["--plan", "good.toml", "--seed", "0"], "'seed'"),
    "a plan and a setting": (["--plan", "good.toml", "--set", "tester.runs=3"], "'tester.runs=3'"),
    "a file that is not there": (["no.json"], "Cannot read no.json"),
    "a file of other dimensions": (["three.json"], "3 dimensions (x, y, z)"),
    "an array that is not there": (["no.npy"], "Cannot read no.npy"),
    "an empty folder": (["empty"], "Cannot read empty/representation.json"),
    "a folder of something else": (["diagonal", "--out", "."], "holds no plan"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("json_too", [False, True])
def test_bad_input_is_told_in_one_sentence(call: Call, tmp_path: Path, case: str, json_too: bool) -> None:
    (tmp_path / "good.toml").write_text(PLAN)
    (tmp_path / "bad.toml").write_text('[plan]\nrepresentations = ["diagonal"]\nsed = 3\n')
    (tmp_path / "noise.toml").write_bytes(b"\xff\xfe")
    three = Representation(voronoi([[0.0, 0.0, 0.0]], [1.0, 1.0, 1.0]), ("x", "y", "z"))
    (tmp_path / "three.json").write_text(dumps(three))
    (tmp_path / "empty").mkdir()
    words, why = WRONG[case]
    assert why in call(*words, *(["--json"] if json_too else [])).sentence


def test_a_folder_of_another_plan_is_refused(call: Call) -> None:
    assert call("diagonal", *SHORT, "--out", "out").code == 0
    assert "another plan" in call("diagonal", *SHORT, "--seed", "1", "--out", "out").sentence


def test_a_slip_does_not_take_the_folder(call: Call) -> None:
    assert "did you mean" in call("diagnoal", *SHORT, "--out", "out").sentence
    assert call("diagonal", *SHORT, "--out", "out").code == 0
