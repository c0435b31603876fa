"""Finding things by a word, and what to say if there are none."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from distinguo.errors import DistinguoError, shown

T = TypeVar("T")


def matching(word: str | None, things: Iterable[T], *texts: Callable[[T], str]) -> list[T]:
    """Return the things with a word in one of their texts: in the first text if there are any, else in the next.

    >>> matching("Lake", ["a lake", "a hill"], lambda thing: thing)
    ['a lake']
    """
    known = list(things)
    if word is None:
        return known
    for text in texts:
        found = [thing for thing in known if word.lower() in text(thing).lower()]
        if found:
            return found
    return []


def nothing_found(kind: str, word: str, names: Sequence[str]) -> DistinguoError:
    """Return the error for a word that nothing matches, with the nearest name, whatever its letters' case.

    >>> print(nothing_found("task", "carpole", ["CartPole-v1", "Taxi-v4"]))
    No task has 'carpole' in its name; did you mean 'CartPole-v1'?
    """
    lower = {name.lower(): name for name in reversed(names)}
    near = difflib.get_close_matches(word.lower()[:100], lower, n=1, cutoff=0.6)
    hint = f"did you mean '{lower[near[0]]}'?" if near else f"distinguo {kind}s lists them all."
    return DistinguoError(f"No {kind} has {shown(word)} in its name; {hint}")
