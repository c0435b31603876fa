"""The contract of a task: our own keep it, and each way to break it is named in one sentence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.check import check_task
from distinguo.tasks.declare import task
from distinguo.tasks.noise import ActionNoise
from distinguo.tasks.puck.noisy import NoisyPuck
from distinguo.tasks.puck.puck import Puck
from tests.tasks import faulty
from tests.tasks.test_declare import Cart, Gusts, Ledge


@pytest.mark.parametrize("name", ["puck", "CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Pendulum-v1"])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_our_tasks_keep_the_contract(name: str, noise: float) -> None:
    check_task(task_spec(name, {"noisy_actions": noise}))


@pytest.mark.parametrize(
    "name", ["CartPole-v1", "distinguo/PuckOnAHill-v0", "FrozenLake-v1", "Blackjack-v1", "CliffWalking-v1"]
)
def test_environments_keep_the_contract(name: str) -> None:
    check_task(task_spec(name, interpreted=True))


@pytest.mark.parametrize(
    "thing", [Puck, Puck(beta=0.1), NoisyPuck(noise=0.3), Cart, Cart(push=2), Gusts(), Ledge()]
)
def test_declared_tasks_keep_the_contract(thing: Any) -> None:
    check_task(thing)


def test_an_environment_of_ones_own() -> None:
    check_task(gymnasium.make("MountainCar-v0"))
    check_task(faulty.Gusts())
    with pytest.raises(DistinguoError, match=r"GlobalNoise .*: the same seed gave different trials"):
        check_task(faulty.GlobalNoise())
    with pytest.raises(
        DistinguoError, match="Faulty gave the reward nan, which is not a finite number, in trial"
    ):
        check_task(faulty.Faulty(lambda answer: (answer[0], math.nan, *answer[2:])))


def good(self: Any, s: Any, a: int) -> Any:
    x, v = s[0] + 0.1 * s[1], s[1] + (0.1 if a == 1 else -0.1)
    return (x, v), 0.0, bool(abs(x) > 1.0)


def first(self: Any, rng: Any) -> Any:
    return (0.0, 0.0)


def made(**body: Any) -> Any:
    """Return a task in plain Python, good but for what is given."""
    names: dict[str, Any] = {"states": ("x", "v"), "actions": ("left", "right")}
    names |= {"low": (-1, -9), "high": (1, 9), "compiled": False}
    names |= {key: body.pop(key) for key in ("observations", "compiled", "low", "stochastic") if key in body}
    kind: Any = NamedTuple("Made", [])  # type: ignore[misc]
    for name, function in ({"transition": good, "start": first} | body).items():
        setattr(kind, name, function)
    return task(**names)(kind)()


def spoilt(change: Callable[[Any], Any], at: float = 0.35) -> Callable[..., Any]:
    """Return a transition that is good until it is fast."""

    def transition(self: Any, s: Any, a: int) -> Any:
        answer = good(self, s, a)
        return change(answer) if abs(s[1]) > at else answer

    return transition


def test_a_good_one_is_fine() -> None:
    check_task(made())


AT = "at step 5 of a trial of action 0"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            {"start": lambda self, rng: [0.0, 0.0]},
            r"start returned \[0\.0, 0\.0\]; a state is a tuple of floats",
        ),
        (
            {"start": lambda self, rng: (0, 0.0)},
            "start returned the coordinate 0, which is not a finite float",
        ),
        (
            {"start": lambda self, rng: (0.0, math.nan)},
            "start returned the coordinate nan, which is not a finite",
        ),
        ({"start": lambda self, rng: 1 / 0}, r"start failed \(ZeroDivisionError: division by zero\)"),
        (
            {"start": lambda self, rng: (rng.random(), float(next(COUNT)))},
            "the same seed gave different trials",
        ),
        (
            {"transition": spoilt(lambda answer: answer[:2])},
            rf"transition returned .* {AT}, not \(next state",
        ),
        (
            {"transition": spoilt(lambda answer: ((0.5,), 0.0, False))},
            rf"\(0\.5,\) {AT}; a state is a tuple of 2",
        ),
        ({"transition": spoilt(lambda answer: ((0.5, math.inf), 0.0, False))}, f"the coordinate inf {AT}"),
        (
            {"transition": spoilt(lambda answer: (answer[0], None, False))},
            f"the reward None {AT}, which is not",
        ),
        (
            {"transition": spoilt(lambda answer: (answer[0], True, False))},
            f"the reward True {AT}, which is not",
        ),
        ({"transition": spoilt(lambda answer: (answer[0], math.inf, False))}, f"the reward inf {AT}"),
        (
            {"transition": spoilt(lambda answer: (answer[0], 0.0, 1))},
            f"said 1 for terminal {AT}, which is not a bool",
        ),
        ({"transition": spoilt(lambda answer: answer[9])}, rf"transition failed {AT} \(IndexError: "),
        (
            {"transition": spoilt(lambda answer: ((0.5, float(next(COUNT))), 0.0, False))},
            rf"the same step led to .* and to .* {AT}; draw noise from a field rng",
        ),
        (
            {"transition": spoilt(lambda answer: ((0.5, 99.0), 0.0, False))},
            f"observed 99 for v {AT}, far outside",
        ),
        (
            {"transition": lambda self, s, a: ((0.0, 0.0), 0.0, False)},
            "no trial ended within 5,000 steps; end them",
        ),
        (
            {"unpack": lambda self, row: (row[1], 1.0)},
            r"unpack made \(.*\) of the row of the state \(0\.0, 0\.0\)",
        ),
        ({"truncated": lambda self, s: None}, "truncated returned None at step 1 of a trial of action 0"),
        ({"actions": lambda self: 3}, "it has 3 actions, but 2 names for them"),
        (
            {"observe": lambda self, s: (s[0],), "observations": ("x", "v")},
            r"observe returned \(0\.0,\) at the start, not a float for each of x, v",
        ),
        (
            {"observe": lambda self, s: (s[0], "fast"), "observations": ("x", "v")},
            "it observed 'fast' for v at the start, which is not a finite float",
        ),
        ({"stochastic": "some"}, "it is stochastic, but has no generator of its own; add a field rng"),
        (
            {"randomness": lambda self: np.random.default_rng(7)},
            "seeded gives the same generator for different seeds",
        ),
    ],
)
def test_a_broken_contract(body: dict[str, Any], words: str) -> None:
    broken = made(**body)
    with pytest.raises(DistinguoError, match=words) as caught:
        check_task(broken)
    assert str(caught.value).startswith("Made breaks the contract of a task: ")
    assert str(caught.value).count("\n") == 0


COUNT = itertools.count()


def test_what_cannot_be_compiled_says_why() -> None:
    def helper(x: float) -> float:
        return x

    def transition(self: Any, s: Any, a: int) -> Any:
        return (helper(s[0]), s[1]), 0.0, False

    sentence = (
        r"Made cannot be compiled: Untyped global name 'helper'.*; call only functions marked with "
        r"distinguo\.seam\.part, or declare it with compiled=False\."
    )
    with pytest.raises(DistinguoError, match=sentence):
        spec_of(made(transition=transition, compiled=True))


def test_compiled_otherwise_than_interpreted() -> None:
    """Whole numbers have no end in Python, but 64 bits when they are compiled."""

    def transition(self: Any, s: Any, a: int) -> Any:
        great = 3_100_000_000 + int(a)
        x = s[0] + 0.1 * float(great * great * great % 7)
        return (x, s[1]), 0.0, bool(abs(x) > 1.0)

    with pytest.raises(DistinguoError, match=r"compiled, step 2 gave \[.*\], in plain Python \["):
        check_task(made(transition=transition, compiled=True))


def test_noise_around_a_task_is_a_task() -> None:
    check_task(task_spec("Cart", {"noisy_actions": 0.5}))
    with pytest.raises(DistinguoError, match="got ActionNoise"):
        check_task(ActionNoise(Cart()))
