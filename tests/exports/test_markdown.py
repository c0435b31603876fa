"""The decision list for humans, read as a human would and compared with Python."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from distinguo.controller import Controller
from distinguo.exports.decision import decision_of
from distinguo.exports.markdown import to_markdown
from distinguo.exports.tables import LabelledController
from distinguo.exports.write import render
from distinguo.proof.verify import Cited, Fingerprint
from distinguo.representations.boxes import tree
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.amounts import amounts_of
from tests.exports.controllers import voronoi_controller
from tests.exports.test_header import in_numpy
from tests.exports.test_programs import MAPS
from tests.nightly import so_many

COUNT = so_many(20_000, 100_000)


def factors(text: str) -> str:
    """A sum as Python writes it: ``0.5 x - y`` is ``0.5 * x - y``."""
    return re.sub(r"(\d) ([a-z])", r"\1 * \2", text)


def read_off(text: str, columns: dict[str, np.ndarray], actions: tuple[str, ...]) -> np.ndarray:
    """The actions that a list or a table gives, found with nothing but its words."""
    count = len(next(iter(columns.values())))
    lines = re.findall(r"^\d+\. (.*): \*\*(.*)\*\*$", text, re.MULTILINE)
    if lines:
        found = np.full(count, -1)
        for where, action in lines:
            tests = re.findall(r"`([^`]*)`", where)
            assert bool(tests) == (where != "Otherwise")
            holds = np.ones(count, dtype=bool)
            for test in tests:
                holds &= eval(factors(test), {}, columns)
            found[holds & (found < 0)] = actions.index(action)
        return found
    rows = [line.strip("| ").split(" | ") for line in re.findall(r"^\| .* \|$", text, re.MULTILINE)]
    head = rows.index([*columns, "action"])
    table = [row for row in rows[head + 2 :] if len(row) == len(columns) + 1]
    widths = np.ones(len(columns))
    states = np.stack(list(columns.values()), axis=1)
    if "nearest" in text:
        widths = np.array([float(x) for x in table.pop(0)[:-1]])
    places = np.array([[float(x) for x in row[:-1]] for row in table])
    apart = states[:, None] - places
    distance = (apart != 0).sum(axis=2) if "labels" in text else ((apart / widths) ** 2).sum(axis=2)
    return np.array([actions.index(row[-1]) for row in table])[distance.argmin(axis=1)]


def many(rng: np.random.Generator) -> LabelledController:
    """More prototypes than one would read as inequalities."""
    return voronoi_controller(rng, 40, 3)


@pytest.mark.parametrize("which", [*MAPS, "many"])
def test_who_follows_the_list_acts_as_python_does(which: str) -> None:
    rng = np.random.default_rng(sum(map(ord, which)))
    named = (MAPS | {"many": many})[which](rng)
    text = str(render(named, "markdown"))
    states = rng.uniform(-3, 3, (COUNT, len(named.dimensions)))
    if which == "labels":
        states = rng.integers(-4, 5, states.shape).astype(float)
    found = read_off(text, dict(zip(named.dimensions, states.T, strict=True)), named.actions)
    expected = named.controller.greedy[in_numpy(named.controller.partition, states)]
    digits = int((re.findall(r"numbers of (\d+) digits", text) or [0])[0])
    assert (digits == 0) == (which == "labels") == ("has exact labels" in text)
    assert (found != expected).mean() <= (0 if which in ("labels", "boxes") else 1e-4), digits
    assert digits < 10
    assert len(set(expected.tolist())) > 1 or which in ("one", "wide")
    assert f"beyond ±1e+100: **{named.actions[0]}**" in text or named.laws is not None


def test_laws_and_levels_are_tables() -> None:
    named = MAPS["laws"](np.random.default_rng(5))
    text = str(render(named, "markdown", safe="0.25,0.5"))
    assert "beyond ±1e+100: the safe amounts **0.25**, **0.5**" in text
    rows = re.findall(r"^\| (\w+) \| `(.*)` \| `(.*)` \|$", text, re.MULTILINE)
    assert [row[0] for row in rows] == list(named.actions)
    assert named.laws is not None
    for s in np.random.default_rng(0).uniform(-3, 3, (200, 3)).tolist():
        for a, (_, *sums) in enumerate(rows):
            mine = np.array([eval(factors(one), {}, dict(zip("abc", s, strict=True))) for one in sums])
            mine = np.clip(mine, named.laws.low, named.laws.high)
            np.testing.assert_allclose(mine, amounts_of(named.laws, a, s), atol=2e-3)
    assert "| amount 0, from -1 to 1 | amount 1, from 0.1 to 0.7 |" in text
    named = MAPS["levels"](np.random.default_rng(5))
    text = str(render(named, "markdown"))
    for name, levels in zip(named.actions, named.amounts, strict=True):
        assert f"| {name} | {levels[0]!r} | {levels[1]!r} |" in text


def test_a_condition_that_follows_from_others_is_left_out() -> None:
    """Three prototypes in a row: the one in the middle has two borders, the outer ones one each."""
    row = voronoi([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [1.0, 1.0])
    three = LabelledController(Controller(row, np.eye(3)), ("x", "v"), ("a", "b", "c"))
    lines = str(render(three, "markdown")).splitlines()
    assert "2. `x > 0.5` and `x <= 1.5`: **b**" in lines
    assert "3. `x > 1.5`: **c**" in lines
    twice = voronoi([[0.0, 0.0], [0.0, 0.0], [2.0, 0.0]], [1.0, 1.0])  # the second is never nearer
    doubled = three._replace(controller=Controller(twice, np.eye(3)))
    assert "**b**" not in str(render(doubled, "markdown"))


def test_boxes_with_one_action_are_one_line() -> None:
    def cut(box: Any, level: int) -> tuple[int, float] | None:
        return (0, (box[0][0] + box[1][0]) / 2) if level < 4 else None

    q = np.eye(2)[[0] * 7 + [1] * 9]
    named = LabelledController(Controller(tree([0.0], [16.0], cut), q), ("x",), ("a", "b"))
    lines = [line for line in str(render(named, "markdown")).splitlines() if line[:1].isdigit()]
    assert lines[1:] == ["2. `x < 7`: **a**", "3. Otherwise: **b**"]


def test_names_cannot_leave_their_place_and_a_certificate_is_of_full_numbers() -> None:
    cited = Cited(Fingerprint("certificate.json", "ab" * 32, "all states"))
    named = MAPS["pole"](np.random.default_rng(3))._replace(certificates=cited)
    named = named._replace(actions=("`**|x\n1. y", "<script>"), task="a\n# b")
    found = to_markdown(decision_of(named))
    text = str(found.content)
    assert text.count("\n1. ") == 1
    assert "<script>" not in text
    assert not re.search("^# b", text, re.MULTILINE)
    assert "ab" * 32 in text
    assert "It speaks of the numbers in full, not of the rounded ones." in text
    assert found.decision.said in text
