"""The example for other agents, with Stable-Baselines3's DQN."""

from __future__ import annotations

import pytest

from tests.agents.common import sb3
from tests.agents.test_example import example

sb3("dqn")


def test_both_agents_learn_on_our_regions(capsys: pytest.CaptureFixture[str]) -> None:
    gained = example().main(["--trials", "5"])
    assert set(gained) == {"table", "dqn"}
    assert min(gained.values()) > 100  # at random it is 22
    assert "DQN on these regions: return" in capsys.readouterr().out
