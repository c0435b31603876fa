"""One kind of error for everything that a user can mend, and the words it is told in."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DistinguoError(ValueError):
    """Bad input, said in one sentence: what, where, what is allowed, what was got, what to do.

    >>> raise DistinguoError("Unknown task 'pukc'; did you mean 'puck'?")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown task 'pukc'; did you mean 'puck'?
    """


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that offers the nearest known word, or all of them.

    >>> did_you_mean("epsilom", ["gamma", "epsilon"])
    "did you mean 'epsilon'?"
    >>> did_you_mean("xyz", ["gamma", "epsilon"])
    'known: epsilon, gamma.'
    """
    words = sorted(known)
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else f"known: {', '.join(words)}."
