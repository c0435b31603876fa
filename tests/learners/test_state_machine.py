"""The learner's memory under all that can happen to it, in any order, beside a copy that is saved and loaded."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import numpy as np
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from distinguo.learners.agent import RUNNING, Agent, fresh_progress
from distinguo.learners.economy.figures import (
    consolidate,
    detach_prototype,
    investigate_prototype,
    pop,
    push,
    update_representation,
)
from distinguo.learners.economy.learner import Economy, region_of_state
from distinguo.learners.economy.memory import PRIMARY, SECOND, fresh_memory, with_room
from distinguo.learners.learner import leaves, with_leaves
from distinguo.representations.growing import growing_voronoi
from distinguo.representations.partition import region
from distinguo.seam import implements_interpreted
from distinguo.settings import LearnerSettings
from distinguo.tasks.task import actions, observe, start, transition, unpack
from distinguo.tasks.world import python_world
from distinguo.writing import pack_arrays
from tests.nightly import NIGHTLY, so_many

GAMMA = 0.9
ROOM, MOST_ROOM = 6, 200


class Meadow(NamedTuple):
    """A square with a pond in which trials end; how much it costs to walk depends on where."""

    width: float = 2.0


@implements_interpreted(transition, Meadow)
def _step(task: Meadow, s: Any, a: int) -> Any:
    dx, dy = ((0.3, 0.0), (-0.3, 0.0), (0.0, 0.4))[a]
    x = min(max(s[0] + dx, -task.width), task.width)
    y = min(max(s[1] + dy, -task.width), task.width) - 0.1
    ended = x * x + y * y < 0.1
    return (x, y), (-1.0 if ended else float(np.tanh(x + y))), ended


@implements_interpreted(start, Meadow)
def _anywhere(task: Meadow, rng: Any) -> Any:
    return (task.width * (2.0 * rng.random() - 1.0), task.width * (2.0 * rng.random() - 1.0))


@implements_interpreted(actions, Meadow)
def _three(task: Meadow) -> int:
    return 3


@implements_interpreted(observe, Meadow)
def _seen(task: Meadow, s: Any) -> Any:
    return tuple(round(2.0 * x) / 2.0 for x in s)  # many states look the same


@implements_interpreted(unpack, Meadow)
def _place(task: Meadow, row: np.ndarray) -> Any:
    return (float(row[0]), float(row[1]))


places = st.tuples(*[st.integers(-8, 8).map(lambda n: n / 4)] * 2).map(np.array)
choices = st.fixed_dictionaries(
    {
        "gamma": st.just(GAMMA),
        "alpha": st.sampled_from([0.1, 1.0]),
        "epsilon": st.sampled_from([0.0, 0.02, 0.5]),
        "delta": st.sampled_from([0.0, 0.1]),
        "min_updates": st.integers(0, 2),
        "reduced_updates": st.integers(0, 2),
        "max_steps": st.integers(1, 4),
        "merge_interval": st.integers(0, 2),
        "discount_steps": st.just(True),  # else the values of mini-trials are not discounted as returns are
        "terminal_reliable": st.booleans(),
        "review_merged": st.booleans(),
        "active": st.booleans(),
    }
).map(lambda asked: LearnerSettings(**asked))


class Life(RuleBasedStateMachine):
    """Push, pop, split, detach, merge, grow, save and load; the twin is what was loaded."""

    @initialize(asked=choices, first=places, seed=st.integers(0, 99))
    def born(self, asked: LearnerSettings, first: np.ndarray, seed: int) -> None:
        memory = fresh_memory(growing_voronoi([_seen(Meadow(), first)], [4.0, 4.0], room=ROOM), 3)
        memory.states[0] = first
        log, rng = Economy().fresh_log(memory), np.random.default_rng(seed)
        self.agent = Agent(python_world(Meadow(), 2, 2), memory, asked, fresh_progress(2, 2), log, rng)
        self.twin = _loaded(self.agent)

    def both(self, change: Any) -> Any:
        """Do the same with the memory and with its twin; both must say the same of it."""
        for one in (self.agent, self.twin):
            Economy().reasons(one)  # whoever works with a learner empties its log
        self.agent, self.twin = (Economy().prepared(one, None) for one in (self.agent, self.twin))
        first, second = change(self.agent), change(self.twin)
        assert first == second
        return first

    @rule(s=places)
    def push(self, s: np.ndarray) -> None:
        j = self.both(lambda agent: region_of_state(agent.memory, agent, s))
        self.both(lambda agent: push(agent.memory, s, j))
        assert self.agent.memory.pushed_at[j] == self.agent.memory.counters["clock"][0]

    @rule()
    def pop(self) -> None:
        before = np.count_nonzero(self.agent.memory.pushed_at)
        place = self.both(lambda agent: pop(agent.memory))
        assert (place < 0) == (before == 0)
        assert np.count_nonzero(self.agent.memory.pushed_at) == max(before - 1, 0)

    @rule(s=places)
    def split(self, s: np.ndarray) -> None:
        j = region_of_state(self.agent.memory, self.agent, s)
        self.both(lambda agent: update_representation(agent, s, j))

    @rule(data=st.data())
    def detach(self, data: st.DataObject) -> None:
        primary = self.agent.memory.partition.primary[: self.size]
        merged = [p for p in range(self.size) if primary[p] != p]
        if merged:
            p = data.draw(st.sampled_from(merged))
            j = int(primary[p])  # before the first of the two is detached: the array is its own
            self.both(lambda agent: _detach(agent, j, p))

    @rule()
    def consolidate(self) -> None:
        self.both(consolidate)

    @rule()
    def process(self) -> None:
        self.both(Economy().settle)

    @rule(steps=st.integers(1, 30))
    def walk(self, steps: int) -> None:
        self.both(Economy().begin)
        if self.both(lambda agent: Economy().advance(agent, 100, steps)) != RUNNING:
            self.both(Economy().settle)

    @rule(more=st.integers(1, 9))
    def grow(self, more: int) -> None:
        """Only one of the two: room changes nothing."""
        if len(self.agent.memory.q) > MOST_ROOM:
            return
        self.agent = self.agent._replace(memory=with_room(self.agent.memory, len(self.agent.memory.q) + more))
        self.agent = Economy().prepared(self.agent, None)

    @rule()
    def save_and_load(self) -> None:
        self.twin = _loaded(self.agent)

    @property
    def size(self) -> int:
        return int(self.agent.memory.partition.size[0])

    @invariant()
    def a_region_has_one_primary(self) -> None:
        primary = self.agent.memory.partition.primary[: self.size]
        assert ((primary >= 0) & (primary < self.size)).all()
        assert (primary[primary] == primary).all()

    @invariant()
    def no_prototype_is_there_twice(self) -> None:
        points = self.agent.memory.partition.prototypes[: self.size]
        assert len(np.unique(points, axis=0)) == self.size

    @invariant()
    def the_stack_has_an_entry_per_region_at_most(self) -> None:
        pushed = self.agent.memory.pushed_at
        times = pushed[pushed > 0]
        assert len(np.unique(times)) == len(times)
        assert not pushed[self.size :].any()

    @invariant()
    def values_are_within_the_returns(self) -> None:
        bound = 1.0 / (1.0 - GAMMA)
        assert (np.abs(self.agent.memory.q) <= bound + 1e-9).all()
        assert (self.agent.memory.updates >= 0).all()

    @invariant()
    def every_state_has_a_region(self) -> None:
        for s in ((0.0, 0.0), (9.0, -9.0), (1e150, -1e150), (np.inf, np.nan)):
            j = region(self.agent.memory.partition, s)
            assert self.agent.memory.partition.primary[j] == j

    @invariant()
    def the_twin_is_the_same(self) -> None:
        for one, other in ((self.agent.progress, self.twin.progress), (self.agent.memory, self.twin.memory)):
            theirs = leaves(other)
            for name, array in leaves(one).items():
                rows = self.size if name not in ("counters", "extremes") and array.ndim else len(array)
                if not name.startswith(("q1", "reliable", "error")):  # the last profiles are scratch
                    assert array[:rows].tobytes() == theirs[name][:rows].tobytes(), name


def _detach(agent: Agent, j: int, p: int) -> None:
    primary, own = investigate_prototype(agent, j, PRIMARY), investigate_prototype(agent, p, SECOND)
    detach_prototype(agent, j, p, primary, own)


def _loaded(agent: Agent) -> Agent:
    """Return the agent as a new process would find it: by its arrays in a file, and the state of its randomness."""
    with np.load(io.BytesIO(pack_arrays(leaves(agent.memory))), allow_pickle=False) as file:
        memory = with_leaves(agent.memory, dict(file.items()))
    with np.load(io.BytesIO(pack_arrays(leaves(agent.progress))), allow_pickle=False) as file:
        progress = with_leaves(agent.progress, dict(file.items()))
    rng = np.random.default_rng(0)
    rng.bit_generator.state = agent.rng.bit_generator.state
    checked = Economy().checked(memory, memory)
    return agent._replace(memory=checked, progress=progress, rng=rng, log=Economy().fresh_log(checked))


Life.TestCase.settings = settings(
    max_examples=so_many(30, nightly=1000),
    stateful_step_count=40,
    deadline=None,
    phases=[phase for phase in Phase if NIGHTLY or phase != Phase.shrink],  # takes minutes
)
TestLife = Life.TestCase
