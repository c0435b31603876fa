"""Trials that are run again cost only what they change, and kernels do the same at both speeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from distinguo.search.maps import (
    PrototypeMap,
    append_prototype,
    drop_prototype,
    move_prototype,
    prototype_map,
    set_action,
)
from distinguo.search.trials import (
    Trail,
    TrialLanes,
    Try,
    follow_map,
    fresh_trail,
    observe_lanes,
    rerun,
    return_of,
    run_map,
    step_lanes,
)
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.task import start, transition
from distinguo.tasks.world import python_world, world_of

CAR, BOT = task_spec("MountainCar-v0"), task_spec("Acrobot-v1")
WORLD = world_of(CAR.task, 2, 2)
#: With the velocity in the middle, and one prototype far away that is hardly met.
SWING = prototype_map([[-0.5, -0.01], [-0.5, 0.01], [0.55, -0.06]], [0, 2, 1], [1.8, 0.14])
#: Pushes as the second joint moves.
PUMP = prototype_map([[1, 0, 1, 0, 0.5, 0], [1, 0, 1, 0, -0.5, 0]], [2, 0], [2, 2, 2, 2, 1, 20])


def first_states(count: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [np.array(start(CAR.task, rng)) for _ in range(count)]


def run(changed: PrototypeMap, old: Trail) -> tuple[Trail, int]:
    return rerun(WORLD, changed, old)


@pytest.mark.parametrize("first", first_states(4), ids=str)
def test_a_rerun_is_the_trial_from_the_start_and_costs_only_the_rest(first: np.ndarray) -> None:
    old, whole = run(SWING, fresh_trail(first, 200))
    assert whole == old.length[0] > 0
    for changed in (
        SWING.changed(set_action, 1, 1),
        SWING.changed(move_prototype, 0, np.array([-0.7, -0.02])),
        SWING.changed(drop_prototype, 2),
    ):
        anew, steps = run(changed, fresh_trail(first, 200))
        again, rest = run(changed, old)
        length = anew.length[0]
        assert again.length[0] == length == steps
        for column, other in zip(again[:4], anew[:4], strict=True):
            assert (column[:length] == other[:length]).all()
        same = (anew.actions[:length] == old.actions[:length]).argmin() if rest else length
        assert rest == length - same


def test_a_map_that_decides_the_same_costs_nothing() -> None:
    old, _ = run(SWING, fresh_trail(first_states(1)[0], 200))
    twins = SWING.changed(append_prototype, SWING.prototypes[0], 0)
    assert run(twins, old)[1] == 0
    assert run(twins, old)[0].total == old.total


def test_compiled_equals_interpreted() -> None:
    changed = SWING.changed(set_action, 0, 1)
    old, _ = run(SWING, fresh_trail(first_states(1)[0], 200))
    ours, steps = run(changed, old)
    plain = Trail(*(column.copy() for column in old))
    assert follow_map.py_func(python_world(CAR.task, 2, 2), changed, old, plain, True) == steps
    for column, other in zip(ours, plain, strict=True):
        assert column.tobytes() == other.tobytes()


def test_a_mini_trial_holds_an_action_and_then_follows_the_map() -> None:
    old, _ = run(SWING, fresh_trail(first_states(1)[0], 200))
    step = 30
    gained, took = return_of(WORLD, SWING, old, Try(step, 1, 5))
    s = tuple(old.states[step].tolist())
    for _ in range(5):
        s, _, _ = transition(CAR.task, s, 1)
    rest, _ = run(SWING, fresh_trail(np.array(s), 200 - step - 5))
    assert took == 5 + rest.length[0]
    assert gained == -(step + took)


@pytest.mark.parametrize(
    ("spec", "width", "given"), [(CAR, 2, SWING), (BOT, 4, PUMP)], ids=["car", "acrobot"]
)
def test_many_trials_at_once_are_those_that_are_written_down(
    spec: Any, width: int, given: PrototypeMap
) -> None:
    """Maps at full speed, trails and lanes go the same way, compiled and in plain Python."""
    dimensions, cap = len(spec.dimensions), 60
    rng = np.random.default_rng(3)
    first = np.array([start(spec.task, rng) for _ in range(3)])
    for world in (world_of(spec.task, width, dimensions), python_world(spec.task, width, dimensions)):
        compiled = not hasattr(world, "task") or isinstance(world.task, int)
        kernels = (run_map, observe_lanes, step_lanes)
        full, look, step = kernels if compiled else (one.py_func for one in kernels)
        returns, lengths = np.zeros(3), np.zeros(3, dtype=np.int64)
        full(world, given, first, cap, returns, lengths)
        trails = [rerun(world, given, fresh_trail(row, cap))[0] for row in first]
        assert [trail.total for trail in trails] == returns.tolist()
        assert [int(trail.length[0]) for trail in trails] == lengths.tolist()
        lanes = TrialLanes(first.copy(), np.ones(3, dtype=np.bool_), np.zeros(3))
        for place in range(cap):
            rows = np.flatnonzero(lanes.running)
            seen = np.zeros((len(rows), dimensions))
            look(world, lanes.states, rows, seen)
            taken = given.choose(seen)
            assert taken.tolist() == [int(trails[n].actions[place]) for n in rows]
            step(world, lanes, rows, taken)
            for n in rows:
                assert lanes.states[n].tobytes() == trails[n].states[place + 1].tobytes()
