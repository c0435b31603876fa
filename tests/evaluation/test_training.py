"""The fresh learner's settings for coarse regions, against a slow learner in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from distinguo.controller import choose, region_at
from distinguo.evaluation.tester import Evaluation, learning_curve
from distinguo.evaluation.training import Training, fresh_training, train
from distinguo.representations.voronoi import voronoi
from distinguo.settings import TESTER_BY_RETURN
from distinguo.settings import TesterSettings as Wishes  # pytest collects names in Test
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import Extent
from distinguo.tasks.task import start, transition

CAR, POLE = task_spec("MountainCar-v0"), task_spec("CartPole-v1")
COAST = voronoi([[-0.5, -0.02], [-0.5, 0.0], [-0.5, 0.02], [0.2, 0.0]], CAR.scale)
BY_RETURN = Wishes(**TESTER_BY_RETURN)


def trials(settings: Wishes, seed: int, count: int, speed: Any = train) -> tuple[Training, list[Any]]:
    rng, learner = np.random.default_rng(seed), fresh_training(4, 3, settings, 200)
    ends = []
    for _ in range(count):
        first = np.array(start(CAR.task, rng))
        ends.append(speed(CAR.task, COAST, learner, settings, rng, first, 200))
    return learner, ends


def slow(settings: Wishes, seed: int, count: int) -> list[list[float]]:
    """Learn with lists, every lambda-return from its definition as a sum over n-step returns."""
    rng = np.random.default_rng(seed)
    q, counts = [[0.0] * 3 for _ in range(4)], [[0] * 3 for _ in range(4)]
    for _ in range(count):
        s, terminal, held, path = start(CAR.task, rng), False, {}, []
        while not terminal and len(path) < 200:
            j = region_at(CAR.task, COAST, s)
            if not (settings.hold and j in held):
                random = settings.explore > 0 and rng.random() < settings.explore
                held[j] = int(rng.random() * 3) if random else choose(np.array(q[j]), 0.0, rng)
            s, r, terminal = transition(CAR.task, s, held[j])
            path.append((j, held[j], r))
        last = 0.0 if terminal else max(q[region_at(CAR.task, COAST, s)])
        _learn(q, counts, path, last, settings)
    return q


def _learn(q: Any, counts: Any, path: list[Any], last: float, settings: Wishes) -> None:
    gamma, mixed, met = settings.gamma, settings.traces, {len(path): last}
    for t in reversed(range(len(path))):
        j, a, _ = path[t]
        met[t] = max(q[j])  # the values met on the way back
        if any((i, b) == (j, a) for i, b, _ in path[:t]):
            continue
        g, weight = 0.0, 1.0
        for n in range(t, len(path)):  # after each step, stop there with probability 1 - lambda
            end = n + 1 == len(path)
            so_far = sum(gamma ** (m - t) * path[m][2] for m in range(t, n + 1))
            so_far += gamma ** (n + 1 - t) * met[n + 1]
            g += weight * (1.0 if end else 1.0 - mixed) * so_far
            weight *= mixed
        counts[j][a] += 1
        rate = max(settings.alpha, 1.0 / counts[j][a]) if settings.averaging else settings.alpha
        q[j][a] += rate * (g - q[j][a])


@pytest.mark.parametrize("traces", [1.0, 0.6])
@pytest.mark.parametrize("averaging", [True, False])
def test_returns_are_those_of_a_slow_learner(traces: float, averaging: bool) -> None:
    settings = BY_RETURN._replace(traces=traces, averaging=averaging)
    learner, _ = trials(settings, seed=3, count=8)
    np.testing.assert_allclose(learner.q, slow(settings, 3, 8), rtol=1e-9)
    assert len(np.unique(learner.q)) > 4


@pytest.mark.parametrize("traces", [0.0, 0.5, 1.0])
def test_compiled_equals_interpreted(traces: float) -> None:
    settings = BY_RETURN._replace(traces=traces)
    (ours, ends), (plain, again) = (trials(settings, 5, 3, speed) for speed in (train, train.py_func))
    assert ends == again
    for column, other in zip(ours, plain, strict=True):
        assert column.tobytes() == other.tobytes()


def actions_by_region(settings: Wishes) -> list[set[tuple[int, int]]]:
    rng, learner, met = np.random.default_rng(1), fresh_training(4, 3, settings, 200), []
    for _ in range(30):
        length, _ = train(CAR.task, COAST, learner, settings, rng, np.array(start(CAR.task, rng)), 200)
        met.append(
            set(zip(learner.regions[:length].tolist(), learner.actions[:length].tolist(), strict=True))
        )
    return met


def test_a_held_action_is_the_only_one_of_its_region_in_a_trial() -> None:
    for pairs in actions_by_region(BY_RETURN):
        assert len(pairs) == len({j for j, _ in pairs})
    loose = actions_by_region(BY_RETURN._replace(hold=False))
    assert any(len(pairs) > len({j for j, _ in pairs}) for pairs in loose)


def test_exploring_tries_what_no_value_speaks_for() -> None:
    settings = Wishes(gamma=0.99, explore=0.3)
    for explore, expected in ((0.0, 0.0), (0.3, 0.2)):
        learner = fresh_training(4, 3, settings, 200)
        learner.q[:, 0] = 1e9  # nothing that is learned changes what is best
        rng, wishes = np.random.default_rng(2), settings._replace(explore=explore, alpha=1e-12)
        for _ in range(10):
            train(CAR.task, COAST, learner, wishes, rng, np.array(start(CAR.task, rng)), 200)
        assert learner.counts[:, 1:].sum() / learner.counts.sum() == pytest.approx(expected, abs=0.03)


def test_an_average_forgets_no_faster_than_alpha() -> None:
    learner, _ = trials(BY_RETURN._replace(explore=0.0, alpha=0.5), seed=0, count=1)
    first = learner.q[learner.counts > 0]
    assert (first <= -1.0).all()  # a first lesson counts in full, not by alpha


# What comes out.


def final_score(spec: Any, partition: Any, rows: int, **changes: Any) -> float:
    wishes = Wishes(**{**TESTER_BY_RETURN, "every_steps": 10**6, "every_trials": 10**6, **changes})
    evaluation = Evaluation(spec, partition, rows, wishes, Extent(spec.low, spec.high))
    return float(np.median([learning_curve(evaluation, 11, run).scores[-1] for run in range(5)]))


STEPWISE = {"explore": 0.0, "hold": False, "traces": 0.0, "averaging": False, "gamma": 0.95}


def test_coarse_regions_of_the_car_are_learned_on() -> None:
    halves = voronoi([[-0.5, -0.01], [-0.5, 0.01]], CAR.scale)
    assert final_score(CAR, halves, 2) > -135.0
    assert final_score(CAR, halves, 2, **STEPWISE) < -150.0


def test_coarse_regions_of_the_pole_are_learned_on() -> None:
    scale = [4.8, 4.0, 0.4, 2.0]
    halves = voronoi([[0.1, 0.2, 0.05, 0.4], [-0.1, -0.2, -0.05, -0.4]], scale)
    assert final_score(POLE, halves, 2) > 475.0
    assert final_score(POLE, halves, 2, **STEPWISE) < 400.0
