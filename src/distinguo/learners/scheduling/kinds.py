"""The kinds of schedulers by name; compiled code knows them by number."""

from __future__ import annotations

from typing import Literal, get_args

Scheduler = Literal["stack", "sweeping", "dyna", "dyna-oldest", "rout"]
SCHEDULERS: tuple[str, ...] = get_args(Scheduler)
STACK, SWEEPING, DYNA, OLDEST, ROUT = range(len(SCHEDULERS))


def code_of(name: str) -> int:
    """Return the number of a scheduler.

    >>> code_of("dyna-oldest")
    3
    """
    return SCHEDULERS.index(name)
