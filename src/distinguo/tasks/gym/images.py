"""Images as fewer numbers: means of blocks, and changes since the previous observation."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import RecordConstructorArgs

from distinguo.errors import DistinguoError, shown

POOL, DIFFERENCES = "pool", "differences"
MOST_MEANS = 64  #: numbers that an image is pooled to
LARGE = 500  #: numbers from which on an image should be pooled


def is_large_image(space: Any) -> bool:
    """Whether observations are images of many numbers.

    >>> is_large_image(Box(0, 255, (40, 40, 3), np.uint8)), is_large_image(Box(0, 255, (7, 7, 3), np.uint8))
    (True, False)
    """
    image = isinstance(space, Box) and space.dtype == np.uint8 and len(space.shape) in (2, 3)
    return image and math.prod(space.shape) > LARGE


def checked_features(given: Any) -> tuple[str, ...]:
    """The names in a word such as ``pool+differences``.

    >>> checked_features("pool+differences")
    ('pool', 'differences')
    """
    names = tuple(given.replace(",", "+").split("+")) if isinstance(given, str) else ()
    if not names or len(set(names)) < len(names) or not set(names) <= {POOL, DIFFERENCES}:
        raise DistinguoError(
            f"Features (task.features) are {POOL}, {DIFFERENCES} or {POOL}+{DIFFERENCES}, got {shown(given)}."
        )
    return names


class ReducedObservation(gymnasium.ObservationWrapper[Any, int, Any], RecordConstructorArgs):
    """Reduce the observations of a Box.

    ``pool`` takes the means of rectangular blocks of the first two dimensions, as many as make at most 64 numbers.
    ``differences`` adds the change since the previous observation, 0 at the beginning of a trial.

    >>> class Camera(gymnasium.Env):
    ...     observation_space, action_space = Box(0, 255, (80, 60, 3), np.uint8), gymnasium.spaces.Discrete(2)
    >>> ReducedObservation(Camera(), "pool").observation_space.shape
    (4, 4, 3)
    >>> ReducedObservation(Camera(), "pool+differences").observation_space.shape
    (2, 4, 4, 3)
    """

    def __init__(self, env: Any, features: str) -> None:
        RecordConstructorArgs.__init__(self, features=features)
        super().__init__(env)
        self.names, self.box = checked_features(features), env.observation_space
        if not isinstance(self.box, Box) or not math.prod(self.box.shape):
            raise DistinguoError(f"Features are for observations of a Box, got {self.box}; leave them out.")
        self.previous: np.ndarray | None = None
        low, high = self._pooled(self.box.low), self._pooled(self.box.high)
        if DIFFERENCES in self.names:
            low, high = np.stack([low, low - high]), np.stack([high, high - low])
        self.observation_space = Box(low, high, dtype=np.float64)

    def reset(self, **named: Any) -> Any:
        """Begin a trial."""
        self.previous = None
        return super().reset(**named)

    def observation(self, observation: Any) -> Any:
        """Reduce the next observation of a trial."""
        return self.reduced(observation)

    def reduced(self, observation: Any) -> Any:
        """Return the numbers of an observation, and remember it; something else is returned as it is."""
        if np.shape(observation) != self.box.shape or np.asarray(observation).dtype.kind not in "biuf":
            return observation  # what reads it reports what is wrong
        now = self._pooled(np.asarray(observation))
        if DIFFERENCES not in self.names:
            return now
        before, self.previous = now if self.previous is None else self.previous, now
        return np.stack([now, now - before])

    def _pooled(self, observation: np.ndarray) -> np.ndarray:
        values = observation.astype(np.float64)
        if POOL not in self.names:
            return values
        for axis, blocks in enumerate(_blocks(values.shape)):
            size = values.shape[axis]
            edges = np.arange(blocks) * size // blocks
            counts = np.diff([*edges, size]).reshape([-1 if a == axis else 1 for a in range(values.ndim)])
            with np.errstate(invalid="ignore"):  # bounds may be infinite
                values = np.add.reduceat(values, edges, axis=axis) / counts
        return values


def _blocks(shape: tuple[int, ...]) -> list[int]:
    """How many blocks there are along the first two dimensions: as many as make few enough numbers."""
    rest = math.prod(shape[2:])
    most = 1
    while most < max(shape[:2]) and math.prod(min(side, most + 1) for side in shape[:2]) * rest <= MOST_MEANS:
        most += 1
    return [min(side, most) for side in shape[:2]]
