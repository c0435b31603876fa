"""The tables of docs/robustness.md are those of the runs."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.engines.engine import Engine
from distinguo.evaluation.simulate import evaluate
from distinguo.runs.configuration import configure
from distinguo.runs.many import learn_many
from distinguo.runs.run import Run
from distinguo.tasks.task import start

ROOT = Path(__file__).parents[2]
TASK, SEEDS = "CartPole-v1", range(2)
ROWS: dict[str, dict[str, Any]] = {"as it is": {}, "without imagined trials": {"learner.screen": 1}}
HEAD = f'[study]\ntasks = ["{TASK}"]\nlearners = ["probation"]\nseeds = "0-1"\ntrials = 300\n'


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of two small plans."""
    folder: Path = tmp_path_factory.mktemp("robustness")
    (folder / "robustness-default.toml").write_text(HEAD)
    switch = "\n[settings.without-imagined-trials]\nlearner.screen = 1\n"
    (folder / "robustness-switches.toml").write_text(HEAD + switch)
    made(folder / "page.md")
    return folder / "page.md"


def made(out: Path) -> str:
    """Make a page, and return what was said on the way."""
    words = ["--plans", str(out.parent), "--out", str(out)]
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.robustness", *words],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def runs_of(row: str) -> list[Run]:
    """Learn as a row of the table says."""
    asked = [configure(TASK, seed=n, changes=ROWS[row], learner="probation") for n in SEEDS]
    return learn_many(asked, engine=Engine(workers=1))


def cells_of(page: Path, row: str) -> list[str]:
    """Return the cells of the row in the table of switches."""
    text = page.read_text().partition("what each part is worth")[2]
    line = next(line for line in text.splitlines() if line.startswith(f"| {row} |"))
    return [cell.strip() for cell in line.strip("|").split("|")[1:]]


@pytest.mark.parametrize("row", ROWS)
def test_the_table_has_the_figures_of_the_runs(page: Path, row: str) -> None:
    runs = runs_of(row)
    solved, _, prototypes, steps, learning, total, times = cells_of(page, row)
    assert solved == f"{sum(run.solved for run in runs)} of {len(SEEDS)}"
    both = ("environment_steps", "failed_confirmation_steps")
    for cell, names in ((steps, both[:1]), (learning, both), (total, ("total_steps",))):
        middle, worst = np.percentile([sum(run.summary[name] for name in names) for run in runs], [50, 90])
        assert cell == f"{middle:,.0f} / {worst:,.0f}"
    assert prototypes.split(" / ")[0] == f"{np.median([run.summary['prototypes'] for run in runs]):g}"
    usual = [run.summary["environment_steps"] for run in runs_of("as it is")]
    ratios = [run.summary["environment_steps"] / steps for run, steps in zip(runs, usual, strict=True)]
    assert float(times) == pytest.approx(np.median(ratios), abs=0.005)


def test_again_is_the_mean_of_three_hundred_new_trials(page: Path) -> None:
    with page.with_suffix(".csv").open(newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["plan"] == "robustness-default"]
    lines.sort(key=lambda line: int(line["seed"]))  # they come as they are done
    for run, line in zip(runs_of("as it is"), lines, strict=True):
        task, rng = run.configuration.spec.task, np.random.default_rng([run.configuration.seed, 1])
        starts = np.array([start(task, rng) for _ in range(300)])
        mean = evaluate(task, run.controller, rng, starts, 500).returns.mean()
        assert float(line["fresh"]) == pytest.approx(mean, abs=0.005)
        assert int(line["again"]) == (run.solved and mean >= 475)


def test_what_is_known_is_not_run_again(page: Path) -> None:
    data, before = page.with_suffix(".csv"), page.read_text()
    lines = data.read_text().splitlines()
    assert len(lines) == 1 + len(SEEDS) * len(ROWS)
    data.write_text("\n".join(lines[:-1]) + "\n")
    assert "1 of 1: " in made(page)  # of the others nothing is said
    assert sorted(data.read_text().splitlines()) == sorted(lines)
    assert page.read_text() == before
