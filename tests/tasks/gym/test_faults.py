"""Whatever an environment does wrong, it is one sentence with its place, and what was learned before is kept."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

import distinguo as dg
from distinguo.cli.parse import _made
from distinguo.errors import DistinguoError
from distinguo.runs.configuration import configure
from distinguo.runs.stage import CONFIRMING, TRIAL, Stage
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.gym import source
from distinguo.tasks.spec import LARGEST
from distinguo.views.words import way_sentence
from tests.nightly import interpreted_by_day
from tests.tasks.faults import FAULTS, Fault, Switched, SwitchedAhead, raising
from tests.tasks.faulty import Faulty, NoCopy, Walk

SMALL = {"stage.steps": 3000, "stage.trials": 10, "stage.cap": 30, "stage.confirm": 5}
BY_NAME = {fault.name: fault for fault in FAULTS}


def test_there_are_many() -> None:
    assert len(BY_NAME) == len(FAULTS) >= 70


def stopped(call: Any, name: str, words: str) -> str:
    """See that a call ends with one sentence of these words, which names the environment."""
    with pytest.raises(DistinguoError) as caught:
        call()
    sentence = str(caught.value)
    assert sentence.startswith(f"{name} ")
    assert words in sentence
    assert sentence.isprintable()  # no line breaks, no control characters
    assert len(sentence) < 600
    return sentence


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_stops_with_its_place(fault: Fault, tmp_path: Path) -> None:
    env = Faulty(fault.spoil)
    for call in (
        lambda: dg.learn(env, settings=SMALL, out=tmp_path / "run"),
        lambda: dg.Economy(env).learn(100),
        lambda: dg.compare(["grid:2"], task=env, runs=1, steps=100),
    ):
        sentence = stopped(call, "Faulty", fault.words)
        advice = r"(fix the environment|allowed is one: add them up .*)"
        assert re.search(rf", in trial \d+ at step 3; {advice}\.$", sentence)
    assert np.isfinite(dg.open_run(tmp_path / "run").q).all()


@pytest.mark.parametrize("name", ["observation nan", "observation none", "raises SystemExit", "recurses"])
def test_a_fault_of_a_reset(name: str, tmp_path: Path) -> None:
    fault, out = BY_NAME[name], tmp_path / "run"
    sentence = stopped(lambda: dg.learn(Faulty(fault.spoil, at=0), out=out), "Faulty", fault.words)
    assert sentence.endswith(", in trial 0 at step 0; fix the environment.")
    with pytest.raises(DistinguoError, match=r"run has no representation\.json yet"):  # nothing was learned
        dg.open_run(out)


@pytest.mark.parametrize(
    "answer", [None, 5, "ab", np.zeros(2), {"a": 1, "b": 2}, (np.zeros(1), None), (np.zeros(1), {}, 1)]
)
def test_what_a_reset_may_not_return(answer: Any) -> None:
    stopped(
        lambda: dg.learn(Faulty(lambda _: answer, at=0)), "Faulty", "; allowed is a pair, the observation"
    )


SOME = [BY_NAME[name] for name in ("reward huge", "raises SystemExit")]


@pytest.mark.parametrize("learner", ["economy", "probation"])
@pytest.mark.parametrize("phase", [TRIAL, CONFIRMING])
@pytest.mark.parametrize("fault", SOME, ids=lambda fault: fault.name)
def test_what_was_learned_before_is_kept(fault: Fault, phase: str, learner: str, tmp_path: Path) -> None:
    env, out = Switched(fault.spoil), tmp_path / "run"

    def turn_on(stage: Stage) -> None:
        env.switch.on = stage.phase == phase and stage.count_trials >= 3

    words: dict[str, Any] = {"learner": learner, "settings": SMALL, "out": out}
    stopped(lambda: dg.learn(env, watch=turn_on, **words), "Switched", fault.words)
    kept = dg.open_run(out)
    assert len(kept.trials) >= 2
    assert np.isfinite(kept.q).all()
    env.switch.on = False  # fixed
    run = dg.learn(env, **words)
    assert len(run.trials) > len(kept.trials) or phase == CONFIRMING
    assert np.isfinite(run.q).all()
    assert abs(run.summary["score"]) < LARGEST


def test_a_fault_in_a_mini_trial(tmp_path: Path) -> None:
    env = SwitchedAhead(BY_NAME["reward nan"].spoil)

    def turn_on(stage: Stage) -> None:
        env.switch.on = stage.count_trials >= 5

    words: dict[str, Any] = {"learner": "economy", "settings": SMALL, "out": tmp_path / "run"}
    sentence = stopped(lambda: dg.learn(env, watch=turn_on, **words), "SwitchedAhead", "the reward nan")
    assert re.search(r"in a look-ahead from trial \d+, step \d+, at its step \d+", sentence)
    assert np.isfinite(dg.open_run(tmp_path / "run").q).all()
    env.switch.on = False
    assert np.isfinite(dg.learn(env, **words).q).all()


def test_ctrl_c_is_no_fault(tmp_path: Path) -> None:
    env = Switched(raising(KeyboardInterrupt()))

    def turn_on(stage: Stage) -> None:
        env.switch.on = stage.count_trials >= 3

    with pytest.raises(KeyboardInterrupt):
        dg.learn(env, settings=SMALL, out=tmp_path / "run", watch=turn_on)
    env.switch.on = False
    assert np.isfinite(dg.learn(env, settings=SMALL, out=tmp_path / "run").q).all()


class SpaceRaises(Walk):
    @property
    def observation_space(self) -> Any:
        raise SystemExit("no space")

    @observation_space.setter
    def observation_space(self, _: Any) -> None:
        """Nothing is kept."""


class ManyActions(Walk):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = Discrete(10_001)


class NoActions(Walk):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = None


class NoSpace(Walk):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = "everything"


class ManyNumbers(Walk):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-1, 1, shape=(1000, 1000))


class RestoresElsewhere(NoCopy):
    """Deterministic while it is tried, and then no more."""

    calls = 0

    def noise(self) -> float:
        self.calls += 1
        return 0.0 if self.calls < 4000 else self.calls * 1e-3


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (SpaceRaises, "failed to give its spaces (SystemExit: no space); fix the environment."),
        (ManyActions, "has 10,001 actions; allowed are 10,000; "),
        (NoActions, "has actions of a NoneType; allowed is Discrete; "),
        (NoSpace, "observes a str, which cannot be divided into regions; "),
        (ManyNumbers, "observes 1,000,000 numbers; allowed are 250,000; "),
        (RestoresElsewhere, "does not repeat its trials: with the same seed and actions, in trial "),
    ],
)
def test_environments_that_are_no_good_as_a_whole(kind: Any, words: str) -> None:
    settings = {"stage.steps": 20_000, "stage.cap": 200}
    stopped(lambda: dg.learn(kind(), learner="economy", settings=settings), kind.__name__, words)


class Harmless(Walk):
    """Odd, but nothing is wrong with what it answers."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-0.1, 0.1, shape=(1,), dtype=np.float32)  # it goes far beyond
        self.seen = np.zeros(1)

    def observation(self) -> Any:
        self.seen[0] = self.simulation["place"]
        return self.seen  # always the same array

    def step(self, action: int) -> Any:
        seen, reward, terminated, _, info = super().step(action)
        self.action_space = Discrete(7)  # asked only once
        return [seen, np.float32(reward), np.array([terminated]), 0, info]

    def render(self) -> Any:
        raise RuntimeError("not to be rendered")

    def close(self) -> None:
        raise RuntimeError("not to be closed")

    def __deepcopy__(self, memo: Any) -> Any:
        raise SystemExit("not to be copied")


def test_what_is_odd_but_right_is_learned() -> None:
    run = dg.learn(Harmless(), learner="economy", settings=SMALL)
    assert np.isfinite(run.q).all()
    assert run.representation.prototypes > 1


@dg.task(states=["x"], actions=["left", "right"], low=[-1], high=[1], score="return", threshold=5.0, limit=20)
class Bank(NamedTuple):
    """A task of one's own whose every reward is allowed, but whose sums are not."""

    reward: float = 9e99

    def start(self, rng: Any) -> tuple[float]:
        return (rng.uniform(-0.5, 0.5),)

    def transition(self, s: tuple[float], a: int) -> tuple[tuple[float], float, bool]:
        x = s[0] + (0.1 if a == 1 else -0.1)
        return (x,), self.reward, abs(x) > 1.0


def test_sums_of_rewards_beyond_all_bounds(tmp_path: Path) -> None:
    with interpreted_by_day(Bank):
        for call in (
            lambda: dg.learn(Bank(), learner="economy", settings=SMALL, out=tmp_path / "run"),
            lambda: dg.learn(Bank(), learner="probation", settings=SMALL),
        ):
            stopped(call, "Bank", "too large to be added up")
        with pytest.raises(DistinguoError, match="Bank gave rewards that are not finite or too large"):
            dg.compare(["grid:2"], task=Bank(), runs=1, steps=100)
        words = "the reward 1e+101 in the first step; allowed are numbers up to 1e+100"
        stopped(lambda: dg.learn(Bank(1e101)), "Bank", words)


def test_the_greatest_reward_leaves_values_finite() -> None:
    def spoil(answer: Any) -> Any:
        return answer[0], -1e98, *answer[2:]

    run = dg.learn(Faulty(spoil), settings=SMALL)
    assert np.isfinite(run.q).all()
    assert np.isfinite([value for value in run.summary.values() if isinstance(value, float)]).all()


class FixedSeed(Walk):
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return super().reset(seed=7)


class Screen(Walk):
    def __init__(self) -> None:
        raise RuntimeError("No available video device")


class Saturated(Walk):
    """Never ends, and often shows exactly the same."""

    def step(self, action: int) -> Any:
        seen, reward, _, _, info = super().step(action)
        return np.clip(seen, -1, 1), max(reward, -1.0), False, False, info


def test_a_seed_without_effect_is_said() -> None:
    assert "Whatever its seed is, it begins in the same state" in spec_of(FixedSeed()).note
    assert "seed" not in spec_of(Walk()).note


def test_an_environment_that_never_ends_has_a_limit(tmp_path: Path) -> None:
    settings = {"stage.steps": 3000, "stage.confirm": 2, "stage.cap": 700}
    run = dg.learn(Saturated(), settings=settings, out=tmp_path / "run")
    assert ", trials stopped after 700 steps. Learner: " in way_sentence(run.configuration)
    assert len(np.unique(run.representation.partition.prototypes, axis=0)) == run.representation.prototypes


def test_a_display_that_is_missing() -> None:
    with pytest.raises(
        DistinguoError, match=r"Screen could not be made: .*; it asks for a display: leave out "
    ):
        _made(Screen, {})


def test_a_package_that_fails_when_it_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, error in (
        ("windowed", "type('NoDisplayError', (Exception,), {})('None')"),
        ("broken", "1 / 0"),
    ):
        (tmp_path / f"{name}.py").write_text(f"raise {error}" if "(" in error else error)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(
        DistinguoError, match=r"importing windowed failed .*; it asks for a display: .* xvfb-run"
    ):
        dg.learn("windowed:Room-v0")
    with pytest.raises(
        DistinguoError,
        match=r"^broken:Room-v0: importing broken failed \(ZeroDivisionError: .*\); .* and fix it\.$",
    ):
        dg.learn("broken:Room-v0")


def test_a_trial_limit_of_the_learner_is_said() -> None:
    assert ", trials stopped after 1,000 steps. " in way_sentence(
        configure(spec_of(Saturated(), {}), words={"threshold": 1.0})
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NoPackage-Task-v0", "put the module before the id, as in module:NoPackage-Task-v0."),
        ("json-Task-v0", "did you mean 'json:json-Task-v0', with the module that registers it?"),
        (
            "nosuchpackage:Task-v0",
            "needs nosuchpackage, which is not installed; run: pip install nosuchpackage",
        ),
    ],
)
def test_an_id_of_a_package_that_is_not_imported(name: str, words: str) -> None:
    with pytest.raises(DistinguoError, match=re.escape(words)):
        task_spec(name)


def test_a_step_that_hangs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "PATIENT_SECONDS", 0.1)
    monkeypatch.setattr(source._Waiting, "thread", None)
    env = source.CheckedEnv(Faulty(lambda answer: time.sleep(0.6) or answer, at=2), "Sleeper")
    env.reset(0, 4)
    env.step(0, 4, 1)
    with pytest.warns(
        UserWarning, match=r"Sleeper has not answered for 0\.1 s, in trial 4 at step 2; still wait"
    ):
        env.step(0, 4, 2)


@pytest.mark.parametrize("learner", ["economy", "probation"])
def test_the_scale_of_rewards_changes_no_decision(learner: str) -> None:
    class Scaled(Walk):
        factor = 1.0

        def step(self, action: int) -> Any:
            seen, reward, *rest = super().step(action)
            return seen, self.factor * reward, *rest

    runs = []
    for Scaled.factor in (1.0, 2.0**13):  # a power of 2 leaves the digits alone
        runs.append(dg.learn(Scaled(), learner=learner, settings=SMALL))
    one, other = runs
    assert (
        one.representation.partition.prototypes.tolist() == other.representation.partition.prototypes.tolist()
    )
    assert one.controller.greedy.tolist() == other.controller.greedy.tolist()
    assert [trial.length for trial in one.trials] == [trial.length for trial in other.trials]
