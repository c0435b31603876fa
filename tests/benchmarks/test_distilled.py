"""The studies of distilling, in small: maps are judged by Gymnasium's own trials, and shown in the gallery."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks import distilled, gallery, rows

import distinguo as dg
from tests.distillation.common import QUICK, swing

BLANK = distilled.Row(
    "Cart", "CartPole-v1", "dqn", 0, "", 0, 0, True, 0.0, 0.0, 0.0, 500.0, 0.0, 0, 0.0, 2, ""
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the benchmark leaves it, with one small run of MountainCar-v0."""
    folder = tmp_path_factory.mktemp("distilled")
    small = dg.distil(
        dg.Policy(swing, "dqn"), "MountainCar-v0", keep=-140.0, settings=QUICK, out=folder / "MountainCar-7"
    )
    returns = distilled.new_returns(small.run)
    known = BLANK._replace(name="MountainCar", task="MountainCar-v0", teacher="dqn", seed=7, kept=small.kept)
    known = known._replace(prototypes=small.run.summary["prototypes"], new_score=float(returns.mean()))
    rows.append(folder / "distilled.csv", [known], known._fields)
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
    [known] = rows.read(runs / "distilled.csv", distilled.Row)
    rows.append(tmp_path / "distilled.csv", [known._replace(kept=False)], known._fields)
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
    for seed, size, fitted in ((1, 2, "4"), (2, 5, ""), (3, 3, "3")):
        row = BLANK._replace(
            seed=seed, prototypes=size, fitted=fitted, kept=seed != 2, new_score=480.0 + seed
        )
        rows.append(path, [row._replace(seconds=10.0 * seed)], row._fields)
    last = distilled.table(path).splitlines()[-1]
    assert last == ("| CartPole-v1, dqn | 2 of 3 | 4 | 3 (2-5) | 482.0 (481.0) | 500.0 | 20 (10-30) |")
