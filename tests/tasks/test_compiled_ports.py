"""The compiled ports against Gymnasium's own environments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.seeding import np_random

from distinguo.errors import DistinguoError
from distinguo.seam import kernel
from distinguo.settings import checked
from distinguo.tasks.acrobot import Acrobot, wrapped
from distinguo.tasks.cart_pole import CartPole, rounded
from distinguo.tasks.mountain_car import MountainCar
from distinguo.tasks.pendulum import Pendulum, square_by_pow, torques
from distinguo.tasks.task import State, actions, observe, start, transition, unpack

COAST, RIGHT = 1, 2  # of the mountain car
STATES = 2000
STEPS = 300


class Port(NamedTuple):
    """A task and what it is the port of, with the states to try it in."""

    task: Any
    name: str
    parameters: dict[str, Any]
    low: tuple[float, ...]
    high: tuple[float, ...]
    attributes: dict[str, Any] = {}  # noqa: RUF012 - set on the environment itself

    def environment(self) -> Any:
        env: Any = gymnasium.make(self.name, **self.parameters).unwrapped
        for name, value in self.attributes.items():
            assert hasattr(env, name)
            setattr(env, name, value)
        return env

    def action(self, a: int) -> Any:
        return np.array([torques(self.task)[a]]) if isinstance(self.task, Pendulum) else a


UPRIGHT = (-2.6, -4.0, -0.25, -4.0), (2.6, 4.0, 0.25, 4.0)
VALLEY = (-1.2, -0.07), (0.6, 0.07)
WHOLE_TURNS = (-20.0, -8.0), (20.0, 8.0)
LINKS = (-math.pi, -math.pi, -4 * math.pi, -9 * math.pi), (math.pi, math.pi, 4 * math.pi, 9 * math.pi)

PORTS = {
    "cart-pole": Port(CartPole(), "CartPole-v1", {}, *UPRIGHT),
    "cart-pole-of-the-book": Port(
        CartPole(sutton_barto_reward=True), "CartPole-v1", {"sutton_barto_reward": True}, *UPRIGHT
    ),
    "cart-pole-elsewhere": Port(
        CartPole(gravity=3.7, force=7.3, interval=0.03, wall=1.9, fall=0.17),
        "CartPole-v1",
        {},
        *UPRIGHT,
        {"gravity": 3.7, "force_mag": 7.3, "tau": 0.03, "x_threshold": 1.9, "theta_threshold_radians": 0.17},
    ),
    "mountain-car": Port(MountainCar(), "MountainCar-v0", {}, *VALLEY),
    "mountain-car-in-a-hurry": Port(
        MountainCar(goal_velocity=0.03), "MountainCar-v0", {"goal_velocity": 0.03}, *VALLEY
    ),
    "mountain-car-elsewhere": Port(
        MountainCar(force=0.0017, gravity=0.0031, max_speed=0.05, goal_position=0.4),
        "MountainCar-v0",
        {},
        *VALLEY,
        {"force": 0.0017, "gravity": 0.0031, "max_speed": 0.05, "goal_position": 0.4},
    ),
    "acrobot": Port(Acrobot(), "Acrobot-v1", {}, *LINKS),
    "acrobot-of-other-links": Port(
        Acrobot(
            length_1=1.3, mass_1=0.7, mass_2=1.1, centre_1=0.6, centre_2=0.45, inertia=0.9, interval=0.12
        ),
        "Acrobot-v1",
        {},
        *LINKS,
        {
            "LINK_LENGTH_1": 1.3,
            "LINK_MASS_1": 0.7,
            "LINK_MASS_2": 1.1,
            "LINK_COM_POS_1": 0.6,
            "LINK_COM_POS_2": 0.45,
            "LINK_MOI": 0.9,
            "dt": 0.12,
        },
    ),
    "pendulum": Port(Pendulum(), "Pendulum-v1", {}, *WHOLE_TURNS),
    "pendulum-on-earth": Port(Pendulum(g=9.81), "Pendulum-v1", {"g": 9.81}, *WHOLE_TURNS),
    "pendulum-elsewhere": Port(
        Pendulum(mass=1.3, length=0.7, max_torque=1.7, levels=7),
        "Pendulum-v1",
        {},
        *WHOLE_TURNS,
        {"m": 1.3, "l": 0.7, "max_torque": 1.7},
    ),
}

ports = pytest.mark.parametrize("port", PORTS.values(), ids=PORTS.keys())
one_of_each = pytest.mark.parametrize(
    "port", [PORTS[name] for name in ("cart-pole", "mountain-car", "acrobot", "pendulum")]
)


def libraries_agree() -> bool:
    """Tell whether NumPy's sine and cosine are the C library's, so that nothing but equality will do."""
    angles = np.random.default_rng(0).uniform(-10.0, 10.0, size=20_000)
    pairs = ((np.sin, math.sin), (np.cos, math.cos))
    return all(ours(x) == theirs(x) for ours, theirs in pairs for x in angles)


SAME_SINES = libraries_agree()
#: Whether NumPy has sines of 32 bits of its own, which Gymnasium's acrobot shows its first state through.
SHORT_SINES = any(np.cos(x) != np.float32(math.cos(x)) for x in np.linspace(0, 0.1, 20_000, dtype=np.float32))
same_sines = pytest.mark.skipif(not SAME_SINES, reason="NumPy has sines of its own here")


def agree(actual: np.ndarray, expected: np.ndarray) -> bool:
    if SAME_SINES:
        return np.array_equal(actual, expected)
    return np.allclose(actual, expected, rtol=1e-13, atol=1e-13)


def shown_alike(actual: np.ndarray, expected: np.ndarray) -> bool:
    return np.array_equal(actual, expected) if SAME_SINES else np.allclose(actual, expected, 2e-7, 2e-7)


@kernel
def step_all(task: Any, states: np.ndarray, chosen: np.ndarray, after: np.ndarray, shown: np.ndarray) -> None:
    """Write the next state, the reward and the end into ``after``, and the next observation into ``shown``."""
    for i in range(len(states)):
        s, reward, ended = transition(task, unpack(task, states[i]), chosen[i])
        seen = observe(task, s)
        for j in range(len(s)):
            after[i, j] = s[j]
        for j in range(len(seen)):
            shown[i, j] = seen[j]
        after[i, len(s)], after[i, len(s) + 1] = reward, ended


@kernel
def follow(task: Any, s: State, chosen: np.ndarray, after: np.ndarray) -> None:
    for i in range(len(chosen)):
        s, reward, ended = transition(task, s, chosen[i])
        for j in range(len(s)):
            after[i, j] = s[j]
        after[i, len(s)], after[i, len(s) + 1] = reward, ended


@kernel
def start_into(task: Any, rng: np.random.Generator, row: np.ndarray, shown: np.ndarray) -> None:
    """Write states in which trials begin into the rows, and what is seen of them into those of ``shown``."""
    for i in range(len(row)):
        s = start(task, rng)
        seen = observe(task, s)
        for j in range(len(s)):
            row[i, j] = s[j]
        for j in range(len(seen)):
            shown[i, j] = seen[j]


def ours(
    step: Callable[..., None], port: Port, states: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    seen = len(observe(port.task, tuple(states[0])))
    after, shown = np.empty((len(states), states.shape[1] + 2)), np.empty((len(states), seen))
    step(port.task, states, chosen, after, shown)
    return after, shown


def theirs(port: Port, states: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    env, after, shown = port.environment(), [], []
    for row, a in zip(states, chosen, strict=True):
        env.state, env.steps_beyond_terminated = row.copy(), None
        observation, reward, ended, truncated, _ = env.step(port.action(int(a)))
        assert observation.dtype == np.float32
        assert not truncated
        after.append([*env.state, reward, ended])
        shown.append(observation.astype(np.float64))
    return np.array(after, dtype=np.float64), np.array(shown)


def same_as_gymnasium(port: Port, states: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Check all there is to see of these steps, in both speeds, and return what came of them."""
    expected, expected_shown = theirs(port, states, chosen)
    for step in (step_all, step_all.py_func):
        after, shown = ours(step, port, states, chosen)
        assert agree(after[:, :-1], expected[:, :-1])
        assert np.array_equal(after[:, -1], expected[:, -1])
        assert shown_alike(shown, expected_shown)
    return expected


def everywhere(port: Port, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return these states with each action."""
    return np.repeat(states, actions(port.task), axis=0), np.tile(np.arange(actions(port.task)), len(states))


@ports
def test_steps_from_anywhere_are_gymnasiums(port: Port) -> None:
    states = np.random.default_rng(6).uniform(port.low, port.high, size=(STATES, len(port.low)))
    after = same_as_gymnasium(port, *everywhere(port, states))
    ends = set(after[:, -1])
    assert ends == ({0.0} if isinstance(port.task, Pendulum) else {0.0, 1.0})


@ports
def test_compiled_and_interpreted_are_the_same_bits(port: Port) -> None:
    """With wide states too, where angles turn many times and limits are hit."""
    wide = np.random.default_rng(7).uniform(port.low, port.high, size=(500, len(port.low))) * 3.0
    states, chosen = everywhere(port, wide)
    for compiled, plain in zip(
        ours(step_all, port, states, chosen), ours(step_all.py_func, port, states, chosen), strict=True
    ):
        assert compiled.tobytes() == plain.tobytes()


@one_of_each
@pytest.mark.parametrize("seed", [0, 12345])
def test_trials_start_where_gymnasiums_do(port: Port, seed: int) -> None:
    """Trial after trial, from the same generator, and seen in the same bits."""
    env: Any = port.environment()
    trials = (
        10_000 if isinstance(port.task, Acrobot) and seed == 0 else 100
    )  # two in a thousand differed there
    states, observations = [], []
    for trial in range(trials):
        observation, _ = env.reset(seed=seed if trial == 0 else None)
        states.append(env.state.astype(np.float64))
        observations.append(observation)
    for begin in (start_into, start_into.py_func):
        rows, seen = np.empty((trials, len(port.low))), np.empty((trials, len(observations[0])))
        begin(port.task, np_random(seed)[0], rows, seen)
        assert np.array_equal(rows, states)
        if isinstance(port.task, Acrobot) and not SHORT_SINES:
            assert np.allclose(seen, observations, rtol=2.0**-23, atol=0.0)
        else:
            assert shown_alike(seen, np.array(observations))


@same_sines
@ports
@pytest.mark.parametrize("seed", [2, 3])
def test_whole_trajectories_are_gymnasiums(port: Port, seed: int) -> None:
    """Beyond the end of a trial too: the last bit of the last step is the last bit of all before."""
    env = port.environment()
    env.reset(seed=seed)
    chosen = np.random.default_rng(seed).integers(0, actions(port.task), size=STEPS)
    expected = []
    for a in chosen:
        _, reward, ended, _, _ = env.step(port.action(int(a)))
        env.steps_beyond_terminated = None
        expected.append([*env.state, reward, ended])
    for step in (follow, follow.py_func):
        after = np.empty((STEPS, len(port.low) + 2))
        step(port.task, start(port.task, np_random(seed)[0]), chosen, after)
        assert np.array_equal(after, np.array(expected, dtype=np.float64))


def test_a_trajectory_through_gymnasiums_own_wrappers() -> None:
    """As a user makes the environment, with actions from its own space."""
    env, task = gymnasium.make("Pendulum-v1"), Pendulum()
    env.reset(seed=4)
    s = start(task, np_random(4)[0])
    for a in [0, 1, 2, 3, 4] * 20:
        observation, reward, *_ = env.step(np.array([torques(task)[a]], dtype=np.float32))
        s, ours_reward, _ = transition(task, s, a)
        assert shown_alike(np.array(observe(task, s)), observation)
        assert reward == pytest.approx(ours_reward, rel=1e-6)


EDGES = {
    "cart-pole": [
        (sign * x, v, angle, turning)
        for sign in (-1.0, 1.0)
        for x in (0.0, 2.4, math.nextafter(2.4, 3.0), math.nextafter(2.4, 0.0))
        for angle in (0.0, *(sign * side for side in (0.20943951023931953, 0.2094395102393196)))
        for v, turning in ((0.0, 0.0), (-0.0, -0.0), (1e-300, 1e-300))
    ],
    "mountain-car": [
        (-1.2, -0.07),
        (-1.2, 0.0),
        (-1.2, 0.001),
        (-1.13, -0.07),
        (0.5, 0.0),
        (0.5, -0.07),
        (0.499, 0.001),
        (0.6, 0.07),
        (0.6, -0.0005),
        (math.nextafter(0.43, 0.0), 0.07),
        (0.43, 0.07),
        (0.0, -0.0),
    ],
    "acrobot": [
        (0.0, 0.0, 0.0, 0.0),
        (math.pi, math.pi, 0.0, 0.0),
        (-math.pi, -math.pi, 0.0, 0.0),
        (math.pi, math.pi, 4 * math.pi, 9 * math.pi),
        (-math.pi, -math.pi, -4 * math.pi, -9 * math.pi),
        (math.pi / 2, 0.0, 4 * math.pi, -9 * math.pi),
        (2 * math.pi / 3, 0.0, 0.0, 0.0),
    ],
    "pendulum": [
        (0.0, 0.0),
        (math.pi, 0.0),
        (-math.pi, 0.0),
        (3 * math.pi, 8.0),
        (-math.pi / 2, -8.0),
        (math.pi / 2, 8.0),
        (1e6, 0.0),
        (-1e-300, -0.0),
    ],
}


@pytest.mark.parametrize("name", EDGES)
def test_steps_from_edges_are_gymnasiums(name: str) -> None:
    same_as_gymnasium(PORTS[name], *everywhere(PORTS[name], np.array(EDGES[name])))


def test_the_left_end_stops_the_car_and_the_right_end_does_not() -> None:
    assert transition(MountainCar(), (-1.19, -0.06), COAST) == ((-1.2, 0.0), -1.0, False)
    (x, v), _, arrived = transition(MountainCar(goal_velocity=0.08), (0.59, 0.06), COAST)
    assert (x, arrived) == (0.6, False)
    assert v > 0.05


def test_just_the_goal_velocity_is_enough() -> None:
    fast = Port(MountainCar(goal_velocity=0.07), "MountainCar-v0", {"goal_velocity": 0.07}, *VALLEY)
    after = same_as_gymnasium(fast, np.array([(0.5, 0.07), (0.5, 0.06)]), np.array([RIGHT, RIGHT]))
    assert after[:, -1].tolist() == [1.0, 0.0]


def test_the_goal_velocity_decides_who_arrives() -> None:
    assert transition(MountainCar(), (0.5, 0.01), RIGHT)[2] is True
    assert transition(MountainCar(goal_velocity=0.03), (0.5, 0.01), RIGHT)[2] is False


def test_actions_of_any_integer_type_do_the_same() -> None:
    for port in PORTS.values():
        s = tuple(0.4 * side for side in port.high)
        for a in range(actions(port.task)):
            for kind in (np.int64, np.int8, np.uint8):
                assert transition(port.task, s, kind(a)) == transition(port.task, s, a)


def test_results_are_plain_numbers() -> None:
    """Of a row of an array too, which does not hold plain ones."""
    for port in PORTS.values():
        s, reward, ended = transition(port.task, unpack(port.task, np.array(port.low) / 3.0), 0)
        assert type(ended) is bool
        assert isinstance(reward, float)
        assert {type(x) for x in observe(port.task, s)} == {float}


def test_torques_are_spread_evenly_and_never_exceed_the_greatest() -> None:
    assert torques(Pendulum(levels=2)) == [-2.0, 2.0]
    assert torques(Pendulum(levels=3, max_torque=0.7)) == [-0.7, 0.0, 0.7]
    for levels in range(2, 102):
        for most in (2.0, 0.1, 1.7):
            given = torques(Pendulum(levels=levels, max_torque=most))
            assert (len(given), actions(Pendulum(levels=levels))) == (levels, levels)
            assert np.allclose(given, np.linspace(-most, most, levels), rtol=0, atol=1e-15)
            assert max(map(abs, given)) <= most


def test_angles_far_away_come_back_at_once() -> None:
    """Turn by turn it would take for ever, and of an endless angle it would not end."""
    for angle in (1e5, -1e5, 1e300, -1e300):
        assert -math.pi <= wrapped(angle) <= math.pi
        assert math.cos(wrapped(angle)) == pytest.approx(math.cos(angle), abs=1e-9) or abs(angle) > 1e6
    assert math.isnan(wrapped(math.inf))
    assert math.isnan(wrapped(math.nan))


def test_rounding_is_to_the_nearest_of_32_bits() -> None:
    for number in np.random.default_rng(8).normal(size=200).tolist():
        assert rounded(number) == np.float32(number).item()
        assert square_by_pow(number) == np.float64(number) ** 2


@pytest.mark.parametrize(
    ("kind", "values", "complaint"),
    [
        (CartPole, {"sutton_barto_reward": "perhaps"}, "task.sutton_barto_reward should be a valid boolean"),
        (CartPole, {"fall": 4.0}, "task.fall should be less than or equal to 3.14"),
        (MountainCar, {"max_speed": 0.0}, "task.max_speed should be greater than 0"),
        (Acrobot, {"mass_1": 0.0}, "task.mass_1 should be greater than or equal to 0.01"),
        (Pendulum, {"levels": 1}, "task.levels should be greater than or equal to 2"),
        (Pendulum, {"levels": 102}, "task.levels should be less than or equal to 101"),
    ],
)
def test_a_parameter_out_of_range(kind: type, values: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DistinguoError, match=complaint):
        checked(kind, values, "task")
