"""Ctrl-C and SIGTERM: saved and said within a moment, and the process ends as it would have."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from distinguo import interrupts
from distinguo.interrupts import Terminated, end_at_once, held, raise_once, termination_raises
from distinguo.runs import folder

MOMENT = 2.0  #: seconds in which a stopped command should be gone
BUSY = 4.0  #: how many times longer a busy machine may take


def test_both_signals_wait_until_they_are_let_in() -> None:
    with termination_raises():
        for number, kind in ((signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)):
            with held() as let_in:
                signal.raise_signal(number)  # nothing happens yet
                with pytest.raises(KeyboardInterrupt) as caught:
                    let_in()
            assert caught.type is kind
        assert signal.getsignal(signal.SIGTERM) is raise_once
        with pytest.raises(Terminated), held():
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is end_at_once  # another one is the second
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_one_that_comes_at_the_end_is_not_lost() -> None:
    with pytest.raises(KeyboardInterrupt), held():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_piece_of_work_that_does_not_end_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setattr(interrupts, "PATIENCE", 0.05)
    began = time.monotonic()

    def work() -> None:
        with held():
            signal.raise_signal(number)
            time.sleep(3)  # a step of an environment

    with termination_raises(), pytest.raises(KeyboardInterrupt):
        work()
    assert time.monotonic() - began < 2


def test_one_that_was_let_in_is_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "PATIENCE", 0.05)
    with held() as let_in:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            let_in()
        time.sleep(0.2)
    with pytest.raises(KeyboardInterrupt), held():
        signal.raise_signal(signal.SIGINT)
    time.sleep(0.2)


def test_handlers_of_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        with termination_raises(), held():
            signal.raise_signal(signal.SIGTERM)
            assert seen == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Start a program; it does not outlive the test."""
    with subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def stopped(process: subprocess.Popen[str], number: signal.Signals) -> tuple[str, float]:
    """Stop a program; return what it said and how long it took to end."""
    began = time.monotonic()
    process.send_signal(number)
    return process.communicate(timeout=60)[1], time.monotonic() - began


def wait_for_line(process: subprocess.Popen[str], beginning: str) -> None:
    assert process.stderr
    for line in process.stderr:
        if line.startswith(beginning):
            return
    raise AssertionError(f"it never said {beginning}")


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
LONG = ["--set", "stage.cap=4000000000", "--set", "stage.hold=4000000000"]


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_learning_is_saved_and_says_so_within_a_moment(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    words = ["-m", "distinguo", "learn", "puck", "--out", str(tmp_path / "run"), *LONG]
    with started(*words) as process:
        wait_for_line(process, "trial ")
        said, took = stopped(process, number)
    assert f"Stopped; saved in {tmp_path / 'run'}." in said
    assert process.returncode == code
    assert took < MOMENT * BUSY
    assert folder.open_run(tmp_path / "run").representation.regions > 1


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_testing_says_where_the_curves_are_within_a_moment(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    words = ["-m", "distinguo", "test", "diagonal", "vrdp", "--out", str(tmp_path / "test")]
    with started(
        *words, "--runs", "50", "--cap", "2000000000", "--set", "tester.patience=2000000000"
    ) as process:
        while not (tmp_path / "test" / "extent.json").exists():
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(0.5)
        said, took = stopped(process, number)
    assert f"are in {tmp_path / 'test'}. The same command continues from there." in said
    assert process.returncode == code
    assert took < MOMENT * BUSY


ALONE = """
import sys, distinguo as dg
dg.learn("puck", out=sys.argv[1], watch=lambda stage: print("trial", file=sys.stderr, flush=True),
         settings={"stage.cap": 4 * 10**9, "stage.hold": 4 * 10**9})
"""


def test_a_script_that_leaves_sigterm_to_the_system_ends_by_it_after_it_has_saved(tmp_path: Path) -> None:
    with started("-c", ALONE, str(tmp_path / "run")) as process:
        wait_for_line(process, "trial")
        _, took = stopped(process, signal.SIGTERM)
    assert process.returncode == -signal.SIGTERM
    assert took < MOMENT * BUSY
    assert folder.open_run(tmp_path / "run").representation.regions >= 1


STORM = """
import signal, sys
import numpy as np
from distinguo.seam import kernel

class Stop(Exception):
    pass

def stop(*_):
    raise Stop

def draw(rng):
    return rng.random()

draw = (kernel if sys.argv[1] == "ours" else __import__("numba").njit)(draw)
rng = np.random.default_rng(0)
draw(rng)
signal.signal(signal.SIGALRM, stop)
for n in range(300):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0003 * (1 + n % 7))
        while True:
            draw(rng)
    except Stop:
        pass
print("alive", sys.getrefcount(rng))
"""


def test_an_interrupt_while_a_kernel_is_called_is_an_exception_and_no_crash() -> None:
    """Numba's own way to hand over a generator ends in a segmentation fault here."""
    done = subprocess.run([sys.executable, "-c", STORM, "ours"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "alive 2\n"), done.stderr


WHILE_COMPILING = """
import os, signal, sys
from llvmlite.binding import ExecutionEngine
from distinguo.seam import kernel

sent = []

def stop():
    if not sent:
        sent.append(os.kill(os.getpid(), signal.SIGINT))
        for _ in range(1000):
            pass

def stopping(own):
    def run(self, *arguments):
        result = own(self, *arguments)
        stop()
        return result
    return run

name = sys.argv[1]
setattr(ExecutionEngine, name, stopping(getattr(ExecutionEngine, name)))

def double(x):
    return 2 * x

double = kernel(double)
try:
    print(double(3))
except KeyboardInterrupt:
    print("stopped")
print(double(3), len(sent))
"""


@pytest.mark.second_stage
@pytest.mark.parametrize("name", ["_find_module_ptr", "add_module"])
def test_ctrl_c_while_a_kernel_is_compiled_reaches_the_caller_and_not_llvm(tmp_path: Path, name: str) -> None:
    """The first is called back by LLVM, where an exception would be lost; the second gives a module away."""
    script = tmp_path / "script.py"
    script.write_text(WHILE_COMPILING)
    done = subprocess.run(
        [sys.executable, str(script), name],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped\n6 1\n", "")


#: Python imports a module of this name before anything else.
CUSTOM = """
import os, sys

class Stopping:
    def find_spec(self, name, *_):
        if name == os.environ["WHERE"]:
            os.kill(os.getpid(), int(os.environ["NUMBER"]))

sys.meta_path.insert(0, Stopping())
"""
COMMAND = [str(Path(sys.executable).with_name("distinguo"))]
MODULE = [sys.executable, "-m", "distinguo"]


@pytest.mark.parametrize(
    ("words", "where", "number", "code", "said"),
    [
        (MODULE, "distinguo.tasks", signal.SIGINT, -2, ""),  # shells have 130 for it, too
        (COMMAND, "distinguo.tasks", signal.SIGINT, -2, ""),
        (MODULE, "distinguo.interrupts", signal.SIGTERM, 143, "\nStopped.\n"),
        (COMMAND, "distinguo.interrupts", signal.SIGINT, 130, "\nStopped.\n"),
        (MODULE, "typer", signal.SIGINT, 130, "\nStopped.\n"),
    ],
)
def test_a_signal_while_a_command_is_imported_ends_it_without_a_traceback(
    tmp_path: Path, words: list[str], where: str, number: signal.Signals, code: int, said: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(CUSTOM)
    environment = {"PYTHONPATH": str(tmp_path), "WHERE": where, "NUMBER": str(int(number))}
    done = subprocess.run(
        [*words, "tasks"], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (code, said)


def test_importing_the_package_changes_no_handler() -> None:
    script = "import signal, distinguo; print(signal.getsignal(2) is signal.default_int_handler)"
    for words in (["-c", script], ["-c", script, "distinguo"], ["-c", script, "-m", "distinguo"]):
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60)
        assert done.stdout == "True\n"
