"""Agents of Stable-Baselines3, classifiers of scikit-learn and the lander as teachers."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import distinguo as dg
from distinguo.distillation.teachers import kind_of_zip, load_zip, room_of, teacher_of
from distinguo.tasks.catalog import task_spec
from tests.agents.common import CART, sb3
from tests.distillation.common import CAR, QUICKEST, refused, swing

ROWS = np.random.default_rng(0).normal(0.0, 0.05, (50, 4)).astype(np.float32).astype(np.float64)


def agent(kind: str, env: str = CART, **options: Any) -> Any:
    """Return an agent that was trained a little."""
    sb3("common.base_class")
    import stable_baselines3

    made = getattr(stable_baselines3, kind)("MlpPolicy", env, seed=0, device="cpu", **options)
    return made.learn(128)


@pytest.fixture(scope="module")
def dqn() -> Any:
    return agent("DQN", learning_starts=50, policy_kwargs={"net_arch": [16]})


def test_a_dqn_answers_as_its_predict_does_and_knows_values(dqn: Any) -> None:
    teacher = teacher_of(dqn, room_of(task_spec(CART)))
    one_by_one = [int(dqn.predict(row.astype(np.float32), deterministic=True)[0]) for row in ROWS]
    assert teacher.answer(ROWS).tolist() == one_by_one
    assert teacher.values is not None
    worth = teacher.values(ROWS)
    assert worth.shape == (50, 2)
    assert worth.argmax(axis=1).tolist() == one_by_one


def test_a_saved_dqn_is_opened_and_distilled(dqn: Any, tmp_path: Path) -> None:
    dqn.save(tmp_path / "dqn.zip")
    assert kind_of_zip(tmp_path / "dqn.zip") == "dqn"
    opened = load_zip(tmp_path / "dqn.zip")
    room = room_of(task_spec(CART))
    np.testing.assert_array_equal(teacher_of(opened, room).answer(ROWS), teacher_of(dqn, room).answer(ROWS))
    small = dg.distil(
        opened, CART, keep=1.0, settings=QUICKEST | {"learner.costs": True}, out=tmp_path / "run"
    )
    assert small.kept
    assert small.run.summary["teacher"] == "DQN"
    agree = small.fidelity.on_map == 1.0
    assert small.fidelity.per == ("" if agree else "the teacher's values")
    assert dg.open_run(tmp_path / "run").summary["fidelity"] == small.fidelity.on_map


def test_an_agent_of_another_task_is_told(dqn: Any) -> None:
    refused(lambda: dg.distil(dqn, CAR), "The teacher DQN sees Box(")


@pytest.mark.parametrize(
    ("kind", "env", "options"),
    [
        ("PPO", CART, {"n_steps": 64, "batch_size": 64, "n_epochs": 1}),
        ("A2C", CART, {"n_steps": 64}),
        ("SAC", "Pendulum-v1", {"learning_starts": 1_000}),
        ("TD3", "Pendulum-v1", {"learning_starts": 1_000}),
    ],
)
def test_zips_of_other_agents_are_told_apart(kind: str, env: str, options: Any, tmp_path: Path) -> None:
    made = agent(kind, env, policy_kwargs={"net_arch": [8]}, **options)
    made.save(tmp_path / "agent.zip")
    assert kind_of_zip(tmp_path / "agent.zip") == kind.lower()
    opened = load_zip(tmp_path / "agent.zip")
    assert type(opened).__name__ == kind
    seen = made.observation_space.sample()
    for one, other in zip(
        made.predict(seen, deterministic=True), opened.predict(seen, deterministic=True), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_a_quantile_dqn_knows_values(tmp_path: Path) -> None:
    sb3("common.base_class")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        contrib = pytest.importorskip("sb3_contrib")
    made = contrib.QRDQN(
        "MlpPolicy", CART, seed=0, learning_starts=50, policy_kwargs={"net_arch": [8]}
    ).learn(128)
    made.save(tmp_path / "qrdqn.zip")
    assert kind_of_zip(tmp_path / "qrdqn.zip") == "qrdqn"
    teacher = teacher_of(load_zip(tmp_path / "qrdqn.zip"), room_of(task_spec(CART)))
    assert teacher.values is not None
    assert teacher.values(ROWS).argmax(axis=1).tolist() == teacher.answer(ROWS).tolist()


def test_a_zip_whose_weights_are_cut_is_told(dqn: Any, tmp_path: Path) -> None:
    import zipfile

    dqn.save(tmp_path / "whole.zip")
    with zipfile.ZipFile(tmp_path / "whole.zip") as whole, zipfile.ZipFile(tmp_path / "cut.zip", "w") as cut:
        for name in whole.namelist():
            content = whole.read(name)
            cut.writestr(name, content[: len(content) // 2] if name.endswith(".pth") else content)
    refused(lambda: load_zip(tmp_path / "cut.zip"), "could not be opened (")


def test_a_tree_of_scikit_learn_is_a_teacher() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trees = pytest.importorskip("sklearn.tree")
    rows = np.random.default_rng(0).uniform([-1.2, -0.07], [0.6, 0.07], (500, 2))
    tree = trees.DecisionTreeClassifier(max_depth=3).fit(rows, [swing(row) for row in rows])
    small = dg.distil(tree, CAR, keep=-180.0, settings=QUICKEST)
    assert small.kept
    assert small.run.summary["teacher"] == "DecisionTreeClassifier"


def test_the_lander_is_distilled_in_other_processes(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("Box2D")
    settings = QUICKEST | {"learner.starts": 2, "learner.states": 200}

    def fall_upright(seen: np.ndarray) -> int:
        """Fire against the tilt, and against a fall."""
        if seen[4] + seen[5] > 0.2:
            return 3
        if seen[4] + seen[5] < -0.2:
            return 1
        return 2 if seen[3] < -0.3 else 0

    small = dg.distil(fall_upright, "LunarLander-v3", keep=-1_000.0, settings=settings, out=tmp_path / "run")
    assert small.kept
    assert 0.0 < small.fidelity.on_map <= 1.0
    assert "does not solve LunarLander-v3 itself" in small.notes[0]
    assert dg.open_run(tmp_path / "run").summary["prototypes"] == small.run.summary["prototypes"]


def test_the_lander_is_seen_in_eight_coordinates() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("Box2D")
    room = room_of(task_spec("LunarLander-v3"))
    assert (room.dimensions, room.actions) == (8, 4)
    seen, _ = gymnasium.make("LunarLander-v3").reset(seed=1)
    assert room.observation(seen).shape == (8,)
