"""Long tables, line by line: checked once when they are read, kept packed, and unpacked where they are looked at."""

from __future__ import annotations

import os
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, BinaryIO, TypeVar, overload

from distinguo.errors import DistinguoError
from distinguo.reading.files import MEBIBYTE, regular_file, too_large

LARGEST_TABLE = 2**31  #: bytes of the file
LARGEST_PACKED = 96 * MEBIBYTE  #: bytes of its lines when they are packed
LONGEST_LINE = MEBIBYTE
MOST_LINES = 10_000_000
_BLOCK_LINES, _BLOCK_BYTES = 1024, MEBIBYTE  # of what is packed together

Item = TypeVar("Item")


class PackedLines(Sequence[Item]):
    """The lines of a table as a sequence of values, each made from its line when it is asked for.

    A million lines that are much alike take some tens of megabytes instead of a gigabyte.

    >>> numbers = PackedLines(int, [b"1", b"22", b"333"])
    >>> numbers[1], list(numbers), len(numbers), numbers[-2:]
    (22, [1, 22, 333], 3, [22, 333])
    """

    def __init__(self, make: Callable[[bytes], Item], lines: Sequence[bytes] = ()) -> None:
        self._make = make
        self._blocks: list[bytes] = []
        self._starts = array("q")  # the number of the first line of each block
        self._count = 0
        self._chosen: array[int] | None = None  # the lines that there are; None for all
        self.packed = 0  #: bytes of memory
        if lines:
            self.append(lines)

    def append(self, lines: Sequence[bytes]) -> None:
        """Pack some more lines."""
        self._blocks.append(zlib.compress(b"\n".join(lines), 1))
        self._starts.append(self._count)
        self._count += len(lines)
        self.packed += len(self._blocks[-1])

    def only(self, lines: array[int]) -> PackedLines[Item]:
        """Return the lines of these numbers alone."""
        some = PackedLines(self._make)
        some.__dict__ |= self.__dict__ | {"_chosen": lines}
        return some

    def __len__(self) -> int:
        return self._count if self._chosen is None else len(self._chosen)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        """Return one value, or a list of some."""
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"there are {len(self)} lines")
        line = place % len(self) if self._chosen is None else self._chosen[place]
        block = bisect_right(self._starts, line) - 1
        return self._make(_unpacked(self._blocks[block])[line - self._starts[block]])

    def __iter__(self) -> Iterator[Item]:
        return (self[n] for n in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment] # as a list has none

    def __repr__(self) -> str:
        return f"<{len(self):,} lines>"


@lru_cache(maxsize=4)
def _unpacked(block: bytes) -> list[bytes]:
    return zlib.decompress(block).split(b"\n")


def read_lines(
    path: str | os.PathLike[str],
    make: Callable[[bytes], Item],
    note: Callable[[Item], Any] = id,
    head: Callable[[bytes], Any] | None = None,
) -> PackedLines[Item]:
    """Read a table whose every line ``make`` understands; ``note`` is told of each value.

    ``head`` looks at the first line, if that is not one of them. What any of the three raises is damage of the file.
    """
    table, first = PackedLines(make), 1
    with regular_file(path, LARGEST_TABLE) as file:
        for lines in _blocks(file):
            if head is not None:
                _check(path, 1, lines.pop(0), head)
                head, first = None, 2
            for number, line in enumerate(lines, len(table) + first):
                _check(path, number, line, lambda line: note(make(line)))
            table.append(lines)
            if len(table) > MOST_LINES or table.packed > LARGEST_PACKED:
                raise too_large(path, LARGEST_PACKED)
    return table


def _check(path: str | os.PathLike[str], number: int, line: bytes, check: Callable[[bytes], Any]) -> None:
    try:
        if len(line) > LONGEST_LINE:
            raise ValueError("the line is too long")
        check(line)
    except (ValueError, TypeError, LookupError, RecursionError, ArithmeticError):
        raise DistinguoError(f"{path} is damaged at line {number}; take a whole copy.") from None


def _blocks(file: BinaryIO) -> Iterator[list[bytes]]:
    lines: list[bytes] = []
    size = 0
    while line := file.readline(LONGEST_LINE + 2):
        lines.append(line.rstrip(b"\r\n"))
        size += len(line)
        if len(lines) == _BLOCK_LINES or size >= _BLOCK_BYTES:
            yield lines
            lines, size = [], 0
    if lines:
        yield lines
