"""LunarLander: eight coordinates, and no way back to a state but a replay of the whole trial."""

from __future__ import annotations

import warnings
from pathlib import Path

import gymnasium
import pytest

import distinguo
from distinguo.tasks.catalog import task_spec
from distinguo.views import text
from distinguo.views.pictures import partition_picture
from distinguo.views.plots import draw_partition, save_figure
from tests.runs.test_any_task import BRIEF
from tests.tasks.gym import test_snapshots as snapshots
from tests.views import test_tiles as tiles
from tests.views.runs import made_up

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # whatever its import warns of is not ours
    pytest.importorskip("Box2D")

LANDER = "LunarLander-v3"


def test_it_is_put_back_by_replay_while_it_is_learned(tmp_path: Path) -> None:
    settings = BRIEF | {"stage.steps": 2500, "stage.confirm": 1}
    run = distinguo.learn(LANDER, seed=1, settings=settings, out=tmp_path / "run")
    assert "replay" in run.configuration.spec.note
    assert run.summary["investigation_steps"] > 0


def test_it_is_restored_by_replay_and_is_stochastic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(snapshots.KNOWN, LANDER, ("replay", True))
    snapshots.test_the_method_is_found(LANDER)
    snapshots.test_noise_differs_ahead_but_the_trial_keeps_its_own(LANDER)


def test_memories_let_another_process_go_on() -> None:
    snapshots.test_memories_let_another_process_go_on(LANDER)


@pytest.mark.parametrize("count", [1, 30, 200])
def test_it_is_drawn(count: int, tmp_path: Path) -> None:
    tiles.assert_drawn(made_up(LANDER, count), tmp_path)


def test_its_letters_are_the_actions() -> None:
    tiles.assert_letters_are_actions(made_up(LANDER, 200))


def test_what_was_learned_is_shown(tmp_path: Path) -> None:
    run = distinguo.learn(LANDER, seed=2, settings=tiles.SMALL)
    save_figure(draw_partition(partition_picture(run)), tmp_path / "a.png")
    assert tiles.letters(run) or run.representation.regions == 1  # which is said in a sentence
    assert "region" in text.regions_table(run)
    assert text.reasons_table(run)


def test_its_names_are_those_of_the_right_numbers() -> None:
    spec = task_spec(LANDER)
    x, y, vx, vy, angle, spin = (
        spec.dimensions.index(name) for name in ("x", "y", "vx", "vy", "angle", "spin")
    )
    env = gymnasium.make(LANDER)
    before, _ = env.reset(seed=5)
    for _ in range(30):  # before it lands
        seen, *_ = env.step(spec.actions.index("left_engine"))
        moved = seen - before
        for place, speed in ((x, vx), (y, vy), (angle, spin)):
            assert moved[place] * seen[speed] > 0.0
        before = seen
    assert seen[spin] > 0.1  # the left engine turns it counterclockwise
