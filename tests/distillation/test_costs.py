"""What a wrong action costs, against slow loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.distillation.costs import (
    BY_TRIALS,
    BY_VALUES,
    HELD,
    LEAST_WEIGHT,
    MOST_ASKED,
    MOST_WEIGHT,
    NEIGHBOURS,
    AskedCosts,
    Questions,
    costly_label,
    plain_label,
    regret_by_values,
)
from distinguo.distillation.teachers import Teacher
from distinguo.distillation.trials import CompiledTrials, EnvironmentTrials
from distinguo.evaluation.audit import NEXT_TO_NOTHING
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.spec import Hold
from distinguo.tasks.task import observe, transition, unpack
from tests.distillation.common import CAR, DIAGONAL, SWINGING, SWINGS
from tests.nightly import so_many


def test_without_costs_all_other_actions_are_equally_wrong() -> None:
    label = plain_label(np.array([1, 0]), 3)
    assert label.good.tolist() == [[False, True, False], [True, False, False]]
    assert label.weight.tolist() == [1.0, 1.0]


@settings(max_examples=so_many(60, nightly=300))
@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(2, 4))
def test_labels_are_those_of_a_slow_loop(seed: int, count: int, actions: int) -> None:
    rng = np.random.default_rng(seed)
    regret = np.maximum(rng.normal(size=(count, actions)), 0.0) ** 3
    answers = rng.integers(actions, size=count)
    label = costly_label(answers, regret)
    others = [regret[n, a] for n in range(count) for a in range(actions) if a != answers[n]]
    usual = sum(others) / len(others)
    if usual == 0.0:
        np.testing.assert_array_equal(label.good, plain_label(answers, actions).good)
        return
    costs = []
    for n in range(count):
        bad = [a for a in range(actions) if a != answers[n] and regret[n, a] > NEXT_TO_NOTHING * usual]
        assert label.good[n].tolist() == [a not in bad for a in range(actions)]
        costs.append(sum(regret[n, a] for a in bad) / len(bad) if bad else 0.0)
    mean = np.mean([cost for cost in costs if cost > 0.0])
    expected = [min(max(cost / mean, LEAST_WEIGHT), MOST_WEIGHT) for cost in costs]
    np.testing.assert_allclose(label.weight, expected)


def test_what_costs_nothing_is_no_error() -> None:
    regret = np.array([[0.0, 5.0, 0.1], [0.0, 5.0, 5.0]])
    label = costly_label(np.array([0, 0]), regret)
    assert label.good.tolist() == [[True, False, True], [True, False, False]]


def test_the_teachers_own_action_is_always_good() -> None:
    assert costly_label(np.array([1, 0]), np.array([[0.0, 9.0], [0.0, 9.0]])).good[0, 1]


def test_values_tell_what_an_action_costs() -> None:
    worth = np.array([[1.0, 4.0, 3.5], [2.0, 1.0, 7.0]])
    assert regret_by_values(worth, np.array([1, 0])).tolist() == [[3.0, 0.0, 0.5], [0.0, 1.0, 0.0]]


# ---- by trying -----------------------------------------------------------------------------------------------------


def gained(spec: Any, decide: Any, state: np.ndarray, left: int, a: int | None) -> float:
    s, total = unpack(spec.task, state), 0.0
    for step in range(left):
        seen = np.array([observe(spec.task, s)])
        action = a if a is not None and step < HELD else int(decide(seen)[0])
        s, r, terminal = transition(spec.task, s, action)
        total += 1.0 if isinstance(spec.goal, Hold) else r
        if terminal:
            break
    return total


@pytest.mark.parametrize(
    ("name", "decide", "count"), [(CAR, SWINGS.predict, 8), ("puck", DIAGONAL.predict, 20)]
)
def test_regret_is_that_of_a_slow_loop(name: str, decide: Any, count: int) -> None:
    spec = task_spec(name)
    trials = CompiledTrials(spec, 150)
    states = trials.first_states(range(count))
    if name == CAR:
        states = trials.follow_teacher(decide, [1]).states[:: 100 // count][:count]
    left = np.where(np.arange(count) % 3 == 2, 4, 150)  # some trials are nearly over
    regret = AskedCosts(trials, decide).regret(states, left)
    for n, state in enumerate(states):
        usual = gained(spec, decide, state, int(left[n]), None)
        for a in range(len(spec.actions)):
            instead = gained(spec, decide, state, int(left[n]), a)
            assert regret[n, a] == pytest.approx(max(0.0, usual - instead))
    assert (regret > 0).any()
    assert trials.count.steps > 0  # what was tried is counted
    trials.close()


def test_costs_are_those_of_the_nearest_that_were_tried() -> None:
    trials = CompiledTrials(task_spec(CAR), 200)
    asked = AskedCosts(trials, SWINGS.predict)
    followed = trials.follow_teacher(SWINGS.predict, range(3))
    asked.ask(followed, np.random.default_rng(0))
    known, regret = np.concatenate(asked._seen), np.concatenate(asked._regret)
    assert len(known) == 100
    spread = known.std(axis=0)
    for row in followed.seen[::50]:
        near = np.argsort((((known - row) / spread) ** 2).sum(axis=1), kind="stable")[:NEIGHBOURS]
        np.testing.assert_allclose(asked.of(row[None])[0], regret[near].mean(axis=0))
    trials.close()


def test_no_more_is_tried_than_enough() -> None:
    trials = CompiledTrials(task_spec(CAR), 200)
    asked = AskedCosts(trials, SWINGS.predict)
    followed = trials.follow_teacher(SWINGS.predict, range(2))
    for _ in range(5):
        asked.ask(followed, np.random.default_rng(0))
    assert sum(map(len, asked._seen)) == MOST_ASKED
    trials.close()


# ---- questions -----------------------------------------------------------------------------------------------------


def questions(trials: Any, costs: bool = True, values: Any = None) -> Questions:
    teacher = Teacher("swing", SWINGS.predict, values)
    return Questions(teacher, trials, costs, np.random.default_rng(0))


def by_speed(rows: np.ndarray) -> np.ndarray:
    """Return that the wrong direction costs the speed, and to do nothing costs nothing."""
    return np.column_stack([-rows[:, 1], np.abs(rows[:, 1]), rows[:, 1]])


def test_labels_come_from_values_or_trials_or_neither() -> None:
    trials = CompiledTrials(task_spec(CAR), 200)
    followed = trials.follow_teacher(SWINGS.predict, [1])
    plain = questions(trials, costs=False).label(followed)
    assert plain.good.sum(axis=1).tolist() == [1] * len(followed.taken)
    valued = questions(trials, values=by_speed).label(followed)
    fast = np.abs(followed.seen[:, 1]) > 0.01
    assert valued.good[fast, 1].all()
    assert not valued.good[fast, 2 - followed.taken[fast]].any()
    before = trials.count.steps
    tried = questions(trials).label(followed)
    assert trials.count.steps > before
    assert tried.good[np.arange(len(followed.taken)), followed.taken].all()
    assert not np.array_equal(tried.weight, plain.weight)
    trials.close()


def test_free_disagreements_are_told_by_values() -> None:
    trials = CompiledTrials(task_spec(CAR), 200)
    asked = questions(trials, values=by_speed)
    assert asked.way == BY_VALUES
    own = trials.follow_teacher(lambda rows: np.ones(len(rows), dtype=np.int64), [1])
    rows = np.arange(len(own.taken))
    known = asked.costs(own, [1], rows)
    assert known is not None
    costs, usual = known
    said = SWINGS.predict(own.seen)
    worth = by_speed(own.seen)
    expected = np.maximum(worth[rows, said] - worth[rows, 1], 0.0)
    np.testing.assert_array_equal(costs, expected)
    assert (costs <= NEXT_TO_NOTHING * usual).mean() > 0.9  # to do nothing costs nothing
    trials.close()


def test_costs_of_an_environment_are_found_by_running_trials_again() -> None:
    spec = task_spec(CAR, interpreted=True)
    trials = EnvironmentTrials(spec, 150)
    asked = questions(trials)
    assert asked.way == BY_TRIALS
    own = trials.follow(SWINGING._replace(actions=np.array([2, 1])), [11, 12])
    rows = np.array([4, int(own.lengths[0]) + 6])
    known = asked.costs(own, [11, 12], rows)
    assert known is not None
    for cost, row, trial in zip(known[0], rows, (0, 1), strict=True):
        begun = int(own.lengths[:trial].sum())
        moves = own.taken[begun:row].tolist()
        again = trials.gained_instead(SWINGS.predict, 11 + trial, moves, [])
        instead = trials.gained_instead(SWINGS.predict, 11 + trial, moves, [int(own.taken[row])] * HELD)
        assert cost == max(0.0, again - instead)


def test_nobody_can_tell_what_noise_costs() -> None:
    trials = CompiledTrials(task_spec(CAR, {"noisy_actions": 0.3}), 50)
    asked = questions(trials)
    followed = trials.follow_teacher(SWINGS.predict, [1])
    assert asked.costs(followed, [1], np.array([0])) is None
    assert asked.label(followed).weight.tolist() == [1.0] * len(followed.taken)
    trials.close()
