"""What is said of a region is true of most of it, and not of where something else is done."""

from __future__ import annotations

import numpy as np
import pytest

from distinguo.representations.file import Representation
from distinguo.representations.partition import regions_of
from distinguo.representations.voronoi import voronoi
from distinguo.runs.run import Run
from distinguo.tasks.catalog import task_spec
from distinguo.views.descriptions import APART, DESCRIBES, HIGH, KNOWN, regions_in_words
from tests.views.runs import made_up


def steered(task: str, rows: list[list[float]], actions: list[int], primary: list[int] | None = None) -> Run:
    """Return a run with these prototypes and actions."""
    run = made_up(task, len(rows))
    spec = run.configuration.spec
    partition = voronoi(rows, run.representation.partition.scale, primary)
    q = np.eye(len(spec.actions))[actions]
    representation = Representation(partition, spec.dimensions, run.representation.provenance)
    return run._replace(representation=representation, q=q, updates=np.ones(q.shape, dtype=int))


def test_the_pole() -> None:
    run = steered("CartPole-v1", [[0, 0, 0.1, 1.0], [0, 0, -0.1, -1.0]], [1, 0])
    said = [str(one) for one in regions_in_words(run)]
    assert said == ["pole leaning right and falling: push right", "pole leaning left and falling: push left"]


def test_the_car_and_the_puck() -> None:
    car = steered("MountainCar-v0", [[-0.5, 0.03], [-0.5, -0.03]], [2, 0])
    assert [str(one) for one in regions_in_words(car)] == [
        "moving right: push right",
        "moving left: push left",
    ]
    puck = steered("puck", [[1.0, 1.5], [-1.0, -1.5]], [0, 1])
    assert str(regions_in_words(puck)[0]) == "right of the top and moving away from it: push left"


@pytest.mark.parametrize("task", ["puck", "CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Pendulum-v1"])
def test_sides_are_true_of_the_region_and_less_so_elsewhere(task: str) -> None:
    run = made_up(task, 8, merged=0.0)
    low, high = np.array(run.representation.provenance["extent"])
    places = np.random.default_rng(7).uniform(low, high, (6_000, len(low)))
    regions = regions_of(run.representation.partition, places)
    names, policy = run.configuration.spec.dimensions, run.controller.policy
    told = 0
    for one in regions_in_words(run):
        for side in one.sides:
            if side.share < DESCRIBES:
                assert "mostly" in one.where
                continue
            i = names.index(side.dimension)
            middle = KNOWN[task].coordinates[side.dimension].middle
            there = (places[:, i] > middle) == (side.side == HIGH)
            inside = there[regions == one.region]
            assert inside.mean() == pytest.approx(side.share, abs=0.12)
            assert inside.mean() > there[policy[regions] != policy[one.region]].mean() + APART / 2
            told += 1
    assert told > 3


def test_a_task_without_words_has_its_names() -> None:
    run = steered("puck", [[1.0, 0.0], [-1.0, 0.0]], [0, 1])
    spec = run.configuration.spec._replace(name="mine", dimensions=("depth", "speed"))
    odd = run._replace(configuration=run.configuration._replace(spec=spec))
    assert [str(one) for one in regions_in_words(odd)] == ["depth high: left", "depth low: right"]


def test_one_region_is_everywhere_and_categories_are_named() -> None:
    (one,) = regions_in_words(steered("puck", [[0.0, 0.0]], [1]))
    assert str(one) == "everywhere: push right"
    lake = made_up("FrozenLake-v1", 4, merged=0.0)
    said = regions_in_words(lake)
    names = [f"{p:g}" for p in lake.representation.partition.prototypes[:, 0]]
    assert [one.where.split(" = ")[1].split(",")[0] for one in said] == names
    assert sum("all that have no prototype" in one.where for one in said) == 1


def test_the_words_are_about_coordinates_and_actions_that_there_are() -> None:
    for name, words in KNOWN.items():
        spec = task_spec(name)
        assert set(words.coordinates) == set(spec.dimensions)
        assert set(words.actions) <= set(spec.actions)
        for pair in words.together:
            assert {dimension for dimension, _ in pair} <= set(spec.dimensions)
