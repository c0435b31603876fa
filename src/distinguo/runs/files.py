"""Files that a kill can neither tear nor lose: written aside, flushed to the disk, renamed; Ctrl-C waits for them."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

LONGEST_WORD = 90  #: bytes of a word in a file name


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace ``path`` by ``content``, whole or not at all."""
    data = content.encode() if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
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


@contextmanager
def held() -> Iterator[Callable[[], None]]:
    """Hold Ctrl-C back; calling what is given lets it in, and so does the end.

    Only the main thread ever sees Ctrl-C, and a handler that somebody else put in place stays there.

    >>> with held() as let_in:
    ...     signal.raise_signal(signal.SIGINT)  # nothing happens yet
    ...     try:
    ...         let_in()
    ...     except KeyboardInterrupt:
    ...         "stopped"
    'stopped'
    """
    pressed = threading.Event()

    def let_in() -> None:
        if pressed.is_set():
            pressed.clear()
            raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield let_in
        return
    signal.signal(signal.SIGINT, lambda *_: pressed.set())
    try:
        yield let_in
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    let_in()
