"""What is said of a region is true of the states visited there, and not of those where something else is done."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

import distinguo as dg
from distinguo.representations.categories import categories
from distinguo.representations.file import Representation
from distinguo.representations.partition import regions_of
from distinguo.representations.voronoi import voronoi
from distinguo.runs.run import Run
from distinguo.tasks.catalog import AbsentTask, task_spec
from distinguo.tasks.grids import LAKES, STOPS, TOWN_WALLS, grid_of
from distinguo.tasks.gym.task import DOCUMENTED
from distinguo.tasks.vocabulary import HIGH, KNOWN, acting, action_in_words, vocabulary_of
from distinguo.views.descriptions import regions_in_words, visited_states
from tests.nightly import NIGHTLY, so_many
from tests.views.runs import EIGHT, made_up

LEVELS = {"MountainCarContinuous-v0": {"levels": 3}}


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


def test_one_region_is_everywhere() -> None:
    (one,) = regions_in_words(steered("puck", [[0.0, 0.0]], [1]))
    assert str(one) == "everywhere: push right"


# Groups of labels, read back by the words of the task alone.

LAKE = "FrozenLake-v1"


def read_fields(phrase: str, wide: int, high: int) -> set[int]:
    """Return the fields that a phrase names, such as "rows 0-1, column 3; row 2"."""
    found: set[int] = set()
    for part in phrase.split("; "):
        sides = {"row": set(range(high)), "column": set(range(wide))}
        for name, numbers in re.findall(r"(row|column)s? ([\d -]+(?:and [\d -]+)*)", part):
            ends = [some.split("-") for some in numbers.strip().split(" and ")]
            sides[name] = {n for some in ends for n in range(int(some[0]), int(some[-1]) + 1)}
        found |= {row * wide + column for row in sides["row"] for column in sides["column"]}
    return found


@pytest.mark.parametrize(("task", "wide", "ends"), [(LAKE, 4, "HG"), ("CliffWalking-v1", 12, "CG")])
def test_groups_of_fields_are_named_exactly(task: str, wide: int, ends: str) -> None:
    for seed in range(so_many(4, nightly=30)):
        run = made_up(task, 4 + 3 * seed, seed)
        grid = grid_of(run.configuration.spec)
        assert grid is not None
        met = {n for n, letter in enumerate("".join(grid)) if letter not in ends}
        sets, said = run.controller.action_sets, regions_in_words(run)
        regions = {n: run.controller.region((float(n),)) for n in met}
        for one in said:
            own = {n for n in met if regions[n] == one.region}
            if one.where in ("everywhere else", "nowhere"):
                assert bool(own) == (one.where == "everywhere else")
                continue
            named = read_fields(one.where, wide, len(grid)) & met
            if " more label" in one.where:
                assert named < own
            elif one.is_exact:
                assert named == own
            else:
                assert named >= own
                for other in said:
                    theirs = {n for n in met if regions[n] == other.region}
                    if (sets[other.region] != sets[one.region]).any() and theirs:
                        assert len(named & theirs) <= 0.1 * len(theirs)
        phrases = [one.where for one in said if one.where != "nowhere"]
        assert len(phrases) == len(set(phrases))


def test_what_groups_have_in_common() -> None:
    taxi = made_up("Taxi-v4", 3)
    labels = range(500)
    carried = np.array([n // 4 % 5 == 4 for n in labels])
    points = [[float(n)] for n in labels]
    primary = [int(np.argmax(carried == one)) for one in carried]
    q = np.eye(6)[[0, 5] if not carried[0] else [5, 0]]
    partition = categories(points, primary)
    run = taxi._replace(
        representation=taxi.representation._replace(partition=partition),
        q=q,
        updates=np.ones(q.shape, dtype=int),
    )
    assert [str(one) for one in regions_in_words(run)] == [
        "passenger at red or at green or at yellow or at blue: go south",
        "passenger in the taxi: drop off the passenger",
    ]
    unknown = run._replace(
        configuration=run.configuration._replace(spec=run.configuration.spec._replace(name="Own"))
    )
    assert regions_in_words(unknown)[1].where.startswith("situation 16-19 and 36-39")


def test_the_words_are_about_coordinates_and_actions_that_there_are() -> None:
    for name, words in KNOWN.items():
        if "Lander" in name or "Walker" in name:  # they need another package
            assert set(words.coordinates) == set(DOCUMENTED[name].dimensions)
            assert set(words.actions) == set(DOCUMENTED[name].actions)
            continue
        spec = task_spec(name, LEVELS.get(name))
        assert set(words.coordinates) == (set() if spec.kind == "categories" else set(spec.dimensions))
        assert all("o0" not in dimension for dimension in spec.dimensions)
        for a in range(len(spec.actions)):
            assert action_in_words(spec, a), (name, spec.actions[a])
            assert acting(spec, a).split(" ")[0].endswith("ing")
        for pair in words.together:
            assert {dimension for dimension, _ in pair} <= set(spec.dimensions)


def test_grids_are_those_of_gymnasium() -> None:
    from gymnasium.envs.toy_text.frozen_lake import MAPS
    from gymnasium.envs.toy_text.taxi import MAP

    assert {name: list(rows) for name, rows in LAKES.items()} == MAPS
    assert grid_of(task_spec(LAKE, {"map_name": "8x8"})) == LAKES["8x8"]
    assert grid_of(task_spec(LAKE, {"desc": ["SG"]})) == ("SG",)
    town = [row[1:-1] for row in MAP[1:-1]]
    assert {(r, c) for r in range(5) for c in range(4) if town[r][2 * c + 1] == "|"} == set(TOWN_WALLS)
    assert [town[r][2 * c] for r, c in STOPS] == ["R", "G", "Y", "B"]
