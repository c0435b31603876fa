"""Arrays, zips and long tables: sizes are checked before anything is unpacked, and no object is ever made."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import IO, Any, BinaryIO, NamedTuple, TypeVar, overload

import numpy as np

from distinguo.errors import DistinguoError, one_line
from distinguo.reading.files import MEBIBYTE, regular_file

# Arrays and zips: sizes are checked against each other before anything is unpacked, and no object is ever made.


LARGEST_ARRAYS = 2**30  #: bytes that the arrays of one file may unpack to
ROOM = 64 * MEBIBYTE  #: bytes that even a small file may unpack to
PACKING = 20  #: how many times its own size a larger zip may unpack to; arrays are not packed at all
_END, _END_SIZE, _LONGEST_COMMENT = b"PK\x05\x06", 22, 2**16
_LOCATOR, _LOCATOR_SIZE = b"PK\x06\x07", 20  # of a directory that only huge zip files have
_LARGEST_DIRECTORY = MEBIBYTE
_LONGEST_HEADER = 10_000


def read_arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Read an ``.npz`` file without running code and without unpacking more than is declared and allowed."""
    damage = _damage(f"{path} is damaged or not an .npz file", "take a whole copy")
    with damage, regular_file(path, LARGEST_ARRAYS + _LARGEST_DIRECTORY) as file:
        archive = _opened_zip(file, str(path), LARGEST_ARRAYS)
        entries = archive.infolist()
        return {entry.filename.removesuffix(".npy"): _entry_array(archive, entry) for entry in entries}


def read_array(path: str | os.PathLike[str]) -> np.ndarray:
    """Read an ``.npy`` file of numbers."""
    damage = _damage(f"{path} is not a whole .npy file of numbers", "write one with numpy.save")
    with damage, regular_file(path, LARGEST_ARRAYS) as file:
        array = _checked_array(file, os.fstat(file.fileno()).st_size)
        if array.dtype.kind not in "iuf":
            raise ValueError(f"its type is {array.dtype.name}")
        return array


def read_zip(
    path: str | os.PathLike[str], names: tuple[str, ...], most: int, largest: int | None = None
) -> dict[str, bytes]:
    """Read the files of these names in a zip; they may unpack to at most ``most`` bytes.

    ``largest`` are the bytes that the zip itself may have, if it holds other files besides.
    """
    damage = _damage(f"{path} is damaged or not a zip", "take a whole copy")
    with damage, regular_file(path, most if largest is None else largest) as file:
        archive = _opened_zip(file, str(path), most, names, PACKING)
        return {name: archive.read(name) for name in names if name in archive.NameToInfo}


@contextmanager
def _damage(what: str, remedy: str) -> Iterator[None]:
    """Report in one sentence any complaint of numpy, zipfile and zlib."""
    try:
        yield
    except DistinguoError:
        raise
    except Exception as error:
        why = one_line(str(error)) or type(error).__name__
        raise DistinguoError(f"{what} ({why}); {remedy}.") from None


def _opened_zip(
    file: BinaryIO, source: str, most: int, names: tuple[str, ...] | None = None, packing: int = 1
) -> zipfile.ZipFile:
    """Open a zip whose files of these names, or all, may be unpacked."""
    size = os.fstat(file.fileno()).st_size
    _check_directory(file, size)
    archive = zipfile.ZipFile(file)
    entries = [entry for entry in archive.infolist() if names is None or entry.filename in names]
    declared = sum(entry.file_size for entry in entries)
    allowed = min(most, max(ROOM, packing * size))
    if declared > allowed:
        raise DistinguoError(f"{source} would unpack to {declared} bytes, more than {allowed}; not read.")
    if len({entry.filename for entry in entries}) < len(entries):
        raise ValueError("it holds a file twice")
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        raise ValueError("it is packed in an unusual way")
    return archive


def _check_directory(file: BinaryIO, size: int) -> None:
    """Reject a zip whose list of files alone would fill the memory."""
    file.seek(max(0, size - _LONGEST_COMMENT - _END_SIZE - _LOCATOR_SIZE))
    tail = file.read()
    place = tail.rfind(_END)
    if place < 0 or len(tail) - place < _END_SIZE:
        raise ValueError("File is not a zip file")
    (directory,) = struct.unpack_from("<L", tail, place + 12)
    before = tail[max(0, place - _LOCATOR_SIZE) : place]
    if directory > _LARGEST_DIRECTORY or before.startswith(_LOCATOR):
        raise ValueError("its list of files is too long")


def _entry_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    if not entry.filename.endswith(".npy"):
        raise ValueError("it holds something that is not an array")
    with archive.open(entry) as file:
        array = _checked_array(file, entry.file_size)
        file.read(1)  # at its end the checksum is compared
        return array


def _checked_array(file: IO[bytes], size: int) -> np.ndarray:
    """Read an array, if its header agrees with its size in bytes."""
    dtype, shape, header = _header(file)
    count = 1
    for length in shape:
        count *= length
    if dtype.hasobject:
        raise ValueError("it holds objects")
    if min(shape, default=0) < 0 or header + count * dtype.itemsize != size:
        raise ValueError("its size is not what its header says")
    file.seek(0)
    array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False, max_header_size=_LONGEST_HEADER)
    return array


def _header(file: IO[bytes]) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    """Return type, shape and length of the header."""
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read:
        raise ValueError("its version is unknown")
    shape, _, dtype = read[version](file, max_header_size=_LONGEST_HEADER)
    return dtype, shape, file.tell()


# Long tables, line by line: all are checked when a table is read, and kept packed or left in the file.


LARGEST_TABLE = 2**32  #: bytes of the file
LARGEST_PACKED = 32 * MEBIBYTE  #: bytes of packed lines that are kept in memory; the others stay in the file
LONGEST_LINE = MEBIBYTE
MOST_LINES = 5_000_000
_BLOCK_LINES, _BLOCK_BYTES = 1024, MEBIBYTE  # of a block

Item = TypeVar("Item")


class _Place(NamedTuple):
    """Lines that are left in their file."""

    path: str | os.PathLike[str]
    offset: int
    size: int
    checksum: int


class PackedLines(Sequence[Item]):
    """The lines of a table as a sequence of values, each made from its line when it is read.

    A million lines take some tens of megabytes instead of a gigabyte.

    >>> numbers = PackedLines(int)
    >>> numbers.append([b"1", b"22", b"333"])
    >>> numbers[1], list(numbers), len(numbers), numbers[-2:]
    (22, [1, 22, 333], 3, [22, 333])
    """

    def __init__(self, make: Callable[[bytes], Item]) -> None:
        self._make = make
        self._blocks: list[bytes | _Place] = []
        self._starts = array("q")  # the number of the first line of each block
        self._count = self._packed = 0
        self._chosen: Sequence[int] | None = None  # the selected lines; None for all

    def append(self, lines: Sequence[bytes], place: _Place | None = None) -> None:
        """Add lines; if there are many, those with a place in a file are left there."""
        block = (
            zlib.compress(b"\n".join(lines), 1) if place is None or self._packed < LARGEST_PACKED else place
        )
        self._packed += len(block) if isinstance(block, bytes) else 0
        self._blocks.append(block)
        self._starts.append(self._count)
        self._count += len(lines)

    def only(self, lines: Sequence[int]) -> PackedLines[Item]:
        """Return only the lines with these numbers."""
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
        block, lines = -1, []
        for line in range(self._count) if self._chosen is None else self._chosen:
            now = bisect_right(self._starts, line) - 1
            if now != block:
                block, lines = now, _unpacked(self._blocks[now])
            yield self._make(lines[line - self._starts[block]])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment] # as a list has none

    def __repr__(self) -> str:
        return f"<{len(self):,} lines>"


@lru_cache(maxsize=4)
def _unpacked(block: bytes | _Place) -> list[bytes]:
    if isinstance(block, bytes):
        return zlib.decompress(block).split(b"\n")
    with regular_file(block.path, LARGEST_TABLE) as file:
        file.seek(block.offset)
        data = file.read(block.size)
    if zlib.crc32(data) != block.checksum:
        raise DistinguoError(f"{block.path} was changed after it was opened; open it again.")
    return [line.rstrip(b"\r") for line in data.split(b"\n")]


def read_lines(
    path: str | os.PathLike[str],
    make: Callable[[bytes], Item],
    note: Callable[[Item], Any] = id,
    head: Callable[[bytes], Any] | None = None,
    is_growing: bool = False,
) -> PackedLines[Item]:
    """Read a table; ``make`` turns every line into a value, and ``note`` is called with each value.

    ``head`` checks the first line, if that is a header. An error in any of the three means that the file is
    damaged. In a file that ``is_growing``, a last line without an end is ignored.
    """

    def learn_of(line: bytes) -> None:
        note(make(line))

    table, first = PackedLines(make), 1
    with regular_file(path, LARGEST_TABLE) as file:
        for place, lines in _blocks(file, path, is_growing):
            if head is not None:
                _check(path, 1, lines.pop(0), head)
                head, first = None, 2
            for number, line in enumerate(lines, len(table) + first):
                _check(path, number, line, learn_of)
            table.append(lines, place)
            if len(table) > MOST_LINES:
                raise DistinguoError(f"{path} has more than {MOST_LINES:,} lines; it was not read.")
    return table


def _check(path: str | os.PathLike[str], number: int, line: bytes, check: Callable[[bytes], Any]) -> None:
    try:
        if len(line) > LONGEST_LINE:
            raise ValueError("the line is too long")
        check(line)
    except (ValueError, TypeError, LookupError, RecursionError, ArithmeticError):
        raise DistinguoError(f"{path} is damaged at line {number}; take a whole copy.") from None


def _blocks(
    file: BinaryIO, path: str | os.PathLike[str], is_growing: bool
) -> Iterator[tuple[_Place, list[bytes]]]:
    """Yield blocks of lines with their places."""
    lines: list[bytes] = []
    offset = size = checksum = 0
    while line := file.readline(LONGEST_LINE + 2):
        if is_growing and not line.endswith(b"\n"):
            break
        lines.append(line.rstrip(b"\r\n"))
        size, checksum = size + len(line), zlib.crc32(line, checksum)
        if len(lines) == _BLOCK_LINES or size >= _BLOCK_BYTES:
            yield _Place(path, offset, size, checksum), lines
            lines, offset, size, checksum = [], offset + size, 0, 0
    if lines:
        yield _Place(path, offset, size, checksum), lines
