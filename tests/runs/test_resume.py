"""Exact resume: stopped anywhere and continued, a run ends with the same bytes as one never stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.learners.economy.learner import Economy
from distinguo.runs import folder, stage
from distinguo.runs import learn as lab
from distinguo.runs.configuration import Configuration, configure
from distinguo.runs.learn import learn_configured
from tests.runs.stopping import FAST, Stopped, from_scratch, learned, never_stopped, stop_after, stopped

pytestmark = pytest.mark.usefixtures("small_chunks")
DRIVER = Path(__file__).with_name("driver.py")


def from_many() -> Configuration:
    """Start with so many prototypes that memory must grow, and stop before the task is solved."""
    rng = np.random.default_rng(5)
    points = rng.uniform((-2.4, -5.5), (2.4, 5.5), (40, 2))
    return configure("puck", seed=1, changes=FAST | {"stage.trials": 25}, prototypes=points)


def without_resets() -> Configuration:
    """Split in the midst of trials, where the non-active form does."""
    changes = {"learner.active": False, "learner.epsilon": 0.01, "learner.gamma": 0.9, "learner.alpha": 0.1}
    changes |= {"learner.new_updates": 1, "learner.reduced_updates": 0}
    return configure("puck", seed=1, changes=FAST | changes)


CONFIGURATIONS = [from_scratch, from_many, without_resets]


@pytest.fixture(params=CONFIGURATIONS, ids=lambda make: make.__name__)
def configuration(request: pytest.FixtureRequest) -> Configuration:
    return request.param()


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Write a checkpoint after every chunk, until the patch is undone."""
    monkeypatch.setattr(lab, "CHECKPOINT_SECONDS", 0.0)
    return monkeypatch


def test_the_runs_of_these_tests_are_worth_stopping(configuration: Configuration, tmp_path: Path) -> None:
    whole, chunks = never_stopped(configuration, tmp_path / "run")
    assert chunks > 20
    assert whole["reasons.jsonl"].count(b"\n") > 1
    assert whole["trials.csv"].count(b"\n") > 5


def test_a_run_stopped_once_after_any_chunk(configuration: Configuration, tmp_path: Path) -> None:
    whole, chunks = never_stopped(configuration, tmp_path / "whole")
    for chunk in range(1, chunks + 1):
        path = tmp_path / f"stopped-{chunk}"
        with pytest.raises(Stopped):
            learn_configured(configuration, path, stop_after(chunk))
        learn_configured(configuration, path)
        assert learned(path) == whole, chunk


@pytest.mark.parametrize("every", [1, 7])
def test_a_run_stopped_again_and_again(configuration: Configuration, tmp_path: Path, every: int) -> None:
    whole, chunks = never_stopped(configuration, tmp_path / "whole")
    path = tmp_path / "stopped"
    stops = 0
    while not folder.is_finished(path):
        try:
            learn_configured(configuration, path, stop_after(every))
        except Stopped:
            stops += 1
    assert stops >= chunks // every
    assert learned(path) == whole


def test_the_size_of_a_chunk_changes_nothing(
    configuration: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = never_stopped(configuration, tmp_path / "whole")
    monkeypatch.setattr(stage, "CHUNK", 10**6)
    assert never_stopped(configuration, tmp_path / "large")[0] == whole


def test_a_stopped_run_can_be_opened(configuration: Configuration, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        learn_configured(configuration, tmp_path / "run", stop_after(20))
    opened = folder.open_run(tmp_path / "run")
    assert not opened.solved
    assert len(opened.trials) > 3
    assert opened.action((0.0, 1.0)) in ("left", "right")


def test_a_stopped_run_can_be_opened_though_its_last_line_was_cut_off(tmp_path: Path) -> None:
    stopped(tmp_path / "run", from_scratch())
    count = len(folder.open_run(tmp_path / "run").trials)
    for name in ("trials.csv", "reasons.jsonl"):
        with (tmp_path / "run" / name).open("a") as file:
            file.write('{"event": "spl' if name.endswith("l") else "12,3")
    assert len(folder.open_run(tmp_path / "run").trials) == count


def test_a_finished_run_is_not_learned_again(tmp_path: Path, whole: Any) -> None:
    learn_configured(from_scratch(), tmp_path / "whole", lambda _: pytest.fail("it learned again"))
    assert learned(tmp_path / "whole") == whole


def test_in_memory_and_in_a_folder_are_the_same(configuration: Configuration, tmp_path: Path) -> None:
    free, kept = learn_configured(configuration), learn_configured(configuration, tmp_path / "run")
    assert free.q.tobytes() == kept.q.tobytes()
    assert free.updates.tobytes() == kept.updates.tobytes()
    assert (free.trials, free.reasons) == (kept.trials, kept.reasons)
    free.summary.pop("seconds")
    assert free.summary == {k: v for k, v in kept.summary.items() if k != "seconds"}


# Ctrl-C comes at any time, most often while compiled code runs: Python hears of it when that returns.


def interrupting(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, call: int) -> None:
    """Let Ctrl-C be pressed during a certain call of a function."""
    real = getattr(module, name)
    calls = 0

    def interrupted(*values: Any) -> Any:
        nonlocal calls
        calls += 1
        result = real(*values)
        if calls == call:
            signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(module, name, interrupted)


PLACES = [
    (Economy, "begin", 5),
    (Economy, "advance", 3),
    (Economy, "advance", 8),
    (Economy, "reasons", 2),
    (stage, "follow_in", 2),
    (folder, "_append", 3),
    (folder, "_append", 4),
    (folder, "write_checkpoint", 2),
    (folder, "write_together", 1),
    (folder, "write_together", 2),
]


@pytest.mark.end_to_end
@pytest.mark.parametrize(("module", "name", "call"), PLACES)
def test_a_run_stopped_by_control_c_at_any_place(
    tmp_path: Path, whole: Any, often: pytest.MonkeyPatch, module: Any, name: str, call: int
) -> None:
    interrupting(often, module, name, call)
    with pytest.raises(KeyboardInterrupt):
        learn_configured(from_scratch(), tmp_path / "run")
    often.undo()
    learn_configured(from_scratch(), tmp_path / "run")
    assert learned(tmp_path / "run") == whole


def test_control_c_is_as_before_after_a_run(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    learn_configured(from_scratch(), tmp_path / "run")
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_within_a_chunk_keeps_the_last_checkpoint(
    tmp_path: Path, whole: Any, often: pytest.MonkeyPatch
) -> None:
    """The state of a chunk that broke off is torn: a run that goes on from it would differ."""
    advance, calls = Economy.advance, iter(range(100))

    def failing(*values: Any) -> Any:
        result = advance(*values)
        if next(calls) == 10:
            raise MemoryError
        return result

    often.setattr(Economy, "advance", failing)
    with pytest.raises(MemoryError):
        learn_configured(from_scratch(), tmp_path / "run")
    often.undo()
    learn_configured(from_scratch(), tmp_path / "run")
    assert learned(tmp_path / "run") == whole


# Processes of the command line, ended from outside.

ARGUMENTS = ["learn", "puck", "--seed", "1", "--set", "stage.cap=2000", "--set", "stage.hold=2000"]


def start(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(DRIVER), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for a process, though not for ever, and return what it said."""
    try:
        return process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise


def test_processes_killed_at_random_moments_end_with_the_same_bytes(tmp_path: Path, whole: Any) -> None:
    out = tmp_path / "killed"
    said, complaint = finish(start("kills", str(out), *ARGUMENTS, "--out", str(out)))
    killed, interrupted = map(int, said.split())
    assert killed >= 3, complaint
    assert interrupted >= 1
    assert learned(out) == whole


def test_control_c_says_where_the_run_is_and_the_same_command_goes_on(tmp_path: Path, whole: Any) -> None:
    out, here, go = tmp_path / "run", tmp_path / "here", tmp_path / "go"
    words = ["waits", str(here), str(go), *ARGUMENTS, "--out", str(out)]
    process = start(*words)
    while not here.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    go.touch()
    said, told = finish(process)
    assert process.returncode == 130
    assert said == ""
    assert f"saved in {out}" in told
    assert "Traceback" not in told
    assert not folder.is_finished(out)
    again = start(*words)
    assert "Look again" in finish(again)[0]
    assert again.returncode == 0
    assert learned(out) == whole
