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

import distinguo.proof.checker.hold as checker_module
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.actions import action_bits
from distinguo.proof.certificate import Certificate, cells_claim, controller_claim, dumps, load, loads
from distinguo.proof.checker.hold import check
from distinguo.proof.grid import cell_box, state
from distinguo.proof.hold.puck import pucks
from distinguo.proof.verify import certify_task, verify
from distinguo.representation.boxes import grid as box_grid
from distinguo.tasks.puck.analysis import controllable
from distinguo.tasks.puck.puck import Puck

from .policies import GOOD, HILL, ideal, trained

COUNTS = (256, 128)
CLAIM = controller_claim(ideal(), np.array([1, 2]))
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells")


@cache
def the_proof():
    return verify(Puck(), Controller(ideal(), GOOD), counts=COUNTS)


def the_certificate() -> Certificate:
    return the_proof().certificate


@cache
def the_bytes() -> bytes:
    return dumps(the_certificate()).encode()


def changed(**update) -> Certificate:
    """A certificate with other content and a good digest."""
    return loads(dumps(the_certificate().model_copy(update=update)).encode())


def with_cells(alive) -> Certificate:
    cells = the_certificate().cells
    return changed(cells=cells_claim(cells.matrix, cells.low, cells.pitch, alive))


def test_accepts_the_truth(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_bytes(the_bytes())
    checked = check(load(path), CLAIM)
    assert checked.cells == the_proof().held.cells
    assert (load(path).alive() == the_proof().held.alive).all()


def test_accepts_the_maximal_set():
    assert check(certify_task(Puck(), COUNTS)).cells == the_proof().provable.cells


def test_accepts_ranges_and_disturbances():
    rough = pucks(Puck(mass=0.97, beta=0.29), Puck(mass=1.03, beta=0.31), (0.0005, 0.002))
    found = verify(rough, Controller(ideal(), GOOD), counts=COUNTS)
    assert check(found.certificate, CLAIM).cells == found.held.cells > 0
    assert check(certify_task(pucks(Puck(interval=0.019), Puck(interval=0.021)), COUNTS)).cells > 0


@pytest.mark.parametrize("prototypes", [24, 100])
def test_accepts_learned_controllers(prototypes):
    partition, q = trained(0, prototypes)
    found = verify(Puck(), Controller(partition, q), counts=(1024, 512))
    assert (
        check(found.certificate, controller_claim(partition, action_bits(Controller(partition, q)))).cells
        == found.held.cells
        > 0
    )


def test_accepts_boxes():
    tree = box_grid([100, 200], HILL.low, HILL.high)
    boxes = np.array(
        [[x, v] for x in np.linspace(-2.376, 2.376, 100) for v in np.linspace(-5.4725, 5.4725, 200)]
    )
    q = np.where((boxes[:, 1] > -1.7615 * boxes[:, 0])[:, None], GOOD[0], GOOD[1])
    found = verify(Puck(), Controller(tree, q), counts=COUNTS)
    assert (
        check(found.certificate, controller_claim(tree, action_bits(Controller(tree, q)))).cells
        == found.held.cells
        > 0
    )


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**40))
def test_refuses_one_flipped_bit(bit):
    damaged = bytearray(the_bytes())
    bit %= 8 * len(damaged)
    damaged[bit // 8] ^= 1 << bit % 8
    with pytest.raises(DistinguoError) as refusal:
        loads(bytes(damaged))
    assert "\n" not in str(refusal.value)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**13), st.binary(max_size=20))
def test_refuses_cut_and_lengthened_files(end, more):
    data = the_bytes()[:end] + more
    if data != the_bytes():
        with pytest.raises(DistinguoError):
            loads(data)


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
    for partition, sets in ((ideal(), [2, 1]), (ideal(), [1, 3]), (trained(0, 24, 100)[0], [1] * 24)):
        with pytest.raises(DistinguoError, match="another controller"):
            check(the_certificate(), controller_claim(partition, np.array(sets)))
    with pytest.raises(DistinguoError, match="another controller"):
        check(certify_task(Puck(), COUNTS), CLAIM)


def test_refuses_claims_that_make_no_sense(tmp_path):
    cells = the_certificate().cells
    for update in ({"runs": [[0, 5, 2]]}, {"runs": [[0, 0, 10**6]]}, {"counts": [10**6, 10**6]}):
        with pytest.raises(DistinguoError):
            changed(cells=cells.model_copy(update=update))
    with pytest.raises(DistinguoError, match="not a distinguo certificate"):
        loads(b'{"format": "other"}')
    with pytest.raises(DistinguoError, match="Cannot read"):
        load(tmp_path / "none.json")


def test_the_checker_shares_no_code_with_the_prover():
    ours = (
        *("arrival_balls", "arrival_checker", "arrival_claims", "balls", "certificate"),
        *("checker", "checker_actions", "claims"),
    )
    for name in ours:
        tree = ast.parse((Path(checker_module.__file__).parent / f"{name}.py").read_text())
        homes = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        found = {home for home in homes if home and home.startswith("distinguo.proof")}
        assert found <= {f"distinguo.proof.{home}" for home in ours}
