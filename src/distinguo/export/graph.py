"""A controller as a graph in the DOT language of Graphviz.

A tree of boxes is drawn as the tree it is. Of other partitions the regions are drawn, and joined as far as it is
known that they border on each other (export/neighbours.py); the graph says by which rule.
"""

from __future__ import annotations

from distinguo.export.controller import Controller
from distinguo.export.neighbours import joined
from distinguo.representation.boxes import Boxes
from distinguo.representation.categories import Categories
from distinguo.representation.voronoi import Voronoi

#: Light enough for black words on them, and told apart by colour-blind eyes.
COLOURS = (
    *("#9ecae1", "#fdd49e", "#a1d9c4", "#e7bfd5", "#d9d9d9"),
    *("#f4a582", "#f7f19b", "#c9a0b4", "#d6d6a1", "#b3aed6"),
)
MOST_NAMED = 6  #: categories of a region


def to_graph(controller: Controller, name: str = "controller") -> str:
    r"""Return the controller as DOT text.

    >>> import numpy as np
    >>> from distinguo.representation.file import Representation
    >>> from distinguo.representation.boxes import grid
    >>> halves = Representation(grid([2], [-1.0], [1.0]), ("x",))
    >>> print(to_graph(Controller(halves, np.array([[0.0, -1.0], [-1.0, 0.0]]), ("left", "right"))))
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
    partition = controller.representation.partition
    if isinstance(partition, Boxes):
        kind, lines = "digraph", _tree(controller, partition)
    else:
        kind, lines = "graph", _regions(controller, partition)
    style = 'node [shape=box, style=filled, fillcolor=white, fontname="sans-serif"];'
    return "\n  ".join([f"{kind} {quoted(name)} {{", style, *lines]) + "\n}\n"


def quoted(text: str) -> str:
    r"""Return text as a DOT string; a line break becomes the two characters ``\n``.

    >>> print(quoted('say "x"'))
    "say \"x\""
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + "".join(c if c.isprintable() else "?" for c in escaped) + '"'


def _tree(controller: Controller, tree: Boxes) -> list[str]:
    lines = []
    for node, axis in enumerate(tree.axis.tolist()):
        if axis < 0:
            lines.append(f"n{node} {_node(controller, int(tree.below[node]))};")
            continue
        question = f"{controller.representation.dimensions[axis]} < {tree.cut[node]:.6g}?"
        lines += [
            f"n{node} [label={quoted(question)}];",
            f'n{node} -> n{tree.below[node]} [label="yes"];',
            f'n{node} -> n{tree.above[node]} [label="no"];',
        ]
    return lines


def _node(controller: Controller, j: int, where: str = "") -> str:
    action = int(controller.greedy[j])
    label = f"region {j}\n{where}{controller.actions[action]}\nvalue {controller.q[j].max():.4g}"
    return f'[label={quoted(label)}, fillcolor="{COLOURS[action % len(COLOURS)]}"]'


def _regions(controller: Controller, partition: Voronoi | Categories) -> list[str]:
    rule, pairs = joined(controller, partition)
    return [
        f"graph [label={quoted(rule)}];",
        *(f"r{j} {_node(controller, j, _where(controller, j))};" for j in controller.numbers),
        *(f"r{j} -- r{k};" for j, k in pairs),
    ]


def _where(controller: Controller, j: int) -> str:
    """Return the place of the primary prototype, or the categories of a region, as lines of a label."""
    partition = controller.representation.partition
    assert not isinstance(partition, Boxes)
    rows = partition.prototypes[[j]]
    if isinstance(partition, Categories):
        rows = partition.prototypes[: partition.size[0]][partition.primary[: partition.size[0]] == j]
    lines = [_place(controller, row) for row in rows[:MOST_NAMED].tolist()]
    more = [f"and {len(rows) - MOST_NAMED} more"] if len(rows) > MOST_NAMED else []
    return "".join(line + "\n" for line in lines + more)


def _place(controller: Controller, row: list[float]) -> str:
    names = controller.representation.dimensions
    return ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, row, strict=True))
