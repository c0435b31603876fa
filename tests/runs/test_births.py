"""A run folder: born though a process was killed at it, used by one process at a time, on disks that are full."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import distinguo as dg
from distinguo import writing as atomic
from distinguo.cli.parse import load_named
from distinguo.errors import DistinguoError
from distinguo.runs import folder
from distinguo.runs.configuration import Configuration, configure, differences, learn_command
from distinguo.runs.folder import SETTINGS
from distinguo.runs.learn import learn_configured
from distinguo.runs.settings_file import from_toml, to_toml
from distinguo.runs.stage import Stage
from distinguo.tasks.catalog import spec_of
from distinguo.writing import LOCK
from tests import cuts
from tests.nightly import so_many
from tests.runs.corridor import Corridor
from tests.tasks.test_declare import Gusts
from tests.writing.test_lock import PIECES, cut_off

EXAMPLES = Path(__file__).parents[2] / "examples"
FAST = {"stage.cap": 2000, "stage.hold": 2000}


def puck() -> Configuration:
    return configure("puck", seed=1, changes=FAST)


@pytest.mark.parametrize("left", [[], [SETTINGS], [LOCK], [SETTINGS, LOCK]])
def test_a_folder_whose_birth_was_cut_off_can_be_used(tmp_path: Path, left: list[str]) -> None:
    out = tmp_path / "run"
    out.mkdir()
    for name in left:
        if name == LOCK:
            (out / name).touch()
        else:
            cut_off(out / name)
    assert learn_configured(puck(), out).solved
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("name", [".hidden", "letter.txt", "settings.txt-x", ".settings.toml-x", ".lock"])
def test_a_folder_of_somebody_else_is_not_taken_for_one(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(DistinguoError, match="not a run folder"):
        learn_configured(puck(), tmp_path)


def test_files_that_a_user_puts_into_our_folders_stay(tmp_path: Path) -> None:
    draw = random.Random(0)
    names = {"." + "".join(draw.choices(PIECES, k=3)) for _ in range(100)} | {
        ".notes.txt-backup",
        "notes.txt~",
    }

    def added_to(path: Path) -> Path:
        path.mkdir(exist_ok=True)
        for name in names:
            (path / name).write_text(name)
        return path

    folder.prepare(tmp_path / "run", puck())
    learn_configured(puck(), added_to(tmp_path / "run"))
    for _ in range(2):
        compared = dg.compare(["grid:2x2"], out=tmp_path / "test", runs=1, steps=100, cap=100)
        assert compared.curves
        for part in ("", "cells", "representations"):
            added_to(tmp_path / "test" / part)
    for path in [tmp_path / "run", *(tmp_path / "test" / part for part in ("", "cells", "representations"))]:
        assert {name: (path / name).read_text() for name in names} == {name: name for name in names}


def test_two_at_once_in_one_folder_one_is_told(tmp_path: Path) -> None:
    here, go = threading.Event(), threading.Event()
    said: list[Any] = []

    def wait(_: Stage) -> None:
        here.set()
        go.wait(60)

    first = threading.Thread(target=lambda: said.append(learn_configured(puck(), tmp_path / "run", wait)))
    first.start()
    here.wait(60)
    with pytest.raises(DistinguoError, match=f"in use by process {os.getpid()}"):
        learn_configured(puck(), tmp_path / "run")
    go.set()
    first.join()
    alone = learn_configured(puck(), tmp_path / "alone")
    assert (tmp_path / "run" / "trials.csv").read_bytes() == (tmp_path / "alone" / "trials.csv").read_bytes()
    assert said[0].q.tobytes() == alone.q.tobytes()


def test_pairs_of_processes_leave_one_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "distinguo", "learn", "puck", "--out", str(tmp_path / "run")]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=300)[1] for process in both]
    for process, text in zip(both, said, strict=True):
        assert process.returncode == 0 or "in use by process" in text, text
    assert 0 in [process.returncode for process in both]
    rows = (tmp_path / "run" / "trials.csv").read_text().splitlines()[1:]
    assert len(rows) == json.loads((tmp_path / "run" / "result.json").read_text())["trials"]


def full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(("module", "name"), [(atomic.os, "fsync"), (folder, "_append")])
def test_a_full_disk_is_told_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    whole = learn_configured(puck(), tmp_path / "whole")
    folder.prepare(tmp_path / "run", puck())
    with monkeypatch.context() as patch:
        patch.setattr(module, name, full)
        with pytest.raises(DistinguoError, match=r"Cannot write .*No space left on device"):
            learn_configured(puck(), tmp_path / "run")
    assert learn_configured(puck(), tmp_path / "run").q.tobytes() == whole.q.tobytes()


def test_a_folder_deleted_meanwhile_is_told(tmp_path: Path) -> None:
    with pytest.raises(DistinguoError, match=r"Cannot write .*No such file"):
        learn_configured(
            puck(), tmp_path / "run", lambda _: shutil.rmtree(tmp_path / "run", ignore_errors=True)
        )


def test_a_reader_sees_the_files_of_one_moment(tmp_path: Path) -> None:
    """While one process replaces them again and again, every look finds a pair that belongs together."""
    out = tmp_path / "run"
    learned = [learn_configured(configure("puck", seed=n, changes=FAST), tmp_path / str(n)) for n in (1, 2)]
    shutil.copytree(tmp_path / "1", out)
    files = [
        {name: (run.path / name).read_bytes() for name in folder.TOGETHER if (run.path / name).exists()}
        for run in learned
        if run.path
    ]
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            for content in files:
                with folder.alone_in(out):
                    folder.write_together(out, content)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        pairs = {
            (run.representation.provenance["seed"], run.q.tobytes())
            for run in map(folder.open_run, [out] * 60)
        }
    finally:
        done.set()
        writer.join()
    assert pairs <= {(run.representation.provenance["seed"], run.q.tobytes()) for run in learned}


def test_the_command_that_goes_on_is_the_one_that_began(tmp_path: Path) -> None:
    asked = [
        configure("puck", seed=3),
        configure("puck", preset_name="paper", changes={"task.mass": 1.3, "learner.epsilon": 0.05}),
        configure("puck", prototypes=[[0.5, -1.0], [1e-3, 2.0]], changes={"stage.trials": 7}),
        configure("CartPole-v1", learner="economy", changes={"learner.active": False}),
        configure("FrozenLake-v1", changes={"stage.steps": 5000}),
        configure("FrozenLake-v1", words={"threshold": 0.25}),
        configure("puck", learner=load_named(f"{EXAMPLES}/own_learner.py:GridLearner")),
        configure(spec_of(load_named(f"{EXAMPLES}/own_task.py:Hover"))),
    ]
    for number, configuration in enumerate(asked):
        command = learn_command(configuration, tmp_path / str(number))
        assert differences(_configured_by(command), configuration) == "", command


def test_no_command_makes_an_environment_object(tmp_path: Path) -> None:
    configuration = configure(spec_of(Corridor()), seed=4, learner="economy")
    command = learn_command(configuration, tmp_path)
    assert command == (
        f"distinguo.learn(Corridor(…), seed=4, preset='default', learner='economy', …, out={str(tmp_path)!r})"
    )
    absent = from_toml(
        to_toml(configure(spec_of(Gusts(ways=4)))).replace('task = "Gusts"', 'task = "Squalls"')
    )
    assert learn_command(absent, tmp_path).startswith("distinguo learn path/to/file.py:Squalls --seed 0 ")


def _configured_by(command: str) -> Configuration:
    import shlex
    from unittest.mock import patch

    from distinguo.cli import app

    seen: list[Configuration] = []
    stop = patch("distinguo.runs.learn.warm", side_effect=lambda c: (seen.append(c), sys.exit(0)))
    with stop, pytest.raises(SystemExit):
        app(shlex.split(command)[1:], standalone_mode=False)
    return seen[0]


@pytest.mark.parametrize(
    ("name", "every", "least"), [("puck", 47, 8), ("distil", 42, 2), ("condense", 50, 2)]
)
def test_cut_off_at_any_touch_of_a_file_and_by_signals(
    tmp_path: Path, name: str, every: int, least: int
) -> None:
    """A small part of what ``python tests/cuts.py`` does; in a process of its own, which forks."""
    program = (
        "import random, sys; from pathlib import Path; from tests import cuts; cuts.prepare_commands(); "
        f"tally = cuts.Tally(); place = Path(sys.argv[1]); case = cuts.case_named({name!r}); "
        f"cuts.crashes(case, place / 'crashes', {so_many(every, nightly=every // 2)}, tally, 500); "
        f"cuts.cut_at_random(case, place / 'cuts', random.Random(1), tally, {3 if name == 'puck' else 1}); "
        "print(tally.cuts, tally.early, *tally.wrong, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(cuts.__file__).parents[1],
    )
    count, early, *wrong = done.stdout.splitlines()
    assert wrong == []
    assert int(count) > so_many(least, nightly=least + 2), done.stderr
    assert int(early) > int(count) // 2
