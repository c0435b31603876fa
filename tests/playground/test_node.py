"""The playground's learner without a browser, where there is Node; tests/browser has all of it."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from playground.build import ROOT, bundled, modules_from

from tests.playground.traces import Case, differences

STAGE = ROOT / "playground" / "learning" / "stage.js"
CASES = [Case(seed=1), Case("fast", 5), Case(seed=3, start="seeds")]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node")
def test_the_playground_learns_what_the_package_learns() -> None:
    """Same prototypes, regions, values, trials and reasons, to the last bit."""
    asked = json.dumps([[case.choice(), case.changes] for case in CASES])
    last = f"module{len(modules_from(STAGE)) - 1}"
    script = f"""{bundled(STAGE)}
    const traces = {asked}.map(([choice, changes]) =>
      {last}.learnt({{...choice, seed: BigInt(choice.seed)}}, changes).trace());
    console.log(JSON.stringify(traces));"""
    made = subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=True)
    for case, theirs in zip(CASES, json.loads(made.stdout), strict=True):
        assert differences(case, theirs) == []
