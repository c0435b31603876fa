"""Any Gymnasium task, end to end: learned, judged, stopped, resumed, and what is left when it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from distinguo.comparison.compare import compare_plan
from distinguo.comparison.plan import make_plan
from distinguo.errors import DistinguoError
from distinguo.learners.agent import luby
from distinguo.runs import folder
from distinguo.runs.configuration import Configuration, configure
from distinguo.runs.folder import open_run
from distinguo.runs.learn import learn, learn_configured
from distinguo.runs.restarts import of_these_regions
from distinguo.runs.settings_file import from_toml, to_toml
from distinguo.runs.stage import Stage
from distinguo.tasks.catalog import spec_of, task_spec
from tests.nightly import NIGHTLY

BRIEF = {"stage.steps": 3000, "stage.cap": 300, "stage.confirm": 3, "stage.restart": 10}
#: Everything that Gymnasium makes without an extra: one of each version.
PLAIN = ("CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Pendulum-v1")
TOYS = ("FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "Taxi-v4", "Blackjack-v1")


def bits(run: Any) -> tuple[bytes, ...]:
    partition = run.representation.partition
    return partition.prototypes.tobytes(), partition.regions.tobytes(), run.q.tobytes(), run.updates.tobytes()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_puck_through_gymnasium_gives_the_same_bits(seed: int) -> None:
    changes = {"stage.cap": 3000, "stage.hold": 3000}
    fast, slow = (
        learn(task_spec("puck", interpreted=flag), seed=seed, settings=changes) for flag in (False, True)
    )
    assert bits(fast) == bits(slow)
    assert fast.reasons == slow.reasons
    assert fast.summary["environment_steps"] == slow.summary["environment_steps"]


def registered(name: str) -> str:
    """Return the id, or skip: versions come and go."""
    if name not in gymnasium.registry:
        pytest.skip(f"this Gymnasium has no {name}")
    return name


@pytest.mark.parametrize("name", [*PLAIN, *TOYS] if NIGHTLY else [*PLAIN, *TOYS[1:]])  # one lake by day
def test_learn_test_and_read_again(name: str, tmp_path: Path) -> None:
    spec = task_spec(registered(name), interpreted=True)
    run = learn(spec, seed=1, settings=BRIEF, out=tmp_path / "run")
    assert run.summary["environment_steps"] >= BRIEF["stage.steps"] or run.solved
    assert bits(open_run(tmp_path / "run")) == bits(run)
    plan = make_plan(
        [str(tmp_path / "run")],
        task=name,
        interpreted=True,
        task_parameters=run.configuration.spec.parameters,
        tester={"runs": 1, "steps": 300, "batch": 3, "every_steps": 150, "cap": 100},
    )
    comparison = compare_plan(plan, tmp_path / "test")
    assert not comparison.failures
    assert np.isfinite(comparison.curves[0].scores).all()


def test_a_twin_and_its_original_tell_the_same_of_themselves() -> None:
    for name in PLAIN:
        ours, theirs = task_spec(name), task_spec(name, interpreted=True)
        assert ours[2:7] == theirs[2:7]
        assert (ours.threshold, ours.limit) == (theirs.threshold, theirs.limit)
        env = gymnasium.make(name)
        space = env.observation_space
        assert ours.low == tuple(float(v) for v in space.low), name  # type: ignore[attr-defined]
        assert ours.high == tuple(float(v) for v in space.high), name  # type: ignore[attr-defined]
        spec = env.spec
        assert spec is not None
        assert (spec.reward_threshold, spec.max_episode_steps) == (ours.threshold, ours.limit)


# Stopped and resumed.


class Stopped(Exception):
    pass


def run_in_pieces(configuration: Configuration, path: Path, chunks: int) -> Any:
    """Learn in a folder, stopping again and again; every piece begins with what is on the disk."""
    while not folder.is_finished(path):
        left = chunks

        def watch(stage: Stage) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Stopped

        try:
            learn_configured(configuration, path, watch)
        except Stopped:
            continue
    return open_run(path)


@pytest.mark.parametrize(
    ("name", "changes", "interpreted"),
    [
        ("puck", {"task.noise": 0.3, "stage.cap": 3000, "stage.hold": 3000}, False),
        ("CartPole-v1", BRIEF | {"stage.steps": 4000}, False),
        ("CartPole-v1", BRIEF, True),
        ("FrozenLake-v1", BRIEF, True),
        ("Blackjack-v1", BRIEF | {"stage.steps": 600}, True),
    ],
)
def test_a_stopped_run_ends_with_the_same_bits(
    name: str, changes: dict[str, Any], interpreted: bool, tmp_path: Path
) -> None:
    def asked() -> Configuration:
        return configure(name, seed=2, changes=changes, interpreted=interpreted)

    whole = learn_configured(asked(), tmp_path / "whole")
    pieces = run_in_pieces(asked(), tmp_path / "pieces", chunks=23)
    assert bits(whole) == bits(pieces)
    assert (tmp_path / "whole/trials.csv").read_bytes() == (tmp_path / "pieces/trials.csv").read_bytes()
    assert (tmp_path / "whole/reasons.jsonl").read_bytes() == (tmp_path / "pieces/reasons.jsonl").read_bytes()


def test_a_run_folder_can_be_read_where_its_environment_is_not(tmp_path: Path) -> None:
    run = learn(Corridor(), seed=1, settings=BRIEF, out=tmp_path / "run")
    again = open_run(tmp_path / "run")
    assert bits(again) == bits(run)
    assert again.configuration.spec.dimensions == ("o0",)
    assert again.action((0.5,)) in ("a0", "a1")


def test_settings_of_an_environment_survive_their_file() -> None:
    asked = configure("FrozenLake-v1", seed=3, changes={"task.is_slippery": False})
    read = from_toml(to_toml(asked))
    assert to_toml(read) == to_toml(asked)
    assert read.spec.parameters == {"is_slippery": False}


# Environments of one's own, and faults.


class Corridor(gymnasium.Env[Any, int]):
    """Walk right to 1; every step costs one. Something can go wrong after many steps of all corridors together."""

    left = 10**9

    def __init__(self, fault: str = "", limit: int = 0) -> None:
        self.observation_space = Box(-np.inf, np.inf, shape=(1,), dtype=np.float64)
        self.action_space = Discrete(2)
        self.place, self.steps = 0.0, 0
        self.fault, self.limit = fault, limit
        Corridor.left = 10**9

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place, self.steps = float(self.np_random.uniform(-0.5, 0.5)), 0
        return np.array([self.place]), {}

    def step(self, action: int) -> Any:
        self.place += 0.25 if action else -0.25
        self.steps += 1
        Corridor.left -= 1
        if self.fault and Corridor.left < 0:
            return self.wrong()
        stopped = bool(self.limit) and self.steps >= self.limit
        return np.array([self.place]), -1.0, self.place >= 1.0, stopped, {}

    def wrong(self) -> Any:
        place = np.array([self.place])
        faults = {
            "nan": (np.array([np.nan]), -1.0, False, False, {}),
            "reward": (place, np.inf, False, False, {}),
            "shape": (np.array([1.0, 2.0]), -1.0, False, False, {}),
        }
        if self.fault == "raises":
            raise ZeroDivisionError("the wheel came off")
        return faults[self.fault]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("nan", "nan"),
        ("reward", "inf"),
        ("shape", "shape"),
        ("raises", "the wheel came off"),
    ],
)
def test_a_fault_is_named_and_what_was_learned_is_kept(fault: str, words: str, tmp_path: Path) -> None:
    broken = configure(spec_of(Corridor(fault)), seed=1, changes=BRIEF)
    Corridor.left = 2500
    with pytest.raises(DistinguoError) as caught:
        learn_configured(broken, tmp_path / "run")
    sentence = str(caught.value)
    assert words in sentence
    assert "trial" in sentence
    assert "step" in sentence
    assert open_run(tmp_path / "run").representation.regions >= 1


def test_an_own_environment_is_learned_and_truncation_is_told_from_an_end() -> None:
    """What it means for values is in tests/test_truncation.py."""
    settings = BRIEF | {"stage.steps": 4000, "learner.epsilon_share": 0.02}
    run = learn(Corridor(limit=6), seed=1, settings=settings)
    stopped = [trial.length for trial in run.trials if trial.ended == "cap"]
    ended = [trial.length for trial in run.trials if trial.ended == "terminal"]
    assert len(stopped) + len(ended) == len(run.trials)
    assert set(stopped) == {6}
    assert ended
    assert set(ended) <= {2, 3, 4, 5, 6}


def test_bad_environments_are_refused_in_a_sentence() -> None:
    for name, words in {
        "CartPol-v1": "did you mean 'CartPole-v1'",
        "nothing like it": "any Gymnasium id",
    }.items():
        with pytest.raises(DistinguoError, match=words):
            learn(name)
    assert learn("MountainCarContinuous-v0", settings=BRIEF | {"task.levels": 3}).summary["trials"] > 0


def test_constant_coordinates_do_no_harm() -> None:
    env = gymnasium.wrappers.TransformObservation(
        Corridor(), lambda o: np.append(o, 7.0), Box(-np.inf, np.inf, shape=(2,), dtype=np.float64)
    )
    run = learn(env, seed=1, learner="economy", settings=BRIEF)
    low, high = run.representation.provenance["extent"]
    assert low[1] == high[1] == 7.0
    assert run.representation.partition.scale[1] == 1.0


# Judging by return.


def test_attempts_grow_as_they_should() -> None:
    assert [luby(n) for n in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]


def test_the_best_attempt_is_kept() -> None:
    """The score at the end is not below that of any attempt, give or take the luck of the trials."""
    changes = {"stage.steps": 12_000, "stage.confirm": 40, "stage.restart": 5}
    stage = Stage(configure("CartPole-v1", seed=9, changes=changes))
    seen = [stage.best.score for _ in stage.work() if stage.best is not None]
    assert stage.attempts > 2
    assert stage.solved or stage.score >= 0.7 * max(seen)


def test_reasons_are_of_the_regions_there_are(tmp_path: Path) -> None:
    changes = {"stage.steps": 6000, "stage.confirm": 10, "stage.restart": 5}
    run = learn("CartPole-v1", seed=9, learner="economy", settings=changes, out=tmp_path / "run")
    written = [json.loads(line) for line in (tmp_path / "run/reasons.jsonl").read_text().splitlines()]
    assert "restart" in {entry["event"] for entry in written}
    assert run.reasons == of_these_regions(written)
    places = run.representation.partition.prototypes
    for reason in run.reasons:
        for prototype, state in zip(reason["prototypes"], reason["states"], strict=True):
            assert np.array_equal(places[prototype], state)
