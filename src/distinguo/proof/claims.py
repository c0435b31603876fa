"""From what is proven to the words of a certificate, and back: the prover's side of ``schema``.

A kind of partition becomes certifiable by implementing :func:`claim_of` for its class, a task by implementing
:func:`task_claim`; what they return must be one of the claims that the checker knows.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from pydantic import ValidationError

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.actions import kinds_with
from distinguo.proof.schema import BoxesClaim, CellsClaim, VoronoiClaim
from distinguo.representations.boxes import Boxes
from distinguo.representations.voronoi import Voronoi
from distinguo.seam import generic_with_default, implements

ActionLists = list[list[int]]  #: the preferred actions of every region


def controller_claim(controller: Controller) -> VoronoiClaim | BoxesClaim:
    """Return a controller in the words of a certificate.

    >>> from distinguo.representations.voronoi import voronoi
    >>> two = voronoi([[1.0, 0.0], [-1.0, 0.0]], [1.0, 2.0])
    >>> controller_claim(Controller(two, np.array([[0.0, -1.0], [0.5, 0.5]]))).actions
    [[0], [0, 1]]
    """
    actions = [np.flatnonzero(preferred).tolist() for preferred in controller.action_sets]
    try:
        return claim_of(controller.partition, actions)
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise DistinguoError(f"There is no certificate for this controller: {problem}.") from None


@generic_with_default
def claim_of(partition: Any, actions: ActionLists) -> VoronoiClaim | BoxesClaim:
    """Return a partition and the actions of its regions in the words of a certificate."""
    raise DistinguoError(f"A {type(partition).__name__} cannot be certified; {kinds_with(claim_of)} can.")


@implements(claim_of, Voronoi)
def prototypes_claim(partition: Voronoi, actions: ActionLists) -> VoronoiClaim:
    """Name the prototypes, and the region of each."""
    return VoronoiClaim(
        kind="voronoi",
        prototypes=partition.prototypes.tolist(),
        primary=partition.regions.tolist(),
        weight=partition.weight.tolist(),
        actions=actions,
    )


@implements(claim_of, Boxes)
def tree_claim(partition: Boxes, actions: ActionLists) -> BoxesClaim:
    """Name the nodes of the tree, column by column."""
    columns = {name: getattr(partition, name).tolist() for name in ("axis", "cut", "below", "above")}
    return BoxesClaim(kind="boxes", **columns, actions=actions)


@singledispatch
def partition_of(claim: Any) -> Any:
    """Return the partition that a claim names; its regions are the rows of the claim's actions.

    >>> claim = VoronoiClaim(kind="voronoi", prototypes=[[0.0, 1.0]], primary=[0], weight=[1.0, 2.0], actions=[[0]])
    >>> partition_of(claim).scale.tolist()
    [1.0, 0.5]
    """
    raise DistinguoError(f"A {type(claim).__name__} names no partition.")


@partition_of.register
def _(claim: VoronoiClaim) -> Voronoi:
    weight, rows = np.array(claim.weight), np.array(claim.primary)
    first = [
        np.flatnonzero(rows == j)[:1] for j in range(len(claim.actions))
    ]  # old files have rows of nobody
    primaries = np.array([found[0] if len(found) else -1 for found in first])
    return Voronoi(np.array(claim.prototypes), rows, primaries, 1 / weight, weight)


@partition_of.register
def _(claim: BoxesClaim) -> Boxes:
    axis, cut, below, above = map(np.array, (claim.axis, claim.cut, claim.below, claim.above))
    return Boxes(axis, cut, below, above, np.zeros(2), np.zeros(2))  # the extent is for pictures only


@generic_with_default
def task_claim(task: Any) -> Any:
    """Return a task, or a set of tasks, in the words of a certificate.

    >>> from distinguo.proof.hold.puck import Puck, pucks
    >>> task_claim(pucks(Puck())).low["beta"]
    0.3
    """
    raise DistinguoError(f"There are no certificates about a {type(task).__name__}.")


def cells_claim(matrix: Any, low: Any, pitch: Any, alive: np.ndarray) -> CellsClaim:
    """Return a set of cells in the words of a certificate.

    >>> cells_claim((1, 0, 0, 1), (0, 0), (1, 1), np.array([[0, 1, 1], [1, 0, 1]], dtype=bool)).runs
    [[0, 1, 2], [1, 0, 0], [1, 2, 2]]
    """
    if not alive.any():
        raise DistinguoError("There is nothing to certify: no cell is held.")
    padded = np.pad(alive.astype(np.int8), ((0, 0), (1, 1)))
    rows, firsts = np.nonzero(np.diff(padded, axis=1) == 1)
    lasts = np.nonzero(np.diff(padded, axis=1) == -1)[1] - 1
    return CellsClaim(
        matrix=[float(number) for number in matrix],
        low=[float(number) for number in low],
        pitch=[float(number) for number in pitch],
        counts=list(alive.shape),
        runs=np.column_stack([rows, firsts, lasts]).tolist(),
    )
