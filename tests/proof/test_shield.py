"""Whatever an agent wants, it never leaves a certified set."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from numba import config

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.certificate import certificate_text
from distinguo.proof.hold.invariant import certify_task, prove_hold
from distinguo.proof.shield import OUTSIDE, UNGUARDED, Guard, Shield
from distinguo.tasks.puck.environment import PuckOnAHillEnv
from distinguo.tasks.puck.puck import Puck
from distinguo.verification import verify

from .policies import GOOD, ideal

COUNTS = (384, 192)
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells")


@pytest.fixture(scope="module")
def anyone():
    return certify_task(Puck(), COUNTS)


def test_a_shielded_random_agent_never_falls(anyone):
    steps = 1_000_000
    assert Guard(anyone).walk((0.0, 0.0), steps, seed=1) == steps


def test_an_unshielded_random_agent_falls():
    env = PuckOnAHillEnv()
    env.reset()
    rng = np.random.default_rng(0)
    assert any(env.step(int(rng.integers(2)))[2] for _ in range(1_000))


@pytest.mark.parametrize("wish", [0, 1, None])
def test_no_agent_falls_in_the_environment(anyone, wish):
    env = Shield(PuckOnAHillEnv(), anyone)
    env.reset()
    rng, replaced = np.random.default_rng(0), 0
    for _ in range(3_000):
        assert env.allowed_actions().any()
        _, _, terminated, _, info = env.step(int(rng.integers(2)) if wish is None else wish)
        assert not terminated
        replaced += "shield" in info
    assert replaced


def test_outside_of_the_set_the_certified_policy_acts(anyone, tmp_path):
    proof = prove_hold(Puck(), Controller(ideal(), GOOD), counts=COUNTS)
    path = tmp_path / "certificate.json"
    path.write_text(certificate_text(proof.certificate))
    env = Shield(PuckOnAHillEnv(), path)
    env.reset(options={"state": (1.5, 2.0)})
    assert not env.allowed_actions().any()
    assert env.step(1)[4]["shield"] == OUTSIDE
    assert env.unwrapped.last_push == 0
    env = Shield(PuckOnAHillEnv(), anyone, checked=True)
    env.reset(options={"state": (1.5, 2.0)})
    assert env.step(1)[4]["shield"] == UNGUARDED
    assert env.unwrapped.last_push == 1


def test_takes_the_certificate_of_a_proof(tmp_path):
    proof = verify("diagonal", cells=40_000, out=tmp_path)
    for certificate in (proof.certificate, proof.path, str(proof.path)):
        env = Shield(PuckOnAHillEnv(), certificate)
        env.reset()
        assert env.allowed_actions().any()
        assert env.guard.certified_action((0.0, 1.0)) == 0
    nothing = verify("grid:3x3", cells=40_000)
    with pytest.raises(DistinguoError, match="nothing was proven"):
        Shield(PuckOnAHillEnv(), nothing.certificate)


def test_other_environments_are_refused(anyone):
    with pytest.raises(DistinguoError, match="beta"):
        Shield(PuckOnAHillEnv(beta=0.5), anyone, checked=True)
    with pytest.raises(DistinguoError, match="PuckOnAHill"):
        Shield(gymnasium.make("CartPole-v1"), anyone, checked=True)


def test_bad_actions_are_the_environments_to_refuse(anyone):
    env = Shield(PuckOnAHillEnv(), anyone, checked=True)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset()
    with pytest.raises(DistinguoError, match="action"):
        env.step(7)
