"""The fit: its loss and gradient against a slow transcription, and maps that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.distillation.costs import plain_label
from distinguo.distillation.fit import (
    LEAST_CHANCE,
    SPREAD,
    Lesson,
    Shares,
    first_map,
    fitted,
    soft_loss,
    standard_of,
)
from distinguo.search.maps import PrototypeMap, prototype_map
from tests.distillation.common import bits
from tests.nightly import so_many


def slow_loss(lesson: Lesson, places: np.ndarray, actions: np.ndarray, squared: np.ndarray) -> float:
    """Return the loss by whole-array operations."""
    far = (((lesson.seen[:, None] - places[None]) ** 2) * squared).sum(axis=2)
    share = np.exp(-(far - far.min(axis=1, keepdims=True)))
    share /= share.sum(axis=1, keepdims=True)
    chance = (share * lesson.good[:, actions]).sum(axis=1)
    return float(-(lesson.weight * np.log(chance + LEAST_CHANCE)).sum() + SPREAD * (places**2).sum())


def loss_of(
    lesson: Lesson, places: np.ndarray, actions: np.ndarray, squared: np.ndarray, function=soft_loss
) -> tuple[float, np.ndarray]:
    gradient = np.zeros(places.size + len(squared))
    scratch = Shares(np.zeros(len(places)), np.zeros(len(places)))
    value = function(*lesson, places, actions, squared, gradient, scratch)
    return value, gradient


@st.composite
def questions(draw) -> tuple[Lesson, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    states, width, size, actions = (draw(st.integers(1, n)) for n in (12, 3, 4, 3))
    good = rng.random((states, actions)) < 0.5
    lesson = Lesson(rng.normal(size=(states, width)), good, rng.random(states))
    places = rng.normal(size=(size, width))
    return lesson, places, rng.integers(actions, size=size), np.exp(rng.normal(size=width))


@settings(max_examples=so_many(60, nightly=300))
@given(questions())
def test_the_loss_is_that_of_a_slow_transcription(question) -> None:
    assert loss_of(*question)[0] == pytest.approx(slow_loss(*question), rel=1e-9, abs=1e-9)


@settings(max_examples=so_many(60, nightly=300))
@given(questions())
def test_the_gradient_is_that_of_small_differences(question) -> None:
    lesson, places, actions, squared = question
    gradient = loss_of(*question)[1]
    first = np.concatenate([places.ravel(), 0.5 * np.log(squared)])

    def at(parameters: np.ndarray) -> float:
        return slow_loss(
            lesson,
            parameters[: places.size].reshape(places.shape),
            actions,
            np.exp(2 * parameters[places.size :]),
        )

    small = 1e-6 * np.eye(len(first))
    expected = np.array([(at(first + d) - at(first - d)) / 2e-6 for d in small])
    # where no prototype has a good action, the loss is flat but for rounding
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


@settings(max_examples=so_many(20, nightly=100))
@given(questions())
def test_compiled_is_interpreted(question) -> None:
    value, gradient = loss_of(*question)
    slow_value, slow_gradient = loss_of(*question, function=soft_loss.py_func)
    assert value == pytest.approx(slow_value, rel=1e-12)
    np.testing.assert_allclose(gradient, slow_gradient, rtol=1e-9, atol=1e-12)


# ---- maps that are known -------------------------------------------------------------------------------------------


def lesson_of(map_: PrototypeMap, seen: np.ndarray) -> Lesson:
    return Lesson(seen, *plain_label(map_.choose(seen), int(map_.actions.max()) + 1))


def best_fit(lesson: Lesson, size: int, rng: np.random.Generator, attempts: int = 6) -> PrototypeMap:
    begun = [first_map(lesson, size, rng) for _ in range(attempts)]
    return min((fitted(lesson, one, 200) for one in begun), key=lambda pair: pair[1])[0]


@pytest.mark.parametrize(("size", "width", "actions"), [(2, 1, 2), (2, 2, 2), (3, 2, 3), (4, 3, 3)])
def test_a_hidden_map_is_found_again(size: int, width: int, actions: int) -> None:
    rng = np.random.default_rng(size + width)
    scale = np.exp(rng.normal(size=width))
    hidden = prototype_map(
        0.7 * rng.normal(size=(size, width)) * scale, np.arange(size) % actions, scale.copy()
    )
    seen = rng.normal(size=(600, width)) * scale
    lesson = lesson_of(hidden, seen)
    found = best_fit(lesson, size, rng)
    new = rng.normal(size=(2_000, width)) * scale
    assert len(set(hidden.choose(new).tolist())) > 1
    assert (found.choose(new) == hidden.choose(new)).mean() > 0.97


def test_a_fit_does_not_change_what_it_began_from() -> None:
    rng = np.random.default_rng(0)
    lesson = Lesson(rng.normal(size=(50, 2)), rng.random((50, 2)) < 0.5, np.ones(50))
    begun = first_map(lesson, 3, rng)
    before = bits(begun)
    map_, _ = fitted(lesson, begun, 20)
    assert bits(begun) == before
    assert not np.array_equal(map_.prototypes, begun.prototypes)


def test_units_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    seen = rng.normal(size=(300, 2))
    good = np.column_stack([seen[:, 0] < 0.2, seen[:, 0] >= 0.2])
    units, shift = np.array([1e4, 1e-4]), np.array([3e5, -7.0])
    begun = prototype_map(np.array([[-1.0, 0.1], [1.0, 0.2]]), np.array([0, 1]), np.array([0.5, 0.5]))
    moved = prototype_map(begun.prototypes * units + shift, begun.actions, begun.scale * units)
    one, loss = fitted(Lesson(seen, good, np.ones(300)), begun, 100)
    other, same = fitted(Lesson(seen * units + shift, good, np.ones(300)), moved, 100)
    assert same == pytest.approx(loss, rel=1e-2, abs=1e-4)
    assert (one.choose(seen) == other.choose(seen * units + shift)).mean() > 0.98


def test_a_wrong_label_of_no_weight_is_ignored() -> None:
    rng = np.random.default_rng(2)
    seen = np.sort(rng.normal(size=(200, 1)), axis=0)
    right = (seen[:, 0] > 0).astype(int)
    wrong = right.copy()
    wrong[::2] = 1 - wrong[::2]
    weight = np.ones(200)
    weight[::2] = 0.0
    lesson = Lesson(seen, plain_label(wrong, 2).good, weight)
    found = best_fit(lesson, 2, rng)
    assert (found.choose(seen) == right).mean() > 0.98
    heavy = best_fit(lesson._replace(weight=np.where(weight > 0, 1.0, 50.0)), 2, rng)
    assert (heavy.choose(seen) == right).mean() < 0.1  # with weight they are not


def test_a_coordinate_that_never_changes_does_no_harm() -> None:
    rng = np.random.default_rng(3)
    seen = np.column_stack([rng.normal(size=200), np.full(200, 7.25)])
    assert standard_of(seen).spread[1] == 1.0
    lesson = Lesson(seen, *plain_label((seen[:, 0] > 0.4).astype(int), 2))
    found = best_fit(lesson, 2, rng)
    assert all(np.isfinite(column).all() for column in found.partition)
    assert (found.scale > 0).all()
    assert (found.choose(seen) == (seen[:, 0] > 0.4)).mean() > 0.98


# ---- what a fit begins from ----------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(1, 4))
@settings(max_examples=so_many(50, nightly=200))
def test_every_action_gets_a_prototype_first(seed: int, actions: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(actions), np.zeros(100, dtype=int)])  # all but the first are rare
    lesson = Lesson(rng.normal(size=(len(labels), 2)), *plain_label(labels, actions))
    for size in range(1, actions + 3):
        chosen = first_map(lesson, size, rng).actions
        assert len(chosen) == size
        assert len(set(chosen.tolist())) == min(size, actions)


def test_an_action_that_costs_nothing_gets_none() -> None:
    rng = np.random.default_rng(0)
    labels = np.array([0] * 50 + [1] * 50 + [2] * 50)
    weight = np.where(labels == 2, 0.0, 1.0)
    lesson = Lesson(rng.normal(size=(150, 2)), plain_label(labels, 3).good, weight)
    for _ in range(20):
        assert 2 not in first_map(lesson, 4, rng).actions


def test_states_that_are_all_the_same_are_a_map_too() -> None:
    rng = np.random.default_rng(0)
    lesson = Lesson(np.full((20, 2), 3.0), *plain_label(np.zeros(20, dtype=int), 2))
    begun = first_map(lesson, 3, rng)
    assert len(np.unique(begun.prototypes, axis=0)) == 3  # no two in one place
    assert np.isfinite(fitted(lesson, begun, 20)[1])


def test_a_lesson_is_drawn_without_putting_back() -> None:
    lesson = Lesson(np.arange(40.0).reshape(20, 2), np.eye(20, dtype=bool), np.arange(20.0))
    assert lesson.drawn(20, np.random.default_rng(0)) is lesson
    some = lesson.drawn(7, np.random.default_rng(0))
    assert len(set(some.weight.tolist())) == 7
    for n, weight in enumerate(some.weight.astype(int)):
        np.testing.assert_array_equal(some.seen[n], lesson.seen[weight])
        assert some.good[n, weight]
