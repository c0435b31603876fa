"""The plans of the repository can be read, and their runs become lines of a table, once each."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from benchmarks import planned, rows, schedulers

from distinguo.engines.engine import Engine
from distinguo.studies.plan import read_study
from distinguo.tasks.catalog import task_spec


class Line(NamedTuple):
    plan: str
    task: str
    asked: str
    settings: str
    seed: int
    solved: int
    regions: int
    model_queries: float  #: which this learner does not have


def test_every_plan_can_be_read() -> None:
    names = sorted(path.stem for path in planned.PLANS.glob("*.toml"))
    assert len(names) > 10
    for name, plan in planned.plans_of(names).items():
        assert plan.runs(), name
    walls = task_spec("unequal-walls")
    assert walls.controllable_among([[0.0, 0.0], [1.19, 5.0]]).tolist() == [0]  # the other is doomed


def test_runs_of_a_plan_are_lines_of_a_table(tmp_path: Path) -> None:
    plan = read_study('[study]\ntasks = ["puck"]\nlearners = ["economy"]\nseeds = "1-2"\ntrials = 1')
    table, arguments = tmp_path / "table.csv", planned.asked(Line, {"small": plan})
    made = rows.measured(table, Line, planned.learned, arguments, Engine(workers=1))
    assert [line[:7] for line in made] == [
        ("small", "puck", "economy", "default", 1, 1, 4),
        ("small", "puck", "economy", "default", 2, 1, 4),
    ]
    had = table.read_bytes()
    again = rows.measured(table, Line, print, arguments)
    assert [line[:7] for line in again] == [line[:7] for line in made]
    assert table.read_bytes() == had


def test_what_fails_is_listed_and_the_others_are_kept(tmp_path: Path) -> None:
    table, asked = tmp_path / "table.csv", {("a", n): {"x": n} for n in (1, 0)}
    with pytest.raises(SystemExit, match=r"\('a', 0\): ZeroDivisionError"):
        rows.measured(table, Inverse, inverse, asked, Engine(workers=1))
    assert rows.read(table, Inverse) == [Inverse("a", 1, 1.0), Inverse("a", 1, 1.0)]


class Inverse(NamedTuple):
    name: str
    x: int
    inverse: float


def inverse(x: int) -> list[Inverse]:
    """Several lines of one call."""
    return [Inverse("a", x, 1 / x)] * 2


def test_a_row_of_schedulers_is_the_median_of_the_solved_runs() -> None:
    blank = schedulers.Run("p", "Fork", "table", "dyna--min_updates-3", 0, 1, *[float("nan")] * 8)
    runs = [
        blank._replace(trials=float(n), backups_before_last=10.0 * n, solved=int(n < 3)) for n in (1, 2, 3)
    ]
    told = schedulers.line("fork", "dyna--min_updates-3", runs)
    assert (told["scheduler"], told["changed"]) == ("dyna", "min_updates=3")
    assert (told["seeds"], told["solved"], told["trials"], told["backups"]) == (3, 2, "2", "15")
    assert told["model_queries"] == ""
