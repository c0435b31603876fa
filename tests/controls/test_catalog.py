"""The controls by name, and the simple ones among them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from distinguo.cli.parse import prototypes
from distinguo.controls import PAPER_SEEDS, build_representation, representation_names, uniform
from distinguo.errors import DistinguoError
from distinguo.features.feature import vector_of
from distinguo.representations.file import dumps, loads
from distinguo.representations.partition import region
from distinguo.tasks.catalog import task_spec
from tests.controls import needs_speed

NAMES = representation_names()
HILL = task_spec("puck")


@needs_speed
@pytest.mark.parametrize("name", NAMES)
def test_every_name_gives_a_representation_that_survives_its_file(name: str) -> None:
    made = build_representation(name, HILL, seed=3)
    again = loads(dumps(made))
    assert made.dimensions == ("x", "v")
    assert again.provenance == made.provenance
    states = np.random.default_rng(0).uniform(
        np.multiply(HILL.low, 1.2), np.multiply(HILL.high, 1.2), (300, 2)
    )
    for s in map(tuple, states.tolist()):
        if made.of_features:
            np.testing.assert_array_equal(vector_of(again.partition, s), vector_of(made.partition, s))
        else:
            assert region(again.partition, s) == region(made.partition, s) < made.regions


@pytest.mark.parametrize(
    ("word", "meant"),
    [("diagnal", "diagonal"), ("vrdp-enhance", "vrdp-enhanced"), ("gird:10x10", "grid:10x10")],
)
def test_a_misspelt_name_is_met_with_the_right_one(word: str, meant: str) -> None:
    with pytest.raises(DistinguoError, match=f"did you mean '{meant}'"):
        build_representation(word, HILL, seed=0)


@pytest.mark.parametrize(
    "spec", ["grid", "grid:", "grid:10", "grid:axb", "grid:10x", "grid:-1x2", "grid:2x2x2"]
)
def test_a_bad_grid_is_told_what_a_grid_is(spec: str) -> None:
    with pytest.raises(DistinguoError, match=r"^A grid .*, got .*\.$"):
        build_representation(spec, HILL, seed=0)


@pytest.mark.parametrize("counts", [(0, 3), (1000, 1000)])
def test_a_grid_has_a_sensible_size(counts: Sequence[int]) -> None:
    with pytest.raises(DistinguoError, match="from 1 to 100,000 boxes"):
        uniform(HILL, counts)


@pytest.mark.parametrize("counts", [(10, 10), (3, 7), (1, 1)])
def test_a_grid_cuts_equal_intervals(counts: tuple[int, int]) -> None:
    made = uniform(HILL, counts)
    assert made.regions == counts[0] * counts[1]
    for x, v in np.random.default_rng(2).uniform(HILL.low, HILL.high, (500, 2)).tolist():
        i, j = int((x + 2.4) / 4.8 * counts[0]), int((v + 5.5) / 11 * counts[1])
        assert region(made.partition, (x, v)) == i * counts[1] + j


def test_seeds_are_the_points_of_the_paper() -> None:
    made = build_representation("seeds", HILL, seed=0)
    assert made.partition.prototypes.tolist() == [[0.268, 0.62], [-0.268, -0.62]]
    assert prototypes("seeds", ["x", "v"]) is PAPER_SEEDS


@pytest.mark.parametrize("name", ["diagonal", "vrdp", "vrdp-enhanced", "controllability", "seeds"])
def test_controls_of_the_plane_say_so(name: str) -> None:
    cube = HILL._replace(dimensions=("x", "v", "w"), low=(-1.0,) * 3, high=(1.0,) * 3)
    with pytest.raises(DistinguoError, match=f"'{name}' is made for two coordinates"):
        build_representation(name, cube, seed=0)
