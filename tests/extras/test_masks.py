"""A shielded agent of another library: sb3-contrib's MaskablePPO takes the masks as they are."""

from __future__ import annotations

import pytest

import distinguo as dg
from distinguo.proof.declared.question import certify_declared
from distinguo.tasks.catalog import spec_of
from tests.proof.test_guard import Brick


def test_maskable_ppo_never_fails_in_the_shield():
    contrib = pytest.importorskip("sb3_contrib")
    env = dg.Shield(Brick(), certify_declared(spec_of(Brick()), 2_500))
    ended = []
    step = env.env.step
    env.env.step = lambda action: ended.append((out := step(action))[2]) or out
    agent = contrib.MaskablePPO("MlpPolicy", env, n_steps=256, batch_size=64, seed=0)
    agent.learn(1_024)
    assert len(ended) >= 1_024
    assert not any(ended)
