"""A controller as a graph in the DOT language of Graphviz.

A tree of boxes is drawn as the tree it is. Of other partitions the regions are drawn, and joined as far as it is
known that they border on each other (exports/neighbours.py); the graph says by which rule.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from distinguo.exports.labelled import LabelledController
from distinguo.exports.neighbours import neighbours
from distinguo.representations.boxes import Boxes
from distinguo.representations.partition import has_labels, prototypes_of

#: Light enough for black words on them, and told apart by colour-blind eyes.
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
    """Return the graph of a controller by the class of its partition; usually that of its regions."""
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
    nodes = {}
    for j in named.numbers:
        action = int(greedy[j])
        label = f"region {j}\n{_where(named, j)}{named.actions[action]}\nvalue {values[j]:.4g}"
        nodes[j] = f'[label={quoted(label)}, fillcolor="{COLOURS[action % len(COLOURS)]}"]'
    return nodes


def _where(named: LabelledController, j: int) -> str:
    """Return the place of the primary prototype, or the categories of a region, as lines of a label."""
    partition = named.controller.partition
    prototypes = prototypes_of(partition)
    if prototypes is None:
        return ""
    rows = prototypes.points[prototypes.primary == j] if has_labels(partition) else prototypes.points[[j]]
    lines = [_place(named, row) for row in rows[:MOST_NAMED].tolist()]
    more = [f"and {len(rows) - MOST_NAMED} more"] if len(rows) > MOST_NAMED else []
    return "".join(line + "\n" for line in lines + more)


def _place(named: LabelledController, row: list[float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in zip(named.dimensions, row, strict=True))
