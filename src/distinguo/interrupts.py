"""Ctrl-C and SIGTERM: held back while work is half done, let through between two pieces of work.

Python runs a signal's handler in the main thread, between any two instructions. An exception from there is lost in a
callback of C code, and tears what is not written for it, such as LLVM's modules while a kernel is compiled. So
exceptions are raised only where the main thread runs our code or waits; elsewhere a command ends without one.
"""

from __future__ import annotations

import _thread
import atexit
import functools
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from distinguo.endings import end_at_once, leave

Result = TypeVar("Result")
PATIENCE = 10.0  #: seconds that a signal waits for a piece of work to end


class Terminated(KeyboardInterrupt):
    """The process was asked to end with SIGTERM, as a scheduler or ``kill`` does; handled like Ctrl-C."""


def exit_code_of(stopped: KeyboardInterrupt) -> int:
    """The exit code of a process that was stopped, as shells have it."""
    return 143 if isinstance(stopped, Terminated) else 130


def end_at_once_by_signals() -> None:
    """Let both signals end the process at once, from now on; ignored ones, as under ``nohup``, stay ignored."""
    _replaced(end_at_once)


def ignore_signals() -> None:
    """Let no signal disturb a process that has done its work while Python is taken down."""
    _replaced(signal.SIG_IGN)


def raise_once(number: int, frame: Any) -> None:
    """Raise an exception; the next signal ends the process at once."""
    for one in _KNOWN:
        if signal.getsignal(one) is raise_once:
            signal.signal(one, end_at_once)
    raise _stopped_by(number)


def _stopped_by(number: int) -> KeyboardInterrupt:
    return Terminated() if number == signal.SIGTERM else KeyboardInterrupt()


@contextmanager
def termination_raises() -> Iterator[None]:
    """Let the first signal raise ``KeyboardInterrupt`` or :class:`Terminated` here, and the next end it.

    Without this block, SIGTERM would end the process at once.
    """
    before = _replaced(raise_once)
    try:
        yield
    finally:
        _restore(before)


#: The handlers that may be replaced; a handler that other code installed stays in place.
_KNOWN = {
    signal.SIGINT: (signal.default_int_handler, end_at_once, raise_once),
    signal.SIGTERM: (signal.SIG_DFL, end_at_once, raise_once),
}


@contextmanager
def held() -> Iterator[Callable[[], None]]:
    """Hold back Ctrl-C and SIGTERM until the given function is called or the block ends.

    A piece of work that goes on for ``PATIENCE`` seconds after a signal, such as a step of an environment that hangs,
    is cut off where it is; what was saved before stays. Only the main thread ever sees a signal. A process with the
    system's handler for SIGTERM still ends by it, after everything is saved.

    >>> with held() as let_in:
    ...     signal.raise_signal(signal.SIGINT)  # nothing happens yet
    ...     try:
    ...         let_in()
    ...     except KeyboardInterrupt:
    ...         "stopped"
    'stopped'
    """
    came: list[int] = []
    overdue: list[int] = []

    def note(number: int, _: Any) -> None:
        if overdue:
            raise _stopped_by(number)
        came.append(number)
        if len(came) == 1:  # without the locks of the module threading, which may be held here
            _thread.start_new_thread(_send_again, (number, came, overdue))

    def let_in() -> None:
        if came:
            raise _stopped_by(came.pop())

    before = _replaced(note)
    try:
        yield let_in
        _restore(before)
        let_in()
    except KeyboardInterrupt as stopped:
        number = signal.SIGTERM if isinstance(stopped, Terminated) else signal.SIGINT
        if before.get(number) in (signal.SIG_DFL, end_at_once):
            _restore(before)
            signal.raise_signal(number)
        for one, handler in before.items():  # another signal is the second
            before[one] = end_at_once if handler is raise_once else handler
        raise
    finally:
        came.clear()
        _restore(before)


def _send_again(number: int, came: list[int], overdue: list[int]) -> None:
    """Send a signal that was not let in to the main thread once more, which may wait in a call of the system."""
    time.sleep(PATIENCE)
    if came:
        overdue.append(number)
        signal.pthread_kill(threading.main_thread().ident or 0, number)


def _replaced(handler: Callable[[int, Any], None] | signal.Handlers) -> dict[signal.Signals, Any]:
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


_at_work: set[threading.Thread] = set()  #: threads with work that must not be cut off


def undisturbed(work: Callable[..., Result], is_within: Callable[[], bool]) -> Callable[..., Result]:
    """Do some work in another thread, where no signal arrives, while the main thread waits and can be stopped.

    If it is stopped, the work is finished behind its back, and the process waits for it before it ends. Work in
    other threads, and work within such work, is done where it is.
    """

    @functools.wraps(work)
    def run(*arguments: Any) -> Result:
        if not _is_main_thread() or is_within():
            return work(*arguments)
        from concurrent.futures import Future  # here: it imports logging

        done: Future[Result] = Future()

        def fulfil() -> None:
            try:
                done.set_result(work(*arguments))
            except BaseException as error:
                done.set_exception(error)
            _at_work.discard(thread)

        thread = threading.Thread(target=fulfil, name=work.__name__, daemon=True)
        _at_work.add(thread)
        thread.start()
        return done.result()

    return run


@atexit.register
def _await_work() -> None:
    """Wait for work that is left, as Python must not be taken down around it; a signal ends the process without."""
    try:
        for thread in list(_at_work):
            thread.join()
    except KeyboardInterrupt as stopped:
        leave(exit_code_of(stopped))
