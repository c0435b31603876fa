"""What parti-game remembers, and its settings."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.learners.agent import check_arrays, field, fresh_arrays

# What parti-game remembers: its cells, the outcomes of each aim, local models, and the present aim.
#
# Cells are boxes of *scaled* observations, each coordinate divided by its extent. They are the leaves of a tree of
# cuts; the lower half of a split cell keeps its number. An *aim* is a cell with one of its neighbours; an
# *outcome* is a cell that an aim was seen to lead to.


NOTHING = -1  #: no cell, no node, no outcome
CELL, NODE, AIM, OUTCOME = "cells", "nodes", "aims", "outcomes"  # axes
NEIGHBOURS = 24  #: mean room for neighbours of a cell
OUTCOMES = 32  #: mean room for outcomes of all aims of a cell

#: What is counted, as one record.
COUNTERS = np.dtype(
    [
        ("cells", np.int64),
        ("nodes", np.int64),
        ("outcomes", np.int64),
        ("waiting", np.int64),  # scratch: in the queue
        ("goal", np.int64),  # the cell of the goal
        ("here", np.int64),  # the cell that the present aim was taken in; NOTHING without one
        ("aim", np.int64),  # the neighbour that is aimed at
        ("aimed", np.int64),  # steps since then
        ("closer", np.int64),  # steps of them when the aim was nearest
        ("learned", np.int64),  # steps
        ("news", np.int64),  # outcomes that were new to the adversary
        ("news_before", np.int64),  # the same when the trial began
        ("claimed", np.int64),  # the same when success was claimed last, NOTHING before
        ("arrivals", np.int64),  # at the goal
        ("first_arrival", np.int64),  # steps until the first one
        ("splits", np.int64),  # times that losers and their winning neighbours were split
        ("forgotten", np.int64),  # times that all outcomes were forgotten because nothing was left to split
    ],
    align=True,
)


class PartiMemory(NamedTuple):
    """All that parti-game has learned.

    >>> fresh_parti(most_cells=8, dimensions=2, actions=3).low.shape
    (8, 2)
    """

    origin: Annotated[np.ndarray, field(float, "dimensions")]  #: the least observation of each coordinate
    width: Annotated[np.ndarray, field(float, "dimensions", first=1.0)]  #: the extent of each

    axis: Annotated[
        np.ndarray, field(int, NODE, first=NOTHING)
    ]  #: that a node is cut along; NOTHING for a cell
    cut: Annotated[np.ndarray, field(float, NODE)]
    below: Annotated[np.ndarray, field(int, NODE)]  #: the node of the lower half; for a cell its number
    above: Annotated[np.ndarray, field(int, NODE)]
    parent: Annotated[np.ndarray, field(int, NODE, first=NOTHING)]

    node: Annotated[np.ndarray, field(int, CELL)]  #: of each cell
    low: Annotated[np.ndarray, field(float, CELL, "dimensions")]
    high: Annotated[np.ndarray, field(float, CELL, "dimensions", first=1.0)]
    cost: Annotated[np.ndarray, field(float, CELL, first=np.inf)]  #: to the goal in the worst case
    is_split: Annotated[np.ndarray, field(bool, CELL)]  #: scratch: to be split

    first_aim: Annotated[np.ndarray, field(int, "ends")]  #: of each cell; where that of the next begins
    aimed_at: Annotated[np.ndarray, field(int, AIM)]  #: the neighbour of each aim
    first_outcome: Annotated[np.ndarray, field(int, AIM, first=NOTHING)]  #: of each aim, the latest
    source: Annotated[np.ndarray, field(int, OUTCOME)]  #: the cell that was aimed from
    target: Annotated[np.ndarray, field(int, OUTCOME)]  #: the neighbour that was aimed at
    result: Annotated[np.ndarray, field(int, OUTCOME)]  #: where that led to
    steps: Annotated[np.ndarray, field(int, OUTCOME)]  #: most that it took
    next_outcome: Annotated[np.ndarray, field(int, OUTCOME, first=NOTHING)]  #: of the same aim
    first_into: Annotated[np.ndarray, field(int, CELL)]  #: scratch: the latest outcome that led to each cell
    next_into: Annotated[np.ndarray, field(int, OUTCOME)]  #: scratch: to the same cell
    unsettled: Annotated[
        np.ndarray, field(int, AIM)
    ]  #: scratch: outcomes of each aim whose cost is not known
    queue: Annotated[np.ndarray, field(float, "places")]  #: scratch: costs of cells that wait, a heap
    queued: Annotated[np.ndarray, field(int, "places")]  #: scratch: those cells

    squares: Annotated[
        np.ndarray, field(float, NODE, "features", "features")
    ]  #: sums of products of features
    products: Annotated[
        np.ndarray, field(float, NODE, "features", "dimensions")
    ]  #: of features and displacements
    models: Annotated[np.ndarray, field(float, CELL, "features", "dimensions")]  #: the weights of each cell's
    has_model: Annotated[np.ndarray, field(bool, CELL)]
    draft: Annotated[np.ndarray, field(float, "features", "dimensions")]  #: scratch: weights of a model
    system: Annotated[np.ndarray, field(float, "features", "features")]  #: scratch: to be solved
    features: Annotated[np.ndarray, field(float, "features")]  #: scratch: of a state and an action

    place: Annotated[np.ndarray, field(float, "dimensions")]  #: the scaled observation
    lower: Annotated[np.ndarray, field(float, "dimensions")]  #: scratch: a corner of a part of a cell
    upper: Annotated[np.ndarray, field(float, "dimensions")]
    centre: Annotated[np.ndarray, field(float, "dimensions")]  #: scratch: its centre
    moved: Annotated[np.ndarray, field(float, "dimensions")]  #: scratch: the displacement of a step
    nearest: Annotated[np.ndarray, field(float, 1, first=np.inf)]  #: distance to the aim so far
    counters: Annotated[np.ndarray, field(COUNTERS, 1)]


def fresh_parti(most_cells: int, dimensions: int, actions: int) -> PartiMemory:
    """A memory with a single cell, the whole space."""
    memory: PartiMemory = fresh_arrays(PartiMemory, {}, **_sizes(most_cells, dimensions, actions))
    counters = memory.counters
    counters["cells"], counters["nodes"] = 1, 1
    counters["goal"], counters["here"] = NOTHING, NOTHING
    counters["first_arrival"], counters["claimed"] = NOTHING, NOTHING
    return memory


def _sizes(most_cells: int, dimensions: int, actions: int) -> dict[str, int]:
    return {
        CELL: most_cells,
        NODE: 2 * most_cells,
        AIM: NEIGHBOURS * most_cells,
        OUTCOME: OUTCOMES * most_cells,
        "ends": most_cells + 1,
        "places": NEIGHBOURS * most_cells + 1,
        "features": dimensions + actions,
        "dimensions": dimensions,
    }


def check_parti(memory: PartiMemory, fresh: Any) -> None:
    """Raise ``ValueError`` if a memory from a file could make compiled code leave its arrays."""
    most_cells, dimensions = fresh.low.shape
    check_arrays(memory, **_sizes(most_cells, dimensions, len(fresh.features) - dimensions))
    counters = memory.counters[0]
    cells, nodes, outcomes = (int(counters[name]) for name in ("cells", "nodes", "outcomes"))
    aims = int(memory.first_aim[cells]) if 1 <= cells <= most_cells else -1
    if not (
        nodes == 2 * cells - 1 and 0 <= outcomes <= len(memory.source) and 0 <= aims <= len(memory.aimed_at)
    ):
        raise ValueError("there are more cells or outcomes than there is room for")
    _check_tree(memory, cells, nodes, dimensions)
    _within(memory.first_aim[: cells + 1], 0, aims + 1)
    _within(memory.aimed_at[:aims], 0, cells)
    _within(memory.first_outcome[:aims], NOTHING, outcomes)
    for end in (memory.source, memory.target, memory.result):
        _within(end[:outcomes], 0, cells)
    _within(
        memory.next_outcome[:outcomes], NOTHING, np.arange(outcomes)
    )  # an earlier one: no list is endless
    for name in ("here", "aim", "goal"):
        _within(memory.counters[name], NOTHING, cells)


def _check_tree(memory: PartiMemory, cells: int, nodes: int, dimensions: int) -> None:
    """Raise unless children come after their parents, so that every walk ends, and leaves are cells."""
    axis, order = memory.axis[:nodes], np.arange(nodes)
    _within(axis, NOTHING, dimensions)
    _within(memory.parent[:nodes], NOTHING, order + (order == 0))
    inner, leaf = axis >= 0, axis < 0
    for child in (memory.below[:nodes], memory.above[:nodes]):
        _within(child[inner], order[inner] + 1, nodes)
    _within(memory.below[:nodes][leaf], 0, cells)
    _within(memory.node[:cells], 0, nodes)


def _within(numbers: np.ndarray, least: Any, beyond: Any) -> None:
    if not ((numbers >= least) & (numbers < beyond)).all():
        raise ValueError("a place lies outside of its table")


# The settings of parti-game, each with its source (docs/readings.md, "Parti-game").


class PartiSettings(NamedTuple):
    """The constants of the learner ``parti-game``.

    >>> PartiSettings().patience
    5
    """

    count_steps: Annotated[
        bool, Field(description="whether a way costs its steps (ours) and not its cells (the paper's)")
    ] = False
    patience: Annotated[
        int,
        Field(ge=1, le=10**6, description="steps without coming closer to an aim, to be stuck; ours"),
    ] = 5
    time_counts: Annotated[
        bool, Field(description="whether an aim is stuck when the task stops the trial; ours")
    ] = True
    enough: Annotated[
        int,
        Field(ge=1, le=10**6, description="tries of every action that make a local model; ours"),
    ] = 5
    fineness: Annotated[
        int, Field(ge=0, le=10, description="halvings of a cell within which one action is taken; ours")
    ] = 6
    most_cells: Annotated[int, Field(ge=2, le=20_000, description="cells that are never exceeded; ours")] = (
        1000
    )
    finest: Annotated[
        float,
        Field(gt=0, le=1, description="share of the extent that no cell is made narrower than; ours"),
    ] = 1 / 32
