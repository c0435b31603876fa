"""What tests of stopped runs share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from distinguo.runs import stage
from tests.runs.stopping import from_scratch, never_stopped


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be many moments to stop at."""
    monkeypatch.setattr(stage, "CHUNK", 300)


@pytest.fixture
def whole(tmp_path: Path) -> dict[str, Any]:
    """Return what a run from scratch leaves that is never stopped."""
    return never_stopped(from_scratch(), tmp_path / "whole")[0]
