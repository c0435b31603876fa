"""A distillation that is stopped ends with what it has; stopped again, it ends at once."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from subprocess import Popen

import pytest

import distinguo as dg
from distinguo.distillation.distil import Distilled
from tests.distillation.common import CAR, QUICK, SMALL, SWINGS
from tests.nightly import NIGHTLY
from tests.test_interrupts import SIGNALS, started, wait_for_line

KEPT, OUT_OF_REACH = -180.0, -60.0  #: mean returns; nobody arrives within 60 steps
CODE = """
import pathlib
import time


def swing(seen):
    if pathlib.Path(__file__).with_name("slowly").exists():
        time.sleep(0.01)
    return 2 if seen[1] > 0 else 0
"""
#: Changes are tried until somebody stops it.
ENDLESS = SMALL | {"learner.costs": "false", "learner.patience": 10**6, "learner.steps": 10**12}


def stopped_at(text: str) -> Distilled:
    """Distil until something is said."""

    def watch(said: str) -> None:
        if said.startswith(text):
            raise StopIteration

    return dg.distil(SWINGS, CAR, keep=KEPT, settings=QUICK, watch=watch)


def test_no_smaller_size_is_tried() -> None:
    small = stopped_at("3 prototypes")
    assert [one.size for one in small.dial] == [3]
    assert small.run.summary["prototypes"] == 3
    assert small.run.summary["stopped"] is True
    assert small.kept  # what there is is confirmed as ever
    assert small.notes[-1] == "It was stopped at 3 prototypes; fewer may do."


def test_one_that_is_stopped_before_it_begins_has_a_map() -> None:
    small = stopped_at("")
    assert [one.size for one in small.dial] == [3]


def test_one_that_is_not_stopped_says_nothing_of_it() -> None:
    small = stopped_at("never")
    assert len(small.dial) > 1
    assert small.run.summary["stopped"] is False
    assert not any("stopped" in note for note in small.notes)


def test_a_return_that_the_teacher_does_not_reach_is_not_looked_for_with_larger_maps() -> None:
    small = dg.distil(SWINGS, CAR, keep=OUT_OF_REACH, settings=QUICK)
    assert max(one.size for one in small.dial) == SMALL["learner.most"]
    assert not small.kept


def command(folder: Path) -> list[str]:
    (folder / "policies.py").write_text(CODE)
    changes = [word for name, value in ENDLESS.items() for word in ("--set", f"{name}={value}")]
    teacher = f"{folder / 'policies.py'}:swing"
    words = ["--task", CAR, f"--keep={OUT_OF_REACH}", "--out", str(folder / "run"), *changes]
    return ["-m", "distinguo", "distil", teacher, *words]


def wait_for_changes(process: Popen[str]) -> None:
    assert process.stderr
    assert any("changes tried" in line for line in process.stderr)


@pytest.mark.parametrize(("number", "code"), SIGNALS if NIGHTLY else SIGNALS[:1])
def test_the_map_so_far_is_saved(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with started(*command(tmp_path)) as process:
        wait_for_changes(process)
        process.send_signal(number)
        said = process.communicate(timeout=60)[1]
    assert (
        "Stopping: confirming and saving the smallest map so far; press Ctrl-C again to quit without it."
        in said
    )
    assert "It was stopped at 3 prototypes; fewer may do." in said
    assert process.returncode == code
    run = dg.open_run(tmp_path / "run")
    assert (run.summary["prototypes"], run.summary["stopped"]) == (3, True)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_stopped_again_it_ends_at_once(tmp_path: Path) -> None:
    with started(*command(tmp_path)) as process:
        wait_for_changes(process)
        (tmp_path / "slowly").touch()  # else it would have ended by itself
        process.send_signal(signal.SIGINT)
        wait_for_line(process, "Stopping")
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    out = tmp_path / "run"
    assert f"Stopped; saved in {out}. The same command continues from there." in said
    assert process.returncode == 130
    with pytest.raises(dg.DistinguoError, match="is not finished: distinguo distil was interrupted"):
        dg.open_run(out)
