"""The playground's learner without a browser, where there is Node; tests/browser has all of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from fractions import Fraction

import pytest
from playground.build import ROOT, bundled, modules_from

from distinguo.explanations.distinctions import Inquiry
from distinguo.explanations.explain import answered
from distinguo.explanations.subject import asked_about
from tests.nightly import so_many
from tests.playground.traces import Case, differences, learned

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


REASONS = ROOT / "playground" / "page" / "reasons.js"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node")
def test_its_reasons_are_those_of_the_package() -> None:
    """For every pair of regions: the same verdict, the same preferences by the same sources, the same ε."""
    cases = [Case(seed=seed) for seed in range(so_many(6, nightly=40))] + [Case("fast", 5)]
    asked = json.dumps([[case.choice(), case.changes] for case in cases])
    stage, reasons = (f"module{len(modules_from(path)) - 1}" for path in (STAGE, REASONS))
    script = f"""{bundled(STAGE)}
    const {{ explainTwo }} = (() => {{ {bundled(REASONS)}; return {reasons}; }})();
    console.log(JSON.stringify({asked}.map(([choice, changes]) => {{
      const stage = {stage}.learnt({{...choice, seed: BigInt(choice.seed)}}, changes);
      const states = stage.memory.primaries().map((p) => stage.memory.state(p));
      return states.flatMap((one) => states.map((other) =>
        [one, other, one === other ? [] : explainTwo(stage, one, other).sentences]));
    }})));"""
    made = subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=True)
    for case, pairs in zip(cases, json.loads(made.stdout), strict=True):
        inquiry = Inquiry(asked_about(learned(case)))
        for one, other, theirs in pairs:
            if theirs:
                ours = answered(inquiry, one, other).sentences
                assert [plain(theirs[0])] == [plain(ours[0])], (one, other)
                for n in (1, 2):
                    assert theirs[n].partition(", in region ")[2] == ours[n].partition(", in region ")[2]
                epsilon = [text for text in theirs if text.startswith("Now, ")]
                assert plain(epsilon[0]) in [
                    plain(text).partition("; only with δ")[0].rstrip(".") + "." for text in ours
                ]


def plain(sentence: str) -> str:
    """A sentence of either, with the same signs and names of the two states."""
    for word, name in ((" there", " in B"), (" here", " in A")):
        sentence = re.sub(rf"{word}\b", name, sentence)
    sentence = re.sub(r"(\S+) in A and (\S+) in B; one value", r"A \1 and B \2; one value", sentence)
    return sentence.replace("−", "-")
