"""Maps and tables as text, for tasks of any kind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import distinguo
from distinguo.representations.partition import region
from distinguo.views import text
from distinguo.views.text import sheet_of
from distinguo.views.words import outcome_sentence, values_name_actions
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
    learned = ["updates"] if values_name_actions(run) else ["value", "updates"]
    assert head.split() == ["region", *names, "prototypes", "action", *learned]
    shown = [row.split() for row in rows if not row.startswith("…")]
    assert len(shown) == min(run.representation.regions, text.MOST_REGIONS)
    assert all(len(row) == len(names) + 3 + len(learned) for row in shown)
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


# Numbers and counts.


def test_no_number_is_minus_zero() -> None:
    run = made_up("puck", 3, merged=0.0)
    run = run._replace(q=np.full((3, 2), -1e-9))
    assert "-0.0000" not in text.regions_table(run)
    assert " 0.0000" in text.regions_table(run)


def test_a_learner_without_values_shows_neither_values_nor_updates() -> None:
    run = made_up("MountainCar-v0", 40)
    run = run._replace(updates=np.zeros_like(run.updates))
    head, *rows = text.regions_table(run).splitlines()
    assert head.split()[-1] == "action"
    assert "updated" not in rows[-1]


def test_one_thing_is_in_the_singular() -> None:
    run = made_up("puck", 3)
    summary = {
        "task": "puck",
        "regions": 1,
        "prototypes": 1,
        "trials": 1,
        "environment_steps": 1,
        "score": 1,
        "solved": True,
    }
    assert outcome_sentence(run._replace(summary=summary)) == (
        "Solved: the greedy policy holds 1 step with 1 region (1 prototype), learned in 1 trial, 1 environment step."
    )


#: What people read in a terminal; explanations and descriptions have words of their own.
PRINTED = (
    *("cli/*.py", "views/text.py", "views/words.py", "runs/run.py", "runs/rollout.py", "comparison/plan.py"),
    *(
        "evaluation/audit.py",
        "verification.py",
        "distillation/*.py",
        "proof/question.py",
        "proof/*/question.py",
    ),
)
COUNTED = re.compile(
    " (environment |training |more |test )?(prototype|region|trial|step|seed|cell|frame|box)e?s"
)


def printed_pieces() -> Iterator[tuple[str, ast.FormattedValue, str]]:
    """Yield the values within texts that people read: the place, the value, and the text after it."""
    source = Path(distinguo.__file__).parent
    for file in sorted(file for pattern in PRINTED for file in source.glob(pattern)):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.JoinedStr):
                for value, after in zip(node.values, [*node.values[1:], None], strict=True):
                    if isinstance(value, ast.FormattedValue):
                        words = after.value if isinstance(after, ast.Constant) else ""
                        yield f"{file.relative_to(source)}:{value.lineno}", value, str(words)


def test_every_printed_number_and_count_is_written_by_the_rules() -> None:
    """A number that may round to zero has the format ``z``, and what is counted goes through ``counted``."""
    wrong = []
    for place, value, after in printed_pieces():
        form = "" if value.format_spec is None else ast.unparse(value.format_spec)
        if (
            re.search(r"[.0-9}]*[fg]'$", form)
            and "z" not in form
            and "seconds" not in ast.unparse(value.value)
        ):
            wrong.append(f"{place}: {ast.unparse(value.value)} is formatted by {form}")
        is_constant = ast.unparse(value.value).rpartition(".")[2].isupper()
        if COUNTED.match(after) and not is_constant:
            wrong.append(f"{place}: {ast.unparse(value.value)}{after[:20]}")
    assert wrong == []
