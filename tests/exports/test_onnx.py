"""Models of ONNX in two runtimes against Python."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.exports.agreement import amounts_chosen, chosen
from distinguo.exports.decision import decision_of
from distinguo.exports.onnx import INPUT, onnx_model, onnx_session, to_onnx
from distinguo.exports.write import render
from distinguo.proof.verify import Cited, Fingerprint
from distinguo.tasks.amounts import amounts_of
from tests.exports.test_header import in_numpy
from tests.exports.test_programs import MAPS, SAFE, safe_of, tried_on, usable

onnx = pytest.importorskip("onnx", reason='pip install "distinguo[onnx]"')
onnxruntime = pytest.importorskip("onnxruntime", reason='pip install "distinguo[onnx]"')


@pytest.mark.parametrize("arithmetic", ["double", "float"])
@pytest.mark.parametrize("which", MAPS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_model_does_what_python_does(which: str, arithmetic: str) -> None:
    rng = np.random.default_rng(sum(map(ord, which)))
    named = MAPS[which](rng)
    decision = decision_of(named, arithmetic, safe_of(named))
    states = tried_on(named, rng)
    run, good = onnx_session(onnx_model(decision, "hover")), usable(decision, states)
    action, region, fault, *amounts = run({INPUT: decision.read(states)})
    np.testing.assert_array_equal(fault, ~good)
    assert (action[~good] == decision.safe_action).all()
    exact = decision_of(named)
    expected = chosen(exact, states)
    if arithmetic == "double":
        own = in_numpy(named.controller.partition, states)
        np.testing.assert_array_equal(region[good], own[good])
        np.testing.assert_array_equal(action[good], named.controller.greedy[own[good]])
    else:
        assert (action[good] != expected[good]).mean() < 1e-3
    if amounts:
        safe = SAFE[: len(named.laws.low)] if named.laws is not None else named.amounts[-1]
        assert (amounts[0][~good] == np.array(safe, decision.number)).all()
        wanted = amounts_chosen(exact, states)
        if arithmetic == "double":
            np.testing.assert_array_equal(amounts[0][good], wanted[good])
            for n in np.flatnonzero(good)[:200]:
                a = int(action[n])
                mine = amounts_of(named.laws, a, states[n].tolist()) if named.laws else named.amounts[a]
                assert amounts[0][n].tolist() == list(mine)
        else:
            same = good & (action == expected)
            np.testing.assert_allclose(amounts[0][same], wanted[same], atol=1e-5)
    for n in range(20):  # one at a time
        assert run({INPUT: decision.read(states[n : n + 1])})[0].tolist() == [action[n]]


@pytest.mark.parametrize("which", ["plane", "laws"])
def test_another_runtime_gives_the_same_answers(which: str) -> None:
    from onnx.reference import ReferenceEvaluator

    rng = np.random.default_rng(0)
    named = MAPS[which](rng)
    decision = decision_of(named)
    model = onnx_model(decision, "hover")
    states = rng.uniform(-3, 3, (500, len(named.dimensions)))
    mine, other = onnx_session(model)({INPUT: states}), ReferenceEvaluator(model).run(None, {INPUT: states})
    for one, two in zip(mine, other, strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_model_says_what_it_is_and_what_was_measured() -> None:
    named = MAPS["pole"](np.random.default_rng(3))
    found = to_onnx(decision_of(named, "float", "right"), "hover")
    model = onnx.load_from_string(found.content)
    assert model.graph.name == "hover"
    assert "Python's action at all of 100,000 observations" in found.decision.said
    assert f"onnxruntime {onnxruntime.__version__}" in found.decision.said
    assert found.decision.said.split()[0] in model.doc_string
    facts = {one.key: one.value for one in model.metadata_props}
    assert facts["actions"] == '["left", "right"]'
    assert model.opset_import[0].version == 13
    names = {node.op_type for node in model.graph.node}
    assert {"Sub", "Mul", "ReduceSum", "ArgMin", "Gather"} <= names


def test_a_certificate_is_claimed_for_the_operations_of_python() -> None:
    cited = Cited(Fingerprint("certificate.json", "ab" * 32, "all states"))
    named = MAPS["pole"](np.random.default_rng(3))._replace(certificates=cited)
    for arithmetic, words in (
        ("double", "of Python's operations in their order"),
        ("float", "not of this one"),
    ):
        model = onnx.load_from_string(to_onnx(decision_of(named, arithmetic), "hover").content)
        assert "ab" * 32 in model.doc_string
        assert words in model.doc_string


def test_a_runtime_without_an_operator_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    named = MAPS["pole"](np.random.default_rng(3))
    model: Any = onnx_model(decision_of(named), "hover")
    next(node for node in model.graph.node if node.op_type == "ArgMin").op_type = "ArgLeast"
    with pytest.raises(DistinguoError, match=r"onnxruntime .* cannot run this model; .*ArgLeast") as caught:
        onnx_session(model)
    assert "\n" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(
        DistinguoError, match=r'needs onnx and onnxruntime; run pip install "distinguo\[onnx\]"'
    ):
        render(named, "onnx")
