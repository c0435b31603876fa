"""The puck-on-a-hill task as a Gymnasium environment, ``distinguo/PuckOnAHill-v0``.

It steps with the same ``transition`` as the compiled task, so a trial has the same bits in both. Trials end
at a wall and nowhere else: wrap the environment in ``gymnasium.wrappers.TimeLimit`` to stop good ones.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete

from distinguo.errors import DistinguoError, did_you_mean
from distinguo.settings import checked
from distinguo.tasks.puck.puck import RIGHT, Puck, PuckState
from distinguo.tasks.task import State, actions, start, transition

_HEIGHT, _WIDTH = 400, 600
_CREST, _FOOT = 130, 345  #: rows of the top of the hill and, at most, of its ends
_MARGIN = 45  #: columns outside the walls
_PUCK = (17.0, 7.0)  #: half length and half thickness
_SKY, _EARTH, _GRASS = (236, 242, 248), (121, 134, 112), (84, 100, 78)
_STONE, _RUBBER, _ARROW = (94, 99, 110), (38, 42, 52), (214, 84, 45)
_ROWS, _COLUMNS = np.ogrid[0.5:_HEIGHT, 0.5:_WIDTH]
#: The walls stand where the rim of a puck touches them, and hide everything behind.
_WALLS = np.maximum(_WIDTH / 2 - _MARGIN + _PUCK[0] - np.abs(_COLUMNS - _WIDTH / 2), 60.0 - _ROWS)


def draw(puck: Puck, x: float, push: int | None) -> np.ndarray:
    """Return the hill, the walls, the puck at ``x`` and the last push as 400 x 600 pixels of RGB.

    >>> draw(Puck(), 0.0, RIGHT).shape
    (400, 600, 3)
    """
    frame = _scene(puck).copy()
    part, along, above = _seen_from_puck(frame, puck, min(max(x, -puck.wall), puck.wall))
    _paint(part, _bar(along, above - _PUCK[1], *_PUCK, round_by=4.0), _RUBBER)
    if push is not None:
        _paint(part, _arrow(along if push == RIGHT else -along, above - 36.0), _ARROW)
    _paint(frame, _WALLS, _STONE)
    pixels: np.ndarray = np.rint(frame).astype(np.uint8)
    return pixels


def _paint(frame: np.ndarray, distance: np.ndarray, colour: tuple[int, int, int]) -> None:
    rows, columns = np.nonzero(distance < 0.5)
    cover = np.minimum(0.5 - distance[rows, columns], 1.0)[:, None]
    frame[rows, columns] += cover * (np.array(colour) - frame[rows, columns])


def _scales(puck: Puck) -> tuple[float, float]:
    """Pixels per metre: the same both ways, unless the hill is too high for the picture."""
    across = (_WIDTH / 2 - _MARGIN) / puck.wall
    return across, min(across, (_FOOT - _CREST) / (puck.beta * puck.wall**2))


@functools.lru_cache(maxsize=8)
def _scene(puck: Puck) -> np.ndarray:
    """The background, drawn once per hill."""
    frame = np.full((_HEIGHT, _WIDTH, 3), _SKY, dtype=np.float32)
    across, down = _scales(puck)
    x = (_COLUMNS - _WIDTH / 2) / across
    steepness = 2.0 * puck.beta * x * down / across
    depth = (_ROWS - _CREST - down * puck.beta * x**2) / np.hypot(1.0, steepness)
    _paint(frame, -depth, _EARTH)
    _paint(frame, np.abs(depth - 2.0) - 2.0, _GRASS)
    return frame


def _seen_from_puck(frame: np.ndarray, puck: Puck, x: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pixels near the puck, how far right of it along the slope they are, and how far above."""
    across, down = _scales(puck)
    row, column = _CREST + down * puck.beta * x * x, _WIDTH / 2 + across * x
    near = slice(max(int(row) - 64, 0), int(row) + 64), slice(max(int(column) - 64, 0), int(column) + 64)
    angle = math.atan(2.0 * puck.beta * x * down / across)
    right, below = _COLUMNS[:, near[1]] - column, _ROWS[near[0]] - row
    along = right * math.cos(angle) + below * math.sin(angle)
    return frame[near], along, right * math.sin(angle) - below * math.cos(angle)


def _bar(along: np.ndarray, above: np.ndarray, length: float, height: float, round_by: float) -> np.ndarray:
    past_end, past_top = np.abs(along) - length + round_by, np.abs(above) - height + round_by
    outside = np.hypot(np.maximum(past_end, 0.0), np.maximum(past_top, 0.0))
    distance: np.ndarray = outside + np.minimum(np.maximum(past_end, past_top), 0.0) - round_by
    return distance


def _arrow(along: np.ndarray, above: np.ndarray) -> np.ndarray:
    shaft = _bar(along + 6.0, above, 20.0, 2.5, round_by=1.0)
    head = np.maximum(12.0 - along, (2.0 * np.abs(above) + along - 32.0) / math.sqrt(5.0))
    distance: np.ndarray = np.minimum(shaft, head)
    return distance


_PAPER = Puck()


class PuckOnAHillEnv(gymnasium.Env[np.ndarray, int]):
    """Push a puck left (0) or right (1) so that it stays on the hill; hitting a wall is worth -1.

    The parameters are those of ``Puck``. An observation is ``(x, v)``. Its ``x`` lies between the walls until the
    last step of a trial, which may carry the puck behind one. Speed has no limit, so the space has infinite bounds.
    ``reset(options={"state": (x, v)})`` starts a trial from a chosen state.

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
        """Push the puck for one interval; the trial ends when it hits a wall.

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
