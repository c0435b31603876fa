"""The puck as a Gymnasium environment."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from distinguo.errors import DistinguoError
from distinguo.seam import kernel
from distinguo.tasks.gym.registration import PUCK_ID, register_environments
from distinguo.tasks.puck.environment import PuckOnAHillEnv
from distinguo.tasks.puck.puck import LEFT, RIGHT, Puck
from distinguo.tasks.task import transition


def started(state: tuple[float, float] = (0.0, 0.0), **parameters: Any) -> PuckOnAHillEnv:
    env = PuckOnAHillEnv(render_mode="rgb_array", **parameters)
    env.reset(options={"state": state})
    return env


def test_gymnasium_finds_nothing_to_complain_about() -> None:
    """Except that the velocity has no bounds, as CartPole's has none."""
    register_environments()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*infinity. This is probably too (low|high)")
        check_env(gymnasium.make(PUCK_ID, render_mode="rgb_array").unwrapped)
        check_env(gymnasium.make(PUCK_ID).unwrapped)


def test_registered_under_its_name_and_without_a_time_limit() -> None:
    register_environments()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_environments()
    env = gymnasium.make(PUCK_ID, beta=0.2, wall=3)
    assert env.unwrapped.puck == Puck(beta=0.2, wall=3.0)  # type: ignore[attr-defined]
    assert env.spec is not None
    assert env.spec.max_episode_steps is None


def test_the_passive_checker_accepts_a_whole_trial() -> None:
    register_environments()
    env = gymnasium.make(PUCK_ID)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.reset(seed=3)
        terminated = False
        while not terminated:
            observation, reward, terminated, truncated, info = env.step(RIGHT)
            assert env.observation_space.contains(observation)
            assert (reward, truncated, info) == (-1.0 if terminated else 0.0, False, {})
    assert observation[0] >= 2.4


def shown_by(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_distinguo_imports_nothing_heavy() -> None:
    program = "import sys, distinguo; print([m for m in ('numpy', 'numba', 'gymnasium') if m in sys.modules])"
    assert shown_by(program) == "[]"


@pytest.mark.parametrize("imports", ["distinguo, gymnasium", "gymnasium, distinguo"])
def test_the_environment_is_known_whichever_is_imported_first(imports: str) -> None:
    program = f"import {imports}; print(gymnasium.make('distinguo/PuckOnAHill-v0').unwrapped.puck.beta)"
    assert shown_by(program) == "0.3"


def test_the_environment_is_found_by_the_name_of_its_package() -> None:
    program = (
        "import gymnasium; print(gymnasium.make('distinguo:distinguo/PuckOnAHill-v0').unwrapped.puck.beta)"
    )
    assert shown_by(program) == "0.3"


def test_trials_start_on_the_top_or_where_the_options_say() -> None:
    env = PuckOnAHillEnv()
    assert env.reset(seed=1)[0].tolist() == [0.0, 0.0]
    assert env.reset(options={})[0].tolist() == [0.0, 0.0]
    for state in [(1.5, -2.0), [1.5, -2.0], np.array([1.5, -2.0]), np.array([1.5, -2.0], dtype=np.float32)]:
        observation, info = env.reset(options={"state": state})
        assert (observation.tolist(), info) == ([1.5, -2.0], {})
        assert observation.dtype == np.float64


@pytest.mark.parametrize(
    "state", [(math.nan, 0.0), (0.0, math.inf), (1.0,), (1.0, 2.0, 3.0), 1.0, "ab", None]
)
def test_a_state_that_is_not_two_finite_numbers(state: Any) -> None:
    with pytest.raises(ValueError, match=r"The state must be two finite numbers, got .*; try for example"):
        PuckOnAHillEnv().reset(options={"state": state})


@pytest.mark.parametrize("x", [2.4, -2.4, 100.0])
def test_a_state_beyond_the_wall(x: float) -> None:
    with pytest.raises(
        ValueError, match=rf"x between the walls at -2.4 and 2.4, got {x}; start farther inside"
    ):
        PuckOnAHillEnv().reset(options={"state": (x, 0.0)})


def test_an_unknown_option() -> None:
    with pytest.raises(ValueError, match=r"Unknown option 'stat' of reset\(\); did you mean 'state'\?"):
        PuckOnAHillEnv().reset(options={"stat": (0.0, 0.0)})
    with pytest.raises(ValueError, match=r"Unknown option 'low' of reset\(\); known: state\."):
        PuckOnAHillEnv().reset(options={"state": (0.0, 0.0), "low": -1})


@pytest.mark.parametrize("action", [2, -1, 0.5, None, "left", np.array([1])])
def test_an_action_that_is_neither_push(action: Any) -> None:
    env = started()
    with pytest.raises(ValueError, match=r"The action must be 0 \(left\) or 1 \(right\), got"):
        env.step(action)
    assert env.state == (0.0, 0.0)


@pytest.mark.parametrize(
    ("parameter", "value"), [("beta", -1.0), ("mass", math.nan), ("wall", math.inf), ("force", "strong")]
)
def test_a_parameter_out_of_range(parameter: str, value: Any) -> None:
    with pytest.raises(DistinguoError, match=f"task.{parameter} .*, got"):
        PuckOnAHillEnv(**{parameter: value})


def test_an_unknown_render_mode() -> None:
    with pytest.raises(DistinguoError, match="render_mode must be None or 'rgb_array', got 'human'"):
        PuckOnAHillEnv(render_mode="human")


def test_a_trial_must_be_under_way() -> None:
    env = PuckOnAHillEnv(render_mode="rgb_array")
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(LEFT)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.render()
    env.reset(options={"state": (2.39, 5.0)})
    assert env.step(LEFT)[2]
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(LEFT)


@kernel
def follow(task: Puck, s: tuple[float, float], pushes: np.ndarray, rows: np.ndarray) -> None:
    for i in range(len(pushes)):
        s, reward, fell = transition(task, s, pushes[i])
        rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3] = s[0], s[1], reward, fell


def test_the_same_bits_as_the_compiled_task() -> None:
    """Trials of random pushes, one after the other, for 300 steps."""
    env, task = PuckOnAHillEnv(), Puck()
    rng = np.random.default_rng(5)
    steps = 0
    while steps < 300:
        state = tuple(rng.uniform((-0.5, -0.5), (0.5, 0.5)).tolist())
        env.reset(options={"state": state})
        pushes, rows, fell = [], [], False
        while not fell:
            pushes.append(int(rng.integers(0, 2)))
            observation, reward, fell, _, _ = env.step(pushes[-1])
            rows.append([*observation, reward, float(fell)])
        compiled = np.empty((len(pushes), 4))
        follow(task, state, np.array(pushes), compiled)
        assert np.array(rows).tobytes() == compiled.tobytes()
        steps += len(pushes)


def picture(env: PuckOnAHillEnv) -> np.ndarray:
    frame = env.render()
    assert frame is not None
    return frame


def puck_column(env: PuckOnAHillEnv) -> float:
    """Return the middle of the pixels in the puck's own colour."""
    return float(np.nonzero((picture(env) == (38, 42, 52)).all(axis=2))[1].mean())


def test_the_picture_shows_where_the_puck_is() -> None:
    frame = picture(started())
    assert frame.shape == (400, 600, 3)
    assert frame.dtype == np.uint8
    columns = [puck_column(started((x, 0.0))) for x in (-2.0, -1.0, 0.0, 1.0, 2.0)]
    assert columns[2] == pytest.approx(299.5, abs=0.5)
    assert np.diff(columns).min() > 80
    assert columns[0] + columns[4] == pytest.approx(599.0, abs=1.0)


def test_the_picture_shows_the_last_push() -> None:
    still, left, right = started(), started(), started()
    left.step(LEFT)
    right.step(RIGHT)
    assert np.array_equal(picture(left)[:, ::-1], picture(right))
    changed = np.nonzero((picture(left) != picture(still)).any(axis=2))
    assert 200 < len(changed[0]) < 800
    assert changed[0].max() < 130  # all above the hill


@pytest.mark.parametrize("parameters", [{"beta": 100.0}, {"wall": 1e6}, {"wall": 1e-3, "beta": 1e-3}])
def test_any_hill_fits_the_picture(parameters: dict[str, float]) -> None:
    env = started(**parameters)
    env.reset(options={"state": (0.9 * env.puck.wall, 1e9)})
    env.step(RIGHT)  # far behind the wall, but drawn at it
    assert 540 < puck_column(env) < 572


def test_without_a_render_mode_nothing_is_drawn() -> None:
    env = PuckOnAHillEnv()
    env.reset()
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert env.render() is None
