"""The comparison with the neighbours, with two of them and two seeds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools.neighbours import with_tables

from distinguo import DistinguoError
from distinguo.comparison.plan import AveragedCurve
from distinguo.engines.engine import Engine
from distinguo.tasks.catalog import task_spec
from distinguo_lab.neighbours import page as maps
from distinguo_lab.neighbours import study
from distinguo_lab.neighbours.page import as_csv, from_csv, summary_rows, task_table, write_neighbours
from distinguo_lab.neighbours.study import (
    LEARNER,
    PLANNER,
    REPRESENTATION,
    SYSTEMS,
    TASKS,
    Cell,
    Measurement,
    Neighbours,
    Scale,
    System,
    Trial,
    _first_reached,
    compare_neighbours,
)

ECONOMY = SYSTEMS[0]
CLUSTERS = System("clusters", REPRESENTATION, "vigilance:0.9", "")
AHEAD = System("ahead", PLANNER, "3", "")
NO_GOOD = System("lines", REPRESENTATION, "near-start:0", "")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "SYSTEMS", (ECONOMY, CLUSTERS, AHEAD, NO_GOOD))
    monkeypatch.setattr(maps, "SYSTEMS", (ECONOMY, CLUSTERS, AHEAD, NO_GOOD))
    monkeypatch.setattr(study, "QUICK", Scale(("puck",), 2, Trial(steps=10_000, cap=2_000)))


@pytest.mark.usefixtures("few")
def test_every_system_is_run_on_every_seed_and_written_down(tmp_path: Path) -> None:
    found = compare_neighbours(tmp_path, quick=True, seed=3)
    learned, clustered, ahead, refused = found.cells
    assert [one.seed for one in learned.measurements] == [3, 4]
    assert all(one.succeeded and one.size < 12 and one.steps < 6_000 for one in learned.measurements)
    assert all(one.carries is None and one.size > 2 for one in clustered.measurements)
    assert all(one.steps == 14 and one.size == 0 for one in ahead.measurements)
    assert "levels of near-start" in refused.refused
    page, picture = write_neighbours(found)
    assert "paper's learner" in page.read_text()
    assert picture.stat().st_size > 10_000
    rows = summary_rows(found)
    assert [row["runs"] for row in rows] == [2, 2, 2, 0]
    assert from_csv(as_csv(rows)) == rows


@pytest.mark.usefixtures("few")
def test_what_is_there_is_not_run_again_and_another_question_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []

    def counted(system: System, task: str, seed: int, trial: Trial) -> Measurement:
        ran.append(seed)
        if system is NO_GOOD:
            raise DistinguoError("no good")
        return Measurement(seed, True, 4, 100, None, 0.1)

    monkeypatch.setattr(study, "measure", counted)
    first = compare_neighbours(tmp_path, quick=True, seed=0)
    assert sorted(ran) == [0, 0, 0, 0, 1, 1, 1, 1]
    ran.clear()
    assert compare_neighbours(tmp_path, quick=True, seed=0) == first
    assert not ran
    compare_neighbours(tmp_path, quick=True, seed=7)
    assert sorted(ran) == [7, 7, 7, 7, 8, 8, 8, 8]


def test_the_goal_has_to_be_held_to_the_end() -> None:
    def reached(*scores: float) -> int | None:
        marks = [0, 10, 20, 30]
        curve = AveragedCurve("it", "", 2, marks, np.array([scores]), np.ones((1, 4)))
        return _first_reached(curve, task_spec("puck"), Trial(cap=100))

    assert reached(5, 100, 100, 100) == 10
    assert reached(5, 100, 20, 100) == 30
    assert reached(100, 100, 100, 100) == 0
    assert reached(100, 100, 100, 99) is None


def test_steps_are_those_of_success_and_sizes_those_of_all() -> None:
    runs = [Measurement(n, n < 3, 10 * n, 100 * n, n == 0, 0.5) for n in range(5)]
    found = Neighbours([Cell(ECONOMY, "puck", tuple(runs))], Path(), 0)
    row = task_table(summary_rows(found)).splitlines()[2]
    assert row == "| the paper's learner (`economy`) | 20 | 100 | 3 of 5 | 1 of 5 | 0.50 |"


def test_every_system_has_its_own_name_and_source() -> None:
    assert len({system.name for system in SYSTEMS}) == len(SYSTEMS)
    for system in SYSTEMS:
        assert system.source
        assert system.door in (LEARNER, REPRESENTATION, PLANNER)
        assert set(system.by_task) <= set(TASKS)


def test_the_page_shows_what_the_table_says() -> None:
    docs = Path(__file__).parents[3] / "docs"
    page, rows = (docs / "neighbours.md").read_text(), (docs / "neighbours.csv").read_text()
    assert with_tables(page, rows) == page
    assert {row["task"] for row in from_csv(rows)} == set(TASKS)


@pytest.mark.second_stage
def test_every_engine_and_every_part_give_the_same_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tuple(system for system in SYSTEMS if system.name in ("the paper's learner", "uniform grid"))
    monkeypatch.setattr(study, "SYSTEMS", few)
    monkeypatch.setattr(study, "QUICK", Scale(("puck",), 2, Trial(steps=2_000, cap=500)))

    def figures(name: str, engine: Engine, *shards: tuple[int, int]) -> list[Any]:
        for shard in shards:
            found = compare_neighbours(tmp_path / name, quick=True, engine=engine, shard=shard)
        return [cell._replace(measurements=[one[:-1] for one in cell.measurements]) for cell in found.cells]

    expected = figures("threads", Engine("threads", 2), (1, 1))
    assert [len(cell.measurements) for cell in expected] == [2, 2]
    for name in ("processes", "dask"):
        assert figures(name, Engine(name, 2), (1, 1)) == expected
    assert figures("shards", Engine("threads", 1), (2, 2), (1, 2)) == expected
