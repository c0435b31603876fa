"""Ctrl-C and SIGTERM: held back while work is half done, let through between two pieces of work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Terminated(KeyboardInterrupt):
    """The process was asked to end with SIGTERM, as a scheduler or ``kill`` does; handled like Ctrl-C."""


def raise_terminated(*_: Any) -> None:
    """Handle SIGTERM as Python handles Ctrl-C."""
    raise Terminated


@contextmanager
def termination_raises() -> Iterator[None]:
    """Let SIGTERM raise :class:`Terminated` in the main thread instead of ending the process at once."""
    if not _is_main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


#: The handlers that may be held back; a handler that other code installed stays in place.
_KNOWN = {
    signal.SIGINT: (signal.default_int_handler,),
    signal.SIGTERM: (raise_terminated, signal.SIG_DFL),
}


@contextmanager
def held() -> Iterator[Callable[[], None]]:
    """Hold back Ctrl-C and SIGTERM until the given function is called or the block ends.

    Only the main thread ever sees a signal. A process with the system's handler for SIGTERM still ends by it, after
    everything is saved.

    >>> with held() as let_in:
    ...     signal.raise_signal(signal.SIGINT)  # nothing happens yet
    ...     try:
    ...         let_in()
    ...     except KeyboardInterrupt:
    ...         "stopped"
    'stopped'
    """
    came: list[int] = []
    before = _replaced(lambda number, _: came.append(number))

    def let_in() -> None:
        if came:
            raise Terminated if came.pop() == signal.SIGTERM else KeyboardInterrupt

    try:
        yield let_in
        _restore(before)
        let_in()
    except Terminated:
        _restore(before)
        if before.get(signal.SIGTERM) is signal.SIG_DFL:
            signal.raise_signal(signal.SIGTERM)
        raise
    finally:
        _restore(before)


def _replaced(handler: Callable[[int, Any], None]) -> dict[signal.Signals, Any]:
    """Install a handler in place of those that may be held back, and return those."""
    if not _is_main_thread():
        return {}
    before = {number: signal.getsignal(number) for number in _KNOWN}
    known = {number: old for number, old in before.items() if old in _KNOWN[number]}
    for number in known:
        signal.signal(number, handler)
    return known


def _restore(handlers: dict[signal.Signals, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
