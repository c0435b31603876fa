"""Other Python processes: none of them imports files of the current folder.

Python puts the current folder first on its path for ``-m`` and ``-c``, and so do the processes that multiprocessing
and dask start. A file there called ``base64.py`` would run in place of Python's own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import wait
from threading import Thread
from typing import Any

QUIET = (
    "ignore::UserWarning:multiprocessing.resource_tracker"  #: it tells of what a stopped process leaves to it
)
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


def pool_of_processes(count: int, copies: bool = False) -> ProcessPoolExecutor:
    """Return a pool of processes that end with this one, and not by Ctrl-C, which all of a terminal get.

    ``copies`` of this process know all that it knows; not every system can make them.
    """
    context = get_context("fork") if copies else None
    return ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent)


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
