"""A controller as a module of Python or of JavaScript: one file that needs nothing else."""

from __future__ import annotations

import json
from types import MappingProxyType

from distinguo.exports.decision import Decision
from distinguo.exports.language import SHOWN, WIDTH, Language, Lines, several_to_a_line


class Module(Language):
    """A language whose file has constants and tables beside its functions."""

    COMMENT: str
    CONSTANT: str
    TABLE: tuple[str, str]

    def words(self, texts: tuple[str, ...]) -> str:
        """A constant of several texts."""
        raise NotImplementedError

    def module(self) -> str:
        """The whole file."""
        named, tables = self.decision.named, self.decision.tables
        opening, closing = self.TABLE
        lines = [self.COMMENT.format(line).rstrip() for line in self.about()]
        lines += ["", *(self.CONSTANT.format(*one) for one in self.constants().items())]
        lines += [self.CONSTANT.format("ACTION_NAMES", self.words(named.actions)), ""]
        for name, table in tables.items():
            entries = self.entries(table)
            short = opening.format(name) + ", ".join(entries) + closing
            long = [opening.format(name), *several_to_a_line(entries, self.INDENT), closing]
            lines += [short] if len(short) <= WIDTH else long
        functions = "\n".join(self.write(name) for name in self.functions)
        return "\n".join([*lines, "", functions]).replace("\n\n\n\n", "\n\n\n")


class Python(Module):
    """Python, from 2.7 on."""

    WORDS = MappingProxyType({"not": "not "})
    COMMENT = "# {}"
    CONSTANT, TABLE = "{} = {}", ("{} = [", "]")

    def item(self, name: str, places: Lines) -> str:
        """An item; numbers of an array of 32 bits would be computed with in 32 bits."""
        text = super().item(name, places)
        return f"float({text})" if name == "s" else text

    def words(self, texts: tuple[str, ...]) -> str:
        """A tuple of texts."""
        return f"({', '.join(map(ascii, texts))},)"

    def declare(self, name: str, kind: str, value: str) -> str:
        """A variable is not declared."""
        return self.assign(name, value)

    def assign(self, name: str, value: str) -> str:
        """A new value of a variable."""
        return f"{name} = {value}"

    def change(self, name: str, operator: str, value: str) -> str:
        """What is added to a variable."""
        return f"{name} {operator}= {value}"

    def answer(self, value: str) -> str:
        """The end of a function."""
        return f"return {value}"

    def loop(self, name: str, first: str, after: str, body: Lines) -> Lines:
        """Count over a range."""
        return [f"for {name} in range({after if first == '0' else f'{first}, {after}'}):", *body]

    def repeat(self, test: str, body: Lines) -> Lines:
        """Repeat while a test holds."""
        return [f"while {test}:", *body]

    def branch(self, test: str, body: Lines, otherwise: Lines) -> Lines:
        """Do one thing or the other."""
        return [f"if {test}:", *body, *(["else:", *otherwise] if otherwise else [])]

    def function(self, name: str, arguments: Lines, about: str, body: Lines) -> Lines:
        """A whole function."""
        return ["", f"def {name}({', '.join(arguments)}):", f'{self.INDENT}"""{about}"""', *body]


class JavaScript(Module):
    """JavaScript, a module that browsers and Node.js import."""

    WORDS = MappingProxyType({**Language.WORDS, "==": "===", "!=": "!=="})
    COMMENT = "// {}"
    CONSTANT, TABLE = "export const {} = {};", ("const {} = [", "];")

    def words(self, texts: tuple[str, ...]) -> str:
        """A list of texts."""
        return json.dumps(texts)

    def declare(self, name: str, kind: str, value: str) -> str:
        """A variable of a block."""
        return f"let {self.assign(name, value)}"

    def loop(self, name: str, first: str, after: str, body: Lines) -> Lines:
        """Count with a variable of the loop."""
        return [f"for (let {name} = {first}; {name} < {after}; {name}++) {{", *body, "}"]

    def function(self, name: str, arguments: Lines, about: str, body: Lines) -> Lines:
        """A whole function; in a fault, null is not taken for 0, as which JSON writes what is not a number."""
        shown = "export " if name in SHOWN else ""
        sound = [f"{self.INDENT}if (!Array.from(s).slice(0, DIMENSIONS).every(Number.isFinite)) return 1;"]
        body = [*(sound if name == "fault" else []), *body]
        return [f"/** {about} */", f"{shown}function {name}({', '.join(arguments)}) {{", *body, "}"]


def to_python(decision: Decision) -> str:
    """Return a decision as a module of Python.

    >>> import numpy as np
    >>> from distinguo.controller import Controller
    >>> from distinguo.exports.decision import decision_of
    >>> from distinguo.exports.tables import LabelledController
    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> module = {}
    >>> exec(to_python(decision_of(LabelledController(two, ("x",), ("left", "right")), safe="right")), module)
    >>> [module["action"]([x]) for x in (0.3, -0.3, float("nan"))]
    [0, 1, 1]
    """
    return Python(decision).module()


def to_javascript(decision: Decision) -> str:
    """Return a decision as a module of JavaScript."""
    return JavaScript(decision).module()
