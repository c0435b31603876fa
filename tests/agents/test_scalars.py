"""What TensorBoard gets to see."""

from __future__ import annotations

import struct
import sys
import warnings
from pathlib import Path

import pytest

from distinguo.agents.economy import Economy
from distinguo.errors import DistinguoError
from tests.agents.common import QUICK

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # whatever its imports warn of is not ours
    event_pb2 = pytest.importorskip("tensorboardX.proto.event_pb2")


def read_back(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Read scalars from event files: records of a length, its checksum, an event, and its checksum."""
    found: dict[str, list[tuple[int, float]]] = {}
    for path in sorted(folder.glob("events.out.*")):
        content, place = path.read_bytes(), 0
        while place < len(content):
            (length,) = struct.unpack_from("<Q", content, place)
            event = event_pb2.Event.FromString(content[place + 12 : place + 12 + length])
            place += length + 16
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_scalars_are_read_back(tmp_path: Path) -> None:
    agent = Economy("puck", seed=1, tensorboard_log=tmp_path, settings=QUICK)
    agent.learn(1_000_000, log_interval=2)
    scalars = read_back(tmp_path / "Economy_1")
    assert {"rollout/ep_rew_mean", "rollout/ep_len_mean", "economy/regions"} <= set(scalars)
    steps = [step for step, _ in scalars["economy/regions"]]
    assert len(steps) > 2
    assert steps == sorted(steps)
    assert scalars["economy/regions"][-1] == (agent.num_timesteps, agent.representation.regions)


def test_a_later_call_goes_on_or_begins_anew(tmp_path: Path) -> None:
    agent = Economy("puck", seed=1, tensorboard_log=tmp_path)
    agent.learn(2_000)
    agent.learn(2_000, reset_num_timesteps=False)
    assert [path.name for path in tmp_path.iterdir()] == ["Economy_1"]
    assert read_back(tmp_path / "Economy_1")["time/total_timesteps"][-1][1] >= 4_000
    agent.learn(2_000, tb_log_name="other")
    agent.learn(2_000)
    assert {path.name for path in tmp_path.iterdir()} == {"Economy_1", "Economy_2", "other_1"}


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(DistinguoError, match=r'pip install "distinguo\[tensorboard\]"'):
        Economy("puck", tensorboard_log=tmp_path).learn(10)
    assert list(tmp_path.iterdir()) == []
