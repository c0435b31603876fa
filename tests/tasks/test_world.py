"""Worlds: every task behind one type, with the bits of its own functions, at both speeds."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.learners import driver
from distinguo.seam import implements_interpreted, kernel
from distinguo.tasks import world as worlds
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.task import observe, seeded, start, transition, truncated, unpack
from distinguo.tasks.world import (
    AFTER,
    BEFORE,
    World,
    begin,
    look,
    python_world,
    step,
    stops,
    world_of,
)

NAMES = ["puck", "CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Pendulum-v1"]


@kernel
def stepped(world: Any, s: np.ndarray, a: int, out: np.ndarray) -> Any:
    return step(world, s, a, out)


@kernel
def begun(world: Any, rng: Any, out: np.ndarray) -> None:
    begin(world, rng, out)


@kernel
def seen(world: Any, s: np.ndarray, row: int, out: np.ndarray) -> bool:
    found = look(world, s, row).seen
    for i in range(len(out)):
        out[i] = found[i]
    return stops(world, s)


def made(name: str, **parameters: Any) -> tuple[Any, Any, int, int]:
    spec = task_spec(name, parameters)
    task = seeded(spec.task, 3)
    first = start(task, np.random.default_rng(0))
    return task, spec, len(first), len(observe(task, first))


@pytest.mark.parametrize("name", NAMES)
def test_a_world_gives_the_bits_of_its_task(name: str) -> None:
    task, spec, width, dimensions = made(name)
    world = world_of(task, width, dimensions)
    assert isinstance(world, World)
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    row, view = np.zeros(width), np.zeros(dimensions)
    begun(world, rng, row)
    s = start(task, again)
    for n in range(300):
        assert tuple(row) == s
        assert seen(world, row, n % 2, view) == truncated(task, s)
        assert tuple(view) == tuple(observe(task, s))
        a = n * n % len(spec.actions)
        s, r, terminal = transition(task, s, a)
        assert stepped(world, row, a, row) == (r, terminal)
        if terminal:
            begun(world, rng, row)
            s = start(task, again)


@pytest.mark.parametrize("name", NAMES)
def test_plain_python_gives_the_same_bits(name: str) -> None:
    task, spec, width, dimensions = made(name)
    compiled, plain = world_of(task, width, dimensions), python_world(task, width, dimensions)
    rows = np.zeros((2, width))
    begun(compiled, np.random.default_rng(1), rows[0])
    begun.py_func(plain, np.random.default_rng(1), rows[1])
    for n in range(100):
        assert (rows[0] == rows[1]).all()
        a = n % len(spec.actions)
        assert stepped(compiled, rows[0], a, rows[0]) == stepped.py_func(plain, rows[1], a, rows[1])


def test_noise_is_drawn_from_the_generator_of_the_task() -> None:
    (task, _, width, dimensions), (like, *_) = made("puck", noise=0.5), made("puck", noise=0.5)
    world, row, s = world_of(task, width, dimensions), np.zeros(2), (0.0, 0.0)
    for _ in range(50):
        stepped(world, row, 1, row)
        s, _, _ = transition(like, s, 1)
        assert tuple(row) == s
    assert task.rng.random() == like.rng.random()  # both have drawn as often


def test_the_next_state_may_be_written_over_the_state() -> None:
    task, _, width, dimensions = made("CartPole-v1")
    world, s = world_of(task, width, dimensions), np.array([0.1, -0.2, 0.05, 0.3])
    out = np.zeros(width)
    stepped(world, s, 1, out)
    stepped(world, s, 1, s)
    assert (s == out).all()


def test_all_tasks_have_one_type() -> None:
    before = len(stepped.signatures)
    for name in ("puck", "CartPole-v1", "Acrobot-v1"):
        task, _, width, dimensions = made(name)
        stepped(world_of(task, width, dimensions), np.zeros(width), 0, np.zeros(width))
    assert len(stepped.signatures) <= max(before, 1)


def test_two_observations_can_be_held_at_once() -> None:
    task, _, width, dimensions = made("Acrobot-v1")
    world = python_world(task, width, dimensions)
    one, other = look(world, np.full(width, 0.1), BEFORE).seen, look(world, np.full(width, 0.7), AFTER).seen
    assert tuple(one) == tuple(observe(task, (0.1,) * width))
    assert tuple(other) == tuple(observe(task, (0.7,) * width))


def test_parameters_live_as_long_as_their_world() -> None:
    held = len(worlds._tasks)
    world = world_of(*made("puck", noise=0.1)[0:1], 2, 2)
    kept = world._replace(step=world.step)
    del world
    gc.collect()
    assert len(worlds._tasks) == held + 1
    stepped(kept, np.zeros(2), 0, np.zeros(2))
    del kept
    gc.collect()
    assert len(worlds._tasks) == held


@dg.task(states=("x", "y", "z"), actions=("a", "b", "c"), low=(-9, -9, -9), high=(9, 9, 9))
class Odd(NamedTuple):
    """Fields of several kinds, one coordinate more than most, and rewards that are whole numbers."""

    share: float = 0.25
    times: int = 3
    flip: bool = True

    def transition(self, s: Any, a: int) -> Any:
        x, y, z = s
        sign = -1.0 if self.flip else 1.0
        if a == 2 and x > 8.0:
            raise ValueError("too far")
        return (y * self.share, z + a, sign * x + self.times), a, x > 5

    def start(self, rng: Any) -> Any:
        return (rng.random(), 0.0, 1.0)


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(*[st.floats(-7, 7)] * 3),
    st.integers(0, 2),
    st.floats(-3, 3),
    st.integers(-5, 5),
    st.booleans(),
)
def test_any_fields_reach_compiled_code(s: Any, a: int, share: float, times: int, flip: bool) -> None:
    task = Odd(share, times, flip)
    out = np.zeros(3)
    found = stepped(world_of(task, 3, 3), np.array(s), a, out)
    expected, r, terminal = transition(task, s, a)
    assert (tuple(out), *found) == (expected, float(r), terminal)


def test_plain_python_gets_its_own_floats() -> None:
    kinds = []

    class Plain(NamedTuple):
        rate: float = 1.0

    for generic, answer in (
        (transition, lambda task, s, a: (s, kinds.append(type(s[0])) or 0.0, False)),
        (unpack, lambda task, row: (row[0],)),
    ):
        implements_interpreted(generic, Plain)(answer)
    world = python_world(Plain(), 1, 1)
    step(world, np.zeros(1), 0, np.zeros(1))
    assert kinds == [float]


@dg.task(
    states=("x", "v", "w"),
    observations=("x", "u"),
    actions=("left", "right"),
    low=(-1, -3),
    high=(1, 3),
    compiled=False,
)
class Plain(NamedTuple):
    """A task that only Python can run."""

    at: float = 0.9

    def transition(self, s: Any, a: int) -> Any:
        assert type(s[0]) is float
        assert type(a) is int
        x, v = s[0] + 0.1 * s[1], s[1] + 0.1 * (2 * a - 1)
        return (x, v, 0.5 * s[2]), -1 if abs(x) > self.at else 0, abs(x) > self.at

    def start(self, rng: Any) -> Any:
        return tuple(rng.uniform(-0.1, 0.1, 3).tolist())

    def observe(self, s: Any) -> Any:
        return (s[0], s[1] + s[2])

    def truncated(self, s: Any) -> bool:
        return s[2] < 0.0


def test_a_task_in_plain_python_has_the_same_kind_of_world_and_gives_the_same_bits() -> None:
    world, plain = world_of(Plain(), 3, 2), python_world(Plain(), 3, 2)
    assert isinstance(world, World)
    assert worlds.calls_python(world)
    assert worlds.calls_python(plain)
    assert not worlds.calls_python(world_of(Odd(), 3, 3))
    rngs, rows, views = [np.random.default_rng(4) for _ in range(2)], np.zeros((2, 3)), np.zeros((2, 2))
    for n in range(100):
        if n % 20 == 0:
            begun(world, rngs[0], rows[0])
            begun.py_func(plain, rngs[1], rows[1])
        found = seen(world, rows[0], n % 2, views[0]), stepped(world, rows[0], n % 3 % 2, rows[0])
        wanted = (
            seen.py_func(plain, rows[1], n % 2, views[1]),
            stepped.py_func(plain, rows[1], n % 3 % 2, rows[1]),
        )
        assert found == wanted
        assert (rows[0] == rows[1]).all()
        assert (views[0] == views[1]).all()
    assert rngs[0].random() == rngs[1].random()


@pytest.mark.parametrize("kind", [ValueError, DistinguoError, KeyboardInterrupt, SystemExit])
def test_what_plain_python_raises_reaches_the_caller_as_it_is(kind: type[BaseException]) -> None:
    raised: list[BaseException] = []

    class Failing(NamedTuple):
        rate: float = 1.0

    def fail(task: Any, s: Any, a: int) -> Any:
        if a == 1:
            raised.append(kind("no further"))
            raise raised[0]
        return s, 1.0, False

    implements_interpreted(transition, Failing)(fail)
    implements_interpreted(unpack, Failing)(lambda task, row: tuple(row.tolist()))
    world, row = world_of(Failing(), 1, 1), np.ones(1)
    with pytest.raises(kind) as caught:
        stepped(world, row, 1, row)
    assert caught.value is raised[0]
    assert caught.traceback[-1].name == "fail"
    assert stepped(world, row, 0, row) == (1.0, False)  # it still works


def test_a_world_of_plain_python_ends_with_its_last_user() -> None:
    held = len(worlds._tasks)
    world = world_of(Plain(), 3, 2)
    row = np.zeros(3)
    gc.collect()
    stepped(world, row, 0, row)
    del world
    gc.collect()
    assert len(worlds._tasks) == held


def test_an_error_of_the_task_reaches_the_caller() -> None:
    world = world_of(Odd(), 3, 3)
    with pytest.raises(ValueError, match="too far"):
        stepped(world, np.array([8.5, 0.0, 0.0]), 2, np.zeros(3))


@pytest.mark.second_stage
def test_a_new_task_compiles_nothing_of_the_learner(tmp_path: Path) -> None:
    """The second task of a machine compiles its own functions only, though it has other dimensions."""
    first = "import distinguo as dg; dg.learn('puck', seed=1, settings={'stage.trials': 3})"
    own = (
        "import distinguo as dg\nfrom typing import NamedTuple\nimport numba.core.event as events\n"
        "@dg.task(states=('x', 'v', 'w'), actions=('l', 'm', 'r'), low=(-1, -3, -2), high=(1, 3, 2))\n"
        "class Own(NamedTuple):\n"
        "    push: float = 3.0\n"
        "    def transition(self, s, a):\n"
        "        x, v, w = s\n"
        "        out = abs(x + 0.02 * v) > 1.0\n"
        "        return (x + 0.02 * v, v + 0.02 * self.push * (a - 1) + w, 0.0 * w), (-1.0 if out else 0.0), out\n"
        "    def start(self, rng):\n        return (0.1, 0.0, 0.0)\n"
        "class Names(events.Listener):\n"
        "    def on_start(self, event): names.append(event.data['dispatcher'].py_func.__module__)\n"
        "    def on_end(self, event): pass\n"
        "names = []\n"
        "events.register('numba:compile', Names())\n"
        "dg.learn(Own(), learner='economy', seed=1, "
        "settings={'stage.trials': 3})\n"
        "print(sorted(set(names)))\n"
    )
    (tmp_path / "own.py").write_text(own)
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", first], check=True, env=environment, capture_output=True)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "own.py")],
        check=True,
        env=environment,
        capture_output=True,
        text=True,
    )
    compiled = eval(done.stdout.splitlines()[-1])
    assert not [module for module in compiled if "learners" in module], compiled
    assert "distinguo.tasks.world" in compiled


def test_a_learner_of_ones_own_is_compiled_once_too() -> None:
    from examples.own_learner import GridLearner  # noqa: F401 - declares the learner

    few = {"stage.trials": 2}
    for task in ("puck", "MountainCar-v0"):
        dg.learn(task, learner="grid-q-learning", seed=1, settings=few)
    kinds = [str(signature[1]) for signature in driver.advance_trial.signatures]
    assert sum("GridLearner" in kind for kind in kinds) == 1


def test_what_cannot_be_compiled_is_said() -> None:
    @dg.task(states=("x",), actions=("a", "b"), low=(-1,), high=(1,))
    class Wrong(NamedTuple):
        def transition(self, s: Any, a: int) -> Any:
            return (float(str(s[0])[::-1].zfill(3).count("0")),), len({"a": [1, "b"]}), False

        def start(self, rng: Any) -> Any:
            return (0.0,)

    with pytest.raises(DistinguoError, match=r"Wrong.*compiled"):
        dg.learn(Wrong(), seed=1)
