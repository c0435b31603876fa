"""The learner on a kd-tree: its lessons against a plain recursion, its runs over seeds, its bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.learners.learner import leaves
from distinguo.representations.boxes import leaf_boxes
from distinguo.representations.file import dumps
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn_configured
from distinguo.runs.stage import Stage
from distinguo.tasks.puck.puck import Puck
from distinguo_lab.growing_boxes import growing_boxes, halve_evenly
from distinguo_lab.learners.kdtree.learner import KdTree
from distinguo_lab.learners.kdtree.memory import KdTreeMemory, KdTreeSettings, fresh_kd_tree
from distinguo_lab.learners.kdtree.trials import learn_from_stack, stack_step
from tests.nightly import interpreted_by_day, so_many

Step = tuple[int, int, float]


def memory_of(values: list[list[float]], stack: int = 16) -> KdTreeMemory:
    tree = growing_boxes([0.0], [1.0], room=4)
    halve_evenly(tree, 4)
    memory = fresh_kd_tree(tree, actions=2, stack=stack)
    memory.q[:] = values
    return memory


def taught(
    values: list[list[float]], steps: list[Step], v_last: float, settings: KdTreeSettings
) -> list[list[float]]:
    """Learn from the steps by the book: lambda-returns, the latest first, cut where an action was not preferred."""
    q, counts = [row[:] for row in values], [[0, 0] for _ in values]
    stays: list[list[Any]] = []
    for leaf, action, reward in steps:
        explored = values[leaf][action] < max(values[leaf])
        if settings.hold and stays and stays[-1][:2] == [leaf, action]:
            stays[-1][2].append(reward)
        else:
            stays.append([leaf, action, [reward], explored])
    returned, value = v_last, v_last
    for leaf, action, rewards, explored in reversed(stays):
        mixed = (1.0 - settings.lambda_) * value + settings.lambda_ * returned
        returned = sum(r * settings.gamma**n for n, r in enumerate(rewards))
        returned += settings.gamma ** len(rewards) * mixed
        counts[leaf][action] += 1
        rate = max(settings.alpha, 1.0 / counts[leaf][action])
        q[leaf][action] += rate * (returned - q[leaf][action])
        value = max(q[leaf])
        returned = value if explored else returned
    return q


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.floats(-2, 2)), max_size=12),
    st.lists(st.lists(st.floats(-5, 5), min_size=2, max_size=2), min_size=4, max_size=4),
    st.floats(-5, 5),
    st.booleans(),
    st.sampled_from([0.0, 0.7, 1.0]),
)
def test_lessons_are_lambda_returns(
    steps: list[Step], values: list[list[float]], v_last: float, hold: bool, lambda_: float
) -> None:
    settings = KdTreeSettings(gamma=0.9, alpha=0.3, lambda_=lambda_, hold=hold)
    memory = memory_of(values)
    for step in steps:
        stack_step(memory, settings, *step)
    learn_from_stack(memory, settings, v_last)
    assert np.allclose(memory.q, taught(values, steps, v_last, settings), rtol=1e-9, atol=1e-9)
    assert memory.counters["stacked"][0] == 0


SHORT = {"stage.cap": 10_000, "stage.hold": 10_000, "stage.steps": 400_000}
SEEDS = so_many(10, nightly=60)


@pytest.fixture(scope="module")
def runs() -> list[dg.Run]:
    return [dg.learn("puck", seed=seed, learner="kd-tree", settings=SHORT) for seed in range(SEEDS)]


def test_the_puck_is_held_without_resets(runs: list[dg.Run]) -> None:
    """Seeds 0-59 had 58 of 60 at full length, with 94 leaves and 82,000 steps in the median."""
    summaries = [run.summary for run in runs]
    assert sum(s["solved"] for s in summaries) >= 0.9 * SEEDS
    assert 65 <= np.median([s["regions"] for s in summaries]) <= 140
    assert np.median([s["environment_steps"] for s in summaries]) <= 140_000
    assert all(s["investigation_steps"] == 0 for s in summaries)


def test_what_is_learned_is_a_map_like_any_other(runs: list[dg.Run], tmp_path: Path) -> None:
    run = runs[0]
    path = tmp_path / "map.json"
    path.write_text(dumps(run.representation))
    again = dg.load(path)
    rows = np.random.default_rng(0).uniform((-2.4, -5.5), (2.4, 5.5), (200, 2)).tolist()
    assert [dg.region(again.partition, s) for s in rows] == [run.controller.region(s) for s in rows]
    assert len(leaf_boxes(again.partition)) == again.regions == run.summary["regions"]


def test_compiled_and_interpreted_are_the_same() -> None:
    few = {"stage.steps": 2_000, "learner.interval": 5, "learner.enough": 3, "learner.explore": 0.1}
    compiled = Stage(configure("puck", seed=3, learner="kd-tree", changes=few))
    for _ in compiled.work():
        pass
    with interpreted_by_day(Puck):
        plain = Stage(configure("puck", seed=3, learner="kd-tree", changes=few))
        for _ in plain.work():
            pass
    assert plain.environment_steps == compiled.environment_steps == 2_000
    assert compiled.agent.memory.counters["halved"][0] > 10
    ours, theirs = leaves(compiled.agent.memory), leaves(plain.agent.memory)
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours | theirs)


class _Stop(Exception):
    """A run was stopped."""


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distinguo.runs.stage.CHUNK", 700)
    few = {"stage.steps": 5_000, "learner.interval": 5, "learner.enough": 3, "learner.explore": 0.1}
    configuration = configure("puck", seed=3, learner="kd-tree", changes=few)
    whole = learn_configured(configuration, tmp_path / "whole")

    def stop(stage: Stage) -> None:
        if stage.environment_steps >= 2_300:
            raise _Stop

    with pytest.raises(_Stop):
        learn_configured(configuration, tmp_path / "again", stop)
    again = learn_configured(configuration, tmp_path / "again")
    assert np.array_equal(whole.controller.q, again.controller.q)
    assert whole.summary["regions"] == again.summary["regions"] > 70


def test_a_memory_that_leads_astray_is_refused() -> None:
    learner, fresh, memory = KdTree(), memory_of([[0.0, 0.0]] * 4), memory_of([[0.0, 0.0]] * 4)
    assert learner.checked(memory, fresh) is memory
    memory.counters["stacked"], memory.leaf[0] = 1, 9
    with pytest.raises(ValueError, match="stack"):
        learner.checked(memory, fresh)


@pytest.mark.parametrize(
    ("task", "words", "sentence"),
    [
        ("FrozenLake-v1", {}, "categories"),
        ("puck", {"prototypes": [[0.0, 0.0]]}, "prototypes"),
        ("puck", {"settings": {"learner.hlod": True}}, "hold"),
    ],
)
def test_bad_input(task: str, words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DistinguoError, match=sentence) as caught:
        dg.learn(task, learner="kd-tree", **words)
    assert len(str(caught.value).splitlines()) == 1
