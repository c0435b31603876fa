"""Progress of long work: a line that is rewritten, a bar, and a notice while machine code is compiled.

On a terminal a thread draws the line, so that it stays alive while compiled code runs; it is never wider than the
terminal. Elsewhere a plain line is printed now and then.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from distinguo.cli.console import NARROW, cleared_by, say, width_of
from distinguo.errors import visible

REFRESH_SECONDS = 0.1  #: between two states of a live line
LINE_SECONDS = 2.0  #: between two plain lines without a terminal
LONG_SECONDS = 0.3  #: of compiling, before a notice is printed
SPINNER, PLAIN_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"
WHILE_COMPILING = "Compiling for this machine"
EVENT = "numba:compile"  #: emitted by Numba if a kernel is not in the disk cache
CLEAR = "\r\x1b[K"


class Compilations:
    """Watches Numba and knows since when it has been compiling.

    Kernels from the disk cache and code that runs as plain Python are not compiled and cause no notice.
    """

    def __init__(self, began: Callable[[], None] = lambda: None) -> None:
        self._began = began
        self._depth, self._since, self._left = 0, 0.0, 0.0

    def notify(self, event: Any) -> None:
        """Take an event of Numba; the events of a kernel's parts are nested in its own."""
        now = time.monotonic()
        if event.is_start:
            if self._depth == 0 and now - self._left > LONG_SECONDS:
                self._since = now
                self._began()
            self._depth += 1
        else:
            self._depth -= 1
            self._left = now

    @property
    def seconds(self) -> float | None:
        """The time since compiling began, including pauses between kernels; None if nothing is compiled."""
        now = time.monotonic()
        if self._depth == 0 and now - self._left > REFRESH_SECONDS:
            return None
        return now - self._since

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch within a ``with`` block."""
        from numba.core import event  # loaded by every command that compiles

        from distinguo.kernel_cache import notice

        notice.wanted = False  # a live line says it
        events: Any = event
        events.Listener.register(
            Compilations
        )  # a virtual subclass, because the base class takes long to load
        with events.install_listener(EVENT, self):
            yield


def is_live() -> bool:
    """Whether lines on standard error can be rewritten."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class _Line:
    """The live line of a terminal, drawn by a thread."""

    def __init__(self) -> None:
        self.text, self._shown, self._ticks = "", "", 0
        self._lock, self._ended = threading.Lock(), threading.Event()
        self.compilations = Compilations()
        encoding = getattr(sys.stderr, "encoding", None) or "ascii"
        self._spinner = SPINNER if encoding.lower().replace("-", "") == "utf8" else PLAIN_SPINNER

    def tick(self) -> None:
        """Draw until the work is done."""
        while not self._ended.wait(REFRESH_SECONDS):
            self._ticks += 1
            with self._lock:
                if not self._ended.is_set():
                    self._draw(self._now())

    def _now(self) -> str:
        seconds = self.compilations.seconds
        if seconds is None or seconds < LONG_SECONDS:
            return self.text
        frame = self._spinner[self._ticks % len(self._spinner)]
        return f"{frame} {WHILE_COMPILING}, {seconds:.0f} s"

    def _draw(self, text: str) -> None:
        from distinguo.views.terminal import cut

        width = width_of(sys.stderr)
        text = cut(
            visible(text).replace("\n", " "), None if width is None else width - 1
        )  # the last cell would wrap the line
        if text != self._shown:
            self._write(CLEAR + text)
            self._shown = text

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Clear the line while something else is printed."""
        with self._lock:
            if self._shown:
                self._write(CLEAR)
                self._shown = ""
            yield

    def end(self) -> None:
        """Stop drawing."""
        self._ended.set()
        with self.paused():
            pass

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


@contextmanager
def live_line() -> Iterator[Callable[[str], None]]:
    """Show the progress of long work: a rewritten line on a terminal, a line now and then elsewhere."""
    if not is_live():
        with _once_if_compiling():
            yield _now_and_then()
        return
    line = _Line()
    thread = threading.Thread(target=line.tick, name="live line", daemon=True)
    thread.start()

    def update(text: str) -> None:
        line.text = text

    try:
        with line.compilations.watched(), cleared_by(line.paused):
            yield update
    finally:
        line.end()
        thread.join(1.0)


@contextmanager
def progress_lines() -> Iterator[None]:
    """Show the progress of work that reports it by itself, such as probing an environment."""
    from distinguo.progress import ProgressPlace

    before, ProgressPlace.line = ProgressPlace.line, lambda _: live_line()
    try:
        yield
    finally:
        ProgressPlace.line = before


def _now_and_then() -> Callable[[str], None]:
    """Return a function that prints the progress every two seconds."""
    told = time.monotonic()

    def update(text: str) -> None:
        nonlocal told
        if time.monotonic() - told >= LINE_SECONDS:
            told = time.monotonic()
            say(text)

    return update


@contextmanager
def _once_if_compiling() -> Iterator[None]:
    """Print once that machine code is compiled, if that takes longer than a moment."""
    timers: list[threading.Timer] = []

    def tell_soon() -> None:
        if not timers:
            timer = threading.Timer(LINE_SECONDS / 2, tell)
            timer.daemon = True
            timers.append(timer)
            timer.start()

    def tell() -> None:
        if compilations.seconds is None:  # that one was short; wait for the next
            timers.clear()
        else:
            say(f"{WHILE_COMPILING} …")

    compilations = Compilations(tell_soon)
    try:
        with compilations.watched():
            yield
    finally:
        for timer in timers:
            timer.cancel()


@contextmanager
def at_work(text: str) -> Iterator[None]:
    """Show a text and the time it takes, for work without other progress."""
    began = time.monotonic()
    ended = threading.Event()

    def count(update: Callable[[str], None]) -> None:
        while not ended.wait(REFRESH_SECONDS):
            seconds = time.monotonic() - began
            update(f"{text}, {seconds:.0f} s")

    with live_line() as line:
        thread = threading.Thread(target=count, args=[line], name="seconds", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(1.0)


@contextmanager
def progress_bar(text: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many pieces are done: a bar and the time left on a terminal that has room for it, or a line."""
    if not is_live() or (width_of(sys.stderr) or NARROW) < NARROW:
        with live_line() as line:
            yield lambda done, total: line(f"{text}: {done} of {total}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    compilations = Compilations()

    class Word(TextColumn):
        def render(self, task: Any) -> Any:
            seconds = compilations.seconds
            compiling = seconds is not None and seconds >= LONG_SECONDS
            self.text_format = "compiling" if compiling else text
            return super().render(task)

    columns = (Word(text), BarColumn(bar_width=None), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        compilations.watched(),
        Progress(*columns, console=Console(stderr=True), transient=True) as progress,
    ):
        bar = progress.add_task("", total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)
