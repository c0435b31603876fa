"""Features beside partitions in a comparison: by name, from a file, of one's own; and where they are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distinguo as dg
from distinguo.comparison.sources import representation_named
from distinguo.controls import build_representation
from distinguo.errors import DistinguoError
from distinguo.features.feature import FunctionFeatures
from distinguo.representations.file import Representation, dumps, loads
from distinguo.tasks.catalog import task_spec

HILL = task_spec("puck")
SHORT: Any = {"runs": 1, "steps": 1500, "cap": 500, "batch": 10}
NAMES = ("tiles:4x5x5", "rbf:4", "normalised-rbf:4x3", "perceptron", "perceptron:9")


def test_features_stand_beside_partitions_and_are_not_run_again(tmp_path: Path) -> None:
    names = ["tiles:4x5x5", "diagonal"]
    first = dg.compare(names, out=tmp_path, **SHORT)
    assert [curve.regions for curve in first.curves] == [144, 2]
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    assert json.loads(kept[tmp_path / "representations" / "tiles-4x5x5.json"])["kind"] == "tiles"
    (cell,) = (tmp_path / "cells").glob("tiles*.json")
    cell.unlink()
    again = dg.compare(names, out=tmp_path, **SHORT)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == kept
    assert repr(again) == repr(first)


def test_features_of_ones_own_are_compared(tmp_path: Path) -> None:
    calls = []

    def mine(s: tuple[float, ...]) -> list[float]:
        calls.append(s)
        return [1.0, s[0], s[1], s[0] * s[1]]

    short = {**SHORT, "steps": 200}
    comparison = dg.compare({"mine": FunctionFeatures(mine, 4)}, out=tmp_path, **short)
    assert comparison.curves[0].regions == 4
    assert calls
    with pytest.raises(DistinguoError, match="use the engine 'threads'"):
        dg.compare({"mine": FunctionFeatures(mine, 4)}, engine="processes", **short)
    with pytest.raises(DistinguoError, match="5 finite numbers for every state") as caught:
        dg.compare({"mine": FunctionFeatures(mine, 5)}, **short)
    assert "it gave 4 numbers" in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_files_of_features_are_read_as_they_were_written(name: str) -> None:
    known = build_representation(name, HILL, seed=3)
    again = loads(dumps(known))
    assert dumps(again) == dumps(known)
    assert type(again.partition) is type(known.partition)
    for ours, theirs in zip(known.partition, again.partition, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
    assert again.regions == known.regions


BROKEN = [
    ("tiles:2x2", {"offsets": [[0.0, 1.0]]}, "below 1"),
    ("tiles:2x2", {"counts": [3, 0]}, "greater than or equal to 1"),
    ("tiles:2x2", {"width": [1.0]}, "2 numbers, one per coordinate"),
    ("tiles:2x2", {"counts": [1000, 1000]}, "features at most"),
    ("tiles:2x2", {"version": 3}, "4"),
    ("rbf:2", {"high": [-9.0, 5.5]}, "low should be below high"),
    ("rbf:2", {"normalised": 1}, "boolean"),
    ("perceptron:2", {"thresholds": [0.0]}, "one threshold per normal"),
    ("perceptron:2", {"half": [1.0, 0.0]}, "greater than 0"),
    ("perceptron:2", {"normals": [[0.0], [0.0]]}, "2 numbers, one per coordinate"),
]


@pytest.mark.parametrize(("name", "change", "words"), BROKEN)
def test_broken_files_of_features_get_one_sentence(name: str, change: dict[str, Any], words: str) -> None:
    content = json.loads(dumps(build_representation(name, HILL, 0))) | change
    with pytest.raises(DistinguoError, match=words) as caught:
        loads(json.dumps(content), "mine.json")
    assert str(caught.value).startswith("mine.json is not a valid representation")


@pytest.mark.parametrize(
    ("word", "words"),
    [
        (
            "tiles",
            "tiles is written with tilings × tiles along each coordinate, as in tiles:8x10x10, got 'tiles:'",
        ),
        ("tiles:8", "one number for all coordinates, or one for each (x, v), got 0"),
        ("tiles:8x1x2x3", "got 3 in 'tiles:8x1x2x3'"),
        ("rbf:axb", "as in rbf:10x10, got 'rbf:axb'"),
        ("perceptron:3x3", "as in perceptron:64, got 'perceptron:3x3'"),
        ("tiles:8x1000x1000", "1,000,000 features at most"),
    ],
)
def test_wrong_words_get_one_sentence(word: str, words: str) -> None:
    with pytest.raises(DistinguoError) as caught:
        representation_named(word, HILL, seed=0)
    assert words in str(caught.value)


def test_what_needs_regions_refuses_features(tmp_path: Path) -> None:
    import gymnasium

    with pytest.raises(DistinguoError, match="A proof needs regions, but TileCoding are features"):
        dg.verify("tiles:4x5x5")
    eight = build_representation("tiles:4x5x5", HILL, 0)
    with pytest.raises(DistinguoError, match="An observation of regions needs regions"):
        dg.RegionObservation(gymnasium.make("MountainCar-v0"), eight)
    own = Representation(FunctionFeatures(list, 2), ("x", "v"))
    with pytest.raises(DistinguoError, match="cannot be written to a file"):
        dumps(own)


def test_a_trained_controller_is_of_the_kind_of_its_representation() -> None:
    tabled = dg.trained_controller("diagonal", steps=500)
    summed = dg.trained_controller("tiles:4x5x5", steps=500)
    assert isinstance(tabled, dg.Controller)
    assert isinstance(summed, dg.FeatureController)
    assert summed.weights.any()
    with pytest.raises(DistinguoError, match="Unknown"):
        dg.trained_controller("grid:5x5", stepps=500)
