"""Progress of long work, shown where there is a place for it: a notebook has one line, which is rewritten."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

Tell = Callable[[str], None]


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook, such as that of JupyterLab or VS Code.

    >>> is_notebook()
    False
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def displayed(what: Any) -> bool:
    """Show a result below the cell of a notebook; False if this is none.

    >>> displayed("a map")
    False
    """
    if not is_notebook():
        return False
    from IPython.display import display

    display(what)  # type: ignore[no-untyped-call]
    return True


class ProgressPlace:
    """Where progress is shown: nowhere but for a notice on standard error, until a notebook takes it."""

    line: Callable[[str], AbstractContextManager[Tell]] | None = None  #: opens a line for some work
    say: Tell = staticmethod(lambda text: print(f"distinguo: {text}", file=sys.stderr))  # noqa: T201


@contextmanager
def show_progress(text: str) -> Iterator[Tell]:
    """Show that long work is going on, and yield a function that says how far it is.

    >>> with show_progress("Learning puck") as tell:
    ...     tell("trial 3")
    """
    quiet: Any = nullcontext(lambda _: None)
    with quiet if ProgressPlace.line is None else ProgressPlace.line(text) as tell:
        yield tell


class CompilingNotice:
    """One line, once per process, if compiling takes long.

    The command line turns it off, because it has live lines of its own.
    """

    SECONDS = 1.0  #: of compiling before the line appears

    def __init__(self) -> None:
        self.wanted = multiprocessing.parent_process() is None
        self._timer: threading.Timer | None = None
        self._depth, self._since = 0, 0.0

    def begin(self) -> None:
        """Start the clock; the line appears if compiling, of this kernel and those within it, takes long."""
        self._depth += 1
        if self._depth == 1:
            self._since = time.monotonic()
        if self.wanted and self._timer is None:
            self._timer = threading.Timer(self.SECONDS, self._say)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """Stop the clock."""
        self._depth = max(0, self._depth - 1)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def forget(self) -> None:
        """Take no notice of a kernel that could not be compiled, and so never ended."""
        self._depth = 0

    @property
    def seconds(self) -> float | None:
        """The time since compiling began; None if nothing is compiled."""
        return time.monotonic() - self._since if self._depth else None

    def _say(self) -> None:
        self.wanted = False
        ProgressPlace.say("compiling for this machine; this takes some seconds, once …")


notice = CompilingNotice()
