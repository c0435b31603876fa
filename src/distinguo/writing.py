"""Files that survive a kill: written aside and renamed, replaced together, in folders locked by one process."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import socket
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np

from distinguo.errors import DistinguoError

# Files that a kill can neither tear nor lose: written under another name, flushed to the disk, renamed.
#
# The next process in the folder removes what a killed writer left behind. A file that is still being written is
# removed, too; its writer then finds it gone, and writes it again.


LONGEST_WORD = 90  #: bytes of a word in a file name


#: What a file is called while it is written aside: hidden, its name to be, a random word and a digest of the two.
_ASIDE = re.compile(rb"\.(.+)\.distinguo-([0-9a-f]{8})-([0-9a-f]{8})", re.DOTALL)


class WriteError(DistinguoError):
    """A file cannot be written: the disk is full, or permission is missing."""


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace ``path`` by ``content``, whole or not at all."""
    data = content.encode() if isinstance(content, str) else content
    try:
        while not _is_written(path, data):
            pass
    except OSError as error:
        raise WriteError(
            f"Cannot write {path}: {error.strerror or error}; what was saved before is as it was."
        ) from error


def _is_written(path: Path, data: bytes) -> bool:
    """Write a file aside and rename it; False if another process has removed it in between."""
    handle, name = _aside(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            Path(name).chmod(0o644)
            os.replace(name, path)  # closed by then, as Windows wants it
        except FileNotFoundError:
            return False
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return True


def check_file_place(path: Path) -> None:
    """Raise before the work is done if its file could not be written."""
    why = ""
    if path.is_dir():
        why = "it is a folder"
    elif not path.parent.is_dir():
        why = f"there is no folder {path.parent}"
    elif not os.access(path.parent, os.W_OK | os.X_OK):
        why = f"files cannot be made in the folder {path.parent}"
    if why:
        raise WriteError(f"Cannot write {path}: {why}; choose another place.")


def _aside(path: Path) -> tuple[int, str]:
    """Open a new file beside ``path``."""
    while True:
        word = os.urandom(4).hex().encode()
        name = os.fsencode(path.name)[:LONGEST_WORD]
        aside = os.path.join(
            path.parent, os.fsdecode(b".%s.distinguo-%s-%s" % (name, word, _mark(name, word)))
        )
        with contextlib.suppress(FileExistsError):
            return os.open(
                aside, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
            ), aside


def _mark(name: bytes, word: bytes) -> bytes:
    """The digest that only we write, so that no file of a user is taken for a leftover by its name."""
    return hashlib.sha256(b"distinguo\0%s\0%s" % (name, word)).hexdigest()[:8].encode()


def is_leftover(path: Path) -> bool:
    """Whether a file has the name of one that we write aside."""
    found = _ASIDE.fullmatch(os.fsencode(path.name))
    return found is not None and _mark(found[1], found[2]) == found[3]


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes were writing in a folder."""
    for path in folder.iterdir():
        if is_leftover(path) and path.is_file() and not path.is_symlink():
            with contextlib.suppress(FileNotFoundError, PermissionError):  # on Windows, it is open
                path.unlink()


def check_ours(folder: Path, written: Iterable[str], marks: Iterable[str]) -> None:
    """Raise an error if a file that is to be written exists, and nothing in its folder says that it is ours."""
    there = [name for name in written if (folder / name).exists()]
    if there and not any((folder / mark).exists() for mark in marks):
        raise DistinguoError(
            f"{folder / there[0]} exists and is not a file of distinguo; choose another --out, or delete it."
        )


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Pack named arrays into the bytes of an ``.npz`` file."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def pack_files(files: Mapping[str, str | bytes]) -> bytes:
    """Pack files into the bytes of a zip file, which are the same at any time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def slug(what: str) -> str:
    """Return a word as part of a file name; a long one is cut to its end, with a hash of the whole.

    >>> slug("runs/puck 1.json")
    'runs_puck_1.json'
    """
    word = "".join(c if c.isalnum() or c in "-.:" else "_" for c in what).replace(":", "-")
    if len(word.encode()) <= LONGEST_WORD:
        return word
    mark = hashlib.sha256(what.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{word.encode()[len(mark) + 1 - LONGEST_WORD :].decode(errors='ignore')}-{mark}"


# Several files of a folder that belong together are replaced as one.
#
# The new contents are first written to a journal; then each file is replaced; then the journal is removed. A kill
# in between leaves the journal, and the next process carries it out.


Content = TypeVar("Content")
JOURNAL = ".journal.zip"
PATIENCE, PAUSE = 2.0, 0.02  #: seconds that a reader waits for a writer, in all and at a time
LARGEST = 2**30  #: bytes that a journal may unpack to


def write_together(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Replace files of a folder, all or none."""
    write_atomically(folder / JOURNAL, pack_files(files))
    _carry_out(folder, files)


def _carry_out(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        write_atomically(folder / name, content)
    (folder / JOURNAL).unlink(missing_ok=True)


def is_unfinished(folder: Path) -> bool:
    """Whether files that belong together are being replaced, or were when a process was killed."""
    return (folder / JOURNAL).exists()


def finish_writing(folder: Path, known: tuple[str, ...]) -> None:
    """Carry out what a killed process had written to the journal; only files of known names are written."""
    if is_unfinished(folder):
        _carry_out(folder, _unpacked(folder / JOURNAL, known))


def _unpacked(journal: Path, known: tuple[str, ...]) -> dict[str, bytes]:
    try:
        if journal.is_symlink() or not journal.is_file():
            raise ValueError("it is not a plain file")
        with zipfile.ZipFile(journal) as archive:
            entries = archive.infolist()
            foreign = [entry.filename for entry in entries if entry.filename not in known]
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise ValueError("it is packed")  # ours never are, and a packed one may be a bomb
            if foreign or sum(entry.file_size for entry in entries) > LARGEST:
                raise ValueError(f"it holds {foreign[0]!r}" if foreign else "it is too large")
            return {entry.filename: archive.read(entry) for entry in entries}
    except Exception as error:  # zipfile and zlib report damage in different ways
        why = " ".join(str(error).split()) or type(error).__name__
        raise DistinguoError(f"{journal} is damaged ({why}); delete it, and learn again.") from None


@contextmanager
def working_alone(folder: Path, known: tuple[str, ...]) -> Iterator[None]:
    """Work in a folder as the only process, after carrying out what a killed one had begun."""
    try:
        with locked(folder):
            finish_writing(folder, known)
            yield
    except OSError as error:
        raise DistinguoError(
            f"Cannot write to {folder}: {error.strerror or error}; what was saved before is as it was."
        ) from error


def read_together(folder: Path, known: tuple[str, ...], read: Callable[[], Content]) -> Content:
    """Read files that belong together as they were at one moment; if they are replaced meanwhile, read again."""
    until = time.monotonic() + PATIENCE
    while True:
        _await_writer(folder, known, until)
        before = _state_of(folder, known)
        try:
            content = read()
        except DistinguoError:
            if before == _state_of(folder, known) or time.monotonic() > until:
                raise
        else:
            if before == _state_of(folder, known) or time.monotonic() > until:
                return content
        time.sleep(PAUSE)


def _await_writer(folder: Path, known: tuple[str, ...], until: float) -> None:
    """Wait while files are replaced; if the writer was killed, carry it out."""
    while is_unfinished(folder) and time.monotonic() < until:
        if is_locked(folder):
            time.sleep(PAUSE)
        else:
            with (
                contextlib.suppress(InUseError),
                working_alone(folder, known),
            ):  # another came first: look again
                pass


def _state_of(folder: Path, known: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return numbers that change when one of the files is replaced."""
    state = []
    for name in (*known, JOURNAL):
        with contextlib.suppress(OSError):  # a writer may remove its journal at any moment
            one = (folder / name).stat()
            state.append((one.st_ino, one.st_mtime_ns))
    return state


# One process at a time works in a folder; the lock of a dead process blocks no other.


LOCK = ".distinguo.lock"  #: says which process works in the folder
LONGEST = 1000  #: bytes of it that are read
MOMENT = 0.2  #: seconds to wait: a process that checks whether a folder is locked locks it for that moment
LOCK_PAUSE = 0.001  #: seconds between two tries


class InUseError(DistinguoError):
    """Another process works in a folder."""


@contextmanager
def locked(folder: Path, name: str = LOCK) -> Iterator[None]:
    """Work in a folder, or in a part of it, alone; another process gets an error that says who is there.

    What killed writers left behind is removed first.
    """
    from filelock import FileLock, Timeout  # here: it takes longer to import than the command line to start

    path = folder / name
    lock = FileLock(path, timeout=MOMENT, poll_interval=LOCK_PAUSE)
    try:
        lock.acquire()
    except Timeout:
        raise InUseError(
            f"{folder} is in use by {_holder(path)}; wait for it, or choose another --out."
        ) from None
    except OSError as error:
        raise DistinguoError(f"Cannot write to {folder}: {error.strerror or error}.") from None
    is_ours = isinstance(
        lock, FileLock
    )  # on a file system without locks, filelock keeps its own record there
    try:
        with contextlib.suppress(PermissionError):  # Windows lets nobody write to it
            if is_ours:
                path.write_text(
                    json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": _now()})
                )
        remove_leftovers(folder)
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows removes it when it is released
            if is_ours:
                path.unlink()
        lock.release()


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _holder(path: Path) -> str:
    """The process that holds a lock, as far as the file says."""
    try:
        with path.open("rb") as file:
            holder = json.loads(file.read(LONGEST))
        return f"process {int(holder['pid'])} on {str(holder['host'])!r} since {str(holder['since'])!r}"
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return "another process"


def is_locked(folder: Path) -> bool:
    """Whether a process works in a folder now."""
    path = folder / LOCK
    if not path.is_file() or path.is_symlink():
        return False
    from filelock import FileLock, Timeout

    try:
        with FileLock(path, blocking=False):
            if not path.stat().st_size:  # it was removed in the meantime, and made again here
                path.unlink()
    except Timeout:
        return True
    except OSError:
        pass
    return False
