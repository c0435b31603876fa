"""``verify``, as a command and as a function, and what it says where there is no proof."""

from __future__ import annotations

import doctest
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
import typer
from numba import config
from typer.testing import CliRunner

import distinguo
from distinguo.cli.seeing import VERDICTS
from distinguo.cli.seeing import verify_command as command
from distinguo.errors import DistinguoError
from distinguo.proof.certificate import load_certificate
from distinguo.proof.checker.check import check
from distinguo.proof.hold.question import ask_hold
from distinguo.proof.question import Request
from distinguo.proof.verify import file_certificate
from distinguo.representations.declare import FunctionPartition
from distinguo.representations.file import Representation, dumps
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.mountain_car import MountainCar
from distinguo.tasks.puck.noisy import NoisyPuck
from distinguo.verification import binomial_bound, verify
from tests.nightly import interpreted_by_day

from .cars import SWING, swing

ROOT = Path(__file__).parent.parent.parent
FEW = ["--cells", "40000"]
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells")


def run(*words):
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    return json.loads(result.stdout.splitlines()[-1])


ALWAYS = {
    "verdict",
    "proven",
    "share_of_controllable_starts",
    "cells",
    "certificate",
    "checked",
    "seconds",
    "run",
    "diagnosis",
}
PROOF = ALWAYS | {"refusal", "earlier_certificate", "failure", "picture", "seconds_proving"}


def test_the_keys_and_exit_codes_that_scripts_depend_on(tmp_path):
    """Only a proof exits with 0."""
    hold = PROOF | {"share_of_provable", "share_of_start_box_doomed"}
    arrive = PROOF | {"steps", "asked_steps", "mean_return_at_least", "threshold"}
    trials = ALWAYS | {"label", "trials", "held", "bound", "threshold", "mean", "asked_steps"}
    for words, code, verdict, keys in (
        (["diagonal", *FEW], 0, "proven", hold),
        (["diagonal", *FEW, "--disturbance", "5"], 3, "not proven", hold),
        (["grid:3x3", *FEW], 4, "refuted", hold),
        (["grid:1x1", "--task", "MountainCar-v0", "--cells", "1000"], 4, "refuted", arrive),
        (["grid:2x2x2x2", "--task", "CartPole-v1"], 4, "refuted", trials),
    ):
        answer = answer_of(*words, "--out", str(tmp_path))
        assert (answer[0], answer[1]["verdict"], set(answer[1])) == (code, verdict, keys)
        assert code or (tmp_path / "certificate.json").exists()
    assert set(VERDICTS.values()).isdisjoint({1, 2, 130, 143})  # errors and signals


def test_proves_the_diagonal(tmp_path):
    content = run("diagonal", "--out", str(tmp_path), *FEW)
    assert content["proven"]
    assert content["checked"]
    assert content["share_of_controllable_starts"] > 0.95
    assert content["share_of_provable"] > 0.99
    assert check(load_certificate(content["certificate"])).cells == content["cells"]
    assert (tmp_path / "proof.png").stat().st_size > 5_000


def test_proves_a_learned_run(tmp_path):
    distinguo.learn("puck", seed=1, out=tmp_path / "run")
    content = run(str(tmp_path / "run"))
    assert content["proven"]
    assert content["certificate"] == str(tmp_path / "run" / "certificate.json")


def test_the_function_says_what_the_command_prints(tmp_path):
    content = run("diagonal", "--out", str(tmp_path), *FEW)
    proof = verify("diagonal", cells=40_000, out=tmp_path)
    assert proof.holds is content["proven"] is True
    assert proof.share == content["share_of_controllable_starts"]
    assert str(proof.path) == content["certificate"]
    assert load_certificate(proof.path) == proof.certificate
    timed = {"seconds", "seconds_proving"}
    assert {k: v for k, v in proof.as_json().items() if k not in timed} == {
        k: v for k, v in content.items() if k not in {*timed, "picture"}
    }
    assert (
        proof.sentences[0]
        == f"Proven: from its start the controller never fails ({content['cells']:,} cells)."
    )
    assert proof.sentences[-1] == f"Certificate, checked independently: {proof.path}"


def test_a_proof_reads_like_a_result():
    proof, nothing = verify("diagonal", cells=40_000), verify("grid:3x3", cells=40_000)
    for one in (proof, nothing):
        lines = repr(one).splitlines()
        assert 3 <= len(lines) <= 6
        assert max(map(len, lines)) < 160
        assert lines[0] == f"Proof of {one.subject.name} on puck:"
    assert len(repr(proof.certificate)) < 100
    assert (nothing.holds, nothing.share, nothing.certificate) == (False, 0.0, None)
    assert nothing.sentences[1] == "No certificate: nothing is proven, so there is nothing to certify."


def test_runs_and_their_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = distinguo.learn("puck", seed=1, out=tmp_path / "run")
    proof = verify(kept, cells=40_000)
    assert proof.holds
    assert proof.path == tmp_path / "run" / "certificate.json"
    assert verify(tmp_path / "run", cells=40_000).certificate == proof.certificate
    in_memory = verify(distinguo.learn("puck", seed=1), cells=40_000)
    assert in_memory.certificate == proof.certificate
    assert in_memory.path is in_memory.as_json()["certificate"] is None
    assert in_memory.checked
    assert [path.name for path in tmp_path.iterdir()] == ["run"]  # nothing is written that nobody asked for


def test_options_that_make_no_sense_are_refused():
    for options, word in (
        ({"cells": 0}, "option cells should be a whole number from 1000"),
        ({"cells": 5e4}, "option cells should be a whole number"),
        ({"disturbance": -1.0}, "disturbance should be two numbers not below 0"),
        ({"disturbance": float("nan")}, "disturbance should be two numbers not below 0"),
        ({"ranges": {"mass": 1.0}}, "range of mass should be a pair"),
        ({"ranges": {"mass": (float("nan"), 1.0)}}, "mass"),
    ):
        with pytest.raises(DistinguoError, match=word):
            verify("diagonal", **options)
    with pytest.raises(DistinguoError, match="option steps should be a whole number from 1 to 100000, got 0"):
        verify("grid:2x2", task="MountainCar-v0", steps=0)


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr("distinguo.verification.question_for", None)  # not even asked
    with pytest.raises(DistinguoError, match=r"files cannot be made in the folder .*; choose another place"):
        verify("diagonal", out=tmp_path)


def test_trials_leave_the_certificate_of_others_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("distinguo.proof.verify.why_no_returns", lambda *_: "nobody can")
    (tmp_path / "certificate.json").write_text("somebody's")
    assert not verify("grid:2x2x2x2", task="CartPole-v1", out=tmp_path).holds
    assert (tmp_path / "certificate.json").read_text() == "somebody's"
    with pytest.raises(DistinguoError, match="exists and is not a certificate; choose another --out"):
        verify("grid:3x3", cells=40_000, out=tmp_path)
    assert (tmp_path / "certificate.json").read_text() == "somebody's"


def test_a_failed_proof_leaves_what_was_proven_before(tmp_path):
    kept = verify("diagonal", cells=40_000, out=tmp_path)
    before = kept.path.read_bytes()
    hopeless = verify("diagonal", cells=40_000, disturbance=5.0, out=tmp_path)
    assert (hopeless.holds, hopeless.path, hopeless.filed.earlier) == (False, None, None)
    assert kept.path.read_bytes() == before
    rough = verify("diagonal", cells=40_000, disturbance=1e-4, ranges={"mass": (0.999, 1.001)}, out=tmp_path)
    assert rough.path.name == "certificate-disturbance-0.0001-mass-0.999-1.001.json"
    assert kept.path.read_bytes() == before
    again = Request(kept.subject.spec, kept.subject.controller)  # the same question, with too few cells
    filed = file_certificate(None, again, tmp_path)
    assert (filed.path, filed.earlier) == (None, kept.path)
    told = kept._replace(filed=filed).sentences[-1]
    assert told == f"An earlier certificate of the same question still holds: {kept.path}"
    assert kept.path.read_bytes() == before


def answer_of(*words):
    """The exit code and the JSON object."""
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    content = json.loads(result.stdout.splitlines()[-1])
    assert content["proven"] is (result.exit_code == 0)
    return result.exit_code, content


def verdict_of(*words):
    code, content = answer_of(*words)
    return code, content["verdict"]


def test_a_noisy_puck_that_always_falls_is_refuted(tmp_path):
    with interpreted_by_day(NoisyPuck):
        settings = {"task.noise": 5.0, "stage.steps": 200}
        distinguo.learn("puck", seed=0, settings=settings, out=tmp_path / "run")
        assert verdict_of(str(tmp_path / "run")) == (4, "refuted")
        proof = verify(tmp_path / "run")
        assert proof.answer.details["held"] < 100
        assert proof.sentences[0].startswith(
            f"Refuted by trials: {proof.answer.details['held']} of 100 trials"
        )
        few = verify(tmp_path / "run", steps=1)  # nothing falls that soon
        assert (few.verdict, few.sentences[0][:13]) == ("not provable", "Not provable:")
    assert verdict_of(str(tmp_path / "run"), "--steps", "1") == (5, "not provable")


def test_a_map_without_an_enclosure_is_not_provable(tmp_path):
    ideal = Representation(FunctionPartition(lambda s: int(s[0] + s[1] < 0), 2), ("x", "v"))
    run = distinguo.learn("puck", seed=1)._replace(representation=ideal, q=np.array([[1.0, 0.0], [0.0, 1.0]]))
    proof = verify(run, steps=100)
    assert (proof.verdict, proof.answer.details["held"]) == ("not provable", 100)
    worse = run._replace(q=run.q[::-1])
    assert verify(worse, steps=100).verdict == "refuted"


def test_a_trial_outside_of_the_range_refutes_nothing():
    """The trial that looks for a failure is of a puck that the question is about."""
    kept = verify("diagonal", cells=2_000).subject
    slow = kept.spec._replace(task=kept.spec.task._replace(interval=1.0))  # it acts too seldom to be held
    asked = Request(slow, kept.controller, cells=2_000)
    assert ask_hold(asked).answer(False).refuted
    assert not ask_hold(asked._replace(ranges={"interval": (0.02, 0.02)})).answer(False).refuted


def test_what_cannot_be_verified_is_said():
    with pytest.raises(DistinguoError, match="A list cannot be verified; give a run"):
        verify([1, 2])
    with pytest.raises(DistinguoError, match="Unknown"):
        verify("diagnoal")


def test_tells_how_a_bad_controller_fails(tmp_path):
    content = run("grid:3x3", "--out", str(tmp_path), *FEW)
    assert not content["proven"]
    assert not content["checked"]
    assert content["certificate"] is None
    assert abs(content["failure"]["states"][-1][0]) >= 2.4


def test_a_disturbance_that_is_too_strong_is_not_proven(tmp_path):
    content = run("diagonal", "--out", str(tmp_path), "--disturbance", "0.2", *FEW)
    assert not content["proven"]
    assert content["failure"] is None  # which does not show up without it


def test_ranges(tmp_path):
    assert run("diagonal", "--out", str(tmp_path), "--range", "mass=0.97:1.03", *FEW)["proven"]
    for text, word in (("mass=1", "NAME=LOW:HIGH"), ("mas=1:2", "mas"), ("mass=2:1", "range of mass")):
        with pytest.raises(DistinguoError, match=word):
            run("diagonal", "--out", str(tmp_path), "--range", text, *FEW)


def run_with(folder, name, representation, q):
    """The folder of a short run whose controller is replaced by one made by hand."""
    with interpreted_by_day(MountainCar):
        distinguo.learn(name, seed=0, out=folder, settings={"stage.steps": 1_000})
    (folder / "digests.json").unlink()  # its controller is no longer what was saved
    (folder / "representation.json").write_text(dumps(representation))
    np.savez(folder / "values.npz", q=q, updates=np.zeros(q.shape, dtype=np.int64))
    return str(folder)


def test_proves_that_a_car_arrives(tmp_path):
    folder = run_with(tmp_path / "run", "MountainCar-v0", Representation(swing(), ("x", "v")), SWING)
    content = run(folder)
    assert content["proven"]
    assert content["checked"]
    assert content["share_of_controllable_starts"] == 1.0
    assert content["steps"] < 130
    assert -125 < content["mean_return_at_least"] < -110
    assert check(load_certificate(content["certificate"])).cells == content["cells"] == 128
    assert (tmp_path / "run" / "proof.png").stat().st_size > 5_000


def test_tells_where_a_car_does_not_arrive(tmp_path):
    content = run("grid:1x1", "--task", "MountainCar-v0", "--out", str(tmp_path))
    assert not content["proven"]
    assert content["share_of_controllable_starts"] < 1.0
    assert -0.6 <= content["failure"]["start"][0] <= -0.4
    assert content["failure"]["steps"] == 200


def test_bounds_what_cannot_be_proven(tmp_path):
    spec = task_spec("CartPole-v1", interpreted=True)  # Gymnasium's own, whose program cannot be read
    distinguo.learn(spec, seed=0, out=tmp_path / "run")
    content = run(str(tmp_path / "run"))
    assert content["label"] == "not a proof"
    assert not content["proven"]
    assert not content["checked"]
    assert content["certificate"] is None
    assert content["threshold"] == 475.0
    assert content["asked_steps"] == 500
    assert content["bound"] == list(binomial_bound(content["held"], content["trials"]))
    assert (content["held"] == 100) == (content["mean"] >= 475.0)
    assert content["verdict"] == ("not provable" if content["mean"] >= 475.0 else "refuted")
    fewer = run(str(tmp_path / "run"), "--steps", "400")
    assert (fewer["held"], fewer["verdict"]) == (0, "refuted")  # nobody has a return of 475 by then


def test_options_that_mean_nothing_for_a_task_are_refused(tmp_path):
    for words in (
        ("diagonal", "--steps", "5"),
        ("grid:2x2", "--task", "MountainCar-v0", "--disturbance", "0.1"),
        ("grid:2x2", "--task", "MountainCar-v0", "--range", "force=1:2"),
    ):
        with pytest.raises(DistinguoError, match="means nothing"):
            run(*words, "--out", str(tmp_path))


def test_a_run_of_another_task(tmp_path):
    distinguo.learn("puck", seed=1, out=tmp_path / "run")
    with pytest.raises(DistinguoError, match="a run of puck"):
        run(str(tmp_path / "run"), "--task", "CartPole-v1")


def test_the_document_is_true():
    """The examples of docs/proof.md run, and every file and function that it names is there."""
    document, package = ROOT / "docs" / "proof.md", ROOT / "src" / "distinguo"
    failures, tried = doctest.testfile(str(document), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 5
    assert failures == 0
    text = document.read_text()
    paths = set(re.findall(r"`((?:proof|tasks|representation)/[\w/]*(?:\.py)?)`", text))
    assert len(paths) > 10
    for path in paths:
        assert (package / path).exists(), path
    homes = re.findall(r"`(\w+)` in `([\w/]+\.py)`", text)
    assert len(homes) > 4
    for name, path in homes:
        assert f"def {name}(" in (package / path).read_text(), name


def test_binomial_bounds():
    low, high = binomial_bound(0, 10)
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025 ** (1 / 10))
    with pytest.raises(DistinguoError):
        binomial_bound(3, 2)
