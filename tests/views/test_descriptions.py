"""What is said of a region is true of the states visited there, and not of those where something else is done."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

import distinguo as dg
from distinguo.representations.file import Representation
from distinguo.representations.partition import regions_of
from distinguo.representations.voronoi import voronoi
from distinguo.runs.run import Run
from distinguo.tasks.catalog import AbsentTask, task_spec
from distinguo.views.descriptions import (
    HIGH,
    KNOWN,
    regions_in_words,
    visited_states,
    vocabulary_of,
)
from tests.nightly import NIGHTLY, so_many
from tests.views.runs import EIGHT, made_up


def steered(task: str, rows: list[list[float]], actions: list[int], primary: list[int] | None = None) -> Run:
    """Return a run with these prototypes and actions."""
    run = made_up(task, len(rows))
    spec = run.configuration.spec
    partition = voronoi(rows, run.representation.partition.scale, primary)
    q = np.eye(len(spec.actions))[actions]
    representation = Representation(partition, spec.dimensions, run.representation.provenance)
    return run._replace(representation=representation, q=q, updates=np.ones(q.shape, dtype=int))


# A reader of phrases that knows only the words of the task and what inequalities mean.

TRUE_HERE, TRUE_ELSEWHERE = 0.9, 0.1
NUMBER = r"-?[\d.]+(?:e[+-]?\d+)?"


class Reader:
    """Reads a phrase, and finds the observations for which it holds."""

    def __init__(self, run: Run) -> None:
        self.spec, self.words = run.configuration.spec, vocabulary_of(run.configuration.spec)
        low, high = np.array(run.representation.provenance["extent"])
        points = run.representation.partition.prototypes
        self.middles = (np.minimum(low, points.min(axis=0)) + np.maximum(high, points.max(axis=0))) / 2

    def holds(self, phrase: str, rows: np.ndarray) -> np.ndarray:
        found = np.ones(len(rows), dtype=bool)
        while phrase:
            part, phrase = self._part(phrase, rows)
            found &= part
            phrase = re.sub("^(, | and )", "", phrase)
        return found

    def _part(self, phrase: str, rows: np.ndarray) -> tuple[np.ndarray, str]:
        for words, conditions in self._vocabulary():
            if phrase.startswith(words):
                return np.logical_and.reduce([self._side(*one, rows) for one in conditions]), phrase[
                    len(words) :
                ]
        unit = "(?: (?:m/s|m|rad/s|rad))?"
        between = re.match(rf"(\w+) between ({NUMBER}) and ({NUMBER}){unit}", phrase)
        if between:
            column = self._column(between[1], rows)
            inside = (column > float(between[2])) & (column < float(between[3]))
            return inside, phrase[between.end() :]
        found = re.match(rf"(\w+)((?: [+-] (?:{NUMBER} )?[a-z]\w*)*) ([<>]) ({NUMBER}){unit}", phrase)
        assert found, phrase
        total = self._column(found[1], rows).copy()
        for sign, factor, name in re.findall(rf" ([+-]) (?:({NUMBER}) )?([a-z]\w*)", found[2]):
            total += (1 if sign == "+" else -1) * float(factor or 1) * self._column(name, rows)
        bound = float(found[4])
        return (total > bound if found[3] == ">" else total < bound), phrase[found.end() :]

    def _vocabulary(self) -> Iterator[tuple[str, list[tuple[str, int]]]]:
        for pair, words in self.words.together.items():
            yield words, list(pair)
        for name, coordinate in self.words.coordinates.items():
            yield coordinate.low, [(name, 1 - HIGH)]
            yield coordinate.high, [(name, HIGH)]

    def _side(self, name: str, side: int, rows: np.ndarray) -> np.ndarray:
        middle = self.words.coordinates[name].middle
        if middle is None:
            middle = self.middles[self.spec.dimensions.index(name)]
        column = self._column(name, rows)
        return column > middle if side == HIGH else column < middle

    def _column(self, name: str, rows: np.ndarray) -> np.ndarray:
        return rows[:, self.spec.dimensions.index(name)]


def check_words(run: Run) -> int:
    """Check every phrase of a run against visited states; return how many phrases are not exact."""
    said, sets = regions_in_words(run), run.controller.action_sets
    differ = (sets[:, None] != sets).any(axis=2)
    for one in said:
        for other in said:
            assert one.where != other.where or not differ[one.region, other.region], (str(one), str(other))
    rows = visited_states(run)
    low, high = np.array(run.representation.provenance["extent"])
    places = np.random.default_rng(5).uniform(low, high, (2_000, len(low)))
    regions, around = (regions_of(run.representation.partition, some) for some in (rows, places))
    checked = 0
    for one in said:
        if one.is_exact:
            assert one.where == "everywhere" or _is_nearest(run, one.region, one.where), one.where
            continue
        j, holds = one.region, Reader(run).holds(one.where, rows)
        if (regions == j).any():
            assert holds[regions == j].mean() >= TRUE_HERE, str(one)
        else:  # it was checked with sampled places, but not with these
            inside = Reader(run).holds(one.where, places[around == j])
            assert len(inside) < 50 or inside.mean() >= TRUE_HERE - 0.1, str(one)
        elsewhere = holds[differ[j][regions]]
        assert not len(elsewhere) or elsewhere.mean() <= TRUE_ELSEWHERE, str(one)
        checked += 1
    return checked


def _is_nearest(run: Run, j: int, where: str) -> bool:
    """Whether an exact phrase names the primary prototype of a region, and no other, first."""
    partition = run.representation.partition
    points, primary = partition.prototypes, int(partition.primaries[j])
    number = re.fullmatch(r"nearest to prototype (\d+)(?:[ ,].*)?", where)
    if number:
        return int(number[1]) == primary
    place = re.match(r"nearest to \(([^)]*)\)", where)
    assert place, where
    named = np.array([float(re.sub(r"^\S+ (\S+).*", r"\1", part)) for part in place[1].split(", ")])
    close = np.isclose(points, named, rtol=6e-3, atol=1e-12).all(axis=1)
    nearest = int((((points - named) * partition.weight) ** 2).sum(axis=1).argmin())
    return bool(close[primary]) and nearest == primary


def learned_maps() -> Iterator[Run]:
    """Learn maps: of the puck by day, of all our tasks and learners at night."""
    for seed in range(so_many(8, nightly=40)):
        yield dg.learn("puck", seed=seed)
    if not NIGHTLY:
        return
    for seed in range(12):
        yield dg.learn("puck", learner="surprise", seed=seed)
    for seed in range(8):
        yield dg.learn("puck", learner="model", seed=seed)
        yield dg.learn("puck", learner="probation", seed=seed)
        yield dg.learn("puck-continuing", seed=seed, settings={"stage.trials": 20})
    for seed in range(10):
        yield dg.learn("CartPole-v1", seed=seed)
        yield dg.learn("MountainCar-v0", seed=seed)
    for seed in range(6):
        yield dg.learn("Acrobot-v1", seed=seed)
        yield dg.learn("maze", seed=seed)
        yield dg.learn("CartPole-v1", learner="economy", seed=seed, settings={"stage.trials": 60})
        yield dg.learn("MountainCar-v0", learner="economy", seed=seed, settings={"stage.trials": 60})
    for seed in range(4):
        swing = dg.distil(lambda s: 2 if s[1] > 0 else 0, "MountainCar-v0", seed=seed)
        yield swing.run
        yield dg.distil(lambda s: int(s[2] + 0.3 * s[3] > 0), "CartPole-v1", seed=seed).run


def test_words_are_true_of_learned_maps() -> None:
    assert sum(check_words(run) for run in learned_maps()) > so_many(20, nightly=100)


@pytest.mark.parametrize(
    "task", ["puck", "CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Pendulum-v1", EIGHT]
)
def test_words_are_true_of_any_map(task: str) -> None:
    for seed in range(so_many(2, nightly=30)):
        check_words(made_up(task, 3 + 4 * (seed % 4), seed))


def test_the_simplest_phrase_that_is_true_is_used() -> None:
    car = steered("MountainCar-v0", [[-0.5, 0.03], [-0.5, -0.03]], [2, 0])
    assert [str(one) for one in regions_in_words(car)] == [
        "moving right: push right",
        "moving left: push left",
    ]
    corners = [[1.0, 2.0], [-1.0, 2.0], [1.0, -2.0], [-1.0, -2.0]]
    assert str(regions_in_words(steered("puck", corners, [0, 1, 1, 1]))[0]) == (
        "right of the top and moving away from it: push left"
    )
    row = [[-2.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
    assert [one.where for one in regions_in_words(steered("puck", row, [0, 1, 0]))] == [
        "left of the top",
        "right of the top and x < 1.5 m",
        "x > 1.5 m",
    ]
    diagonal = regions_in_words(steered("puck", [[1.0, 1.5], [-1.0, -1.5]], [0, 1]))
    assert [one.where for one in diagonal] == ["v + x > 0", "v + x < 0"]
    split = steered("puck", [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], [0, 1], [0, 1, 0])
    assert [one.where for one in regions_in_words(split)] == [
        "nearest to (x -1 m, v 0 m/s) or (x 1 m, v 0 m/s)",
        "x between -0.5 and 0.5 m",
    ]


def test_visited_states_are_those_of_greedy_trials() -> None:
    run = dg.learn("puck", seed=0)
    rows = visited_states(run)
    assert np.array_equal(rows[:300], dg.rollout(run, steps=300).observations[:-1])
    assert not len(visited_states(_of_absent_task(run)))
    assert [one.where for one in regions_in_words(_of_absent_task(run))]


def _of_absent_task(run: Run) -> Run:
    spec = run.configuration.spec._replace(task=AbsentTask("puck"))
    return run._replace(configuration=run.configuration._replace(spec=spec))


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
