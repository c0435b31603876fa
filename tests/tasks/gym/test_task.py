"""A Gymnasium environment as a task."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import TimeLimit

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.seam import at_speed, is_compiled, kernel
from distinguo.tasks.gym import source as gym_making
from distinguo.tasks.gym.driver import trial_seed
from distinguo.tasks.gym.task import absent_gym_spec, gym_spec, make_absent_task, make_task
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import actions, observe, randomness, seeded, start, transition, truncated, unpack
from tests.clock import times_as_long
from tests.tasks.faulty import Faulty, Walk

RNG = np.random.default_rng(0)
NAMES = ["CartPole-v1", "MountainCar-v0", "Acrobot-v1", "FrozenLake-v1", "Taxi-v4", "Blackjack-v1"]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_as_a_bare_seeded_loop(name: str) -> None:
    task, env = make_task(name, seed=3), gymnasium.make(name)
    moves = np.random.default_rng(1)
    for trial in range(3):
        s = start(task, RNG)
        found, _ = env.reset(seed=trial_seed(3, trial))
        for step in range(50):
            assert s == (trial, step, *np.ravel(found).tolist())
            assert observe(task, s) == s[2:]
            a = int(moves.integers(actions(task)))
            s, reward, terminal = transition(task, s, a)
            found, expected, terminated, _, _ = env.step(a)
            assert (reward, terminal) == (expected, terminated)
            if terminal:
                break


@kernel
def follow(task: Any, rng: np.random.Generator, pushes: np.ndarray, rows: np.ndarray) -> None:
    s = start(task, rng)
    for i in range(len(pushes)):
        seen = observe(task, s)
        rows[i, 0], rows[i, 1] = seen[0], seen[1]
        s, _, terminal = transition(task, s, pushes[i])
        if terminal:
            s = start(task, rng)


def test_the_puck_through_gymnasium_has_the_same_bits() -> None:
    pushes = np.random.default_rng(2).integers(2, size=400)
    through, compiled = np.empty((400, 2)), np.empty((400, 2))
    task = make_task("distinguo/PuckOnAHill-v0")
    assert not is_compiled(task)
    one, two = np.random.default_rng(0), np.random.default_rng(0)
    at_speed(follow, task)(task, one, pushes, through)
    follow(Puck(), two, pushes, compiled)
    assert through.tobytes() == compiled.tobytes()
    assert one.bit_generator.state == two.bit_generator.state


def test_states_survive_being_kept_in_an_array() -> None:
    task = make_task("CartPole-v1")
    s = start(task, RNG)
    row = np.array(s)
    assert unpack(task, row) == s
    assert all(type(number) is float for number in unpack(task, row))
    after, _, _ = transition(task, unpack(task, row), np.int64(1))
    assert after[:2] == (0.0, 1.0)
    assert task.driver.replayed == 0


def test_what_is_known_of_an_environment() -> None:
    spec = gym_spec("CartPole-v1", {})
    assert (spec.name, spec.dimensions, spec.kind) == ("CartPole-v1", ("o0", "o1", "o2", "o3"), "continuous")
    assert (len(spec.actions), spec.limit, spec.threshold) == (2, 500, 475.0)
    assert (spec.stochastic, spec.restorable, spec.portable) == ("no", True, True)
    assert spec.high[0] == pytest.approx(4.8)
    assert spec.high[1] == math.inf
    assert gym_spec("CartPole-v1", {"max_episode_steps": 70}).limit == 70
    assert gym_spec("Blackjack-v1", {}).limit is None
    assert gym_spec(gymnasium.make("MountainCar-v0"), {}).limit == 200
    own = gym_spec(Walk(), {})
    assert (own.name, own.limit, own.threshold, own.portable) == ("Walk", None, None, False)


def test_no_time_limit_by_id_but_that_of_an_object() -> None:
    moves = [1, 0, 1, 2] * 55
    task, limited = make_task("MountainCar-v0"), make_task(gymnasium.make("MountainCar-v0"))
    s, t = start(task, RNG), start(limited, RNG)
    for i, a in enumerate(moves[:200]):
        assert not truncated(limited, t)
        s, _, _ = transition(task, s, a)
        t, _, terminal = transition(limited, t, a)
        assert not truncated(task, s)
        assert not terminal, i
    assert truncated(limited, t)
    assert transition(task, s, 1)[0][1] == 201.0


def test_a_seed_of_its_own() -> None:
    task = make_task("CartPole-v1", seed=1)
    first = start(task, RNG)
    assert start(seeded(task, 1), RNG) == first
    assert start(seeded(task, 2), RNG)[2:] != first[2:]
    assert start(task, RNG)[2:] != first[2:]
    assert randomness(task) is None


def test_the_arguments_of_an_environment() -> None:
    spec = gym_spec("FrozenLake-v1", {"is_slippery": False, "map_name": "8x8"})
    assert spec.high == (63.0,)
    assert spec.stochastic == "no"


def test_levels_of_continuous_actions() -> None:
    task = make_task("Pendulum-v1", {"levels": 5, "g": 9.81})
    assert actions(task) == 5
    env = gymnasium.make("Pendulum-v1", g=9.81)
    env.reset(seed=trial_seed(0, 0))
    s = start(task, RNG)
    for a in range(5):
        s, reward, _ = transition(task, s, a)
        found, expected, *_ = env.step(np.array([-2 + 4 * a / 4], dtype=np.float32))
        assert (s[2:], reward) == (tuple(found.tolist()), expected)
    assert actions(make_task(gymnasium.make("Pendulum-v1"), {"levels": 3})) == 3
    with pytest.raises(DistinguoError, match="leave the levels"):
        actions(make_task("CartPole-v1", {"levels": 3}))


def test_continuous_actions_have_levels_by_default() -> None:
    spec = gym_spec("MountainCarContinuous-v0", {})
    assert spec.actions == ("-1", "-0.5", "+0", "+0.5", "+1")
    assert spec.parameters == {"levels": 5}  # kept with the run
    assert "Its continuous actions are chosen from 5 levels; --set task.levels=3 changes that." in spec.note
    again = absent_gym_spec(
        "MountainCarContinuous-v0", {"dimensions": (), "actions": (), "low": (), "high": ()}, {"levels": 5}
    )
    assert actions(again.task) == 5

    class Arm(Walk):
        def __init__(self, size: int, bound: float = 1.0) -> None:
            super().__init__()
            self.action_space = Box(-bound, bound, (size,), np.float32)

        def step(self, action: Any) -> Any:
            return super().step(int(action[0] > 0))

    numbers = {size: actions(make_task(Arm(size))) for size in (1, 2, 3, 4, 5, 20)}
    assert numbers == {1: 5, 2: 25, 3: 27, 4: 16, 5: 11, 20: 41}
    assert "chosen from 5 levels of each of 2 coordinates, 25 combinations; " in gym_spec(Arm(2), {}).note
    with pytest.raises(
        DistinguoError, match=r"Actions without bounds have no levels, .*: --set task.levels="
    ):
        actions(make_task(Arm(1, np.inf)))
    assert actions(make_task(Arm(1, np.inf), {"levels": [-1, 0, 1]})) == 3


def test_actions_that_do_not_begin_at_0() -> None:
    class Lift(Walk):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = Discrete(2, start=0)
            self.action_space.start = np.int64(7)

        def step(self, action: int) -> Any:
            assert action in (7, 8)
            return super().step(action - 7)

    task = make_task(Lift())
    s = start(task, RNG)
    low, high = transition(task, s, 0)[0], transition(task, s, 1)[0]
    assert low[2] < high[2]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda answer: (answer[0] * math.nan, *answer[1:]),
            "gave an observation that is not finite: o0 is nan",
        ),
        (
            lambda answer: (answer[0] + math.inf, *answer[1:]),
            "gave an observation that is not finite: o0 is inf",
        ),
        (
            lambda answer: (answer[0], math.nan, *answer[2:]),
            "gave the reward nan, which is not a finite number",
        ),
        (lambda answer: (answer[0], -math.inf, *answer[2:]), "gave the reward -inf, which is"),
        (lambda answer: (answer[0], "1", *answer[2:]), "gave the reward '1', which is not"),
        (lambda answer: (answer[0], None, *answer[2:]), "gave the reward None, which is not"),
        (lambda answer: (answer[0], 10**999, *answer[2:]), "gave the reward 1000.*, which is not"),
        (lambda answer: 1 / 0, r"failed \(ZeroDivisionError: division by zero\)"),
        (lambda answer: (np.zeros(2), *answer[1:]), r"changed its observation shape from \(1,\) to \(2,\)"),
        (
            lambda answer: ("here", *answer[1:]),
            r"gave an observation that its space Box.* does not hold: 'here' \(str\)",
        ),
        (
            lambda answer: (None, *answer[1:]),
            r"gave an observation that its space Box.* does not hold: None \(NoneType\)",
        ),
        (lambda answer: answer[:4], "returned .* from step; allowed are five values"),
        (lambda answer: None, "returned None from step; allowed are five values"),
    ],
)
def test_a_fault_is_told_with_its_place(spoil: Any, words: str) -> None:
    task = make_task(Faulty(spoil))
    start(task, RNG)
    s = start(task, RNG)
    for _ in range(2):
        s, _, _ = transition(task, s, 1)
    with pytest.raises(
        DistinguoError, match=f"^Faulty {words}.*, in trial 1 at step 3; fix the environment.$"
    ):
        transition(task, s, 1)
    assert start(task, RNG)[:2] == (2.0, 0.0)  # one can go on with a new trial


def test_the_cause_of_a_fault_is_kept() -> None:
    task = make_task(Faulty(lambda answer: {}["key"], at=1))
    with pytest.raises(DistinguoError, match=r"failed \(KeyError: 'key'\), in trial 0 at step 1") as caught:
        transition(task, start(task, RNG), 1)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda answer: 1 / 0, r"failed \(ZeroDivisionError: division by zero\)"),
        (lambda answer: answer[0], "reset to .*; allowed is a pair"),
        (lambda answer: (np.array([math.nan]), {}), "gave an observation that is not finite: o0 is nan"),
    ],
)
def test_a_fault_of_a_reset(spoil: Any, words: str) -> None:
    with pytest.raises(DistinguoError, match=f"Faulty {words}.*, in trial 0 at step 0; fix"):
        start(make_task(Faulty(spoil, at=0)), RNG)


def test_a_fault_in_a_look_ahead() -> None:
    task = make_task(Faulty(lambda answer: 1 / 0, at=70))  # farther than it is tried
    s, states = start(task, RNG), []
    for i in range(69):
        states.append(s)
        s, _, _ = transition(task, s, i % 4 in (0, 3))
    s = states[66]
    for _ in range(3):
        s, _, _ = transition(task, s, 0)
    with pytest.raises(DistinguoError, match="in a look-ahead from trial 0, step 66, at its step 4; fix"):
        transition(task, s, 0)


def test_rewards_of_any_number_type() -> None:
    for reward in (np.float32(0.5), np.array(2.0), 3, True, np.int8(4)):
        task = make_task(Faulty(lambda answer, reward=reward: (answer[0], reward, *answer[2:]), at=1))
        found = transition(task, start(task, RNG), 1)[1]
        assert type(found) is float
        assert found == float(reward)


def test_an_unknown_id() -> None:
    with pytest.raises(
        DistinguoError, match=r"^Unknown environment 'CartPol-v1'; did you mean 'CartPole-v1'\?$"
    ):
        make_task("CartPol-v1")
    with pytest.raises(DistinguoError, match=r"Unknown environment 'CartPole-v9'; did you mean 'CartPole-v"):
        make_task("CartPole-v9")
    with pytest.raises(DistinguoError, match=r"Unknown environment 'ALE/Nothing-v5'; "):
        make_task("ALE/Nothing-v5")
    with pytest.raises(DistinguoError, match="nowhere:Env-v0 needs nowhere, which is not installed"):
        make_task("nowhere:Env-v0")
    assert actions(make_task("distinguo:distinguo/PuckOnAHill-v0")) == 2


def test_a_task_of_which_only_the_name_is_known() -> None:
    task = make_absent_task("MyRobot")
    assert task.driver.limit is None
    with pytest.raises(DistinguoError, match="Unknown environment 'MyRobot'"):
        start(task, RNG)
    again = make_absent_task("FrozenLake-v1", {"is_slippery": False})
    assert start(again, RNG) == start(make_task("FrozenLake-v1", {"is_slippery": False}), RNG)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            DependencyNotInstalled('Box2D is not installed, you can run `pip install "gymnasium[box2d]"`'),
            'CartPole-v1 needs Box2D, which is not installed; run: pip install "gymnasium[box2d]"',
        ),
        (
            ModuleNotFoundError("No module named 'jax'", name="jax"),
            "CartPole-v1 needs jax, which is not installed; run: pip install jax",
        ),
        (
            DependencyNotInstalled("MuJoCo is missing"),
            'CartPole-v1 needs MuJoCo, which is not installed; run: pip install "gymnasium[all]"',
        ),
    ],
)
def test_a_missing_package(monkeypatch: pytest.MonkeyPatch, error: Exception, sentence: str) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(gym_making.gymnasium, "make", fail)
    with pytest.raises(DistinguoError) as caught:
        actions(make_task("CartPole-v1"))
    assert str(caught.value) == sentence


def test_arguments_that_do_not_fit() -> None:
    with pytest.raises(
        DistinguoError, match=r"CartPole-v1 could not be made with \{'weight': 3\}: TypeError: "
    ):
        actions(make_task("CartPole-v1", {"weight": 3}))
    with pytest.raises(DistinguoError, match="takes no 'weight', only levels, probe, restore, features"):
        make_task(Walk(), {"weight": 3})
    with pytest.raises(
        DistinguoError, match="max_episode_steps of CartPole-v1 must be a number from 1, got 0"
    ):
        make_task("CartPole-v1", {"max_episode_steps": 0})
    with pytest.raises(
        DistinguoError,
        match=r"must be an id such as 'CartPole-v1', a gymnasium.Env or a class with @task, got list",
    ):
        make_task([Walk()])


def test_a_dictionary_of_observations_and_several_choices_at_once() -> None:
    class Robot(Walk):
        def __init__(self) -> None:
            super().__init__()
            inner = {"place": self.observation_space, "task": gymnasium.spaces.Text(5)}
            self.observation_space = gymnasium.spaces.Dict(inner)
            self.action_space = gymnasium.spaces.MultiDiscrete([1, 2])

        def reset(self, **words: Any) -> Any:
            place, info = super().reset(**words)
            return {"place": place, "task": "walk"}, info

        def step(self, action: Any) -> Any:
            place, *rest = super().step(int(action[1]))
            return {"place": place, "task": "walk"}, *rest

    spec = gym_spec(Robot(), {})
    assert spec.dimensions == ("place",) or spec.dimensions[0].startswith("place_")
    assert "task (a Text) is left out, not being made of numbers." in spec.note
    brief = {"stage.steps": 300, "stage.confirm": 2}
    run = dg.learn(Robot(), seed=1, learner="economy", settings=brief)
    assert run.summary["environment_steps"] > 0
    assert spec.actions == ("0/0", "0/1")
    seen, _ = Robot().reset(seed=1)
    assert run.action(seen) in spec.actions
    agent = dg.Economy(Robot(), seed=1, settings=brief).learn(total_timesteps=300)
    action, _ = agent.predict(seen)
    assert action in Robot().action_space
    assert len(agent.predict([seen, seen])[0]) == 2


def test_several_rewards_at_once() -> None:
    class Robot(Walk):
        def step(self, action: Any) -> Any:
            seen, _, *rest = super().step(action)
            return seen, np.array([1.0, -2.0]), *rest

    with pytest.raises(
        DistinguoError,
        match=r"gave several rewards at once, .*, in trial \d+ at step 1; allowed is one: add them up",
    ):
        dg.learn(Robot(), seed=1, learner="economy", settings={"stage.steps": 300, "stage.confirm": 2})


def test_an_interrupted_step_can_be_taken_again() -> None:
    class Interrupted(Walk):
        interrupts = False

        def step(self, action: int) -> Any:
            answer = super().step(action)
            if self.interrupts:
                raise KeyboardInterrupt
            return answer

    env = Interrupted()
    task = make_task(TimeLimit(env, 100))
    s, _, _ = transition(task, start(task, RNG), 1)
    task.driver.checked_env.env.unwrapped.interrupts = True
    with pytest.raises(KeyboardInterrupt):
        transition(task, s, 1)
    task.driver.checked_env.env.unwrapped.interrupts = False
    after, _, _ = transition(task, s, 1)
    assert after[:2] == (0.0, 2.0)
    env.reset(seed=trial_seed(0, 0))
    env.step(1)
    assert env.step(1)[0].tolist() == list(after[2:])


def test_not_much_slower_than_a_bare_loop() -> None:
    """Checked, restorable and with a state: 1.8 times as long as Gymnasium alone."""
    task, env = make_task("CartPole-v1"), gymnasium.make("CartPole-v1")
    env.reset(seed=0)

    def bare() -> None:
        for i in range(400):
            if env.step(i % 2)[2]:
                env.reset()

    def ours() -> None:
        s = start(task, RNG)
        for i in range(400):
            s, _, terminal = transition(task, s, i % 2)
            if terminal:
                s = start(task, RNG)

    assert times_as_long(ours, bare) < 2.8
