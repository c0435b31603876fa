"""Trials of compiled tasks against a slow loop, and against Gymnasium's own environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from distinguo.distillation.trials import CompiledTrials, trials_of
from distinguo.search.maps import PrototypeMap, prototype_map
from distinguo.search.races import Contender
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.spec import Hold
from distinguo.tasks.task import observe, seeded, transition, unpack
from tests.distillation.common import CAR, CART, RESTING, SWINGING

STARTS = [4, 17, 4, 2**30]  # one of them twice
BALANCING = prototype_map(
    [[0.0, 0.0, 0.05, 0.5], [0.0, 0.0, -0.05, -0.5], [0.3, 0.1, 0.0, 0.1]],
    [1, 0, 1],
    [2.4, 2.0, 0.1, 1.0],
)
FALLING = prototype_map([[1.0, 1.0], [-1.0, -1.0]], [0, 1], [4.8, 11.0])
TORQUES = prototype_map(
    [[1.0, 0.3, 1.0], [0.5, -0.5, -1.0], [-1.0, 0.0, 2.0]],
    [0, 3, 4],
    [1.0, 1.0, 4.0],
)
TASKS: dict[str, tuple[Any, PrototypeMap, int]] = {
    "car": (task_spec(CAR), SWINGING, 150),
    "cart": (task_spec(CART), BALANCING, 500),
    "puck": (task_spec("puck"), FALLING, 60),
    "pendulum": (task_spec("Pendulum-v1"), TORQUES, 40),
    "noisy puck": (task_spec("puck", {"noise": 0.2}), FALLING, 60),
    "noisy actions": (task_spec(CAR, {"noisy_actions": 0.3}), SWINGING, 150),
}


def nearest_action(map_: PrototypeMap, seen: tuple[float, ...]) -> int:
    far = [
        sum(((x - c) / w) ** 2 for x, c, w in zip(seen, place, map_.scale, strict=True))
        for place in map_.prototypes
    ]
    return int(map_.actions[far.index(min(far))])


def slowly(
    spec: Any, map_: PrototypeMap, first: np.ndarray, number: int, cap: int
) -> tuple[float, list, list]:
    task = seeded(spec.task, number)
    s, gained, terminal = unpack(task, first), 0.0, False
    seen: list[Any] = []
    taken: list[int] = []
    while not terminal and len(taken) < cap:
        seen.append(observe(task, s))
        taken.append(nearest_action(map_, seen[-1]))
        s, r, terminal = transition(task, s, taken[-1])
        gained += 1.0 if isinstance(spec.goal, Hold) else r
    return gained, seen, taken


@pytest.mark.parametrize("name", TASKS)
def test_returns_are_those_of_a_slow_loop(name: str) -> None:
    spec, map_, cap = TASKS[name]
    trials = CompiledTrials(spec, cap)
    first = trials.first_states(STARTS)
    slow = [slowly(spec, map_, row, number, cap) for row, number in zip(first, STARTS, strict=True)]
    returns = trials.judge([Contender(map_, STARTS)])[0]
    np.testing.assert_allclose(returns, [gained for gained, _, _ in slow], rtol=1e-12)
    steps = sum(len(taken) for _, _, taken in slow)
    assert trials.count == (len(STARTS), steps)
    followed = trials.follow(map_, STARTS)
    np.testing.assert_array_equal(followed.returns, returns)
    assert followed.lengths.tolist() == [len(taken) for _, _, taken in slow]
    assert followed.taken.tolist() == [a for _, _, taken in slow for a in taken]
    np.testing.assert_array_equal(followed.seen, [row for _, seen, _ in slow for row in seen])
    assert followed.step.tolist() == [n for _, _, taken in slow for n in range(len(taken))]
    assert trials.count == (2 * len(STARTS), 2 * steps)
    trials.close()


@pytest.mark.parametrize("name", TASKS)
def test_a_start_is_a_number_and_nothing_else_matters(name: str) -> None:
    """What a start gains depends neither on the order nor on the company, with noise neither."""
    spec, map_, cap = TASKS[name]
    one, other = CompiledTrials(spec, cap), CompiledTrials(spec, cap)
    together = one.judge([Contender(map_, [1, 2, 3, 4, 5])] * 3)
    alone = [other.judge([Contender(map_, [number])])[0][0] for number in (5, 4, 3, 2, 1)]
    for returns in together:
        np.testing.assert_array_equal(returns, alone[::-1])
    np.testing.assert_array_equal(one.follow(map_, [3, 1]).returns, together[0][[2, 0]])
    one.close()
    other.close()


def test_chance_differs_from_start_to_start() -> None:
    spec, map_, cap = TASKS["noisy actions"]
    still = task_spec(CAR)
    noisy, plain = CompiledTrials(spec, cap), CompiledTrials(still, cap)
    starts = list(range(30))
    returns = noisy.judge([Contender(map_, starts)])[0]
    assert len(set(returns.tolist())) > 3
    assert (returns != plain.judge([Contender(map_, starts)])[0]).any()
    noisy.close()
    plain.close()


@pytest.mark.parametrize("name", [CAR, CART])
def test_gymnasium_sees_and_gains_the_same(name: str) -> None:
    spec, map_, cap = TASKS["car" if name == CAR else "cart"]
    trials = CompiledTrials(spec, cap)
    followed = trials.follow(map_, [7, 8])
    firsts = trials.first_states([7, 8])
    trials.close()
    env = gymnasium.make(name).unwrapped
    row = 0
    for n, first in enumerate(firsts):
        env.reset(seed=0)
        env.state = tuple(first) if name == CAR else np.array(first)  # type: ignore[attr-defined]
        seen, gained = np.array(first, dtype=np.float32), 0.0
        for _ in range(followed.lengths[n]):
            np.testing.assert_array_equal(followed.seen[row].astype(np.float32), seen)
            seen, reward, terminated, _, _ = env.step(int(followed.taken[row]))
            gained, row = gained + float(reward), row + 1
        assert gained == followed.returns[n]
        assert terminated == (followed.lengths[n] < cap)


def test_a_puck_begins_where_it_can_be_held() -> None:
    spec = task_spec("puck")
    trials = CompiledTrials(spec, 10)
    first = trials.first_states(range(40))
    assert len(spec.controllable_among(first)) == 40
    assert np.ptp(first, axis=0).min() > 1.0  # all over the place
    trials.close()


def test_a_teacher_is_asked_for_all_trials_at_once() -> None:
    trials = CompiledTrials(task_spec(CAR), 50)
    sizes: list[int] = []

    def decide(rows: np.ndarray) -> np.ndarray:
        sizes.append(len(rows))
        return SWINGING.choose(rows)

    followed = trials.follow_teacher(decide, range(20))
    assert sizes == [20] * 50
    np.testing.assert_array_equal(followed.returns, trials.judge([Contender(SWINGING, range(20))])[0])
    trials.close()


def test_a_trial_ends_at_its_cap() -> None:
    trials = CompiledTrials(task_spec(CAR), 33)
    assert trials.follow(RESTING, [1]).lengths.tolist() == [33]
    assert trials.judge([Contender(RESTING, [1])])[0].tolist() == [-33.0]
    trials.close()


def test_a_task_is_run_where_it_can_be() -> None:
    kinds = {
        "CompiledTrials": task_spec(CAR),
        "WorkerTrials": task_spec(CAR, interpreted=True),
    }
    for kind, spec in kinds.items():
        trials = trials_of(spec, 10)
        assert type(trials).__name__ == kind
        trials.close()
    from distinguo.tasks.catalog import spec_of

    own = trials_of(spec_of(gymnasium.make(CART)), 10)
    assert type(own).__name__ == "EnvironmentTrials"  # another of that name need not be like it
