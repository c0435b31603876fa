"""Snapshots: a method that works is found, a wrong one never taken, and each restores the same state."""

from __future__ import annotations

import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

import distinguo
from distinguo.errors import DistinguoError
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.gym.driver import Snapshots
from distinguo.tasks.gym.spaces import NoisyActions
from distinguo.tasks.gym.task import GymTask, make_task
from distinguo.tasks.task import State, actions, memories, remember, seeded, start, transition, truncated
from tests.tasks import faulty

RNG = np.random.default_rng(0)  # the driver leaves it alone
#: The method that works, and whether the environment is stochastic.
KNOWN = {
    "CartPole-v1": ("deep copy", False),
    "MountainCar-v0": ("deep copy", False),
    "Acrobot-v1": ("deep copy", False),
    "FrozenLake-v1": ("deep copy", True),
    "Taxi-v4": ("deep copy", False),
    "CliffWalking-v1": ("deep copy", False),
    "CliffWalkingSlippery-v1": ("deep copy", True),
    "Blackjack-v1": ("deep copy", True),
    "distinguo/PuckOnAHill-v0": ("options", False),
}
Step = tuple[State, int, State, float, bool]


def task_of(name: str, seed: int = 0) -> GymTask:
    return make_task(name, seed=seed)


def walk(task: GymTask, steps: int, seed: int = 0, longest: int = 60) -> list[Step]:
    """Take random actions, and return what happened."""
    rng, done, trial = np.random.default_rng(seed), True, 0
    log: list[Step] = []
    s: State = ()
    for _ in range(steps):
        if done or trial >= longest:
            s, trial = start(task, RNG), 0
        a = int(rng.integers(actions(task)))
        after, reward, done = transition(task, s, a)
        log.append((s, a, after, reward, done))
        s, trial = after, trial + 1
    return log


@pytest.mark.parametrize("name", KNOWN)
def test_the_method_is_found(name: str) -> None:
    driver = task_of(name).driver
    assert (driver.restoring.name, driver.stochastic) == KNOWN[name]
    assert driver.restoring.sentence.startswith(f"{name} is put back by ")
    assert driver.probed.replayable


@pytest.mark.parametrize("name", [name for name, (_, stochastic) in KNOWN.items() if not stochastic])
def test_back_and_forth_among_visited_states(name: str) -> None:
    task = task_of(name, seed=5)
    log = walk(task, 150)
    for i in np.random.default_rng(1).integers(len(log), size=60):
        s, a, after, reward, terminal = log[i]
        ahead, again, end = transition(task, s, a)
        if ahead[0] >= 0:  # from the head of the last trial
            assert ahead[:2] == after[:2]
        assert (ahead[2:], again, end) == (after[2:], reward, terminal)
        if not end:
            transition(task, ahead, 0)


@pytest.mark.parametrize("name", [name for name, (_, stochastic) in KNOWN.items() if stochastic])
def test_noise_differs_ahead_but_the_trial_keeps_its_own(name: str) -> None:
    """The same trials with and without look-aheads between their steps."""
    quiet, busy = task_of(name, seed=2), task_of(name, seed=2)
    rng, seen = np.random.default_rng(0), set()
    for _ in range(8):
        s, t, past = start(quiet, RNG), start(busy, RNG), []
        done = False
        while not done and len(past) < 12:
            assert s == t
            past.append(t)
            for earlier in past[:-1][-2:]:
                for _ in range(3):
                    seen.add((earlier, transition(busy, earlier, actions(busy) - 1)[0][2:]))
            a = int(rng.integers(actions(quiet)))
            s, reward, done = transition(quiet, s, a)
            t, other, end = transition(busy, t, a)
            assert (reward, done) == (other, end)
    assert len(seen) > len({earlier for earlier, _ in seen})


def test_noisy_actions_are_recognised_as_stochastic() -> None:
    task = make_task(NoisyActions(gymnasium.make("CartPole-v1"), noise=0.02))
    assert task.driver.stochastic
    assert task.driver.restoring.name == "deep copy"
    noisy = make_task(NoisyActions(gymnasium.make("distinguo/PuckOnAHill-v0"), noise=0.5))
    assert noisy.driver.restoring.name == "deep copy"
    assert "would not restore the trial's own noise" in noisy.driver.restoring.sentence
    s = start(noisy, RNG)
    transition(noisy, s, 0)
    assert len({transition(noisy, s, 0)[0][2:] for _ in range(20)}) == 2


@pytest.mark.parametrize(
    ("kind", "name", "stochastic"),
    [
        (faulty.Walk, "deep copy", False),
        (faulty.TakesOptions, "options", False),
        (faulty.HalfOptions, "deep copy", False),
        (faulty.NoCopy, "replay", False),
        (faulty.Sharing, "replay", False),
        (faulty.SetsState, "set_state", False),
        (faulty.ClonesState, "set_state", False),
        (faulty.IdleSetState, "replay", False),
        (faulty.HalfSetState, "replay", False),
        (faulty.SetsStateInGusts, "replay", True),
        (faulty.Gusts, "deep copy", True),
        (faulty.RareGusts, "deep copy", True),
        (faulty.IdleDraws, "deep copy", False),
        (faulty.GlobalBeginning, "deep copy", True),
        (faulty.GlobalNoise, "none", True),
    ],
)
def test_a_wrong_method_is_never_taken(kind: Any, name: str, stochastic: bool) -> None:
    driver = make_task(kind(), seed=9).driver
    assert driver.restoring.name == name
    assert driver.stochastic == stochastic


def test_what_did_not_work_is_said() -> None:
    sentence = make_task(faulty.IdleSetState()).driver.restoring.sentence
    assert sentence == (
        "IdleSetState is put back by a replay of the trial's seed and actions "
        '(reset(options={"state": ...}) ignores the state it is given; set_state does not lead to the same state; '
        "a deep copy was not tried, as there is no second environment to try it on)."
    )
    tried = make_task(faulty.Sharing(), maker=faulty.Sharing).driver.restoring.sentence
    assert "; a deep copy shares its random numbers with the original)." in tried
    none = make_task(faulty.GlobalNoise()).driver.restoring.sentence
    assert none.startswith("GlobalNoise cannot be put back into an earlier state (")


@pytest.mark.parametrize(
    "kind", [faulty.Walk, faulty.TakesOptions, faulty.NoCopy, faulty.SetsState, faulty.ClonesState]
)
def test_every_method_restores_the_state(kind: Any) -> None:
    task = make_task(kind(), seed=1)
    log = walk(task, 200, longest=90)
    before = task.driver.steps
    order = np.random.default_rng(3).permutation(len(log))[:80].tolist()
    for i in [*order, *order[:10]]:
        s, a, after, *_ = log[i]
        assert transition(task, s, a)[0][2:] == after[2:]
    assert task.driver.steps == before + 90
    assert task.driver.replayed == 0 or kind is not faulty.TakesOptions


def test_snapshots_save_steps() -> None:
    """The second visit to a state starts from just before it."""
    task = make_task(faulty.SetsState())
    s = start(task, RNG)
    for i in range(100):
        s, _, _ = transition(task, s, i % 4 in (0, 3))
    far = (s[0], 90.0, *walked(task, 90))
    task.driver._probed = task.driver.probed._replace(price=1)  # whatever the clock says
    transition(task, far, 0)
    once = task.driver.replayed
    transition(task, far, 1)
    assert (once, task.driver.replayed) == (90, 91)


def walked(task: GymTask, step: int) -> tuple[float, ...]:
    """Return what is seen at a step of the latest trial."""
    env = faulty.SetsState()
    env.reset(seed=task.driver.history.latest.seed)
    for move in task.driver.history.latest.moves[:step]:
        observation = env.step(move)[0]
    return tuple(observation.tolist())


def test_a_trial_that_no_seed_brings_back() -> None:
    task = make_task(faulty.GlobalBeginning())
    assert not task.driver.probed.replayable
    for s, a, after, reward, _ in walk(task, 60, longest=30):
        ahead, again, _ = transition(task, s, a)
        assert (ahead[2:], again) == (after[2:], reward)


def test_the_main_trial_goes_on_after_look_aheads() -> None:
    alone, busy = make_task("CartPole-v1", seed=4), make_task("CartPole-v1", seed=4)
    s, t = start(alone, RNG), start(busy, RNG)
    first = t
    for i in range(15):
        ahead, _, _ = transition(busy, first, i % 2) if i else (first, 0.0, False)
        assert i == 0 or ahead[:2] == (-1.0, float(i))
        s, _, _ = transition(alone, s, i % 2)
        t, _, _ = transition(busy, t, i % 2)
        assert s == t
    assert t[:2] == (0.0, 15.0)


def test_one_cannot_come_back_to_a_look_ahead() -> None:
    task = make_task("CartPole-v1")
    s = start(task, RNG)
    transition(task, s, 0)
    ahead, _, _ = transition(task, s, 1)
    farther, _, _ = transition(task, ahead, 1)
    assert farther[:2] == (-1.0, 2.0)
    with pytest.raises(
        DistinguoError, match="can only go on from the last state of a look-ahead, and at once"
    ):
        transition(task, ahead, 1)


def test_where_no_state_can_be_restored() -> None:
    task = make_task(faulty.GlobalNoise())
    s = start(task, RNG)
    after, _, _ = transition(task, s, 0)
    transition(task, after, 0)
    with pytest.raises(
        DistinguoError, match=r"GlobalNoise cannot be put back .*, asked for trial 0, step 1; "
    ):
        transition(task, after, 0)
    begun, _, _ = transition(task, s, 0)  # but a trial can be begun again, from wherever the reset leads
    transition(task, begun, 0)


def test_an_environment_that_stops_being_deterministic() -> None:
    env = faulty.Rebel()
    task = make_task(env)
    log = walk(task, 20)
    env.rebels = True
    s = log[12][0]
    sentence = (
        r"Rebel does not repeat its trials: .* in trial 0 at step 12 it should show .*task.restore=false, or"
    )
    with pytest.raises(DistinguoError, match=sentence):
        transition(task, s, 0)
    assert start(task, RNG)[0] == 1.0  # a new trial can begin


def test_an_environment_that_stops_obeying() -> None:
    env = faulty.TakesOptions()
    task = make_task(env)
    log = walk(task, 20)
    env.obedient = False
    sentence = (
        "TakesOptions was not restored: in trial 0 at step 7 it should show .*; from now on it is put back"
    )
    with pytest.warns(UserWarning, match=sentence):
        assert transition(task, log[7][0], log[7][1])[0][2:] == log[7][2][2:]
    assert task.driver.restoring.name == "replay"
    for s, a, after, *_ in log[:9]:  # without another word
        assert transition(task, s, a)[0][2:] == after[2:]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (faulty.Sharing, "a deep copy shares its random numbers with the original"),
        (faulty.NoCopy, "a deep copy raises TypeError: cannot copy a simulation"),
        (faulty.Remote, "a deep copy does not lead to the same state"),
        (faulty.Disconnecting, "a deep copy raises RuntimeError: not connected to the physics server"),
        (faulty.DisconnectingAll, "a deep copy raises RuntimeError: not connected to the physics server"),
        (faulty.Closure, "a deep copy shares its random numbers with the original"),
    ],
)
def test_copies_that_harm_are_tried_on_a_spare_environment_only(kind: Any, words: str) -> None:
    env = kind()
    task = make_task(env, maker=kind)
    if kind is not faulty.Closure:
        assert not task.driver.stochastic
    assert task.driver.restoring.name == "replay"
    assert words in task.driver.restoring.sentence
    log = walk(task, 60, longest=20)
    for s, a, after, *_ in log[::7]:
        if not task.driver.stochastic:
            assert transition(task, s, a)[0][2:] == after[2:]
    assert len({transition(task, log[3][0], 0)[0][2:] for _ in range(9)}) == (
        9 if task.driver.stochastic else 1
    )


@pytest.mark.parametrize("kind", [faulty.Disconnecting, faulty.Closure, faulty.NoCopy, faulty.Handles])
def test_an_object_with_code_of_its_own_is_never_copied(kind: Any) -> None:
    env = kind()
    task = make_task(env)
    assert "a deep copy was not tried, as there is no second" in task.driver.restoring.sentence
    other = seeded(task, 3)
    assert other.driver.checked_env.env is env  # shared
    assert walk(task, 30) == walk(make_task(kind()), 30)
    assert faulty.Handles.copied == 0


def test_a_spare_environment_shows_that_copies_work() -> None:
    task = make_task(faulty.Handles(), maker=faulty.Handles)
    assert task.driver.restoring.name == "deep copy"
    assert seeded(task, 3).driver.checked_env.env is not task.driver.checked_env.env
    faulty.Handles.copied = 0


def test_a_state_that_is_not_taken_back_is_replayed() -> None:
    env = faulty.Forgetful()
    task = make_task(env)
    assert task.driver.restoring.name == "set_state"
    task.driver._probed = task.driver.probed._replace(price=1)
    log = walk(task, 50)
    s, a, *_ = next(step for step in log if step[0][1] >= 4)
    transition(task, s, a)
    env.forgets = True
    with pytest.warns(
        UserWarning, match="Forgetful was not restored: .*; from now on it is put back by a replay"
    ):
        assert all(transition(task, s, a)[0][2:] == after[2:] for s, a, after, *_ in log)


@pytest.mark.parametrize("name", [*KNOWN, "MountainCarContinuous-v0"])
def test_a_probe_takes_a_few_hundred_steps(name: str) -> None:
    assert task_of(name).driver.probed.steps <= (800 if name in ("CliffWalking-v1", "Taxi-v4") else 500)


def test_a_slow_environment_is_probed_by_shorter_and_fewer_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(faulty.Walk):
        def step(self, action: int) -> Any:
            now[0] += 1.0
            return super().step(action)

    now = [0.0]
    monkeypatch.setattr("distinguo.tasks.gym.probe.time.monotonic", lambda: now[0])
    driver = make_task(Slow()).driver
    assert (driver.restoring.name, driver.stochastic) == ("deep copy", False)
    assert driver.probed.steps == now[0] <= 60


def test_without_a_probe_no_step_is_taken() -> None:
    env = faulty.Faulty(lambda answer: 1 / 0, at=1)
    spec = spec_of(env, {"probe": False})
    assert (spec.restorable, spec.stochastic, spec.task.driver.probed.steps) == (True, "no", 0)
    assert spec.note.startswith(
        "Faulty was not probed: it is put back by a replay of the trial's seed and actions, "
    )
    with pytest.raises(DistinguoError, match=r"task.probe should be true or false, got 3"):
        spec_of(env, {"probe": 3})
    with pytest.raises(DistinguoError, match="CartPole-v1 is compiled and never probed; leave --no-probe"):
        task_spec("CartPole-v1", {"probe": False})
    run = distinguo.learn(faulty.Walk(), settings={"task.probe": False, "stage.steps": 500, "stage.cap": 50})
    assert run.summary["probe_steps"] == 0


def test_states_need_not_be_restored() -> None:
    env = faulty.Rebel()
    env.rebels = True
    spec = spec_of(env, {"restore": False})
    assert not spec.restorable
    assert spec.note == "Rebel is not put back into earlier states, as was asked for."
    small = {"stage.steps": 2000, "stage.cap": 50, "stage.confirm": 5}
    run = distinguo.learn(env, settings={"task.probe": False, "task.restore": False, **small})
    assert run.summary["environment_steps"] > 0
    with pytest.raises(
        DistinguoError, match=r"Rebel does not repeat its trials: .* --set task\.restore=false, or"
    ):
        distinguo.learn(env, learner="economy", settings={"task.probe": False, **small})


@pytest.mark.parametrize("kind", [faulty.Walk, faulty.TakesOptions, faulty.SetsState, faulty.NoCopy])
def test_a_time_limit_goes_back_too(kind: Any) -> None:
    task = make_task(TimeLimit(kind(), 10))
    s, states = start(task, RNG), []
    for i in range(10):
        assert not truncated(task, s)
        states.append(s)
        s, _, terminal = transition(task, s, i % 2)
        assert not terminal
    assert truncated(task, s)
    for left, earlier in enumerate(reversed(states), start=1):
        for _ in range(left):
            assert not truncated(task, earlier)
            earlier, _, _ = transition(task, earlier, 0)
        assert truncated(task, earlier)
    assert truncated(task, s)  # still


NAMES = ["CartPole-v1", "FrozenLake-v1", "distinguo/PuckOnAHill-v0"]


@pytest.mark.parametrize("name", NAMES)
def test_memories_let_another_process_go_on(name: str) -> None:
    old, new = task_of(name, seed=8), task_of(name, seed=8)
    log = walk(old, 100, longest=40)
    last = int(log[-1][0][0])
    wanted = [log[3][0], log[11][0], log[70][0], log[-1][2]]
    arrays = memories(old, np.array(wanted))
    assert all(array.ndim == 1 and array.dtype.kind in "iu" for array in arrays.values())
    remember(new, {name: array.copy() for name, array in arrays.items()})
    for s in [*wanted[:3], wanted[0]]:
        assert transition(old, s, 1) == transition(new, s, 1)
    if not log[-1][4]:  # the running trial goes on
        one, other = transition(old, wanted[3], 0), transition(new, wanted[3], 0)
        assert one == other
        assert one[0][0] == last
    assert start(old, RNG) == start(new, RNG)


def test_memories_drop_what_is_not_needed() -> None:
    task = make_task("CartPole-v1")
    log = walk(task, 100)
    for s, *_ in log[::5]:
        transition(task, s, 0)
    history = task.driver.history
    kept = log[40][0]
    memories(task, np.array([kept, (-1.0, 3.0, 0.0, 0.0, 0.0, 0.0)]))
    assert list(history.trials) == [int(kept[0])]
    assert len(history.trials[int(kept[0])].moves) == int(kept[1])
    assert set(history.snapshots.steps) <= {int(kept[0])}
    assert transition(task, kept, log[40][1])[0][2:] == log[40][2][2:]
    with pytest.raises(DistinguoError, match="CartPole-v1 has no memory of trial 0, step 2; "):
        transition(task, log[2][0], 0)


def test_memories_of_nothing() -> None:
    task = make_task("CartPole-v1")
    arrays = memories(task, np.zeros((0, 6)))
    fresh = make_task("CartPole-v1")
    remember(fresh, arrays)
    assert start(fresh, RNG) == start(task, RNG)


def arrays_of_a_walk() -> dict[str, np.ndarray]:
    task = make_task("CartPole-v1")
    return memories(task, np.array([step[0] for step in walk(task, 60, longest=10)]))


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("trials", lambda array: array[:-1]),
        ("trials", lambda array: array + 1000),
        ("trials", lambda array: array - 1),
        ("trials", lambda array: array * 0),
        ("seeds", lambda array: -array),
        ("seeds", lambda array: array.astype(float)),
        ("moves", lambda array: array + 2),
        ("moves", lambda array: array[:-1]),
        ("moves", lambda array: array[None]),
        ("offsets", lambda array: array[::-1]),
        ("offsets", lambda array: np.concatenate([array[:1], array[1:-1][::-1], array[-1:]])),
        ("offsets", lambda array: array[:0]),
        ("counters", lambda array: array[:2]),
        ("counters", lambda array: -array),
    ],
)
def test_damaged_memories(name: str, spoil: Any) -> None:
    arrays = arrays_of_a_walk()
    arrays[name] = spoil(arrays[name])
    task = make_task("CartPole-v1")
    with pytest.raises(ValueError, match="The memory of trials is damaged: "):
        remember(task, arrays)
    assert start(task, RNG)[0] == 0.0  # nothing was taken


@pytest.mark.parametrize("name", ["trials", "seeds", "moves", "offsets", "counters"])
def test_memories_that_lack_something(name: str) -> None:
    arrays = arrays_of_a_walk()
    del arrays[name]
    with pytest.raises(ValueError, match=f"it lacks '{name}'"):
        remember(make_task("CartPole-v1"), arrays)


def test_drivers_that_share_an_environment_do_not_disturb_each_other() -> None:
    one = make_task(faulty.NoCopy(), seed=1)
    two = seeded(one, 2)
    assert two.driver.checked_env.env is one.driver.checked_env.env
    alone, alike = make_task(faulty.NoCopy(), seed=1), make_task(faulty.NoCopy(), seed=2)
    s, t, u, v = (start(task, RNG) for task in (one, two, alone, alike))
    for i in range(12):
        s, t, u, v = (
            transition(task, x, i % 2)[0]
            for task, x in zip((one, two, alone, alike), (s, t, u, v), strict=True)
        )
        assert (s, t) == (u, v)


def test_a_copied_environment_is_another_one() -> None:
    random.seed(0)
    one = make_task(faulty.Walk(), seed=1)
    two = seeded(one, 1)
    assert two.driver.checked_env.env is not one.driver.checked_env.env
    assert walk(one, 40) == walk(two, 40)


def test_old_snapshots_make_room() -> None:
    snapshots = Snapshots(most=3)
    for step in range(5):
        snapshots.put(step % 2, step, step)
    assert len(snapshots.kept) == 3
    snapshots.before(0, 3)
    snapshots.put(1, 9, 9)
    assert snapshots.before(0, 3) == (2, 2)
    snapshots.keep_only([1])
    assert snapshots.before(0, 9) is None
