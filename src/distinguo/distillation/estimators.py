"""Small maps of tables, with the interface of scikit-learn: prototypes with a class each, or with a law each.

A table is a teacher that has answered already: a class is an action, and what a wrong class costs is what a wrong
action costs. So tables are fitted as policies are (distillation/fit, distillation/laws), under the same metric.

scikit-learn is an extra: ``pip install "distinguo[sklearn]"``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from distinguo.distillation.fit import Lesson, first_map, fitted
from distinguo.distillation.laws import Box, fitted_laws, fitted_within
from distinguo.errors import DistinguoError, attempt, shown, whole_number
from distinguo.search.maps import PrototypeMap, prototype_map

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.class_weight import compute_class_weight
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError:  # the names can be imported without it; to use them takes it

    class BaseEstimator:  # type: ignore[no-redef]
        """In place of scikit-learn's."""

        def __new__(cls, *given: Any, **named: Any) -> Any:
            """Say what is missing."""
            raise DistinguoError(
                f'{cls.__name__} needs scikit-learn 1.6 or newer; run pip install "distinguo[sklearn]".'
            )

    class ClassifierMixin:  # type: ignore[no-redef]
        """In place of scikit-learn's."""

    class RegressorMixin:  # type: ignore[no-redef]
        """In place of scikit-learn's."""


SHORT, LONG = 50, 250  #: steps of L-BFGS: of every fit, and of the best third of them
DECAY = 1e-2  #: of the widths
ROUNDS = 5  #: of laws and regions in turn


class MergedRows(NamedTuple):
    """The different rows of a table, in the order of their numbers, and how much each counts."""

    seen: np.ndarray  #: (rows, features)
    answers: np.ndarray  #: (rows, outputs)
    weight: np.ndarray  #: (rows,)


def merged_rows(seen: np.ndarray, answers: np.ndarray, weight: np.ndarray) -> MergedRows:
    """Make equal rows one that counts as all of them, so that a weight of 2 is the same as a row given twice.

    >>> merged_rows(np.array([[1.0], [0.0], [1.0]]), np.zeros((3, 1)), np.array([1.0, 1.0, 2.0])).weight.tolist()
    [1.0, 3.0]
    """
    if not (weight >= 0.0).all() or not weight.sum() > 0.0:
        raise DistinguoError("The weights of samples should be 0 or more, and not all of them 0.")
    counts = weight > 0.0
    whole = np.hstack([seen, answers])[counts]
    rows, place = np.unique(whole, axis=0, return_inverse=True)
    width = seen.shape[1]
    return MergedRows(
        np.ascontiguousarray(rows[:, :width]),
        np.ascontiguousarray(rows[:, width:]),
        np.bincount(place.ravel(), weight[counts]),
    )


def lesson_of(seen: np.ndarray, costs: np.ndarray, weight: np.ndarray) -> Lesson:
    """Make costs of every answer a lesson with one right answer in each row, weighted by what it saves.

    The worst answer of a state saves nothing; each other one becomes a row of its own (Abe, Zadrozny and Langford,
    2004). With the same cost for every wrong answer, that is the state with its right answer.

    >>> lesson_of(np.zeros((1, 1)), np.array([[0.0, 1.0, 5.0]]), np.ones(1)).weight.tolist()
    [5.0, 4.0]
    """
    saved = (costs.max(axis=1, keepdims=True) - costs) * weight[:, None]
    if not saved.any():  # nothing matters, as where there is one class
        saved = np.repeat(weight[:, None], costs.shape[1], axis=1)
    rows, answers = np.nonzero(saved)
    good = np.zeros((len(rows), costs.shape[1]), dtype=np.bool_)
    good[np.arange(len(rows)), answers] = True
    return Lesson(np.ascontiguousarray(seen[rows]), good, saved[rows, answers])


def cost_of(map_: PrototypeMap, seen: np.ndarray, costs: np.ndarray, weight: np.ndarray) -> float:
    """What the answers of a map cost, each state with its nearest prototype alone."""
    return float(weight @ costs[np.arange(len(seen)), map_.choose(seen)])


class _Prototypes(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: their parameters, and the fit of a map to the costs of answers."""

    _map: PrototypeMap

    def _map_of(self, seen: np.ndarray, costs: np.ndarray, weight: np.ndarray, size: int) -> PrototypeMap:
        """The best of several maps, each from a beginning of its own."""
        lesson, starts = lesson_of(seen, costs, weight), whole_number("n_init", self.n_init, 1, 10_000)
        decay = self._checked_decay()
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        with threadpool_limits(limits=1, user_api="blas"):  # the matrices of L-BFGS are small
            short = [fitted(lesson, _begun(lesson, size, rng), SHORT, decay) for _ in range(starts)]
            short.sort(key=lambda pair: pair[1])
            maps = [fitted(lesson, one, LONG, decay)[0] for one, _ in short[: max(2, starts // 3)]]
        return min(maps, key=lambda one: cost_of(one, seen, costs, weight))

    def _checked_decay(self) -> float:
        decay = attempt(float, self.decay, otherwise=-1.0)
        if not 0.0 <= decay < np.inf:
            raise DistinguoError(f"decay should be a number, 0 or more, got {shown(self.decay)}.")
        return float(decay)

    def _keep(self, map_: PrototypeMap) -> None:
        self._map = map_
        self.prototypes_, self.scale_ = map_.prototypes.copy(), map_.scale.copy()

    def _rows(self, given: Any) -> np.ndarray:
        check_is_fitted(self)
        rows: np.ndarray = validate_data(self, given, dtype=np.float64, reset=False)
        return np.ascontiguousarray(rows)


def _begun(lesson: Lesson, size: int, rng: np.random.Generator) -> PrototypeMap:
    """A first map whose regions are as soft with many features as with one."""
    begun = first_map(lesson, size, rng)
    return prototype_map(begun.prototypes, begun.actions, begun.scale * np.sqrt(lesson.seen.shape[1]))


class PrototypeClassifier(ClassifierMixin, _Prototypes):  # type: ignore[misc]
    """Classify by the nearest of a few prototypes, under a metric that is learned with them.

    ``n_prototypes`` is how many there are, by default one for each class. ``class_weight`` is scikit-learn's.
    ``costs[i][j]`` is what it costs to answer with class ``j`` where class ``i`` is true, in the order of
    ``classes_``; by default every error costs 1. ``decay`` is a price of narrow widths, for softer shares and wider
    margins. The best of ``n_init`` fits is kept. Afterwards ``prototypes_`` are the prototypes,
    ``prototype_classes_`` their classes, and ``scale_`` the width of each feature: distances are measured in it.

    >>> from sklearn.datasets import load_iris
    >>> flowers, kinds = load_iris(return_X_y=True)
    >>> model = PrototypeClassifier(random_state=0).fit(flowers, kinds)
    >>> model.prototypes_.shape, bool(model.score(flowers, kinds) > 0.95)
    ((3, 4), True)
    """

    def __init__(
        self,
        n_prototypes: int | None = None,
        *,
        costs: Any = None,
        class_weight: Any = None,
        decay: float = DECAY,
        n_init: int = 8,
        random_state: Any = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.costs = costs
        self.class_weight = class_weight
        self.decay = decay
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PrototypeClassifier:  # noqa: N803 # as they call it
        """Fit the prototypes and their metric."""
        seen, given = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(given)
        self.classes_, labels = np.unique(given, return_inverse=True)
        size = len(self.classes_)
        weight = _check_sample_weight(sample_weight, seen, dtype=np.float64)
        weight = weight * compute_class_weight(self.class_weight, classes=self.classes_, y=given)[labels]
        table = merged_rows(seen, labels[:, None].astype(np.float64), weight)
        costs = self._checked_costs(size)[table.answers[:, 0].astype(np.int64)]
        count = whole_number("n_prototypes", size if self.n_prototypes is None else self.n_prototypes, 1)
        map_ = self._map_of(table.seen, costs, table.weight, count)
        near = map_._replace(actions=np.arange(count)).choose(table.seen)
        spent = np.stack([table.weight[near == j] @ costs[near == j] for j in range(count)])
        used = np.bincount(near, minlength=count) > 0
        map_ = map_._replace(actions=np.where(used, spent.argmin(axis=1), map_.actions))
        self.prototype_classes_ = self.classes_[map_.actions]
        self._keep(map_)
        return self

    def _checked_costs(self, size: int) -> np.ndarray:
        if self.costs is None:
            return 1.0 - np.eye(size)
        try:
            costs = np.array(self.costs, dtype=np.float64)
        except (TypeError, ValueError):
            costs = np.zeros(0)
        if costs.shape != (size, size) or not np.isfinite(costs).all() or (costs < 0.0).any():
            raise DistinguoError(
                f"costs should be a row for each of the {size} classes, with what each answer costs there, 0 or "
                f"more, got {shown(self.costs)}."
            )
        return costs

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """The class of the nearest prototype."""
        rows = self._rows(X)
        return np.asarray(self.classes_[self._map.choose(rows)])

    def predict_proba(self, X: Any) -> np.ndarray:  # noqa: N803
        """The share of each class, by its nearest prototype: a softmax of minus the squared distances."""
        rows = self._rows(X)
        apart = np.full((len(rows), len(self.classes_)), np.inf)
        for place, answer in zip(self.prototypes_, self._map.actions, strict=True):
            near = (((rows - place) / self.scale_) ** 2).sum(axis=1)
            apart[:, answer] = np.minimum(apart[:, answer], near)
        share = np.exp(apart.min(axis=1, keepdims=True) - apart)
        return np.asarray(share / share.sum(axis=1, keepdims=True))


class PrototypeRegressor(RegressorMixin, _Prototypes):  # type: ignore[misc]
    """Predict by a few laws, ``y = K x + b``, each in the region of its prototype.

    ``n_prototypes`` is how many there are. Nothing below the least or above the greatest ``y`` that was seen is
    predicted. Afterwards ``coef_`` and ``intercept_`` are the laws, a row for each of ``prototypes_``, and
    ``scale_`` is the width of each feature: distances are measured in it.

    >>> x = np.linspace(-1.0, 1.0, 200)[:, None]
    >>> model = PrototypeRegressor(2, random_state=0).fit(x, np.abs(x[:, 0]))
    >>> sorted(model.coef_.ravel().round(1).tolist()), bool(model.score(x, np.abs(x[:, 0])) > 0.99)
    ([-1.0, 1.0], True)
    """

    def __init__(
        self, n_prototypes: int = 3, *, decay: float = DECAY, n_init: int = 8, random_state: Any = None
    ) -> None:
        self.n_prototypes = n_prototypes
        self.decay = decay
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PrototypeRegressor:  # noqa: N803
        """Fit the prototypes, their metric and their laws."""
        seen, given = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        weight = _check_sample_weight(sample_weight, seen, dtype=np.float64)
        table = merged_rows(seen, np.asarray(given, dtype=np.float64)[:, None], weight)
        count = whole_number("n_prototypes", self.n_prototypes, 1)
        low, high = table.answers.min(axis=0), table.answers.max(axis=0)
        high = np.where(high > low, high, low + 1.0)
        laws = fitted_laws(table.seen, table.answers, count, low, high)
        self._low, self._high = low, high
        best = np.inf
        for _ in range(ROUNDS):
            costs = (self._said(table.seen, laws) - table.answers) ** 2 / float(high[0] - low[0]) ** 2
            map_ = self._map_of(table.seen, costs, table.weight, count)
            laws, map_ = laws[map_.actions], map_._replace(actions=np.arange(count))
            laws = fitted_within(table, map_.choose(table.seen), laws, Box(low, high))
            errors = (self._said(table.seen, laws) - table.answers) ** 2
            cost = cost_of(map_, table.seen, errors, table.weight)
            if cost >= best * (1.0 - 1e-3):
                break
            best = cost
            self.coef_, self.intercept_ = laws[:, 0, :-1].copy(), laws[:, 0, -1].copy()
            self._keep(map_)
        return self

    def _said(self, rows: np.ndarray, laws: np.ndarray) -> np.ndarray:
        """What each law says of each row, within the range."""
        return np.asarray(np.clip(rows @ laws[:, 0, :-1].T + laws[:, 0, -1], self._low, self._high))

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """What the law of the nearest prototype says."""
        rows = self._rows(X)
        near = self._map.choose(rows)
        said = np.einsum("nd,nd->n", rows, self.coef_[near]) + self.intercept_[near]
        return np.asarray(np.clip(said, self._low[0], self._high[0]))
