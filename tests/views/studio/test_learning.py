"""Runs that are learned in the studio: the same ones as elsewhere, however they are watched."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distinguo
from distinguo.errors import DistinguoError
from distinguo.representations.partition import prototypes_of
from distinguo.views.studio import sources
from distinguo.views.studio.messages import Learn
from distinguo.views.studio.panes import MOST_SESSIONS, LearningSessions, catalogued, configured
from distinguo.views.studio.sources import LearningSession
from tests.views.studio.served import PATIENCE

STEP_BY_STEP = 1.0  #: environment steps per second: slower than any test waits


def asked(**wishes: Any) -> Learn:
    return Learn(do="learn", pane=0, **{"task": "puck", "seed": 1, **wishes})


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> Iterator[LearningSessions]:
    """Sessions that learn although no page shows them."""
    monkeypatch.setattr(sources, "UNWATCHED", math.inf)
    sessions = LearningSessions()
    yield sessions
    sessions.close()


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


def steps(session: LearningSession) -> int:
    return int(session.head().get("steps", 0))


def test_the_result_does_not_depend_on_how_it_is_watched(sessions: LearningSessions, tmp_path: Path) -> None:
    watched, fast = sessions.begin(asked(speed=20_000.0)), sessions.begin(asked())
    until(lambda: watched.is_over and fast.is_over)
    plain = distinguo.learn("puck", seed=1)
    for session in (watched, fast):
        run = session.run()
        ours, theirs = (
            prototypes_of(run.representation.partition),
            prototypes_of(plain.representation.partition),
        )
        assert ours is not None
        assert theirs is not None
        assert np.array_equal(ours.points, theirs.points)
        assert np.array_equal(run.q, plain.q)
        assert [row.length for row in session.trials()] == [row.length for row in plain.trials]
        counts = [frame.representation.regions for frame in session.frames()]
        assert (counts[0], counts[-1]) == (1, plain.representation.regions)
    kept = watched.keep(tmp_path)
    assert distinguo.open_run(tmp_path / kept).summary["regions"] == plain.summary["regions"]
    assert watched.keep(tmp_path) == kept
    assert [one.name for one in tmp_path.iterdir()] == [kept]


def test_a_step_is_a_step_and_a_trial_is_a_trial(sessions: LearningSessions) -> None:
    session = sessions.begin(asked(speed=STEP_BY_STEP))
    session.control("pause")
    until(lambda: session.state == "paused")
    before, version = steps(session), session.version
    for wanted in range(before + 1, before + 4):
        session.control("step")
        until(lambda: session.state == "paused" and steps(session) >= wanted)  # noqa: B023
        assert steps(session) == wanted
    assert session.version > version
    session.speed = None
    for count in (1, 2):
        session.control("trial")
        until(lambda: session.state == "paused" and len(session.trials()) >= count)  # noqa: B023
        assert len(session.trials()) == count
    assert session.run().representation.regions >= 1
    with pytest.raises(DistinguoError, match="Only a finished run can be kept"):
        session.keep(Path("nowhere"))
    session.control("close")
    until(lambda: session.is_over)
    assert session.state == "closed"


def test_a_pause_is_a_pause(sessions: LearningSessions) -> None:
    session = sessions.begin(asked(speed=50.0))
    until(lambda: steps(session) > 3)
    session.control("pause")
    until(lambda: session.state == "paused")
    before = steps(session)
    time.sleep(0.2)
    assert steps(session) == before
    session.control("run")
    until(lambda: steps(session) > before)


def test_settings_are_heard() -> None:
    assert configured(asked(epsilon=0.3, gamma=0.9)).learner.epsilon == 0.3
    assert configured(asked(epsilon=0.3, gamma=0.9)).learner.gamma == 0.9
    small = configured(asked(task="MountainCar-v0", regions=2))
    assert (small.learner_name, small.learner.regions) == ("probation", 2)
    with pytest.raises(DistinguoError, match=r"learner\.epsilon should be greater than 0, got -1"):
        configured(asked(epsilon=-1.0))


@pytest.mark.parametrize(
    "name", ["own.py:Task", "os:system-v0", "tests.views.runs:Glider-v0", "../up/Task-v0"]
)
def test_no_message_names_code(name: str) -> None:
    with pytest.raises(DistinguoError, match="tasks of the catalogue alone"):
        catalogued(name)


def test_there_are_a_few_sessions_at_a_time(sessions: LearningSessions) -> None:
    begun = [sessions.begin(asked(seed=n, speed=STEP_BY_STEP)) for n in range(MOST_SESSIONS)]
    for one in begun:
        one.watchers = 1
    with pytest.raises(DistinguoError, match="close one of them first"):
        sessions.begin(asked())
    sessions.begin(asked(instead=begun[0].identity, speed=STEP_BY_STEP)).watchers = 1
    begun[2].watchers = begun[3].watchers = 0  # the older one of them makes room
    sessions.begin(asked(speed=STEP_BY_STEP))
    until(lambda: begun[0].is_over and begun[2].is_over)
    assert not begun[3].is_over
    for gone in (begun[0], begun[2]):
        with pytest.raises(DistinguoError, match="That session is over"):
            sessions.source(gone.identity)


def test_an_environment_that_fails_ends_its_session_alone(sessions: LearningSessions) -> None:
    import gymnasium
    from gymnasium.envs.registration import EnvSpec, registry

    class Failing(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
        action_space = gymnasium.spaces.Discrete(2)
        count = 0

        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            return np.zeros(1, dtype=np.float32), {}

        def step(self, action: Any) -> Any:
            Failing.count += 1
            if Failing.count > 40:
                raise RuntimeError("the wire is cut")
            return np.zeros(1, dtype=np.float32), 0.0, False, False, {}

    registry["FailingInStudio-v0"] = EnvSpec("FailingInStudio-v0", entry_point=Failing)
    try:
        session = sessions.begin(asked(task="FailingInStudio-v0"))
        until(lambda: session.is_over)
    finally:
        del registry["FailingInStudio-v0"]
    assert session.state == "failed"
    assert "the wire is cut" in session.head()["words"]
