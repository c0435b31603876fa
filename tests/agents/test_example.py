"""The example for other agents runs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

PLACE = Path(__file__).parents[2] / "examples" / "other_agents.py"


def example() -> Any:
    spec = importlib.util.spec_from_file_location("other_agents", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_without_stable_baselines_there_is_a_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    assert set(example().main(["--steps", "2000", "--trials", "1"])) == {"table"}
    assert "DQN is left out: stable-baselines3 is not installed" in capsys.readouterr().out
