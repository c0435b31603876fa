"""Regions of sampled amounts are merged where one law does for both, and only there."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from benchmarks.amounts import Dose, Slope

import distinguo as dg
from distinguo.controller import Controller
from distinguo.distillation.condense import condensed_in
from distinguo.distillation.merging import MOST_REGIONS, merged_maps
from distinguo.representations.voronoi import voronoi
from distinguo.runs.folder import open_run
from distinguo.tasks.amounts import amounts_of, laws_of

SAMPLED = np.array([[[0.0, u]] for u in (-1.0, 0.0, 1.0)])


def lost(controller: Controller, table: np.ndarray, actions: np.ndarray) -> float:
    """The most that laws lose at a prototype; profiles are linear between the sampled amounts."""
    worst = 0.0
    for place, q, a in zip(controller.partition.prototypes, controller.q, actions, strict=False):
        u = float(np.clip(table[a, 0, :-1] @ place + table[a, 0, -1], -1.0, 1.0))
        worst = max(worst, q.max() - float(np.interp(u, [-1.0, 0.0, 1.0], q)))
    return worst


def test_each_map_has_one_law_less_and_loses_no_less() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        line = Controller(
            voronoi(np.sort(rng.uniform(-1, 1, (4, 1)), axis=0), [1.0]), rng.normal(size=(4, 3))
        )
        made = merged_maps(line, SAMPLED)
        assert [len(set(one.actions[:4].tolist())) for one in made.maps] == [1, 2, 3]
        assert np.array_equal(made.laws[:3], SAMPLED)
        losses = [lost(line, made.laws, one.actions) for one in made.maps]
        assert losses[0] >= losses[1] - 1e-9 >= losses[2] - 2e-9


def test_no_law_on_a_fine_grid_loses_less() -> None:
    """Single-peaked profiles, for which the law found is the best."""
    rng = np.random.default_rng(1)
    grid = np.array(list(product(np.linspace(-6, 6, 121), np.linspace(-3, 3, 61))))
    for _ in range(5):
        places, peaks = rng.uniform(-1, 1, (3, 1)), rng.choice([-1.0, 0.0, 1.0], 3)
        line = Controller(voronoi(places, [1.0]), -np.abs(np.array([-1.0, 0.0, 1.0]) - peaks[:, None]))
        made = merged_maps(line, SAMPLED)
        ours = lost(line, made.laws, made.maps[0].actions)
        others = [lost(line, law.reshape(1, 1, 2), np.zeros(3, int)) for law in grid]
        assert ours <= min(others) + 1e-6


def test_large_maps_are_left_as_they_are() -> None:
    many = MOST_REGIONS + 1
    line = Controller(voronoi(np.arange(float(many))[:, None], [1.0]), np.zeros((many, 3)))
    assert merged_maps(line, SAMPLED).maps == []


def test_a_dose_in_proportion_becomes_one_law(tmp_path: Path) -> None:
    run = dg.learn(Slope(), learner="economy", seed=3)
    assert run.summary["regions"] >= 3
    saved, condensed = condensed_in(tmp_path / "one", run, steps=100_000)
    assert condensed.kept
    opened = open_run(tmp_path / "one", Slope())
    for some in (saved, opened):
        known = laws_of(some.configuration.spec)
        assert known is not None
        assert known.table.shape == (1, 1, 2)
        assert some.summary["numbers"] == 2
        for need in (-0.9, 0.0, 0.7):
            assert some.amounts((need,)) == amounts_of(known, 0, (need,))
            assert some.amounts((need,))[0] == pytest.approx(0.8 * need, abs=0.4)


@pytest.mark.second_stage
def test_two_doses_stay_two() -> None:
    run = dg.learn(Dose(), learner="economy", seed=4)
    condensed = dg.condense(run, steps=20_000)
    assert condensed.laws is not None
    assert len(condensed.laws) >= 2
