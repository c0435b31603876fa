"""The bench: its answer, its references, and a machine without a compiler."""

from __future__ import annotations

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from distinguo.errors import DistinguoError
from distinguo.evaluation.simulate import evaluate
from distinguo_lab.bench import measure, reference
from distinguo_lab.bench.measure import draw_problem
from distinguo_lab.bench.reference import CReference, GymnasiumLoop
from distinguo_lab.commands import bench_command

REFERENCES = ("C, same lookup", "Gymnasium, NumPy argmin")
KEYS = {"name", "prototypes", "reference", "ours", "theirs", "ratio"}


def invoke(*options: str) -> tuple[dict, str]:
    app = typer.Typer()
    app.command()(bench_command)
    done = CliRunner().invoke(app, ["--quick", "--json", *options])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.mark.end_to_end
def test_quick_bench_answers_in_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "SIZES", (2, 24))
    answer, said = invoke()
    kernels = answer["kernels"]
    assert all(set(kernel) >= KEYS for kernel in kernels)
    assert all(k["ours"] > 0 and k["theirs"] > 0 and k["low"] <= k["ratio"] <= k["high"] for k in kernels)
    assert {(k["name"], k["prototypes"]) for k in kernels} == {
        (name, size) for name in ("lock-step", "brute force") for size in (2, 24)
    }
    assert len(said.splitlines()) == 1 + len(kernels)
    ratios = {name: [k["ratio"] for k in kernels if k["reference"] == name] for name in REFERENCES}
    assert min(ratios["C, same lookup"]) > 0.5  # 0.7 to 1.1
    assert min(ratios["Gymnasium, NumPy argmin"]) > 1_700  # 3,500 and more


def test_without_a_compiler_the_rest_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "SIZES", (24,))
    monkeypatch.setattr(reference.shutil, "which", lambda name: None)
    answer, said = invoke()
    assert "no C compiler" in said
    assert answer["compiler"] is None
    assert [k["reference"] for k in answer["kernels"]] == ["Gymnasium, NumPy argmin"]
    with pytest.raises(DistinguoError, match="no C compiler"):
        CReference()


@pytest.mark.parametrize("size", [2, 24, 100])
def test_references_do_the_same_work(size: int) -> None:
    problem = draw_problem(size)
    starts = np.random.default_rng(0).uniform([-2, -4], [2, 4], (50, 2))  # many of them are doomed
    rng = np.random.default_rng(0)
    lengths = evaluate(problem.task, problem.controller, rng, starts, 400).lengths
    assert len(set(lengths.tolist())) > 10
    c = CReference()
    for name in ("run_lockstep", "run_brute_force"):
        np.testing.assert_array_equal(c.run(name, problem.task, problem.controller, starts, 400), lengths)
    loop = GymnasiumLoop(problem.controller)
    assert [loop.run(s, 400) for s in starts[:5]] == lengths[:5].tolist()


def test_different_answers_are_not_compared() -> None:
    with pytest.raises(DistinguoError, match="differ with 3 prototypes"):
        measure.time_in_turns("a", 3, "b", lambda: (1, [1, 2]), lambda: (1, [1, 3]), 1)
