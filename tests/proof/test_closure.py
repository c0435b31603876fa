"""What is certified never fails in simulation; what fails is never certified."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.simulate import evaluate
from distinguo.proof.hold.invariant import FOREVER, UNDECIDED, certify_states
from distinguo.proof.hold.puck import pucks
from distinguo.representations.declare import FunctionPartition
from distinguo.tasks.puck.analysis import controllable
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import transition
from tests.clock import times_as_long

from .policies import GOOD, HILL, ideal, starts, trained

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="millions of steps")


def simulate(partition, q, states, steps, seed=0):
    return evaluate(Puck(), Controller(partition, q, 0.0), np.random.default_rng(seed), states, steps)


def agree(partition, q, states, steps):
    """Check every outcome against simulation and return the outcomes."""
    outcomes = certify_states(Puck(), Controller(partition, q, 0.0), states)
    if outcomes.proven.any():
        assert not simulate(partition, q, states[outcomes.proven], steps).ended.any()
    fallen = outcomes.lengths >= 0
    if fallen.any():
        outcome = simulate(partition, q, states[fallen], 1_000)
        assert (outcome.lengths == outcomes.lengths[fallen]).all()
        assert outcome.ended.all()
    return outcomes


def test_the_diagonal_holds_every_controllable_start():
    states = starts(0)
    outcomes = certify_states(Puck(), Controller(ideal(), GOOD, 0.0), states)
    assert outcomes.proven.tolist() == [controllable(Puck(), tuple(s)) for s in states]
    assert outcomes.visited.all()


@compiled
@pytest.mark.parametrize("prototypes", [0, 2, 24, 100])
def test_certified_starts_never_fail(prototypes):
    proven = 0
    for seed in range(6):
        partition, q = trained(seed, prototypes)
        proven += agree(partition, q, starts(seed), 30_000).proven.sum()
    if prototypes >= 24:
        assert proven > 0


@compiled
def test_no_mutant_is_certified_where_it_fails():
    partition, q = trained(0, 24)
    states = starts(1)
    assert agree(partition, q, states, 30_000).proven.any()
    for region in range(len(q)):
        mutant = q.copy()
        mutant[region] = mutant[region, ::-1]
        agree(partition, mutant, states, 30_000)


def test_a_flipped_diagonal_is_never_certified():
    for bad in (np.array([[0.0, -1.0], [0.0, -1.0]]), GOOD[::-1].copy()):
        assert not certify_states(Puck(), Controller(ideal(), bad, 0.0), starts(2)).proven.any()


def test_doomed_starts_are_never_certified():
    rng = np.random.default_rng(3)
    states = rng.uniform(HILL.low, HILL.high, (2_000, 2))
    outcomes = certify_states(Puck(), Controller(ideal(), GOOD, 0.0), states)
    can = np.array([controllable(Puck(), tuple(s)) for s in states])
    assert not (outcomes.proven & ~can).any()
    assert (outcomes.proven & can).sum() > 0.99 * can.sum()


def test_ties_count_as_every_tied_action():
    tied = np.zeros((2, 2))
    assert not certify_states(Puck(), Controller(ideal(), tied, 0.0), starts(4)).proven.any()
    assert (
        certify_states(Puck(), Controller(ideal(), tied, 0.0), np.zeros((1, 2))).lengths == UNDECIDED
    ).all()
    assert certify_states(Puck(), Controller(ideal(), GOOD, 0.5), np.zeros((1, 2))).lengths[0] == FOREVER


def test_a_horizon_asks_for_less():
    start = np.array([[0.0, 0.0]])
    bad = np.array([[0.0, -1.0], [0.0, -1.0]])
    fall = int(simulate(ideal(), bad, start, 1_000).lengths[0])
    near = [
        certify_states(Puck(), Controller(ideal(), bad, 0.0), start, horizon=h).proven[0]
        for h in (0, 20, fall, fall + 1)
    ]
    assert near == [True, True, False, False]


def test_a_small_budget_leaves_states_undecided():
    outcomes = certify_states(Puck(), Controller(ideal(), GOOD, 0.0), np.zeros((1, 2)), budget=20)
    assert outcomes.lengths.tolist() == [UNDECIDED]


def test_disturbed_and_uncertain_pucks():
    rough = pucks(Puck(mass=0.97), Puck(mass=1.03), (0.0, 0.005))
    outcomes = certify_states(Puck(), Controller(ideal(), GOOD, 0.0), starts(5, 20), enclosure=rough)
    assert outcomes.proven.any()
    rng = np.random.default_rng(0)
    for s in starts(5, 20)[outcomes.proven]:
        s = tuple(s)
        for _ in range(2_000):
            puck = Puck(mass=rng.choice([0.97, 1.03]))
            above = s[1] > -1.7615 * s[0]
            s, _, fell = transition(puck, s, 0 if above else 1)
            assert not fell
            s = (s[0], s[1] + 0.005 * rng.choice([-1, 1]))


def test_other_partitions_are_refused():
    with pytest.raises(DistinguoError, match="Voronoi"):
        certify_states(Puck(), Controller(FunctionPartition(lambda s: 0, 1), GOOD, 0.0), np.zeros((1, 2)))


@compiled
@pytest.mark.parametrize(("prototypes", "share"), [(24, 0.037), (100, 0.057)])
def test_fifty_trials_are_decided_in_milliseconds(prototypes, share):
    """In this share of the time that the first 20,000 steps of the trials would take."""
    controller = Controller(*trained(0, prototypes), 0.0)

    def proof():
        certify_states(Puck(), controller, starts(0))

    def simulation():
        evaluate(Puck(), controller, np.random.default_rng(0), starts(0), 20_000)

    proof(), simulation()  # compiles
    assert times_as_long(proof, simulation) < 1.7 * share
