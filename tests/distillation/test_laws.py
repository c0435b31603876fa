"""Laws fitted to a teacher whose actions are amounts: exactly where it follows laws, and its extremes are kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import distinguo as dg
from distinguo.distillation.laws import fitted_laws
from distinguo.runs.folder import open_run
from distinguo.tasks.amounts import laws_of

LOW, HIGH = np.array([-1.0, 0.0]), np.array([1.0, 3.0])


def test_a_teacher_that_follows_laws_is_found_with_its_extremes() -> None:
    """Most of what it takes is at the ends of the ranges, where a regression that counts all errors is too flat."""
    rng = np.random.default_rng(1)
    seen = rng.normal(size=(4_000, 3)) * (1.0, 5.0, 0.1) + (0.0, 2.0, 7.0)
    own = np.array(
        [[[2.0, 0.3, -9.0, 62.0], [0.0, 0.4, 0.0, 1.0]], [[-1.0, 0.0, 5.0, -35.5], [0.5, 0.0, 0.0, 0.7]]]
    )
    which = (seen[:, 0] + 0.1 * seen[:, 1] > 0.3).astype(int)
    said = np.einsum("nmd,nd->nm", own[which][..., :3], seen) + own[which][..., 3]
    taken = np.clip(said, LOW, HIGH)
    assert (np.abs(said) > np.abs(taken)).mean() > 0.3
    table = fitted_laws(seen, taken, 2, LOW, HIGH)
    again = np.clip(np.einsum("kmd,nd->nkm", table[..., :3], seen) + table[..., 3], LOW, HIGH)
    best = np.abs(again - taken[:, None]).max(axis=2).min(axis=1)
    assert np.median(best) < 0.02
    assert (best < 0.3).mean() > 0.95


def test_one_law_is_one_regression() -> None:
    rng = np.random.default_rng(2)
    seen = rng.normal(size=(500, 2))
    taken = (seen @ [0.1, -0.2] + 0.3)[:, None]
    table = fitted_laws(seen, taken, 1, LOW[:1], HIGH[:1])
    assert table[0, 0] == pytest.approx([0.1, -0.2, 0.3], abs=1e-3)


@pytest.mark.second_stage
def test_a_law_of_a_car_is_distilled(tmp_path: Path) -> None:
    def teacher(s: np.ndarray) -> list[float]:
        return [float(np.clip(40.0 * s[1] + 0.1, -1.0, 1.0))]

    small = dg.distil(
        teacher, "MountainCarContinuous-v0", out=tmp_path / "run", settings={"learner.steps": 240_000}
    )
    assert small.kept
    run = open_run(tmp_path / "run")
    assert laws_of(run.configuration.spec).table[0, 0] == pytest.approx([0.0, 40.0, 0.1], abs=0.5)  # type: ignore[union-attr]
    assert run.rollout(seed=3).gained == small.run.rollout(seed=3).gained > 90.0
    assert run.amounts((-0.5, 0.06)) == (1.0,)
