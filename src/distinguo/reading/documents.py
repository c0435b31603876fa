"""JSON and TOML: looked at before they are parsed, so that a small file cannot become a large value."""

from __future__ import annotations

import json
import os
import re
import tomllib
from typing import Any, NoReturn

import numpy as np

from distinguo.errors import DistinguoError, one_line
from distinguo.reading.files import MEBIBYTE, read_bytes

DEEPEST = 100  #: lists in lists
HEAVIEST = 128 * MEBIBYTE  #: bytes of memory that a value may take
#: About what an empty list and one more item of a list take; every item but the first has its comma.
_LIST, _ITEM = 80, 40
_CHUNK = 2**16
_LONG_NUMBER = re.compile(r"0[xob][0-9a-fA-F_]{1000}")  # the decimal ones are Python's to refuse


def parse_json(data: str | bytes, source: str, heaviest: int = HEAVIEST) -> Any:
    """Return what a JSON text says; ``source`` names it in messages.

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
    """Read a JSON file of at most so many bytes."""
    return parse_json(read_bytes(path, most), str(path), heaviest)


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """Return what a TOML text says; ``source`` names it in messages.

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
    """Say what a parser complains of, in one short line."""
    return one_line(str(error)).rstrip(".") or type(error).__name__


def _check_shape(data: bytes, source: str, heaviest: int) -> None:
    """Count brackets and commas, which bound the depth of a value and the memory that it takes.

    Those in strings count as well; a text in which that matters was not written by us.
    """
    lists = data.count(b"[") + data.count(b"{")
    weight = len(data) + _LIST * lists + _ITEM * data.count(b",")
    if weight > heaviest:
        _refuse(
            source, f"its lists would take about {weight // MEBIBYTE} MiB, more than {heaviest // MEBIBYTE}"
        )
    if lists > DEEPEST and _depth(data) > DEEPEST:
        _refuse(source, f"more than {DEEPEST} lists are in each other")


def _depth(data: bytes) -> int:
    """Return how many lists are in each other at most."""
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
