"""What the tests of agents share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from distinguo.agents.economy import Economy

CART = "CartPole-v1"
QUICK = {"stage.cap": 1_000, "stage.hold": 1_000}  #: a puck that is easily content


def sb3(module: str) -> Any:
    """Import a part of Stable-Baselines3, or skip; what its own imports warn of is not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("stable_baselines3")
        return pytest.importorskip(f"stable_baselines3.{module}")


def assert_same(ours: Economy, theirs: Economy) -> None:
    """Compare all that was learned, and all that will be, bit for bit."""
    a, b = ours._session.stage, theirs._session.stage
    sizes = a.prototypes, b.prototypes
    assert sizes[0] == sizes[1]
    for mine, other in zip(a.agent.memory.partition[:2], b.agent.memory.partition[:2], strict=True):
        np.testing.assert_array_equal(mine[: sizes[0]], other[: sizes[0]])
    np.testing.assert_array_equal(ours.q, theirs.q)
    np.testing.assert_array_equal(a.agent.memory.q[: sizes[0]], b.agent.memory.q[: sizes[0]])
    np.testing.assert_array_equal(a.agent.memory.counters, b.agent.memory.counters)
    np.testing.assert_array_equal(a.agent.progress.counts, b.agent.progress.counts)
    assert a.rng.bit_generator.state == b.rng.bit_generator.state
    assert ours.solved == theirs.solved
