"""The parts of the learner for categories, against plain computations of the same things."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distinguo.learners.learner import leaves
from distinguo.learners.sweeping.consolidation import compatible_map, consolidate_plan, map_groups
from distinguo.learners.sweeping.memory import (
    NOTHING,
    SweepingMemory,
    SweepingSettings,
    check_sweeping,
    fresh_sweeping,
    with_spare_room,
)
from distinguo.learners.sweeping.model import (
    enqueue,
    fill_slots,
    learn_transition,
    most_urgent,
    optimistic_value,
    state_number,
    sweep_upper_values,
)
from distinguo.learners.sweeping.plan import make_plan_of_model, mean_return, weigh_states
from distinguo.representations.growing import growing_categories
from distinguo.representations.partition import region
from distinguo.seam import kernel

STATES, ACTIONS = 12, 3
SETTINGS = SweepingSettings(precision=1e-9, doubt=2.0)


class World:
    """A small random task: two outcomes for each pair, some of them terminal, some of equal reward."""

    def __init__(self, seed: int, chance: bool) -> None:
        rng = np.random.default_rng(seed)
        self.to = rng.integers(STATES, size=(STATES, ACTIONS, 2))
        self.share = rng.choice([0.5, 0.8], (STATES, ACTIONS)) if chance else np.ones((STATES, ACTIONS))
        self.reward = rng.choice([-1.0, 0.0, 2.0], (STATES, ACTIONS))
        self.rng = rng

    def step(self, j: int, a: int) -> tuple[int, float, bool]:
        k = int(self.to[j, a, int(self.rng.random() >= self.share[j, a])])
        return k, float(self.reward[j, a]), k == STATES - 1


def experienced(
    seed: int, chance: bool = True, steps: int = 400, learn: Any = learn_transition
) -> SweepingMemory:
    """Return the memory after random trials from the states 0 and 1."""
    world, memory = World(seed, chance), fresh_sweeping(growing_categories([[0.0]], room=STATES), ACTIONS)
    memory.counters["horizon"] = 30
    terminal, s, j = True, 0, 0
    for n in range(steps):
        if terminal:
            s, terminal = n % 2, False
            j = state_number(memory, (float(s),))
            memory.starts[j] += 1
        a = int(world.rng.integers(ACTIONS))
        s, r, terminal = world.step(s, a)
        k = state_number(memory, (float(s),))
        learn(memory, SETTINGS, j, a, r, k, terminal)
        j = k
    return memory


def model_of(memory: SweepingMemory) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of going on and the mean rewards, as whole arrays."""
    states = int(memory.counters["states"][0])
    go = np.zeros((states, ACTIONS, states))
    for e in range(int(memory.counters["edges"][0])):
        j, a = divmod(int(memory.edge_pair[e]), ACTIONS)
        if not memory.edge_ends[e]:
            go[j, a, memory.edge_to[e]] += memory.edge_count[e] / memory.tries[j, a]
    return go, memory.gained[:states] / np.maximum(memory.tries[:states], 1)


@kernel
def _sweep_all(memory: SweepingMemory, settings: SweepingSettings) -> None:
    sweep_upper_values(memory, settings, 1_000_000)


@kernel
def _enqueue(memory: SweepingMemory, j: int, urgency: float) -> None:
    enqueue(memory, j, urgency)


@kernel
def _most_urgent(memory: SweepingMemory) -> int:
    return most_urgent(memory)


@given(st.lists(st.tuples(st.integers(0, STATES - 1), st.floats(0, 9)), min_size=1, max_size=60))
def test_the_queue_gives_the_most_urgent_first_and_each_state_once(wishes: list[tuple[int, float]]) -> None:
    memory = fresh_sweeping(growing_categories([[0.0]], room=STATES), ACTIONS)
    greatest: dict[int, float] = {}
    for j, urgency in wishes:
        _enqueue(memory, j, urgency)
        greatest[j] = max(greatest.get(j, 0.0), urgency)
    order = [_most_urgent(memory) for _ in range(len(greatest))]
    assert order == sorted(greatest, key=lambda j: (-greatest[j], j))
    assert memory.counters["waiting"][0] == 0
    assert (memory.place == NOTHING).all()


@pytest.mark.parametrize("chance", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_swept_hopes_are_those_of_the_optimistic_model(seed: int, chance: bool) -> None:
    memory = experienced(seed, chance)
    _sweep_all(memory, SETTINGS)
    assert bool(memory.counters["chance"][0]) == chance
    go, reward = model_of(memory)
    n, highest = memory.tries[: len(go)], np.zeros(len(go))
    gamma, heaven, imagined = (
        float(memory.amounts["gamma"][0]),
        optimistic_value(memory),
        2.0 if chance else 0.0,
    )
    for _ in range(5000):
        known = reward + gamma * go @ highest
        hope = np.where(n > 0, (n * known + imagined * heaven) / np.maximum(n + imagined, 1), heaven)
        highest = hope.max(axis=1)
    assert memory.hope[: len(go)] == pytest.approx(hope, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_mean_return_and_visits_are_those_of_the_model(seed: int) -> None:
    memory = experienced(seed)
    make_plan_of_model(memory, SETTINGS)
    go, reward = model_of(memory)
    rows = np.arange(len(go))
    policy = memory.policy[: len(go)]
    go, reward = go[rows, policy], reward[rows, policy]
    starts = memory.starts[: len(go)] / memory.starts.sum()
    visits, there, returned = np.zeros(len(go)), starts, 0.0
    for _ in range(30):
        visits, returned, there = visits + there, returned + there @ reward, there @ go
    assert mean_return(memory, 30) == pytest.approx(returned)
    weigh_states(memory, 30)
    assert memory.weight[: len(go)] == pytest.approx(visits)


@pytest.mark.parametrize("chance", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_map_acts_as_the_groups_do_and_costs_no_more_than_allowed(seed: int, chance: bool) -> None:
    memory = experienced(seed, chance, steps=1500)
    make_plan_of_model(memory, SETTINGS)
    worth = float(memory.amounts["worth"][0])
    consolidate_plan(memory, SETTINGS, True)
    map_groups(memory)
    states = int(memory.counters["states"][0])
    for j in range(states):
        if memory.group[j] >= 0:
            p = region(memory.partition, tuple(memory.seen[j]))
            assert memory.q[p].argmax() == memory.group[j]
            assert (memory.q[p] == memory.q[p].max()).sum() == 1
        memory.policy[j] = memory.q[region(memory.partition, tuple(memory.seen[j]))].argmax()
    assert mean_return(memory, 30) >= worth - SETTINGS.epsilon * 3.0 - 1e-12
    assert int(memory.partition.size[0]) <= states


def test_states_that_the_plan_never_comes_to_are_left_out() -> None:
    memory = fresh_sweeping(growing_categories([[0.0]], room=8), 2)
    memory.counters["horizon"] = 10
    walk = [(0, 1, 0.0, 1, False), (1, 1, 1.0, 2, True), (0, 0, -1.0, 3, False), (3, 0, -1.0, 0, False)]
    rows = {s: state_number(memory, (float(s),)) for s in range(4)}
    memory.starts[rows[0]] = 10
    for s, a, r, k, ends in walk:
        learn_transition(memory, SETTINGS, rows[s], a, r, rows[k], ends)
    make_plan_of_model(memory, SETTINGS)
    consolidate_plan(memory, SETTINGS, True)
    map_groups(memory)
    assert [bool(memory.group[rows[s]] >= 0) for s in (0, 1, 3)] == [True, True, False]
    assert int(memory.partition.size[0]) == 1
    make_plan_of_model(memory, SETTINGS)
    consolidate_plan(memory, SETTINGS, False)
    assert memory.group[rows[3]] >= 0


def test_compatible_states_share_a_region_and_others_do_not() -> None:
    memory = fresh_sweeping(growing_categories([[0.0]], room=8), 2)
    memory.counters["states"] = 3
    memory.seen[:3, 0], memory.tries[:3] = (4, 5, 6), 1
    memory.value[:3] = [[1.0, 0.0], [1.0, 0.0], [5.0, 0.0]]
    assert compatible_map(memory, SETTINGS).regions.tolist() == [0, 0, 1]


@pytest.mark.parametrize("chance", [False, True])
def test_compiled_and_interpreted_give_the_same_bits(chance: bool) -> None:
    fast = experienced(3, chance, 120)
    slow = experienced(3, chance, 120, learn_transition.py_func)
    make_plan_of_model(fast, SETTINGS)
    make_plan_of_model.py_func(slow, SETTINGS)
    consolidate_plan(fast, SETTINGS, True)
    consolidate_plan.py_func(slow, SETTINGS, True)
    map_groups(fast)
    map_groups.py_func(slow)
    for name, array in leaves(fast).items():
        assert array.tobytes() == leaves(slow)[name].tobytes(), name


def test_growing_loses_nothing() -> None:
    memory = fresh_sweeping(growing_categories([[0.0, 0.0]], room=2), ACTIONS)
    for n in range(100):
        larger = with_spare_room(memory)
        if larger is not memory:
            fill_slots(larger)
        memory = larger
        assert state_number(memory, (float(n % 7), float(n))) == n
    assert [state_number(memory, (float(n % 7), float(n))) for n in range(100)] == list(range(100))
    check_sweeping(memory, ACTIONS, 2)


@pytest.mark.parametrize(
    "name", ["edge_to", "edge_next", "slots", "first_way", "place", "policy", "partition"]
)
def test_a_memory_that_would_lead_astray_is_refused(name: str) -> None:
    memory = experienced(1)
    check_sweeping(memory, ACTIONS, 1)
    (memory.partition.primary if name == "partition" else getattr(memory, name))[0] = 10**6
    with pytest.raises(ValueError, match=r"\w"):
        check_sweeping(memory, ACTIONS, 1)
