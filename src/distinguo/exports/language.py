"""Printing the functions of a decision in a language: what languages share.

A language is a subclass that says how it writes a declaration, a loop, a branch and a table; see ``modules`` for two
short ones. It is named in ``write.FORMATS``.
"""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from distinguo import __version__
from distinguo.errors import counted
from distinguo.exports.decision import Decision, functions_of
from distinguo.representations.partition import count_regions, has_labels

WIDTH = 100  #: columns of a line of a table
SHOWN = ("fault", "region", "action", "amount")  #: functions for others
SUMS = (ast.Add, ast.Sub)

#: Python's operators, by the name of their class in ``ast``.
SIGNS = {
    "Add": "+",
    "Sub": "-",
    "Mult": "*",
    "Lt": "<",
    "LtE": "<=",
    "Gt": ">",
    "GtE": ">=",
    "Eq": "==",
    "NotEq": "!=",
    "And": "and",
    "Or": "or",
    "Not": "not",
}

Lines = list[str]


class Language:
    """A printer of functions; ``prefix`` begins their names and those of tables and constants."""

    INDENT = "    "
    #: What a certificate is about, in double.
    PROVEN = "It speaks of double arithmetic, which this program has."
    BRACKETS: tuple[str, str] = ("[", "]")
    WORDS: Mapping[str, str] = MappingProxyType(
        {"and": "&&", "or": "||", "not": "!"}
    )  #: those that are not Python's

    def __init__(self, decision: Decision, prefix: str = "") -> None:
        self.decision = decision
        self.mark = f"{prefix}_" if prefix else ""
        self.functions = functions_of(decision)
        self.kinds: dict[str, str] = {}  #: of the variables of the function that is written
        self.counters: Lines = []  #: of its loops
        self.names: set[str] = set()  #: that it uses

    # ---- what a language says

    def number(self, value: float) -> str:
        """A constant."""
        return repr(value)

    def entries(self, table: np.ndarray) -> Lines:
        """The entries of a table; those of a row of several are in brackets."""
        opening, closing = self.BRACKETS
        listed = table.tolist()
        if table.ndim == 1:
            return [self.number(one) for one in listed]
        return [opening + ", ".join(map(self.number, row)) + closing for row in listed]

    def item(self, name: str, places: Lines) -> str:
        """An item of a table or of the observation."""
        return name + "".join(f"[{place}]" for place in places)

    def observation(self) -> str:
        """The observation, as an argument."""
        return "s"

    def inputs(self) -> Lines:
        """The coordinates."""
        return [f"{self.observation()}[{i}]" for i in range(self.decision.dimensions)]

    def declare(self, name: str, kind: str, value: str) -> str:
        """A new variable, of the kind ``int`` or ``number``."""
        raise NotImplementedError

    def assign(self, name: str, value: str) -> str:
        """A new value of a variable."""
        return f"{name} = {value};"

    def change(self, name: str, operator: str, value: str) -> str:
        """What is added to a variable."""
        return f"{name} {operator}= {value};"

    def answer(self, value: str) -> str:
        """The end of a function."""
        return f"return {value};"

    def loop(self, name: str, first: str, after: str, body: Lines) -> Lines:
        """Count from ``first`` up to before ``after``."""
        raise NotImplementedError

    def repeat(self, test: str, body: Lines) -> Lines:
        """Repeat while a test holds."""
        return [f"while ({test}) {{", *body, "}"]

    def branch(self, test: str, body: Lines, otherwise: Lines) -> Lines:
        """Do one thing or the other."""
        return [f"if ({test}) {{", *body, *(["} else {", *otherwise] if otherwise else []), "}"]

    def function(self, name: str, arguments: Lines, about: str, body: Lines) -> Lines:
        """A whole function."""
        raise NotImplementedError

    # ---- what all share

    def constants(self) -> dict[str, str]:
        """Numbers for others, by their names."""
        decision, named = self.decision, self.decision.named
        numbers = {
            "DIMENSIONS": len(named.dimensions),
            "REGIONS": count_regions(named.controller.partition),
            "ACTIONS": len(named.actions),
            "LIMIT": decision.limit,
            "SAFE_ACTION": decision.safe_action,
        }
        if decision.safe_amounts:
            numbers["AMOUNTS"] = len(decision.safe_amounts)
        return {name: self.number(value) for name, value in numbers.items()}

    def about(self) -> Lines:
        """What a reader of the program should know, without the signs of a comment."""
        decision, named = self.decision, self.decision.named
        coordinates = zip(self.inputs(), named.dimensions, strict=True)
        unknown = "" if decision.arithmetic == "fixed" else "not a number or "
        lines = [
            f"A controller of {counted(count_regions(named.controller.partition), 'region')}, exported by distinguo "
            f"{__version__}.",
            "",
            f"Task:        {comment(named.task or 'unknown')}",
            *_entry("Input", self._input()),
            f"Coordinates: {comment(', '.join(map(' = '.join, coordinates)))}",
            f"Actions:     {comment(', '.join(f'{a} = {n}' for a, n in enumerate(named.actions)))}",
            f"Fault:       {self.name('fault')}({self.observation()}) is 1 if a coordinate is {unknown}beyond",
            f"             +-{self.name('LIMIT')}; then the answer is safe: {comment(decision.safe)}",
            *_entry("Border", comment(inequality_in_words(decision))),
            *_entry("Arithmetic", decision.said),
            f"Provenance:  {comment(json.dumps(named.provenance, sort_keys=True, default=str))}",
        ]
        lines += [comment(line) for line in certified_in_words(decision)]
        if named.certificates.certificate is not None and decision.arithmetic == "double":
            lines.append(f"             {self.PROVEN}")
        return lines

    def _input(self) -> str:
        """Describe the observation, which is easily mistaken for the whole state of a task."""
        decision = self.decision
        several = ", " in self.observation()
        words = f"{self.observation()} {'are the coordinates of' if several else 'is'} the observation"
        plain = f"{words} as the task gives it, unscaled, in the order of the coordinates"
        if has_labels(decision.named.controller.partition):
            return f"{plain}; each is an exact label."
        if decision.arithmetic != "fixed":
            return f"{plain}."
        counts = ", ".join(f"{k!r}" for k in decision.per_unit.tolist())
        text = f"{words} in counts, round(coordinate * counts per unit); counts per unit: {counts}."
        if decision.safe_amounts:
            counts = ", ".join(f"{k!r}" for k in decision.amounts_per_unit.tolist())
            text += f" Amounts are counts, too; counts per unit: {counts}."
        return text

    def write(self, name: str) -> str:
        """Write a function."""
        node = self.functions[name]
        inside = list(ast.walk(node))
        self.kinds = {
            ast.unparse(one.target): ast.unparse(one.annotation)
            for one in inside
            if isinstance(one, ast.AnnAssign)
        }
        self.counters = list(
            dict.fromkeys(ast.unparse(one.target) for one in inside if isinstance(one, ast.For))
        )
        self.names = {one.id for one in inside if isinstance(one, ast.Name)}
        arguments = [one.arg for one in node.args.args]
        body = self.block(node.body[1:])
        return "\n".join(self.function(name, arguments, ast.get_docstring(node) or "", body)) + "\n"

    def block(self, nodes: Iterable[ast.stmt]) -> Lines:
        """Write statements one step further in."""
        return [self.INDENT + line for node in nodes for line in self.statement(node)]

    def statement(self, node: ast.stmt) -> Lines:
        """Write a statement."""
        match node:
            case ast.AnnAssign(
                target=ast.Name(id=name), annotation=ast.Name(id=kind), value=ast.expr() as value
            ):
                return [self.declare(name, kind, self.expression(value))]
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return [self.assign(name, self.expression(value))]
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                return [self.change(name, self.sign(op), self.expression(value))]
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=ends), body=body):
                first, after = [ast.Constant(0), *ends][-2:]
                return self.loop(name, self.expression(first), self.expression(after), self.block(body))
            case ast.While(test=test, body=body):
                return self.repeat(self.expression(test), self.block(body))
            case ast.If(test=test, body=body, orelse=otherwise):
                return self.branch(self.expression(test), self.block(body), self.block(otherwise))
            case ast.Return(value=ast.expr() as value):
                return [self.answer(self.expression(value))]
        raise NotImplementedError(ast.dump(node))

    def expression(self, node: ast.expr) -> str:
        """Write an expression, with brackets wherever operators are mixed."""
        match node:
            case ast.Constant(value=int() | float() as value):
                return self.number(value)
            case ast.Name(id=name):
                return self.name(name)
            case ast.BinOp(left=left, op=op, right=right):
                return f"{self._inner(left, op)} {self.sign(op)} {self._inner(right)}"
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return f"{self.expression(left)} {self.sign(op)} {self.expression(right)}"
            case ast.BoolOp(op=op, values=values):
                return f" {self.sign(op)} ".join(f"({self.expression(one)})" for one in values)
            case ast.UnaryOp(op=ast.Not() as op, operand=operand):
                return f"{self.sign(op)}({self.expression(operand)})"
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"-{self.expression(operand)}"
            case ast.Subscript():
                return self._item(node, [])
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return f"{self.name(name)}({', '.join(self.expression(one) for one in arguments)})"
        raise NotImplementedError(ast.dump(node))

    def sign(self, operator: ast.AST) -> str:
        """An operator."""
        return self.WORDS.get(SIGNS[type(operator).__name__], SIGNS[type(operator).__name__])

    def name(self, name: str) -> str:
        """A name as it is written: functions and constants begin with the prefix."""
        if name.isupper():
            return f"{self.mark.upper()}{name}"
        known = name in ("region", *self.functions)
        return f"{self.mark}{name}" if known else name

    def _inner(self, node: ast.expr, beside: ast.operator | None = None) -> str:
        """An operand; brackets are left out only from left to right among operators of one rank."""
        text = self.expression(node)
        if not isinstance(node, ast.BinOp):
            return text
        chained = beside is not None and isinstance(node.op, SUMS) == isinstance(beside, SUMS)
        return text if chained else f"({text})"

    def _item(self, node: ast.expr, places: Lines) -> str:
        if isinstance(node, ast.Subscript):
            return self._item(node.value, [self.expression(node.slice), *places])
        return self.item(self.expression(node), places)


def several_to_a_line(entries: Iterable[str], indent: str) -> Lines:
    """Several entries to a line, each followed by a comma."""
    lines, line = [], indent
    for entry in entries:
        if len(line) + len(entry) + 2 > WIDTH and line.strip():
            lines.append(line)
            line = indent
        line += f" {entry}," if line.strip() else f"{entry},"
    return [*lines, line]


def _entry(label: str, text: str) -> Lines:
    """An entry of the text at the top, on as many lines as it takes."""
    head = f"{label + ':':<13}"
    return textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * 13) if text else []


def inequality_in_words(decision: Decision) -> str:
    """The inequality that two prototypes are."""
    border, named = decision.inequality, decision.named
    if border is None:
        return ""
    first, second = (named.actions[a] for a in named.controller.greedy[named.controller.partition.regions])
    terms = " + ".join(
        f"{k:.6g} {word}" for k, word in zip(border.normal.tolist(), named.dimensions, strict=True) if k
    )
    return f"{second} where {terms} > {border.offset:.6g}, otherwise {first}".replace("+ -", "- ")


def certified_in_words(decision: Decision) -> Lines:
    """What is proven, what the proof speaks of, and which certificates are not cited."""
    found, refused, _ = decision.named.certificates
    lines = []
    if found is not None:
        lines.append(f"Certificate: {found.file}, SHA-256 {found.sha256}")
        if found.domain:
            lines.append(f"It claims:   {found.domain}")
        if decision.arithmetic != "double":
            lines.append(
                f"             It speaks of double arithmetic, not of this one ({decision.arithmetic})."
            )
    return lines + [f"Certificate: {why}" for why in refused]


def comment(text: str) -> str:
    """Make any text safe inside a comment.

    >>> comment("a */ system(); /* é")
    'a * / system(); / * ?'
    """
    plain = "".join(c if c.isascii() and c.isprintable() and c != "\\" else "?" for c in text)
    for marks in ("*/", "/*", "*)", "(*", "??/"):
        plain = plain.replace(marks, f"{marks[:-1]} {marks[-1]}")
    return plain
