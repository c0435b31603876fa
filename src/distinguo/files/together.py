"""Several files of a folder that belong together are replaced as one.

What is to come is first written to a journal, whole; then each file is replaced; then the journal is removed. A kill
on the way leaves the journal, and whoever comes next carries it out to the end.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from distinguo.errors import DistinguoError
from distinguo.files.atomic import write_atomically

JOURNAL = ".journal.zip"
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
