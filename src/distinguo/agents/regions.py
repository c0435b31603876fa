"""A learned representation for other agents: an environment whose observation is a region."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector.utils import batch_space, iterate

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
        if isinstance(env, gymnasium.vector.VectorEnv):
            raise DistinguoError(
                "RegionObservation takes one environment, got a vector of them; take "
                "distinguo.VectorRegionObservation."
            )
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


class VectorRegionObservation(gymnasium.vector.VectorWrapper):
    """Observe the regions of all environments of a vector, which are found together.

    >>> from distinguo.representations.boxes import grid
    >>> halves = Representation(grid([2, 1], low=[-1.2, -0.07], high=[0.6, 0.07]), ("x", "v"))
    >>> envs = gymnasium.make_vec("MountainCar-v0", num_envs=3, vectorization_mode="sync")
    >>> envs = VectorRegionObservation(envs, halves, one_hot=True)
    >>> envs.reset(seed=1)[0].tolist()
    [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    """

    def __init__(
        self, env: Any, representation: Representation | str | os.PathLike[str], one_hot: bool = False
    ) -> None:
        if not isinstance(env, gymnasium.vector.VectorEnv):
            raise DistinguoError(
                f"VectorRegionObservation takes a vector of environments, as gymnasium.make_vec makes, got "
                f"{type(env).__name__}; take distinguo.RegionObservation for one."
            )
        super().__init__(env)
        self.representation, source = opened(representation)
        self.one_hot = one_hot
        name = env.spec.id if env.spec else "the environment"
        self._inner, self._view = env.single_observation_space, view_of(env.single_observation_space, name)
        _check_coordinates(name, self._view.names, self.representation, source)
        self.single_observation_space = _space(self.representation.regions, one_hot)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        """Begin trials."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return self.observations(observations), infos

    def observations(self, observations: Any) -> Any:
        """Return the regions' numbers, or a one-hot vector for each."""
        return self._seen(
            [self._view.flatten(one) for one in iterate(self.env.observation_space, observations)]
        )

    def step(self, actions: Any) -> Any:
        """Take a step; the last observations of trials that ended are regions, too."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        if "final_obs" in infos:
            last = infos["final_obs"]
            infos = {**infos, "final_obs": np.array([None] * len(last), dtype=object)}
            for n, one in enumerate(last):
                if one is not None:
                    infos["final_obs"][n] = self._seen([self._view.flatten(one)])[0]
        return self.observations(observations), rewards, terminated, truncated, infos

    def _seen(self, rows: list[tuple[float, ...]]) -> np.ndarray:
        numbers = regions_of(self.representation.partition, np.array(rows, dtype=float))
        return np.eye(self.representation.regions, dtype=np.float32)[numbers] if self.one_hot else numbers


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
