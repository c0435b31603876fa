"""Long statistics have a short form for every day; ``.ci/nightly`` runs the same tests at full length."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from distinguo import seam

Some = TypeVar("Some")

#: Whether there is time: set by the variable of the environment of this name.
NIGHTLY = bool(os.environ.get("DISTINGUO_NIGHTLY"))


def so_many(every_day: Some, nightly: Some) -> Some:
    """Return how many seeds or examples, or which of them, a test has time for."""
    return nightly if NIGHTLY else every_day


@contextmanager
def interpreted_by_day(kind: type) -> Iterator[None]:
    """Let a task run as plain Python by day, so that nothing has to be compiled for its class.

    At night they are compiled. Both speeds run the same source and give the same bits, which other tests compare.
    """
    if NIGHTLY or kind in seam._interpreted:
        yield
        return
    seam._interpreted.add(kind)
    try:
        yield
    finally:
        seam._interpreted.discard(kind)
