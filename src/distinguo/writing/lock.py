"""One process at a time works in a folder; the lock of a dead one holds nobody up."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distinguo.errors import DistinguoError
from distinguo.writing.atomic import lock_file, remove_leftovers

LOCK = ".lock"  #: says who works in the folder, while somebody does
LONGEST = 1000  #: bytes of it that are read
MOMENT = 0.2  #: seconds that are waited: whoever looks whether a folder is locked locks it while looking
PAUSE = 0.001  #: seconds between two tries


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Work in a folder alone; whoever comes meanwhile is told who is there.

    What killed writers left behind is removed first.
    """
    handle = _taken(folder)
    try:
        remove_leftovers(folder)
        yield
    finally:
        (folder / LOCK).unlink(missing_ok=True)
        os.close(handle)


class InUseError(DistinguoError):
    """Another process works in a folder."""


def _taken(folder: Path) -> int:
    path, until = folder / LOCK, time.monotonic() + MOMENT
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        except OSError as error:
            raise DistinguoError(f"Cannot write to {folder}: {error.strerror}.") from None
        if not lock_file(handle):
            who = _said(handle)
            os.close(handle)
            if time.monotonic() < until:
                time.sleep(PAUSE)
                continue
            raise InUseError(f"{folder} is in use by {who}; wait for it, or choose another --out.")
        if _is_still_there(path, handle):  # else the one before has just removed it
            break
        os.close(handle)
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    os.truncate(handle, 0)
    os.pwrite(handle, json.dumps(holder).encode(), 0)
    return handle


def _is_still_there(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _said(handle: int) -> str:
    """Say who holds a lock, as far as it is written there."""
    try:
        holder = json.loads(os.pread(handle, LONGEST, 0))
        return f"process {int(holder['pid'])} on {str(holder['host'])!r} since {str(holder['since'])!r}"
    except (ValueError, TypeError, LookupError, RecursionError):
        return "another process"


def is_locked(folder: Path) -> bool:
    """Tell whether somebody works in a folder now."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        return not lock_file(handle)
    finally:
        os.close(handle)
