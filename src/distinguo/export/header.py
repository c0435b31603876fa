"""A controller as one C99 header: constant tables and two functions, nothing to link and nothing to allocate.

The functions repeat the arithmetic of ``region(partition, s)`` operation by operation, so that a state that lies
exactly between two regions falls on the same side in both languages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from distinguo import __version__
from distinguo.errors import DistinguoError
from distinguo.export.controller import Controller
from distinguo.representation.boxes import Boxes
from distinguo.representation.voronoi import Voronoi

PREFIX = "distinguo"
WIDTH = 100  #: columns of a line of a table

_FRAME = """\
/* {about}
 */
#ifndef {guard}_H
#define {guard}_H

#include <math.h> /* HUGE_VAL; nothing of libm is called */

#ifdef __FAST_MATH__
#error "fast-math reorders sums: compile this controller without it"
#endif

#define {guard}_DIMENSIONS {dimensions}
#define {guard}_REGIONS {regions}
#define {guard}_ACTIONS {actions}
{names}
{tables}
#if defined(__clang__) || !defined(__GNUC__) /* GCC does not know this pragma: see above */
#pragma STDC FP_CONTRACT OFF
#endif

/* The region that a state falls in. */
static inline int {prefix}_region(const double s[{dimensions}])
{{
{body}
}}

/* The action to take in a state. */
static inline int {prefix}_action(const double s[{dimensions}])
{{
    return (int){prefix}_actions[{prefix}_region(s)];
}}

#endif
"""

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

_WALK = """\
    long node = 0;
    while ({prefix}_axis[node] >= 0) {{
        node = (long)(s[{prefix}_axis[node]] < {prefix}_cut[node] ? {prefix}_below[node] : {prefix}_above[node]);
    }}
    return (int){prefix}_below[node];"""


def to_header(controller: Controller, name: str = PREFIX) -> str:
    """Return the text of the header; every name in it begins with ``name``.

    >>> from distinguo.representation.file import Representation
    >>> from distinguo.representation.voronoi import voronoi
    >>> two = Representation(voronoi([[1.0], [-1.0]], [1.0]), ("x",))
    >>> header = to_header(Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]]), ("left", "right")), "cart")
    >>> "static inline int cart_action(const double s[1])" in header
    True
    """
    check_name(name)
    partition = controller.representation.partition
    tables, body = _voronoi(partition, name) if isinstance(partition, Voronoi) else _boxes(partition, name)
    tables.append(_integers(f"{name}_actions", controller.greedy))
    return _FRAME.format(
        about="\n".join(f" * {line}".rstrip() for line in _about(controller, name))[3:],
        guard=name.upper(),
        prefix=name,
        dimensions=len(controller.representation.dimensions),
        regions=controller.representation.regions,
        actions=len(controller.actions),
        names=_action_names(controller.actions, name.upper()),
        tables="\n".join(tables),
        body=body,
    )


def check_name(name: str) -> None:
    """Refuse a prefix that C would not take."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,40}", name):
        raise DistinguoError(
            f"--name should be a letter followed by at most 40 letters, digits or underscores, got {name!r}."
        )


def _about(controller: Controller, name: str) -> list[str]:
    representation = controller.representation
    lines = [
        f"A controller of {representation.regions} regions, exported by distinguo {__version__}.",
        "",
        f"Task:        {comment(controller.task or 'unknown')}",
        f"Coordinates: {comment(', '.join(f's[{i}] = {n}' for i, n in enumerate(representation.dimensions)))}",
        f"Actions:     {comment(', '.join(f'{a} = {n}' for a, n in enumerate(controller.actions)))}",
        f"Provenance:  {comment(json.dumps(representation.provenance, sort_keys=True, default=str))}",
    ]
    if controller.certificate is not None:
        proof = controller.certificate
        lines.append(f"Certificate: {proof.file}, SHA-256 {proof.sha256}")
        if proof.domain:
            lines.append(f"It claims:   {comment(proof.domain)}")
    return [
        *lines,
        "",
        f"{name}_region(s) and {name}_action(s) give the same answers as distinguo does in Python, also on the",
        "borders of regions, if the compiler does not contract a * b + c into one operation. C99 compilers are",
        "told so by a pragma. GCC ignores it: compile with -std=c99 or -ffp-contract=off, and C++ with the latter.",
    ]


def comment(text: str) -> str:
    """Make any text safe inside a comment.

    >>> comment("a */ system(); /* é")
    'a * / system(); / * ?'
    """
    plain = "".join(c if c.isascii() and c.isprintable() and c != "\\" else "?" for c in text)
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")


def _action_names(actions: tuple[str, ...], guard: str) -> str:
    """Name the actions, unless their words do not make distinct identifiers."""
    words = [re.sub(r"[^A-Z0-9]+", "_", action.upper()).strip("_") for action in actions]
    if not all(words) or len(set(words)) < len(words):
        return ""
    rows = ", ".join(f"{guard}_ACTION_{word} = {a}" for a, word in enumerate(words))
    return f"enum {{ {rows} }};\n"


def _voronoi(partition: Voronoi, name: str) -> tuple[list[str], str]:
    count, width = int(partition.size[0]), len(partition.weight)
    rows = ["{" + ", ".join(map(_number, row)) + "}" for row in partition.prototypes[:count].tolist()]
    tables = [
        _table(f"double {name}_weight[{width}]", map(_number, partition.weight.tolist())),
        _table(f"double {name}_prototypes[{count}][{width}]", rows),
        _integers(f"{name}_primary", partition.primary[:count]),
    ]
    return tables, _NEAREST.format(prefix=name, count=count, dimensions=width)


def _boxes(partition: Boxes, name: str) -> tuple[list[str], str]:
    tables = [
        _integers(f"{name}_axis", partition.axis),
        _table(f"double {name}_cut[{len(partition.cut)}]", map(_number, partition.cut.tolist())),
        _integers(f"{name}_below", partition.below),
        _integers(f"{name}_above", partition.above),
    ]
    return tables, _WALK.format(prefix=name)


def _number(value: float) -> str:
    """Write a double so that any compiler reads the same one back: the shortest digits that are exact."""
    return repr(value)


def _integers(name: str, values: np.ndarray) -> str:
    """Write whole numbers in the smallest type that holds them everywhere, as controllers live in small memories."""
    least, most = int(values.min()), int(values.max())
    kinds = [("signed char", 2**7), ("short", 2**15), ("long", 2**31)]
    kind = next(kind for kind, end in kinds if -end <= least and most < end)
    return _table(f"{kind} {name}[{len(values)}]", map(str, values.tolist()))


def _table(declaration: str, entries: Iterable[Any]) -> str:
    lines, line = [], "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > WIDTH:
            lines.append(line)
            line = "   "
        line += f" {entry},"
    lines.append(line)
    return f"static const {declaration} = {{\n" + "\n".join(lines) + "\n};\n"
