"""The checker accepts what is true, and refuses what was changed, is false or is about something else."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

import distinguo.proof.checker as checker
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.certificate import certificate_text, load_certificate, read_certificate
from distinguo.proof.checker.check import check
from distinguo.proof.enclosure import cell_box, state
from distinguo.proof.hold.invariant import certify_task, prove_hold
from distinguo.proof.hold.puck import pucks
from distinguo.proof.question import cells_claim, controller_claim, partition_of, task_claim
from distinguo.proof.schema import HoldCertificate
from distinguo.representations.boxes import grid as box_grid
from distinguo.representations.partition import region
from distinguo.runs.folder import open_run
from distinguo.tasks.puck.analysis import controllable
from distinguo.tasks.puck.puck import Puck

from .policies import GOOD, HILL, ideal, trained

COUNTS = (256, 128)
CLAIM = controller_claim(Controller(ideal(), GOOD))
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells")


@cache
def the_proof():
    return prove_hold(Puck(), Controller(ideal(), GOOD), counts=COUNTS)


def the_certificate() -> HoldCertificate:
    return the_proof().certificate


@cache
def the_bytes() -> bytes:
    return certificate_text(the_certificate()).encode()


def changed(**update) -> HoldCertificate:
    """A certificate with other content and a good digest."""
    return read_certificate(certificate_text(the_certificate().model_copy(update=update)).encode())


def with_cells(alive) -> HoldCertificate:
    cells = the_certificate().cells
    return changed(cells=cells_claim(cells.matrix, cells.low, cells.pitch, alive))


def test_accepts_the_truth(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_bytes(the_bytes())
    checked = check(load_certificate(path), CLAIM)
    assert checked.cells == the_proof().held.cells
    assert (load_certificate(path).alive() == the_proof().held.alive).all()


def test_accepts_the_maximal_set():
    assert check(certify_task(Puck(), COUNTS)).cells == the_proof().provable.cells


def test_accepts_ranges_and_disturbances():
    rough = pucks(Puck(mass=0.97, beta=0.29), Puck(mass=1.03, beta=0.31), (0.0005, 0.002))
    proof = prove_hold(rough, Controller(ideal(), GOOD), counts=COUNTS)
    assert check(proof.certificate, CLAIM).cells == proof.held.cells > 0
    assert check(certify_task(pucks(Puck(interval=0.019), Puck(interval=0.021)), COUNTS)).cells > 0


@pytest.mark.parametrize("prototypes", [24, 100])
def test_accepts_learned_controllers(prototypes):
    controller = Controller(*trained(0, prototypes))
    proof = prove_hold(Puck(), controller, counts=(1024, 512))
    assert check(proof.certificate, controller_claim(controller)).cells == proof.held.cells > 0


def test_accepts_boxes():
    tree = box_grid([100, 200], HILL.low, HILL.high)
    boxes = np.array(
        [[x, v] for x in np.linspace(-2.376, 2.376, 100) for v in np.linspace(-5.4725, 5.4725, 200)]
    )
    q = np.where((boxes[:, 1] > -1.7615 * boxes[:, 0])[:, None], GOOD[0], GOOD[1])
    proof = prove_hold(Puck(), Controller(tree, q), counts=COUNTS)
    assert check(proof.certificate, controller_claim(Controller(tree, q))).cells == proof.held.cells > 0


@pytest.mark.parametrize("prototypes", [0, 24])
def test_a_claim_names_the_whole_controller(prototypes):
    controller = Controller(*trained(0, prototypes, 1_000))
    claim = controller_claim(controller)
    assert controller_claim(controller._replace(partition=partition_of(claim))) == claim


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**40))
def test_refuses_one_flipped_bit(bit):
    damaged = bytearray(the_bytes())
    bit %= 8 * len(damaged)
    damaged[bit // 8] ^= 1 << bit % 8
    with pytest.raises(DistinguoError) as refusal:
        read_certificate(bytes(damaged))
    assert "\n" not in str(refusal.value)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**13), st.binary(max_size=20))
def test_refuses_cut_and_lengthened_files(end, more):
    data = the_bytes()[:end] + more
    if data != the_bytes():
        with pytest.raises(DistinguoError):
            read_certificate(data)


def doomed_cells():
    rng = np.random.default_rng(0)
    for i, j in rng.permutation(np.argwhere(~the_proof().held.alive)):
        low, high = cell_box(the_proof().held.grid, i, j, 1, 1)
        corners = [
            state(the_proof().held.grid.matrix, (y, z)) for y in (low[0], high[0]) for z in (low[1], high[1])
        ]
        if not all(controllable(Puck(), s) for s in corners):
            yield i, j


def test_refuses_every_added_cell_with_a_doomed_state():
    for (i, j), _ in zip(doomed_cells(), range(15), strict=False):
        more = the_proof().held.alive.copy()
        more[i, j] = True
        with pytest.raises(DistinguoError, match="may leave the set"):
            check(with_cells(more))


def test_refuses_sets_with_holes():
    rng = np.random.default_rng(1)
    places = np.argwhere(the_proof().held.alive)
    refused = 0
    for i, j in places[rng.integers(0, len(places), 20)]:
        fewer = the_proof().held.alive.copy()
        fewer[i, j] = False
        try:
            check(with_cells(fewer))
        except DistinguoError:
            refused += 1
    assert refused >= 15  # cells at the rim that nothing leads to may be left out


def test_refuses_other_tasks_and_policies():
    task, cells = the_certificate().task, the_certificate().cells
    harder = [
        {"task": task.model_copy(update={"low": {**task.low, "force": 2.0}})},
        {"task": task.model_copy(update={"high": {**task.high, "beta": 0.4}})},
        {"task": task.model_copy(update={"low": {**task.low, "wall": 1.0}})},
        {"task": task.model_copy(update={"disturbance": [0.0, 0.1]})},
        {"controller": CLAIM.model_copy(update={"actions": [[1], [0]]})},
        {"controller": CLAIM.model_copy(update={"actions": [[0, 1], [1]]})},
        {"controller": CLAIM.model_copy(update={"primary": [0, 0]})},
        {"cells": cells.model_copy(update={"pitch": [cells.pitch[0] * 1.1, cells.pitch[1]]})},
        {"cells": cells.model_copy(update={"low": [cells.low[0] + 0.5, cells.low[1]]})},
        {"cells": cells.model_copy(update={"matrix": [1.0, 0.0, 0.0, 1.0]})},
        {"cells": cells.model_copy(update={"matrix": [1.0, 1.0, 1.0, 1.0]})},
    ]
    for update in harder:
        with pytest.raises(DistinguoError, match="certificate is wrong"):
            check(changed(**update))


def test_refuses_another_controller():
    left, right, either = [0.0, -1.0], [-1.0, 0.0], [0.0, 0.0]
    for partition, q in (
        (ideal(), [right, left]),
        (ideal(), [left, either]),
        (trained(0, 24, 100)[0], [left] * 24),
    ):
        with pytest.raises(DistinguoError, match="another controller"):
            check(the_certificate(), controller_claim(Controller(partition, np.array(q))))
    with pytest.raises(DistinguoError, match="another controller"):
        check(certify_task(Puck(), COUNTS), CLAIM)


def test_accepts_files_that_number_regions_by_prototypes():
    """Before regions had numbers of their own, a certificate had a row of actions for every prototype."""
    folder = Path(__file__).parent.parent / "golden" / "run-v1"
    certificate, run = load_certificate(folder / "certificate.json"), open_run(folder)
    assert certificate.controller.primary == [0, 1, 1, 3, 4]
    claim = controller_claim(run.controller)
    assert claim.primary == [0, 1, 1, 2, 3]
    assert check(certificate, claim, task_claim(run.configuration.spec.task)).cells > 0
    acting = claim.model_copy(update={"actions": claim.actions[::-1]})
    with pytest.raises(DistinguoError, match="another controller"):
        check(certificate, acting)
    for s in np.random.default_rng(0).uniform(HILL.low, HILL.high, (100, 2)).tolist():
        row = region(partition_of(certificate.controller), tuple(s))
        assert certificate.controller.actions[row][0] == run.controller.action(s)


def test_refuses_claims_that_make_no_sense(tmp_path):
    cells = the_certificate().cells
    for update in ({"runs": [[0, 5, 2]]}, {"runs": [[0, 0, 10**6]]}, {"counts": [10**6, 10**6]}):
        with pytest.raises(DistinguoError):
            changed(cells=cells.model_copy(update=update))
    with pytest.raises(DistinguoError, match="not a distinguo certificate"):
        read_certificate(b'{"format": "other"}')
    with pytest.raises(DistinguoError, match="Cannot read"):
        load_certificate(tmp_path / "none.json")


def imports(path: Path) -> set[str]:
    """The modules of distinguo that a file names."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name for name in names if name.startswith("distinguo")}


def test_the_checker_shares_no_code_with_the_prover():
    """It knows the errors, the words of certificates and itself; they know how to read, and the tasks."""
    folder = Path(checker.__file__).parent
    files = sorted(folder.glob("*.py"))
    own = {f"distinguo.proof.checker.{path.stem}" for path in files}
    assert len(own) > 5
    for path in files:
        assert imports(path) <= own | {"distinguo.errors", "distinguo.proof.schema"}, path
    for name in ("schema", "certificate"):
        home = imports(folder.parent / f"{name}.py")
        tasks = {"distinguo.tasks.mountain_car", "distinguo.tasks.puck.puck"}
        reading = {"distinguo.reading.files"}
        assert home <= tasks | reading | {"distinguo.errors", "distinguo.proof.schema"}
