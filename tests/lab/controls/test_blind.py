"""Rules of resolution that do not look at reward."""

import numpy as np
import pytest

from distinguo import DistinguoError
from distinguo.controls import build_representation
from distinguo.representations.boxes import leaf_boxes
from distinguo.representations.partition import prototypes_of, regions_of
from distinguo.tasks.catalog import task_spec
from distinguo_lab.controls.named import observations_of_random_play

HILL = task_spec("puck")


def test_boxes_are_finest_at_the_start_and_tile_the_space() -> None:
    partition = build_representation("near-start:4", HILL, seed=0).partition
    boxes = leaf_boxes(partition)
    widths = {float(low): float(high - low) for (low, _), (high, _) in boxes}
    ordered = [widths[low] for low in sorted(widths)]
    half = HILL.high[0]
    # on each side of x = 0, where trials start: an eighth, an eighth, a quarter and a half of the way to the wall
    expected = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8, 1 / 8, 1 / 8, 1 / 4, 1 / 2]) * half
    assert np.allclose(ordered, expected, atol=0.05)
    area = sum(np.prod(np.subtract(high, low)) for low, high in boxes)
    assert area == pytest.approx(np.prod(np.subtract(partition.high, partition.low)))


def test_units_stand_where_the_visits_are() -> None:
    partition = build_representation("most-visited:20", HILL, seed=3).partition
    rows = observations_of_random_play(HILL, seed=3)
    shares = np.bincount(regions_of(partition, rows), minlength=20) / len(rows)
    # a grid of as many boxes has most of its visits in two or three of them
    assert shares.max() < 0.2
    grid = build_representation("grid:5x4", HILL, seed=3).partition
    assert shares.max() < np.bincount(regions_of(grid, rows)).max() / len(rows)


@pytest.mark.parametrize("match", [0.8, 0.9])
def test_every_observation_had_a_category_that_matched_it_or_began_one(match: float) -> None:
    found = prototypes_of(build_representation(f"vigilance:{match}", HILL, seed=1).partition)
    assert found is not None
    scaled = found.points / np.subtract(HILL.high, HILL.low)
    apart = np.linalg.norm(scaled[:, None] - scaled, axis=2)[np.triu_indices(len(scaled), 1)]
    # categories drift from where they began, but stay about as far from each other as the vigilance asks for
    assert len(scaled) > 2
    assert np.median(apart) > (1 - match) * np.sqrt(2)


def test_the_same_seed_makes_the_same_map_and_random_play_depends_on_it() -> None:
    for name in ("most-visited:8", "vigilance:0.85"):
        maps = [build_representation(name, HILL, seed=seed).partition.prototypes for seed in (1, 1, 2)]
        assert np.array_equal(maps[0], maps[1])
        assert maps[0].shape != maps[2].shape or not np.array_equal(maps[0], maps[2])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("near-start:x", "as in near-start:3, got 'near-start:x'"),
        ("near-start:0", "levels of near-start should be a whole number from 1 to 20, got 0"),
        ("near-start:20:", "got 'near-start:20:'"),
        ("most-visited:-1", "as in most-visited:24"),
        ("vigilance:1", "between 0 and 1, as in vigilance:0.9, got 'vigilance:1'"),
        ("vigilance:0.0", "between 0 and 1, got 0.0"),
        ("vigilance:high", "got 'vigilance:high'"),
    ],
)
def test_mistakes_get_one_sentence(name: str, words: str) -> None:
    with pytest.raises(DistinguoError, match=words):
        build_representation(name, HILL, seed=0)


def test_too_many_boxes_and_labels_are_refused() -> None:
    with pytest.raises(DistinguoError, match="take fewer levels"):
        build_representation("near-start:10", task_spec("CartPole-v1"), seed=0)
    with pytest.raises(DistinguoError, match="are labels"):
        build_representation("vigilance:0.9", task_spec("CliffWalking-v1"), seed=0)
