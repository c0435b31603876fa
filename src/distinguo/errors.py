"""One kind of error for everything that a user can mend, and the words it is told in."""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Callable, Iterable
from typing import Any


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


def call_user_code(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that a user wrote; what goes wrong in it is said in one sentence, with its place.

    >>> call_user_code("My view", lambda run: run.qq, 3)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: My view failed in ... (AttributeError: 'int' object has no attribute 'qq').
    """
    try:
        return function(*arguments)
    except DistinguoError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)[1:]
        place = f" in {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        raise DistinguoError(f"{what} failed{place} ({reason}).") from error
