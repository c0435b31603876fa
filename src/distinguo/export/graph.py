"""A controller as a graph in the DOT language of Graphviz.

A tree of boxes is drawn as the tree it is. Of a Voronoi partition the regions are drawn, joined where they border on
each other within the extent of the state-space; that is known in two dimensions.
"""

from __future__ import annotations

import numpy as np
import shapely

from distinguo.export.controller import Controller
from distinguo.representation.boxes import Boxes
from distinguo.representation.voronoi import Voronoi

#: Light enough for black words on them, and told apart by colour-blind eyes.
COLOURS = ("#9ecae1", "#fdae6b", "#a1d99b", "#bcbddc", "#fde0a0", "#d9d9d9")
#: A shared border is longer than this part of the extent; shorter ones come from rounding at corners.
SHORTEST = 1e-9


def to_graph(controller: Controller, name: str = "controller") -> str:
    r"""Return the controller as DOT text.

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
      n2 [label="region 1\nright\nvalue 0", fillcolor="#fdae6b"];
    }
    <BLANKLINE>
    """
    partition = controller.representation.partition
    if isinstance(partition, Boxes):
        kind, lines = "digraph", _tree(controller, partition)
    else:
        kind, lines = "graph", _neighbours(controller, partition)
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
            lines.append(f"n{node} {_region(controller, int(tree.below[node]))};")
            continue
        question = f"{controller.representation.dimensions[axis]} < {tree.cut[node]:.6g}?"
        lines += [
            f"n{node} [label={quoted(question)}];",
            f'n{node} -> n{tree.below[node]} [label="yes"];',
            f'n{node} -> n{tree.above[node]} [label="no"];',
        ]
    return lines


def _region(controller: Controller, j: int) -> str:
    action = int(controller.greedy[j])
    label = f"region {j}\n{controller.actions[action]}\nvalue {controller.q[j].max():.4g}"
    return f'[label={quoted(label)}, fillcolor="{COLOURS[action % len(COLOURS)]}"]'


def _neighbours(controller: Controller, partition: Voronoi) -> list[str]:
    lines = [f"r{j} {_region(controller, j)};" for j in controller.numbers]
    if len(controller.representation.dimensions) == 2:
        primary = partition.primary
        pairs = {tuple(sorted((int(primary[p]), int(primary[o])))) for p, o in borders(controller)}
        lines += [f"r{j} -- r{k};" for j, k in sorted(pairs) if j != k]
    return lines


def borders(controller: Controller) -> list[tuple[int, int]]:
    """Return the pairs of prototypes of a plane whose cells share an edge within the extent."""
    partition = controller.representation.partition
    assert isinstance(partition, Voronoi)
    points = partition.prototypes[: partition.size[0]] * partition.weight
    if len(points) < 2:
        return []
    corners = np.array([controller.low, controller.high]).reshape(-1, 2) * partition.weight
    frame = shapely.box(*np.vstack([corners, points]).min(axis=0), *np.vstack([corners, points]).max(axis=0))
    cells = shapely.voronoi_polygons(shapely.MultiPoint(points), extend_to=frame, ordered=True).geoms
    clipped = shapely.intersection(list(cells), frame)
    first, second = shapely.STRtree(clipped).query(clipped, predicate="intersects")
    shared = shapely.length(shapely.intersection(clipped[first], clipped[second]))
    longest = max(frame.bounds[2] - frame.bounds[0], frame.bounds[3] - frame.bounds[1])
    keep = (first < second) & (shared > SHORTEST * longest)
    return list(zip(first[keep].tolist(), second[keep].tolist(), strict=True))
