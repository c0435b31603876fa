"""The studies of distilling, in small: maps are judged by Gymnasium's own trials, and shown in the gallery."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import distilled, gallery

import distinguo as dg
from tests.distillation.common import QUICK, swing


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the benchmark leaves it, with one small run of MountainCar-v0."""
    folder = tmp_path_factory.mktemp("distilled")
    small = dg.distil(
        dg.Policy(swing, "dqn"), "MountainCar-v0", keep=-140.0, settings=QUICK, out=folder / "MountainCar-7"
    )
    returns = distilled.new_returns(small.run)
    known: dict[str, Any] = dict.fromkeys(distilled.COLUMNS, "")
    known |= {
        "name": "MountainCar",
        "task": "MountainCar-v0",
        "teacher": "dqn",
        "seed": 7,
        "kept": small.kept,
    }
    known |= {"prototypes": small.run.summary["prototypes"], "new_score": returns.mean()}
    known |= {"new_error": returns.std() / 10, "teacher_score": small.fidelity.teacher.mean}
    distilled.add_row(folder, known)
    return folder


def test_a_map_is_judged_by_gymnasiums_own_trials(runs: Path) -> None:
    run = dg.open_run(runs / "MountainCar-7")
    returns = distilled.new_returns(run)
    assert len(returns) == distilled.TRIALS
    assert (returns == distilled.new_returns(run)).all()
    assert returns.mean() >= -140.0
    assert returns.mean() == pytest.approx(run.summary["score"], abs=5 * returns.std() / 10 + 1.0)


def test_the_smallest_map_is_shown(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    [(folder, row)] = gallery.smallest([runs])
    shown = gallery.entry(folder, row, tmp_path)
    run = dg.open_run(runs / "MountainCar-7")
    assert shown["cells"].startswith(f"{run.summary['prototypes']} | ")
    assert (tmp_path / "images" / "gallery-mountaincar.png").stat().st_size > 1_000
    assert f"{run.representation.partition.prototypes[0, 0]:.4g}" in shown["text"]


def test_a_map_that_loses_its_return_is_not_shown(runs: Path, tmp_path: Path) -> None:
    rows = list(csv.DictReader((runs / "distilled.csv").read_text().splitlines()))
    with (tmp_path / "distilled.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, distilled.COLUMNS)
        writer.writeheader()
        writer.writerow({**rows[0], "kept": "False"})
    assert gallery.smallest([tmp_path]) == []


def test_trees_answer_as_scikit_learn_does() -> None:
    tree = pytest.importorskip("sklearn.tree")
    from benchmarks.trees import tree_of

    from distinguo.distillation.fit import Lesson

    rng = np.random.default_rng(3)
    seen = rng.normal(size=(300, 3)).astype(np.float32).astype(float)
    labels = (seen[:, 0] > 0.2).astype(int) + (seen[:, 1] > 0.5)
    lesson = Lesson(seen, np.eye(3, dtype=bool)[labels], np.ones(300))
    theirs = tree.DecisionTreeClassifier(max_leaf_nodes=5, random_state=1).fit(seen, labels)
    assert (tree_of(lesson, 5, 1)(seen) == theirs.predict(seen)).all()


def test_the_table_has_the_medians_over_the_seeds(tmp_path: Path) -> None:
    path = tmp_path / "distilled.csv"
    for seed, size, fitted in ((1, 2, 4), (2, 5, ""), (3, 3, 3)):
        row = dict.fromkeys(distilled.COLUMNS, "") | {"name": "Cart", "task": "CartPole-v1", "teacher": "dqn"}
        row |= {
            "seed": seed,
            "prototypes": size,
            "fitted": fitted,
            "kept": seed != 2,
            "new_score": 480 + seed,
        }
        distilled.add_row(tmp_path, row | {"teacher_score": 500, "seconds": 10 * seed})
    last = distilled.table(path).splitlines()[-1]
    assert last == ("| CartPole-v1, dqn | 2 of 3 | 4 | 3 (2-5) | 482.0 (481.0) | 500.0 | 20 (10-30) |")
