"""Prototypes for tables: scikit-learn's own checks, the equations by hand, and borders that are known."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import distinguo as dg
from distinguo.distillation.estimators import lesson_of

#: Checks of scikit-learn that need pandas.
OF_PANDAS = (
    "check_sample_weights_pandas_series",
    "check_classifier_data_not_an_array",
    "check_regressor_data_not_an_array",
)


@pytest.mark.parametrize(
    "made", [dg.PrototypeClassifier(n_init=2), dg.PrototypeRegressor(2, n_init=1)], ids=repr
)
def test_scikit_learns_own_checks(made: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", SkipTestWarning
        )  # of array API, which takes a variable of the environment
        results = check_estimator(made)
    skipped = {one["check_name"] for one in results if one["status"] == "skipped"}
    assert {one["check_name"] for one in results if one["status"] != "passed"} == skipped
    assert skipped <= {"check_array_api_input", *(() if find_spec("pandas") else OF_PANDAS)}


def blobs(seed: int, count: int, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=count)
    return rng.normal(size=(count, 2)) * (1.0, 50.0) + np.outer(labels, (2.0, 30.0)), labels


@given(seed=st.integers(0, 10**6), size=st.integers(1, 6))
@settings(max_examples=10, deadline=None)
def test_the_nearest_prototype_decides(seed: int, size: int) -> None:
    seen, labels = blobs(seed, 60)
    model = dg.PrototypeClassifier(size, n_init=1, random_state=seed).fit(seen, labels)
    assert model.prototypes_.shape == (size, 2)
    apart = (((seen[:, None] - model.prototypes_) / model.scale_) ** 2).sum(axis=2)
    assert (model.predict(seen) == model.prototype_classes_[apart.argmin(axis=1)]).all()
    shares = model.predict_proba(seen)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(seen)).all()


@given(seed=st.integers(0, 10**6))
@settings(max_examples=5, deadline=None)
def test_a_weight_is_so_many_rows(seed: int) -> None:
    seen, labels = blobs(seed, 40)
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, size=40)
    counts[:3] = 1
    mixed = rng.permutation(int(counts.sum()))
    again = np.repeat(seen, counts, axis=0)[mixed], np.repeat(labels, counts)[mixed]
    for kind in (dg.PrototypeClassifier, dg.PrototypeRegressor):
        one = kind(3, n_init=1, random_state=0)
        weighted = one.fit(seen, labels, sample_weight=counts).predict(seen)
        assert (one.fit(*again).predict(seen) == weighted).all()


@pytest.mark.parametrize(("costs", "border"), [(None, 0.0), ([[0, 10], [1, 0]], math.log(10) / 2)])
def test_the_border_lies_where_both_answers_cost_the_same(costs: Any, border: float) -> None:
    """Two normal distributions of variance 1 around -1 and 1 are equally dear at half the logarithm of the ratio."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 4_000)
    seen = rng.normal(2.0 * labels - 1.0)[:, None]
    model = dg.PrototypeClassifier(costs=costs, random_state=0).fit(seen, labels)
    line = np.linspace(-3.0, 3.0, 6_001)
    assert line[model.predict(line[:, None]).argmax()] == pytest.approx(border, abs=0.12)
    weight = np.where(labels == 0, 1.0 if costs is None else 10.0, 1.0)
    same = dg.PrototypeClassifier(random_state=0).fit(seen, labels, sample_weight=weight)
    assert same.prototypes_ == pytest.approx(model.prototypes_)


def test_a_lesson_of_costs_has_the_same_least_cost() -> None:
    """For every map of states to answers, the weight of its wrong rows is its cost but for a constant."""
    rng = np.random.default_rng(1)
    costs, weight = rng.uniform(0, 5, (6, 3)), rng.uniform(0.1, 2, 6)
    lesson = lesson_of(np.arange(6.0)[:, None], costs, weight)
    gaps = set()
    for answers in rng.integers(3, size=(50, 6)):
        wrong = ~lesson.good[np.arange(len(lesson.seen)), answers[lesson.seen[:, 0].astype(int)]]
        gaps.add(round(float(lesson.weight[wrong].sum() - weight @ costs[np.arange(6), answers]), 9))
    assert len(gaps) == 1


def test_laws_are_found_and_kept_within_what_was_seen() -> None:
    rng = np.random.default_rng(0)
    seen = rng.uniform(-1, 1, (600, 2)) * (1.0, 100.0)
    wanted = np.where(seen[:, 0] < 0.2, 3 * seen[:, 0] + 0.02 * seen[:, 1], 1 - 2 * seen[:, 0])
    model = dg.PrototypeRegressor(2, random_state=0).fit(seen, wanted)
    assert model.score(seen, wanted) > 0.97
    rows = np.vstack([seen, 100 * seen])
    near = (((rows[:, None] - model.prototypes_) / model.scale_) ** 2).sum(axis=2).argmin(axis=1)
    said = (rows * model.coef_[near]).sum(axis=1) + model.intercept_[near]
    assert model.predict(rows) == pytest.approx(np.clip(said, wanted.min(), wanted.max()))


def test_names_of_classes_in_a_pipeline_and_a_search() -> None:
    seen, labels = blobs(3, 90)
    names = np.array(["left", "middle", "right"])[labels]
    search = GridSearchCV(
        make_pipeline(StandardScaler(), dg.PrototypeClassifier(n_init=2, random_state=0)),
        {"prototypeclassifier__n_prototypes": [1, 3]},
        cv=3,
    ).fit(seen, names)
    assert search.best_params_ == {"prototypeclassifier__n_prototypes": 3}
    assert set(search.predict(seen)) <= set(names)


@pytest.mark.parametrize(
    ("named", "weight", "said"),
    [
        ({"costs": [[0, 1]]}, None, "costs should be a row for each of the 3 classes"),
        ({"costs": [[0, 1, 1], [1, 0, -1], [1, 1, 0]]}, None, "0 or more"),
        ({"n_prototypes": 0}, None, "n_prototypes should be a whole number"),
        ({"n_prototypes": 2.5}, None, "n_prototypes should be a whole number"),
        ({"decay": -1.0}, None, "decay should be a number, 0 or more"),
        ({}, -np.ones(30), "weights of samples should be 0 or more"),
    ],
)
def test_bad_input_is_one_sentence(named: Any, weight: Any, said: str) -> None:
    with pytest.raises(dg.DistinguoError, match=said):
        dg.PrototypeClassifier(**named).fit(*blobs(0, 30), sample_weight=weight)


def test_scikit_learn_is_imported_for_these_alone() -> None:
    code = "import sys; import distinguo as dg; dg.learn; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = """if True:
        import sys
        sys.modules["sklearn"] = None
        import distinguo as dg
        try:
            dg.PrototypeRegressor()
        except dg.DistinguoError as error:
            print(error)
    """
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert (
        said == 'PrototypeRegressor needs scikit-learn 1.6 or newer; run pip install "distinguo[sklearn]".\n'
    )
