"""The benchmark of proofs: certified states never fail in a simulation, nor do random agents in the shield."""

from __future__ import annotations

import pytest
from benchmarks.proofs_hold import FIRST_SEED, ROWS, failures, learned, measured

from tests.nightly import NIGHTLY, so_many

CONVERTER = 4  #: the row whose supply varies


@pytest.mark.skipif(not NIGHTLY, reason="takes half a minute for each row")
@pytest.mark.parametrize("n", range(len(ROWS)))
def test_certified_states_never_fail(n):
    row = ROWS[n]
    controller = learned(row, FIRST_SEED).controller
    one = measured(row, controller, FIRST_SEED)
    assert one.finding.certificate is not None
    if n == CONVERTER:
        assert one.of_box >= 0.84
        assert one.finding.attempt.lattice.cells <= 10_000
    steps, failed = failures(row, one, controller, so_many(50_000, nightly=10_000_000))
    assert steps >= 50_000
    assert failed == 0
