"""What the commands print, and where: JSON alone on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Timer
from typing import Any, TypeVar

import typer

from distinguo.interrupts import Terminated, termination_raises

Result = TypeVar("Result")
POOL = "ThreadPoolExecutor"  #: how the names of threads begin that would be waited for at the end
REFRESH_SECONDS = 0.1  #: between two states of a live line
LINE_SECONDS = 2.0  #: between two plain lines where there is no terminal


def say(text: str = "") -> None:
    """Print a line for people."""
    print(text, file=sys.stderr, flush=True)


def answer(content: dict[str, Any], as_json: bool) -> None:
    """Print the result for programs, if they asked for it."""
    if as_json:
        print(json.dumps(content), flush=True)


@contextmanager
def word_if_slow(text: str, seconds: float = 1.0) -> Iterator[None]:
    """Say what is going on if it takes longer than a moment."""
    timer = Timer(seconds, say, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def stoppable(text: str) -> Iterator[None]:
    """When the command is stopped, by Ctrl-C or SIGTERM, say where things are and end it within a moment."""
    with termination_raises():
        try:
            yield
        except KeyboardInterrupt as stopped:
            say(f"\n{text}")
            _leave(143 if isinstance(stopped, Terminated) else 130)


def _leave(code: int) -> None:
    """End the command; what still runs in other threads is given up, as files are whole at any time."""
    sys.stdout.flush()
    if any(one.is_alive() and one.name.startswith(POOL) for one in threading.enumerate()):
        os._exit(code)
    raise typer.Exit(code)


def worked_off(text: str, work: Callable[[], Result]) -> Result:
    """Return what some work comes to, done beside the main thread, so that a stop need not wait for compiled code."""
    with stoppable(text):
        return ThreadPoolExecutor(1, POOL).submit(work).result()


@contextmanager
def live_line() -> Iterator[Callable[[str], None]]:
    """Show the state of long work: a line that is rewritten on a terminal, a line now and then elsewhere."""
    terminal = sys.stderr.isatty()
    every = REFRESH_SECONDS if terminal else LINE_SECONDS
    shown = time.monotonic() - REFRESH_SECONDS if terminal else time.monotonic()

    def update(text: str) -> None:
        nonlocal shown
        if time.monotonic() - shown >= every:
            shown = time.monotonic()
            print(
                f"\r\x1b[K{text}" if terminal else text,
                end="" if terminal else "\n",
                file=sys.stderr,
                flush=True,
            )

    try:
        yield update
    finally:
        if terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def progress_bar(text: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many of so many pieces are done, and the time left: a bar on a terminal, lines elsewhere."""
    if not sys.stderr.isatty():
        with live_line() as line:
            yield lambda done, total: line(f"{text}: {done} of {total}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(text), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)
