"""Each kind of features against its formula, written down again in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.features.bases import perceptron, radial_bases, tiles
from distinguo.features.feature import (
    FunctionFeatures,
    Workspace,
    add_up,
    count_features,
    respond,
    strongest,
    vector_of,
    workspace,
)
from distinguo.representations.boxes import grid
from distinguo.representations.partition import OneHot, region
from distinguo.seam import kernel

LOW, HIGH = (-2.4, -5.5), (2.4, 5.5)


def states(count: int = 200) -> list[tuple[float, float]]:
    """Return states within the extent, on its edges and far outside."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(LOW, HIGH, (count, 2)) * rng.choice([1.0, 1.0, 1.0, 3.0, 1e6], (count, 1))
    return [*map(tuple, rows.tolist()), LOW, HIGH, (0.0, 0.0), (1e99, -1e99)]


def slow_tiles(s: Sequence[float], tilings: int, counts: Sequence[int], steps: Sequence[int]) -> set[Any]:
    """Return the tile of each tiling by counting the edges at or below the state, one after another."""
    found = set()
    for t in range(tilings):
        place = []
        for x, low, high, count, step in zip(s, LOW, HIGH, counts, steps, strict=True):
            edge = [
                low + (high - low) * (k - (t * step % tilings) / tilings) / count for k in range(1, count + 1)
            ]
            place.append(sum(x >= e for e in edge))
        found.add((t, *place))
    return found


@pytest.mark.parametrize(("displacement", "steps"), [("odd", (1, 3)), ("regular", (1, 1))])
@pytest.mark.parametrize(("tilings", "counts"), [(8, (10, 10)), (3, (4, 7)), (1, (5, 2))])
def test_tiles_are_those_of_a_slow_oracle(
    tilings: int, counts: tuple[int, int], displacement: Any, steps: tuple[int, int]
) -> None:
    features = tiles(tilings, counts, LOW, HIGH, displacement)
    names: dict[int, Any] = {}
    seen = set()
    for s in states():
        active = np.flatnonzero(vector_of(features, s))
        expected = slow_tiles(s, tilings, counts, steps)
        assert len(active) == tilings
        for number in active.tolist():
            tiling = number // math.prod(c + 1 for c in counts)
            (tile,) = [tile for tile in expected if tile[0] == tiling]
            assert names.setdefault(number, tile) == tile  # one number, one tile
        seen |= expected
    assert len(set(names.values())) == len(names) == len(seen) > 10
    assert max(names) < count_features(features)


def test_one_tiling_is_a_grid() -> None:
    features, boxes = tiles(1, [4, 6], LOW, HIGH), grid([4, 6], LOW, HIGH)
    places: dict[int, int] = {}
    for s in states():
        if all(x < high for x, high in zip(s, HIGH, strict=True)):
            tile = int(np.flatnonzero(vector_of(features, s))[0])
            assert places.setdefault(tile, region(boxes, s)) == region(boxes, s)
    assert len(set(places.values())) == len(places) == 24


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("counts", [(4, 5), (3, 1)])
def test_radial_bases_are_the_formula(counts: tuple[int, int], normalised: bool) -> None:
    features = radial_bases(counts, LOW, HIGH, width=0.7, normalised=normalised)
    pitch = [(h - lo) / max(n - 1, 1) for lo, h, n in zip(LOW, HIGH, counts, strict=True)]
    for s in states():
        seen = [min(max(x, lo), h) for x, lo, h in zip(s, LOW, HIGH, strict=True)]
        if counts[1] == 1:
            seen[1] = s[1]
        expected = []
        for i in range(counts[0]):
            for k in range(counts[1]):
                centre = (LOW[0] + i * pitch[0], LOW[1] + k * pitch[1] if counts[1] > 1 else 0.0)
                away = [(x - c) / (0.7 * w) for x, c, w in zip(seen, centre, pitch, strict=True)]
                expected.append(
                    math.exp(-0.5 * sum(d * d for d in away)) if max(map(abs, away)) < 1e9 else 0.0
                )
        if normalised and sum(expected) == 0.0:
            continue  # a single centre is out of sight
        total = sum(expected) if normalised else 1.0
        np.testing.assert_allclose(
            vector_of(features, s), np.array(expected) / total, rtol=1e-11, atol=1e-300
        )


def test_a_perceptron_is_linear_with_units_of_two_sides() -> None:
    features = perceptron(LOW, HIGH, units=20, seed=3)
    sides = np.zeros((0, 20))
    for s in states():
        vector = vector_of(features, s)
        scaled = [s[0] / 2.4, s[1] / 5.5]
        np.testing.assert_allclose(vector[:3], [1.0, *scaled], rtol=1e-12)
        expected = features.normals @ scaled >= features.thresholds
        np.testing.assert_array_equal(vector[3:], expected)
        sides = np.vstack([sides, vector[3:]])
    assert (sides.mean(axis=0) > 0).all()
    assert (sides.mean(axis=0) < 1).all()


@kernel
def _both(features: Any, s: tuple[float, float], weights: np.ndarray, work: Workspace) -> int:
    respond(features, s, work)
    add_up(weights, work)
    return strongest(features, work)


KINDS = {
    "tiles": tiles(4, [5, 5], LOW, HIGH),
    "rbf": radial_bases([5, 5], LOW, HIGH, normalised=True),
    "perceptron": perceptron(LOW, HIGH, 7),
    "one-hot": OneHot(grid([5, 5], LOW, HIGH)),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_compiled_and_interpreted_agree_to_the_bit(kind: str) -> None:
    features = KINDS[kind]
    weights = np.random.default_rng(1).normal(size=(count_features(features), 3))
    fast, slow = workspace(features, 3), workspace(features, 3)
    for s in states(60):
        assert _both(features, s, weights, fast) == _both.py_func(features, s, weights, slow)
        count = slow.number[0]
        assert fast.number[0] == count
        for column in ("active", "strengths"):
            np.testing.assert_array_equal(getattr(fast, column)[:count], getattr(slow, column)[:count])
        np.testing.assert_array_equal(fast.q, slow.q)
        np.testing.assert_allclose(slow.q, weights.T @ vector_of(features, s), rtol=1e-9)  # Definition 1


def test_groups_are_memberships() -> None:
    work = workspace(KINDS["rbf"], 0)
    for kind, nearest in (("rbf", 12), ("one-hot", 12), ("tiles", 2 * 6 + 2), ("perceptron", -1)):
        respond(KINDS[kind], (0.1, 0.1), work)
        assert strongest(KINDS[kind], work) == nearest


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([1.0, 2.0], "gave 2 numbers"),
        ([1.0, math.nan, 0.0], "gave nan as number 1"),
        ([1.0, 0.0, math.inf], "gave inf as number 2"),
        ("three", "gave 'three'"),
        ([[1.0, 2.0, 3.0]], "gave "),
        (None, "gave None"),
    ],
)
def test_a_bad_feature_function_gets_one_sentence(answer: Any, words: str) -> None:
    with pytest.raises(DistinguoError, match="3 finite numbers for every state") as caught:
        vector_of(FunctionFeatures(lambda s: answer, 3), (0.5, 1.0))
    assert words in str(caught.value)
    assert "(0.5, 1.0)" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_numbers_get_one_sentence() -> None:
    for make, words in (
        (lambda: tiles(0, [2], [0.0], [1.0]), "number of tilings"),
        (lambda: tiles(2, [2, 2], [0.0], [1.0]), "1 counts"),
        (lambda: tiles(2, [2], [0.0], [math.inf]), "finite low"),
        (lambda: tiles(8, [1000, 1000], [0, 0], [1, 1]), "at most"),
        (lambda: tiles(2, [2], [0.0], [1.0], "skew"), "'odd' or 'regular'"),  # type: ignore[arg-type]
        (lambda: radial_bases([2], [0.0], [1.0], width=0.0), "width"),
        (lambda: perceptron([0.0], [0.0]), "higher end"),
        (lambda: count_features(FunctionFeatures(len, 0)), "whole number from 1"),
        (lambda: count_features("tiles"), "got a value of the class str"),
    ):
        with pytest.raises(DistinguoError, match=words):
            make()
