"""Known decisions are free, and change nothing: trials through the tree against trials from scratch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.learners.probation.memory import RUNNING_ON, has_ended, new_root, run_trial
from distinguo.learners.probation.race import NEVER
from distinguo.search.maps import PrototypeMap
from tests.learners.probation.toys import CAP, TOYS, WITHOUT_SHRINKING, Trial, agent_for, from_scratch, maps
from tests.nightly import so_many

few = settings(max_examples=so_many(30, nightly=400), phases=WITHOUT_SHRINKING)
toys = pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.__name__)
tries = st.lists(st.tuples(maps(), st.integers(0, 2)), min_size=1, max_size=12)
needs = st.sampled_from([NEVER, -9.0, -5.0, -3.0, 0.0, 4.0, 8.0])


class Ledger:
    """What a slow reader knows: every sequence of actions that was run from a start."""

    def __init__(self) -> None:
        self.known: set[tuple[int, tuple[int, ...]]] = set()
        self.reward = -np.inf

    def run(self, root: int, trial: Trial, need: float) -> tuple[float, int, int]:
        """Walk and run a trial: what it gained until it was over or given up, its length, and its new decisions."""
        new = depth = 0
        while depth < len(trial.actions) and self.may_reach(trial.gained[depth], depth, need):
            depth += 1
            way = (root, trial.actions[:depth])
            new += way not in self.known
            if way not in self.known:
                self.reward = max(self.reward, trial.gained[depth] - trial.gained[depth - 1])
            self.known.add(way)
        return trial.gained[depth], depth, new

    def may_reach(self, gained: float, depth: int, need: float) -> bool:
        return gained + max(self.reward, 0.0) * (CAP - depth) >= need


def checked_tries(
    toy: Any, wanted: list[tuple[PrototypeMap, int]], needed: list[float], returns: bool
) -> None:
    agent, ledger = agent_for(toy, returns=returns), Ledger()
    tree, nodes = agent.memory.tree, agent.memory.status["nodes"]
    roots = [new_root(agent) for _ in range(3)]
    for (drawn, place), need in zip(wanted, needed, strict=True):
        root = roots[place]
        trial = from_scratch(toy, drawn, tuple(tree.states[root]))
        last, steps = run_trial(agent, drawn, root, CAP, need)
        gained, length, new = ledger.run(root, trial, need)
        assert (tree.gained[last], tree.depth[last]) == (gained, length)
        assert steps == (new if returns else length * (new > 0))
        assert nodes[0] == len(roots) + len(ledger.known)
        assert has_ended(agent, last, CAP) == (length == len(trial.actions))


@toys
@few
@given(tries)
def test_trials_are_those_from_scratch_and_only_new_decisions_take_steps(
    toy: Any, wanted: list[tuple[PrototypeMap, int]]
) -> None:
    checked_tries(toy, wanted, [NEVER] * len(wanted), returns=True)


@toys
@few
@given(tries)
def test_where_no_state_can_be_gone_on_from_the_way_to_it_counts_again(
    toy: Any, wanted: list[tuple[PrototypeMap, int]]
) -> None:
    checked_tries(toy, wanted, [NEVER] * len(wanted), returns=False)


@toys
@few
@given(tries, st.data(), st.booleans())
def test_a_trial_is_given_up_as_soon_as_it_cannot_reach_what_is_needed(
    toy: Any, wanted: list[tuple[PrototypeMap, int]], data: st.DataObject, returns: bool
) -> None:
    needed = [data.draw(needs) for _ in wanted]
    checked_tries(toy, wanted, needed, returns)


@toys
@few
@given(maps(), st.integers(1, CAP))
def test_without_reuse_every_trial_is_run_from_the_start(toy: Any, drawn: PrototypeMap, cap: int) -> None:
    agent = agent_for(toy, returns=True, reuse=False)
    root = new_root(agent)
    trial = from_scratch(toy, drawn, tuple(agent.memory.tree.states[root]), cap)
    for _ in range(3):
        last, steps = run_trial(agent, drawn, root, cap, NEVER)
        assert (agent.memory.tree.gained[last], steps) == (trial.gained[-1], len(trial.actions))


@toys
@few
@given(tries)
def test_the_tree_holds_together(toy: Any, wanted: list[tuple[PrototypeMap, int]]) -> None:
    """Every child is a step below its parent, by the action it is listed under; ends have no children."""
    agent = agent_for(toy, returns=True)
    roots = [new_root(agent) for _ in range(3)]
    for drawn, place in wanted:
        run_trial(agent, drawn, roots[place], CAP, NEVER)
    tree = agent.memory.tree
    for k in range(int(agent.memory.status["nodes"][0])):
        for a, j in enumerate(tree.child[k]):
            if j >= 0:
                s, r, over = toy().transition(tuple(tree.states[k]), a)
                assert tuple(tree.states[j]) == s
                assert (tree.parent[j], tree.depth[j]) == (k, tree.depth[k] + 1)
                assert tree.gained[j] == tree.gained[k] + r
                assert (tree.end[j] != RUNNING_ON) == over
        assert tree.end[k] == RUNNING_ON or (tree.child[k] < 0).all()
