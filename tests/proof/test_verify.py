"""The command, and what it says where there is no proof."""

from __future__ import annotations

import json

import numpy as np
import pytest
import typer
from numba import config
from typer.testing import CliRunner

import distinguo
from distinguo.cli.verify import verify
from distinguo.errors import DistinguoError
from distinguo.proof.bounds import binomial_bound
from distinguo.proof.certificate import load
from distinguo.proof.checker.hold import check
from distinguo.representation.file import Representation
from distinguo.representation.file import dumps as written

from .cars import SWING, swing

FEW = ["--cells", "40000"]
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells")


def run(*words):
    app = typer.Typer()
    app.command()(verify)
    result = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    return json.loads(result.stdout.splitlines()[-1])


def test_proves_the_diagonal(tmp_path):
    found = run("diagonal", "--out", str(tmp_path), *FEW)
    assert found["proven"]
    assert found["checked"]
    assert found["share_of_controllable_starts"] > 0.95
    assert found["share_of_provable"] > 0.99
    assert check(load(found["certificate"])).cells == found["cells"]
    assert (tmp_path / "proof.png").stat().st_size > 5_000


def test_proves_a_learned_run(tmp_path):
    distinguo.learn("puck", seed=1, out=tmp_path / "run")
    found = run(str(tmp_path / "run"))
    assert found["proven"]
    assert found["certificate"] == str(tmp_path / "run" / "certificate.json")


def test_tells_how_a_bad_controller_fails(tmp_path):
    found = run("grid:3x3", "--out", str(tmp_path), *FEW)
    assert not found["proven"]
    assert not found["checked"]
    assert found["certificate"] is None
    assert abs(found["failure"]["states"][-1][0]) >= 2.4


def test_a_disturbance_that_is_too_strong_is_not_proven(tmp_path):
    found = run("diagonal", "--out", str(tmp_path), "--disturbance", "0.2", *FEW)
    assert not found["proven"]
    assert found["failure"] is None  # which does not show up without it


def test_ranges(tmp_path):
    assert run("diagonal", "--out", str(tmp_path), "--range", "mass=0.97:1.03", *FEW)["proven"]
    for text, word in (("mass=1", "--range"), ("mas=1:2", "mas"), ("mass=2:1", "range of mass")):
        with pytest.raises(DistinguoError, match=word):
            run("diagonal", "--out", str(tmp_path), "--range", text, *FEW)


def run_with(folder, name, representation, q):
    """The folder of a short run whose controller is replaced by one made by hand."""
    distinguo.learn(name, seed=0, out=folder, settings={"stage.steps": 1_000})
    (folder / "representation.json").write_text(written(representation))
    np.savez(folder / "values.npz", q=q, updates=np.zeros(q.shape, dtype=np.int64))
    return str(folder)


def test_proves_that_a_car_arrives(tmp_path):
    folder = run_with(tmp_path / "run", "MountainCar-v0", Representation(swing(), ("x", "v")), SWING)
    found = run(folder)
    assert found["proven"]
    assert found["checked"]
    assert found["share_of_controllable_starts"] == 1.0
    assert found["steps"] < 130
    assert -125 < found["mean_return_at_least"] < -110
    assert check(load(found["certificate"])).cells == found["cells"] == 128
    assert (tmp_path / "run" / "proof.png").stat().st_size > 5_000


def test_tells_where_a_car_does_not_arrive(tmp_path):
    found = run("grid:2x2", "--task", "MountainCar-v0", "--out", str(tmp_path))
    assert not found["proven"]
    assert found["share_of_controllable_starts"] < 1.0
    assert -0.6 <= found["failure"]["start"][0] <= -0.4
    assert found["failure"]["steps"] == 200


def test_bounds_what_cannot_be_proven(tmp_path):
    distinguo.learn("CartPole-v1", seed=0, out=tmp_path / "run")
    found = run(str(tmp_path / "run"))
    assert found["label"] == "not a proof"
    assert not found["proven"]
    assert not found["checked"]
    assert found["certificate"] is None
    assert found["threshold"] == 475.0
    assert found["asked_steps"] == 500
    assert found["bound"] == list(binomial_bound(found["held"], found["trials"]))
    assert (found["held"] == 100) == (found["mean"] >= 475.0)
    fewer = run(str(tmp_path / "run"), "--steps", "400")
    assert fewer["held"] == 0  # nobody has a return of 475 by then


def test_options_that_mean_nothing_for_a_task_are_refused(tmp_path):
    for words in (
        ("diagonal", "--steps", "5"),
        ("grid:2x2", "--task", "MountainCar-v0", "--disturbance", "0.1"),
        ("grid:2x2", "--task", "MountainCar-v0", "--range", "force=1:2"),
        ("grid:2x2x2x2", "--task", "CartPole-v1", "--cells", "5000"),
    ):
        with pytest.raises(DistinguoError, match="means nothing"):
            run(*words, "--out", str(tmp_path))


def test_a_run_of_another_task(tmp_path):
    distinguo.learn("puck", seed=1, out=tmp_path / "run")
    with pytest.raises(DistinguoError, match="a run of puck"):
        run(str(tmp_path / "run"), "--task", "CartPole-v1")


def test_binomial_bounds():
    low, high = binomial_bound(0, 10)
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025 ** (1 / 10))
    with pytest.raises(DistinguoError):
        binomial_bound(3, 2)
