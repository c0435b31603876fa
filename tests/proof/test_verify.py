"""The command, and what it says where there is no proof."""

from __future__ import annotations

import json

import pytest
import typer
from numba import config
from typer.testing import CliRunner

import distinguo
from distinguo.cli.verify import verify
from distinguo.errors import DistinguoError
from distinguo.proof.bounds import binomial_bound
from distinguo.proof.certificate import load
from distinguo.proof.checker import check

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


def test_binomial_bounds():
    low, high = binomial_bound(0, 10)
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025 ** (1 / 10))
    with pytest.raises(DistinguoError):
        binomial_bound(3, 2)
