"""A few settings at both ends of their ranges; ``python -m tests.ends`` tries all of them by night."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.learners.agent import field, fresh_arrays
from distinguo.learners.learner import learner_named
from tests.ends import found_by

SOME = {
    "economy": {"learner.gamma", "learner.max_steps", "learner.samples", "stage.prototypes", "stage.cap"},
    "model": {"learner.reach", "learner.neighbours", "learner.investigate_every"},
    "parti-game": {"learner.most_cells", "learner.finest", "learner.patience"},
}


@pytest.mark.second_stage
@pytest.mark.parametrize("learner", SOME)
def test_a_run_at_both_ends_of_a_setting_ends_well(learner: str) -> None:
    assert found_by(learner_named(learner), SOME[learner]) == []


class Large(NamedTuple):
    rows: Annotated[np.ndarray, field(float, "size", first=1.0)]


def test_a_memory_that_the_machine_does_not_have_is_refused() -> None:
    """It was asked for, and the process ended by a traceback, or by the machine."""
    for size in (2**40, 10**18):
        with pytest.raises(DistinguoError, match=r"would need .* GiB of memory, which this machine does not"):
            fresh_arrays(Large, size=size)
    assert fresh_arrays(Large, size=3).rows.tolist() == [1.0, 1.0, 1.0]
