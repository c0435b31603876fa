"""A learned representation for other agents: an environment whose observation is a region."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from distinguo.errors import DistinguoError
from distinguo.representations.file import Representation, load
from distinguo.representations.partition import regions_of
from distinguo.runs.folder import map_file
from distinguo.tasks.gym.spaces import view_of


class RegionObservation(gymnasium.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """Observe the region of an observation, and nothing else.

    ``representation`` is a representation, or the path of its file or of a run folder. The regions are numbered
    0, 1, 2, … as everywhere. An observation is this number, from a ``Discrete`` space, or, with ``one_hot``, a vector
    of zeros with a one in its place, as neural networks need it.

    >>> from distinguo.representations.boxes import grid
    >>> halves = Representation(grid([2, 1], low=[-1.2, -0.07], high=[0.6, 0.07]), ("x", "v"))
    >>> env = RegionObservation(gymnasium.make("MountainCar-v0"), halves, one_hot=True)
    >>> env.observation_space.shape, env.observation(np.array([0.3, 0.0]))
    ((2,), array([0., 1.], dtype=float32))
    """

    def __init__(
        self, env: Any, representation: Representation | str | os.PathLike[str], one_hot: bool = False
    ) -> None:
        RecordConstructorArgs.__init__(self, representation=representation, one_hot=one_hot)
        super().__init__(env)
        self.representation, source = opened(representation)
        self.one_hot = one_hot
        self._name = env.unwrapped.spec.id if env.unwrapped.spec else type(env.unwrapped).__name__
        self._view = view_of(env.observation_space, self._name)
        _check_coordinates(self._name, self._view.names, self.representation, source)
        self._row = np.empty((1, len(self._view.names)))
        self._count = self.representation.regions
        self.observation_space = _space(self._count, one_hot)

    def observation(self, observation: Any) -> Any:
        """Return the number of the observation's region, or its one-hot vector."""
        self._row[0] = self._view.flatten(observation)
        number = regions_of(self.representation.partition, self._row)[0]
        if not self.one_hot:
            return number
        vector = np.zeros(self._count, dtype=np.float32)
        vector[number] = 1.0
        return vector


def opened(given: Any) -> tuple[Representation, str]:
    """Return a representation, given itself or by a path, and its name for messages."""
    if isinstance(given, Representation):
        return given.with_regions("An observation of regions"), "the representation"
    if not isinstance(given, str | os.PathLike):
        kind = type(given).__name__
        raise DistinguoError(
            f"The representation should be a Representation, or the path of its file or of a run folder, got {kind}."
        )
    path = Path(given)
    known = load(map_file(path) if path.is_dir() else path)
    return known.with_regions("An observation of regions"), str(path)


def _check_coordinates(
    name: str, names: tuple[str, ...], representation: Representation, source: str
) -> None:
    ours = representation.dimensions
    if len(names) != len(ours):
        raise DistinguoError(
            f"An observation of {name} has {len(names)} coordinates, but {source} divides {len(ours)} "
            f"({', '.join(ours[:8])}{', …' if len(ours) > 8 else ''}); take one that was learned for {name}."
        )


def _space(regions: int, one_hot: bool) -> Any:
    if one_hot:
        return spaces.Box(0.0, 1.0, shape=(regions,), dtype=np.float32)
    return spaces.Discrete(regions)
