"""The set of a certificate in C: is a state certified, and does an action certainly lead into the set again?

The task's own ``transition`` is translated from the source in the certificate. Its numbers become intervals, whose
ends are computed by the program's own operations, as in ``proof/number/form.py``; so a state that is known exactly
goes exactly where the program goes, and noise and ranges are enclosed. A comparison that an interval leaves open is
followed both ways. What the checker reads but C lacks here is refused by :class:`Untranslatable`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from distinguo.exports.intervals import FRAME, LIBRARY
from distinguo.exports.language import several_to_a_line
from distinguo.proof.declared.lattice import SLACK
from distinguo.proof.schema import ProgramCertificate

NUMBER, TRUTH = "number", "truth"
MOST_WAYS = 4096  #: of one step
MOST_FORKS = 64  #: of one way
FUNCTIONS = {
    **{name: name for name in ("sin", "cos", "tan", "exp", "log", "tanh", "sqrt")},
    **dict.fromkeys(("abs", "fabs", "absolute"), "magnitude"),
    **dict.fromkeys(("min", "minimum"), "least"),
    **dict.fromkeys(("max", "maximum"), "greatest"),
    **dict.fromkeys(("float", "float64"), ""),
    "clip": "within",
    **{name: name for name in ("mod", "fmod", "copysign")},
}
OPERATIONS: dict[type, str] = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
COMPARISONS: dict[
    type, tuple[str, bool, bool]
] = {  #: function, whether its arguments and its answer are turned
    ast.Lt: ("less", False, False),
    ast.Gt: ("less", True, False),
    ast.LtE: ("less", True, True),
    ast.GtE: ("less", False, True),
    ast.Eq: ("equal", False, False),
    ast.NotEq: ("equal", False, True),
}


class Untranslatable(Exception):  # noqa: N818 - it says what, not that it failed
    """What a program does that is not translated."""


class Value(NamedTuple):
    """A piece of C, and what it is; a tuple has parts instead."""

    code: str
    kind: str
    parts: tuple[Value, ...] = ()


def certified_in_c(certificate: ProgramCertificate, prefix: str) -> str:
    """The functions of a certificate, after those of its controller.

    >>> from distinguo.proof.declared.question import certify_declared
    >>> from distinguo.tasks.catalog import task_spec
    >>> code = certified_in_c(certify_declared(task_spec("puck"), 2_500), "cart")
    >>> "int cart_certified(const double s[2])" in code, "cart_square_root" in code
    (True, True)
    """
    claim = certificate.task
    if "observe" in claim.functions:
        raise Untranslatable("the controller observes something else than the state")
    translator = Translator(certificate, prefix)
    program = translator.program()
    needed = program
    for name, text in reversed(LIBRARY.items()):
        if f"@_{name}(" in needed:
            needed = text + needed
    claims = {"ACTIONS": claim.actions, "N": claim.dimensions, "RUNS": len(certificate.cells.runs)}
    limits = {"SLACK": SLACK, "FORKS": MOST_FORKS, "WAYS": MOST_WAYS}
    code = FRAME.replace("@PROGRAM@", needed).replace("@TABLES@", _tables(certificate))
    for word, value in (claims | limits).items():
        code = code.replace(f"@{word}@", repr(value))
    return code.replace("@", prefix)


def _tables(certificate: ProgramCertificate) -> str:
    cells = certificate.cells
    runs = np.array(cells.runs)
    rows = ["{" + ", ".join(map(repr, row)) + "}" for row in cells.matrix]
    n = len(cells.counts)
    return "".join(
        [
            table(f"double @_matrix[{n}][{n}]", rows),
            table(f"double @_corner[{n}]", map(repr, cells.low)),
            table(f"double @_pitch[{n}]", map(repr, cells.pitch)),
            table(f"long @_counts[{n}]", map(str, cells.counts)),
            table(f"long @_firsts[{len(runs)}]", map(str, runs[:, 0].tolist())),
            table(f"long @_lasts[{len(runs)}]", map(str, runs[:, 1].tolist())),
        ]
    )


def table(declaration: str, entries: Iterable[str]) -> str:
    """A constant table in C."""
    lines = "\n".join(several_to_a_line(entries, "    "))
    return f"static const {declaration} = {{\n{lines}\n}};\n"


class Translator:
    """Translates the functions of a certificate."""

    def __init__(self, certificate: ProgramCertificate, prefix: str) -> None:
        self.claim, self.prefix = certificate.task, prefix
        self.helpers: dict[str, str] = {}  #: functions that are called, once translated
        self.variables: dict[str, Value] = {}
        self.lines: list[str] = []
        self.indent = 1

    def program(self) -> str:
        """The step, after the functions that it calls."""
        body = self._function("transition", step=True)
        return "".join(self.helpers.values()) + (
            "/* One step: an enclosure of the next state, and whether it ends the trial. */\n"
            f"static inline int @_step(struct @_ways *w, const @_number s[{self.claim.dimensions}], @_number a,\n"
            f"    @_number after[{self.claim.dimensions}])\n{{\n{body}}}\n\n"
        )

    def _function(self, name: str, step: bool) -> str:
        node = ast.parse(self.claim.functions[name]).body[0]
        assert isinstance(node, ast.FunctionDef)
        outer = self.variables, self.lines, self.indent
        self.variables, self.lines, self.indent = {}, [], 1
        names = [argument.arg for argument in node.args.args]
        if step:
            state = tuple(Value(f"s[{i}]", NUMBER) for i in range(self.claim.dimensions))
            self.variables = {names[0]: Value("", "self"), names[1]: Value("", "tuple", state)}
            self.variables[names[2]] = Value("a", NUMBER)
        else:
            self.variables = {word: Value(f"v_{word}", NUMBER) for word in names}
        given = set(self.variables)
        self._block(node.body, step)
        declared = [
            line for word, value in self.variables.items() if word not in given for line in _declared(value)
        ]
        text = "    (void)w;\n" + ("    (void)s;\n    (void)a;\n" if step else "")
        text += "".join(f"    (void)v_{word};\n" for word in names if not step)
        text += "".join(f"    {line}\n" for line in declared) + "".join(self.lines)
        text += "    w->lost = 1;\n    return " + ("1" if step else "@_point(0.0)") + ";\n"
        self.variables, self.lines, self.indent = outer
        return text

    def _emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line + "\n")

    def _block(self, nodes: list[ast.stmt], step: bool) -> None:
        for node in nodes:
            self._statement(node, step)

    def _statement(self, node: ast.stmt, step: bool) -> None:
        if isinstance(node, ast.Return) and node.value is not None:
            self._return(self._expression(node.value), step)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._assign(node.targets[0], self._expression(node.value))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign(node.target, self._expression(node.value))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read = ast.Name(node.target.id, ast.Load())
            self._assign(node.target, self._expression(ast.BinOp(read, node.op, node.value)))
        elif isinstance(node, ast.If):
            self._emit(f"if ({self._truth(node.test)}) {{")
            self._inner(node.body, step)
            if node.orelse:
                self._emit("} else {")
                self._inner(node.orelse, step)
            self._emit("}")
        elif isinstance(node, ast.For):
            self._loop(node, step)
        elif not (isinstance(node, ast.Pass) or _is_text(node)):
            raise Untranslatable(f"its source has a {type(node).__name__.lower()}")

    def _inner(self, nodes: list[ast.stmt], step: bool) -> None:
        self.indent += 1
        self._block(nodes, step)
        self.indent -= 1

    def _loop(self, node: ast.For, step: bool) -> None:
        call, target = node.iter, node.target
        if not (isinstance(call, ast.Call) and isinstance(target, ast.Name)):
            raise Untranslatable("it has a loop that is not over a range")
        ends = [
            end.value for end in call.args if isinstance(end, ast.Constant) and isinstance(end.value, int)
        ]
        if len(ends) != len(call.args) or not 1 <= len(ends) <= 2:
            raise Untranslatable("it has a loop whose range is not written as numbers")
        first, last = ends if len(ends) == 2 else (0, ends[0])
        turn = f"t{self.indent}"
        self._emit(f"for (long {turn} = {first}; {turn} < {last}; {turn}++) {{")
        self.indent += 1
        self._assign(target, Value(f"@_point((double){turn})", NUMBER))
        self._block(node.body, step)
        self.indent -= 1
        self._emit("}")

    def _return(self, value: Value, step: bool) -> None:
        if not step:
            self._emit(f"return {_number(value)};")
            return
        if len(value.parts) != 3 or len(value.parts[0].parts) != self.claim.dimensions:
            raise Untranslatable("it does not return a state, a reward and whether it is terminal")
        for i, part in enumerate(value.parts[0].parts):
            self._emit(f"after[{i}] = {_number(part)};")
        self._emit(f"return {_truth_of(value.parts[2])};")

    def _assign(self, target: ast.expr, value: Value) -> None:
        several = isinstance(target, ast.Tuple)
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        values = value.parts if several else (value,)
        if len(targets) != len(values):
            raise Untranslatable("it unpacks something else than numbers")
        pairs = [pair for one, part in zip(targets, values, strict=True) for pair in self._places(one, part)]
        if len(pairs) == 1:
            self._emit(f"{pairs[0][0]} = {pairs[0][1].code};")
            return
        self._emit("{")  # all are computed before the first is assigned
        self.lines += [f"const {_type(part)} r{i} = {part.code};\n" for i, (_, part) in enumerate(pairs)]
        self.lines += [f"{place} = r{i};\n" for i, (place, _) in enumerate(pairs)]
        self._emit("}")

    def _places(self, target: ast.expr, value: Value) -> list[tuple[str, Value]]:
        """The variables in C that a value is assigned to, each with its part of the value."""
        if not isinstance(target, ast.Name):
            raise Untranslatable("it assigns to something that is not a name")
        known = self.variables.get(target.id)
        if known is None:
            known = self.variables[target.id] = _place(target.id, value)
        if known.code == "a" or (known.parts and known.parts[0].code == "s[0]"):
            raise Untranslatable(f"it assigns to its argument {target.id}")
        return _matched(known, value, target.id)

    # ---- expressions -----------------------------------------------------------------------------------------------

    def _truth(self, node: ast.expr) -> str:
        return _truth_of(self._expression(node))

    def _expression(self, node: ast.expr) -> Value:
        reader = getattr(self, f"_read_{type(node).__name__.lower()}", None)
        if reader is None:
            raise Untranslatable(f"its source has a {type(node).__name__.lower()}")
        value: Value = reader(node)
        return value

    def _read_constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool):
            return Value(str(int(node.value)), TRUTH)
        return _constant(float(node.value))  # type: ignore[arg-type]

    def _read_name(self, node: ast.Name) -> Value:
        if node.id in self.variables:
            return self.variables[node.id]
        number = self.claim.constants.get(node.id)
        if isinstance(number, float):
            return _constant(number)
        raise Untranslatable(f"it uses {node.id}")

    def _read_attribute(self, node: ast.Attribute) -> Value:
        owner, name = node.value, node.attr
        if isinstance(owner, ast.Name) and owner.id in self.claim.names:
            return _constant(float(getattr(math, name)))
        if not (isinstance(owner, ast.Name) and self.variables.get(owner.id, Value("", "")).kind == "self"):
            raise Untranslatable(f"it uses .{name} of something that is not the task")
        low, high = self.claim.low[name], self.claim.high[name]
        return _constant(low) if low == high else Value(f"@_between({low!r}, {high!r})", NUMBER)

    def _read_subscript(self, node: ast.Subscript) -> Value:
        whole, place = self._expression(node.value), node.slice
        if not (isinstance(place, ast.Constant) and isinstance(place.value, int) and whole.parts):
            raise Untranslatable("it takes an item that is not written as a number")
        return whole.parts[place.value]

    def _read_tuple(self, node: ast.Tuple) -> Value:
        return Value("", "tuple", tuple(self._expression(part) for part in node.elts))

    def _read_binop(self, node: ast.BinOp) -> Value:
        left = _number(self._expression(node.left))
        if isinstance(node.op, ast.Pow):
            power = node.right.value if isinstance(node.right, ast.Constant) else None
            if power == 0.5:
                return Value(f"@_off(@_square_root(w, {left}), 2)", NUMBER)
            if not isinstance(power, int | float) or power not in range(17):
                raise Untranslatable("it raises to a power that is not written as a whole number or 0.5")
            return Value(f"@_power({left}, {int(power)})", NUMBER)
        if isinstance(node.op, ast.Mod):
            return _remainder(left, _number(self._expression(node.right)), truncated=False)
        operation = OPERATIONS.get(type(node.op))
        if operation is None:
            raise Untranslatable("it divides without remainder")
        way = "w, " if operation == "divide" else ""
        return Value(f"@_{operation}({way}{left}, {_number(self._expression(node.right))})", NUMBER)

    def _read_unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value(f"!({self._truth(node.operand)})", TRUTH)
        value = self._expression(node.operand)
        return Value(f"@_minus({_number(value)})", NUMBER) if isinstance(node.op, ast.USub) else value

    def _read_boolop(self, node: ast.BoolOp) -> Value:
        word = " && " if isinstance(node.op, ast.And) else " || "
        if any(self._expression(part).kind != TRUTH for part in node.values):
            raise Untranslatable("its program joins numbers by and, or")
        return Value("(" + word.join(f"({self._truth(part)})" for part in node.values) + ")", TRUTH)

    def _read_compare(self, node: ast.Compare) -> Value:
        values = [_number(self._expression(part)) for part in (node.left, *node.comparators)]
        tests = []
        for operator, x, y in zip(node.ops, values[:-1], values[1:], strict=True):
            function, turned, denied = COMPARISONS[type(operator)]
            pair = f"{y}, {x}" if turned else f"{x}, {y}"
            tests.append(f"{'!' if denied else ''}@_{function}(w, {pair})")
        return Value("(" + " && ".join(tests) + ")", TRUTH)

    def _read_ifexp(self, node: ast.IfExp) -> Value:
        test, yes, no = self._truth(node.test), self._expression(node.body), self._expression(node.orelse)
        if yes.kind == no.kind == TRUTH:
            return Value(f"(({test}) ? {yes.code} : {no.code})", TRUTH)
        return Value(f"(({test}) ? {_number(yes)} : {_number(no)})", NUMBER)

    def _read_call(self, node: ast.Call) -> Value:
        word, owner = self._called(node.func)
        if owner == "rng":
            ends = [_number(self._expression(end)) for end in node.args] or ["@_point(0.0)", "@_point(1.0)"]
            return Value(f"@_drawn({', '.join(ends)})", NUMBER)
        values = [self._expression(argument) for argument in node.args]
        if word in self.claim.functions:
            return self._helper(word, values)
        function = FUNCTIONS.get(word)
        if function is None:
            raise Untranslatable(f"it calls {word}")
        if len(values) == 1 and values[0].parts:
            values = list(values[0].parts)
        codes = [_number(value) for value in values]
        if function in ("least", "greatest"):
            code = codes[0]
            for other in codes[1:]:
                code = f"@_{function}({code}, {other})"
            return Value(code, NUMBER)
        if function in ("mod", "fmod"):
            return _remainder(codes[0], codes[1], truncated=function == "fmod")
        if function == "copysign":
            return Value(f"@_copysign({codes[0]}, {codes[1]})", NUMBER)
        if function == "within":
            return Value(f"@_least(@_greatest({codes[0]}, {codes[1]}), {codes[2]})", NUMBER)
        way = "w, " if function in ("tan", "exp", "log", "sqrt") else ""
        name = "square_root" if function == "sqrt" else function
        return Value(f"@_{name}({way}{codes[0]})" if name else codes[0], NUMBER)

    def _helper(self, name: str, values: list[Value]) -> Value:
        """A call of a function of the same file."""
        node = ast.parse(self.claim.functions[name]).body[0]
        assert isinstance(node, ast.FunctionDef)
        names, defaults = [argument.arg for argument in node.args.args], node.args.defaults
        missing = len(names) - len(values)
        values = [*values, *(self._expression(one) for one in defaults[len(defaults) - missing :][:missing])]
        if name not in self.helpers:
            self.helpers[name] = ""
            given = "".join(f", @_number v_{word}" for word in names)
            body = self._function(name, step=False)
            # what it calls comes before it
            del self.helpers[name]
            self.helpers[name] = (
                f"static inline @_number @_f_{name}(struct @_ways *w{given})\n{{\n{body}}}\n\n"
            )
        return Value(f"@_f_{name}(w" + "".join(f", {_number(value)}" for value in values) + ")", NUMBER)

    def _called(self, function: ast.expr) -> tuple[str, str]:
        if isinstance(function, ast.Name):
            meaning = self.claim.names.get(function.id, function.id)
            return meaning.rpartition(".")[2], ""
        if isinstance(function, ast.Attribute):
            owner = function.value
            if isinstance(owner, ast.Attribute) and owner.attr == "rng":
                return function.attr, "rng"
            return function.attr, ""
        raise Untranslatable("it calls something that is not a function")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _constant(number: float) -> Value:
    return Value(f"@_point({number!r})", NUMBER)


def _remainder(x: str, y: str, truncated: bool) -> Value:
    return Value(f"@_remainder(w, {x}, {y}, {truncated:d})", NUMBER)


def _number(value: Value) -> str:
    if value.kind == TRUTH:
        return f"@_point((double)({value.code}))"
    if value.kind != NUMBER:
        raise Untranslatable("it computes with something that is not a number")
    return value.code


def _truth_of(value: Value) -> str:
    return value.code if value.kind == TRUTH else f"!@_equal(w, {_number(value)}, @_point(0.0))"


def _type(value: Value) -> str:
    return "int" if value.kind == TRUTH else "@_number"


def _place(name: str, value: Value) -> Value:
    if value.kind == "self":
        raise Untranslatable("it gives the task another name")
    parts = tuple(_place(f"{name}_{i}", part) for i, part in enumerate(value.parts))
    return Value(f"v_{name}", value.kind, parts)


def _matched(known: Value, value: Value, name: str) -> list[tuple[str, Value]]:
    if (known.kind, len(known.parts)) != (value.kind, len(value.parts)) or known.kind == "self":
        raise Untranslatable(f"{name} stands for different kinds of values")
    if not value.parts:
        return [(known.code, value)]
    return [
        pair for one, part in zip(known.parts, value.parts, strict=True) for pair in _matched(one, part, name)
    ]


def _declared(value: Value) -> list[str]:
    if value.parts:
        return [line for part in value.parts for line in _declared(part)]
    start = "0" if value.kind == TRUTH else "{0.0, 0.0}"
    return [f"{_type(value)} {value.code} = {start};", f"(void){value.code};"]
