"""A controller in structured text (IEC 61131-3), for programmable logic controllers.

Functions alone: no function block, no type and no global variable, so the file can be put into any project. Each
coordinate is an input of its own, as not all compilers pass arrays on. Literals have their type.
"""

from __future__ import annotations

import ast
from types import MappingProxyType

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.exports.agreement import Written
from distinguo.exports.decision import Decision, known_extent
from distinguo.exports.language import WIDTH, Language, Lines, comment, several_to_a_line

LIMIT = 1e30  #: compilers such as matiec refuse larger literals
KINDS = {"double": "LREAL", "float": "REAL", "fixed": "DINT"}
#: Longer names for those that some systems reserve.
LONGER = {"s": "observation", "p": "prototype", "d": "difference"}


class StructuredText(Language):
    """Structured text."""

    WORDS = MappingProxyType({"and": "AND", "or": "OR", "not": "NOT ", "==": "=", "!=": "<>"})

    def __init__(self, decision: Decision, prefix: str) -> None:
        super().__init__(decision, prefix)
        self.kind = KINDS[decision.arithmetic]
        self.result = ""  #: the function that is written, which stands for its answer
        self.counted = False  #: whether it counts coordinates, and needs them in an array

    def number(self, value: float) -> str:
        """A number with its type, as compilers guess differently."""
        return str(value) if isinstance(value, int) else f"{self.kind}#{self._digits(value)}"

    def entries(self, table: np.ndarray) -> Lines:
        """The entries of a table, row after row; the table says their type."""
        whole = table.dtype == np.int64
        return [str(one) if whole else self._digits(one) for one in table.ravel().tolist()]

    def _digits(self, value: float) -> str:
        """The shortest digits that are read back exactly, with a point before an exponent."""
        text = repr(value) if self.kind == "LREAL" else str(np.float32(value))
        digits, _, power = text.upper().partition("E")
        return (digits if "." in digits else f"{digits}.0") + (f"E{power}" if power else "")

    def name(self, name: str) -> str:
        """A name as it is written."""
        return LONGER.get(name, super().name(name))

    def item(self, name: str, places: Lines) -> str:
        """An item of a table or of the observation."""
        if name == self.name("s") and places[0].isdigit():
            return f"s{places[0]}"
        self.counted |= name == self.name("s")
        return f"{name}[{', '.join(places)}]"

    def observation(self) -> str:
        """The observation, as arguments."""
        return ", ".join(self.inputs())

    def inputs(self) -> Lines:
        """The coordinates."""
        return [f"s{i}" for i in range(self.decision.dimensions)]

    def expression(self, node: ast.expr) -> str:
        """Write an expression; a function is given each coordinate."""
        if isinstance(node, ast.Call):
            others = [self.expression(one) for one in node.args[1:]]
            return f"{self.expression(node.func)}({', '.join([*self.inputs(), *others])})"
        return super().expression(node)

    def declare(self, name: str, kind: str, value: str) -> str:
        """Variables are declared at the beginning."""
        return self.assign(name, value)

    def assign(self, name: str, value: str) -> str:
        """A new value of a variable."""
        return f"{self.name(name)} := {value};"

    def change(self, name: str, operator: str, value: str) -> str:
        """What is added to a variable."""
        return self.assign(name, f"{self.name(name)} {operator} {value}")

    def answer(self, value: str) -> str:
        """The end of a function."""
        return f"{self.result} := {value};"

    def loop(self, name: str, first: str, after: str, body: Lines) -> Lines:
        """Count up to the last turn."""
        return [f"FOR {self.name(name)} := {first} TO {int(after) - 1} DO", *body, "END_FOR;"]

    def repeat(self, test: str, body: Lines) -> Lines:
        """Repeat while a test holds."""
        return [f"WHILE {test} DO", *body, "END_WHILE;"]

    def branch(self, test: str, body: Lines, otherwise: Lines) -> Lines:
        """Do one thing or the other."""
        return [f"IF {test} THEN", *body, *(["ELSE", *otherwise] if otherwise else []), "END_IF;"]

    def write(self, name: str) -> str:
        """Write a function."""
        self.result, self.counted = self.name(name), False
        return super().write(name)

    def function(self, name: str, arguments: Lines, about: str, body: Lines) -> Lines:
        """A whole function, with its constants and variables."""
        kind = self.kind if name in ("distance", "amount") else "DINT"
        numbers = {
            "LIMIT": (self.kind, self.decision.limit),
            "SAFE_ACTION": ("DINT", self.decision.safe_action),
        }
        constants = [
            f"{self.INDENT}{self.name(one)} : {word} := {self.number(value)};"
            for one, (word, value) in numbers.items()
            if one in self.names
        ]
        for one, table in self.decision.tables.items():
            constants += self._table(one, table) if one in self.names else []
        variables = [
            f"{self.INDENT}{self.name(one)} : {self._type(word)};"
            for one, word in [*self.kinds.items(), *((one, "int") for one in self.counters)]
        ]
        names = zip(self.inputs(), self.decision.named.dimensions, strict=True)
        given = [f"{self.INDENT}{one} : {self.kind}; (* {comment(word)} *)" for one, word in names]
        if self.counted:
            ends = f"0..{self.decision.dimensions - 1}"
            variables.append(f"{self.INDENT}{self.name('s')} : ARRAY[{ends}] OF {self.kind};")
            copies = [f"{self.name('s')}[{i}] := {one};" for i, one in enumerate(self.inputs())]
            body = [*(self.INDENT + line for line in copies), *body]
        given += [f"{self.INDENT}{self.name(one)} : DINT;" for one in arguments[1:]]
        return [
            f"(* {about} *)",
            f"FUNCTION {self.result} : {kind}",
            *("VAR_INPUT", *given, "END_VAR"),
            *(("VAR", *variables, "END_VAR") if variables else ()),
            *(("VAR CONSTANT", *constants, "END_VAR") if constants else ()),
            *body,
            "END_FUNCTION",
        ]

    def _type(self, kind: str) -> str:
        return "DINT" if kind == "int" else self.kind

    def _table(self, name: str, table: np.ndarray) -> Lines:
        ranges = ", ".join(f"0..{length - 1}" for length in table.shape)
        kind = "DINT" if table.dtype == np.int64 else self.kind
        head = f"{self.INDENT}{name} : ARRAY[{ranges}] OF {kind} := ["
        short = f"{head}{', '.join(self.entries(table))}];"
        if len(short) <= WIDTH:
            return [short]
        entries = several_to_a_line(self.entries(table), self.INDENT * 2)
        return [head, *entries[:-1], entries[-1].rstrip(",") + "];"]

    def whole(self) -> str:
        """The whole file."""
        about = [f" * {line}".rstrip() for line in self.about()]
        head = ["(*" + about[0][2:], *about[1:], " *)", ""]
        return "\n".join([*head, *(self.write(name) for name in self.functions)])


def to_structured_text(decision: Decision, name: str) -> Written:
    """Return a decision as functions in structured text.

    >>> from distinguo.controller import Controller
    >>> from distinguo.exports.decision import decision_of
    >>> from distinguo.exports.tables import LabelledController
    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> decision = decision_of(LabelledController(two, ("x",), ("left", "right")), "float")
    >>> "IF -REAL#1.0 * s0 > REAL#0.0 THEN" in to_structured_text(decision, "cart").content
    True
    """
    if "__" in name or name.endswith("_"):
        raise DistinguoError(
            f"In structured text, --name should have no two underscores in a row and none at its end, got {name!r}."
        )
    if decision.limit > LIMIT >= abs(known_extent(decision.named)).max():
        decision = decision._replace(limit=LIMIT)
    return Written(StructuredText(decision, name).whole(), decision)
