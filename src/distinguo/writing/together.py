"""Several files of a folder that belong together are replaced as one.

What is to come is first written to a journal, whole; then each file is replaced; then the journal is removed. A kill
on the way leaves the journal, and whoever comes next carries it out to the end.
"""

from __future__ import annotations

import contextlib
import io
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from distinguo.errors import DistinguoError
from distinguo.writing.atomic import write_atomically
from distinguo.writing.lock import InUseError, is_locked, locked

Content = TypeVar("Content")
JOURNAL = ".journal.zip"
PATIENCE, PAUSE = 2.0, 0.02  #: seconds that a reader waits for a writer, in all and at a time
LARGEST = 2**30  #: bytes that a journal may unpack to


def write_together(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Replace files of a folder, all or none."""
    write_atomically(folder / JOURNAL, _packed(files))
    _carry_out(folder, files)


def _packed(files: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def _carry_out(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        write_atomically(folder / name, content)
    (folder / JOURNAL).unlink(missing_ok=True)


def is_unfinished(folder: Path) -> bool:
    """Tell whether files that belong together are being replaced, or were when a process was killed."""
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
            if foreign or sum(entry.file_size for entry in entries) > LARGEST:
                raise ValueError(f"it holds {foreign[0]!r}" if foreign else "it is too large")
            return {entry.filename: archive.read(entry) for entry in entries}
    except Exception as error:  # zipfile and zlib complain of damage in ways of their own
        why = " ".join(str(error).split()) or type(error).__name__
        raise DistinguoError(f"{journal} is damaged ({why}); delete it, and learn again.") from None


@contextmanager
def working_alone(folder: Path, known: tuple[str, ...]) -> Iterator[None]:
    """Work in a folder as the only process, with everything carried out that a killed one had begun."""
    try:
        with locked(folder):
            finish_writing(folder, known)
            yield
    except OSError as error:
        raise DistinguoError(
            f"Cannot write to {folder}: {error.strerror or error}; what was saved before is as it was."
        ) from error


def read_together(folder: Path, known: tuple[str, ...], read: Callable[[], Content]) -> Content:
    """Read files that belong together as they were at one moment; if somebody replaces them meanwhile, read again."""
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
    """Wait while files are replaced; if whoever did that was killed, carry it out."""
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
        with contextlib.suppress(
            FileNotFoundError, NotADirectoryError
        ):  # a writer may remove its journal at any moment
            one = (folder / name).stat()
            state.append((one.st_ino, one.st_mtime_ns))
    return state
