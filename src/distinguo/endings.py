"""How a command ends at once. It is the first module of every command and imports nothing that takes time.

A signal that comes while a command imports its modules would otherwise end it with a traceback.
"""

import _signal  # as the module signal, which would import enum before a signal can be handled
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

SENTENCE = "\nStopped.\n"  #: of a command that ends at once


def end_at_once(number: int, _: "Any" = None) -> "NoReturn":
    """End the process with one sentence and the exit code of a shell; other threads are abandoned where they are.

    Python would wait for them, and they would be in compiled code while it is taken down.
    """
    try:
        os.write(2, SENTENCE.encode())
    finally:
        os._exit(128 + number)


def leave(code: int) -> "NoReturn":
    """End the process with an exit code, and abandon other threads."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def begin_command() -> None:
    """Let both signals end a process that has just begun; ignored ones, as under ``nohup``, stay ignored."""
    for number in (_signal.SIGINT, _signal.SIGTERM):
        if _signal.getsignal(number) in (_signal.SIG_DFL, _signal.default_int_handler):
            _signal.signal(number, end_at_once)
