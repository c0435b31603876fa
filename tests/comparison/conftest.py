"""What the tests of comparisons run once, or count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from distinguo.comparison import cells
from distinguo.comparison.cells import run_cell
from distinguo.comparison.compare import compare_plan
from distinguo.engines.engine import Engine
from tests.comparison.plans import local_cluster, results, some_plan


@pytest.fixture(scope="package")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the results of one worker who does one cell after the other."""
    out = tmp_path_factory.mktemp("expected") / "out"
    compare_plan(some_plan(), out, engine=Engine(workers=1))
    return results(out)


@pytest.fixture(scope="package")
def address() -> Iterator[str]:
    with local_cluster() as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which every cell that is worked through is added."""
    keys: list[str] = []

    def counted(payload: dict[str, Any]) -> dict[str, Any]:
        keys.append(payload["key"])
        return run_cell(payload)

    monkeypatch.setattr(cells, "run_cell", counted)
    return keys
