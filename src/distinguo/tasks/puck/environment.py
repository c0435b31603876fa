"""The puck-on-a-hill task as a Gymnasium environment, ``distinguo/PuckOnAHill-v0``.

It steps with the same ``transition`` as the compiled task, so a trial has the same bits in both. Trials end
at a wall and nowhere else: wrap the environment in ``gymnasium.wrappers.TimeLimit`` to stop good ones.
"""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete

from distinguo.errors import DistinguoError, did_you_mean
from distinguo.settings import checked
from distinguo.tasks.puck.drawing import draw
from distinguo.tasks.puck.puck import Puck, PuckState
from distinguo.tasks.task import State, actions, start, transition

_PAPER = Puck()


class PuckOnAHillEnv(gymnasium.Env[np.ndarray, int]):
    """Push a puck left (0) or right (1) so that it stays on the hill; hitting a wall is worth -1.

    The parameters are those of ``Puck``. An observation is ``(x, v)``. Its ``x`` lies between the walls until
    the trial ends, and then as far behind one as the last step carried the puck; as no speed is too high, the
    space has infinite bounds. ``reset(options={"state": (x, v)})`` starts a trial from a chosen state.

    >>> env = PuckOnAHillEnv()
    >>> env.reset(options={"state": (0.0, 1.0)})
    (array([0., 1.]), {})
    >>> env.step(1)
    (array([0.02, 1.06]), 0.0, False, False, {})
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 as in gymnasium

    def __init__(
        self,
        *,
        beta: float = _PAPER.beta,
        gravity: float = _PAPER.gravity,
        mass: float = _PAPER.mass,
        force: float = _PAPER.force,
        interval: float = _PAPER.interval,
        wall: float = _PAPER.wall,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise DistinguoError(
                f"render_mode must be None or 'rgb_array', got {render_mode!r}; choose either."
            )
        parameters = Puck(beta, gravity, mass, force, interval, wall)
        self.puck = checked(Puck, parameters._asdict(), "task")
        self.render_mode = render_mode
        self.action_space = Discrete(actions(self.puck))  # type: ignore[assignment]
        self.observation_space = Box(-np.inf, np.inf, shape=(2,), dtype=np.float64)
        self.state: State | None = None
        self.last_push: int | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start a trial on the top of the hill, or at ``options["state"]``.

        >>> PuckOnAHillEnv().reset(seed=1)
        (array([0., 0.]), {})
        """
        chosen = _chosen_start(self.puck, options or {})
        super().reset(seed=seed)
        self.state = start(self.puck, self.np_random) if chosen is None else chosen
        self.last_push = None
        return np.array(self.state), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Push the puck for one interval; the trial is over when it comes to a wall.

        >>> env = PuckOnAHillEnv()
        >>> observation, info = env.reset(options={"state": (2.35, 5.0)})
        >>> observation, reward, terminated, truncated, info = env.step(0)
        >>> reward, terminated, truncated
        (-1.0, True, False)
        """
        if not self.action_space.contains(action):
            raise DistinguoError(
                f"The action must be 0 (left) or 1 (right), got {action!r}; push either way."
            )
        if self.state is None or not -self.puck.wall < self.state[0] < self.puck.wall:
            raise ResetNeeded("A trial must be under way to take a step; call reset() first.")
        x, v = self.state
        self.last_push = int(action)
        self.state, reward, fell = transition(self.puck, (float(x), float(v)), self.last_push)
        return np.array(self.state), reward, fell, False, {}

    def render(self) -> np.ndarray | None:
        """Draw the hill, the walls, the puck, and the last push as an arrow: 400 x 600 pixels of RGB.

        >>> env = PuckOnAHillEnv(render_mode="rgb_array")
        >>> observation, info = env.reset()
        >>> env.render().shape
        (400, 600, 3)
        """
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() draws only with a render_mode; make it with render_mode='rgb_array'."
            )
            return None
        if self.state is None:
            raise ResetNeeded("A trial must be under way to be drawn; call reset() first.")
        return draw(self.puck, float(self.state[0]), self.last_push)


def _chosen_start(puck: Puck, options: dict[str, Any]) -> PuckState | None:
    """Return the state that the options of a reset ask for, if any."""
    for key in options:
        if key != "state":
            raise DistinguoError(f"Unknown option {key!r} of reset(); {did_you_mean(str(key), ['state'])}")
    return _checked_state(puck, options["state"]) if options else None


def _checked_state(puck: Puck, state: Any) -> PuckState:
    try:
        x, v = (float(number) for number in state)
    except (TypeError, ValueError):
        x = v = math.nan
    if not (math.isfinite(x) and math.isfinite(v)):
        raise DistinguoError(
            f"The state must be two finite numbers, got {state!r}; try for example (0.0, 0.0)."
        )
    if not -puck.wall < x < puck.wall:
        walls = f"the walls at -{puck.wall} and {puck.wall}"
        raise DistinguoError(f"The state must have its x between {walls}, got {x}; start farther inside.")
    return x, v
