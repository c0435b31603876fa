"""The palette is told apart by eyes that see no difference between red and green."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.colors import to_rgb

from distinguo.views.plots import FEW, HUES, PALEST, UNDECIDED, shaded

#: Machado, Oliveira and Fernandes (2009): deuteranopia, for linear red, green and blue.
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(axis=1)


def linear(rgb: tuple[float, ...]) -> np.ndarray:
    values = np.array(rgb)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    x, y, z = np.cbrt(TO_XYZ @ rgb / WHITE)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one: tuple[float, ...], other: tuple[float, ...], seen: np.ndarray) -> float:
    """Return how far two colours are apart in CIELAB, as these eyes see them."""
    a, b = (lab(np.clip(seen @ linear(colour), 0, 1)) for colour in (one, other))
    return float(np.hypot(np.hypot(*(a - b)[:2]), (a - b)[2]))


def test_the_simulation_confuses_what_such_eyes_confuse() -> None:
    red, green = (0.75, 0.25, 0.1), (0.42, 0.42, 0.1)
    assert distance(red, green, np.eye(3)) > 45
    assert distance(red, green, DEUTERANOPIA) < 15


def test_hues_are_told_apart_by_colour_blind_eyes() -> None:
    for one, other in combinations([*HUES, UNDECIDED], 2):
        assert distance(to_rgb(one), to_rgb(other), DEUTERANOPIA) > 10, (one, other)
    for one, other in combinations(HUES[:FEW], 2):
        assert distance(to_rgb(one), to_rgb(other), DEUTERANOPIA) > 15, (one, other)


def test_the_two_actions_of_most_tasks_are_told_apart_even_when_pale() -> None:
    pale = [shaded(hue, PALEST) for hue in HUES[:2]]
    assert distance(pale[0], pale[1], DEUTERANOPIA) > 15
