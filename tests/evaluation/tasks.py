"""Partitions and a plain puck that the tests of the tester share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from distinguo.controls import diagonal
from distinguo.evaluation.tester import Evaluation
from distinguo.representations.boxes import Boxes, tree
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import Voronoi, voronoi
from distinguo.settings import TesterSettings as Wishes  # pytest collects names in Test
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import Extent
from tests.partitions import some_merged

HILL = task_spec("puck")
State = tuple[float, float]
EXTENT = Extent((-2.3, -5.4), (2.4, 5.5))
SHORT = Wishes(
    gamma=0.99, alpha=0.1, steps=1500, cap=300, batch=8, every_steps=400, every_trials=6, training_cap=350
)


def pushed(s: State, a: int) -> tuple[State, float, bool]:
    """Push the paper's puck, in plain floats."""
    x, v = s
    u = -0.6 * x
    c = 1.0 / math.sqrt(1.0 + u * u)
    x_next, v_next = x + 0.02 * v, v + 0.02 * (((3.0 if a else -3.0) - 9.8 * (u * c)) * c)
    fell = abs(x_next) >= 2.4
    return (x_next, v_next), (-1.0 if fell else 0.0), fell


def place(partition: Voronoi | Boxes, s: State) -> int:
    """Return the region of a state, by plain search."""
    if isinstance(partition, Boxes):
        node = 0
        while (axis := int(partition.axis[node])) >= 0:
            side = partition.below if s[axis] < float(partition.cut[node]) else partition.above
            node = int(side[node])
        return int(partition.below[node])
    weights = [1.0 / float(width) for width in partition.scale]
    rows = partition.prototypes.tolist()
    distances = [sum(((a - b) * w) ** 2 for a, b, w in zip(s, row, weights, strict=True)) for row in rows]
    return int(partition.regions[distances.index(min(distances))])


def random_voronoi(rng: np.random.Generator, count: int) -> Voronoi:
    """Draw prototypes; some share a primary, as after a merge."""
    rows = rng.uniform(HILL.low, HILL.high, (count, 2))
    return voronoi(rows, HILL.scale, some_merged(rng, count, 0.2))


def random_boxes(rng: np.random.Generator, depth: int) -> Boxes:
    """Cut boxes at random, to at most that depth."""

    def cut(box: Any, level: int) -> tuple[int, float] | None:
        if level == depth or rng.random() < 0.15:
            return None
        axis = int(rng.integers(2))
        return axis, float(rng.uniform(box[0][axis], box[1][axis]))

    return tree(HILL.low, HILL.high, cut)


def rows_of(partition: Voronoi | Boxes) -> int:
    return Representation(partition, ("x", "v")).regions


@st.composite
def partitions(draw: st.DrawFn) -> Voronoi | Boxes:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):
        return random_voronoi(rng, draw(st.integers(1, 12)))
    return random_boxes(rng, draw(st.integers(0, 5)))


@st.composite
def some_starts(draw: st.DrawFn) -> np.ndarray:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.uniform((-1.2, -2.5), (1.2, 2.5), (draw(st.integers(1, 12)), 2))


def sensible(partition: Voronoi | Boxes, rng: np.random.Generator) -> np.ndarray:
    """Return values without ties that push against the fall in most regions, so that some trials last."""
    q = np.zeros((rows_of(partition), 2))
    for s in rng.uniform((-1.0, -2.0), (1.0, 2.0), (400, 2)).tolist():
        q[place(partition, (s[0], s[1])), int(s[1] < -1.7615 * s[0])] += 1.0
    return q + rng.uniform(0.0, 0.3, q.shape)


def evaluation(
    partition: Any, wishes: Wishes = SHORT, rows: int | None = None, spec: Any = HILL
) -> Evaluation:
    """Return a short evaluation of a partition."""
    return Evaluation(spec, partition, rows_of(partition) if rows is None else rows, wishes, EXTENT)


def two() -> Any:
    return diagonal(HILL).partition
