"""Why something was not proven, in sentences: bad input, sliding, cells that may fail; and trials instead."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.proof.declared.diagnosis import closest_approach, diagnose
from distinguo.proof.declared.question import ask_program
from distinguo.proof.question import Request
from distinguo.proof.verify import question_for
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import voronoi
from distinguo.runs.configuration import configure, to_be_proven
from distinguo.runs.run import Run
from distinguo.seam import part
from distinguo.tasks.catalog import spec_of
from distinguo.verification import verify
from tests.search.plants import Sled

speed = 1.0
BOX = {"states": ("x", "v"), "actions": ("left", "right"), "low": (-1, -2), "high": (1, 2)}
SIX = {**BOX, "states": tuple("abcdef"), "low": (-1,) * 6, "high": (1,) * 6}


@part
def moved(s, a, more):
    v = s[1] + (0.05 if a == 1 else -0.05) + more
    x = s[0] + 0.05 * v
    return (x, v), 0.0, abs(x) > 1.0


@part
def moved_of_six(s, a):
    v = s[1] + (0.05 if a == 1 else -0.05)
    x = s[0] + 0.05 * v
    return (x, v, s[2], s[3], s[4], s[5]), 0.0, abs(x) > 1.0


@dg.task(**BOX)
class ReadsGlobal(NamedTuple):
    p: float = 1.0

    def transition(self, s, a):
        return moved(s, a, 0.001 * speed)

    def start(self, rng):
        return (rng.uniform(-0.1, 0.1), 0.0)


@dg.task(**BOX)
class GlobalNoise(NamedTuple):
    p: float = 1.0

    def transition(self, s, a):
        return moved(s, a, 0.001 * np.random.uniform(-1.0, 1.0))  # noqa: NPY002 # that is the fault

    def start(self, rng):
        return (rng.uniform(-0.1, 0.1), 0.0)


@dg.task(**BOX)
class DividesAtItsStarts(NamedTuple):
    p: float = 1.0

    def transition(self, s, a):
        return moved(s, a, 1e-9 / (s[0] + 1e-9))

    def start(self, rng):
        return (rng.uniform(-0.1, 0.1), 0.0)


@dg.task(**BOX)
class UnboundedStarts(NamedTuple):
    p: float = 1.0

    def transition(self, s, a):
        return moved(s, a, 0.0)

    def start(self, rng):
        return (0.01 * rng.normal(), 0.0)


@dg.task(**SIX)
class Six(NamedTuple):
    p: float = 1.0

    def transition(self, s, a):
        return moved_of_six(s, a)

    def start(self, rng):
        return (rng.uniform(-0.1, 0.1), 0.0, 0.0, 0.0, 0.0, 0.0)


exec(  # as in an interactive session: there is no file
    "@dg.task(**BOX)\nclass NoSource(NamedTuple):\n    p: float = 1.0\n"
    "    def transition(self, s, a):\n        return moved(s, a, 0.0)\n"
    "    def start(self, rng):\n        return (rng.uniform(-0.1, 0.1), 0.0)\n"
)


def _run(task, q=((1.0, 0.0), (0.0, 1.0)), weight=1.0):
    """A run of two prototypes that pushes towards the middle."""
    spec = spec_of(task)
    rest = [0.0] * (len(spec.dimensions) - 2)
    partition = voronoi([[0.1, 0.1, *rest], [-0.1, -0.1, *rest]], [weight] * len(spec.dimensions))
    representation = Representation(partition, spec.dimensions, {"task": spec.name})
    configuration = configure(spec, learner="probation")
    return Run(
        configuration, representation, np.array(q), np.zeros((2, 2), dtype=np.int64), {"solved": True}, [], []
    )


@pytest.mark.second_stage
@pytest.mark.parametrize(
    ("task", "words"),
    [
        (ReadsGlobal(), r"line \d+ of .*test_diagnosis.py reads the global speed"),
        (GlobalNoise(), r"uses numpy.random, which cannot be followed"),
        (DividesAtItsStarts(), r"may divide by 0 in line \d+ from its starts"),
        (UnboundedStarts(), r"draws noise by rng.normal"),
        (Six(), r"Six has 6 dimensions"),
        (globals()["NoSource"](), r"the source of transition is not in a file"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_cannot_be_proven_is_said_in_one_sentence_and_trials_are_no_proof(task, words):
    run = _run(task)
    why = question_for(Request(run.configuration.spec, run.controller))
    assert isinstance(why, str)
    assert re.search(words, why)
    assert len(re.findall(r"\.(?:\s|$)", why)) == 1  # one sentence
    with pytest.raises(DistinguoError, match="Leave prove out"):
        to_be_proven(run.configuration)
    proof = verify(run, steps=200)
    assert proof.verdict in ("not provable", "refuted")
    assert not proof.holds
    assert why in proof.sentences
    assert proof.as_json()["label"] == "not a proof"


def test_the_line_of_a_division_by_0_is_that_of_the_program():
    why = question_for(Request(spec_of(DividesAtItsStarts()), _run(DividesAtItsStarts()).controller))
    line = int(re.search(r"in line (\d+) from", why).group(1))
    assert "1e-9 / (s[0] + 1e-9)" in Path(__file__).read_text().splitlines()[line - 1]


# ---- diagnoses -----------------------------------------------------------------------------------------------------


def _diagnosed(run, cells=2_500):
    request = Request(run.configuration.spec, run.controller, cells=cells)
    finding = ask_program(request)
    return finding, diagnose(request, finding)


def test_the_closest_approach_is_where_a_shift_fails():
    """An independent look: a smaller shift of any coordinate never fails, at any state of the same trials."""
    run = _run(Sled())
    spec = run.configuration.spec
    found = closest_approach(spec, run.controller, seed=0)
    assert found is not None
    axis = spec.dimensions.index(found.coordinate)
    a = int(run.controller.action(found.state))
    shifts = [np.array(found.state) + sign * found.distance * np.eye(2)[axis] for sign in (1.0, -1.0)]
    assert any(Sled.transition(Sled(), tuple(moved), a)[2] for moved in shifts)
    rng, widths = np.random.default_rng(0), np.array(spec.high) - np.array(spec.low)
    s = Sled.start(Sled(), rng)
    for _ in range(300):
        a = int(run.controller.action(s))
        for shift in (0.99 * found.share) * widths * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]):
            assert not Sled.transition(Sled(), tuple(np.array(s) + shift), a)[2]
        s = Sled.transition(Sled(), s, a)[0]


def test_the_first_struck_cell_may_fail_and_leads_where_it_is_said():
    """A controller that pushes outwards: the cell and its image are those of the program itself."""
    run = _run(Sled(), q=((0.0, 1.0), (1.0, 0.0)))
    finding, found = _diagnosed(run)
    assert not finding.attempt.alive.any()
    struck = found.struck
    assert struck is not None
    assert "fail" in struck.why or "grid" in struck.why
    assert struck.links > 0
    rng = np.random.default_rng(1)
    reached = []
    for _ in range(200):
        s = tuple(rng.uniform(struck.low, struck.high))
        for _ in range(struck.steps):
            s, _, ended = Sled.transition(Sled(), s, int(run.controller.action(s)))
            reached.append(s)
            if ended:
                break
    inside = [
        all(a <= x <= b for x, a, b in zip(s, struck.leads_low, struck.leads_high, strict=True))
        for s in reached
    ]
    assert any(inside)


def test_a_proof_that_was_not_found_says_what_was_and_what_to_try():
    proof = verify(_run(Sled(), q=((0.0, 1.0), (1.0, 0.0))), cells=2_500)
    assert proof.verdict == "refuted"
    text = "\n".join(proof.sentences)
    for words in (
        "of failure in",
        "first cell that was struck",
        "distinguo learn plants.py:Sled --seed 0 --prove",
    ):
        assert words in text
    assert proof.as_json()["diagnosis"]["struck"]["steps"] > 0


def test_sliding_is_reported_with_its_eigenvalues():
    _, found = _diagnosed(_run(Sled()))
    assert found.slides is not None
    line = next(line for line in found.sentences() if "eigenvalues" in line)
    assert f"modulus {found.slides.modulus:.5f}" in line
    # along the border x + v = 0 of the sled, the state shrinks as the border says: v = -x, so x' = x + 0.05 v'
    assert found.slides.modulus == pytest.approx(1.0 / 1.05, abs=1e-6)


# ---- trials that are all the same, and files that changed ---


@dg.task(**SIX)
class OneStart(NamedTuple):
    p: float = 1.0

    def transition(self, s, a):
        return moved_of_six(s, a)

    def start(self, rng):
        return (0.1, 0.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.second_stage
def test_identical_trials_bound_nothing():
    proof = verify(_run(OneStart()), steps=50)
    details = proof.as_json()
    assert details["identical"] is True
    assert details["bound"] is None
    assert "confidence" not in proof.sentences[0]
    assert "all 100 trials were the same" in proof.sentences[0]
    assert proof.verdict == "not provable"
    falls = verify(_run(OneStart(), q=((1.0, 0.0), (1.0, 0.0))), steps=2_000)
    assert falls.verdict == "refuted"
    different = verify(_run(Six()), steps=50).as_json()
    assert different["bound"] is not None


PLANT = """
from typing import NamedTuple
import distinguo as dg

@dg.task(states=("x", "v"), actions=("left", "right"), low=(-1, -2), high=(1, 2))
class Brick(NamedTuple):
    push: float = 1.0

    def transition(self, s, a):
        v = s[1] + 0.05 * (self.push if a == 1 else -self.push)
        x = s[0] + 0.05 * v
        return (x, v), 0.0, abs(x) > 1.0

    def start(self, rng):
        return (rng.uniform(-0.1, 0.1), 0.0)
"""


@pytest.mark.second_stage
def test_a_new_user_goes_from_ten_lines_to_a_proof(tmp_path):
    """The commands that are printed are run; a run says which file it was learned from, and if that has changed."""
    plant = tmp_path / "plant.py"
    plant.write_text(PLANT)

    def call(*words):
        return subprocess.run(
            [sys.executable, "-m", "distinguo", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    learned = call("learn", "plant.py:Brick", "--learner", "probation", "--prove", "--out", "run")
    assert learned.returncode == 0, learned.stderr
    assert "Proven from every start" in learned.stdout
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["task_file"] == "plant.py:Brick"
    assert result["task_sha256"] == hashlib.sha256(plant.read_bytes()).hexdigest()
    without = call("verify", "run")
    assert without.returncode == 2
    given = re.search(r"--task (plant.py:Brick)", without.stderr).group(1)
    again = call("verify", "run", "--task", given)
    assert again.returncode == 0, again.stderr
    assert "changed" not in again.stderr
    plant.write_text(PLANT + "\n# another line\n")
    changed = call("verify", "run", "--task", given)
    assert "plant.py:Brick has changed since the run was learned" in changed.stderr
