"""Trials in other processes: the same bits as here, whatever becomes of the processes."""

from __future__ import annotations

import io
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from distinguo.distillation.trials import Contender, EnvironmentTrials
from distinguo.distillation.worker import answer_all
from distinguo.distillation.workers import WorkerTrials
from distinguo.tasks.catalog import task_spec
from tests.distillation.common import CAR, RESTING, STALLING, SWINGING, refused

CAP = 120
STARTS = [3, 1, 4, 1, 5, 9, 2**31 - 2]

#: An environment that prints, and fails or ends the process from some starts.
FRAGILE = """
import os
import gymnasium
import numpy as np

class Fragile(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-10.0, 10.0, (2,), np.float64)
    action_space = gymnasium.spaces.Discrete(2, start=5)

    def reset(self, *, seed=None, options=None):
        print("a line of its own")
        super().reset(seed=seed)
        self.seed_of_trial, self.place = seed, self.np_random.normal(size=2)
        return self.place.copy(), {}

    def step(self, action):
        if self.seed_of_trial == 77:
            raise ValueError("the rope\\nbroke")
        if self.seed_of_trial == 99:
            os._exit(1)
        self.place = np.clip(0.9 * self.place + self.np_random.normal(size=2), -9.0, 9.0)
        return self.place.copy(), float(self.place[0] * (action - 5.5)), False, False, {}

gymnasium.register("Fragile-v0", entry_point=Fragile, max_episode_steps=30)
"""


@contextmanager
def workers(spec: Any, cap: int, count: int) -> Iterator[WorkerTrials]:
    trials = WorkerTrials(spec, cap, count)
    try:
        yield trials
    finally:
        trials.close()


@pytest.fixture(scope="module")
def car() -> Any:
    return task_spec(CAR, {}, interpreted=True)


@pytest.fixture(scope="module")
def three(car: Any) -> Iterator[WorkerTrials]:
    with workers(car, CAP, 3) as trials:
        yield trials


@pytest.fixture
def fragile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "fragile_env.py").write_text(FRAGILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield task_spec("fragile_env:Fragile-v0")
    gymnasium.registry.pop("Fragile-v0", None)
    sys.modules.pop("fragile_env", None)


def test_an_environment_is_run_as_gymnasium_does(car: Any) -> None:
    here = EnvironmentTrials(car, CAP)
    followed = here.follow(SWINGING, [3])
    env = gymnasium.make(CAR).unwrapped
    now, _ = env.reset(seed=3)
    gained = 0.0
    for seen, a in zip(followed.seen, followed.taken, strict=True):
        np.testing.assert_array_equal(seen, np.asarray(now, dtype=np.float64))
        assert a == SWINGING.choose(seen[None])[0]
        now, reward, terminated, _, _ = env.step(int(a))
        gained += float(reward)
    assert [gained] == followed.returns.tolist()
    assert terminated == (len(followed.taken) < CAP)
    assert here.count == (1, len(followed.taken))


def test_other_processes_give_the_same_bits(car: Any, three: WorkerTrials) -> None:
    here = EnvironmentTrials(car, CAP)
    contenders = [Contender(map_, STARTS) for map_ in (SWINGING, RESTING, STALLING)]
    before = three.count
    for mine, theirs in zip(here.judge(contenders), three.judge(contenders), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert three.count == before.more(*here.count)
    for mine, theirs in zip(here.follow(SWINGING, STARTS), three.follow(SWINGING, STARTS), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert mine.shape == theirs.shape
        assert mine.dtype == theirs.dtype


def test_a_teacher_is_asked_in_this_process(car: Any, three: WorkerTrials) -> None:
    asked: list[np.ndarray] = []

    def decide(rows: np.ndarray) -> np.ndarray:
        asked.append(rows)
        return SWINGING.choose(rows)

    followed = three.follow_teacher(decide, [1, 2])
    np.testing.assert_array_equal(np.concatenate(asked), followed.seen)
    np.testing.assert_array_equal(followed.taken, three.follow(SWINGING, [1, 2]).taken)


def test_how_many_there_are_does_not_matter(car: Any, three: WorkerTrials) -> None:
    contenders = [Contender(map_, STARTS) for map_ in (SWINGING, RESTING)]
    with workers(car, CAP, 1) as one:
        for mine, theirs in zip(one.judge(contenders), three.judge(contenders), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        for mine, theirs in zip(one.follow(SWINGING, STARTS), three.follow(SWINGING, STARTS), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_a_map_that_is_behind_is_given_up_there_too(car: Any, three: WorkerTrials) -> None:
    starts = list(range(12))
    present = np.zeros(12)  # better than any can be
    given_up = three.judge([Contender(RESTING, starts, present)])[0]
    assert given_up.tolist() == [-float(CAP)] * 5


def test_a_process_that_is_killed_is_started_again(car: Any) -> None:
    with workers(car, CAP, 2) as trials:
        contenders = [Contender(SWINGING, STARTS), Contender(RESTING, STARTS)]
        before, count = trials.judge(contenders), trials.count
        killed = 0
        for _ in range(2):
            worker = trials._free.get()
            if worker._process is not None:
                worker._process.send_signal(signal.SIGKILL)
                worker._process.wait()
                killed += 1
            trials._free.put(worker)
        assert killed >= 1
        for one, other in zip(before, trials.judge(contenders), strict=True):
            np.testing.assert_array_equal(one, other)
        assert trials.count == count.more(*count)


def test_processes_end_with_the_trials(car: Any) -> None:
    trials = WorkerTrials(car, CAP, 1)
    trials.judge([Contender(RESTING, [1])])
    worker = trials._free.get()
    trials._free.put(worker)
    process = worker._process
    assert process is not None
    assert process.poll() is None
    trials.close()
    assert process.poll() is not None


def test_an_error_of_the_environment_comes_back_as_a_sentence(fragile: Any) -> None:
    with workers(fragile, 20, 1) as trials:
        refused(
            lambda: trials.judge([Contender(SWINGING._replace(actions=np.array([0, 1])), [77])]),
            "Fragile-v0 failed (ValueError: the rope broke), in trial 77 at step 1; fix the environment.",
        )
        map_ = SWINGING._replace(
            actions=np.array([0, 1])
        )  # and others can still be asked, whatever is printed
        here = EnvironmentTrials(fragile, 20).judge([Contender(map_, [1, 2])])[0]
        np.testing.assert_array_equal(trials.judge([Contender(map_, [1, 2])])[0], here)


def test_a_process_that_always_dies_is_told(fragile: Any) -> None:
    with workers(fragile, 20, 1) as trials:
        map_ = SWINGING._replace(actions=np.array([0, 1]))
        refused(lambda: trials.judge([Contender(map_, [99])]), "died 3 times at the same question")


def test_a_worker_is_a_stream_of_lines() -> None:
    question = {
        "do": "judge",
        **{name: getattr(RESTING, name).tolist() for name in ("prototypes", "actions", "scale")},
        "starts": [1, 2],
        "present": None,
        "laws": None,
    }
    lines = [{"task": CAR, "parameters": {}, "cap": 9}, question, question | {"do": "follow"}]
    out = io.StringIO()
    answer_all(io.StringIO("".join(json.dumps(line) + "\n" for line in lines)), out)
    judged, followed = map(json.loads, out.getvalue().splitlines())
    assert judged == {"returns": [-9.0, -9.0], "count": [2, 18]}
    assert followed["lengths"] == [9, 9]
    assert len(followed["seen"]) == 18
    assert followed["count"] == [2, 18]


def test_a_worker_that_cannot_make_the_task_says_so() -> None:
    out = io.StringIO()
    answer_all(io.StringIO('{"task": "Nowhere-v0", "parameters": {}, "cap": 9}\n{"do": "judge"}\n'), out)
    assert "Nowhere-v0" in json.loads(out.getvalue())["error"]


def test_a_trial_goes_on_with_the_teacher(car: Any) -> None:
    here = EnvironmentTrials(car, CAP)
    whole = here.follow(SWINGING, [5])
    moves = whole.taken[:10].tolist()
    assert here.gained_instead(SWINGING.choose, 5, moves, []) == whole.returns[0]
    assert here.gained_instead(RESTING.choose, 5, moves, [0] * 5) == -float(CAP)
