"""What the commands print, and where.

Results go to standard output, and progress to standard error. With ``--json``, standard output has one JSON object
only, and everything else goes to standard error.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NamedTuple, TextIO, TypeVar

import typer

from distinguo.errors import visible
from distinguo.interrupts import end_at_once_by_signals, exit_code_of, held, termination_raises

Result = TypeVar("Result")
POLL_SECONDS = 0.05  #: between two looks whether a signal came
USUAL_WIDTH = 80  #: of a terminal of unknown width
NARROW = 40  #: cells; a narrower terminal has no room for a bar
Pause = Callable[[], AbstractContextManager[None]]
_live: list[Pause] = []  #: pauses the live line that is shown at the moment


def is_size(text: str) -> bool:
    """Whether COLUMNS or LINES is the size of a terminal.

    >>> [is_size(text) for text in ("80", "0", "-5", "abc", "²", "99999")]
    [True, False, False, False, False, False]
    """
    return re.fullmatch("[1-9][0-9]{0,3}", text) is not None


def forget_odd_sizes() -> None:
    """Remove COLUMNS and LINES if they are no sizes: libraries would fail on them."""
    for name in ("COLUMNS", "LINES"):
        if not is_size(os.environ.get(name, "1")):
            del os.environ[name]


def width_of(stream: TextIO) -> int | None:
    """Return the width of a stream in cells; None if it is no terminal, so that lines may have any length.

    >>> import io
    >>> width_of(io.StringIO()) is None
    True
    """
    if not stream.isatty():
        return None
    if (asked := os.environ.get("COLUMNS")) is not None and is_size(asked):
        return int(asked)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except OSError:
        return USUAL_WIDTH


def has_colours(stream: TextIO) -> bool:
    """Whether to print colours: on a terminal unless NO_COLOR or TERM=dumb is set, with FORCE_COLOR always."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class Output(NamedTuple):
    """The stream for results, with its width and whether it has colours."""

    stream: TextIO
    width: int | None  #: cells of a line; None for no limit
    colours: bool

    def tell(self, text: str = "", style: str = "", *, is_painted: bool = False) -> None:
        """Print a result; long lines are broken at spaces, but a command to copy stays in one line.

        Names in it may come from foreign files: control characters are printed as escapes. A text that
        ``is_painted`` was cleaned before our colours were put into it.
        """
        fitted = self._fitted(text if is_painted else visible(text), style)
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
    """Return a stream with its width and colours."""
    return Output(stream, width_of(stream), has_colours(stream))


def output_for(as_json: bool) -> Output:
    """Return the stream for results: standard output or, with ``--json``, standard error."""
    return output_on(sys.stderr if as_json else sys.stdout)


def say(text: str = "", style: str = "") -> None:
    """Print a line of progress."""
    output_on(sys.stderr).tell(text, style)


def command_line(*words: object) -> str:
    """Return a command to copy. Put it at the end of a line after a colon, where it is never wrapped.

    >>> command_line("show", "runs/my puck")
    "distinguo show 'runs/my puck'"
    """
    return shlex.join(["distinguo", *map(str, words)])


def answer(content: dict[str, Any], as_json: bool) -> None:
    """Print the result as JSON, if asked for."""
    if as_json:
        print(json.dumps(content).replace("\x7f", r"\u007f"), flush=True)


@contextmanager
def cleared_by(pause: Pause) -> Iterator[None]:
    """Register the live line, which is cleared before anything else is printed."""
    _live.append(pause)
    try:
        yield
    finally:
        _live.remove(pause)


@contextmanager
def stoppable(text: str) -> Iterator[None]:
    """On Ctrl-C or SIGTERM, print where the results are and end the command; a second one ends it at once."""
    with termination_raises():
        try:
            yield
        except KeyboardInterrupt as stopped:
            end_at_once_by_signals()
            say(f"\n{text}")
            raise typer.Exit(exit_code_of(stopped)) from None


def worked_off(text: str, work: Callable[[], Result]) -> Result:
    """Do some work in another thread and return its result, so that a stop need not wait for compiled code."""
    from concurrent.futures import ThreadPoolExecutor  # here: it imports logging

    with stoppable(text):
        return ThreadPoolExecutor(1).submit(work).result()


class Ending:
    """Work that ends with its results so far at the first Ctrl-C or SIGTERM, and at once at the second."""

    def __init__(self, first: str, second: str) -> None:
        self.first, self.second = first, second  #: the messages for these
        self.code = 0  #: exit code of the command

    def asked(self) -> bool:
        """Whether to end."""
        return self.code != 0

    def worked_off(self, work: Callable[[], Result]) -> Result:
        """Do some work, which polls :meth:`stopping`, and return its result."""
        from concurrent.futures import ThreadPoolExecutor, wait

        done = ThreadPoolExecutor(1).submit(work)
        with stoppable(self.second), held() as let_in:
            while not done.done():
                try:
                    wait([done], POLL_SECONDS)
                    let_in()
                except KeyboardInterrupt as stopped:
                    if self.asked():
                        raise
                    self.code = exit_code_of(stopped)
                    say(f"\n{self.first}")
            return done.result()
