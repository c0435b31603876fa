"""A controller as a graph in the DOT language of Graphviz.

A tree of boxes is drawn as a tree. Other partitions are drawn as regions, joined if they are known to share a border;
the graph says by which rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from distinguo.exports.tables import LabelledController
from distinguo.representations.boxes import Boxes
from distinguo.representations.categories import Categories
from distinguo.representations.declare import capability
from distinguo.representations.geometry import Plane, shared_edges, voronoi_cells
from distinguo.representations.partition import has_labels, prototypes_of
from distinguo.representations.voronoi import Voronoi

#: A shared border is longer than this part of the extent; shorter ones come from rounding at corners.
SHORTEST = 1e-9
MOST_JOINED = 1000  #: prototypes; the pairs of more would take minutes

PLANE = "Joined: regions that share a border within the extent of the observations."
SPACE = "Joined: regions that touch midway between two of their prototypes; others may touch elsewhere."
UNJOINED = "Not joined: too many prototypes to compute which regions touch."
LABELS = "Not joined: the coordinates are labels, so no region lies beside another."

UNKNOWN = "Not joined: the partition does not say which regions touch."

Pairs = set[tuple[int, int]]
Neighbours = tuple[str, list[tuple[int, int]]]


@singledispatch
def neighbours(partition: Any, low: Sequence[float], high: Sequence[float]) -> Neighbours:
    """Return the rule by which regions are joined, in words, and the joined pairs, each once.

    ``low`` and ``high`` are the extent of the observations; they may be infinite, or empty if unknown.

    >>> from distinguo.representations.voronoi import voronoi
    >>> neighbours(voronoi([[0.0], [2.0], [1.0]], [1.0]), (), ())[1]
    [(0, 2), (1, 2)]
    """
    return UNKNOWN, []


@neighbours.register(Categories)
def _(partition: Categories, low: Sequence[float], high: Sequence[float]) -> Neighbours:
    return LABELS, []


@neighbours.register(Voronoi)
def _(partition: Voronoi, low: Sequence[float], high: Sequence[float]) -> Neighbours:
    dimensions = len(partition.weight)
    if len(partition.prototypes) > MOST_JOINED:
        return UNJOINED, []
    pairs = {
        _ordered(*partition.regions[[p, o]].tolist()) for p, o in touching_prototypes(partition, low, high)
    }
    return (SPACE if dimensions > 2 else PLANE), sorted((j, k) for j, k in pairs if j != k)


def _ordered(j: int, k: int) -> tuple[int, int]:
    return min(j, k), max(j, k)


def touching_prototypes(partition: Voronoi, low: Sequence[float], high: Sequence[float]) -> Pairs:
    """Return the pairs of prototypes whose cells share a border; above two dimensions only certain ones."""
    if len(partition.weight) == 2:
        return _in_the_plane(partition, low, high)
    return certain(partition.prototypes * partition.weight)


def _in_the_plane(partition: Voronoi, low: Sequence[float], high: Sequence[float]) -> Pairs:
    lower, upper = _frame(partition, low, high)
    sides = (np.subtract(upper, lower) * partition.weight).tolist()
    cells = voronoi_cells(partition, Plane((0, 1), (0.0, 0.0)), lower, upper)
    return shared_edges(cells, SHORTEST * max(sides))


def _frame(
    partition: Voronoi, low: Sequence[float], high: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return the corners of the extent with all prototypes in it; an infinite side ends a scale beyond them."""
    corners = [corner for corner in (low, high) if len(corner)]
    rows = np.vstack([*corners, partition.prototypes])
    spans = [
        _span(column, width) for column, width in zip(rows.T.tolist(), partition.scale.tolist(), strict=True)
    ]
    return [a for a, _ in spans], [b for _, b in spans]


def _span(values: Sequence[float], width: float) -> tuple[float, float]:
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite), max(finite)
    return (
        low - width if low == high or -math.inf in values else low,
        high + width if low == high or math.inf in values else high,
    )


def certain(points: np.ndarray) -> Pairs:
    """Return the pairs with no other point in the ball whose diameter joins them (a *Gabriel graph*).

    On a line these are all neighbours.

    >>> sorted(certain(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [9.0, 0.0, 0.0]])))
    [(0, 1), (1, 2)]
    """
    pairs: Pairs = set()
    for p, here in enumerate(points[:-1]):
        others = points[p + 1 :]
        middles = (others + here) / 2
        rims = ((others - here) ** 2).sum(axis=1) / 4
        alone = [
            (((points - middle) ** 2).sum(axis=1) <= rim * (1 + SHORTEST)).sum() == 2
            for middle, rim in zip(middles, rims, strict=True)
        ]
        pairs |= {(p, p + 1 + int(o)) for o in np.flatnonzero(alone)}
    return pairs


capability("neighbours", neighbours)


#: Light enough for black text, and safe for colour-blind readers.
COLOURS = (
    *("#9ecae1", "#fdd49e", "#a1d9c4", "#e7bfd5", "#d9d9d9"),
    *("#f4a582", "#f7f19b", "#c9a0b4", "#d6d6a1", "#b3aed6"),
)
MOST_NAMED = 6  #: categories of a region

Graph = tuple[str, list[str]]  #: "graph" or "digraph", and its statements


def to_graph(named: LabelledController, name: str = "controller") -> str:
    r"""Return the controller as DOT text.

    >>> import numpy as np
    >>> from distinguo.controller import Controller
    >>> from distinguo.representations.boxes import grid
    >>> halves = Controller(grid([2], [-1.0], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> print(to_graph(LabelledController(halves, ("x",), ("left", "right"))))
    digraph "controller" {
      node [shape=box, style=filled, fillcolor=white, fontname="sans-serif"];
      n0 [label="x < 0?"];
      n0 -> n1 [label="yes"];
      n0 -> n2 [label="no"];
      n1 [label="region 0\nleft\nvalue 0", fillcolor="#9ecae1"];
      n2 [label="region 1\nright\nvalue 0", fillcolor="#fdd49e"];
    }
    <BLANKLINE>
    """
    kind, lines = graph_of(named.controller.partition, named)
    style = 'node [shape=box, style=filled, fillcolor=white, fontname="sans-serif"];'
    return "\n  ".join([f"{kind} {quoted(name)} {{", style, *lines]) + "\n}\n"


def quoted(text: str) -> str:
    r"""Return text as a DOT string; a line break becomes the two characters ``\n``.

    >>> print(quoted('say "x"'))
    "say \"x\""
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + "".join(c if c.isprintable() else "?" for c in escaped) + '"'


@singledispatch
def graph_of(partition: Any, named: LabelledController) -> Graph:
    """Return the graph of a controller by the class of its partition; by default that of its regions."""
    rule, pairs = neighbours(partition, named.low, named.high)
    nodes = _nodes(named)
    lines = [
        f"graph [label={quoted(rule)}];",
        *(f"r{j} {node};" for j, node in nodes.items()),
        *(f"r{j} -- r{k};" for j, k in pairs),
    ]
    return "graph", lines


@graph_of.register(Boxes)
def _(partition: Boxes, named: LabelledController) -> Graph:
    lines, nodes = [], _nodes(named)
    for node, axis in enumerate(partition.axis.tolist()):
        if axis < 0:
            lines.append(f"n{node} {nodes[int(partition.below[node])]};")
            continue
        question = f"{named.dimensions[axis]} < {partition.cut[node]:.6g}?"
        lines += [
            f"n{node} [label={quoted(question)}];",
            f'n{node} -> n{partition.below[node]} [label="yes"];',
            f'n{node} -> n{partition.above[node]} [label="no"];',
        ]
    return "digraph", lines


def _nodes(named: LabelledController) -> dict[int, str]:
    """Return the attributes of the node of each region."""
    greedy, values = named.controller.greedy, named.controller.q.max(axis=1)
    nodes, named_rows = {}, _named_rows(named.controller.partition)
    for j in range(named.representation.regions):
        action = int(greedy[j])
        label = f"region {j}\n{_where(named, named_rows, j)}{named.actions[action]}\nvalue {values[j]:.4g}"
        nodes[j] = f'[label={quoted(label)}, fillcolor="{COLOURS[action % len(COLOURS)]}"]'
    return nodes


def _named_rows(partition: Any) -> list[np.ndarray] | None:
    """Return the prototypes in the label of each region: all categories, otherwise the primary one."""
    known = prototypes_of(partition)
    if known is None:
        return None
    if not has_labels(partition):
        return list(known.points[known.primaries][:, None])
    ends = np.cumsum(np.bincount(known.regions))[:-1]
    return np.split(known.points[np.argsort(known.regions, kind="stable")], ends)


def _where(named: LabelledController, named_rows: list[np.ndarray] | None, j: int) -> str:
    """Return the prototypes that the label of a region names, as lines of it."""
    if named_rows is None:
        return ""
    rows = named_rows[j]
    lines = [_place(named, row) for row in rows[:MOST_NAMED].tolist()]
    more = [f"and {len(rows) - MOST_NAMED} more"] if len(rows) > MOST_NAMED else []
    return "".join(line + "\n" for line in lines + more)


def _place(named: LabelledController, row: list[float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in zip(named.dimensions, row, strict=True))
