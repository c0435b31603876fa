"""The race against one without any economy: every proposal run from scratch, to its end, on every start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.learners.agent import Agent
from distinguo.learners.probation.memory import RACE, new_root, run_trial
from distinguo.learners.probation.proposals import propose
from distinguo.learners.probation.race import (
    NEVER,
    conclude_race,
    drop_until_smaller,
    luby,
    mean_on_starts,
    order_starts,
    try_on_next_start,
)
from distinguo.runs import restarts
from distinguo.search.maps import PrototypeMap, copy_map
from tests.learners.probation.toys import (
    CAP,
    TOYS,
    WITHOUT_SHRINKING,
    Costly,
    Paying,
    agent_for,
    from_scratch,
    maps,
)
from tests.nightly import so_many

toys = pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.__name__)
few = settings(max_examples=so_many(40, nightly=400), phases=WITHOUT_SHRINKING)
proposals = st.lists(maps(), min_size=1, max_size=8)


def racing(toy: Any, first: PrototypeMap, starts: int, **learner: Any) -> Agent:
    """Return an agent whose race has begun with a map."""
    agent = agent_for(toy, returns=True, stall=10**6, **learner)
    memory, status = agent.memory, agent.memory.status
    copy_map(first, memory.incumbent)
    for i in range(starts):
        memory.starts.roots[i] = new_root(agent)
        last, _ = run_trial(agent, first, memory.starts.roots[i], CAP, NEVER)
        memory.starts.returns[i] = memory.tree.gained[last]
    status["phase"], status["starts"], status["attempt"] = RACE, starts, 1
    return agent


def tried(agent: Agent, candidate: PrototypeMap) -> None:
    """Let the race try a proposal, and conclude."""
    memory, status = agent.memory, agent.memory.status
    copy_map(candidate, memory.candidate)
    for name in ("place", "ran", "total", "present"):
        status[name] = 0
    order_starts(agent)
    while not try_on_next_start(agent, CAP):
        pass
    conclude_race(agent)


def returns_from_scratch(toy: Any, agent: Agent, given: PrototypeMap) -> np.ndarray:
    starts = agent.memory.starts.roots[: int(agent.memory.status["starts"][0])]
    return np.array(
        [from_scratch(toy, given, tuple(agent.memory.tree.states[root])).gained[-1] for root in starts]
    )


def size(given: PrototypeMap) -> int:
    return int(given.partition.size[0])


def same(one: PrototypeMap, other: PrototypeMap) -> bool:
    n = size(one)
    return (
        n == size(other)
        and (one.actions[:n] == other.actions[:n]).all()
        and (one.partition.prototypes[:n] == other.partition.prototypes[:n]).all()
        and (one.partition.weight == other.partition.weight).all()
    )


@toys
@few
@given(maps(), proposals, st.integers(1, 5), st.booleans())
def test_economies_never_change_what_is_kept(
    toy: Any, first: PrototypeMap, candidates: list[PrototypeMap], starts: int, gives_up: bool
) -> None:
    """Kept is what gains more over all starts, or as much with no more prototypes, and never falls behind.

    It falls behind if it gains less on the worst start, on the worst two, and so on. Thresholds are out of reach.
    """
    agent = racing(toy, first, starts, give_up=gives_up)
    present = first
    for candidate in candidates:
        before, after = (returns_from_scratch(toy, agent, x) for x in (present, candidate))
        ahead = np.cumsum((after - before)[np.argsort(before, kind="stable")])
        kept = (ahead >= 0).all() and (ahead[-1] > 0 or size(candidate) <= size(present))
        tried(agent, candidate)
        present = candidate if kept else present
        assert same(agent.memory.incumbent, present)
        found = agent.memory.starts.returns[:starts]
        assert found.tolist() == returns_from_scratch(toy, agent, present).tolist()


@toys
@few
@given(maps(), proposals, st.integers(1, 5))
def test_giving_up_only_saves_steps(
    toy: Any, first: PrototypeMap, candidates: list[PrototypeMap], starts: int
) -> None:
    agents = [racing(toy, first, starts, give_up=flag) for flag in (True, False)]
    for agent in agents:
        for candidate in candidates:
            tried(agent, candidate)
    hasty, patient = (int(agent.progress.counts["trial_steps"][0]) for agent in agents)
    assert hasty <= patient
    assert same(agents[0].memory.incumbent, agents[1].memory.incumbent)


def test_giving_up_saves_many_steps() -> None:
    """A proposal that goes left is known to be worse before the end of its first trial."""
    right, left = (agent_map(a) for a in (2, 0))
    steps = []
    for flag in (True, False):
        agent = racing(Costly, right, 5, give_up=flag)
        tried(agent, left)
        steps.append(int(agent.progress.counts["trial_steps"][0]))
    assert steps[1] == CAP
    assert steps[0] < CAP - 2


def agent_map(action: int) -> PrototypeMap:
    made = agent_for(Costly, returns=True).memory.incumbent
    made.actions[0] = action
    return made


@few
@given(maps(), proposals, st.integers(1, 5), st.sampled_from([-11.0, -8.0, -6.0]))
def test_a_smaller_map_never_costs_the_threshold(
    first: PrototypeMap, candidates: list[PrototypeMap], starts: int, threshold: float
) -> None:
    """Before success is claimed, what is gained beyond the threshold may be spent on fewer prototypes; no more."""
    agent = racing(Costly, first, starts)
    memory, status = agent.memory, agent.memory.status
    memory.facts["threshold"] = threshold
    for candidate in candidates:
        reached, had = mean_on_starts(agent) >= threshold, size(memory.incumbent)
        status["shrink"] = 1 if reached and size(candidate) < had else 0
        total, spent = mean_on_starts(agent), status["shrink"][0]
        tried(agent, candidate)
        assert not reached or mean_on_starts(agent) >= threshold
        assert spent or mean_on_starts(agent) >= total
        if spent:
            fits = returns_from_scratch(Costly, agent, candidate).mean() >= threshold
            assert fits or not same(memory.incumbent, candidate)


@few
@given(maps(), st.integers(0, 10**6))
def test_a_proposal_to_shrink_has_fewer_prototypes_but_one(first: PrototypeMap, seed: int) -> None:
    """And no map is ever without a prototype, however often it is changed."""
    agent = racing(Paying, first, 1)
    agent.rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    memory = agent.memory
    for _ in range(10):
        propose(agent, memory.incumbent, memory.draft, int(memory.starts.roots[0]), CAP)
        assert 1 <= size(memory.draft) <= agent.settings.regions
        if size(memory.incumbent) > 1:
            drop_until_smaller(agent)
            assert 1 <= size(memory.draft) < size(memory.incumbent)
            copy_map(memory.draft, memory.incumbent)


def test_a_map_of_one_prototype_is_not_made_smaller() -> None:
    """Two prototypes that do the same become one without a step, while tries to shrink are left."""
    agent = racing(Costly, agent_map(2), 1)
    memory, status = agent.memory, agent.memory.status
    memory.incumbent.partition.size[0] = 2
    memory.incumbent.actions[:2] = 2
    memory.facts["threshold"], status["shrink"] = -CAP, 6
    tried(agent, agent_map(2))
    assert size(memory.incumbent) == 1
    assert status["shrink"][0] == 0


def test_races_grow_like_attempts() -> None:
    assert [luby(n) for n in range(1, 200)] == [restarts.luby(n) for n in range(1, 200)]


@few
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12))
def test_the_worst_start_comes_first(returns: list[int]) -> None:
    agent = agent_for(Costly, returns=True)
    agent.memory.status["starts"] = len(returns)
    agent.memory.starts.returns[: len(returns)] = returns
    order_starts(agent)
    order = agent.memory.starts.order[: len(returns)].tolist()
    assert order == sorted(range(len(returns)), key=lambda i: returns[i])
