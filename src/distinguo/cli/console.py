"""What the commands print, and where.

Results for people go to standard output, and what is said on the way to standard error. With ``--json``, standard
output is kept for one JSON object, and everything else goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NamedTuple, TextIO, TypeVar

import typer

from distinguo.interrupts import Terminated, termination_raises

Result = TypeVar("Result")
POOL = "ThreadPoolExecutor"  #: how the names of threads begin that would be waited for at the end
USUAL_WIDTH = 80  #: of a terminal that does not say
Pause = Callable[[], AbstractContextManager[None]]
_live: list[Pause] = []  #: what clears the live line that is shown at the moment, and lets nothing draw it


def width_of(stream: TextIO) -> int | None:
    """Return how many cells a line of a stream has; none if it is no terminal, where lines may be of any length.

    >>> import io
    >>> width_of(io.StringIO()) is None
    True
    """
    if not stream.isatty():
        return None
    asked = os.environ.get("COLUMNS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except OSError:
        return USUAL_WIDTH


def has_colours(stream: TextIO) -> bool:
    """Tell whether to print colours: on a terminal, unless NO_COLOR or TERM=dumb; with FORCE_COLOR anywhere."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class Output(NamedTuple):
    """Where results for people go, with the width and the colours there."""

    stream: TextIO
    width: int | None  #: cells of a line, none without limit
    colours: bool

    def tell(self, text: str = "", style: str = "") -> None:
        """Print a result; lines that are too long are broken at spaces."""
        fitted = self._fitted(text, style)
        with ExitStack() as stack:
            for pause in _live:
                stack.enter_context(pause())
            print(fitted, file=self.stream, flush=True)

    def _fitted(self, text: str, style: str) -> str:
        if self.width is None and not (style and self.colours):
            return text
        from distinguo.views.terminal import fitted_lines, painted

        lines = fitted_lines(text, self.width).split("\n")
        return "\n".join(painted(line, style) if self.colours else line for line in lines)


def output_on(stream: TextIO) -> Output:
    """Return a stream with what it can show."""
    return Output(stream, width_of(stream), has_colours(stream))


def output_for(as_json: bool) -> Output:
    """Return where results for people go: standard output, if that is not kept for programs."""
    return output_on(sys.stderr if as_json else sys.stdout)


def say(text: str = "", style: str = "") -> None:
    """Print a line on what is going on."""
    output_on(sys.stderr).tell(text, style)


def answer(content: dict[str, Any], as_json: bool) -> None:
    """Print the result for programs, if they asked for it."""
    if as_json:
        print(json.dumps(content), flush=True)


@contextmanager
def cleared_by(pause: Pause) -> Iterator[None]:
    """Have a live line cleared before anything else is printed."""
    _live.append(pause)
    try:
        yield
    finally:
        _live.remove(pause)


@contextmanager
def stoppable(text: str) -> Iterator[None]:
    """When the command is stopped, by Ctrl-C or SIGTERM, say where things are and end it within a moment."""
    with termination_raises():
        try:
            yield
        except KeyboardInterrupt as stopped:
            say(f"\n{text}")
            _leave(_code_of(stopped))


def _code_of(stopped: KeyboardInterrupt) -> int:
    return 143 if isinstance(stopped, Terminated) else 130


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


class Ending:
    """Work that ends with what it has at the first Ctrl-C or SIGTERM, and at once at the second."""

    def __init__(self, first: str, second: str, leave: Callable[[], None] = lambda: None) -> None:
        self.first, self.second = first, second  #: what is said then
        self.leave = leave  #: what is to be done before it ends at once
        self.code = 0  #: that the command should end with

    def asked(self) -> bool:
        """Tell whether to end."""
        return self.code != 0

    def worked_off(self, work: Callable[[], Result]) -> Result:
        """Return what some work comes to, which looks now and then at whether to end."""
        with stoppable(self.second):
            done = ThreadPoolExecutor(1, POOL).submit(work)
            try:
                return done.result()
            except KeyboardInterrupt as stopped:
                self.code = _code_of(stopped)
                say(f"\n{self.first}")
            try:
                return done.result()
            except KeyboardInterrupt:
                self.leave()
                raise
