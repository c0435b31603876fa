"""Parti-game as a learner: it reaches goals, what it reports is what was tested, and it refuses what it cannot do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.learners.agent import TERMINAL
from distinguo.learners.learner import learner_named, leaves
from distinguo.representations.partition import count_regions, region
from distinguo.runs.configuration import configure
from distinguo.runs.stage import Stage
from distinguo.tasks.maze import Maze
from distinguo.tasks.mountain_car import MountainCar
from distinguo.tasks.task import transition
from distinguo_lab.learners.partigame.learner import PARTI_GAME
from distinguo_lab.learners.partigame.memory import NOTHING, PartiMemory, fresh_parti
from distinguo_lab.learners.partigame.model import (
    action_towards,
    cell_boxes,
    drawn_controller,
    keep_model,
    learn_models,
)
from distinguo_lab.learners.partigame.trials import aimed_action, set_place, take_aim
from tests.nightly import NIGHTLY, interpreted_by_day, so_many

LEARNER = learner_named(PARTI_GAME)
SEEDS = so_many(5, nightly=50)


def stage_for(task: str, seed: int, **changes: Any) -> Stage:
    asked = {f"learner.{name}": value for name, value in changes.items()}
    return Stage(configure(task, seed=seed, learner=PARTI_GAME, changes=asked))


def trials(stage: Stage, steps: int) -> list[bool]:
    """Run trials for so many steps at least; return which came to the goal."""
    arrived = []
    while stage.agent.progress.counts["trial_steps"][0] < steps:
        LEARNER.begin(stage.agent)
        arrived.append(LEARNER.advance(stage.agent, stage.cap, stage.cap) == TERMINAL)
    return arrived


@pytest.fixture(scope="module")
def runs() -> list[dg.Run]:
    return [dg.learn("maze", seed=seed, learner=PARTI_GAME) for seed in range(SEEDS)]


def test_the_maze_is_solved_and_not_at_twice_the_price(runs: list[dg.Run]) -> None:
    assert sum(run.solved for run in runs) >= 0.8 * SEEDS
    figures = [run.summary for run in runs]
    assert np.median([f["first_arrival_steps"] for f in figures]) < 1_000  # 510 over 20 seeds
    assert np.median([f["environment_steps"] for f in figures]) < 2_000
    assert np.median([f["cells"] for f in figures]) < 110


def test_what_is_reported_acts(runs: list[dg.Run]) -> None:
    """The controller of a solved run, taken out of it, reaches the goal from new starts as often as was reported."""
    run = next(run for run in runs if run.solved)
    played = dg.rollout(run, seed=99, steps=300)
    assert played.rewards.sum() > 2 * run.summary["score"]


def test_the_map_for_others_is_the_cells(runs: list[dg.Run]) -> None:
    for run in runs:
        assert run.carried is not None
        assert run.carried.regions == run.summary["cells"] == run.summary["representation_regions"]
        assert run.summary["regions"] >= run.summary["cells"]


def test_a_run_is_resumed_with_the_same_bits(tmp_path: Path) -> None:
    whole = stage_for("maze", 3)
    trials(whole, 3_000)
    parts = stage_for("maze", 3)
    LEARNER.begin(parts.agent)
    while parts.agent.progress.counts["trial_steps"][0] < whole.agent.progress.counts["trial_steps"][0]:
        ended = LEARNER.advance(parts.agent, parts.cap, 7)
        drawn_controller(parts.agent.memory, parts.agent.settings)  # looking on changes nothing
        if ended and parts.agent.progress.counts["trials"][0] < whole.agent.progress.counts["trials"][0]:
            LEARNER.begin(parts.agent)
    assert same_but_for_scratch(whole.agent.memory, parts.agent.memory)


SCRATCH = {"lower", "upper", "centre", "draft", "system"}  #: what drawing uses, too


def same_but_for_scratch(one: PartiMemory, other: PartiMemory) -> bool:
    ours, theirs = leaves(one), leaves(other)
    return all(np.array_equal(ours[name], theirs[name]) for name in ours if name not in SCRATCH)


def test_compiled_and_interpreted_are_the_same_bits() -> None:
    compiled = stage_for("maze", 5)
    trials(compiled, 700)
    with interpreted_by_day(Maze):
        plain = stage_for("maze", 5)
        trials(plain, 700)
    assert same_but_for_scratch(compiled.agent.memory, plain.agent.memory)
    assert compiled.agent.memory.counters["splits"][0] > 3


def test_the_drawn_controller_is_the_one_that_acts() -> None:
    """Anywhere in the space, the controller takes the action that the learner would take if it aimed there now."""
    stage = stage_for("maze", 2)
    trials(stage, 4_000)
    memory, settings = stage.agent.memory, stage.agent.settings
    controller, rng = drawn_controller(memory, settings), np.random.default_rng(0)
    cells = cell_boxes(memory)
    for place in rng.random((300, 2)):
        set_place(memory, tuple(place.tolist()))
        take_aim(memory, settings)
        here = memory.counters["here"][0]
        box = [memory.low[here], memory.high[here]]
        assert (box[0] <= place).all()
        assert (place <= box[1]).all()
        if here != memory.counters["goal"][0]:
            assert controller.action(tuple(place)) == aimed_action(memory, settings.fineness)
    assert count_regions(cells) == memory.counters["cells"][0]
    assert len({region(cells, tuple(p)) for p in rng.random((500, 2)).tolist()}) > count_regions(cells) / 4


@pytest.mark.skipif(not NIGHTLY, reason="plain Python takes long to get up the hill")
def test_a_car_reaches_its_goal_in_the_first_trials() -> None:
    with interpreted_by_day(MountainCar):
        arrived = [any(trials(stage_for("MountainCar-v0", seed), 3_000)) for seed in range(3)]
        assert sum(arrived) >= 2  # half of all seeds arrive within 1,200 steps


def test_a_local_model_finds_linear_dynamics() -> None:
    memory, rng = fresh_parti(4, 2, actions=3), np.random.default_rng(0)
    slopes, own = rng.normal(size=(2, 2)), rng.normal(size=(3, 2))
    for place in rng.random((60, 2)):
        a = int(rng.integers(3))
        learn_models(memory, place, a, place @ slopes + own[a])
    assert not keep_model(memory, 0, enough=61)
    assert keep_model(memory, 0, enough=5)
    assert np.allclose(memory.models[0], np.vstack([slopes, own]), atol=1e-3)
    centre, place = np.array([0.5, 0.5]), np.array([0.3, 0.9])
    expected = [np.linalg.norm(place + place @ slopes + own[a] - centre) for a in range(3)]
    assert action_towards(memory, memory.models[0], place, 0) == int(np.argmin(expected))


@pytest.mark.parametrize(
    ("task", "words", "said"),
    [
        ("puck", {}, "needs a goal"),
        ("CartPole-v1", {}, "needs a goal"),
        ("FrozenLake-v1", {"is_slippery": False}, "needs a goal"),
        ("maze", {"noisy_actions": 0.1}, "this task is stochastic"),
    ],
)
def test_what_it_cannot_learn(task: str, words: dict[str, Any], said: str) -> None:
    changes = {f"task.{name}": value for name, value in words.items()}
    with pytest.raises(DistinguoError, match=said) as caught:
        dg.learn(task, learner=PARTI_GAME, settings=changes)
    assert len(str(caught.value).splitlines()) == 1


def test_it_begins_from_no_prototypes() -> None:
    with pytest.raises(DistinguoError, match="omit them"):
        dg.learn("maze", learner=PARTI_GAME, prototypes=[[0.1, 0.1], [0.9, 0.9]])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("aimed_at", 10**6),
        ("result", -3),
        ("next_outcome", 10**6),
        ("below", 10**6),
        ("node", -1),
        ("parent", 5),
    ],
)
def test_a_memory_from_a_file_cannot_lead_astray(name: str, value: int) -> None:
    stage = stage_for("maze", 1)
    with interpreted_by_day(Maze):
        trials(stage, 500)
    memory, fresh = stage.agent.memory, stage_for("maze", 1).agent.memory
    assert LEARNER.checked(memory, fresh) is memory
    getattr(memory, name)[0] = value
    with pytest.raises(ValueError, match="outside of its table"):
        LEARNER.checked(memory, fresh)


def test_the_goal_is_where_trials_end() -> None:
    """The boxes that tasks name: every state that is observed in one of them is terminal."""
    rng = np.random.default_rng(4)
    for name in ("maze", "MountainCar-v0", "Acrobot-v1"):
        memory = stage_for(name, 0).agent.memory
        goal = int(memory.counters["goal"][0])
        low, high = (
            memory.low[goal] * memory.width + memory.origin,
            memory.high[goal] * memory.width + memory.origin,
        )
        assert goal != NOTHING
        assert (low < high).all()
        if name == "Acrobot-v1":  # the angles whose cosines are in the box
            for lean in rng.uniform(-1, 1, (200, 2)) * np.arccos(low[2]) * 0.999:
                assert -np.cos(np.pi + lean[0]) - np.cos(np.pi + lean.sum()) > 1.0
    assert transition(MountainCar(), (0.49, 0.05), 2)[2]


def test_a_trial_that_is_stopped_is_a_stuck_aim() -> None:
    """Where time does not count, a way that is too long would be taken again for ever."""
    for counts in (True, False):
        with interpreted_by_day(Maze):
            stage = stage_for("maze", 0, time_counts=counts)
            LEARNER.begin(stage.agent)
            LEARNER.advance(stage.agent, 43, 43)
            memory = stage.agent.memory
            assert (memory.counters["here"][0] == NOTHING) == counts
            last = int(memory.counters["outcomes"][0]) - 1
            assert not counts or memory.source[last] == memory.result[last]


def test_too_few_cells_for_the_goal_are_refused() -> None:
    """They were cut out of arrays that had no room for them."""
    for most in (2, 4):
        with pytest.raises(DistinguoError, match=r"by 5 cells, and learner\.most_cells is"):
            stage_for("maze", 1, most_cells=most)
    assert trials(stage_for("maze", 1, most_cells=5), 200)
