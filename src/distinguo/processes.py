"""Other Python processes: none of them imports files of the current folder.

Python puts the current folder first on its path for ``-m`` and ``-c``, and so do the processes that multiprocessing
and dask start. A file there called ``base64.py`` would run in place of Python's own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from multiprocessing import get_all_start_methods, get_context, parent_process, resource_tracker
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


class Failed(NamedTuple):
    """What is known of a piece of work that gave no answer."""

    reason: str


def in_processes(
    work: Callable[[str], str], items: Sequence[str], count: int, seconds: float | None = None
) -> Generator[tuple[int, str | Failed]]:
    """Do each of the items in one of ``count`` processes, and yield its number and answer when it is there.

    The processes are copies of this one where the system can copy (``work`` must have a name where it cannot). Each
    has a pipe of its own and does one item after the other, so one that is killed leaves the others alone. What it
    was doing is tried again, ``ATTEMPTS`` times in all. An item that takes longer than ``seconds`` is given up. If
    the caller goes away, the processes get a SIGTERM, and some seconds.
    """
    waiting, attempts = list(range(len(items)))[::-1], [0] * len(items)
    pool: dict[Any, _Worker] = {}
    try:
        while waiting or pool:
            while waiting and len(pool) < count:
                worker = _Worker.started(work)
                pool[worker.pipe] = worker.given(waiting.pop(), items, seconds)
            for pipe in _answering(pool):
                worker = pool.pop(pipe)
                number, answer = worker.number, worker.answer()
                if answer is None and attempts[number] < ATTEMPTS - 1:
                    attempts[number] += 1
                    waiting.insert(0, number)  # at the end: memory that is wanting now may be free then
                    continue
                if answer is not None and waiting:
                    pool[pipe] = worker.given(waiting.pop(), items, seconds)
                elif answer is not None:
                    worker.leave()
                yield (
                    number,
                    Failed(_DIED.format(worker.process.exitcode, ATTEMPTS)) if answer is None else answer,
                )
            for worker in [one for one in pool.values() if one.until <= time.monotonic()]:
                del pool[worker.pipe]
                worker.stop(0.0)
                yield worker.number, Failed(f"it took longer than {seconds:g} seconds.")
    finally:
        for worker in pool.values():
            worker.process.terminate()
        for worker in pool.values():
            worker.stop(GRACE)


LEAVE = b""  #: no item
ATTEMPTS = 5  #: how often an item is tried whose process ends
_DIED = "its process ended with exit code {}, {} times, perhaps for want of memory."


class _Worker(NamedTuple):
    """A process, the pipe to it, the number of the item that it does, and until when it may."""

    process: Any
    pipe: Any
    number: int = 0
    until: float = inf

    @classmethod
    def started(cls, work: Callable[[str], str]) -> _Worker:
        context: Any = get_context("fork" if "fork" in get_all_start_methods() else "spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(work, theirs, ours), daemon=True)
        with without_ctrl_c():
            process.start()
        theirs.close()
        return cls(process, ours)

    def given(self, number: int, items: Sequence[str], seconds: float | None) -> _Worker:
        with contextlib.suppress(OSError):  # it has ended, which its pipe tells, too
            self.pipe.send_bytes(items[number].encode())
        until = inf if seconds is None else time.monotonic() + seconds
        return self._replace(number=number, until=until)

    def answer(self) -> str | None:
        """What the process says; None if it has ended."""
        try:
            answer: str = self.pipe.recv_bytes().decode()
        except (EOFError, OSError):
            self.leave()
            return None
        return answer

    def leave(self) -> None:
        """Let a process end; closing the pipe would not tell it, as processes that were copied later hold it, too."""
        with contextlib.suppress(OSError):
            self.pipe.send_bytes(LEAVE)
        self.pipe.close()
        self.process.join()

    def stop(self, grace: float) -> None:
        self.process.join(grace)
        self.process.kill()
        self.leave()


def _answering(pool: Mapping[Any, _Worker]) -> list[Any]:
    """Wait until a process answers, ends, or has taken too long."""
    soonest = min(worker.until for worker in pool.values())
    return wait(list(pool), None if soonest == inf else max(0.0, soonest - time.monotonic()))


def _serve(work: Callable[[str], str], pipe: Any, others_end: Any) -> None:
    others_end.close()  # a copy of it: while it is open, this process would not be told that the other has gone
    _end_with_parent()
    while True:
        try:
            item = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        if item == LEAVE:
            return
        pipe.send_bytes(work(item.decode()).encode())


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
