"""What the learned model answers, and when it says that not enough is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from distinguo.learners.agent import Agent, fresh_progress
from distinguo.learners.economy.figures import investigate, should_split
from distinguo.learners.economy.memory import PRIMARY, STATE, fresh_memory
from distinguo.learners.model.model import (
    LearnedModel,
    ModelSettings,
    ask,
    economy_settings,
    find_neighbours,
    model_of,
)
from distinguo.learners.model.store import fresh_store, keep_tuple, organise
from distinguo.representations.growing import add, growing_voronoi
from distinguo.representations.partition import nearest
from distinguo.tasks.world import knows

NEEDED = 9  #: three for each term of a plane over two coordinates


def make_model(reach: float = 0.5, linear: bool = True, prototypes: int = 1) -> LearnedModel:
    partition = growing_voronoi([[0.0, 0.0]], [2.0, 4.0], 64)
    rng = np.random.default_rng(3)
    for _ in range(prototypes - 1):
        add(partition, tuple(rng.uniform((-1.0, -2.0), (1.0, 2.0))))
    model = model_of(fresh_store(500, 64, 2, 2), partition, 3, reach, linear)
    organise.py_func(model)
    return model


def moved(s: tuple[float, float], a: int) -> tuple[float, float]:
    """Return where a linear world leads to."""
    return (0.9 * s[0] + 0.2 * s[1] + 0.1 * a, s[1] - 0.3 * s[0] + 0.05)


def answer(model: LearnedModel, s: tuple[float, float], a: int) -> tuple[np.ndarray, float, bool]:
    """Ask the model: the next state, the reward, and whether the trial ends."""
    after = np.zeros(2)
    reward, ended = ask(model, np.array(s), a, after)
    return after, reward, ended


def experience(model: LearnedModel, count: int, a: int = 0, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        s = tuple(rng.uniform((-1.0, -2.0), (1.0, 2.0)))
        keep_tuple(model.store, nearest(model.partition, s), s, a, s[0] + 2.0, moved(s, a), False)


@pytest.mark.parametrize("prototypes", [1, 20])
def test_the_neighbours_are_the_nearest_of_all_tuples_of_the_action(prototypes: int) -> None:
    model = make_model(prototypes=prototypes)
    experience(model, 150, a=0)
    experience(model, 150, a=1, seed=1)
    rng, weight = np.random.default_rng(5), model.partition.weight
    for _ in range(40):
        s, a = tuple(rng.uniform((-1.0, -2.0), (1.0, 2.0))), int(rng.integers(2))
        apart = ((model.store.before[:300] - s) * weight) ** 2
        apart = np.where(model.store.action[:300] == a, apart.sum(axis=1), np.inf)
        assert find_neighbours(model, s, a) == NEEDED
        assert model.scratch.near.tolist() == np.argsort(apart, kind="stable")[:NEEDED].tolist()


def test_a_plane_is_exact_where_the_world_is_linear_and_a_mean_is_not() -> None:
    errors = {}
    for linear in (True, False):
        model = make_model(linear=linear)
        experience(model, 200)
        answers = [(s, *answer(model, s, 0)) for s in [(0.2, -0.4), (-0.5, 1.0), (0.9, 1.9)]]
        errors[linear] = max(max(abs(np.subtract(after, moved(s, 0)))) for s, after, _, _ in answers)
        assert not any(ended for _, _, _, ended in answers)
        if linear:
            assert [reward for _, _, reward, _ in answers] == pytest.approx([2.2, 1.5, 2.9], abs=1e-4)
    assert errors[True] < 1e-4 < 1e-2 < errors[False]


def test_with_one_tuple_too_few_or_too_far_not_enough_is_known() -> None:
    model = make_model(reach=0.1)
    for n in range(NEEDED - 1):
        keep_tuple(model.store, 0, (0.01 * n, 0.0), 0, 0.0, (0.0, 0.0), False)
    for _ in range(NEEDED):
        keep_tuple(model.store, 0, (0.5, 0.0), 0, 0.0, (0.0, 0.0), False)  # at a scaled distance of 0.25
    assert not knows(model, answer(model, (0.0, 0.0), 0)[0])
    keep_tuple(model.store, 0, (0.0, 0.1), 0, 0.0, (0.0, 0.0), False)
    assert knows(model, answer(model, (0.0, 0.0), 0)[0])
    assert not knows(model, answer(model, (0.0, 0.0), 1)[0])
    assert (model.store.counters["queries"][0], model.store.counters["unknown"][0]) == (3, 2)


def test_where_the_nearest_ended_or_was_put_back_its_own_outcome_is_the_answer() -> None:
    model = make_model()
    for n in range(40):  # moves by 0.1 to the right; what begins beyond 0.65 ends, beyond 0.85 it is put back
        x = n / 40
        ended, back = 0.65 < x < 0.85, x > 0.85
        after = (-1.0, 0.0) if back else (x + 0.1, 0.0)
        keep_tuple(model.store, 0, (x, 0.0), 0, -1.0 if ended or back else 0.0, after, ended)
    found = {x: answer(model, (x, 0.01), 0) for x in (0.3, 0.64, 0.76, 0.95)}
    assert [(round(s[0], 6), r, ended) for s, r, ended in found.values()] == [
        (0.4, 0.0, False),
        (0.74, 0.0, False),  # no share of those that ended
        (0.85, -1.0, True),
        (-1.0, -1.0, False),
    ]


def test_an_investigation_of_what_is_not_known_never_splits() -> None:
    model = make_model(reach=0.2)
    told = economy_settings(ModelSettings(), ended=False)
    memory = fresh_memory(model.partition, 2)
    for n in range(
        NEEDED
    ):  # action 0 is known near the prototype and near the other state, action 1 only here
        keep_tuple(model.store, 0, (0.01 * n, 0.0), 0, 0.0, (0.0, 0.0), False)
        keep_tuple(model.store, 0, (0.01 * n, 0.0), 1, 0.0, (0.0, 0.0), False)
        keep_tuple(model.store, 0, (0.9, 0.01 * n), 0, -1.0, (0.95, 0.0), True)
    agent = Agent(model, memory, told, fresh_progress(2, 2), None, np.random.default_rng(0))

    def splits() -> bool:
        state = investigate(agent, np.array([0.9, 0.0]), STATE)
        primary = investigate(agent, np.array([0.0, 0.0]), PRIMARY)
        assert primary.reliable.all()
        return bool(should_split(memory, told, state, primary))

    assert not splits()
    for n in range(NEEDED):
        keep_tuple(model.store, 0, (0.9, 0.01 * n), 1, -1.0, (0.95, 0.0), True)
    assert splits()
    assert not math.isnan(memory.q1.sum())
