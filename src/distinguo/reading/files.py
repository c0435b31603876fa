"""Whole files, JSON and TOML: the kind and the size of a file are checked before it is parsed."""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NoReturn

import numpy as np

from distinguo.errors import DistinguoError, one_line

# Whole files: only regular ones, and only up to the size that files of their kind may have.


MEBIBYTE = 2**20
_MORE = 2**16


@contextmanager
def regular_file(path: str | os.PathLike[str], most: int) -> Iterator[BinaryIO]:
    """Open a regular file of at most ``most`` bytes for reading.

    A pipe or a device is rejected without waiting for data.
    """
    try:
        # do not wait for a pipe, and do not translate line ends
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
    """The error for a file that is larger than files of its kind may be."""
    size = f"{most // MEBIBYTE} MiB" if most >= MEBIBYTE else f"{most} bytes"
    return DistinguoError(f"{path} is larger than {size}; it was not read.")


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a file of at most ``most`` bytes.

    >>> read_bytes("/dev/null", 10)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: /dev/null is not a file.
    """
    with regular_file(path, most) as file:
        data = file.read(os.fstat(file.fileno()).st_size)
        while more := file.read(_MORE):  # it may grow after it was opened
            data += more
            if len(data) > most:
                raise too_large(path, most)
    return data


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """Read a text of at most ``most`` bytes."""
    try:
        return read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError:
        raise DistinguoError(f"{path} is damaged: it is not text in UTF-8.") from None


# JSON and TOML: checked before parsing, so that a small file cannot become a large value.


DEEPEST = 100  #: lists in lists
HEAVIEST = 128 * MEBIBYTE  #: bytes of memory that a value may take
#: The approximate size of an empty list and of one more item; every item but the first has a comma.
_LIST, _ITEM = 80, 40
_CHUNK = 2**16
_LONG_NUMBER = re.compile(r"0[xob][0-9a-fA-F_]{1000}")  # Python rejects decimal ones


def parse_json(data: str | bytes, source: str, heaviest: int = HEAVIEST) -> Any:
    """Parse a JSON text; ``source`` names it in messages.

    >>> parse_json("[1, 2", "a.json")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: a.json is not a whole JSON file (damaged at line 1).
    """
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    _check_shape(data, source, heaviest)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DistinguoError(f"{source} is not a whole JSON file (damaged{where}).") from None


def read_json(path: str | os.PathLike[str], most: int, heaviest: int = HEAVIEST) -> Any:
    """Read a JSON file of at most ``most`` bytes."""
    return parse_json(read_bytes(path, most), str(path), heaviest)


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """Parse a TOML text; ``source`` names it in messages.

    >>> parse_toml("a = [1, 2", "a.toml")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: a.toml is not TOML: Unclosed array (at end of document).
    """
    _check_shape(text.encode("utf-8", "surrogatepass"), source, HEAVIEST)
    if _LONG_NUMBER.search(text):
        _refuse(source, "a number has too many digits")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DistinguoError(f"{source} is not TOML: {_why(error)}.") from None


def _why(error: Exception) -> str:
    """The message of a parser, in one short line."""
    return one_line(str(error)).rstrip(".") or type(error).__name__


def _check_shape(data: bytes, source: str, heaviest: int) -> None:
    """Count brackets and commas, which bound the depth of a value and the memory that it takes.

    Those in strings count as well; that never matters in our own files.
    """
    lists = data.count(b"[") + data.count(b"{")
    weight = len(data) + _LIST * lists + _ITEM * data.count(b",")
    if weight > heaviest:
        _refuse(
            source, f"its lists would take about {weight // MEBIBYTE} MiB, more than {heaviest // MEBIBYTE}"
        )
    if lists > DEEPEST and _depth(data) > DEEPEST:
        _refuse(source, f"more than {DEEPEST} lists are nested")


def _depth(data: bytes) -> int:
    """The greatest depth of nested lists."""
    deepest = level = 0
    for place in range(0, len(data), _CHUNK):
        part = (
            np.frombuffer(data, np.uint8, min(_CHUNK, len(data) - place), place) | 32
        )  # [ becomes {, and ] }
        levels = np.cumsum((part == ord("{")).astype(np.int32) - (part == ord("}")))
        deepest, level = max(deepest, level + int(levels.max())), level + int(levels[-1])
    return deepest


def _refuse(source: str, why: str) -> NoReturn:
    raise DistinguoError(f"{source} is damaged or was not written by distinguo: {why}; it was not read.")
