"""Tasks that cannot be learned, or hardly: a run comes back that says so, its best map is kept, its folder opens."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import distinguo as dg
from distinguo.runs.folder import open_run
from distinguo.runs.learn import learn
from distinguo.runs.run import Run

LINE: dict[str, Any] = {"states": ("x",), "actions": ("left", "right"), "low": (-30,), "high": (30,)}
PLAIN: dict[str, Any] = {"compiled": False}
#: No imagining, which takes long in plain Python.
BRIEF = {"stage.steps": 1500, "stage.confirm": 25, "learner.screen": 1}


class Walk(NamedTuple):
    """Walk along a line: all tasks below are like it but for one thing."""

    goal: float = 6.0

    def transition(self, s: Any, a: int) -> Any:
        x = s[0] + (1.0 if a == 1 else -1.0)
        return (x,), -1.0, abs(x) >= self.goal

    def start(self, rng: np.random.Generator) -> Any:
        return (float(int(rng.random() * 3)),)


def like(base: Any, name: str, **bodies: Any) -> Any:
    """Return a class of tasks with some of its functions replaced."""
    kind = namedtuple(name, ["goal"], defaults=[6.0])  # type: ignore[misc]
    usual = {word: vars(base)[word] for word in ("transition", "start")}
    for word, body in {**usual, **bodies}.items():
        setattr(kind, word, body)
    return kind


def moved(s: Any, a: int) -> tuple[float]:
    return (s[0] + (1.0 if a == 1 else -1.0),)


def nothing_gained(self: Any, s: Any, a: int) -> Any:
    x = moved(s, a)
    return x, 0.0, abs(x[0]) >= self.goal


def never_ending(self: Any, s: Any, a: int) -> Any:
    x = moved(s, a)
    return x, -abs(x[0]) / 100.0, False


def nothing_seen(self: Any, s: Any) -> Any:
    return (0.5,)


def declared(name: str, bodies: dict[str, Any], **options: Any) -> Any:
    return dg.task(**{**LINE, **PLAIN, **options})(like(Walk, name, **bodies))()


ODD: dict[str, Any] = {
    "returns never vary": lambda: declared(
        "Worthless", {"transition": nothing_gained}, threshold=1.0, limit=20
    ),
    "trials never end": lambda: declared("Endless", {"transition": never_ending}, threshold=5.0),
    "observations are constant": lambda: declared(
        "Blind", {"observe": nothing_seen}, threshold=5.0, limit=20, observations=("c",), low=(0,), high=(1,)
    ),
    "the budget is too small": lambda: declared("Hard", {}, threshold=0.0, limit=20),
    "no threshold is known": lambda: declared("Open", {}, score="return", limit=20),
}


def learned(name: str, path: Path, **changes: Any) -> Run:
    run = learn(ODD[name](), seed=1, settings={**BRIEF, **changes}, out=path)
    again = open_run(path)
    assert again.summary == run.summary
    assert again.q.tobytes() == run.q.tobytes()
    assert again.action((0.0,)) in ("left", "right")
    return run


@pytest.mark.parametrize("name", ODD)
def test_an_odd_task_gives_a_run_that_is_not_solved(name: str, tmp_path: Path) -> None:
    few = {"stage.steps": 400} if name == "observations are constant" else {}  # thousands of maps for a step
    run = learned(name, tmp_path / "run", **few)
    assert not run.solved
    assert run.configuration.learner_name == "probation"
    assert run.summary["prototypes"] == len(run.representation.partition.prototypes) >= 1
    # a trial is cut where coming back to it would take more than is left
    unspent = run.configuration.stage.steps - run.summary["environment_steps"]
    assert 0 <= unspent <= run.configuration.learner.horizon
    assert np.isfinite(run.summary["score"])


def test_the_best_map_is_kept() -> None:
    """From 0, 1 or 2 the nearer end is four to six steps away: the map that is left goes there."""
    run = learn(ODD["no threshold is known"](), seed=2, settings=BRIEF)
    assert run.summary["score"] >= -6.0


@pytest.mark.parametrize("seed", range(6))
def test_one_action_everywhere_may_be_enough(seed: int) -> None:
    """It is found in a trial or two, and no map is left without a prototype."""
    task = declared(
        "Easy", {"start": lambda self, rng: (float(int(rng.random() * 3)) + 2.0,)}, threshold=-7.0
    )
    run = learn(task, seed=seed, settings=BRIEF)
    assert run.solved
    assert run.summary["prototypes"] == 1
    assert run.summary["environment_steps"] <= 100


def test_a_single_start_from_which_all_is_known_does_not_hang() -> None:
    """Where every trial is one step long, two trials are all there is to know."""
    task = declared("Step", {"start": lambda self, rng: (5.5,)}, threshold=5.0, high=(6,), low=(-6,), limit=1)
    run = learn(task, seed=1, settings=BRIEF | {"stage.steps": 60})
    assert not run.solved
    assert run.summary["environment_steps"] >= 60


def test_labels_are_refused_in_a_sentence() -> None:
    with pytest.raises(dg.DistinguoError, match="needs observations that are numbers"):
        learn("FrozenLake-v1", learner="probation", settings={"stage.steps": 100})


def test_given_prototypes_are_refused_and_not_ignored() -> None:
    with pytest.raises(dg.DistinguoError, match="cannot begin from given ones"):
        learn("MountainCar-v0", learner="probation", prototypes=[(0.0, 0.0)])
