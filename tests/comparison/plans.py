"""Short plans, and what the tests of comparisons share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from distinguo.comparison.compare import compare_plan
from distinguo.comparison.plan import Plan, make_plan
from distinguo.errors import DistinguoError

SHORT = {"steps": 1200, "cap": 200, "batch": 5, "every_steps": 300, "runs": 2, "proof": False}
VARIANTS: dict[str, Any] = {"plain": {}, "slow": {"alpha": 0.02}}
KEYS = [f"{what}--{how}--run-{n}" for what in ("diagonal", "grid-3x3") for how in VARIANTS for n in (0, 1)]
BAD = "diagonal--slow--run-1"


def some_plan(whats: tuple[str, ...] = ("diagonal", "grid:3x3"), seed: int = 3, **changes: Any) -> Plan:
    return make_plan(whats, seed=seed, tester=SHORT | changes, variants=VARIANTS)


def results(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "cells").iterdir()}


def everything(out: Path) -> dict[str, tuple[int, bytes]]:
    return {str(p): (p.stat().st_mtime_ns, p.read_bytes()) for p in out.rglob("*") if p.is_file()}


def refusal(plan: Plan, out: Path, **how: Any) -> str:
    with pytest.raises(DistinguoError) as caught:
        compare_plan(plan, out, **how)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def local_cluster() -> Any:
    from distributed import LocalCluster

    return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1")
