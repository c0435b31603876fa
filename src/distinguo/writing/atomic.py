"""Files that a kill can neither tear nor lose: written aside, flushed to the disk, renamed.

While it is written aside, a file is locked by its writer. What a killed writer left behind has no lock, and the next
one to work in the folder removes it.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError

fcntl: Any
try:
    import fcntl
except ImportError:  # not on this system: no locks
    fcntl = None

LONGEST_WORD = 90  #: bytes of a word in a file name


#: What a file is called while it is written aside: hidden, its name to be, and a mark.
_ASIDE = re.compile(r"\..+\.[a-z]+-\w*")


class WriteError(DistinguoError):
    """There is no room, or no leave, to write a file."""


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace ``path`` by ``content``, whole or not at all."""
    data = content.encode() if isinstance(content, str) else content
    try:
        handle, name = _aside(path)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                Path(name).chmod(0o644)
                os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise WriteError(
            f"Cannot write {path}: {error.strerror or error}; what was saved before is as it was."
        ) from error


def _aside(path: Path) -> tuple[int, str]:
    """Open a file beside ``path`` and lock it; another process may take it for a leftover before it is locked."""
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        if lock_file(handle) and os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)


def lock_file(handle: int) -> bool:
    """Lock an open file until it is closed, if nobody else has; a process that dies gives its locks back."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def is_leftover(path: Path) -> bool:
    """Tell whether a file has the name of one that is written aside."""
    return _ASIDE.fullmatch(path.name) is not None


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes were writing in a folder."""
    for path in folder.iterdir():
        if is_leftover(path) and path.is_file() and not path.is_symlink():
            handle = os.open(path, os.O_RDWR)
            if lock_file(handle):
                path.unlink(missing_ok=True)
            os.close(handle)


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Pack named arrays into the bytes of an ``.npz`` file."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def slug(what: str) -> str:
    """Return a word as part of a file name; of a long one the end, with a mark of the whole.

    >>> slug("runs/puck 1.json")
    'runs_puck_1.json'
    """
    word = "".join(c if c.isalnum() or c in "-.:" else "_" for c in what).replace(":", "-")
    if len(word.encode()) <= LONGEST_WORD:
        return word
    mark = hashlib.sha256(what.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{word.encode()[len(mark) + 1 - LONGEST_WORD :].decode(errors='ignore')}-{mark}"
