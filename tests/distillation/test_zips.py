"""Which agent a zip holds is read from it without running anything in it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from distinguo.distillation import teachers
from distinguo.distillation.teachers import CLASSES, agent_in, kind_of_zip, load_zip, reported
from tests.distillation.common import refused

DATA = {
    "dqn": {"exploration_final_eps": 0.1, "n_steps": 1},
    "qrdqn": {"exploration_final_eps": 0.1, "quantile_net": None},
    "ppo": {"clip_range": {}, "n_epochs": 4, "n_steps": 8, "gae_lambda": 1.0},
    "a2c": {"n_steps": 8, "gae_lambda": 1.0},
    "sac": {"target_entropy": -1.0},
    "td3": {"target_policy_noise": 0.2},
}


def zipped(path: Path, **members: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("kind", DATA)
def test_the_kind_is_told_by_names(kind: str, tmp_path: Path) -> None:
    path = zipped(tmp_path / "agent.zip", data=json.dumps(DATA[kind]))
    assert kind_of_zip(path) == kind
    assert kind in CLASSES


def damaged(path: Path, data: str = json.dumps(DATA["dqn"]) + " " * 5_000) -> bytearray:
    return bytearray(zipped(path, data=data).read_bytes())


def test_damaged_zips_are_told(tmp_path: Path) -> None:
    flipped = damaged(tmp_path / "whole.zip")
    flipped[50] ^= 255  # within the compressed data
    locked = damaged(tmp_path / "whole.zip")
    listed = bytes(locked).find(b"PK\x01\x02")
    locked[6] |= 1
    locked[listed + 8] |= 1  # as if there were a password
    unknown = damaged(tmp_path / "whole.zip")
    unknown[8] = unknown[listed + 10] = 99  # a compression that nobody knows
    short = damaged(tmp_path / "whole.zip")[:-30]
    for content in (b"", b"PK", b"PK\x03\x04junk", flipped, locked, unknown, short):
        path = tmp_path / "agent.zip"
        path.write_bytes(content)
        refused(lambda path=path: kind_of_zip(path), "is damaged, or no agent of Stable-Baselines3")


@pytest.mark.parametrize(
    "data", ["", "{", "[" * 100_000, b"\xff\xfe"], ids=["empty", "open", "deep", "bytes"]
)
def test_data_that_are_no_json_are_told(data: Any, tmp_path: Path) -> None:
    refused(lambda: kind_of_zip(zipped(tmp_path / "a.zip", data=data)), "is damaged, or no agent")


def test_zips_of_something_else_are_told(tmp_path: Path) -> None:
    refused(lambda: kind_of_zip(zipped(tmp_path / "none.zip")), "no agent of Stable-Baselines3 (it has no")
    refused(lambda: kind_of_zip(zipped(tmp_path / "other.zip", readme="x")), "no agent of Stable-Baselines3")
    for data in ("{}", "[1]", '"dqn"', '{"policy": 1}'):
        path = zipped(tmp_path / "kind.zip", data=data)
        refused(
            lambda path=path: kind_of_zip(path),
            "holds an agent of another kind; allowed are DQN, QR-DQN, PPO",
        )


def test_no_file_and_a_folder_are_told(tmp_path: Path) -> None:
    refused(lambda: kind_of_zip(tmp_path / "none.zip"), "There is no file ")
    refused(lambda: kind_of_zip(tmp_path), "is damaged, or no agent")


def test_data_that_are_too_large_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teachers, "LARGEST_DATA", 100)
    path = zipped(tmp_path / "agent.zip", data=json.dumps(DATA["dqn"]) + " " * 200)
    refused(lambda: kind_of_zip(path), "would unpack to")


def test_a_package_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CLASSES, "dqn", ("no_such_package", "DQN"))
    path = zipped(tmp_path / "agent.zip", data=json.dumps(DATA["dqn"]))
    refused(
        lambda: load_zip(path),
        "needs no-such-package, which is not installed; run: pip install no-such-package",
    )


def test_the_agent_in_a_folder_is_found(tmp_path: Path) -> None:
    refused(lambda: agent_in(tmp_path), "holds no zip of an agent")
    zipped(tmp_path / "train_eval_metrics.zip", metrics="x")
    refused(lambda: agent_in(tmp_path), "holds no zip of an agent")
    broken = zipped(tmp_path / "notes.zip", readme="x")
    refused(lambda: agent_in(tmp_path), "no agent of Stable-Baselines3")
    best = zipped(tmp_path / "dqn-CartPole-v1.zip", data=json.dumps(DATA["dqn"]))
    assert agent_in(tmp_path) == best
    assert broken.exists()
    zipped(tmp_path / "ppo-CartPole-v1.zip", data=json.dumps(DATA["ppo"]))
    refused(lambda: agent_in(tmp_path), "several agents (dqn-CartPole-v1.zip, ppo-CartPole-v1.zip)")


def test_what_a_folder_reports_is_read_or_left_out(tmp_path: Path) -> None:
    assert reported(tmp_path) == ""
    for text in ("", "[]", "{}", '{"mean_reward": "x", "std_reward": 1}'):
        (tmp_path / "results.json").write_text(text)
        assert reported(tmp_path) == ""
    (tmp_path / "results.json").write_text(
        '{"mean_reward": 487.25, "std_reward": 3.5, "n_eval_episodes": 10}'
    )
    assert "a mean return of 487.2 with a standard deviation of 3.5" in reported(tmp_path)
