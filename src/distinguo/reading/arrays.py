"""Arrays and zips: sizes are checked against each other before anything is unpacked, and no object is ever made."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO

import numpy as np

from distinguo.errors import DistinguoError, one_line
from distinguo.reading.files import MEBIBYTE, regular_file

LARGEST_ARRAYS = 2**30  #: bytes that the arrays of one file may unpack to
ROOM = 64 * MEBIBYTE  #: bytes that a file may unpack to however small it is
PACKING = 20  #: how many times its own size a larger zip may unpack to; arrays are not packed at all
_END, _END_SIZE, _LONGEST_COMMENT = b"PK\x05\x06", 22, 2**16
_LOCATOR, _LOCATOR_SIZE = b"PK\x06\x07", 20  # of a directory that zip files of ordinary size do not have
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


def read_zip(path: str | os.PathLike[str], names: tuple[str, ...], most: int) -> dict[str, bytes]:
    """Read the files of these names in a zip; they may unpack to so many bytes at most."""
    with _damage(f"{path} is damaged or not a zip", "take a whole copy"), regular_file(path, most) as file:
        archive = _opened_zip(file, str(path), most, names, PACKING)
        return {name: archive.read(name) for name in names if name in archive.NameToInfo}


@contextmanager
def _damage(what: str, remedy: str) -> Iterator[None]:
    """Say in one sentence whatever numpy, zipfile and zlib complain of, each in ways of its own."""
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
    """Refuse a zip whose list of files alone would fill the memory."""
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
        file.read(1)  # to its end, where its checksum is compared
        return array


def _checked_array(file: IO[bytes], size: int) -> np.ndarray:
    """Read an array, if its header says just as many bytes as there are."""
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
