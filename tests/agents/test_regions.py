"""Regions as observations for the agents of others."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np
import pytest

import distinguo
from distinguo.agents.regions import RegionObservation
from distinguo.errors import DistinguoError
from distinguo.representations.categories import categories
from distinguo.representations.file import Representation, dumps
from distinguo.representations.partition import region
from distinguo.representations.voronoi import voronoi
from tests.agents.common import CART, QUICK


def divided() -> Representation:
    rng = np.random.default_rng(0)
    primary = [0, 1, 1, 3, 4, 1, 6, 7]  # the numbers of primaries have gaps
    partition = voronoi(rng.normal(size=(8, 4)), [4.8, 3.0, 0.4, 3.0], primary)
    return Representation(partition, ("x", "v", "angle", "angular_v"))


def test_numbers_are_dense_and_tell_regions_apart() -> None:
    env, given = RegionObservation(gymnasium.make(CART), divided()), divided()
    assert env.observation_space == gymnasium.spaces.Discrete(6)
    rows = np.random.default_rng(1).normal(size=(500, 4)).astype(np.float32)
    pairs = {(region(given.partition, tuple(map(float, row))), int(env.observation(row))) for row in rows}
    assert pairs == {(j, j) for j in range(6)}


def test_one_hot_vectors_say_the_same() -> None:
    number = RegionObservation(gymnasium.make(CART), divided())
    vector = RegionObservation(gymnasium.make(CART), divided(), one_hot=True)
    for row in np.random.default_rng(2).normal(size=(20, 4)).astype(np.float32):
        found = vector.observation(row)
        assert found.dtype == np.float32
        assert found.tolist() == [float(n == number.observation(row)) for n in range(6)]


def test_a_file_and_a_run_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(dumps(divided()))
    assert RegionObservation(gymnasium.make(CART), tmp_path / "r.json").observation_space.n == 6
    run = distinguo.learn("puck", seed=1, settings=QUICK, out=tmp_path / "run")
    env = RegionObservation(gymnasium.make("distinguo/PuckOnAHill-v0"), str(tmp_path / "run"))
    assert env.observation_space.n == run.representation.regions


def test_categories_are_regions_too() -> None:
    lake = Representation(categories([[0.0], [4.0], [8.0]]), ("o0",))
    env = RegionObservation(gymnasium.make("FrozenLake-v1"), lake)
    assert env.observation_space.n == 3
    assert int(env.reset(seed=0)[0]) == 0


def test_misfits_are_told(tmp_path: Path) -> None:
    with pytest.raises(DistinguoError, match=r"MountainCar-v0 has 2 coordinates, .* divides 4 \(x, v, angle"):
        RegionObservation(gymnasium.make("MountainCar-v0"), divided())
    with pytest.raises(DistinguoError, match="Cannot read"):
        RegionObservation(gymnasium.make(CART), tmp_path / "none.json")
    with pytest.raises(DistinguoError, match="a run folder, got dict"):
        RegionObservation(gymnasium.make(CART), {})  # type: ignore[arg-type]
