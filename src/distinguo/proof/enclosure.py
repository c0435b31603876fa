"""What a proof asks of a task: where can one step lead from anywhere in a cell?

A *cell* is a box in the task's own coordinates ``w = A s``, two linear combinations of the state. A task of two
dimensions whose trials should never end becomes provable by implementing, for its class
(``distinguo.seam.implements``):

``axes(task)``
    the matrix ``A`` as ``(a00, a01, a10, a11)``. Good axes keep the images of cells small: directions in which
    the step grows and shrinks.
``enclose(task, low, high, a)``
    a box ``low', high'`` that holds ``A s'`` for every state ``s`` of the cell, as the *floating-point* program
    computes ``s'``, and whether certainly no such step fails.
``extent(task)``
    the box in which a proof of the whole task should look for states that can be held. It may be too small, which
    costs proofs and never soundness.
``widened(task, low, high, disturbance)``
    the set of tasks whose parameters lie between those of two dictionaries, and whose steps are off by so much at
    most. What it returns is what a proof speaks of: it has all of the above as well, ``claims.task_claim``, and the
    task in the middle of its ranges as ``middle``.

Tasks whose trials are meant to arrive somewhere are asked another question (``arrive.strip``).

The enclosure of the puck is in ``hold.puck``; another task's belongs beside it or beside the task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from distinguo.errors import DistinguoError
from distinguo.seam import generic, generic_with_default

#: By how much, in units of a task's magnitudes, cells and images are widened. One step of the puck in floating point
#: is off by 2e-16 of them, and the bookkeeping of cells by 1e-12 at most (docs/proof.md, "Rounding").
SLACK = 1e-11

Pair = tuple[float, float]


@generic
def axes(task: Any) -> tuple[float, float, float, float]:
    """Return the matrix that turns a state into the coordinates of cells, row by row.

    >>> from distinguo.proof.hold.puck import Puck
    >>> [round(number, 3) for number in axes(Puck())]
    [2.425, 1.0, -2.425, 1.0]
    """
    raise NotImplementedError


@generic
def enclose(task: Any, low: Pair, high: Pair, a: int) -> tuple[Pair, Pair, bool]:
    """Return a box around the images of a cell under action ``a``, and whether no step from it can fail.

    >>> from distinguo.proof.hold.puck import Puck
    >>> low, high, stays = enclose(Puck(), (0.0, 0.0), (0.1, 0.1), 1)
    >>> [round(number, 3) for number in (*low, *high)], stays
    ([0.06, 0.06, 0.165, 0.155], True)
    """
    raise NotImplementedError


@generic
def extent(task: Any) -> tuple[Pair, Pair]:
    """Return the box, in the coordinates of cells, that holds the states worth a proof.

    >>> from distinguo.proof.hold.puck import Puck
    >>> low, high = extent(Puck())
    >>> bool(low[0] < -3 and high[0] > 3)
    True
    """
    raise NotImplementedError


@generic_with_default
def widened(task: Any, low: Mapping[str, float], high: Mapping[str, float], disturbance: Pair) -> Any:
    """Return all tasks with parameters between two, of which each step is off by at most a disturbance.

    Parameters that are not named are those of the task.

    >>> from distinguo.proof.hold.puck import Puck
    >>> widened(Puck(), {"mass": 0.9}, {"mass": 1.1}, (0.0, 0.01)).high.mass
    1.1
    """
    raise DistinguoError(
        f"There is no enclosure for a {type(task).__name__}, so nothing can be proven about it."
    )
