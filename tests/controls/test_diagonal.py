"""The diagonal against the line that it stands for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from distinguo.controls import diagonal
from distinguo.errors import DistinguoError
from distinguo.representations.file import dumps, loads
from distinguo.representations.partition import region
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.analysis import DIAGONAL_SLOPE, MUST_PUSH_LEFT, MUST_PUSH_RIGHT, analyse

HILL = task_spec("puck")
SLOPES = [DIAGONAL_SLOPE, 0.0, 1.0, -0.01, 40.0]


@pytest.mark.parametrize("slope", SLOPES)
def test_regions_are_the_sides_of_the_line(slope: float) -> None:
    two = diagonal(HILL, slope).partition
    for x, v in np.random.default_rng(0).uniform(HILL.low, HILL.high, (2000, 2)).tolist():
        assert region(two, (x, v)) == (0 if v > slope * x else 1)


@pytest.mark.parametrize("slope", SLOPES)
def test_sides_are_right_up_to_rounding(slope: float) -> None:
    """A state that is off the line by a millionth of a millionth is on the right side already."""
    two = diagonal(HILL, slope).partition
    off = 1e-12 * max(1.0, abs(slope))
    for x in np.random.default_rng(1).uniform(-2.4, 2.4, 1000).tolist():
        assert region(two, (x, slope * x + off)) == 0
        assert region(two, (x, slope * x - off)) == 1


def test_critical_states_are_separated() -> None:
    two, critical = diagonal(HILL).partition, analyse(HILL.task, resolution=0.05)
    assert {region(two, tuple(s)) for s in critical.states(MUST_PUSH_LEFT)} == {0}
    assert {region(two, tuple(s)) for s in critical.states(MUST_PUSH_RIGHT)} == {1}


@pytest.mark.parametrize("slope", SLOPES)
def test_prototypes_mirror_each_other_inside_the_space(slope: float) -> None:
    above, below = diagonal(HILL, slope).partition.prototypes
    assert (above == -below).all()
    assert (np.abs(above) < HILL.high).all()


def test_the_file_tells_how_it_was_made() -> None:
    again = loads(dumps(diagonal(HILL)))
    assert again.dimensions == ("x", "v")
    assert again.provenance["control"] == "diagonal"
    assert again.provenance["slope"] == DIAGONAL_SLOPE
    assert again.provenance["parameters"]["beta"] == 0.3


@pytest.mark.parametrize("slope", [math.nan, math.inf])
def test_a_slope_is_a_number(slope: float) -> None:
    with pytest.raises(DistinguoError, match="finite"):
        diagonal(HILL, slope)
