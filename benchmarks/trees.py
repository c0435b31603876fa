"""Our maps beside decision trees of scikit-learn: the same teachers, trials, rounds, labels and numbers of regions.

    pip install -e ".[others]" scikit-learn && python -m benchmarks.teachers --out teachers
    python -m benchmarks.trees --teachers teachers --out docs --seeds 200-202 [NAME …]

Both begin with the same hundred trials of the teacher. Then each has rounds of trials of its own that the teacher
labels, as many; for every size as many candidates are fitted to as many of the labelled states, weighted by the same
costs, the best is chosen from the same number of starts, and judged by a hundred new trials. A leaf is a region as
a prototype is. ``race`` is our map where changes were put on probation as well, which a tree of scikit-learn has
nothing like.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks import rows
from benchmarks.distilled import HEURISTIC, TEACHERS, land

from distinguo.distillation.costs import Questions
from distinguo.distillation.descent import Descent, TargetReturn, target_return
from distinguo.distillation.fit import Lesson
from distinguo.distillation.teachers import Policy, load_zip, room_of, teacher_of
from distinguo.distillation.trials import Trials, trials_of
from distinguo.learners.distilled import DistilSettings
from distinguo.runs.seeds import seeds as read_seeds
from distinguo.search.maps import PrototypeMap
from distinguo.tasks.catalog import task_spec

SIZES = (10, 8, 6, 5, 4, 3, 2)
NEW = 100  #: trials that every size is judged by
NAMES = ("CartPole", "MountainCar", "Acrobot", "LunarLander")
WAYS = ("tree", "fit", "race")
Decide = Callable[[np.ndarray], np.ndarray]


class Row(NamedTuple):
    """How a map or a tree with so many regions does in new trials."""

    name: str
    seed: int
    way: str
    regions: int
    mean_return: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument("--teachers", type=Path, default=Path("teachers"))
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--seeds", default="200-202")
    parser.add_argument("--draw", action="store_true", help="only draw what is there")
    asked = parser.parse_args()
    path = asked.out / "distilled-trees.csv"
    if not asked.draw:
        keys = product(asked.names or NAMES, read_seeds(asked.seeds), WAYS)
        told = {
            key: {**dict(zip(Row._fields, key, strict=False)), "teachers": str(asked.teachers)}
            for key in keys
        }
        rows.measured(path, Row, curve, told)
    drawn(path, asked.out / "images" / "distilled-trees.png")


def drawn(path: Path, out: Path) -> None:
    """Draw the mean over seeds against the number of regions, a panel for each task."""
    from distinguo.views.colours import HUES, INK
    from distinguo.views.plots import FULL, SMALL, dress, entitle, new_figure

    known = rows.read(path, Row)
    names = [name for name in NAMES if any(row.name == name for row in known)]
    figure = new_figure(2.6, FULL)
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for way, colour in zip(WAYS, (HUES[5], HUES[0], HUES[2]), strict=True):
            own = [row for row in known if (row.name, row.way) == (name, way)]
            sizes = sorted({row.regions for row in own})
            each = [[row.mean_return for row in own if row.regions == size] for size in sizes]
            axes.plot(
                sizes, [np.mean(one) for one in each], marker="o", ms=2.5, lw=1.0, color=colour, label=way
            )
            for size, one in zip(sizes, each, strict=True):
                axes.plot([size] * len(one), one, ".", ms=2, color=colour)
        axes.set_title(name, fontsize=SMALL, color=INK)
        dress(axes, "regions", "mean return" if name == names[0] else "")
        axes.legend(fontsize=SMALL, framealpha=0.0)
    entitle(figure, "Decision trees and our maps of the same teachers, at every size")
    figure.savefig(out, dpi=160)


def curve(name: str, seed: int, way: str, teachers: str) -> list[Row]:
    """Return the mean return of new trials for every number of regions."""
    warnings.simplefilter("ignore", DeprecationWarning)
    task, kind, _ = TEACHERS[name]
    spec = task_spec(task)
    trials = trials_of(spec, spec.cap(10_000))
    policy = land if kind == HEURISTIC else load_zip(Path(teachers) / f"{task}-{kind}.zip")
    teacher = teacher_of(Policy(policy, kind), room_of(spec))
    settings = DistilSettings(
        race=way == "race", **({} if spec.interpreted else {"steps": 60_000_000, "patience": 1_000})
    )
    questions = Questions(teacher, trials, settings.costs, np.random.default_rng([seed, 5]))
    descent = Descent(trials, questions.label, settings, seed, lambda text: None)
    taught = trials.follow_teacher(teacher.answer, descent.fresh(NEW))
    descent.learn_from(taught)
    target, _ = target_return(spec, taught.returns, None, settings.keep, trials.cap)
    try:
        points = of_trees(descent, trials) if way == "tree" else of_maps(descent, TargetReturn(target))
        return [Row(name, seed, way, size, round(mean, 2)) for size, mean in points]
    finally:
        descent.close()
        trials.close()


def of_maps(descent: Descent, target: TargetReturn) -> list[tuple[int, float]]:
    descent.rounds(SIZES[0])
    before: PrototypeMap | None = None
    points = []
    for size in SIZES:
        best = descent.best_of_size(size, before, target, descent.settings.patience)
        points.append((size, best.candidate.mean))
        before = best.map
    return points


def of_trees(descent: Descent, trials: Trials) -> list[tuple[int, float]]:
    settings = descent.settings
    for _ in range(settings.rounds):
        for tree in candidates(descent, SIZES[0], 2):
            descent.learn_from(trials.follow_teacher(tree, descent.fresh(settings.trials // 2)))
    points = []
    for size in SIZES:
        starts = descent.fresh(settings.starts)
        trees = candidates(descent, size, settings.restarts + size)
        best = max(trees, key=lambda tree: trials.follow_teacher(tree, starts).returns.mean())
        points.append((size, float(trials.follow_teacher(best, descent.fresh(NEW)).returns.mean())))
        descent.learn_from(trials.follow_teacher(best, descent.fresh(settings.trials)))
    return points


def candidates(descent: Descent, leaves: int, count: int) -> list[Decide]:
    """Fit trees with so many leaves to draws of what the teacher said."""
    return [tree_of(descent.lesson, leaves, seed) for seed in range(count)]


def tree_of(lesson: Lesson, leaves: int, seed: int) -> Decide:
    from sklearn.tree import DecisionTreeClassifier

    grown = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=seed)
    grown.fit(lesson.seen, lesson.good.argmax(axis=1), sample_weight=lesson.weight)
    tree, classes = grown.tree_, grown.classes_
    feature, threshold = tree.feature.tolist(), tree.threshold.tolist()
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    answer = classes[tree.value[:, 0, :].argmax(axis=1)].tolist()

    def one(row: Any) -> int:
        node = 0
        while left[node] >= 0:
            node = left[node] if row[feature[node]] <= threshold[node] else right[node]
        return int(answer[node])

    return lambda rows: np.array([one(row) for row in rows.tolist()])


if __name__ == "__main__":
    main()
