"""The paper's learner where an action is an amount: brackets, refinement, resuming, and what finite actions keep."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from benchmarks.amounts import Dose

import distinguo as dg
from distinguo.criteria import adequate, compatible
from distinguo.errors import DistinguoError
from distinguo.learners.economy.amounts import (
    EVERY,
    RangeMemory,
    _bracket,
    fresh_bracket,
    possible_gains,
    refine_bracket,
    with_bracket,
    without_bracket,
)
from distinguo.learners.economy.figures import is_adequate
from distinguo.learners.economy.memory import checked_memory, fresh_memory, rules_apart, with_room
from distinguo.representations.growing import growing_voronoi
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn_configured
from distinguo.settings import LearnerSettings
from distinguo.tasks.amounts import MOST_LAWS, amounts
from distinguo.tasks.catalog import spec_of


@dg.task(states=("x", "v"), actions=dg.amounts(-3, 3), low=(-2.4, -5.5), high=(2.4, 5.5))
class PushedPuck(NamedTuple):
    """The puck on its hill, pushed by any force up to a limit; it starts near the top, not on it."""

    beta: float = 0.3
    wall: float = 2.4

    def transition(self, s: Any, f: float) -> Any:
        u = -2.0 * self.beta * s[0]
        c = 1.0 / math.sqrt(1.0 + u * u)
        x, v = s[0] + 0.02 * s[1], s[1] + 0.02 * (f - 9.8 * (u * c)) * c
        fell = not (-self.wall < x < self.wall)
        return (x, v), (-1.0 if fell else 0.0), fell

    def start(self, rng: np.random.Generator) -> Any:
        return (rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3))


def memory_of(points: np.ndarray, q: np.ndarray, sessions: int = EVERY) -> Any:
    """A memory with a region for each row of values, all of them reliable."""
    places = np.arange(len(q), dtype=float)[:, None]
    memory = fresh_memory(growing_voronoi(places, [1.0], room=len(q)), len(points))
    memory.q[:], memory.updates[:], memory.counters["sessions"] = q, 9, sessions
    return with_bracket(memory, _bracket(points, 0))


def test_samples_lie_on_axes_through_the_middle() -> None:
    two = fresh_bracket(amounts((-1.0, 0.0), (1.0, 4.0)))
    assert two.points.tolist() == [[0.0, 2.0], [-1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [0.0, 4.0]]
    assert two.edges.tolist() == [[1, 0], [0, 2], [3, 0], [0, 4]]


def test_a_concave_profile_exceeds_its_best_sample_by_no_more() -> None:
    """Random concave profiles, known at random samples."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        at = np.sort(rng.uniform(-1, 1, int(rng.integers(3, 8))))
        lines = rng.normal(size=(6, 2))

        def profile(u: np.ndarray, lines: np.ndarray = lines) -> np.ndarray:
            return np.min(lines[:, :1] * u + lines[:, 1:], axis=0)

        gains = possible_gains(profile(at)[None], at)[0]
        for n, gain in enumerate(gains):
            inside = profile(np.linspace(at[n], at[n + 1], 17)[1:-1])
            assert inside.max() - profile(at).max() <= gain + 1e-12


def test_the_bracket_is_finer_where_the_most_regret_may_be() -> None:
    points, settings = np.array([[-1.0], [0.0], [1.0]]), LearnerSettings(epsilon=0.1, epsilon_share=0.0)
    rising = np.array([[-1.0, -0.5, 0.0]])
    assert refine_bracket(memory_of(points, rising), settings).bracket.points.tolist() == points.tolist()
    peak = np.array([[-1.0, -0.5, 0.0], [-2.0, 0.0, -1.0]])
    finer = refine_bracket(memory_of(points, peak), settings)
    assert finer.bracket.points.tolist() == [[-1.0], [0.0], [1.0], [0.5]]
    assert finer.bracket.edges.tolist() == [[0, 1], [1, 3], [3, 2]]
    assert finer.q[:, 3].tolist() == [-0.25, -0.5]
    assert not finer.investigated.any()
    assert refine_bracket(finer, settings).q.shape == (2, 4)  # not again in the same session
    checked_memory(finer)


def test_refinement_ends() -> None:
    """Samples are never closer than a sixteenth of the range, nor more than there is room for."""
    settings = LearnerSettings(epsilon=0.01, epsilon_share=0.0)
    memory = memory_of(np.array([[-1.0], [0.0], [1.0]]), np.array([[0.0, 0.0, 0.0]]))
    rng = np.random.default_rng(1)
    for n in range(100):
        memory.q[:] = rng.normal(size=memory.q.shape)
        memory.updates[:], memory.counters["sessions"] = 9, (n + 2) * EVERY
        memory = refine_bracket(memory, settings)
    at = np.sort(memory.bracket.points[:, 0])
    assert len(at) == MOST_LAWS
    assert np.diff(at).min() >= 2.0 / 16.0


def test_without_edges_the_criteria_are_those_of_finite_actions() -> None:
    rng, q = np.random.default_rng(2), np.zeros((1, 4))
    plain = without_bracket(memory_of(np.arange(4.0)[:, None], q))
    for _ in range(500):
        one, other = rng.integers(0, 4, (2, 4)) / 4.0
        epsilon = float(rng.choice([0.0, 0.25, 0.5]))
        assert is_adequate(plain, one, other, epsilon, 0.0) == adequate(one, other, epsilon, 0.0)
        assert (rules_apart(plain, one, other, epsilon) == 0) == compatible(one, other, epsilon, epsilon)


def test_states_are_merged_where_the_best_of_each_loses_little_in_the_other() -> None:
    memory = memory_of(np.array([[-1.0], [0.0], [1.0]]), np.zeros((1, 3)))
    here, near, far = np.array([-0.3, -0.05, 0.0]), np.array([-0.3, 0.0, -0.05]), np.array([0.0, -0.3, -0.6])
    assert not compatible(here, near, 0.1, 0.1)  # as finite actions, other ones are best
    assert rules_apart(memory, here, near, 0.1) == 0
    assert rules_apart(memory, here, far, 0.1) != 0


def test_room_keeps_the_bracket() -> None:
    memory = memory_of(np.array([[-1.0], [0.0], [1.0]]), np.zeros((2, 3)))
    larger = with_room(memory, 9)
    assert isinstance(larger, RangeMemory)
    assert larger.bracket is memory.bracket
    assert len(larger.q) >= 9


@pytest.mark.parametrize("spoil", ["points", "edges", "count"])
def test_a_spoiled_bracket_is_refused(spoil: str) -> None:
    memory = memory_of(np.array([[-1.0], [0.0], [1.0]]), np.zeros((2, 3)))
    points, edges = memory.bracket.points.copy(), memory.bracket.edges.copy()
    if spoil == "points":
        points[0] = np.nan
    elif spoil == "edges":
        edges[0, 0] = 7
    else:
        points = points[:2]
    with pytest.raises(ValueError, match="sampled amounts"):
        checked_memory(memory._replace(bracket=memory.bracket._replace(points=points, edges=edges)))


def test_more_amounts_than_there_is_room_for_are_refused() -> None:
    with pytest.raises(DistinguoError, match=r"at most 7 amounts, .* takes 40; take --learner evolution"):
        fresh_bracket(amounts([-1.0] * 40, [1.0] * 40))


@pytest.mark.second_stage
def test_the_puck_is_solved_on_most_seeds() -> None:
    solved = [dg.learn(PushedPuck(), learner="economy", seed=seed).solved for seed in range(200, 210)]
    assert sum(solved) >= 9


@pytest.mark.second_stage
def test_amounts_between_the_first_samples_are_found() -> None:
    """A dose of -0.6 on one side and 0.4 on the other; the first three samples return -0.16 at best."""
    for seed in range(3):
        run = dg.learn(Dose(), learner="economy", seed=seed)
        assert run.solved
        assert abs(run.amounts((-0.5,))[0] + 0.6) <= 0.25
        assert abs(run.amounts((0.5,))[0] - 0.4) <= 0.25


@pytest.mark.second_stage
def test_a_stopped_run_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """Stopped at many places, also while the running action is one that was sampled later."""
    for seed in (5,):
        asked = configure(spec_of(PushedPuck()), seed=seed, learner="economy")
        whole, often = tmp_path / f"whole{seed}", tmp_path / f"often{seed}"
        run = learn_configured(asked, whole)
        assert run.q.shape[1] > 3
        for stops in (2, 3, 5, 7, 9, 0):
            left = [stops]

            def stop(_: Any, left: list[int] = left) -> None:
                left[0] -= 1
                if left[0] == 0:
                    raise KeyboardInterrupt

            try:
                learn_configured(asked, often, stop)
            except KeyboardInterrupt:
                continue
        for name in ("values.npz", "reasons.jsonl", "representation.json"):
            assert (whole / name).read_bytes() == (often / name).read_bytes()
