"""Functional mock-up units, run by fmpy as a simulation tool would, against Python."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.exports import fmu
from distinguo.exports.decision import Decision, decision_of
from distinguo.exports.fmu import input_names, to_fmu
from tests.exports.test_programs import MAPS, Answers, check_answers, pole, safe_of, tried_on


@pytest.mark.skipif(fmu.find_spec("pythonfmu") is None, reason='pip install "distinguo[fmu]"')
def test_a_unit_is_the_same_bytes_every_time_and_describes_itself() -> None:
    decision = decision_of(pole(np.random.default_rng(3)))
    data = to_fmu(decision, "hover")
    assert data == to_fmu(decision, "hover")
    with zipfile.ZipFile(BytesIO(data)) as unit:
        about = unit.read("modelDescription.xml").decode()
        script = next(one for one in unit.namelist() if one.startswith("resources/hover_"))
        assert "def action(s):" in unit.read(script).decode()
    assert 'modelIdentifier="hover"' in about
    for name in input_names(decision):
        assert f'<ScalarVariable name="{name}"' in about
    assert about.count("<Unknown ") == 6, "three outputs, and as many that are not known at first"


def test_names_of_inputs_are_distinct() -> None:
    named = pole(np.random.default_rng(3))._replace(dimensions=("x y", "x.y", "action", "é"))
    assert input_names(decision_of(named)) == ["s0", "s1", "s2", "s3"]


def test_without_the_builder_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fmu, "find_spec", lambda name: None)
    with pytest.raises(DistinguoError, match=r'needs pythonfmu; run pip install "distinguo\[fmu\]"'):
        to_fmu(decision_of(pole(np.random.default_rng(3))), "hover")


def run(decision: Decision, states: np.ndarray, place: Path) -> Answers:
    """Set the inputs and read the outputs, without a step between."""
    fmpy = pytest.importorskip("fmpy", reason="pip install fmpy, as .ci/nightly does")
    from fmpy.fmi2 import FMU2Slave
    from fmpy.validation import validate_fmu

    unit = place / "hover.fmu"
    unit.write_bytes(to_fmu(decision, "hover"))
    assert validate_fmu(str(unit)) == []
    description = fmpy.read_model_description(str(unit))
    folder = fmpy.extract(str(unit), unzipdir=str(place / "unit"))
    names = {one.name: one.valueReference for one in description.modelVariables}
    slave: Any = FMU2Slave(
        guid=description.guid, unzipDirectory=folder, modelIdentifier="hover", instanceName="one"
    )
    slave.instantiate()
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    inputs = [names[name] for name in input_names(decision)]
    amounts = [names[f"amount_{i}"] for i in range(len(decision.safe_amounts))]
    actions, faults, given = [], [], []
    for s in states.tolist():
        slave.setReal(inputs, s)
        actions += slave.getInteger([names["action"]])
        faults += slave.getBoolean([names["fault"]])
        given.append(slave.getReal(amounts) if amounts else [])
    slave.doStep(currentCommunicationPoint=0.0, communicationStepSize=0.02)
    slave.terminate()
    slave.freeInstance()
    found = np.array(given) if amounts else None
    return Answers(np.array(actions), np.array(faults) == 1, found)


@pytest.mark.skipif(fmu.find_spec("fmpy") is None, reason="pip install fmpy, as .ci/nightly does")
@pytest.mark.parametrize("which", ["pole", "plane", "labels", "boxes", "laws", "motor", "levels"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_unit_does_what_python_does(which: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(sum(map(ord, which)))
    named = MAPS[which](rng)
    decision = decision_of(named, safe=safe_of(named))
    states = tried_on(named, rng)
    check_answers(decision, states, run(decision, states, tmp_path))
