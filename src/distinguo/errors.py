"""One kind of error for everything that a user can mend, and the words it is told in."""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Callable, Iterable
from numbers import Integral
from pathlib import Path
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


def whole_number(name: str, given: Any, least: int = 0, most: int = 2**63 - 1) -> int:
    """Return a number that has to be whole and within bounds, or say what is wrong with it.

    >>> whole_number("visits", 2.5, least=1)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: visits should be a whole number from 1 to 9223372036854775807, got 2.5.
    """
    whole = not isinstance(given, bool) and isinstance(given, Integral)
    if not whole or not least <= int(given) <= most:
        raise DistinguoError(f"{name} should be a whole number from {least} to {most}, got {shown(given)}.")
    return int(given)


def path_from(given: Any) -> Path:
    """Return a path that was given as a text or as one, or say what it is instead.

    >>> path_from(5)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: A path should be a text, such as 'runs/first', got 5.
    """
    if not isinstance(given, str | Path):
        raise DistinguoError(f"A path should be a text, such as 'runs/first', got {shown(given)}.")
    return Path(given)


def one_line(text: str, most: int = 300) -> str:
    r"""Return a text as one line without control characters, cut where it is too long for a sentence.

    >>> one_line("No motor.\n\x1b[31mCheck  the cable.")
    'No motor. [31mCheck the cable.'
    """
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= most else f"{flat[: most - 3]}..."


def attempt(function: Callable[..., Any], *arguments: Any, otherwise: Any) -> Any:
    """Return what code that is not ours gives, or ``otherwise`` if it raises anything but Ctrl-C.

    >>> attempt(float, "1.5", otherwise=None), attempt(float, "one", otherwise=None)
    (1.5, None)
    """
    try:
        return function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return otherwise


def shown(value: Any, most: int = 80) -> str:
    """Return a value as a sentence shows it, whatever its ``repr`` does.

    >>> shown(float("nan")), shown("a" * 100, most=10)
    ('nan', "'aaaaaa...")
    """
    return one_line(attempt(repr, value, otherwise=f"a {type(value).__name__} that cannot be shown"), most)


def reason_of(error: BaseException) -> str:
    """Return the kind of an exception and what it says, on one line.

    >>> reason_of(KeyError("speed"))
    "KeyError: 'speed'"
    """
    message = one_line(attempt(str, error, otherwise="")).rstrip(".")
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def call_user_code(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that a user wrote; what goes wrong in it is said in one sentence, with its place.

    Only Ctrl-C and what is said in our own words already comes through as it is.

    >>> call_user_code("My view", lambda run: run.qq, 3)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: My view failed in ... (AttributeError: 'int' object has no attribute 'qq').
    """
    try:
        return function(*arguments)
    except (DistinguoError, KeyboardInterrupt):
        raise
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)[1:]
        place = f" in {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
        raise DistinguoError(f"{what} failed{place} ({reason_of(error)}).") from error
