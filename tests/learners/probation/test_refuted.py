"""What is learned from a confirmation that failed, and which learner a task is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.learners.learner import learner_named
from distinguo.learners.probation.learner import CounterexampleTests
from distinguo.learners.probation.memory import RACE, new_root
from distinguo.learners.probation.race import is_claimable, mean_on_starts
from distinguo.runs.configuration import suited_learner
from distinguo.tasks.catalog import task_spec
from tests.learners.probation.toys import WITHOUT_SHRINKING, Costly, agent_for
from tests.nightly import so_many

few = settings(max_examples=so_many(40, nightly=400), phases=WITHOUT_SHRINKING)
LEARNER = learner_named("probation")
TESTS = CounterexampleTests()


def confirmed(had: list[int], returns: list[int], **changes: Any) -> Any:
    """Return an agent in a race of one start for each return, after the trials of a confirmation."""
    agent = agent_for(Costly, returns=True, **changes)
    memory, status = agent.memory, agent.memory.status
    roots = [new_root(agent) for _ in range(len(had) + len(returns))]
    memory.starts.roots[: len(had)], memory.starts.returns[: len(had)] = roots[: len(had)], had
    memory.starts.tests[: len(returns)] = roots[len(had) :]
    status["phase"], status["starts"], status["tests"] = RACE, len(had), len(returns)
    return agent


values = st.lists(st.integers(-12, 0), min_size=1, max_size=12)


@few
@given(values, st.lists(st.integers(-12, 0), min_size=2, max_size=30))
def test_the_worst_trials_and_a_median_one_join_the_race(had: list[int], returns: list[int]) -> None:
    agent = confirmed(had, returns)
    memory, settings = agent.memory, agent.settings
    tests = dict(zip(memory.starts.tests.tolist(), returns, strict=False))
    TESTS.refuted(agent, [float(value) for value in returns])
    count = int(memory.status["starts"][0])
    roots = memory.starts.roots[:count].tolist()
    assert count == min(len(had) + min(settings.counterexamples, len(returns)), settings.most_starts)
    assert len(set(roots)) == count
    joined = [tests[root] for root in roots if root in tests]
    for root, value in zip(roots, memory.starts.returns[:count].tolist(), strict=True):
        assert root not in tests or value == tests[root]
    if len(had) + 3 <= settings.most_starts:
        ranked = sorted(returns)
        assert sorted(joined)[: len(joined) - 1] == ranked[: len(joined) - 1]
        assert max(joined) == ranked[max(len(ranked) // 2, len(joined) - 1)]


@few
@given(st.lists(st.integers(-12, 0), min_size=12, max_size=12), st.integers(-30, -13))
def test_of_a_full_race_the_easiest_starts_leave(had: list[int], worst: int) -> None:
    agent = confirmed(had, [worst, worst - 1])
    TESTS.refuted(agent, [float(worst), float(worst - 1)])
    left = sorted(agent.memory.starts.returns[:12].tolist())
    assert left == sorted([*sorted(had)[:10], worst, worst - 1])


def test_a_map_that_was_refuted_is_not_claimed_again_as_it_is() -> None:
    agent = confirmed([-2, -2], [])
    memory = agent.memory
    memory.facts["threshold"], memory.status["changed"] = -3.0, 1
    assert LEARNER.claims(agent, 1, task_spec("CartPole-v1").goal)
    assert not is_claimable(agent)
    TESTS.refuted(agent, [])
    assert not is_claimable(agent)
    memory.status["changed"] = 1
    assert is_claimable(agent)
    memory.facts["threshold"] = np.nan  # none is known
    assert not is_claimable(agent)
    assert mean_on_starts(agent) == -2.0


@pytest.mark.parametrize(
    ("name", "words", "learner"),
    [
        ("CartPole-v1", {}, "probation"),
        ("MountainCar-v0", {}, "probation"),
        ("Acrobot-v1", {"asked": {"starts": 2}}, "probation"),
        ("puck", {}, "economy"),
        ("FrozenLake-v1", {}, "sweeping"),
        ("CartPole-v1", {"preset_name": "paper"}, "economy"),
        ("CartPole-v1", {"asked": {"epsilon": 0.1}}, "economy"),
        ("CartPole-v1", {"begun": True}, "economy"),
    ],
)
def test_a_task_is_given_the_learner_that_suits_it(name: str, words: dict[str, Any], learner: str) -> None:
    assert suited_learner(task_spec(name), **words) == learner
