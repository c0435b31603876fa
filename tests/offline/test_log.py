"""Logs: what is read from every kind of file is what was recorded, and bad files get one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.offline.log import Transitions
from distinguo.offline.readers import load_log
from distinguo.offline.record import record_log as record
from distinguo.tasks.catalog import task_spec

COLUMNS = ("before", "action", "reward", "after", "ended", "cut")


def same(a: Transitions, b: Transitions) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in COLUMNS)


@pytest.mark.parametrize(("task", "seed"), [("puck", 0), ("CartPole-v1", 1), ("Acrobot-v1", 2)])
@pytest.mark.parametrize("suffix", ["csv", "npz"])
def test_a_log_is_read_as_it_was_recorded(task: str, seed: int, suffix: str, tmp_path: Path) -> None:
    log = record(task, steps=700, seed=seed, out=tmp_path / f"log.{suffix}")
    read, plain = load_log(tmp_path / f"log.{suffix}", task_spec(task)), load_log(tmp_path / f"log.{suffix}")
    assert same(read, log)
    assert (read.dimensions, read.actions) == (log.dimensions, log.actions)
    words = [[one.actions[a] for a in one.action] for one in (log, plain)]  # sorted
    assert words[0] == words[1]
    assert same(plain._replace(action=log.action), log)


def test_actions_are_all_by_name_or_all_by_number(tmp_path: Path) -> None:
    """The action 0 of Acrobot is named "-1", and its action 1 is named "0"."""
    log = record("Acrobot-v1", steps=100, seed=2)
    assert log.actions == ("-1", "0", "+1")
    lines = [line.split(",") for line in log._text().splitlines()]
    for row, a in zip(lines[1:], log.action, strict=True):
        row[6] = str(a)
    (tmp_path / "log.csv").write_text("\n".join(map(",".join, lines)))
    assert same(load_log(tmp_path / "log.csv", task_spec("Acrobot-v1")), log)


def test_episodes_follow_from_ends_and_cuts() -> None:
    log = record(
        "Acrobot-v1", steps=1100, seed=0
    )  # random actions seldom arrive: episodes are cut at 500 steps
    assert log.cut.sum() >= 1
    assert not (log.cut & log.ended).any()
    lengths = np.bincount(log.episodes)
    assert lengths.max() <= 500
    assert (len(log.starts), lengths.sum()) == (len(lengths), 1100)
    assert np.isclose(log.returns.sum(), log.reward.sum())


def test_the_names_of_others_are_understood() -> None:
    """The arrays of Stable-Baselines3's replay buffer: ``dones`` are also true where an episode was stopped."""
    log = record("Acrobot-v1", steps=1100, seed=0)
    theirs = {
        "observations": log.before,
        "next_observations": log.after,
        "actions": log.action[:, None],
        "rewards": log.reward,
        "dones": log.ended | log.cut,
        "timeouts": log.cut,
    }
    assert same(load_log(theirs), log)


def text_of(steps: int = 40) -> list[list[str]]:
    return [line.split(",") for line in record("puck", steps=steps, seed=3)._text().splitlines()]


def change(row: int, name: str, value: str) -> Callable[[list[list[str]]], None]:
    def make(table: list[list[str]]) -> None:
        table[row][table[0].index(name)] = value

    return make


def without(name: str) -> Callable[[list[list[str]]], None]:
    def make(table: list[list[str]]) -> None:
        place = table[0].index(name)
        for row in table:
            del row[place]

    return make


def swapped(table: list[list[str]]) -> None:
    table[10], table[20] = table[20], table[10]


def cut_off(table: list[list[str]]) -> None:
    del table[-1][-3:]


BAD: list[tuple[Any, str]] = [
    (without("action"), "log.csv has no column 'action'; a log has a column for each coordinate"),
    (without("next_v"), "has no column 'next_v'"),
    (without("x"), "has no column 'x'"),
    (without("end"), "has no column 'end'"),
    (change(5, "v", "fast"), "Row 5 of .*log.csv has 'fast' as v, but a number is needed"),
    (change(6, "reward", ""), "Row 6 of .*log.csv has '' as reward, but a number is needed"),
    (change(7, "x", "nan"), "Row 7 of log.csv has nan as coordinate 1 of its observations; every number"),
    (change(7, "reward", "inf"), "Row 7 of log.csv has inf as reward; every number should be finite"),
    (
        change(8, "action", "0.5"),
        "Row 8 of log.csv has the action '0.5'; allowed are left, right, or numbers",
    ),
    (change(8, "action", "up"), "Row 8 of log.csv has the action 'up'; allowed are left, right"),
    (
        change(9, "end", "maybe"),
        "Row 9 of .*log.csv has 'maybe' as end; allowed are 0 and 1, or false and true",
    ),
    (swapped, "Row 9 of log.csv leads to .* but row 10 begins at .*: sort the rows by episode and time"),
    (
        lambda table: table.pop(15),
        "Row 14 of log.csv leads to .* mark the last row of an episode that was stopped",
    ),
    (cut_off, "Line 41 of .*log.csv has 5 cells, but its header has 8; the table is cut off or damaged"),
    (lambda table: table.__delitem__(slice(1, None)), "log.csv should have rows of numbers as observations"),
    (
        lambda table: table.__delitem__(slice(2, None)),
        "log.csv has 1 transitions, but 2 to 5,000,000 are allowed",
    ),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_a_bad_table_gets_one_sentence(make: Any, sentence: str, tmp_path: Path) -> None:
    table = text_of()
    make(table)
    (tmp_path / "log.csv").write_text("\n".join(map(",".join, table)) + "\n")
    with pytest.raises(DistinguoError, match=sentence):
        load_log(tmp_path / "log.csv", task_spec("puck"))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rewards": None}, "data has no array 'rewards', only observations, actions"),
        (
            {"observations": [[0.0], [1.0], [2.0]]},
            "of shape \\(3, 1\\) but next observations of shape \\(2, 1\\)",
        ),
        ({"actions": [0, 1, 0]}, "one action for each of its 2 transitions"),
        (
            {"actions": [0.5, 1.0]},
            "has the action 0.5; allowed are whole numbers .* Amounts such as a torque",
        ),
        ({"actions": [[0.1, 0.2], [0.3, 0.4]]}, "several amounts at once are not supported"),
        ({"actions": ["left", "0"]}, "has actions by number and by name"),
        ({"ends": [0, 2]}, "has 2 as end; allowed are 0 and 1"),
        ({"observations": "words"}, "should have rows of numbers as observations, got"),
        ({"rewards": ["much", "little"]}, "should have a number as reward for each"),
        ({"observations": [["a"], ["b"]]}, "should have rows of numbers as observations"),
    ],
)
def test_bad_arrays_get_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    arrays: dict[str, Any] = {
        "observations": [[0.0], [1.0]],
        "actions": [0, 1],
        "rewards": [0.0, 0.0],
        "next_observations": [[1.0], [2.0]],
        "ends": [False, True],
    }
    arrays = {key: value for key, value in (arrays | changes).items() if value is not None}
    with pytest.raises(DistinguoError, match=sentence):
        load_log(arrays)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "log.csv has nothing; write a table with a header"),
        ("x;v;action\n0;0;left\n", "log.csv has one column, 'x;v;action'; write .* commas between its cells"),
        ("x,x,action\n0,0,left\n", "log.csv has two columns 'x'; give each a name of its own"),
        ("v,next_x,next_v,action,reward,end\n0,0,0,a,0,0\n", "log.csv has no column 'x'; a log has"),
    ],
)
def test_a_bad_header_gets_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(DistinguoError, match=sentence):
        load_log(tmp_path / "log.csv")


def test_a_log_of_another_task_is_rejected(tmp_path: Path) -> None:
    record("puck", steps=50, out=tmp_path / "log.npz")
    with pytest.raises(DistinguoError, match="observations of 2 coordinates, but CartPole-v1 has 4"):
        load_log(tmp_path / "log.npz", task_spec("CartPole-v1"))
    with pytest.raises(DistinguoError, match="is of a kind that is not read; allowed are"):
        load_log(tmp_path / "log.txt")


def test_episodes_by_number_should_be_together(tmp_path: Path) -> None:
    log = record("puck", steps=400, seed=4)
    lines = log._text().splitlines()
    assert log.episodes[-1] >= 2
    numbered = [f"{line},{episode}" for line, episode in zip(lines[1:], log.episodes, strict=True)]
    (tmp_path / "log.csv").write_text("\n".join([lines[0] + ",episode", *numbered]))
    assert same(load_log(tmp_path / "log.csv"), log)
    apart = [*numbered[50:], *numbered[:50]]
    (tmp_path / "log.csv").write_text("\n".join([lines[0] + ",episode", *apart]))
    with pytest.raises(
        DistinguoError, match=r"The rows of episode 0 in .* are not together; sort the table by"
    ):
        load_log(tmp_path / "log.csv")
