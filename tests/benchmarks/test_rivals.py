"""The rivals: the whole command with a tiny budget, and the rules by which they are judged."""

from __future__ import annotations

import csv
import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.rivals import ars, report, sb3, tables
from benchmarks.rivals.__main__ import main
from benchmarks.rivals.referee import Referee, Size
from benchmarks.rivals.world import World, coordinates

CART, CAR = "CartPole-v1", "MountainCar-v0"
CHEAP = ["ours", "random search", "evolutionary tree", "grid, Q-learning", "tiles, SARSA(λ)", "ARS"]


def command(monkeypatch: pytest.MonkeyPatch, base: Path, *words: str) -> str:
    options = ["--tasks", CART, "--budget", "5000", "--runs", str(base / "runs"), "--out", str(base / "docs")]
    monkeypatch.setattr(sys, "argv", ["rivals", *options, *words])
    main()
    return (base / "docs" / "rivals.md").read_text()


def rows(page: str) -> dict[str, list[str]]:
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in cells}


def test_the_command_writes_what_the_runs_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = ["--seeds", "1000-1001", "--rivals", *CHEAP]
    page = command(monkeypatch, tmp_path, *words)
    table = rows(page)
    assert list(table) == ["rival", *CHEAP]
    assert table["rival"] == [cell.strip() for cell in report.HEAD.strip("|").split("|")][1:]
    with (tmp_path / "docs" / "rivals.csv").open() as file:
        runs = list(csv.DictReader(file))
    assert list(runs[0]) == report.COLUMNS
    assert len(runs) == 2 * len(CHEAP)
    for name in CHEAP:
        theirs = [r for r in runs if r["rival"] == name]
        solved = [r for r in theirs if r["solved"] == "True"]
        assert table[name][1] == f"{len(solved)} of 2"
        middle = statistics.median(int(r["steps"]) for r in theirs)
        assert table[name][3] == (f"{middle:,.0f}" if len(solved) == 2 else "> 5,000")
        assert all(int(r["size"]) > 0 and int(r["steps"]) > 0 for r in theirs)
    assert (tmp_path / "docs" / "images" / "rivals.png").stat().st_size > 10_000
    # what was run is not run again, and the page says what is in the files
    kept = {path: path.read_text() for path in (tmp_path / "runs").iterdir()}
    assert command(monkeypatch, tmp_path, *words) == page
    assert {path: path.read_text() for path in (tmp_path / "runs").iterdir()} == kept
    for path, text in kept.items():
        lines = [json.loads(line) for line in text.splitlines()]
        for line in lines:
            line["answer"] |= {"solved": True, "steps": 1234, "again": 500.0}
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert rows(command(monkeypatch, tmp_path, *words, "--report"))["ARS"][3] == "1,234"


def test_a_rival_whose_package_is_missing_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sb3.PACKAGES, "DQN", "no_such_package")
    page = command(monkeypatch, tmp_path, "--seeds", "1000-1000", "--rivals", "DQN", "random search")
    told = "DQN was left out: `pip install no-such-package` brings it."
    assert told in page
    assert told in capsys.readouterr().out
    assert "DQN" not in rows(page)


def balance(seen: np.ndarray) -> int:
    return int(seen[2] + 0.5 * seen[3] + 0.05 * seen[0] + 0.1 * seen[1] > 0)


def test_a_good_policy_passes_and_a_bad_one_does_not() -> None:
    referee = Referee(CART, 1000, 10_000)
    assert referee.after_trial(100, 10.0, lambda: balance) is None  # neither claimed nor time
    look = referee.after_trial(2_100, 9.0, lambda: lambda seen: 0)
    assert look is not None
    assert (look.passed, look.mean < 15, referee.failed_steps > 0, referee.over) == (False, True, True, False)
    assert [referee.after_trial(n, 500.0, lambda: balance) for n in (2_200, 2_300)] == [None, None]
    look = referee.after_trial(2_800, 500.0, lambda: balance)  # a claim
    assert look is not None
    assert look.passed
    found = referee.outcome("someone", Size(4, "weights"))
    assert (found["solved"], found["steps"], found["size"]) == (True, 2_800, 4)
    assert found["again"] >= 475
    assert found["confirmation_steps"] >= 14_000
    assert referee.failed_steps < 100


def test_a_policy_that_was_turned_down_is_not_tested_again_nor_one_beyond_the_budget() -> None:
    referee, bad = Referee(CART, 1000, 10_000), lambda seen: 1
    assert referee.after_trial(2_000, 9.0, lambda: bad) is not None
    assert referee.after_trial(4_000, 9.0, lambda: bad) is None
    assert referee.after_trial(10_001, 9.0, lambda: balance) is None
    assert referee.over
    assert not referee.outcome("someone", Size(1, "weights"))["solved"]


def dense_sarsa(tiles: tables.Tiles, world: World) -> float:
    """SARSA(λ) from the book, with a trace for every weight."""
    s, w = tiles.settings, tiles.w
    trace, over, gained = np.zeros(w.shape), False, 0.0
    active = tiles.active(world.reset())
    a = tiles.greedy(active)
    while not over:
        seen, reward, terminal, over = world.step(a)
        following = tiles.active(seen)
        a_next = tiles.greedy(following)
        target = reward + (0.0 if terminal else s.gamma * w[a_next, following].sum())
        delta = target - w[a, active].sum()
        trace *= s.gamma * tables.LAMBDA
        trace[a, active] = 1.0
        w += s.alpha / s.tilings * delta * trace
        active, a, gained = following, a_next, gained + reward
    return gained


def test_traces_of_the_last_steps_are_those_of_the_book(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "TRACE", 200)  # nothing is forgotten within a trial
    sparse, dense = tables.Tiles(CAR, 3), tables.Tiles(CAR, 3)
    ours, books = World(CAR, [1, 0]), World(CAR, [1, 0])
    for _ in range(2):
        assert tables.sarsa_trial(sparse, ours) == dense_sarsa(dense, books)
    np.testing.assert_allclose(sparse.w, dense.w, rtol=1e-9, atol=1e-12)
    assert np.count_nonzero(sparse.w) > 100


def test_tilings_are_displaced_and_every_tiling_has_a_tile() -> None:
    tiles = tables.Tiles(CAR, 3)
    active = tiles.active(np.array([-0.5, 0.0]))
    per_tiling = tiles.w.shape[1] // tiles.settings.tilings
    assert (active // per_tiling).tolist() == list(range(10))
    near = tiles.active(np.array([-0.5 + 1.8 / 8 / 5, 0.0]))
    assert 0 < (active != near).sum() < 10
    assert np.prod(tables.Grid(CART, 2).shape) == 162


def test_the_acrobot_is_divided_by_its_angles() -> None:
    seen = np.array([np.cos(2.0), np.sin(2.0), np.cos(-1.0), np.sin(-1.0), 3.0, 4.0])
    np.testing.assert_allclose(coordinates(seen), [2.0, -1.0, 3.0, 4.0])


def test_random_search_along_directions_goes_uphill() -> None:
    settings = ars.ArsSettings(directions=2, top=1, rate=1.0)
    deltas = np.array([[1.0, 0.0], [0.0, 1.0]])
    step = ars.update(settings, deltas, np.array([[3.0, 1.0], [0.0, 2.0]]))
    np.testing.assert_allclose(
        step, [2.0, 0.0], rtol=1e-5
    )  # the better direction alone, over its deviation of 1


def test_schedules_run_over_the_published_steps() -> None:
    settings: dict[str, Any] = sb3.scheduled(sb3.DQN[CART], 200_000)
    assert settings["exploration_fraction"] * 200_000 == pytest.approx(8_000)
    falls = sb3.scheduled(sb3.PPO[CART], 200_000)["learning_rate"]
    assert [falls(left) for left in (1.0, 0.75, 0.5, 0.1)] == pytest.approx([0.001, 0.0005, 0.0, 0.0])


def test_the_page_in_the_documents_is_of_the_runs_beside_it() -> None:
    docs = Path(report.__file__).parents[2] / "docs"
    with (docs / "rivals.csv").open() as file:
        runs = list(csv.DictReader(file))
    page = (docs / "rivals.md").read_text()
    ours = [r for r in runs if r["rival"] == "ours" and r["task"] == CART]
    middle = statistics.median(int(r["steps"]) for r in ours)
    assert re.search(rf"\*\*{CART}\*\*: ours {middle:,.0f} steps", page)
