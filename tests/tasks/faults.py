"""A catalogue of what environments do wrong, each at a step of its own choice, and what is said of it.

A fault *spoils* the right answer of a reset or step; what is said of it has to contain the words beside it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tests.tasks.faulty import TakesOptions, Walk

Answer = tuple[Any, Any, Any, Any, Any]


class Unshowable:
    """Neither a number nor anything that can be printed."""

    def __repr__(self) -> str:
        raise RuntimeError("not to be shown")

    def __float__(self) -> float:
        raise SystemExit(7)

    def __bool__(self) -> bool:
        raise SystemExit(8)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise SystemExit(9)


class Silent(Exception):
    """An exception that cannot say what it is about."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class OwnEnd(BaseException):
    """What some simulators raise to end the program."""


class Fault(NamedTuple):
    """Something that an environment does wrong."""

    name: str
    spoil: Callable[[Answer], Any]
    words: str  #: in the sentence


def raising(error: BaseException | type[BaseException]) -> Callable[[Answer], Any]:
    """Return what raises instead of answering."""

    def spoil(_: Answer) -> Any:
        raise error

    return spoil


def recurse(answer: Answer) -> Any:
    """Never come to an end."""
    return recurse(answer)


def with_reward(reward: Any) -> Callable[[Answer], Any]:
    """Return what gives another reward."""
    return lambda answer: (answer[0], reward, *answer[2:])


def with_observation(observation: Any) -> Callable[[Answer], Any]:
    """Return what observes something else."""
    return lambda answer: (observation, *answer[1:])


def with_end(place: int, value: Any) -> Callable[[Answer], Any]:
    """Return what gives another value for terminated (2) or truncated (3)."""
    return lambda answer: (*answer[:place], value, *answer[place + 1 :])


def _rewards() -> Iterator[Fault]:
    beyond = {"huge": 1e308, "large": -1.01e100, "fraction": Fraction(10**200)}
    for name, reward in beyond.items():
        yield Fault(f"reward {name}", with_reward(reward), "allowed are numbers up to 1e+100")
    yield Fault("reward array", with_reward(np.array([1.0, 2.0])), "gave several rewards at once")
    others: dict[str, Any] = {
        "nan": math.nan,
        "inf": math.inf,
        "minus inf": -math.inf,
        "numpy nan": np.float32(np.nan),
        "none": None,
        "word": "1.0",
        "bytes": b"1",
        "empty": np.array([]),
        "list": [1.0],
        "dict": {},
        "complex": 1j,
        "numpy complex": np.complex128(1 + 1j),
        "long": 10**400,
        "digits": 10**5000,
        "unshowable": Unshowable(),
        "type": float,
        "lines": "one\nreward\r\x1b[2J\u2028more",
    }
    for name, reward in others.items():
        yield Fault(f"reward {name}", with_reward(reward), "which is not a finite number")


def _ends() -> Iterator[Fault]:
    wrong: dict[str, Any] = {
        "array": np.array([True, False]),
        "empty": np.array([]),
        "nan": math.nan,
        "none": None,
        "word": "False",
        "number": 2,
        "dict": {},
        "unshowable": Unshowable(),
    }
    for place, what in ((2, "terminated"), (3, "truncated")):
        for name, value in wrong.items():
            words = f"for {what}; allowed are True and False"
            yield Fault(f"{what} {name}", with_end(place, value), words)


def _observations() -> Iterator[Fault]:
    held = "does not hold"
    for name, seen, words in (
        ("nan", np.array([np.nan]), "not finite: o0 is nan"),
        ("inf", np.array([-np.inf]), "not finite: o0 is -inf"),
        ("huge", np.array([1e308]), "o0 = 1e+308; allowed are numbers up to 1e+100"),
        ("half inf", np.array([np.inf], dtype=np.float16), "not finite: o0 is inf"),
        ("longer", np.zeros(2), "changed its observation shape from (1,) to (2,)"),
        ("empty", np.zeros(0), "changed its observation shape from (1,) to (0,)"),
        ("deeper", np.zeros((1, 1)), "changed its observation shape from (1,) to (1, 1)"),
        ("number", 0.5, "changed its observation shape from (1,) to ()"),
        ("none", None, held),
        ("word", "here", held),
        ("objects", np.array([None], dtype=object), held),
        ("complex", np.array([1j]), held),
        ("dict", {"place": 1.0}, held),
        ("ragged", [[1.0], [1.0, 2.0]], held),
        ("unshowable", Unshowable(), held),
    ):
        yield Fault(f"observation {name}", with_observation(seen), words)


def _answers() -> Iterator[Fault]:
    words = "from step; allowed are five values"
    yield Fault("four values", lambda answer: answer[:4], words)
    yield Fault("six values", lambda answer: (*answer, {}), words)
    yield Fault("no values", lambda answer: None, words)
    yield Fault("a number", lambda answer: 5, words)
    yield Fault("a word", lambda answer: "fives", words)
    yield Fault("info none", with_end(4, None), words)
    yield Fault("info list", with_end(4, []), words)
    yield Fault("an unshowable answer", lambda answer: Unshowable(), words)


def _exceptions() -> Iterator[Fault]:
    for error, words in (
        (
            ValueError("two\nlines\r\n\x1b[31mand\x00more."),
            r"failed (ValueError: two lines \x1b[31mand\x00more)",
        ),
        (RuntimeError("x" * 5000), "failed (RuntimeError: xxx"),
        (SystemExit(3), "failed (SystemExit: 3)"),
        (GeneratorExit(), "failed (GeneratorExit)"),
        (OwnEnd("over"), "failed (OwnEnd: over)"),
        (asyncio.CancelledError(), "failed (CancelledError)"),
        (MemoryError(), "failed (MemoryError)"),
        (StopIteration(4), "failed (StopIteration: 4)"),
        (Silent(), "failed (Silent)"),
        (AssertionError, "failed (AssertionError)"),
    ):
        name = error.__name__ if isinstance(error, type) else type(error).__name__
        yield Fault(f"raises {name}", raising(error), words)
    yield Fault("recurses", recurse, "failed (RecursionError: maximum recursion depth exceeded")


FAULTS = (*_rewards(), *_ends(), *_observations(), *_answers(), *_exceptions())


class Switch:
    """What all copies of an environment share."""

    def __init__(self, spoil: Callable[[Any], Any]) -> None:
        self.spoil, self.on, self.steps = spoil, False, 0

    def __deepcopy__(self, memo: Any) -> Switch:
        return self


class Switched(Walk):
    """Faulty when it is told to be, all copies of it alike."""

    def __init__(self, spoil: Callable[[Any], Any]) -> None:
        super().__init__()
        self.switch = Switch(spoil)

    def step(self, action: int) -> Any:
        answer = super().step(action)
        self.switch.steps += 1
        return self.switch.spoil(answer) if self.switch.on else answer


class SwitchedAhead(TakesOptions):
    """Faulty, when it is told to be, in look-aheads only: after it was put into an earlier state."""

    ahead = False

    def __init__(self, spoil: Callable[[Any], Any]) -> None:
        super().__init__()
        self.switch = Switch(spoil)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.ahead = options is not None
        return super().reset(seed=seed, options=options)

    def step(self, action: int) -> Any:
        answer = super().step(action)
        return self.switch.spoil(answer) if self.switch.on and self.ahead else answer
