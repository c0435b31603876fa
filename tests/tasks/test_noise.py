"""Tasks with random choices of their own: how much, how often, and always the same from a seed."""

from __future__ import annotations

import copy
import pickle
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.seam import implements, kernel
from distinguo.settings import checked
from distinguo.tasks.acrobot import Acrobot
from distinguo.tasks.cart_pole import CartPole
from distinguo.tasks.mountain_car import MountainCar
from distinguo.tasks.noise import ActionNoise
from distinguo.tasks.pendulum import Pendulum
from distinguo.tasks.puck.noisy import NoisyPuck
from distinguo.tasks.puck.puck import LEFT, RIGHT, Puck
from distinguo.tasks.task import (
    State,
    actions,
    observe,
    randomness,
    seeded,
    start,
    transition,
    truncated,
    unpack,
)

DRAWS = 20_000
NOISY = {
    "puck": NoisyPuck(noise=0.4),
    "puck-actions": ActionNoise(Puck(), 0.3),
    "cart-pole-actions": ActionNoise(CartPole(), 0.3),
    "mountain-car-actions": ActionNoise(MountainCar(), 0.3),
    "acrobot-actions": ActionNoise(Acrobot(), 0.3),
    "pendulum-actions": ActionNoise(Pendulum(levels=11), 0.3),
    "noisy-puck-actions": ActionNoise(NoisyPuck(noise=0.4), 0.3),
    "actions-twice": ActionNoise(ActionNoise(Puck(), 0.3), 0.3),
}

noisy = pytest.mark.parametrize("task", NOISY.values(), ids=NOISY.keys())


class Counter(NamedTuple):
    """A task whose state is the action last taken, seen from behind, and stopped at the last action."""

    count: int


@implements(transition, Counter)
def take(task: Counter, s: State, a: int) -> tuple[State, float, bool]:
    return (float(a), s[0]), 0.0, False


@implements(start, Counter)
def start_counter(task: Counter, rng: np.random.Generator) -> State:
    return (rng.random(), -1.0)


@implements(actions, Counter)
def count(task: Counter) -> int:
    return task.count


@implements(unpack, Counter)
def unpack_counter(task: Counter, row: np.ndarray) -> State:
    return (row[0], row[1])


@implements(observe, Counter)
def observe_counter(task: Counter, s: State) -> tuple[float]:
    return (-s[0],)


@implements(truncated, Counter)
def truncated_counter(task: Counter, s: State) -> bool:
    return bool(s[0] == task.count - 1)


@kernel
def repeat(task: Any, s: State, a: int, after: np.ndarray) -> None:
    """Take the same action from the same state again and again."""
    for i in range(len(after)):
        moved, _, _ = transition(task, s, a)
        for j in range(len(moved)):
            after[i, j] = moved[j]


@kernel
def wander(task: Any, rng: np.random.Generator, after: np.ndarray) -> None:
    """Follow a trajectory of actions in turn."""
    s = start(task, rng)
    for i in range(len(after)):
        s, reward, ended = transition(task, s, i % actions(task))
        for j in range(len(s)):
            after[i, j] = s[j]
        after[i, len(s)], after[i, len(s) + 1] = reward, ended


@kernel
def look(task: Any, row: np.ndarray, seen: np.ndarray) -> bool:
    s = unpack(task, row)
    observation = observe(task, s)
    for j in range(len(observation)):
        seen[j] = observation[j]
    return truncated(task, s)


def strengths(task: NoisyPuck, a: int) -> np.ndarray:
    """Return the force of many pushes on the top, where all of it becomes velocity."""
    after = np.empty((DRAWS, 2))
    repeat(task, (0.0, 0.0), a, after)
    assert (after[:, 0] == 0.0).all()
    return after[:, 1] * task.mass / task.interval


def wandered(walk: Any, task: Any, steps: int = 300) -> np.ndarray:
    after = np.empty((steps, len(start(task, np.random.default_rng(5))) + 2))
    walk(task, np.random.default_rng(5), after)
    return after


@pytest.mark.parametrize(("a", "way"), [(LEFT, -1.0), (RIGHT, 1.0)])
@pytest.mark.parametrize("noise", [0.1, 0.5, 2.0])
def test_pushes_vary_about_the_force(a: int, way: float, noise: float) -> None:
    pushes = strengths(seeded(NoisyPuck(force=2.5, mass=0.8, noise=noise), 3), a)
    spread = noise * 2.5
    assert pushes.mean() == pytest.approx(way * 2.5, abs=4 * spread / DRAWS**0.5)
    assert pushes.std() == pytest.approx(spread, rel=4 / (2 * DRAWS) ** 0.5)
    within = np.mean(np.abs(pushes - way * 2.5) < spread)
    assert within == pytest.approx(0.6827, abs=0.015)  # a normal distribution, not another of that spread


def test_a_strength_below_zero_pushes_the_other_way() -> None:
    """As often as a normal distribution says: no strength is cut off or mirrored."""
    pushes = strengths(seeded(NoisyPuck(noise=1.0), 3), RIGHT)
    assert np.mean(pushes < 0.0) == pytest.approx(0.1587, abs=0.011)


def test_each_push_has_a_strength_of_its_own() -> None:
    pushes = strengths(seeded(NoisyPuck(), 3), RIGHT)
    assert len(np.unique(pushes)) > DRAWS - 10
    assert abs(np.corrcoef(pushes[:-1], pushes[1:])[0, 1]) < 4 / DRAWS**0.5


def test_a_push_is_the_pucks_with_the_strength_drawn() -> None:
    task = seeded(NoisyPuck(beta=0.4, mass=1.2, interval=0.03, wall=2.0, noise=0.3), 7)
    strength = copy.deepcopy(randomness(task))
    states = np.random.default_rng(1).uniform((-2.0, -5.0), (2.0, 5.0), size=(200, 2)).tolist()
    for x, v in states:
        force = 3.0 * (1.0 + 0.3 * strength.standard_normal())
        steady = Puck(beta=0.4, mass=1.2, force=force, interval=0.03, wall=2.0)
        assert transition(task, (x, v), LEFT) == transition(steady, (x, v), LEFT)


def test_without_noise_there_is_none() -> None:
    for task in (NoisyPuck(noise=0.0), ActionNoise(Puck(), 0.0)):
        assert wandered(wander, task).tobytes() == wandered(wander, Puck()).tobytes()


def test_parameters_are_the_pucks() -> None:
    noisy, plain = (get_type_hints(kind, include_extras=True) for kind in (NoisyPuck, Puck))
    for name in Puck._fields:
        assert str(noisy[name]) == str(plain[name])
        assert NoisyPuck._field_defaults[name] == Puck._field_defaults[name]


@pytest.mark.parametrize("noise", [0.2, 1.0])
@pytest.mark.parametrize("number", [2, 5])
def test_actions_are_replaced_by_any_alike(number: int, noise: float) -> None:
    after = np.empty((DRAWS, 2))
    repeat(seeded(ActionNoise(Counter(number), noise), 2), (0.0, 0.0), 1, after)
    shares = np.bincount(after[:, 0].astype(int), minlength=number) / DRAWS
    expected = np.full(number, noise / number)
    expected[1] += 1.0 - noise
    assert len(shares) == number
    assert np.abs(shares - expected).max() < 4 * 0.5 / DRAWS**0.5


def test_replacing_an_action_is_independent_of_the_one_before() -> None:
    after = np.empty((DRAWS, 2))
    repeat(seeded(ActionNoise(Counter(4), 0.5), 2), (0.0, 0.0), 0, after)
    replaced = (after[:, 0] != 0.0).astype(float)
    assert abs(np.corrcoef(replaced[:-1], replaced[1:])[0, 1]) < 4 / DRAWS**0.5


@pytest.mark.parametrize("speed", [look, look.py_func])
def test_all_else_is_the_inner_tasks(speed: Any) -> None:
    task, seen = ActionNoise(Counter(4), 0.5), np.empty(1)
    assert speed(task, np.array([2.0, 0.0]), seen) is False
    assert speed(task, np.array([3.0, 0.0]), seen) is True
    assert seen[0] == -3.0
    assert actions(task) == 4
    assert start(task, np.random.default_rng(1)) == start(Counter(4), np.random.default_rng(1))


@noisy
def test_compiled_equals_interpreted_bit_for_bit(task: Any) -> None:
    """And leaves the generator in the same state, call after call."""
    compiled, plain = seeded(task, 11), seeded(task, 11)
    for _ in range(3):
        assert wandered(wander, compiled).tobytes() == wandered(wander.py_func, plain).tobytes()
        assert randomness(compiled).bit_generator.state == randomness(plain).bit_generator.state


@noisy
def test_a_seed_decides_all_and_another_decides_otherwise(task: Any) -> None:
    first = wandered(wander, seeded(task, 1))
    wandered(wander, task)  # what else runs does not matter
    assert wandered(wander, seeded(task, 1)).tobytes() == first.tobytes()
    assert wandered(wander, seeded(task, 2)).tobytes() != first.tobytes()


@noisy
def test_seeding_changes_nothing_but_the_generator(task: Any) -> None:
    state = randomness(task).bit_generator.state
    again = seeded(task, 1)
    assert type(again) is type(task)
    assert again.noise == task.noise
    assert randomness(again) is not randomness(task)
    wandered(wander, again)
    assert randomness(task).bit_generator.state == state


@noisy
def test_the_state_of_the_generator_is_all_that_a_checkpoint_needs(task: Any) -> None:
    run = seeded(task, 1)
    wandered(wander, run)
    kept = pickle.loads(pickle.dumps(randomness(run).bit_generator.state))
    continued = wandered(wander, run)
    anew = seeded(task, 99)
    randomness(anew).bit_generator.state = kept
    assert wandered(wander, anew).tobytes() == continued.tobytes()


def test_the_noise_is_not_the_agents_own_randomness() -> None:
    for seed in range(5):
        agents = np.random.default_rng(seed)
        for task in (NoisyPuck(), ActionNoise(Puck())):
            assert randomness(seeded(task, seed)).random() != agents.random()


def test_a_noise_out_of_range() -> None:
    assert checked(NoisyPuck, {"noise": 0.2}, "task").noise == 0.2
    assert checked(ActionNoise, {"task": Puck(), "noise": 1}, "task").task == Puck()
    with pytest.raises(DistinguoError, match=r"task\.noise should be greater than or equal to 0, got -0\.1"):
        checked(NoisyPuck, {"noise": -0.1}, "task")
    with pytest.raises(DistinguoError, match=r"task\.noise should be less than or equal to 1, got 1\.1"):
        checked(ActionNoise, {"task": Puck(), "noise": 1.1}, "task")
    with pytest.raises(DistinguoError, match=r"task\.rng should be an instance of Generator"):
        checked(NoisyPuck, {"rng": 3}, "task")
