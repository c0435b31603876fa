"""A terminal of a given width, of which all that is printed can be read: a real one (pty), as a person has it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import pytest

from distinguo.cli import main
from distinguo.views.terminal import cells_of, without_style

REWRITTEN = "\r\x1b[K"  #: begins a live line anew


class Screen:
    """What was printed to a terminal."""

    def __init__(self) -> None:
        self.raw = ""
        self.code = 0

    @property
    def lines(self) -> list[str]:
        """Return the lines that stay, without colours; of a live line that is what was left at the end."""
        text = without_style(self.raw.replace("\r\n", "\n"))
        return [line.rpartition(REWRITTEN)[2] for line in text.split("\n")]

    @property
    def widest(self) -> int:
        """Return the cells of the widest line, all states of live lines included."""
        text = without_style(self.raw.replace("\r\n", "\n"))
        return max(cells_of(state) for line in text.split("\n") for state in line.split(REWRITTEN))

    @property
    def words(self) -> list[str]:
        """Return the words that stay."""
        return " ".join(self.lines).split()


@contextmanager
def terminal(width: int, *names: str) -> Iterator[Screen]:
    """Make streams of this process, such as ``stdout``, a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    screen, pieces = Screen(), list[bytes]()

    def read() -> None:
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                return
            if not piece:
                return
            pieces.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    before: dict[str, TextIO] = {name: getattr(sys, name) for name in names}
    stream = os.fdopen(theirs, "w", encoding="utf-8", buffering=1)
    try:
        for name in names:
            setattr(sys, name, stream)
        yield screen
    finally:
        for name, old in before.items():
            setattr(sys, name, old)
        stream.close()
        reader.join()
        os.close(ours)
        screen.raw = b"".join(pieces).decode()


def typed(
    width: int, *words: str, streams: tuple[str, ...] = ("stdout", "stderr"), **environment: str
) -> Screen:
    """Return what a command prints to a terminal of that width."""
    with pytest.MonkeyPatch.context() as patch, terminal(width, *streams) as screen:
        patch.setattr(sys, "argv", ["distinguo", *words])
        for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm-256color", **environment}.items():
            patch.setenv(name, value)
        try:
            main()
        except SystemExit as end:
            screen.code = end.code if isinstance(end.code, int) else 1
    return screen


def has_colours(text: str) -> bool:
    """Tell whether there is a colour in a text."""
    return re.search(r"\x1b\[[0-9;]*m", text) is not None
