"""A region has one number, from 0 to n - 1, wherever a user may see it: learned or made by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box

import distinguo
from distinguo.agents.regions import RegionObservation
from distinguo.evaluation.audit import audit_controller
from distinguo.exports.graph import to_graph
from distinguo.exports.header import to_header
from distinguo.exports.tables import labelled
from distinguo.exports.write import to_document
from distinguo.representations import file
from distinguo.representations.partition import regions_of
from distinguo.runs.folder import open_run, write_run
from distinguo.runs.run import Run
from distinguo.views.pictures import partition_picture
from distinguo.views.text import regions_table
from tests.exports.test_header import build, in_c
from tests.nightly import NIGHTLY
from tests.views.runs import EIGHT, made_up

GOLDEN = Path(__file__).with_name("golden")
#: Tasks of each kind of partition by prototypes, and how many of these.
MADE_UP = [("puck", 12), ("CartPole-v1", 25), (EIGHT, 30), ("FrozenLake-v1", 9), ("Blackjack-v1", 40)]
SUMMARY = dict.fromkeys(
    (
        "task",
        "score",
        "regions",
        "prototypes",
        "trials",
        "environment_steps",
        "investigation_steps",
        "seconds",
    ),
    0,
)


class Window(gymnasium.Env[np.ndarray, int]):
    """Shows any state."""

    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, width: int) -> None:
        self.observation_space = Box(-np.inf, np.inf, (width,), np.float64)


def of_boxes(seed: int) -> Run:
    run, rng = made_up("puck", 1), np.random.default_rng(seed)
    boxes = distinguo.grid(
        rng.integers(1, 7, 2).tolist(), run.configuration.spec.low, run.configuration.spec.high
    )
    representation = file.Representation(boxes, run.representation.dimensions)
    q = rng.normal(size=(representation.regions, 2))
    return run._replace(representation=representation, q=q, updates=np.ones(q.shape, dtype=np.int64))


def some_states(run: Run, count: int = 400) -> np.ndarray:
    rng, partition = np.random.default_rng(1), run.representation.partition
    spec = run.configuration.spec
    low, high = (np.clip(side, -4.0, 500.0) for side in (spec.low, spec.high))
    known = getattr(partition, "prototypes", np.empty((0, len(low))))
    drawn = rng.uniform(low, high, (count, len(low)))
    return np.vstack([known, np.round(drawn) if spec.kind == "categories" else drawn])


def assert_one_numbering(run: Run, tmp_path: Path) -> None:
    """Compare all that names a region, for many states."""
    representation, controller, states = run.representation, run.controller, some_states(run)
    rows = [tuple(row) for row in states.tolist()]
    expected = [distinguo.region(representation.partition, s) for s in rows]
    assert set(expected) == set(range(representation.regions))  # onto, as prototypes are among the states
    assert [controller.region(s) for s in rows] == expected
    assert len(run.q) == representation.regions
    assert regions_of(representation.partition, states).tolist() == expected
    again = file.loads(file.dumps(representation))
    assert [distinguo.region(again.partition, s) for s in rows] == expected
    window = RegionObservation(Window(states.shape[1]), representation)
    assert [int(window.observation(row)) for row in states] == expected
    assert window.observation_space.n == representation.regions
    assert_exports(run, states, expected, tmp_path)
    assert_views(run)


def assert_exports(run: Run, states: np.ndarray, expected: list[int], tmp_path: Path) -> None:
    named, count = labelled(run._replace(path=None)), run.representation.regions
    header = to_header(named)
    assert f"_REGIONS {count}\n" in header
    answers = in_c(build(tmp_path, header, states.shape[1], ["-std=c99"]), states)
    assert answers[:, 0].tolist() == expected
    assert answers[:, 1].tolist() == run.controller.greedy[expected].tolist()
    document = json.loads(to_document(named))
    assert [row["region"] for row in document["regions"]] == list(range(count))
    assert [row["values"] for row in document["regions"]] == run.q.tolist()
    assert file.loads(json.dumps(document["representation"])).regions == count
    assert sorted(map(int, re.findall(r'label="region (\d+)', to_graph(named)))) == list(range(count))


def assert_views(run: Run) -> None:
    for cell in partition_picture(run).cells:
        assert cell.value == run.q[cell.region].max()
    head, *lines = regions_table(run, most=10**6).splitlines()
    table = [line.split() for line in lines]
    assert [int(words[0]) for words in table] == list(range(run.representation.regions))
    if "value" in head:  # the learner has values
        assert [words[-2] for words in table] == [f"{value:z.4f}" for value in run.q.max(axis=1)]


@pytest.mark.parametrize("seed", range(20 if NIGHTLY else 1))
@pytest.mark.parametrize(("task", "count"), MADE_UP)
def test_made_by_hand(task: str, count: int, seed: int, tmp_path: Path) -> None:
    run = made_up(task, count, seed=seed, merged=0.4)
    assert run.representation.regions < run.representation.prototypes
    assert_one_numbering(run, tmp_path)
    write_run(run._replace(summary={**SUMMARY, "task": "puck", "solved": True, "seed": 0}), tmp_path / "run")
    opened = open_run(tmp_path / "run")
    assert opened.q.tolist() == run.q.tolist()
    assert opened.representation.partition.regions.tolist() == run.representation.partition.regions.tolist()


@pytest.mark.parametrize("seed", range(20 if NIGHTLY else 2))
def test_boxes(seed: int, tmp_path: Path) -> None:
    assert_one_numbering(of_boxes(seed), tmp_path)


@pytest.mark.parametrize("seed", range(1, 21 if NIGHTLY else 2))
def test_learned(seed: int, tmp_path: Path) -> None:
    run = distinguo.learn("puck", seed=seed, settings={"stage.cap": 2000, "stage.hold": 2000})
    assert_one_numbering(run, tmp_path)
    found = audit_controller(
        run.configuration.spec.task, run.controller, [(0.1, 0.2), (-1.0, 2.0)], gamma=1, epsilon=1
    )
    assert found.regions.tolist() == [run.controller.region(s) for s in ((0.1, 0.2), (-1.0, 2.0))]


def test_a_folder_of_an_earlier_version(tmp_path: Path) -> None:
    """It has a row of values for each prototype, of which 2 belongs to the region of 1."""
    run = open_run(GOLDEN / "run-v1")
    assert run.representation.partition.regions.tolist() == [0, 1, 1, 2, 3]
    assert_one_numbering(run, tmp_path)
    before: Any = np.load(GOLDEN / "run-v1" / "values.npz")
    assert run.q.tolist() == before["q"][[0, 1, 3, 4]].tolist()
    assert run.updates.tolist() == before["updates"][[0, 1, 3, 4]].tolist()
