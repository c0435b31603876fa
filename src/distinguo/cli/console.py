"""What the commands print, and where: JSON alone on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

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
