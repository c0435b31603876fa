"""A partition in C: constant tables, and the body of the function that finds the region of ``s`` in them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from distinguo.representation.boxes import Boxes
from distinguo.representation.categories import Categories
from distinguo.representation.voronoi import Voronoi

WIDTH = 100  #: columns of a line of a table

_NEAREST = """\
    long best = 0;
    double best_distance = HUGE_VAL;
    for (long p = 0; p < {count}; p++) {{
        double distance = 0.0;
        for (int i = 0; i < {dimensions}; i++) {{
            const double d = (s[i] - {prefix}_prototypes[p][i]) * {prefix}_weight[i];
            distance += d * d;
        }}
        if (distance < best_distance) {{ /* of equally near ones the first */
            best = p;
            best_distance = distance;
        }}
    }}
    return (int){prefix}_primary[best];"""

_ALIKE = """\
    long best = 0;
    int least = {dimensions} + 1;
    for (long p = 0; p < {count}; p++) {{
        int different = 0;
        for (int i = 0; i < {dimensions}; i++) {{
            different += s[i] != {prefix}_prototypes[p][i]; /* labels: equal or not, never near */
        }}
        if (different < least) {{ /* of equally different ones the first */
            best = p;
            least = different;
        }}
    }}
    return (int){prefix}_primary[best];"""

_WALK = """\
    long node = 0;
    while ({prefix}_axis[node] >= 0) {{
        node = (long)(s[{prefix}_axis[node]] < {prefix}_cut[node] ? {prefix}_below[node] : {prefix}_above[node]);
    }}
    return (int){prefix}_below[node];"""


def in_c(partition: Voronoi | Boxes | Categories, name: str) -> tuple[list[str], str]:
    """Return the tables of a partition and the body of its function; every name begins with ``name``.

    >>> from distinguo.representation.categories import categories
    >>> tables, body = in_c(categories([[3.0], [7.0]]), "lake")
    >>> print(tables[0].strip())
    static const double lake_prototypes[2][1] = {
        {3.0}, {7.0},
    };
    """
    if isinstance(partition, Boxes):
        return _boxes(partition, name), _WALK.format(prefix=name)
    count, width = int(partition.size[0]), partition.prototypes.shape[1]
    names = {"prefix": name, "count": count, "dimensions": width}
    rows = ["{" + ", ".join(map(_number, row)) + "}" for row in partition.prototypes[:count].tolist()]
    tables = [
        table(f"double {name}_prototypes[{count}][{width}]", rows),
        integers(f"{name}_primary", partition.primary[:count]),
    ]
    if isinstance(partition, Categories):
        return tables, _ALIKE.format(**names)
    weight = table(f"double {name}_weight[{width}]", map(_number, partition.weight.tolist()))
    return [weight, *tables], _NEAREST.format(**names)


def _boxes(partition: Boxes, name: str) -> list[str]:
    return [
        integers(f"{name}_axis", partition.axis),
        table(f"double {name}_cut[{len(partition.cut)}]", map(_number, partition.cut.tolist())),
        integers(f"{name}_below", partition.below),
        integers(f"{name}_above", partition.above),
    ]


def _number(value: float) -> str:
    """Write a double so that any compiler reads the same one back: the shortest digits that are exact."""
    return repr(value)


def integers(name: str, values: np.ndarray) -> str:
    """Write whole numbers in the smallest type that holds them everywhere, as controllers live in small memories."""
    least, most = int(values.min()), int(values.max())
    kinds = [("signed char", 2**7), ("short", 2**15), ("long", 2**31)]
    kind = next(kind for kind, end in kinds if -end <= least and most < end)
    return table(f"{kind} {name}[{len(values)}]", map(str, values.tolist()))


def table(declaration: str, entries: Iterable[str]) -> str:
    """Write a constant table, several entries to a line."""
    lines, line = [], "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {entry},"
    lines.append(line)
    return f"static const {declaration} = {{\n" + "\n".join(lines) + "\n};\n"
