"""Wrong arguments to public functions: one sentence each, never an answer, never a bare exception."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import distinguo as dg
from distinguo import criteria
from distinguo.cli import main
from distinguo.errors import DistinguoError
from distinguo.seam import kernel

NAN, INF = math.nan, math.inf
TWO = dg.voronoi([[0.0, 1.0], [1.0, 0.0]], [1.0, 1.0])
BOXES = dg.grid([2, 2], [0.0, 0.0], [1.0, 1.0])
ACTING = dg.Controller(TWO, np.array([[0.0, 1.0], [1.0, 0.0]]))
ONE, OTHER = np.array([0.0, 1.0]), np.array([0.0, 1.0, 2.0])
NO_POINTS: list[Any] = [
    *((NAN, 0), (0, -INF), (1.0,), (1, 2, 3), (), "ab", ("1", "2"), None, 5, [None, 1]),
    *({"x": 1}, np.zeros((1, 2)), (1j, 0), b"ab"),
]


def refused(call: Callable[[], Any], words: str = "") -> None:
    """See that a call is refused in one printable sentence."""
    with pytest.raises(DistinguoError) as caught:
        call()
    assert str(caught.value).isprintable()
    assert words in str(caught.value)


@pytest.mark.parametrize("point", NO_POINTS, ids=repr)
def test_what_is_no_observation(point: Any) -> None:
    words = "An observation should be a sequence of 2 finite numbers, got "
    for call in (ACTING.action, ACTING.region, ACTING.value, ACTING.preferred):
        refused(lambda call=call: call(point), words)
    for partition in (TWO, BOXES):
        refused(lambda partition=partition: dg.region(partition, point), words)


def test_observations_of_any_kind_of_number() -> None:
    for point in ((0, 1), [0.0, 1.0], np.array([0, 1]), np.array([0.0, 1.0], dtype=np.float32)):
        assert (dg.region(TWO, point), ACTING.action(point)) == (0, 1)


def test_compiled_code_is_not_checked() -> None:
    """The door is for people: a kernel gets what is behind it."""

    @kernel
    def regions(partition: Any, s: Any, q: Any) -> int:
        return dg.region(partition, s) + 10 * int(criteria.compatible(q, q, 0.1, -0.1))

    assert regions(TWO, (0.9, 0.1), ONE) == 1
    assert regions(TWO, (NAN, 0.0), ONE) in (0, 1)
    refused(lambda: regions.py_func(TWO, (NAN, 0.0), ONE))


CRITERIA: dict[str, Callable[[], Any]] = {
    "other lengths": lambda: criteria.compatible(ONE, OTHER, 0.1, 0.1),
    "epsilon below 0": lambda: criteria.compatible(ONE, ONE, -0.1, 0.1),
    "delta nan": lambda: criteria.compatible(ONE, ONE, epsilon=0.1, delta=NAN),
    "epsilon a word": lambda: criteria.compatible(ONE, ONE, "0.1", 0.1),  # type: ignore[arg-type]
    "no values": lambda: criteria.stake(np.array([]), np.array([])),
    "a table": lambda: criteria.adequate(np.zeros((2, 2)), np.zeros((2, 2)), 0.1, 0.1),
    "values nan": lambda: criteria.adequate(np.array([NAN, 0.0]), ONE, 0.1, 0.1),
    "regret of inf": lambda: criteria.incremental_regret(np.array([INF, 0.0]), ONE, 0.1),
    "rules": lambda: criteria.inadequacy(ONE, OTHER, 0.1, 0.1),
    "rules of two": lambda: criteria.incompatibility(ONE, OTHER, 0.1, 0.1),
    "tolerance below 0": lambda: criteria.preferred(ONE, -1.0),
    "values of others": lambda: criteria.expected_look_ahead(ONE, 0.9, OTHER, ONE),
    "chances of others": lambda: criteria.expected_look_ahead(ONE, 0.9, ONE, OTHER),
    "no samples": lambda: criteria.sampled_look_ahead(np.array([]), 0.9, np.array([])),
}


@pytest.mark.parametrize("name", CRITERIA)
def test_what_cannot_be_compared(name: str) -> None:
    refused(CRITERIA[name], "got ")


MADE: dict[str, tuple[Callable[[], Any], str]] = {
    "prototypes nan": (lambda: dg.voronoi([[NAN, 0]], [1, 1]), "Prototypes should be rows of finite numbers"),
    "no prototypes": (lambda: dg.voronoi([], [1.0]), "Prototypes should be"),
    "prototypes in a row": (lambda: dg.voronoi([0.0, 1.0], [1.0]), "Prototypes should be"),
    "ragged": (lambda: dg.voronoi([[0.0, 0.0], [1.0]], [1.0, 1.0]), "Prototypes should be"),  # type: ignore[list-item]
    "scale 0": (lambda: dg.voronoi([[0.0]], [0.0]), "a width above 0"),
    "scale below 0": (lambda: dg.voronoi([[0.0]], [-1.0]), "a width above 0"),
    "scale of others": (lambda: dg.voronoi([[0.0, 0.0]], [1.0]), "a width above 0"),
    "count 0": (lambda: dg.grid([0, 2], [0, 0], [1, 1]), "A count of a grid should be a whole number from 1"),
    "count 2.5": (lambda: dg.grid([2.5, 2], [0, 0], [1, 1]), "A count of a grid should be"),  # type: ignore[list-item]
    "counts of others": (lambda: dg.grid([2], [0, 0], [1, 1]), "A grid needs a count"),
    "grid upside down": (lambda: dg.grid([2], [1], [0]), "a low and a higher end"),
    "grid nan": (lambda: dg.grid([2], [NAN], [1]), "a low and a higher end"),
    "grid inf": (lambda: dg.grid([2], [-INF], [1]), "a low and a higher end"),
    "huge grid": (lambda: dg.grid([10**5, 10**5], [0, 0], [1, 1]), "at most 1,000,000 boxes"),
    "too few values": (lambda: dg.Controller(TWO, np.zeros((1, 2))).action((1, 0)), "none for region 1"),
    "values nan": (lambda: dg.Controller(TWO, np.full((2, 2), NAN)).action((1, 0)), "finite action values"),
    "values in a row": (lambda: dg.Controller(TWO, np.zeros(2)).value((1, 0)), "finite action values"),
    "delta below 0": (lambda: ACTING._replace(delta=-1.0).action((1, 0)), "from 0, got -1.0"),
    "no partition": (lambda: dg.region(None, (0.0, 0.0)), "has no regions"),
    "region nan": (lambda: dg.region(dg.FunctionPartition(lambda s: NAN, 2), (0.0,)), "gave region -1"),  # type: ignore[arg-type,return-value]
    "region fails": (
        lambda: dg.region(dg.FunctionPartition(lambda s: 1 // 0, 2), (0.0,)),
        "ZeroDivisionError",
    ),
    "no states": (lambda: dg.check_partition(TWO, [0, 0], [1, 1], states=-1), "states should be"),
    "seed": (lambda: dg.check_partition(TWO, [0, 0], [1, 1], seed=-1), "The seed should be"),
    "noise": (lambda: dg.NoisyActions(gymnasium.make("CartPole-v1"), "a"), "must be from 0 to 1"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", MADE)
def test_what_cannot_be_made(name: str) -> None:
    refused(*MADE[name])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"seed": -1}, "The seed should be"),
        ({"seed": 1.5}, "The seed should be"),
        ({"settings": [1]}, "Settings are a dictionary"),
        ({"preset": None}, "Unknown preset 'None'"),
        ({"preset": 3}, "Unknown preset '3'"),
        ({"out": 5}, "A path should be a text"),
        ({"watch": 3}, "watch should be a function"),
        ({"learner": 3}, "3 is not a learner"),
        ({"prototypes": [[NAN, 0]]}, ""),
        ({"settings": {"learner.epsilon": NAN}}, ""),
        ({"settings": {"stage.steps": 0}}, ""),
    ],
)
def test_what_cannot_be_learned(words: dict[str, Any], sentence: str) -> None:
    refused(lambda: dg.learn("puck", **words), sentence)


@pytest.mark.parametrize("thing", [None, 5, [], object(), 1.5], ids=lambda thing: type(thing).__name__)
def test_things_that_are_no_runs(thing: Any) -> None:
    for function in (dg.open_run, dg.load, dg.audit, dg.condense, dg.show, dg.learn, dg.check_task):
        refused(lambda function=function: function(thing))
    refused(lambda: dg.export(thing, "c"))
    if thing != []:
        refused(lambda: dg.compare(thing))


@pytest.mark.parametrize(
    "words",
    [
        {"seed": -1},
        {"cells": 0},
        {"cells": NAN},
        {"steps": -1},
        {"disturbance": NAN},
        {"disturbance": -1.0},
        {"disturbance": "a"},
        {"ranges": 5},
        {"ranges": {"x": (1.0, 0.0)}},
    ],
)
def test_what_cannot_be_proven(words: dict[str, Any]) -> None:
    refused(lambda: dg.verify("diagonal", **words))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("run") / "run"
    dg.learn("puck", seed=1, settings={"stage.cap": 1000, "stage.hold": 1000}, out=out)
    return str(out)


@pytest.mark.parametrize("command", ["audit", "condense", "verify", "reproduce", "learn", "test"])
@pytest.mark.parametrize("seed", ["-5", str(2**63)])
def test_seeds_on_the_command_line(
    command: str, seed: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    what = {"reproduce": [], "learn": ["puck"], "test": ["diagonal"]}.get(command, [folder])
    monkeypatch.setattr("sys.argv", ["distinguo", command, *what, "--seed", seed])
    with pytest.raises(SystemExit) as caught:
        main()
    said = capsys.readouterr().err
    assert caught.value.code == 2, said
    assert re.search(r"eed should be (a whole number from 0 to|less than|greater than or equal to 0)", said)
    assert "Traceback" not in said
