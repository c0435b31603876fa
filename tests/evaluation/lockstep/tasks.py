"""Small tasks of three and eight dimensions, and what to ask of trials that are a matter of luck."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from distinguo.controller import Controller
from distinguo.evaluation.lockstep.driver import evaluate_lockstep
from distinguo.evaluation.simulate import evaluate
from distinguo.seam import config, implements
from distinguo.tasks.task import actions, start, transition, unpack

#: Where nothing is compiled, a little of everything has to do.
SCALE = 50 if config.DISABLE_JIT else 1
Triple = tuple[float, float, float]
Octuple = tuple[float, float, float, float, float, float, float, float]


class Lattice(NamedTuple):
    """A walk on a lattice of quarters, where states lie exactly between prototypes all the time."""

    wall: float = 6.0


@implements(transition, Lattice)
def _(task: Lattice, s: Triple, a: int) -> tuple[Triple, float, bool]:
    x, y, z = s
    step = 0.25 if x * y >= z else -0.25
    if a == 0:
        x, z = x + step, z - 0.25
    elif a == 1:
        y, x = y - step, x + 0.25
    else:
        z, y = z + step, y + 0.5
    over = x * x + y * y + z * z > task.wall * task.wall
    return (x, y, z), 0.1 * x - (1.0 if over else 0.0), over


@implements(unpack, Lattice)
def _(task: Lattice, row: np.ndarray) -> Triple:
    return (row[0], row[1], row[2])


@implements(actions, Lattice)
def _(task: Lattice) -> int:
    return 3


@implements(start, Lattice)
def _(task: Lattice, rng: np.random.Generator) -> Triple:
    return (0.0, 0.0, 0.0)


class Ring(NamedTuple):
    """Eight coupled numbers; one that is not a number does not end the trial."""

    pull: float = 0.05


@implements(transition, Ring)
def _(task: Ring, s: Octuple, a: int) -> tuple[Octuple, float, bool]:
    b, c, d, e, f, g, h, i = s
    push = 0.1 if a == 1 else -0.1
    k = task.pull
    s_next = (c + push, d - k * b, e + k * c, f - k * d, g + k * e, h - k * f, i + k * g, b - push * k)
    return s_next, 0.3 * c, c > 2.5


@implements(unpack, Ring)
def _(task: Ring, row: np.ndarray) -> Octuple:
    return (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7])


@implements(actions, Ring)
def _(task: Ring) -> int:
    return 2


def alike(task: Any, controller: Controller, start: np.ndarray) -> None:
    """Check that the lengths and returns of trials with ties are distributed as in the plain evaluation."""
    starts, cap = np.tile(start, (2000 // SCALE, 1)), 60
    plain = evaluate(task, controller, np.random.default_rng(1), starts, cap)
    quick = evaluate_lockstep(task, controller, np.random.default_rng(2), starts, cap)
    assert quick is not None
    assert plain.tied
    assert quick.tied
    for ours, theirs in ((quick.lengths, plain.lengths), (quick.returns, plain.returns)):
        assert len(np.unique(theirs)) > 1 or len(np.unique(ours)) == 1
        assert stats.ks_2samp(ours, theirs, method="asymp").pvalue > 0.001
