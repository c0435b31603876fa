"""The puck's physics against the paper's equations of motion, and compiled against interpreted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.seam import kernel
from distinguo.tasks.puck.puck import LEFT, RIGHT, Puck
from distinguo.tasks.task import actions, start, transition, unpack

EPSILON = float(np.finfo(np.float64).eps)

positions = st.floats(-2.4, 2.4)
velocities = st.floats(-5.5, 5.5)
pushes = st.sampled_from([LEFT, RIGHT])
pucks = st.builds(
    Puck,
    beta=st.floats(0.01, 10.0),
    gravity=st.floats(0.1, 100.0),
    mass=st.floats(0.01, 100.0),
    force=st.floats(0.01, 100.0),
    interval=st.floats(1e-3, 0.5),
    wall=st.floats(0.5, 10.0),
)


def equations_of_motion(task: Puck, x: float, v: float, a: int) -> tuple[float, float]:
    """Section 4 of the paper, letter by letter."""
    theta = math.atan(-2 * task.beta * x)
    f = task.force if a == RIGHT else -task.force
    pull = (f - task.mass * task.gravity * math.sin(theta)) * math.cos(theta) / task.mass
    return x + task.interval * v, v + task.interval * pull


@given(positions, velocities, pushes)
@settings(max_examples=500)
def test_paper_parameters_follow_the_paper_to_the_last_digits(x: float, v: float, a: int) -> None:
    (x_next, v_next), _, _ = transition(Puck(), (x, v), a)
    x_paper, v_paper = equations_of_motion(Puck(), x, v, a)
    assert x_next == x_paper
    assert abs(v_next - v_paper) <= 9e-16


@given(pucks, positions, velocities, pushes)
@settings(max_examples=500)
def test_any_parameters_follow_the_paper(task: Puck, x: float, v: float, a: int) -> None:
    (x_next, v_next), _, _ = transition(task, (x, v), a)
    x_paper, v_paper = equations_of_motion(task, x, v, a)
    size = abs(v) + task.interval * (task.force / task.mass + task.gravity)
    assert x_next == x_paper
    assert abs(v_next - v_paper) <= 4 * EPSILON * size


@given(pucks, positions, velocities, pushes)
def test_mirrored_state_and_push_give_the_mirrored_result(task: Puck, x: float, v: float, a: int) -> None:
    (x_next, v_next), reward, fell = transition(task, (x, v), a)
    mirrored = transition(task, (-x, -v), LEFT + RIGHT - a)
    assert mirrored == ((-x_next, -v_next), reward, fell)


@given(positions, st.floats(-3.0, 3.0), pushes)
def test_a_push_does_the_work_that_energy_asks_for(x: float, v: float, a: int) -> None:
    """Kinetic energy gained is what gravity and push give over the way; short steps leave tiny errors."""
    short = Puck(interval=1e-5)
    (x_next, v_next), _, _ = transition(short, (x, v), a)
    c = 1.0 / math.hypot(1.0, 2 * short.beta * x)
    potential = short.gravity * math.log(c * math.hypot(1.0, 2 * short.beta * x_next)) / (2 * short.beta)
    gained = (v_next**2 - v**2) / 2 - potential
    work = (short.force if a == RIGHT else -short.force) * c * (x_next - x)
    assert gained == pytest.approx(work, abs=1e-7)


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("a", [LEFT, RIGHT])
def test_a_wall_ends_the_trial_with_minus_one(side: float, a: int) -> None:
    _, reward, fell = transition(Puck(), (side * 2.35, side * 5.0), a)
    assert (reward, fell) == (-1.0, True)
    _, reward, fell = transition(Puck(), (side * 2.35, side * 1.0), a)
    assert (reward, fell) == (0.0, False)


def test_touching_the_wall_is_hitting_it() -> None:
    """The paper's constraint is strict: -2.4 < x < 2.4."""
    assert transition(Puck(wall=2.5), (2.0, 0.5), LEFT)[2] is False
    assert transition(Puck(wall=2.5, interval=0.5), (2.0, 1.0), LEFT)[2] is True


def test_a_state_that_is_no_number_does_not_stay_on_the_hill() -> None:
    assert transition(Puck(), (math.nan, 0.0), LEFT)[2] is True


def test_start_actions_and_unpacking() -> None:
    assert start(Puck(), np.random.default_rng(0)) == (0.0, 0.0)
    assert actions(Puck()) == 2
    assert unpack(Puck(), np.array([0.5, -1.0])) == (0.5, -1.0)


@kernel
def push_all(task: Puck, states: np.ndarray, pushed: np.ndarray, results: np.ndarray) -> None:
    for i in range(len(states)):
        (x, v), reward, fell = transition(task, (states[i, 0], states[i, 1]), pushed[i])
        results[i, 0], results[i, 1], results[i, 2], results[i, 3] = x, v, reward, fell


@pytest.mark.parametrize("task", [Puck(), Puck(beta=1.7, gravity=3.3, mass=0.7, force=1.1, interval=0.05)])
def test_compiled_equals_interpreted_bit_for_bit(task: Puck) -> None:
    rng = np.random.default_rng(4)
    states = rng.uniform((-2.4, -5.5), (2.4, 5.5), size=(5000, 2))
    pushed = rng.integers(0, 2, size=5000)
    compiled, interpreted = np.empty((5000, 4)), np.empty((5000, 4))
    push_all(task, states, pushed, compiled)
    push_all.py_func(task, states, pushed, interpreted)
    assert compiled.tobytes() == interpreted.tobytes()
