"""Actions that are amounts, and the laws that decide them: against plain arithmetic, levels, and Gymnasium."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.seam import kernel
from distinguo.tasks.amounts import (
    amount_of,
    amounts_of,
    count_stored,
    law_in_words,
    laws,
    laws_of,
    with_laws,
    without_laws,
)
from distinguo.tasks.catalog import in_amounts, spec_of, task_spec
from distinguo.tasks.pendulum import Pendulum, PendulumOfAmounts
from distinguo.tasks.task import observe, seeded, start, transition

NUMBERS = st.floats(-1e6, 1e6)


@dg.task(
    states=("x", "v"),
    actions=dg.amounts((-1.0, 0.0), (1.0, 2.0), ("push", "brake")),
    low=(-2, -4),
    high=(2, 4),
)
class Sledge(NamedTuple):
    force: float = 3.0

    def transition(self, s: Any, u: Any) -> Any:
        v = s[1] + 0.05 * (self.force * u[0] - u[1] * s[1])
        x = s[0] + 0.05 * v
        return (x, v), (-1.0 if abs(x) > 1.0 else 0.0), abs(x) > 1.0

    def start(self, rng: np.random.Generator) -> Any:
        return (rng.uniform(-0.5, 0.5), 0.0)


@dg.task(states=("x",), actions=dg.levels(-1.0, 1.0, 3), low=(-1,), high=(1,))
class Stepper(NamedTuple):
    scale: float = 0.1

    def transition(self, s: Any, u: float) -> Any:
        x = s[0] + self.scale * u
        return (x,), (-1.0 if abs(x) > 1.0 else 0.0), abs(x) > 1.0

    def start(self, rng: np.random.Generator) -> Any:
        return (0.05,)


@given(st.lists(NUMBERS, min_size=6, max_size=6), st.tuples(NUMBERS, NUMBERS))
def test_a_law_is_the_clipped_sum(numbers: list[float], seen: tuple[float, float]) -> None:
    box = dg.amounts((-5.0, 0.0), (3.0, 1e7))
    table = np.array(numbers).reshape(1, 2, 3)
    mine = amounts_of(laws(table, box), 0, seen)
    exact = [float(offset) + float(k) * seen[0] + float(g) * seen[1] for k, g, offset in table[0].tolist()]
    sums = [(row[2] + row[0] * seen[0]) + row[1] * seen[1] for row in table[0]]
    assert mine == tuple(np.clip(sums, box.low, box.high))
    assert mine == pytest.approx(np.clip(exact, box.low, box.high), rel=1e-6, abs=1e-3)


def test_a_law_has_the_same_bits_compiled() -> None:
    compiled = kernel(lambda given, a, i, seen: amount_of(given, a, i, seen))
    rng = np.random.default_rng(1)
    known = laws(rng.normal(size=(3, 2, 4)) * 10.0, dg.amounts((-1.0, -20.0), (1.0, 20.0)))
    for seen in rng.normal(size=(200, 3)):
        row = tuple(seen.tolist())
        for a in range(3):
            assert tuple(compiled(known, a, i, row) for i in (0, 1)) == amounts_of(known, a, row)


@pytest.mark.parametrize("kind", [Sledge, Stepper])
def test_declared_tasks_keep_their_contract(kind: Any) -> None:
    dg.check_task(kind)
    if kind is Sledge:
        dg.check_task(
            with_laws(spec_of(kind), [[[-3.0, -2.0, 0.1], [0.0, 1.0, 0.5]], [[0, 0, 1.0], [0, 0, 0]]])
        )


def test_levels_are_what_transition_takes() -> None:
    assert spec_of(Stepper).actions == ("-1", "+0", "+1")
    assert [transition(Stepper(), (0.0,), a)[0] for a in range(3)] == [(-0.1,), (0.0,), (0.1,)]


def test_constant_laws_are_levels_bit_for_bit() -> None:
    levels = Pendulum()
    spec = with_laws(task_spec("Pendulum-v1", {"levels": 0}), [[[0, 0, 0, u]] for u in (-2, -1, 0, 1, 2)])
    s = t = start(levels, np.random.default_rng(3))
    for a in np.random.default_rng(4).integers(5, size=300).tolist():
        (s, mine, _), (t, others, _) = transition(levels, s, a), transition(spec.task, t, a)
        assert s == t
        assert others == pytest.approx(mine, abs=1e-8), "Gymnasium takes amounts in 32 bits"


def test_the_pendulum_has_gymnasiums_bits() -> None:
    env, task, rng = gymnasium.make("Pendulum-v1"), PendulumOfAmounts(), np.random.default_rng(5)
    seen, _ = env.reset(seed=7)
    s = tuple(env.unwrapped.state.tolist())  # type: ignore[attr-defined]
    for _ in range(200):
        u = float(rng.uniform(-2.0, 2.0))
        seen, reward, *_ = env.step(np.array([u], dtype=np.float32))
        s, mine, _ = transition(task, s, u)
        assert observe(task, s) == tuple(seen.tolist())
        assert mine == reward


def test_a_box_of_gymnasium_is_amounts_with_the_steps_of_its_environment() -> None:
    wide = in_amounts(task_spec("MountainCarContinuous-v0"))
    assert wide is not None
    assert wide.amounts is not None
    spec = with_laws(wide, [[[0.0, 50.0, 0.2]]])
    task, env = seeded(spec.task, 3), gymnasium.make("MountainCarContinuous-v0")
    s = start(task, np.random.default_rng(0))
    seen, _ = env.reset(seed=task.driver.history.latest.seed)
    for step in range(150):
        u = amounts_of(laws_of(spec), 0, seen.astype(float).tolist())  # type: ignore[arg-type]
        seen, reward, ended, _, _ = env.step(np.array(u, dtype=np.float32))
        s, mine, terminal = transition(task, s, 0)
        assert (observe(task, s), mine, terminal) == (tuple(seen.astype(float).tolist()), reward, ended), step


def test_a_state_on_the_way_is_restored_by_its_amounts() -> None:
    wide = in_amounts(task_spec("MountainCarContinuous-v0"))
    assert wide is not None
    task = seeded(with_laws(wide, [[[0.0, 60.0, 0.0]], [[0.0, 0.0, -0.3]]]).task, 1)
    states = [start(task, np.random.default_rng(0))]
    for a in (0, 1, 1, 0) * 10:
        states.append(transition(task, states[-1], a)[0])
    expected = transition(task, states[17], 1)[0][2:]
    other = seeded(task, 1)
    other.driver.remember(task.driver.memories(np.array([states[17], states[-1]])))
    assert transition(other, states[17], 1)[0][2:] == expected
    arrays = task.driver.memories(np.array([states[17]]))
    assert arrays["moves"].shape[1] == 1
    with pytest.raises(ValueError, match="unknown action"):
        other.driver.remember({**arrays, "moves": arrays["moves"] + 9.0})


def test_numbers_are_counted_without_zero_gains() -> None:
    table = np.zeros((2, 1, 4))
    table[0, 0] = 1.0
    table[1, 0, -1] = 0.5
    assert count_stored(table, 2) == 9 + 4 + 1
    assert count_stored(table[1:], 1) == 1


def test_what_a_law_does_is_said() -> None:
    spec = with_laws(spec_of(Sledge), [[[-3.0, -2.0, 0.1], [0.0, 0.0, 0.5]]])
    assert law_in_words(spec, 0, (0.1, 0.1)) == (
        "Its law gives push -0.4: -0.3 from x, -0.2 from v, 0.1 always; and brake 0.5."
    )
    assert law_in_words(without_laws(spec), 0, (0.1, 0.1)) == ""


REFUSED: list[tuple[Any, str]] = [
    (lambda: dg.amounts(1.0, 1.0), "low < high"),
    (lambda: dg.amounts(-np.inf, 1.0), "should have bounds"),
    (lambda: dg.amounts((0.0, 0.0), (1.0,)), "two rows of as many"),
    (lambda: dg.amounts((0.0, 0.0), (1.0, 1.0), ("a", "a")), "two rows of as many"),
    (lambda: dg.levels(1.0, 1.0, 3), "low before high"),
    (lambda: dg.levels(0.0, 1.0, 1), "a count from 2"),
    (lambda: with_laws(task_spec("puck"), [[[1.0]]]), "takes no amounts"),
    (lambda: with_laws(spec_of(Sledge), [[[1.0, 2.0]]]), "in an array of shape"),
    (lambda: with_laws(spec_of(Sledge), np.full((1, 2, 3), np.nan)), "finite numbers"),
    (lambda: dg.learn(Sledge, learner="probation"), "'probation' chooses among a few actions"),
    (lambda: dg.distil(lambda s: 0.0, Sledge), "answered 0.0 where it saw"),
    (lambda: dg.learn("CliffWalking-v1", settings={"task.levels": 0}), "asks for amounts"),
    (lambda: dg.learn(Boxed(-1.0, np.inf), learner="evolution"), "without bounds"),
    (lambda: dg.learn(Boxed(0.0, 0.0), learner="evolution"), "low < high"),
]


class Boxed(gymnasium.Env[Any, Any]):
    def __init__(self, low: float, high: float) -> None:
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
        self.action_space = gymnasium.spaces.Box(low, high, (1,))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        return np.zeros(1, np.float32), 0.0, False, False, {}


@pytest.mark.parametrize(("wrong", "said"), REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(wrong: Any, said: str) -> None:
    with pytest.raises(DistinguoError, match=said):
        wrong()
