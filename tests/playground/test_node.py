"""The playground's learner without a browser, where there is Node; tests/browser has all of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction

import pytest
from playground.build import ROOT, bundled, modules_from

from tests.playground.traces import Case, differences

CAR = ROOT / "playground" / "learning" / "car.js"
STAGE = ROOT / "playground" / "learning" / "stage.js"
CASES = [
    Case(seed=1),
    Case("fast", 5),
    Case(seed=3, start="seeds"),
    Case(seed=1, task="lake", changes={}),
    Case(seed=1, task="car", start="points", changes={"trials": 60, "confirm_steps": 2_000}),
]


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


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node")
def test_its_cosine_is_rounded_correctly() -> None:
    """The car's, which no two browsers need to agree on: nearest to the exact value, by the series with fractions."""
    angles = [-3.6 + 5.4 * n / 499 for n in range(500)]
    script = f"""{bundled(CAR)}
    console.log(JSON.stringify({json.dumps(angles)}.map(module{len(modules_from(CAR)) - 1}.cosine)));"""
    made = subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=True)
    for angle, cosine in zip(angles, json.loads(made.stdout), strict=True):
        exact, term, square = Fraction(1), Fraction(1), Fraction(angle) ** 2
        for n in range(2, 60, 2):
            term *= -square / (n * (n - 1))
            exact += term
        assert cosine == float(exact), angle
