"""Learners of one's own: the example works, and what is wrong with one is said in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import distinguo as dg
from distinguo.cli.parse import load_named

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_learner.py"
SHORT = {"stage.trials": 3, "stage.cap": 50}


def test_the_example_is_short_and_solves_the_puck(tmp_path: Path) -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 30
    learner = load_named(f"{EXAMPLE}:GridLearner")
    run = dg.learn("puck", seed=1, learner=learner, out=tmp_path / "run")
    assert run.solved
    assert (run.configuration.learner_name, run.representation.regions) == ("grid-q-learning", 100)
    again = dg.learn("puck", seed=1, learner="grid-q-learning")
    assert np.array_equal(again.q, run.q)


def test_the_example_from_the_command_line_and_its_run_without_it(tmp_path: Path) -> None:
    words = ["learn", "puck", "--learner", f"{EXAMPLE}:GridLearner", "--out", str(tmp_path / "run"), "--json"]
    done = subprocess.run([sys.executable, "-m", "distinguo", *words], capture_output=True, text=True)
    answer = json.loads(done.stdout)
    assert (answer["learner"], answer["solved"]) == ("grid-q-learning", True)
    code = f"import distinguo; print(distinguo.open_run({str(tmp_path / 'run')!r}).action((0.5, 1.0)))"
    opened = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert opened.stdout.strip() == "left", opened.stderr


def learner(**changes: Any) -> Any:
    """Return a class like a learner of two halves, with some methods replaced or, by None, left out."""

    class Halves(NamedTuple):
        partition: Any
        q: np.ndarray

    methods = {
        "fresh": lambda setup: Halves(dg.voronoi([[1.0, 0.0], [-1.0, 0.0]], [1.0, 1.0]), np.zeros((2, 2))),
        "act": lambda self, agent, s: 0,
        "learn": lambda self, agent, t: None,
        "controller": lambda self: dg.Controller(self.partition, self.q),
        **changes,
    }
    for name, method in methods.items():
        if method is not None:
            setattr(Halves, name, method)
    return Halves


def refusal(kind: Any) -> str:
    with pytest.raises(dg.DistinguoError) as caught:
        dg.learn("puck", learner=dg.learner("odd")(kind), settings=SHORT)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_a_missing_method_is_named() -> None:
    assert "has no controller" in refusal(learner(controller=None))


def test_what_fresh_and_controller_return_is_checked() -> None:
    assert "fresh of the learner 'odd' should return" in refusal(learner(fresh=lambda setup: 3))
    assert "should return a Controller" in refusal(learner(controller=lambda self: self.q))
    assert "(AttributeError:" in refusal(learner(fresh=lambda setup: setup.acts))


def test_values_that_do_not_cover_the_regions_are_refused() -> None:
    small = learner(controller=lambda self: dg.Controller(self.partition, self.q[:1]))
    assert "a row for each of 2 regions" in refusal(small)


def test_what_cannot_be_compiled_is_told_in_one_sentence() -> None:
    assert "cannot be compiled" in refusal(learner(act=lambda self, agent, s: agent.no_such_thing))
