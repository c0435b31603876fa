"""Maps and tables as text, for tasks of any kind."""

from __future__ import annotations

import numpy as np
import pytest

from distinguo.representations.partition import region
from distinguo.views import text
from distinguo.views.text import sheet_of
from tests.views.runs import made_up

TASKS = [
    ("MountainCar-v0", 20),
    ("Pendulum-v1", 25),
    ("CartPole-v1", 40),
    ("FrozenLake-v1", 9),
    ("Blackjack-v1", 60),
]


@pytest.mark.parametrize(("task", "count"), [*TASKS, ("Taxi-v4", 120)])
def test_the_letters_are_the_actions_of_the_run(task: str, count: int) -> None:
    run = made_up(task, count)
    sheet = sheet_of(run.representation, run.configuration.spec)
    names = text.letters_of(run.configuration.spec.actions)
    lines = [line.split("|")[1] for line in text.text_map(run).splitlines() if " |" in line]
    assert len(lines) == len(sheet.rows)
    for line, (_, states) in zip(lines, sheet.rows, strict=True):
        for letter, state in zip(line, states, strict=True):
            q = run.q[region(run.representation.partition, state)]
            assert letter == ("." if (q == q.max()).sum() > 1 else names[int(q.argmax())])


def test_a_map_of_a_slice_says_where_it_is() -> None:
    head, *_ = text.text_map(made_up("CartPole-v1", 40)).splitlines()
    assert head.startswith("(slice at ")


def test_ties_are_explained_where_there_are_any() -> None:
    run = made_up("MountainCar-v0", 12)
    assert ". = tied" not in text.text_map(run)
    assert ". = tied" in text.text_map(run._replace(q=np.zeros_like(run.q)))


def test_of_one_region_a_sentence_is_enough() -> None:
    run = made_up("CartPole-v1", 3, merged=1.0)
    run = run._replace(q=np.array([[0.0, 1.0]]))
    assert text.text_map(run) == "(no map: all is one region, where the greedy action is right)"
    assert "tied" in text.text_map(run._replace(q=np.zeros((1, 2))))


@pytest.mark.parametrize(
    "actions",
    [("left", "right"), ("-1", "0", "+1"), ("-2", "-1", "+0", "+1", "+2"), tuple(f"a{n}" for n in range(60))],
)
def test_every_action_has_a_letter_of_its_own(actions: tuple[str, ...]) -> None:
    assert len(set(text.letters_of(actions))) == len(actions)
    assert "." not in text.letters_of(actions)


@pytest.mark.parametrize(("task", "count"), [*TASKS, ("Acrobot-v1", 12)])
def test_a_table_has_a_row_for_every_region_or_says_how_many_more(task: str, count: int) -> None:
    run = made_up(task, count)
    head, *rows = text.regions_table(run).splitlines()
    names = run.configuration.spec.dimensions
    assert head.split() == ["region", *names, "prototypes", "action", "value", "updates"]
    shown = [row.split() for row in rows if not row.startswith("…")]
    assert len(shown) == min(run.representation.regions, text.MOST_REGIONS)
    assert all(len(row) == len(names) + 5 for row in shown)
    assert max(map(len, rows)) < 120
    more = run.representation.regions - len(shown)
    assert rows[-1].startswith(f"… and {more} more regions") == (more > 0)


def test_reasons_name_prototypes_and_the_regions_that_these_belong_to_now() -> None:
    run = made_up("puck", 12, seed=3, merged=0.5)
    partition = run.representation.partition
    by_rule = {"event": "split", "trial": 1, "prototypes": [0, 7], "regret": 0.5, "rules": ["value (Eq. 4)"]}
    by_rule |= {"step": 9, "profiles": [[0.0, 0.5], [1.0, 0.0]]}
    here = {**by_rule, "states": partition.prototypes[[0, 7]].tolist()}
    elsewhere = {**by_rule, "states": [[9.0, 9.0], [8.0, 8.0]]}  # of a map that was condensed since
    price = {
        "event": "price",
        "prototypes": [3, 5],
        "regions": [1, 2],
        "lost": 2.5,
        "actions": [0, 1],
        "starts": 20,
    }
    old_price = {"event": "price", "regions": [3, 5], "lost": 2.5, "actions": [0, 1], "starts": 20}
    lines = text.reasons_table(run._replace(reasons=[here, elsewhere, price, old_price])).splitlines()
    assert lines[0].split()[:4] == ["trial", "event", "prototypes", "regions"]
    now = partition.regions[[0, 7]].tolist()
    assert now != [0, 7]
    assert lines[1].split()[2:8] == ["0", "/", "7", str(now[0]), "/", str(now[1])]
    assert lines[2].split()[2:6] == ["0", "/", "7", "0.5000"]
    assert lines[3].split()[1:8] == ["3", "/", "5", "1", "/", "2", "2.5"]
    assert lines[4].split()[1:5] == ["3", "/", "5", "2.5"]
