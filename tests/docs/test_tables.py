"""No table goes stale in silence: rows of every current CSV in docs/ are made again; the others name their commit."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from benchmarks import offline, planned, tables
from benchmarks.confirmation import LAWS, row
from benchmarks.default_learner import measured, spec_named
from benchmarks.robustness.measure import Figures, plans_in
from benchmarks.robustness.page import written
from benchmarks.rows import read

from distinguo.runs.configuration import choice_for
from distinguo.studies.plan import HELD_OUT
from tests.nightly import NIGHTLY, so_many

DOCS = Path(__file__).parents[2] / "docs"
#: Tables of the present code, with the tests below.
CURRENT = {"robustness.csv", "confirmation.csv", "default-learner.csv", "offline.csv", "tables.csv"}
#: Tables of an earlier commit, and the page that names it.
EARLIER = {
    "distilled.csv": "distil.md",
    "distilled-trees.csv": "distil.md",
    "neighbours.csv": "neighbours.md",
    "rivals.csv": "rivals.md",
    "schedulers.csv": "schedulers.md",
    "small-controllers.csv": "small-controllers.md",
    "worlds.csv": "worlds.md",
}


def rows_of(name: str) -> list[dict[str, str]]:
    with (DOCS / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_table_is_current_or_names_its_commit() -> None:
    assert {path.name for path in DOCS.rglob("*.csv")} == CURRENT | set(EARLIER)
    for table, page in EARLIER.items():
        text = (DOCS / page).read_text()
        assert table in text
        assert re.search(r"[Mm]ade at commit [0-9a-f]{7}", text), page


def test_rows_of_robustness_are_made_again() -> None:
    data = read(DOCS / "robustness.csv", Figures)
    plans = plans_in(planned.PLANS)
    for number in np.random.default_rng(len(data)).permutation(len(data))[: so_many(6, 60)]:
        wanted = data[number]
        plan = plans[wanted.plan]
        one = plan._replace(
            configurations={c: k for c, k in plan.configurations.items() if c == wanted[1:4]},
            parts={HELD_OUT: (wanted.seed,)},
        )
        key, arguments = planned.asked(Figures, {wanted.plan: one}).popitem()
        assert key == wanted[:5]
        assert Figures(*planned.learned(**arguments)) == wanted


def test_the_page_of_robustness_has_the_rows() -> None:
    plans, page = plans_in(planned.PLANS), (DOCS / "robustness.md").read_text()
    replays = page[page.index("## Two failures") :]
    assert written(plans, read(DOCS / "robustness.csv", Figures), replays) == page


def test_rows_of_the_default_learner_are_made_again() -> None:
    """Those that take little time; the page has the learner that is chosen for each task."""
    rows = rows_of("default-learner.csv")
    page = (DOCS / "gymnasium.md").read_text()
    for task in {line["task"] for line in rows}:
        assert re.search(rf"\| {re.escape(task)} \|.*\| {choice_for(spec_named(task)).learner} \|", page), (
            task
        )
    quick = [line for line in rows if float(line["seconds"]) < 0.2]
    for number in np.random.default_rng(len(rows)).permutation(len(quick))[: so_many(3, 60)]:
        wanted = quick[number]
        made = measured(wanted["task"], wanted["learner"], int(wanted["seed"]))
        found = {name: str(value) for name, value in made._asdict().items()}
        assert {**found, "seconds": ""} == {**wanted, "seconds": ""}


def test_rows_of_the_confirmation_are_made_again() -> None:
    """By day a quick one; all of them take a quarter of an hour."""
    rows = {line["distribution"]: line for line in rows_of("confirmation.csv")}
    assert set(rows) == {law.name for law in LAWS}
    assert all(int(line["runs"]) == 5_000 and int(line["claims"]) == 20 for line in rows.values())
    assert all(float(line["false_solved_upper"]) <= 0.06 for line in rows.values())
    assert all(float(line["refused_upper"]) <= 0.05 for line in rows.values())
    page = (DOCS / "confirmation.md").read_text()
    for line in rows.values():
        false = f"{float(line['false_solved']):.1%} ({float(line['false_solved_upper']):.1%})"
        assert re.search(rf"\| {re.escape(line['distribution'])} \|.*\| {re.escape(false)} \|", page), line
    if NIGHTLY:
        law = LAWS[int(np.random.default_rng().integers(len(LAWS)))]
        made = {name: str(value) for name, value in row(law.name, 5_000, 20)._asdict().items()}
        told = {name: value for name, value in rows[law.name].items() if value}
        assert {name: made[name] for name in told} == told


def test_rows_of_logs_are_made_again() -> None:
    """Those that take little time."""
    quick = [line for line in rows_of("offline.csv") if float(line["seconds"]) < 2.5]
    for number in np.random.default_rng(len(quick)).permutation(len(quick))[: so_many(1, 20)]:
        wanted = quick[number]
        made = offline.measured(
            wanted["task"], wanted["named"] == "True", wanted["learner"], int(wanted["seed"])
        )
        found = {name: str(value) for name, value in made._asdict().items()}
        assert {**found, "seconds": ""} == {**wanted, "seconds": ""}


def test_rows_of_tables_are_made_again() -> None:
    """Of those that come with scikit-learn, whose folds may differ by a row or two between versions."""
    quick = [row for row in tables.known() if row.table in ("iris", "wine") and row.way != tables.GMLVQ]
    for number in np.random.default_rng(len(quick)).permutation(len(quick))[: so_many(4, 40)]:
        wanted = quick[number]
        made = tables.measured(wanted.table, wanted.each, wanted.way, wanted.seed)
        assert made.accuracy == pytest.approx(wanted.accuracy, abs=0.02), wanted


def test_the_page_of_tables_has_the_rows() -> None:
    assert tables.text_of(tables.compared(tables.known())) in tables.PAGE.read_text()
