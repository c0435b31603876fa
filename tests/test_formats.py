"""Old files open for ever: one of every version of every format that was ever written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from distinguo.agents.economy import Economy
from distinguo.comparison.cells import Folder
from distinguo.comparison.plan import load_plan
from distinguo.errors import DistinguoError
from distinguo.proof.certificate import load_certificate
from distinguo.proof.checker.check import check, is_same_controller
from distinguo.proof.question import controller_claim
from distinguo.representations.file import load
from distinguo.runs import folder
from distinguo.runs.folder import open_run
from distinguo.runs.learn import learn_configured
from distinguo_lab.paper.claims import read_generated
from tests.nightly import NIGHTLY

FORMATS = Path(__file__).parent / "golden" / "formats"
RUNS = sorted(path.name for path in (FORMATS / "runs").iterdir())
OTHER_SOFTWARE = pytest.mark.filterwarnings("ignore:.* was begun with other software")
FACTS = json.loads((FORMATS / "facts.json").read_text())


def facts_of(path: Path) -> dict[str, object]:
    """Return what is in a run folder, in short."""
    run = open_run(path)
    return {
        "task": run.configuration.spec.name,
        "learner": run.configuration.learner_name,
        "solved": run.solved,
        "score": run.summary["score"],
        "shape": list(run.q.shape),
        "values": float(run.q.sum()),
        "updates": int(run.updates.sum()),
        "regions": run.representation.regions,
        "carried": run.carried.regions if run.carried else None,
        "trials": [len(run.trials), run.trials[-1].environment_steps if run.trials else 0],
        "reasons": [len(run.reasons), *sorted({reason["event"] for reason in run.reasons})],
        "frames": [frame.representation.regions for frame in run.history],
    }


@pytest.mark.parametrize("name", RUNS)
def test_every_run_folder_opens_and_says_what_it_said(name: str) -> None:
    assert facts_of(FORMATS / "runs" / name) == {"frames": [], **FACTS[name]}


@OTHER_SOFTWARE
@pytest.mark.parametrize(
    "name", [name for name in RUNS if (FORMATS / "runs" / name / "checkpoint.npz").exists()]
)
def test_every_checkpoint_is_gone_on_from(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    shutil.copytree(FORMATS / "runs" / name, path)
    (path / folder.RESULT).unlink()
    run = learn_configured(folder.read_settings(path), path)
    assert run.solved
    assert run.summary["trials"] == len(run.trials) == FACTS[name]["trials"][0]
    assert np.array_equal(run.q, open_run(FORMATS / "runs" / name).q)
    assert np.array_equal(run.history[-1].q, run.q)  # frames are taken from here on


@pytest.mark.parametrize(
    "name", [name for name in RUNS if (FORMATS / "runs" / name / "certificate.json").exists()]
)
def test_every_certificate_is_read_and_still_holds(name: str) -> None:
    certificate = load_certificate(FORMATS / "runs" / name / "certificate.json")
    run = open_run(FORMATS / "runs" / name)
    assert is_same_controller(certificate.controller, controller_claim(run.controller))
    if NIGHTLY:
        check(certificate, certificate.controller)


@pytest.mark.parametrize("name", ["agent-1.zip", "agent-2.zip"])
def test_every_agent_is_loaded_and_goes_on(name: str, tmp_path: Path) -> None:
    shutil.copy(FORMATS / name, tmp_path)
    agent = Economy.load(tmp_path / name)
    steps = agent.num_timesteps
    assert steps >= 900
    assert int(agent.predict((0.5, 1.0))[0]) in (0, 1)
    assert agent._session.stage.environment_steps >= steps


@pytest.mark.parametrize("name", ["test-1", "test-2"])
def test_the_results_of_every_comparison_are_read(name: str) -> None:
    path = FORMATS / name
    plan = load_plan(path / "plan.toml")
    kept = Folder(path, plan)
    kept.check()
    (cell,) = plan.cells()
    assert kept.has(cell)
    assert kept.curve(cell).scores[-1] == 1000.0
    assert len(kept.extent().low) == 2
    assert load(kept.representation_path("diagonal")).regions == 2


def test_facts_of_the_case_study_are_read_or_what_to_do_is_said() -> None:
    assert len(read_generated(FORMATS / "generated-2.json").scratch) == 2
    with pytest.raises(
        DistinguoError, match=r"generated-1\.json .* earlier version.* delete it to learn them again"
    ):
        read_generated(FORMATS / "generated-1.json")
