"""One kind of error for everything that a user can mend, and the words it is told in."""

from __future__ import annotations

import difflib
import functools
import inspect
import reprlib
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

LONGEST_SENTENCE = 2000  #: letters


class DistinguoError(ValueError):
    """Bad input, said in one sentence: what, where, what is allowed, what was got, what to do.

    >>> raise DistinguoError("Unknown task 'pukc'; did you mean 'puck'?")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown task 'pukc'; did you mean 'puck'?

    Words from files and environments are parts of sentences; whatever they are, it stays one line of some length.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(one_line(sentence, LONGEST_SENTENCE))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that offers the nearest known word, or all of them.

    >>> did_you_mean("epsilom", ["gamma", "epsilon"])
    "did you mean 'epsilon'?"
    >>> did_you_mean("xyz", ["gamma", "epsilon"])
    'known: epsilon, gamma.'
    """
    words = sorted(known)
    near = difflib.get_close_matches(word[:100], words, n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else f"known: {', '.join(words)}."


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 160
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 12


def shown(value: Any) -> str:
    """Return a value as a message shows it: in one line, and never a long one.

    >>> shown("left"), shown([0.5] * 1000)[-10:]
    ("'left'", ' 0.5, ...]')
    """
    try:
        return one_line(_SHORT.repr(value))
    except Exception:  # a number of too many digits, or an object that cannot say what it is
        return f"something of type {type(value).__name__}"


def one_line(text: str, most: int = 200) -> str:
    r"""Make words from elsewhere fit for a message: one line that can be printed, cut where it is long.

    >>> one_line("two\nlines")
    'two lines'
    """
    words = text if len(text) <= 8 * most else f"{text[: 4 * most]} … {text[-most:]}"
    line = "".join(c if c.isprintable() else "?" for c in " ".join(words.split()))
    return line if len(line) <= most else f"{line[: 2 * most // 3]} … {line[-(most // 4) :]}"


def check_known(given: Iterable[str], known: Iterable[str], table: str, beside: Iterable[str] = ()) -> None:
    """Refuse the name of a setting that the table does not have; ``beside`` are other names that may be meant.

    >>> check_known(["sede"], ["gamma"], "learner", beside=["seed"])
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown setting learner.sede; did you mean 'seed'?
    """
    for name in given:
        if name not in known:
            raise DistinguoError(
                f"Unknown setting {table}.{one_line(name)}; {did_you_mean(name, [*known, *beside])}"
            )


def checks_names(also: Mapping[str, str] | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function answer a misspelt argument with the nearest of its own; ``also`` has names that go otherwise.

    >>> @checks_names({"epsilon": "settings={'learner.epsilon': …}"})
    ... def learn(*, seed=0, settings=None): ...
    >>> learn(sede=1)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: learn takes no 'sede'; did you mean 'seed'?
    >>> learn(epsilom=1)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: learn takes no 'epsilom'; did you mean settings={'learner.epsilon': …}?
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        own = inspect.signature(function).parameters

        @functools.wraps(function)
        def checking(*arguments: P.args, **named: P.kwargs) -> R:
            for name in named:
                if name not in own:
                    near = did_you_mean(name, {*own, *(also or {})})
                    for word, way in (also or {}).items():
                        near = near.replace(f"mean '{word}'?", f"mean {way}?")
                    raise DistinguoError(f"{function.__name__} takes no '{one_line(name)}'; {near}")
            return function(*arguments, **named)

        return checking

    return decorate


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
        reason = f"{type(error).__name__}: {one_line(str(error), 300)}"
        raise DistinguoError(f"{what} failed{place} ({reason}).") from error
