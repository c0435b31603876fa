"""Ctrl-C, held back while a piece of work or a file would be torn by it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def held() -> Iterator[Callable[[], None]]:
    """Hold Ctrl-C back; calling what is given lets it in, and so does the end.

    Only the main thread ever sees Ctrl-C, and a handler that somebody else put in place stays there.

    >>> with held() as let_in:
    ...     signal.raise_signal(signal.SIGINT)  # nothing happens yet
    ...     try:
    ...         let_in()
    ...     except KeyboardInterrupt:
    ...         "stopped"
    'stopped'
    """
    pressed = threading.Event()

    def let_in() -> None:
        if pressed.is_set():
            pressed.clear()
            raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield let_in
        return
    signal.signal(signal.SIGINT, lambda *_: pressed.set())
    try:
        yield let_in
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    let_in()
