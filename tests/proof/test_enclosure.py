"""The enclosure of a cell holds the image of every state of it, as the program computes it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.errors import DistinguoError
from distinguo.proof.enclosure import axes, coordinates, cover, enclose, grid_over, state
from distinguo.proof.hold.puck import pucks
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import transition

unit = st.floats(0, 1)
cells = st.tuples(st.floats(-4, 4), st.floats(-14, 14), st.floats(0, 0.5), st.floats(0, 0.5))
parameters = st.builds(
    Puck,
    beta=st.floats(0.05, 2),
    gravity=st.floats(1, 20),
    mass=st.floats(0.1, 10),
    force=st.floats(0.1, 20),
    interval=st.floats(0.001, 0.2),
    wall=st.floats(0.5, 5),
)


def trigonometric(task: Puck, s, a):
    """Figure 7's own formula, with sines and cosines."""
    theta = math.atan(-2 * task.beta * s[0])
    f = task.force if a == 1 else -task.force
    pull = (f - task.mass * task.gravity * math.sin(theta)) * math.cos(theta) / task.mass
    return s[0] + task.interval * s[1], s[1] + task.interval * pull


def corner(cell, share):
    return tuple(low + width * part for low, width, part in zip(cell[:2], cell[2:], share, strict=True))


def check(spec, task, cell, share, a, shake=(0.0, 0.0)):
    low, high, stays = enclose(spec, corner(cell, (0, 0)), corner(cell, (1, 1)), a)
    s = state(axes(spec), corner(cell, share))
    (x, v), _, fell = transition(task, s, a)
    for image in ((x, v), trigonometric(task, s, a)):
        image = (image[0] + shake[0], image[1] + shake[1])
        w = coordinates(axes(spec), image)
        assert all(a <= b <= c for a, b, c in zip(low, w, high, strict=True))
        if stays:
            assert abs(image[0]) < task.wall
            assert not fell


@settings(max_examples=400, deadline=None)
@given(parameters, cells, st.tuples(unit, unit), st.integers(0, 1))
def test_holds_the_image_of_every_state(task, cell, share, a):
    check(task, task, cell, share, a)


@settings(max_examples=400, deadline=None)
@given(
    parameters,
    parameters,
    st.tuples(unit, unit, unit, unit, unit, unit),
    cells,
    st.tuples(unit, unit),
    st.integers(0, 1),
    st.tuples(st.floats(0, 0.05), st.floats(0, 0.05)),
    st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
)
def test_holds_it_for_every_parameter_and_disturbance(one, two, parts, cell, share, a, disturbance, shake):
    low, high = Puck(*map(min, one, two)), Puck(*map(max, one, two))
    task = Puck(*(min(max(p + (q - p) * t, p), q) for p, q, t in zip(low, high, parts, strict=True)))
    off = (disturbance[0] * shake[0], disturbance[1] * shake[1])
    check(pucks(low, high, disturbance), task, cell, share, a, off)


def test_is_not_much_larger_than_the_image():
    low, high, stays = enclose(Puck(), (1.0, -1.0), (1.001, -0.999), 0)
    assert stays
    assert high[0] - low[0] < 0.00106
    assert high[1] - low[1] < 0.00097


def test_a_cell_at_the_wall_does_not_stay():
    middle = coordinates(axes(Puck()), (2.39, 1.0))
    assert not enclose(Puck(), middle, middle, 0)[2]


def test_numbers_that_are_none_never_stay():
    for bad in (math.nan, math.inf):
        assert not enclose(Puck(), (bad, 0.0), (bad, 0.0), 0)[2]
        assert cover(grid_over(Puck(), (10, 10)), (bad, 0.0), (bad, 0.0))[0] == -1


def test_ranges_must_be_ranges():
    with pytest.raises(DistinguoError, match="range of mass"):
        pucks(Puck(mass=2.0), Puck(mass=1.0))
    with pytest.raises(DistinguoError, match="disturbance"):
        pucks(Puck(), Puck(), (-1.0, 0.0))


def test_the_grid_covers_what_it_should():
    grid = grid_over(Puck(), (400, 200))
    rng = np.random.default_rng(0)
    for y, z in rng.uniform((-3, -11), (3, 11), (500, 2)):
        i0, i1, j0, j1 = cover(grid, (y, z), (y + 0.02, z + 0.2))
        assert grid.low[0] + i0 * grid.pitch[0] <= y <= y + 0.02 <= grid.low[0] + (i1 + 1) * grid.pitch[0]
        assert grid.low[1] + j0 * grid.pitch[1] <= z <= z + 0.2 <= grid.low[1] + (j1 + 1) * grid.pitch[1]
