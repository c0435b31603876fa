"""A controller in C: one header, or a header and its source; nothing to link and nothing to allocate.

The functions are those of ``decision``. A header alone is C99 and C++; a header with its source is C89, too.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.exports.agreement import decided
from distinguo.exports.certified import Untranslatable, certified_in_c, table
from distinguo.exports.decision import Decision
from distinguo.exports.language import SHOWN, WIDTH, Language, Lines, comment
from distinguo.exports.tables import LabelledController, in_c
from distinguo.proof.schema import ProgramCertificate

PREFIX = "distinguo"

_HEADER = """\
/* {about}
 */
#ifndef {guard}_H
#define {guard}_H
{checks}
{constants}{tables}{pragma}
{functions}
#endif
"""

_NO_FAST_MATH = """
#ifdef __FAST_MATH__
#error "fast-math reorders sums: compile this controller without it"
#endif
"""

_C99 = """
#if !defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L
#error "{name}_certified needs C99"
#endif
"""

_DOUBLE = """\
#if defined(DBL_MANT_DIG) && (DBL_MANT_DIG < 53)
#error "double is shorter than 64 bits here: export with --arithmetic float"
#endif
"""

_PRAGMA = """
#if defined(__clang__) || !defined(__GNUC__) /* GCC does not know this pragma: see above */
#pragma STDC FP_CONTRACT OFF
#endif
"""

_DECLARED = """\
/* {about}
 */
#ifndef {guard}_H
#define {guard}_H

{constants}
#ifdef __cplusplus
extern "C" {{
#endif

{functions}
#ifdef __cplusplus
}}
#endif

#endif
"""


class C(Language):
    """C, from C89 on."""

    BRACKETS = ("{", "}")

    def __init__(self, decision: Decision, prefix: str, linkage: str = "static inline ") -> None:
        super().__init__(decision, prefix)
        self.linkage = linkage
        self.kind = "long" if decision.arithmetic == "fixed" else decision.arithmetic

    def number(self, value: float) -> str:
        """Write the shortest digits that any compiler reads back exactly."""
        if isinstance(value, int):
            return f"{value}L" if abs(value) > 2**15 - 1 else str(value)
        return repr(value) if self.kind == "double" else f"{np.float32(value)!s}F"

    def declare(self, name: str, kind: str, value: str) -> str:
        """A variable at the beginning of a block."""
        return f"{self._type(kind)} {name} = {value};"

    def _type(self, kind: str) -> str:
        return "int" if kind == "int" else self.kind

    def loop(self, name: str, first: str, after: str, body: Lines) -> Lines:
        """Count with a variable of the function."""
        return [f"for ({name} = {first}; {name} < {after}; {name}++) {{", *body, "}"]

    def item(self, name: str, places: Lines) -> str:
        """An item; one of a long table that is a place is made an int."""
        text, values = super().item(name, places), self.decision.tables.get(name)
        is_long = values is not None and name in PLACES and _smallest(values) == "long"
        return f"(int){text}" if is_long else text

    def function(self, name: str, arguments: Lines, about: str, body: Lines) -> Lines:
        """A whole function, with its tables."""
        inside = "static " if self.linkage != "static inline " and name not in SHOWN else self.linkage
        head = [f"{self.INDENT}int {counter};" for counter in self.counters]
        unused = [] if "s" in self.names else [f"{self.INDENT}(void)s;"]
        tables = [self.table(one, table) for one, table in self.decision.tables.items() if one in self.names]
        return [
            *(f"/* {about} */", f"{inside}{self.signature(name, arguments)}", "{"),
            *(self.INDENT + line for text in tables for line in text.splitlines()),
            *head,
            *body[:-1],
            *unused,
            body[-1],
            "}",
        ]

    def signature(self, name: str, arguments: Lines) -> str:
        """What a function takes and gives."""
        kind = self._type("number" if name in ("distance", "amount") else "int")
        given = [f"const {self.kind} s[{self.decision.dimensions}]", *(f"int {one}" for one in arguments[1:])]
        return f"{kind} {self.mark}{name}({', '.join(given)})"

    def own_tables(self) -> Lines:
        """The tables of a partition of one's own."""
        return in_c(self.decision.named.controller.partition, self.mark[:-1])[0] if self.decision.own else []

    def table(self, name: str, values: np.ndarray) -> str:
        """A constant table; whole numbers are kept in the smallest type that holds them."""
        kind = _smallest(values) if values.dtype == np.int64 else self.kind
        shape = "".join(f"[{length}]" for length in values.shape)
        return table(f"{kind} {name}{shape}", self.entries(values))

    def shown(self) -> list[tuple[str, Lines, str]]:
        """The functions for others: each with its arguments and what it tells."""
        named = {
            one: ([argument.arg for argument in node.args.args], ast.get_docstring(node) or "")
            for one, node in self.functions.items()
        }
        named["region"] = (["s"], REGION)
        return [(one, *named[one]) for one in SHOWN if one in named]

    def code(self) -> Lines:
        """All functions, in the order in which they need each other."""
        texts = {name: self.write(name) for name in self.functions}
        if self.decision.own:
            texts["region"] = self._own_region()
        return [texts[name] for name in ("fault", "distance", "region", "action", "amount") if name in texts]

    def _own_region(self) -> str:
        body = in_c(self.decision.named.controller.partition, self.mark[:-1])[1]
        return f"/* {REGION} */\n{self.linkage}{self.signature('region', ['s'])}\n{{\n{body}\n}}\n"


REGION = "The region that an observation falls in."
#: Tables of whole numbers that are regions, actions or places in a table.
PLACES = ("axis", "below", "above", "regions", "actions")


def _smallest(values: np.ndarray) -> str:
    """The smallest type that holds whole numbers, as controllers run in small memories."""
    least, most = int(values.min()), int(values.max())
    kinds = [("signed char", 2**7), ("short", 2**15), ("long", 2**31)]
    return next(kind for kind, end in kinds if -end <= least and most < end)


def to_header(named: LabelledController, name: str = PREFIX) -> str:
    """Return the controller as a header, in double.

    >>> import numpy as np
    >>> from distinguo.controller import Controller
    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> header = to_header(LabelledController(two, ("x",), ("left", "right")), "cart")
    >>> "static inline int cart_action(const double s[1])" in header
    True
    """
    return header_of(decided(named), name)


def header_of(decision: Decision, name: str = PREFIX) -> str:
    """Return a decision as a header that is all there is."""
    printer, certified, why_not = _prepared(decision, name, "static inline ")
    return _HEADER.format(
        about=_comment(_about(printer, name, bool(certified), why_not)),
        guard=name.upper(),
        checks=_checks(decision, certified),
        constants=_constants(printer, name),
        tables="\n".join(printer.own_tables()),
        pragma=_pragma(decision),
        functions="\n".join(printer.code()) + certified,
    )


def source_and_header(decision: Decision, name: str = PREFIX, stem: str = "controller") -> dict[str, str]:
    """Return a decision as a source and its header, by their suffixes."""
    printer, certified, why_not = _prepared(decision, name, "")
    needs = _C99.format(name=name) if certified else ""
    declared = {printer.signature(one, arguments): about for one, arguments, about in printer.shown()}
    for one, arguments, said in CERTIFIED if certified else ():
        declared[printer.signature(one, arguments)] = said
        certified = certified.replace(f"static inline int {name}_{one}(", f"int {name}_{one}(")
    include = f'#include "{stem}.h"\n'
    text = "\n".join(
        [
            f"/* See {stem}.h. */\n" + include + needs + _checks(decision, certified),
            *printer.own_tables(),
            _pragma(decision).lstrip("\n"),
            *printer.code(),
        ]
    )
    declarations = "\n".join(f"/* {about} */\nextern {one};\n" for one, about in declared.items())
    header = _DECLARED.format(
        about=_comment(_about(printer, name, bool(certified), why_not)),
        guard=name.upper(),
        constants=_constants(printer, name),
        functions=declarations,
    )
    return {".c": text + certified, ".h": header}


#: What the functions of a certificate tell, in the header of a source.
CERTIFIED = (
    ("certified", ["s"], "Whether a state is certified: from here the controller never fails."),
    (
        "safe_action",
        ["s", "a"],
        "The action a if it is certainly safe in a certified state, else the controller's own.",
    ),
)


def _prepared(decision: Decision, name: str, linkage: str) -> tuple[C, str, str]:
    """The printer, the functions of the certificate and, if they are left out, why."""
    check_name(name)
    certified, why_not = _certified(decision, name)
    return C(decision, name, linkage), certified, why_not


def _certified(decision: Decision, name: str) -> tuple[str, str]:
    """The functions of the certificate of a declared task; or why they are left out, if they are."""
    certificate = decision.named.certificates.content
    if not isinstance(certificate, ProgramCertificate):
        return "", ""
    left_out = f"{name}_certified and {name}_safe_action are left out: "
    if decision.arithmetic != "double":
        return "", left_out + "they are written in double only."
    try:
        return certified_in_c(certificate, name), ""
    except Untranslatable as why:
        return "", f"{left_out}{why}."


def _checks(decision: Decision, certified: str) -> str:
    """What the compiler is asked before anything else."""
    used = [
        word for word in ("sqrt", "sin", "cos", "tan", "exp", "log", "tanh") if f" {word}(x.low)" in certified
    ]
    used += [word for word in ("fmod", "ceil") if f" {word}(" in certified]
    text = f"\n#include <math.h> /* {', '.join(used)}: link with -lm */" if used else ""
    if decision.arithmetic == "double":
        text += "\n#include <float.h>"
    if decision.arithmetic != "fixed":
        text += _NO_FAST_MATH
    return text + (_DOUBLE if decision.arithmetic == "double" else "")


def _pragma(decision: Decision) -> str:
    return "" if decision.arithmetic == "fixed" else _PRAGMA


def _constants(printer: C, name: str) -> str:
    guard = name.upper()
    lines = [f"#define {guard}_{word} {number}" for word, number in printer.constants().items()]
    return "\n".join(lines) + "\n" + _action_names(printer.decision.named.actions, guard) + "\n"


def _comment(lines: Iterable[str]) -> str:
    return "\n".join(f" * {line}".rstrip() for line in lines)[3:]


def _about(printer: C, name: str, certified: bool, why_not: str) -> list[str]:
    """The comment at the top: what all languages say, and what only C has."""
    lines = printer.about()
    if certified:
        lines += [
            "",
            f"{name}_certified(s) says whether the certificate holds for a state; {name}_safe_action(s, a) is the",
            f"action a if one step with it certainly ends in a certified state, otherwise {name}_action(s). Whoever",
            "takes safe actions from a certified state on never fails.",
        ]
    lines += [comment(why_not)] if why_not else []
    arithmetic = printer.decision.arithmetic
    if arithmetic == "fixed":
        return lines
    promise = _COMPILERS[arithmetic].format(name=name)
    return [
        *lines,
        "",
        *textwrap.wrap(_NOT_CONTRACTED.format(promise=promise), WIDTH, break_on_hyphens=False),
    ]


_COMPILERS = {
    "double": "{name}_region(s) and {name}_action(s) give the same answers as distinguo does in Python, also on the "
    "borders of regions,",
    "float": "What was measured holds",
}
_NOT_CONTRACTED = (
    "{promise} if the compiler does not contract a * b + c into one operation. C99 compilers are told so by a "
    "pragma. GCC ignores it: compile with -std=c99 or -ffp-contract=off, and C++ with the latter."
)


def check_name(name: str) -> None:
    """Refuse a prefix that C would not take."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,40}", name):
        raise DistinguoError(
            f"--name should be a letter followed by at most 40 letters, digits or underscores, got {name!r}."
        )


def _action_names(actions: tuple[str, ...], guard: str) -> str:
    """Name the actions, if their names make distinct identifiers."""
    signed = [re.sub(r"^-(?=[\d.])", "minus ", action) for action in actions]
    words = [re.sub(r"[^A-Z0-9]+", "_", action.upper()).strip("_") for action in signed]
    if not all(words) or len(set(words)) < len(words):
        return ""
    rows = ", ".join(f"{guard}_ACTION_{word} = {a}" for a, word in enumerate(words))
    return f"enum {{ {rows} }};\n"
