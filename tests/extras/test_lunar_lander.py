"""LunarLander: eight coordinates, and no way back to a state but a replay of the whole trial."""

from __future__ import annotations

import warnings
from pathlib import Path

import gymnasium
import pytest

import distinguo
from distinguo.runs.learn import learn_configured
from distinguo.tasks.catalog import task_spec
from distinguo.views import text
from distinguo.views.pictures import partition_picture
from distinguo.views.plots import draw_partition, save_figure
from tests.nightly import NIGHTLY
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
    run = distinguo.learn(LANDER, seed=1, learner="economy", settings=settings, out=tmp_path / "run")
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


@pytest.mark.skipif(not NIGHTLY, reason="it takes minutes")
def test_it_is_solved_from_scratch_by_evolution() -> None:
    run = distinguo.learn(LANDER, seed=11, learner="evolution")
    assert run.solved
    assert run.summary["score"] >= 200.0
    assert run.summary["environment_steps"] <= 1_500_000
    assert run.summary["prototypes"] <= 6


def test_evolution_is_resumed_with_the_same_bits(tmp_path: Path) -> None:
    """Starts are restored by their seeds, in another process as well."""
    brief = {"stage.steps": 3_000, "stage.confirm": 1, "learner.population": 6, "learner.warm_up": 5}
    whole = distinguo.learn(LANDER, seed=4, learner="evolution", settings=brief, out=tmp_path / "whole")
    configuration = whole.configuration
    for chunk in (4, 23):
        seen: list[int] = []

        def watch(_: object, seen: list[int] = seen, chunk: int = chunk) -> None:
            seen.append(1)
            if len(seen) == chunk:
                raise KeyboardInterrupt

        path = tmp_path / str(chunk)
        with pytest.raises(KeyboardInterrupt):
            learn_configured(configuration, path, watch)
        again = learn_configured(configuration, path)
        assert again.trials == whole.trials
        assert (path / "values.npz").read_bytes() == (tmp_path / "whole" / "values.npz").read_bytes()
