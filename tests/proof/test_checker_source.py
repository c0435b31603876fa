"""The checker's reading of programs, attacked: what it says a program returns is what Python returns."""

import functools
import math
from typing import NamedTuple

import numpy as np
import pytest
from flint import arb, ctx

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.proof.checker.check import PRECISION, check
from distinguo.proof.checker.duals import Dual
from distinguo.proof.checker.source import Evaluator
from distinguo.proof.declared.guard import ProgramGuard
from distinguo.proof.declared.question import certify_declared
from distinguo.proof.number.program import NotProvableError, program_of
from distinguo.proof.schema import ProgramClaim
from distinguo.proof.verify import refusal_of
from distinguo.tasks.catalog import spec_of
from tests.search.plants import Sled

NAMES = {"math": "math", "np": "numpy"}


def _text(body):
    return "def transition(self, s, a):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def _claim(body, **parameters):
    functions = {"transition": _text(body), "start": "def start(self, rng):\n    return (0.0,)"}
    ends = {"low": parameters, "high": parameters}
    return ProgramClaim(
        name="x", functions=functions, names=NAMES, constants={}, dimensions=1, actions=2, **ends
    )


def _enclosed(body, low, high, **parameters):
    """The sets in which the checker sees the next state, from all states between two numbers, by action 1."""
    with ctx.workprec(PRECISION):
        middle, half = (arb(low) + arb(high)) / 2, (arb(high) - arb(low)) / 2
        block = (Dual(middle, middle + half * arb(0, 1), (half,)),)
        found = Evaluator(_claim(body, **parameters)).outcomes(block, 1, True)
        return [state[0].tightened().range for state, *_ in found]


class _Fields(dict):
    __getattr__ = dict.__getitem__


@pytest.mark.parametrize(
    "body",
    [
        "return (math.copysign(1.0, s[0] * 0.0),), 0.0, False",  # a negative 0
        "return (math.copysign(2.0, -0.0 * s[0]),), 0.0, False",
        "return (s[0] or 5.0,), 0.0, False",  # the number, not whether it is true
        "return ((a and 3.0) + s[0],), 0.0, False",
        "return ((s[0] > 0.0 and s[0]) + 0.0,), 0.0, False",
        "return (s[0] + self.size**3,), 0.0, False",
        "return (s[0] + self.size**-1.5,), 0.0, False",
        "return (s[0] + 2**10,), 0.0, False",
        "x = np.float64(np.float32(s[0]))\nreturn (x * x,), 0.0, False",
        "math = s\nreturn (math[0] * 2.0,), 0.0, False",
        "return (min(s[0], 0.0, -s[0]),), 0.0, False",
        "k = 0\nx = s[0]\nwhile k < 3 and x < 1.0:\n    x += 0.4\n    k += 1\nreturn (x,), 0.0, False",
        "return (s[0] % 0.3 + s[0] // 0.3,), 0.0, False",
        "x = 0.0\nfor k in range(2, -2, -1):\n    x = x * 0.5 + s[0] * k\nreturn (x,), 0.0, False",
    ],
)
def test_what_a_program_returns_is_enclosed(body):
    space = {"math": math, "np": np}
    exec(_text(body), space)
    for low, high in ((-1.0, -0.5), (-0.2, 0.3), (0.7, 0.9), (0.1, 0.1)):
        sets = _enclosed(body, low, high, size=1.37)
        for s in np.linspace(low, high, 23):
            (after,), _, _ = space["transition"](_Fields(size=1.37), (float(s),), 1)
            assert any(one.contains(arb(float(after))) for one in sets), (body, s, after, sets)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("k = 4611686018427387904 * 4\nreturn (s[0] * k,), 0.0, False", r"whole number above 2\*\*53"),
        ("k = 3\nfor n in range(64):\n    k = k * k\nreturn (s[0] * k,), 0.0, False", r"above 2\*\*53"),
        ("return (s[0] * 9**9**9,), 0.0, False", "power"),
        ("return (2.0 ** s[0],), 0.0, False", "power"),
        ("x = np.float32(s[0])\nreturn (x * x,), 0.0, False", "32 bits"),
        ("return (float(np.float32(s[0])),), 0.0, False", "32 bits"),
        ("for k in range(1, 5, 0):\n    pass\nreturn (s[0],), 0.0, False", "range is not known"),
        ("return (s[0] + math.fmod(1.0, 0.0),), 0.0, False", "not a finite number"),
        ("return (s[0] + 1.0 // 0,), 0.0, False", "not a finite number"),
        ("sin = 3.0\nreturn (sin(s[0]),), 0.0, False", "cannot be followed"),
    ],
)
def test_what_compiled_code_may_do_otherwise_is_refused(body, why):
    with pytest.raises(DistinguoError, match=why):
        _enclosed(body, 0.1, 0.2)


def test_starts_that_may_be_undefined_are_refused():
    functions = {"start": "def start(self, rng):\n    return (1.0 / rng.uniform(-1.0, 1.0),)"}
    claim = _claim("return (s[0],), 0.0, False")
    claim = claim.model_copy(update={"functions": claim.functions | functions})
    with pytest.raises(DistinguoError, match="may be zero where a trial starts"):
        Evaluator(claim).starts()


def test_a_certificate_of_more_actions_than_a_task_has_is_not_about_it():
    """Without a controller, one of them might be all that a certificate needs."""
    found = certify_declared(spec_of(Sled()), 2_500)
    check(found)
    ProgramGuard(found, Sled())
    more = found.model_copy(update={"task": found.task.model_copy(update={"actions": 3})})
    check(more)
    with pytest.raises(DistinguoError, match="other actions"):
        ProgramGuard(more, Sled())
    assert refusal_of(None, None, Sled()) is not None


def _twice(function):
    @functools.wraps(function)
    def wrapper(self, s, a):
        after, r, terminal = function(self, s, a)
        return tuple(2.0 * x for x in after), r, terminal

    return wrapper


@dg.task(states=("x",), actions=("left", "right"), low=(-1,), high=(1,))
class Wrapped(NamedTuple):
    """Its source does not say what it does."""

    pull: float = 0.4

    @_twice
    def transition(self, s, a):
        return (self.pull * s[0],), 0.0, abs(s[0]) > 1.0

    def start(self, rng):
        return (0.0,)


@dg.task(states=("x",), actions=("left", "right"), low=(-1,), high=(1,))
class Short(NamedTuple):
    """It computes in 32 bits."""

    def transition(self, s, a):
        x = np.float32(s[0])
        return (0.4 * x * x,), 0.0, abs(s[0]) > 1.0

    def start(self, rng):
        return (0.0,)


def test_what_the_source_does_not_say_is_not_followed():
    with pytest.raises(NotProvableError, match="wrapped by a decorator"):
        program_of(Wrapped())
    with pytest.raises(NotProvableError, match="computes in 32 bits"):
        program_of(Short())
