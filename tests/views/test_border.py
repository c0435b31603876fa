"""A map of two prototypes is a half-space, and is told as one."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from distinguo.distillation.distil import Distilled
from distinguo.representations.partition import region
from distinguo.representations.voronoi import voronoi
from distinguo.views.descriptions import border_in_words, border_of
from tests.distillation.conftest import swung

__all__ = ["swung"]  # a fixture

NUMBERS = st.floats(-10.0, 10.0, width=16)


@given(
    arrays(float, (2, 3), elements=NUMBERS),
    arrays(float, (3,), elements=st.floats(0.125, 8.0, width=16)),
    arrays(float, (20, 3), elements=NUMBERS),
)
def test_the_border_is_where_both_are_as_near(
    places: np.ndarray, scale: np.ndarray, states: np.ndarray
) -> None:
    partition = voronoi(places, scale)
    weights, bound = border_of(partition)
    for s in states:
        above = float(weights @ s) - bound
        if abs(above) > 1e-6 * (1.0 + abs(bound)):
            assert region(partition, tuple(s)) == int(above > 0)


def test_the_sentence_says_what_the_map_does(swung: Distilled) -> None:
    sentence = border_in_words(swung.run)
    found = re.fullmatch(r"(\w+) if (\w+) ([+-]) (\S+) (\w+) > (\S+), else (\w+)", sentence)
    assert found, sentence
    above, lead, sign, factor, other, bound, below = found.groups()
    names = swung.run.configuration.spec.dimensions
    states = np.random.default_rng(0).uniform([-1.2, -0.07], [0.6, 0.07], (500, 2))
    for s in states:
        seen = dict(zip(names, s, strict=True))
        amount = seen[lead] + (1 if sign == "+" else -1) * float(factor) * seen[other] - float(bound)
        if abs(amount) > 1e-3 * abs(float(bound)) + 1e-4:
            assert swung.run.action(tuple(s)) == (above if amount > 0 else below)


def test_other_maps_have_no_such_border(swung: Distilled) -> None:
    run = swung.run
    for places in ([[0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]):
        partition = voronoi(places, [1.0, 1.0])
        other = run._replace(representation=run.representation._replace(partition=partition))
        assert border_in_words(other) == ""
