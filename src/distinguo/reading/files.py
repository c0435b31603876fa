"""Whole files: only regular ones, and only up to the size that files of their kind may have."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from distinguo.errors import DistinguoError

MEBIBYTE = 2**20
_MORE = 2**16


@contextmanager
def regular_file(path: str | os.PathLike[str], most: int) -> Iterator[BinaryIO]:
    """Open a file for reading, if it is one and has at most so many bytes.

    A pipe or a device is refused without waiting for what might come out of it.
    """
    try:
        # not to wait for a pipe, and not to turn line ends into others where a system does that
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            _check_kind(path, os.fstat(file.fileno()), most)
            yield file
    except OSError as error:
        raise DistinguoError(f"Cannot read {path}: {error.strerror or error}.") from None
    except ValueError as error:
        if isinstance(error, DistinguoError) or "null byte" not in str(error):
            raise
        raise DistinguoError(f"Cannot read {str(path)!r}: no file can have that name.") from None


def _check_kind(path: str | os.PathLike[str], found: os.stat_result, most: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise DistinguoError(f"Cannot read {path}: it is a folder.")
    if not stat.S_ISREG(found.st_mode):
        raise DistinguoError(f"{path} is not a file.")
    if found.st_size > most:
        raise too_large(path, most)


def too_large(path: str | os.PathLike[str], most: int) -> DistinguoError:
    """Return what to say of a file that has more bytes than files of its kind may have."""
    size = f"{most // MEBIBYTE} MiB" if most >= MEBIBYTE else f"{most} bytes"
    return DistinguoError(f"{path} is larger than {size}; it was not read.")


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a file of at most so many bytes.

    >>> read_bytes("/dev/null", 10)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: /dev/null is not a file.
    """
    with regular_file(path, most) as file:
        data = file.read(os.fstat(file.fileno()).st_size)
        while more := file.read(_MORE):  # it has grown since it was opened
            data += more
            if len(data) > most:
                raise too_large(path, most)
    return data


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """Read a text of at most so many bytes."""
    try:
        return read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError:
        raise DistinguoError(f"{path} is damaged: it is not text in UTF-8.") from None
