"""A controller as one C99 header: constant tables and two functions, nothing to link and nothing to allocate.

The functions repeat the arithmetic of ``region(partition, s)`` operation by operation, so that a state exactly
between two regions falls on the same side in both languages.
"""

from __future__ import annotations

import json
import re

from distinguo import __version__
from distinguo.errors import DistinguoError, counted
from distinguo.exports.certified import Untranslatable, certified_in_c
from distinguo.exports.tables import LabelledController, in_c, integers
from distinguo.proof.schema import Certificate, ProgramCertificate
from distinguo.representations.partition import count_regions, has_labels
from distinguo.tasks.amounts import Laws

PREFIX = "distinguo"

_FRAME = """\
/* {about}
 */
#ifndef {guard}_H
#define {guard}_H

#include <math.h> /* {libm} */

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

/* The region that an observation falls in. */
static inline int {prefix}_region(const double s[{dimensions}])
{{
{body}
}}

/* The action to take at an observation. */
static inline int {prefix}_action(const double s[{dimensions}])
{{
    return (int){prefix}_actions[{prefix}_region(s)];
}}
{amounts}{certified}
#endif
"""


def to_header(named: LabelledController, name: str = PREFIX) -> str:
    """Return the controller as C.

    >>> import numpy as np
    >>> from distinguo.controller import Controller
    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> header = to_header(LabelledController(two, ("x",), ("left", "right")), "cart")
    >>> "static inline int cart_action(const double s[1])" in header
    True
    """
    check_name(name)
    partition = named.controller.partition
    tables, body = in_c(partition, name)
    certified, why_not = _certified(named.certificates.content, name)
    return _FRAME.format(
        about="\n".join(f" * {line}".rstrip() for line in _about(named, name, bool(certified), why_not))[3:],
        guard=name.upper(),
        prefix=name,
        dimensions=len(named.dimensions),
        regions=count_regions(partition),
        actions=len(named.actions),
        names=_action_names(named.actions, name.upper()),
        tables="\n".join([*tables, integers(f"{name}_actions", named.controller.greedy)]),
        body=body,
        certified=certified,
        libm=_libm(certified),
        amounts=_laws(named.laws, name)
        if named.laws is not None
        else _amounts(named.amounts, name, len(named.dimensions)),
    )


def _amounts(amounts: tuple[tuple[float, ...], ...], name: str, dimensions: int) -> str:
    """Write a function that returns the continuous action, if actions are levels of one."""
    if not amounts:
        return ""
    rows = ", ".join("{" + ", ".join(repr(x) for x in row) + "}" for row in amounts)
    return f"""
/* Number i of the action to take at an observation, in the units of the task. */
static inline double {name}_amount(const double s[{dimensions}], int i)
{{
    static const double amounts[{len(amounts)}][{len(amounts[0])}] = {{{rows}}};

    return amounts[{name}_action(s)][i];
}}
"""


def _laws(given: Laws, name: str) -> str:
    """Write a function that returns an amount by the law of the region, with the bits of ``amount_of``."""
    count, amounts, affine = given.table.shape
    rows = ",\n".join(
        "        {" + ", ".join("{" + ", ".join(map(repr, row)) + "}" for row in law) + "}"
        for law in given.table.tolist()
    )
    low, high = (", ".join(map(repr, side.tolist())) for side in (given.low, given.high))
    return f"""
#define {name.upper()}_AMOUNTS {amounts}

/* Amount i to take at an observation, in the units of the task: offset + gains * s, cut to its range. */
static inline double {name}_amount(const double s[{affine - 1}], int i)
{{
    static const double laws[{count}][{amounts}][{affine}] = {{ /* the gains of each amount, and the offset */
{rows}}};
    static const double low[{amounts}] = {{{low}}}, high[{amounts}] = {{{high}}};
    const double *law = laws[{name}_action(s)][i];
    double total = law[{affine - 1}];

    for (int j = 0; j < {affine - 1}; j++)
        total += law[j] * s[j];
    if (total < low[i])
        total = low[i];
    if (total > high[i])
        total = high[i];
    return total;
}}
"""


def check_name(name: str) -> None:
    """Refuse a prefix that C would not take."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,40}", name):
        raise DistinguoError(
            f"--name should be a letter followed by at most 40 letters, digits or underscores, got {name!r}."
        )


def _certified(certificate: Certificate | None, name: str) -> tuple[str, str]:
    """The functions of the certificate of a declared task; or why they are left out, if they are."""
    if not isinstance(certificate, ProgramCertificate):
        return "", ""
    try:
        return certified_in_c(certificate, name), ""
    except Untranslatable as why:
        return "", f"{name}_certified and {name}_safe_action are left out: {why}."


def _libm(certified: str) -> str:
    """What is used of the C library."""
    used = [
        word for word in ("sqrt", "sin", "cos", "tan", "exp", "log", "tanh") if f" {word}(x.low)" in certified
    ]
    used += ["fmod"] if " fmod(" in certified else []
    if not used and " ceil(" not in certified:
        return "HUGE_VAL; nothing of libm is called"
    return f"HUGE_VAL, {', '.join(used)}: link with -lm"


def _about(named: LabelledController, name: str, certified: bool, why_not: str) -> list[str]:
    regions = count_regions(named.controller.partition)
    lines = [
        f"A controller of {counted(regions, 'region')}, exported by distinguo {__version__}.",
        "",
        f"Task:        {comment(named.task or 'unknown')}",
        f"Input:       {_input(named)}",
        f"Coordinates: {comment(', '.join(f's[{i}] = {n}' for i, n in enumerate(named.dimensions)))}",
        f"Actions:     {comment(', '.join(f'{a} = {n}' for a, n in enumerate(named.actions)))}",
        f"Provenance:  {comment(json.dumps(named.provenance, sort_keys=True, default=str))}",
    ]
    proof = named.certificates.certificate
    if proof is not None:
        lines.append(f"Certificate: {proof.file}, SHA-256 {proof.sha256}")
        if proof.domain:
            lines.append(f"It claims:   {comment(proof.domain)}")
    lines += [f"Certificate: {comment(why)}" for why in named.certificates.refused]
    if certified:
        lines += [
            "",
            f"{name}_certified(s) says whether the certificate holds for a state; {name}_safe_action(s, a) is the",
            f"action a if one step with it certainly ends in a certified state, otherwise {name}_action(s). Whoever",
            "takes safe actions from a certified state on never fails.",
        ]
    lines += [comment(why_not)] if why_not else []
    return [
        *lines,
        "",
        f"{name}_region(s) and {name}_action(s) give the same answers as distinguo does in Python, also on the",
        "borders of regions, if the compiler does not contract a * b + c into one operation. C99 compilers are",
        "told so by a pragma. GCC ignores it: compile with -std=c99 or -ffp-contract=off, and C++ with the latter.",
    ]


def _input(named: LabelledController) -> str:
    """Describe ``s``, which is easily mistaken for the whole state of a task."""
    words = "s is the observation as the task gives it, unscaled, in the order of the coordinates"
    return f"{words}; each is an exact label." if has_labels(named.controller.partition) else f"{words}."


def comment(text: str) -> str:
    """Make any text safe inside a comment.

    >>> comment("a */ system(); /* é")
    'a * / system(); / * ?'
    """
    plain = "".join(c if c.isascii() and c.isprintable() and c != "\\" else "?" for c in text)
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")


def _action_names(actions: tuple[str, ...], guard: str) -> str:
    """Name the actions, if their names make distinct identifiers."""
    signed = [re.sub(r"^-(?=[\d.])", "minus ", action) for action in actions]
    words = [re.sub(r"[^A-Z0-9]+", "_", action.upper()).strip("_") for action in signed]
    if not all(words) or len(set(words)) < len(words):
        return ""
    rows = ", ".join(f"{guard}_ACTION_{word} = {a}" for a, word in enumerate(words))
    return f"enum {{ {rows} }};\n"
