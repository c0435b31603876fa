"""The Adaptive Heuristic Critic against the equations of Barto, Sutton and Anderson, and at work on the puck."""

from __future__ import annotations

import numpy as np
import pytest

from distinguo.representations.boxes import grid
from distinguo.representations.partition import region
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import transition
from distinguo_lab.controls.controllability import controllability
from distinguo_lab.learners.ahc import AhcMemory, AhcSettings, ahc_trial, balance, fresh_ahc
from tests.controls import needs_speed

HILL = task_spec("puck")
BOXES = grid([11, 11], HILL.low, HILL.high)


def by_the_equations(trials: int, cap: int, seed: int) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Whole vectors, a time index on everything: x(t), y(t), e(t), x_bar(t), p(t)."""
    rng = np.random.default_rng(seed)
    w, v, lengths = np.zeros(121), np.zeros(121), []
    for _ in range(trials):
        s, fell, t = (0.0, 0.0), False, 0
        x = [np.eye(121)[region(BOXES, s)]]
        p, e, x_bar = [v @ x[0]], [np.zeros(121)], [np.zeros(121)]
        while not fell and t < cap:
            y = 1 if w @ x[t] + 0.01 * rng.standard_normal() >= 0 else -1
            e.append(0.9 * e[t] + 0.1 * y * x[t])
            x_bar.append(0.8 * x_bar[t] + 0.2 * x[t])
            s, r, fell = transition(Puck(), s, 1 if y > 0 else 0)
            t += 1
            x.append(np.zeros(121) if fell else np.eye(121)[region(BOXES, s)])
            p.append(v @ x[t])
            r_hat = r + 0.95 * p[t] - p[t - 1]
            w, v = w + 1000 * r_hat * e[t], v + 0.5 * r_hat * x_bar[t]
        lengths.append(t)
    return lengths, w, v


def run(trial: object, trials: int, cap: int, seed: int) -> tuple[list[int], AhcMemory]:
    rng, memory = np.random.default_rng(seed), fresh_ahc(121)
    lengths = [
        int(trial(Puck(), BOXES, memory, AhcSettings(), rng, np.zeros(2), cap)[0])  # type: ignore[operator]
        for _ in range(trials)
    ]
    return lengths, memory


@pytest.mark.parametrize("seed", range(3))
def test_trials_follow_the_equations(seed: int) -> None:
    lengths, w, v = by_the_equations(6, 200, seed)
    ours, memory = run(ahc_trial, 6, 200, seed)
    assert ours == lengths
    assert memory.w == pytest.approx(w, abs=1e-6)
    assert memory.v == pytest.approx(v, abs=1e-9)


def test_compiled_equals_interpreted() -> None:
    compiled, interpreted = run(ahc_trial, 8, 300, 4), run(ahc_trial.py_func, 8, 300, 4)
    assert compiled[0] == interpreted[0]
    assert [a.tobytes() for a in compiled[1]] == [a.tobytes() for a in interpreted[1]]


def test_traces_begin_anew_with_each_trial() -> None:
    memory = fresh_ahc(121)
    memory.e[:], memory.x_bar[:] = 9.0, 9.0
    ahc_trial(Puck(), BOXES, memory, AhcSettings(), np.random.default_rng(0), np.zeros(2), 0)
    assert not memory.e.any()
    assert not memory.x_bar.any()


def test_it_learns() -> None:
    """The first trials fail at once; within fifty nearly all seeds hold a thousand steps."""
    firsts = [run(ahc_trial, 1, 1000, seed)[0][0] for seed in range(20)]
    assert max(firsts) < 300
    assert (
        sum(balance(Puck(), BOXES, 121, seed, hold=1000, most_trials=50).solved for seed in range(20)) >= 19
    )


def test_a_hopeless_partition_is_given_up() -> None:
    single = grid([1, 1], HILL.low, HILL.high)
    result = balance(Puck(), single, 1, seed=0, hold=1000, most_trials=5)
    assert (result.solved, result.trials) == (False, 5)
    assert result.steps > 5


@needs_speed
def test_it_balances_on_the_controllability_quantization() -> None:
    """ "over 10,000 steps, after an average of 13 trials and 2000 training steps" (paper, section 4.2.2).

    Ours needs 4 trials and 1,660 steps.
    """
    made = controllability(HILL)
    results = [balance(HILL.task, made.partition, made.regions, seed) for seed in range(20)]
    assert all(result.solved for result in results)
    assert np.mean([result.trials for result in results]) <= 6
    assert np.mean([result.steps for result in results]) <= 2500
