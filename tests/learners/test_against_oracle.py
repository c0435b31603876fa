"""Promise: compiled equals interpreted equals the slow oracle, bit for bit, under any reading."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.learners.agent import NO_BUDGET, RUNNING, Agent, fresh_progress
from distinguo.learners.driver import advance_trial, begin_trial, settle_trial
from distinguo.learners.economy.learner import Economy
from distinguo.learners.economy.memory import drain, fresh_log, fresh_memory
from distinguo.learners.learner import leaves
from distinguo.representations.growing import growing_voronoi
from distinguo.seam import at_speed
from distinguo.settings import LearnerSettings
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import start, transition
from distinguo.tasks.world import python_world, world_of
from tests.oracle import Oracle

SCALE = (4.8, 11.0)
TRIALS, CAP = 25, 300

readings = st.builds(
    LearnerSettings,
    gamma=st.sampled_from([0.9, 0.97, 0.99]),
    epsilon=st.sampled_from([0.02, 0.05, 0.1, 0.2]),
    delta=st.sampled_from([0.0, 0.0, 0.02]),
    alpha=st.sampled_from([0.05, 0.3, 1.0]),
    min_updates=st.sampled_from([1, 3]),
    enough_samples=st.sampled_from([1, 3, 20]),
    max_steps=st.sampled_from([1, 5, 50]),
    coin=st.sampled_from([0.0, 0.05, 0.5]),
    explore=st.sampled_from([0.0, 0.1]),
    fe_interval=st.sampled_from([1, 2, 3]),
    fe_counts_trials=st.booleans(),
    merge_interval=st.sampled_from([0, 1, 3, 7]),
    reduced_updates=st.sampled_from([0, 2, 3]),
    new_updates=st.sampled_from([0, 1, 3]),
    new_investigated=st.booleans(),
    discount_steps=st.booleans(),
    terminal_reliable=st.booleans(),
    surprise_by_transition=st.booleans(),
    merge_into_youngest=st.booleans(),
    surprise_reliable=st.booleans(),
    review_merged=st.booleans(),
    # what goes beyond the paper is off: the oracle is a transcription of the paper
    **{name: st.just(value) for name, value in list(LearnerSettings._field_defaults.items())[21:]},
)
beginnings = st.sampled_from(
    [[(0.0, 0.0)], [(0.268, 0.62), (-0.268, -0.62)], [(0.5, 0.0), (-0.5, 1.0), (2.0, 2.0)]]
)


def learn(
    reading: LearnerSettings, prototypes: list, seed: int, compiled: bool = True, steps: int = CAP
) -> tuple[Agent, list]:
    world = (world_of if compiled else python_world)(Puck(), 2, 2)
    memory, events = fresh_memory(growing_voronoi(prototypes, SCALE, room=4000), 2), []
    memory.states[: len(prototypes)] = prototypes
    rng, log = np.random.default_rng(seed), fresh_log(20_000, 2)
    agent = Agent(world, memory, Economy().kernel_settings(reading), fresh_progress(2, 2), log, rng)
    begin, advance, settle = (at_speed(k, world) for k in (begin_trial, advance_trial, settle_trial))
    for _ in range(TRIALS):
        begin(*agent)
        while advance(*agent, CAP, steps) == RUNNING:
            pass
        settle(*agent, NO_BUDGET)
        events += [(e["event"], *e["prototypes"]) for e in drain(log, memory.partition)]
    return agent, events


def consult(reading: LearnerSettings, prototypes: list, seed: int) -> Oracle:
    task = Puck()
    oracle = Oracle(
        lambda s, a: transition(task, s, a),
        lambda: start(task, None),
        2,
        prototypes,
        SCALE,
        reading,
        np.random.default_rng(seed),
    )
    for _ in range(TRIALS):
        oracle.run_trial(CAP)
    return oracle


@settings(max_examples=60, deadline=None)
@given(readings, beginnings, st.integers(0, 2**32))
def test_compiled_equals_oracle(reading: LearnerSettings, prototypes: list, seed: int) -> None:
    agent, events = learn(reading, prototypes, seed)
    memory, counts = agent.memory, agent.progress.counts
    oracle = consult(reading, prototypes, seed)
    size = memory.partition.size[0]
    assert events == oracle.events
    assert memory.partition.prototypes[:size].tolist() == [list(p) for p in oracle.prototypes]
    assert memory.partition.primary[:size].tolist() == oracle.primary
    assert memory.q[:size].tolist() == oracle.q
    assert memory.updates[:size].tolist() == oracle.updates
    assert counts["trial_steps"][0] == oracle.steps
    assert counts["investigation_steps"][0] == oracle.investigation_steps


def test_the_comparison_meets_every_kind_of_event() -> None:
    """A guard for the test above: readings like the ones drawn do split, merge and detach."""
    kinds = set()
    for seed in range(5):
        reading = LearnerSettings(gamma=0.95, alpha=0.2, coin=0.3, merge_interval=1, new_updates=3)
        kinds |= {kind for kind, *_ in consult(reading, [(0.0, 0.0)], seed).events}
    assert kinds == {"split", "merge", "detach"}


@pytest.mark.parametrize("seed", [0, 1])
def test_interpreted_equals_compiled(seed: int) -> None:
    fast, fast_events = learn(LearnerSettings(), [(0.0, 0.0)], seed)
    slow, slow_events = learn(LearnerSettings(), [(0.0, 0.0)], seed, compiled=False)
    assert fast_events == slow_events
    for name, array in {**leaves(fast.memory), **leaves(fast.progress)}.items():
        assert np.array_equal(array, {**leaves(slow.memory), **leaves(slow.progress)}[name]), name


def test_chunks_do_not_matter() -> None:
    """A trial advanced a few steps at a time ends in the same bits."""
    whole, _ = learn(LearnerSettings(), [(0.0, 0.0)], 3)
    parts, _ = learn(LearnerSettings(), [(0.0, 0.0)], 3, steps=7)
    assert np.array_equal(parts.memory.q, whole.memory.q)
    assert np.array_equal(parts.progress.counts, whole.progress.counts)
