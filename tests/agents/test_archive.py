"""An agent's file: the same bits afterwards, and a sentence for every damage."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import distinguo
from distinguo.agents import session as archive
from distinguo.agents.economy import Economy
from distinguo.errors import DistinguoError
from tests.agents.common import CART, QUICK, assert_same


@pytest.mark.parametrize(("task", "steps"), [("puck", 1_234), ("puck", 20_000), (CART, 6_000)])
def test_learning_goes_on_with_the_same_bits(task: str, steps: int, tmp_path: Path) -> None:
    one = Economy(task, seed=3).learn(steps)
    one.save(tmp_path / "agent")
    other = Economy.load(tmp_path / "agent")
    assert other.num_timesteps == one.num_timesteps
    np.testing.assert_array_equal(one.q, other.q)
    assert other.summary == one.summary
    for agent in (one, other):
        agent.learn(5_000, reset_num_timesteps=False)
    assert other.num_timesteps == one.num_timesteps
    assert_same(one, other)
    never = Economy(task, seed=3).learn(one.num_timesteps)  # neither stopped nor saved
    assert_same(one, never)


def test_learning_goes_on_in_an_environment_object(tmp_path: Path) -> None:
    one = Economy(gymnasium.make(CART), seed=3).learn(2_000)
    one.save(tmp_path / "agent.zip")
    other = Economy.load(tmp_path / "agent.zip", env=gymnasium.make(CART))
    for agent in (one, other):
        agent.learn(1_500)
    assert_same(one, other)


def test_an_agent_without_its_environment_can_act(tmp_path: Path) -> None:
    one = Economy(gymnasium.make("Blackjack-v1"), seed=3).learn(1_000)
    one.save(tmp_path / "agent")
    other = Economy.load(tmp_path / "agent")
    for observation in [(12, 5, 0), (20, 10, 1)]:
        assert other.predict(observation)[0] == one.predict(observation)[0]


def test_one_that_learned_nothing_yet_can_be_saved(tmp_path: Path) -> None:
    fresh = Economy("puck", seed=6)
    fresh.save(tmp_path / "fresh")
    assert_same(Economy.load(tmp_path / "fresh").learn(5_000), fresh.learn(5_000))


def test_one_that_only_acts_can_be_saved_again(tmp_path: Path) -> None:
    Economy("puck", seed=6, settings=QUICK).learn(1_000_000).save(tmp_path / "a")
    agent = Economy.load(tmp_path / "a")
    assert agent.solved
    agent.save(tmp_path / "b")
    assert archive.read(tmp_path / "a")[0] == archive.read(tmp_path / "b")[0]


def test_a_run_folder_is_loaded(tmp_path: Path) -> None:
    run = distinguo.learn("puck", seed=1, settings=QUICK, out=tmp_path / "run")
    agent = Economy.load(tmp_path / "run")
    assert agent.solved
    np.testing.assert_array_equal(agent.q, run.q)
    assert int(agent.predict((0.5, 1.0))[0]) == 0
    assert agent.num_timesteps == run.summary["environment_steps"]


def test_a_run_that_ended_without_success_goes_on(tmp_path: Path) -> None:
    distinguo.learn("puck", seed=1, settings={"stage.trials": 5}, out=tmp_path / "run")
    agent = Economy.load(tmp_path / "run")
    assert not agent.solved
    assert_same(agent.learn(10**6), Economy("puck", seed=1).learn(10**6))
    assert agent.solved


def test_a_saved_agent_unpacks_to_a_run_folder(tmp_path: Path) -> None:
    agent = Economy("puck", seed=1).learn(10**6)
    agent.save(tmp_path / "agent.zip")
    with zipfile.ZipFile(tmp_path / "agent.zip") as file:
        file.extractall(tmp_path / "run")
    run = distinguo.open_run(tmp_path / "run")
    np.testing.assert_array_equal(run.q, agent.q)
    assert run.solved


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("agents") / "agent.zip"
    Economy("puck", seed=1).learn(3_000).save(path)
    return path.read_bytes()


def refused(path: Path) -> str:
    """Return the sentence with which an agent is refused, to act or to learn on."""
    with pytest.raises(DistinguoError) as found:
        Economy.load(path).learn(10)
    sentence = str(found.value)
    assert "\n" not in sentence
    assert f"{tempfile.gettempdir()}/distinguo-" not in sentence  # the folder that it was unpacked to
    return sentence


def test_damaged_bytes_are_told(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "agent.zip"
    for content in (b"", b"PK", whole[: len(whole) // 2], whole[:-40], b"x" * 1_000):
        path.write_bytes(content)
        assert str(path) in refused(path)


@pytest.mark.parametrize("place", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_changed_byte_is_noticed_or_harmless(whole: bytes, place: float, tmp_path: Path) -> None:
    path, changed = tmp_path / "agent.zip", bytearray(whole)
    changed[int(place * len(whole))] ^= 0xFF
    path.write_bytes(changed)
    with contextlib.suppress(DistinguoError):
        Economy.load(path).learn(10)


def rewritten(whole: bytes, path: Path, **changes: bytes | None) -> Path:
    """Write the agent with some files changed or left out; a name's dot is given as an underscore."""
    by_name = {name.replace("_", "."): content for name, content in changes.items()}
    (path / "whole.zip").write_bytes(whole)
    files = {**archive.read(path / "whole.zip")[0], **by_name}
    with zipfile.ZipFile(path / "agent.zip", "w") as file:
        for name, content in files.items():
            if content is not None:
                file.writestr(name, content)
    return path / "agent.zip"


def word(**values: Any) -> bytes:
    return json.dumps({"version": 1, "shape": [2], **values}).encode()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"settings_toml": None}, "has no settings.toml"),
        ({"settings_toml": b"\xff\xfe"}, "not text"),
        ({"representation_json": b"{}"}, "not a distinguo representation"),
        ({"values_npz": b"none"}, "damaged"),
        ({"checkpoint_npz": None}, "can act, but not learn on"),
        ({"checkpoint_npz": b"PK none"}, "damaged"),
        ({"trials_csv": b""}, "shorter than its checkpoint"),
        ({"agent_json": b"[" * 100_000}, "damaged"),
        ({"agent_json": word(version=99)}, "newer distinguo"),
        ({"agent_json": word(version="1")}, "damaged"),
        ({"agent_json": word(num_timesteps=-5)}, "damaged"),
        ({"agent_json": word(first_action=10**30)}, "damaged"),
        ({"agent_json": word(code="print()")}, "damaged"),
    ],
)
def test_hostile_files_are_told(
    whole: bytes, changes: dict[str, bytes | None], words: str, tmp_path: Path
) -> None:
    assert words in refused(rewritten(whole, tmp_path, **changes))


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGEST", 10_000)
    with zipfile.ZipFile(tmp_path / "agent.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("values.npz", bytes(100_000))
    assert "would unpack to 100000 bytes" in refused(tmp_path / "agent.zip")


def test_a_file_twice_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "agent.zip", "w") as file:
        file.writestr("settings.toml", "a")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("settings.toml", "b")
    assert "holds a file twice" in refused(tmp_path / "agent.zip")


def test_files_outside_the_folder_are_left_alone(whole: bytes, tmp_path: Path) -> None:
    path = rewritten(whole, tmp_path)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("../outside.txt", "here")
    assert Economy.load(path).predict((0.0, 0.0))[1] is None
    assert not list(tmp_path.parent.glob("outside.txt"))


def test_places_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    assert "Cannot read" in refused(tmp_path / "nowhere.zip")
    os.mkfifo(tmp_path / "pipe.zip")
    assert "is not a file" in refused(tmp_path / "pipe.zip")
    (tmp_path / "file").write_text("")
    with pytest.raises(DistinguoError, match="Cannot write"):
        Economy("puck").save(tmp_path / "file" / "agent")


def test_another_environment_is_refused(whole: bytes, tmp_path: Path) -> None:
    with pytest.raises(DistinguoError, match="has 4 coordinates and 2 actions, but puck"):
        Economy.load(rewritten(whole, tmp_path), env=gymnasium.make(CART))
