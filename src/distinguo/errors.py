"""One kind of error for everything that a user can fix, and helpers that word it."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import reprlib
import traceback
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

LONGEST_SENTENCE = 2000  #: letters


class DistinguoError(ValueError):
    """Bad input, reported in one sentence: what is wrong, where, what is allowed, what was given, what to do.

    >>> raise DistinguoError("Unknown task 'pukc'; did you mean 'puck'?")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown task 'pukc'; did you mean 'puck'?

    A sentence may quote files and environments; whatever they contain, it stays one line of limited length.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(one_line(sentence, LONGEST_SENTENCE))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that offers the nearest known word, or all of them.

    >>> did_you_mean("epsilom", ["gamma", "epsilon"]), did_you_mean("PUCK", ["puck"])
    ("did you mean 'epsilon'?", "did you mean 'puck'?")
    >>> did_you_mean("xyz", ["gamma", "epsilon"])
    'known: epsilon, gamma.'
    """
    words = list(known)
    near = near_word(word, words)
    return f"did you mean '{near}'?" if near else f"known: {', '.join(sorted(words))}."


def near_word(word: str, known: Iterable[str]) -> str:
    """Return the known word that is nearest to another one, ignoring case; empty if none is near.

    >>> near_word("cartpole", ["CartPole-v1", "Taxi-v4"]), near_word("xyz", ["CartPole-v1"])
    ('CartPole-v1', '')
    """
    lower = {name.lower(): name for name in sorted(known, reverse=True)}
    near = difflib.get_close_matches(word.lower()[:100], lower, n=1, cutoff=0.6)
    return lower[near[0]] if near else ""


def counted(number: int, thing: str) -> str:
    """Return a number of things, in the singular if it is one.

    >>> counted(1, "prototype"), counted(1000, "environment step"), counted(2, "box")
    ('1 prototype', '1,000 environment steps', '2 boxes')
    """
    return f"{number:,} {thing if number == 1 else thing + ('es' if thing.endswith('x') else 's')}"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 160
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 12


def shown(value: Any, most: int = 200) -> str:
    """Return a value as a message shows it: on one short line.

    >>> shown("left"), shown([0.5] * 1000)[-10:]
    ("'left'", ' 0.5, ...]')
    """
    otherwise = f"a {type(value).__name__} that cannot be shown"  # such as a number of too many digits
    return one_line(attempt(_SHORT.repr, value, otherwise=otherwise), most)


def one_line(text: str, most: int = 200) -> str:
    r"""Make foreign text fit for a message: one printable line, shortened if it is long.

    >>> one_line("two\nlines")
    'two lines'
    """
    words = text if len(text) <= 8 * most else f"{text[: 4 * most]} … {text[-most:]}"
    words = visible(" ".join(words.split()))
    line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
    return line if len(line) <= most else f"{line[: 2 * most // 3]} … {line[-(most // 4) :]}"


#: Characters that move the cursor, change colours or turn the direction of a text, and halves of characters.
_CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Show control characters in foreign text as escapes, so that they do nothing to a terminal; lines stay.

    >>> print(visible("left\x1b[31m"), visible("caf\u00e9"))
    left\x1b[31m café
    """
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def check_known(given: Iterable[str], known: Iterable[str], table: str, beside: Iterable[str] = ()) -> None:
    """Reject a setting that the table does not have; ``beside`` are other names that the user may have meant.

    >>> check_known(["sede"], ["gamma"], "learner", beside=["seed"])
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown setting learner.sede; did you mean 'seed'?
    """
    for name in given:
        if name not in known:
            raise DistinguoError(
                f"Unknown setting {table}.{one_line(name)}; {did_you_mean(name, [*known, *beside])}"
            )


def unknown_setting(key: str, tables: Mapping[str, Iterable[str]]) -> DistinguoError:
    """Return the error for a setting whose table is missing or unknown, with the nearest one of any table.

    >>> print(unknown_setting("epsilonn", {"learner": ["gamma", "epsilon"], "stage": ["cap"]}))
    Unknown setting 'epsilonn'; settings are named TABLE.NAME; did you mean 'learner.epsilon'?
    >>> print(unknown_setting("stag.cap", {"learner": ["cap"], "stage": ["cap"]}))
    Unknown setting 'stag.cap'; settings are named TABLE.NAME; did you mean 'stage.cap'?
    """
    table, _, name = key.partition(".")
    known: dict[str, str] = {}
    for which, fields in tables.items():
        known = {field: f"{which}.{field}" for field in fields} | known
    meant = near_word(table, tables) if name else None
    if meant and name in tables[meant]:
        known = {name: f"{meant}.{name}"}
    near = near_word(name or table, known)
    hint = f"did you mean '{known[near]}'?" if near else f"for the table {did_you_mean(table, tables)}"
    return DistinguoError(f"Unknown setting '{one_line(key)}'; settings are named TABLE.NAME; {hint}")


def checks_names(
    also: Mapping[str, str] | None = None, words: Iterable[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function answer a misspelt argument with the nearest one; ``also`` maps names to how they are given
    instead.

    ``words`` are the names that the function takes as ``**words``.

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
        parameters = inspect.signature(function).parameters.values()
        own = {*words, *(one.name for one in parameters if one.kind is not one.VAR_KEYWORD)}

        @functools.wraps(function)
        def checking(*arguments: P.args, **named: P.kwargs) -> R:
            for name in named:
                if name not in own:
                    near = did_you_mean(name, own | set(also or {}))
                    for word, way in (also or {}).items():
                        near = near.replace(f"mean '{word}'?", f"mean {way}?")
                    raise DistinguoError(f"{function.__name__} takes no '{one_line(name)}'; {near}")
            return function(*arguments, **named)

        return checking

    return decorate


def whole_number(name: str, given: Any, least: int = 0, most: int = 2**63 - 1) -> int:
    """Return a whole number within bounds, or raise an error that says what is wrong with it.

    >>> whole_number("visits", 2.5, least=1)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: visits should be a whole number from 1 to 9223372036854775807, got 2.5.
    """
    whole = not isinstance(given, bool) and isinstance(given, Integral)
    if not whole or not least <= int(given) <= most:
        raise DistinguoError(f"{name} should be a whole number from {least} to {most}, got {shown(given)}.")
    return int(given)


def path_from(given: Any) -> Path:
    """Return a path given as text or as a path, or raise an error that says what it is instead.

    >>> path_from(5)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: A path should be a text, such as 'runs/first', got 5.
    """
    if not isinstance(given, str | Path):
        raise DistinguoError(f"A path should be a text, such as 'runs/first', got {shown(given)}.")
    return Path(given)


def attempt(function: Callable[..., Any], *arguments: Any, otherwise: Any) -> Any:
    """Call foreign code; return ``otherwise`` if it raises anything but Ctrl-C.

    >>> attempt(float, "1.5", otherwise=None), attempt(float, "one", otherwise=None)
    (1.5, None)
    """
    try:
        return function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return otherwise


def reason_of(error: BaseException) -> str:
    """Return the class and the message of an exception, on one line.

    >>> reason_of(KeyError("speed"))
    "KeyError: 'speed'"
    """
    message = one_line(attempt(str, error, otherwise="")).rstrip(".")
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def call_user_code(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that a user wrote; report a failure in one sentence, with file and line.

    Ctrl-C and a ``DistinguoError`` pass unchanged.

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
