"""``distinguo distil`` as scripts and people meet it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import distinguo as dg
from distinguo.distillation import levels
from distinguo.distillation.distil import Distilled
from distinguo.writing import slug
from tests.cli.test_cli import KEYS, Call, call
from tests.distillation.common import CAR, QUICKEST

__all__ = ["call"]  # a fixture

FAST = [word for name, value in QUICKEST.items() for word in ("--set", f"{name}={json.dumps(value)}")]
EASY = ["--task", CAR, "--keep", "-180", *FAST]
CODE = """
def swing(seen):
    return 2 if seen[1] > 0 else 0


def rest(seen):
    return 1


def fail(seen):
    raise KeyError("rope")
"""


@pytest.fixture(autouse=True)
def _policies(tmp_path: Path) -> None:
    (tmp_path / "policies.py").write_text(CODE)


@pytest.mark.end_to_end
def test_json_is_all_of_standard_output_and_holds_what_was_promised(call: Call) -> None:
    answer = call("distil", "policies.py:swing", *EASY, "--out", "run", "--seed", "1", "--json")
    content = answer.content
    assert answer.code == 0
    assert content.keys() >= KEYS | {"fidelity", "teacher_score", "teacher", "bar", "kept", "picture", "dial"}
    assert (content["task"], content["seed"], content["run"]) == (CAR, 1, "run")
    assert content["kept"] is True
    assert content["teacher"] == "policies.py:swing"
    assert 0.0 < content["fidelity"] <= 1.0
    assert content["score"] >= content["bar"] == -180.0
    for key in ("seed", "regions", "prototypes", "trials", "environment_steps", "investigation_steps"):
        assert type(content[key]) is int, key
    for name in (
        "partition.png",
        "dial.png",
        "fidelity.png",
        "dial.csv",
        "fidelity.json",
        "representation.json",
    ):
        assert Path("run", name).is_file()
    assert dg.open_run("run").summary["fidelity"] == content["fidelity"]
    assert call("show", "run", "--json").code == 0
    again = call("distil", "policies.py:swing", *EASY, "--out", "run", "--seed", "1", "--json")
    assert (again.code, again.content) == (0, content)
    assert "run is finished already; showing it." in again.err
    other = call("distil", "policies.py:swing", *EASY, "--out", "run")
    assert (other.code, other.out) == (2, "")
    assert "holds a run" in other.err


def test_people_read_the_dial_and_where_to_look(call: Call) -> None:
    answer = call("distil", "policies.py:swing", *EASY)
    assert answer.code == 0
    assert "prototypes: mean return" in answer.out
    assert "<- taken" in answer.out
    assert "Look again with: distinguo show runs/" in answer.out + answer.err
    assert [path.name for path in Path("runs").iterdir()] == [f"{slug(CAR)}-distilled-seed0"]


def test_a_return_that_is_not_kept_is_an_answer_and_no_error(call: Call) -> None:
    answer = call(
        "distil", "policies.py:rest", "--task", CAR, "--keep", "-100", *FAST, "--out", "run", "--json"
    )
    assert answer.code == 3
    assert answer.content["kept"] is answer.content["solved"] is False
    assert "does not solve MountainCar-v0 itself" in answer.err


def test_a_table_and_a_run_are_teachers(call: Call, swung: Distilled, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform([-1.2, -0.07], [0.6, 0.07], (500, 2))
    lines = [f"{x},{v},{'right' if v > 0 else 'left'}" for x, v in rows]
    (tmp_path / "decisions.csv").write_text("\n".join(["x,v,action", *lines]) + "\n")
    by_table = call("distil", "decisions.csv", *EASY, "--out", "table", "--json").content
    assert by_table["teacher"] == "decisions.csv"
    assert by_table["kept"]
    by_run = call("distil", str(swung.run.path), *EASY, "--out", "run", "--json").content
    assert by_run["teacher"] == str(swung.run.path)
    assert by_run["kept"]


def test_amounts_become_levels(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "push.py").write_text("def push(seen):\n    return [1.0 if seen[1] > 0 else -1.0]\n")
    monkeypatch.setattr(levels, "TRIALS", 4)
    words = ["--set", "task.levels=[-1.0, 0.0, 1.0]", *FAST]
    answer = call(
        "distil", "push.py:push", "--task", "MountainCarContinuous-v0", "--keep", "50", *words, "--json"
    )
    assert answer.content["kept"]
    run = dg.open_run(answer.content["run"])
    assert run.configuration.spec.parameters["levels"] == [-1.0, 1.0]  # that between is never taken
    prices = [entry for entry in run.reasons if entry["event"] == "price"]
    assert prices
    for price in prices:  # by the numbers that actions have without it
        assert price["actions"] == run.q[price["regions"]].argmax(axis=1).tolist()


PROBLEMS = {
    "no teacher": (["nothing"], "'nothing' is not a teacher; give path/to/file.py:function"),
    "no file": (["none.py:swing"], "none.py"),
    "no function": (["policies.py:swim"], "swim"),
    "no table": (["none.csv"], "none.csv"),
    "no zip": (["none.zip"], "There is no file none.zip"),
    "empty zip": (["empty.zip"], "is damaged, or no agent of Stable-Baselines3"),
    "other zip": (["other.zip"], "holds an agent of another kind"),
    "no run": (["folder"], "folder"),
    "fails": (["policies.py:fail"], "The teacher policies.py:fail failed in "),
    "no regions": (["policies.py:swing", "--regions", "0"], "regions"),
    "nan": (["policies.py:swing", "--keep", "nan"], "keep should be a mean return"),
    "no task": (["policies.py:swing", "--task", "MountainCat-v0"], "did you mean 'MountainCar-v0'?"),
    "labels": (["policies.py:swing", "--task", "FrozenLake-v1"], "observes labels"),
    "setting": (["policies.py:swing", "--set", "learner.mots=3"], "did you mean 'most'?"),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_bad_input_is_told_in_one_sentence(call: Call, problem: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.zip").write_bytes(b"")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("data", "{}")
    before = sorted(tmp_path.iterdir())
    words, sentence = PROBLEMS[problem]
    task = [] if "--task" in words else ["--task", CAR]
    answer = call("distil", *words, *task, "--json")
    assert answer.code == 2
    assert answer.out == ""
    assert sentence in answer.err
    assert "Traceback" not in answer.err
    assert [path for path in sorted(tmp_path.iterdir()) if path.name != "__pycache__"] == before


def test_a_zip_comes_with_a_warning(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty.zip").write_bytes(b"")
    assert "open only those that you trust" in call("distil", "empty.zip", "--task", CAR).err
