"""Other Python processes: none of them imports files of the current folder.

Python puts the current folder first on its path for ``-m`` and ``-c``, and so do the processes that multiprocessing
and dask start. A file there called ``base64.py`` would run in place of Python's own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, NamedTuple

QUIET = (
    "ignore::UserWarning:multiprocessing.resource_tracker"  #: it tells of what a stopped process leaves to it
)
GRACE = 10.0  #: seconds that a process has to save what it learned
SAFE = "PYTHONSAFEPATH"  #: what ``-P`` is called in the environment


def start_python(module: str, **options: Any) -> subprocess.Popen[str]:
    """Start a module of ours with the paths of this process, so that it finds the modules of a user."""
    return subprocess.Popen(  # noqa: S603 # this program
        [sys.executable, "-P", "-m", module],
        text=True,
        env=os.environ | {"PYTHONPATH": _handed_on(sys.path)},
        **options,
    )


def _handed_on(paths: list[str]) -> str:
    """The paths for another process: not the current folder, nor one that would be read as several.

    >>> _handed_on(["", "/a", "/b:/c", "/d"])
    '/a:/d'
    """
    return os.pathsep.join(path for path in paths if path and os.pathsep not in path)


def pool_of_processes(count: int) -> ProcessPoolExecutor:
    """Return a pool of processes that end with this one, and not by Ctrl-C, which all of a terminal get."""
    return ProcessPoolExecutor(count, initializer=_end_with_parent)


class Lost(NamedTuple):
    """The exit code of a copy of this process that ended without an answer."""

    code: int


def in_copies(work: Callable[[int], str], count: int, at_once: int) -> Generator[tuple[int, str | Lost]]:
    """Do ``work(0)`` to ``work(count - 1)`` in copies of this process, and yield each answer when it is there.

    A copy knows all that this process knows and does one piece of work. Copies share no locks and no queue, so one
    that is killed leaves the others alone. If the caller goes away, the running ones get a SIGTERM, and some seconds.
    """
    context, waiting = get_context("fork"), list(range(count))[::-1]
    running: dict[Any, tuple[int, Any]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                number, (ours, theirs) = waiting.pop(), context.Pipe(duplex=False)
                process = context.Process(target=_answer, args=(work, number, theirs), daemon=True)
                with without_ctrl_c():
                    process.start()
                theirs.close()
                running[ours] = number, process
            ready: list[Any] = wait(list(running))
            for pipe in ready:
                number, process = running.pop(pipe)
                try:
                    answer: str | Lost = pipe.recv_bytes().decode()
                    process.join()
                except EOFError:
                    process.join()
                    answer = Lost(process.exitcode)
                pipe.close()
                yield number, answer
    finally:
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.join(GRACE)
            process.kill()
            process.join()


def _answer(work: Callable[[int], str], number: int, pipe: Any) -> None:
    _end_with_parent()
    pipe.send_bytes(work(number).encode())


def _end_with_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = parent_process()
    if parent is not None:
        Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()


@contextmanager
def safe_path() -> Iterator[None]:
    """Keep the current folder off the path of the Python processes that a library starts within the block."""
    with _environment(SAFE, "1"):
        yield


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable for the processes that are started within the block."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Spare the processes that a library starts here, or from threads that it starts here, the Ctrl-C of a terminal.

    A terminal sends it to all processes of a command, and the first of them stops the others. What a thread has
    blocked is inherited by its threads and processes, so they do not get it even while they start.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    with _environment("PYTHONWARNINGS", QUIET):
        resource_tracker.ensure_running()  # it lets Ctrl-C in again where it is started, so it is started first
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
