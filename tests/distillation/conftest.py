"""Two distilled runs that many tests look at."""

from __future__ import annotations

import pytest

import distinguo as dg
from distinguo.distillation.distil import Distilled
from tests.distillation.common import CAR, DIAGONAL, QUICK, SMALL, SWINGS


@pytest.fixture(scope="session")
def swung(tmp_path_factory: pytest.TempPathFactory) -> Distilled:
    """Return the swing of the mountain car, in a folder."""
    out = tmp_path_factory.mktemp("distilled") / "swing"
    return dg.distil(dg.Policy(SWINGS, name="swing"), CAR, seed=3, settings=SMALL, out=out)


@pytest.fixture(scope="session")
def held(tmp_path_factory: pytest.TempPathFactory) -> Distilled:
    """Return the diagonal of the puck, in a folder."""
    out = tmp_path_factory.mktemp("distilled") / "diagonal"
    settings = QUICK | {"learner.steps": 4_000_000}  # trials of 2,000 steps
    return dg.distil(dg.Policy(DIAGONAL, name="diagonal"), "puck", seed=1, settings=settings, out=out)
