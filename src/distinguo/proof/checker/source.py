"""The checker reads the source of a task itself: a small subset of Python, evaluated in balls, never executed.

Functions, assignments, ``if``, ``while``, ``for`` over a ``range`` or a tuple, ``return``, arithmetic, comparisons,
calls of functions of ``math`` or ``numpy`` and of the certificate's own functions: whatever else a certificate holds
is refused.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from typing import Any

from flint import arb

from distinguo.errors import DistinguoError
from distinguo.proof.checker.duals import (
    CERTAIN,
    FUNCTIONS,
    LIBRARY,
    PLAIN,
    RISES,
    ZERO,
    Dual,
    Unclear,
    add_duals,
    as_rounded,
    clamped,
    divide,
    function,
    magnitude,
    multiply,
    negative,
    power,
    rounded_to_single,
    subtract,
)
from distinguo.proof.schema import LawsClaim, ProgramClaim

MOST_TURNS = 10_000  #: of the loops of one step
MOST_PATHS = 4096
LARGEST_WHOLE, MOST_POWER = 2**53, 64
MODULES = ("math", "numpy")
CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}
RANDOM = object()  #: stands for a generator
Code = Callable[[dict[str, Any]], Any]
#: The next state, the reward, whether it is terminal, and numbers that are not above 0 on this way.
Outcome = tuple[tuple[Dual, ...], Dual, bool, list[Dual]]


class _Returned(Exception):  # noqa: N818 - no error
    def __init__(self, value: Any) -> None:
        self.value = value


def refused(what: str) -> DistinguoError:
    """The error about a certificate whose source cannot be read."""
    return DistinguoError(f"The certificate cannot be checked: its source {what}.")


class Evaluator:
    r"""Evaluates the functions of a claim over a block of states.

    >>> source = {"transition": "def transition(self, s, a):\n    return (s[0] * 0.5,), 0.0, s[0] > 9.0",
    ...           "start": "def start(self, rng):\n    return (rng.uniform(-1.0, 1.0),)"}
    >>> claim = ProgramClaim(name="half", functions=source, names={}, constants={}, low={}, high={}, dimensions=1,
    ...                      actions=1)
    >>> evaluator = Evaluator(claim)
    >>> block = (Dual(arb(4), arb(4, 1), (arb(1),)),)
    >>> [(state[0].range.contains(arb(2.5)), ended) for state, ended in evaluator.steps(block, 0)]
    [(True, False)]
    """

    def __init__(self, claim: ProgramClaim, controller: Any = None) -> None:
        self.claim, self.dimensions = claim, claim.dimensions
        self.laws = controller if isinstance(controller, LawsClaim) else None
        self.take_directions(claim.dimensions)
        self.functions: dict[str, tuple[list[str], list[Any], list[Code]]] = {}
        self._reading: list[str] = []
        for name, text in claim.functions.items():
            self.functions[name] = self._read(name, text)
        self.forks, self._decisions, self._made = False, [], 0  # type: ignore[var-annotated]
        self._others: list[list[bool]] = []
        self._turns = 0
        self.limits: list[Dual] = []

    def take_directions(self, directions: int) -> None:
        """Say how many directions the next blocks have: as many as dimensions, if nothing is said."""
        if directions == getattr(self, "directions", None):
            return
        self.directions = directions
        self.parameters = {name: self._parameter(name) for name in self.claim.low}

    def _parameter(self, name: str) -> Any:
        low, high = self.claim.low[name], self.claim.high[name]
        return low if low == high else self.constant(arb(low).union(arb(high)))

    def constant(self, ball: Any) -> Dual:
        """A ball that does not depend on the block."""
        return Dual(ball, ball, (ZERO,) * self.directions)

    # ---- running ---------------------------------------------------------------------------------------------------

    def steps(
        self, state: tuple[Dual, ...], a: int, forks: bool = False
    ) -> Iterator[tuple[tuple[Dual, ...], bool]]:
        """Yield every way that one step may go: the next state, and whether it is terminal.

        Without ``forks`` an undecided comparison raises ``Unclear``.
        """
        for after, _, ended, _ in self.outcomes(state, a, forks):
            yield after, ended

    def outcomes(self, state: tuple[Dual, ...], a: int, forks: bool = False) -> Iterator[Outcome]:
        """Yield every way that one step may go, as ``steps``, with its reward and the comparisons that it passed."""

        def once() -> Outcome:
            result = self.call("transition", [self, state, self._taken(state, a)])
            if not (isinstance(result, tuple) and len(result) == 3 and isinstance(result[0], tuple)):
                raise refused("does not return a state, a reward and whether it is terminal")
            after = tuple(self.as_number(number) for number in result[0])
            if len(after) != self.dimensions:
                raise refused("returns a state of another length")
            return after, self.as_number(result[1]), self.truth(result[2]), self.limits

        yield from self._ways(once, forks)

    def _taken(self, state: tuple[Dual, ...], a: int) -> Any:
        """What the program takes as an action: its number, or the amounts that its law says."""
        if self.laws is None:
            return a
        seen = self._seen(state) if "observe" in self.functions else state
        if len(seen) != len(self.laws.weight):
            raise DistinguoError(
                "The certificate is wrong: its laws have gains for another number of coordinates."
            )
        amounts = []
        for row, low, high in zip(self.laws.laws[a], self.laws.low, self.laws.high, strict=True):
            total: Any = self.constant(arb(row[-1]))
            for gain, number in zip(row, seen, strict=False):
                total = add_duals(total, self.as_number(multiply(number, gain)))
            amounts.append(clamped(total.tightened(), arb(low), arb(high)))
        return amounts[0] if self.laws.single else tuple(amounts)

    def _seen(self, state: tuple[Dual, ...]) -> tuple[Dual, ...]:
        return tuple(self.as_number(number) for number in self.call("observe", [self, state]))

    def observed(self, state: tuple[Dual, ...], forks: bool) -> list[tuple[Dual, ...]]:
        """What the controller sees of a block, in every way that ``observe`` may go."""
        if "observe" not in self.functions:
            return [state]

        return list(self._ways(lambda: self._seen(state), forks))

    def starts(self) -> list[tuple[Any, ...]]:
        """Balls around all starts, one for each way that ``start`` may go."""

        def once() -> tuple[Any, ...]:
            result = self.call("start", [self, RANDOM])
            if not isinstance(result, tuple) or len(result) != self.dimensions:
                raise refused("returns a start of another length")
            return tuple(self.as_number(number).range for number in result)

        try:
            return list(self._ways(once, True))
        except Unclear as trouble:
            raise refused(f"{trouble} where a trial starts") from None

    def _ways(self, once: Callable[[], Any], forks: bool) -> Iterator[Any]:
        todo: list[list[bool]] = [[]]
        count = 0
        while todo:
            count += 1
            if count > MOST_PATHS:
                raise Unclear("has too many ways")
            self._decisions, self._made, self._others, self.forks, self._turns = todo.pop(), 0, [], forks, 0
            self.limits = []
            try:
                result = once()
            except DistinguoError:
                raise
            except (ArithmeticError, ValueError):
                raise refused("computes something that is not a finite number") from None
            todo += self._others
            yield result

    def call(self, name: str, arguments: list[Any]) -> Any:
        """Call one of the claim's functions."""
        parameters, defaults, body = self.functions[name]
        missing = len(parameters) - len(arguments)
        if missing < 0 or missing > len(defaults):
            raise refused(f"calls {name} with {len(arguments)} arguments")
        values = [*arguments, *defaults[len(defaults) - missing :]] if missing else arguments
        scope = dict(zip(parameters, values, strict=True))
        try:
            for statement in body:
                statement(scope)
        except _Returned as returned:
            return returned.value
        raise refused(f"has a way through {name} without a result")

    def as_number(self, value: Any) -> Dual:
        """A number as one that may depend on the block."""
        if isinstance(value, Dual):
            return value
        if isinstance(value, int | float):
            return self.constant(arb(value))
        raise refused("computes with something that is not a number")

    def truth(self, value: Any) -> bool:
        """Whether a value is true."""
        if isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return value != 0
        if isinstance(value, Dual):
            return self.compare(value, 0.0, ast.NotEq)
        raise refused("asks for the truth of something that is not a number")

    def compare(self, x: Any, y: Any, operator: type) -> bool:
        """Compare two numbers; where a block leaves it open, fork or raise ``Unclear``."""
        if not isinstance(x, Dual) and not isinstance(y, Dual):
            if not (isinstance(x, int | float) and isinstance(y, int | float)):
                raise refused("compares things that are not numbers")
            return bool(PLAIN[operator](x, y))
        p, q = (self.as_number(z).tightened().range for z in (x, y))
        certain, impossible = CERTAIN[operator](p, q)
        if certain or impossible:
            return bool(certain)
        answer = self._fork()
        if operator in RISES:
            less, more = (x, y) if answer is RISES[operator] else (y, x)
            self.limits.append(self.as_number(subtract(less, more)))
        return answer

    def _fork(self) -> bool:
        """Go one of two ways, and the other one later."""
        if not self.forks:
            raise Unclear("goes more than one way")
        if self._made < len(self._decisions):
            answer = self._decisions[self._made]
        else:
            answer = True
            self._others.append([*self._decisions, False])
            self._decisions.append(True)
        self._made += 1
        return answer

    # ---- periods ---------------------------------------------------------------------------------------------------

    def _periods(self, x: Any, y: Any) -> tuple[Any, bool]:
        """How many whole periods ``y`` are in ``x``, rounded down; and whether other ways have another number.

        A whole number, or a ball of several that does not depend on the block.
        """
        number, period = (self.as_number(z).tightened().range for z in (x, y))
        if period.contains(0):
            raise Unclear("divides by a number that may be zero")
        quotient = number / period
        ends = [end.floor().unique_fmpz() for end in (quotient.lower(), quotient.upper())]
        if None in ends:
            raise Unclear("divides by a number that is too small")
        first, last = (int(end) for end in ends)
        if last - first > 1:
            return self.constant(arb(first).union(arb(last))), False
        if last == first:
            return first, False
        made = self._made
        below = self.compare(x, self._multiple(y, last), ast.Lt if period > 0 else ast.Gt)
        return (first if below else last), self._made > made

    def _multiple(self, x: Any, k: int) -> Dual:
        """A whole multiple, which is not rounded."""
        if not isinstance(x, Dual):
            return self.constant(arb(x) * k)
        return Dual(x.middle * k, x.range * k, tuple(slope * k for slope in x.slopes))

    def floor_divide(self, x: Any, y: Any) -> Any:
        """The quotient rounded down, as ``//`` gives it."""
        if not isinstance(x, Dual) and not isinstance(y, Dual):
            return x // y
        return self.as_number(self._periods(x, y)[0])

    def remainder(self, x: Any, y: Any) -> Any:
        """The remainder as ``%`` gives it: with the sign of the period, and rounded at most once."""
        if not isinstance(x, Dual) and not isinstance(y, Dual):
            return x % y
        count, forked = self._periods(x, y)
        whole = self.as_number(y).range.union(arb(0))
        if isinstance(count, Dual):
            return self.constant(whole)  # it may be any, as an unknown rounding of 0 would be
        left = subtract(self.as_number(x), self._multiple(y, count))
        return clamped(left, whole.lower(), whole.upper()) if forked else left

    def raised(self, x: Any, n: Any) -> Any:
        """A power. Compiled code may take that of a plain number in another way than Python does."""
        if isinstance(x, Dual):
            return power(x, n)
        if isinstance(n, Dual) or (x <= 0 and n != int(n)) or abs(n) > MOST_POWER:
            raise refused(
                f"raises {'a number' if isinstance(n, Dual) else x} to a power that cannot be followed"
            )
        if isinstance(x, int) and isinstance(n, int) and n >= 0:
            return x**n
        whole = arb(x) ** (int(n) if n == int(n) else arb(n))
        return as_rounded(whole, whole, (ZERO,) * self.directions, LIBRARY * (abs(n) + 1))

    def signed_remainder(self, x: Any, y: Any) -> Any:
        """The remainder as ``math.fmod`` gives it: with the sign of the number."""
        if not isinstance(x, Dual) and not isinstance(y, Dual):
            return math.fmod(x, y)
        y = magnitude(y) if isinstance(y, Dual) else abs(y)
        if self.compare(x, 0.0, ast.Lt):
            return negative(self.remainder(negative(x), y))
        return self.remainder(x, y)

    def with_sign(self, size: Any, sign: Any) -> Any:
        """The magnitude of one number with the sign of another; both signs where that may be 0."""
        size = magnitude(size) if isinstance(size, Dual) else abs(size)
        sign = self.as_number(sign)
        number = sign.tightened().range
        if number > 0 or number < 0:
            return size if number > 0 else negative(size)
        positive = self._fork()  # a 0 of either sign, where nothing more is known
        self.limits.append(negative(sign) if positive else sign)
        return size if positive else negative(size)

    # ---- reading ---------------------------------------------------------------------------------------------------

    def _read(self, name: str, text: str) -> tuple[list[str], list[Any], list[Code]]:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise refused(f"of {name} is not Python") from None
        node = tree.body[0] if len(tree.body) == 1 else None
        if not isinstance(node, ast.FunctionDef):
            raise refused(f"of {name} is not one function")
        given = node.args
        if given.vararg or given.kwarg or given.kwonlyargs or node.decorator_list:
            raise refused(f"of {name} has arguments or decorators that cannot be followed")
        parameters = [argument.arg for argument in (*given.posonlyargs, *given.args)]
        defaults = [self._plain(default) for default in given.defaults]
        stored = (
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        )
        self._own = {*parameters, *stored}
        return parameters, defaults, self._block(node.body)

    def _plain(self, node: ast.expr) -> Any:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._plain(node.operand)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        raise refused(f"has a default in line {node.lineno} that is not a number")

    def _block(self, nodes: list[ast.stmt]) -> list[Code]:
        return [self._statement(node) for node in nodes]

    def _statement(self, node: ast.stmt) -> Code:
        if isinstance(node, ast.Return) and node.value is not None:
            value = self._expression(node.value)

            def give(scope: dict[str, Any]) -> None:
                raise _Returned(value(scope))

            return give
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            return self._assignment(node.targets[0], self._expression(node.value))
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            return self._assignment(node.target, self._expression(node.value))
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
            joined = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
            return self._assignment(node.target, self._expression(joined))
        if isinstance(node, ast.If):
            return self._branch(node)
        if isinstance(node, ast.For):
            return self._loop(node)
        if isinstance(node, ast.While) and not node.orelse:
            return self._while(node)
        if isinstance(node, ast.Pass) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            return lambda scope: None
        raise refused(f"has a {type(node).__name__.lower()} in line {node.lineno}, which cannot be followed")

    def _assignment(self, target: ast.expr, value: Code) -> Code:
        if isinstance(target, ast.Name):
            name = target.id

            def keep(scope: dict[str, Any]) -> None:
                scope[name] = value(scope)

            return keep
        if isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts):
            names = [part.id for part in target.elts if isinstance(part, ast.Name)]

            def unpack(scope: dict[str, Any]) -> None:
                values = value(scope)
                if not isinstance(values, tuple) or len(values) != len(names):
                    raise refused(f"unpacks {len(names)} numbers from something else")
                scope.update(zip(names, values, strict=True))

            return unpack
        raise refused(f"assigns to something in line {target.lineno} that cannot be followed")

    def _branch(self, node: ast.If) -> Code:
        test, then, otherwise = self._expression(node.test), self._block(node.body), self._block(node.orelse)

        def choose(scope: dict[str, Any]) -> None:
            for statement in then if self.truth(test(scope)) else otherwise:
                statement(scope)

        return choose

    def _loop(self, node: ast.For) -> Code:
        call = node.iter
        if not isinstance(node.target, ast.Name) or node.orelse:
            raise refused(f"has a loop in line {node.lineno} that cannot be followed")
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range":
            ends = [self._expression(end) for end in call.args]

            def turns(scope: dict[str, Any]) -> Any:
                values = [end(scope) for end in ends]
                whole = all(isinstance(value, int) for value in values)
                if not (1 <= len(values) <= 3 and whole) or values[2:] == [0]:
                    raise refused("has a loop whose range is not known")
                return range(*values)
        else:
            numbers = self._expression(call)

            def turns(scope: dict[str, Any]) -> Any:
                values = numbers(scope)
                if not isinstance(values, tuple):
                    raise refused(
                        f"has a loop in line {node.lineno} that is over neither a range nor numbers"
                    )
                return values

        name, body = node.target.id, self._block(node.body)

        def repeat(scope: dict[str, Any]) -> None:
            for turn in turns(scope):
                self._take_turn()
                scope[name] = turn
                for statement in body:
                    statement(scope)

        return repeat

    def _while(self, node: ast.While) -> Code:
        test, body = self._expression(node.test), self._block(node.body)

        def repeat(scope: dict[str, Any]) -> None:
            while self.truth(test(scope)):
                self._turns += 1
                if self._turns > MOST_TURNS:
                    raise Unclear("may stay in a loop")
                for statement in body:
                    statement(scope)

        return repeat

    def _take_turn(self) -> None:
        self._turns += 1
        if self._turns > MOST_TURNS:
            raise refused("has a loop with too many turns")

    def _expression(self, node: ast.expr) -> Code:
        reader = getattr(self, f"_read_{type(node).__name__.lower()}", None)
        if reader is None:
            raise refused(
                f"has a {type(node).__name__.lower()} in line {node.lineno}, which cannot be followed"
            )
        code: Code = reader(node)
        return code

    def _read_constant(self, node: ast.Constant) -> Code:
        value = _small(node.value)
        if not isinstance(value, int | float):
            raise refused(f"has {value!r} in line {node.lineno}, which is not a number")
        return lambda scope: value

    def _read_name(self, node: ast.Name) -> Code:
        name, constants = node.id, {} if node.id in self._own else self.claim.constants

        def look_up(scope: dict[str, Any]) -> Any:
            if name in scope:
                return scope[name]
            if name in constants:
                value = constants[name]
                return tuple(value) if isinstance(value, list) else value
            raise refused(f"uses {name}, which is not defined")

        return look_up

    def _read_attribute(self, node: ast.Attribute) -> Code:
        name = node.attr
        if self._means(node.value) in MODULES:
            if name in CONSTANTS:
                return lambda scope: CONSTANTS[name]
            raise refused(f"uses .{name} of a module in line {node.lineno}, which cannot be followed")
        owner = self._expression(node.value)

        def field(scope: dict[str, Any]) -> Any:
            if owner(scope) is not self:
                raise refused(f"uses .{name} of something that is not the task")
            if name == "rng":
                return RANDOM
            if name not in self.parameters:
                raise refused(f"uses self.{name}, which is not a parameter")
            return self.parameters[name]

        return field

    def _read_subscript(self, node: ast.Subscript) -> Code:
        whole, place = self._expression(node.value), self._expression(node.slice)

        def item(scope: dict[str, Any]) -> Any:
            values, index = whole(scope), place(scope)
            if (
                not isinstance(values, tuple)
                or not isinstance(index, int)
                or not -len(values) <= index < len(values)
            ):
                raise refused("takes an item that is not there")
            return values[index]

        return item

    def _read_tuple(self, node: ast.Tuple) -> Code:
        parts = [self._expression(part) for part in node.elts]
        return lambda scope: tuple(part(scope) for part in parts)

    def _read_binop(self, node: ast.BinOp) -> Code:
        left, right = self._expression(node.left), self._expression(node.right)
        forking = {ast.Mod: self.remainder, ast.FloorDiv: self.floor_divide, ast.Pow: self.raised}
        operation = _OPERATIONS.get(type(node.op)) or forking.get(type(node.op))
        if operation is None:
            raise refused(
                f"has a {type(node.op).__name__.lower()} in line {node.lineno}, which cannot be followed"
            )

        def compute(scope: dict[str, Any]) -> Any:
            x, y = left(scope), right(scope)
            return _small(operation(_plain_number(x), _plain_number(y)))

        return compute

    def _read_unaryop(self, node: ast.UnaryOp) -> Code:
        value = self._expression(node.operand)
        if isinstance(node.op, ast.Not):
            return lambda scope: not self.truth(value(scope))
        if isinstance(node.op, ast.USub):
            return lambda scope: negative(value(scope))
        if isinstance(node.op, ast.UAdd):
            return value
        raise refused(f"has an operator in line {node.lineno} that cannot be followed")

    def _read_boolop(self, node: ast.BoolOp) -> Code:
        parts, both = [self._expression(part) for part in node.values], isinstance(node.op, ast.And)

        def join(scope: dict[str, Any]) -> Any:
            value: Any = both
            for part in parts:
                value = part(scope)
                if self.truth(value) != both:
                    break
            return value

        return join

    def _read_compare(self, node: ast.Compare) -> Code:
        parts = [self._expression(part) for part in (node.left, *node.comparators)]
        operators = [type(operator) for operator in node.ops]
        if not set(operators) <= set(PLAIN):
            raise refused(f"has a comparison in line {node.lineno} that cannot be followed")

        def decide(scope: dict[str, Any]) -> bool:
            left = parts[0](scope)
            for operator, part in zip(operators, parts[1:], strict=True):
                right = part(scope)
                if not self.compare(left, right, operator):
                    return False
                left = right
            return True

        return decide

    def _read_ifexp(self, node: ast.IfExp) -> Code:
        test, then, otherwise = (self._expression(part) for part in (node.test, node.body, node.orelse))
        return lambda scope: then(scope) if self.truth(test(scope)) else otherwise(scope)

    def _read_call(self, node: ast.Call) -> Code:
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise refused(f"has a call in line {node.lineno} with arguments that cannot be followed")
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "float64" and (single := self._single(node)):
            return lambda scope: rounded_to_single(self.as_number(single(scope)))
        arguments = [self._expression(argument) for argument in node.args]
        if isinstance(called, ast.Attribute) and called.attr in ("uniform", "random"):
            return self._draw(called, arguments)
        name = self._function_name(called)
        if name == "float32":
            raise refused(
                f"computes in 32 bits in line {node.lineno}; only np.float64(np.float32(x)) can be followed"
            )
        if name in self.claim.functions and isinstance(called, ast.Name):

            def own(scope: dict[str, Any]) -> Any:
                if len(self._reading) > 50:
                    raise refused("calls itself")
                self._reading.append(name)
                try:
                    return self.call(name, [argument(scope) for argument in arguments])
                finally:
                    self._reading.pop()

            return own
        return lambda scope: self._known(name, [argument(scope) for argument in arguments])

    def _single(self, node: ast.Call) -> Code | None:
        """The number of which ``node`` is ``np.float64(np.float32(number))``; None if it is something else."""
        inner = node.args[0] if len(node.args) == 1 else None
        if not isinstance(inner, ast.Call) or inner.keywords or len(inner.args) != 1:
            return None
        rounds = isinstance(inner.func, ast.Attribute) and self._function_name(inner.func) == "float32"
        return (
            self._expression(inner.args[0])
            if rounds and self._function_name(node.func) == "float64"
            else None
        )

    def _draw(self, called: ast.Attribute, arguments: list[Code]) -> Code:
        owner, plain = self._expression(called.value), called.attr == "random"

        def draw(scope: dict[str, Any]) -> Dual:
            if owner(scope) is not RANDOM:
                raise refused("draws noise from something that is not its generator")
            values = [argument(scope) for argument in arguments]
            if not values:
                values = [0.0, 1.0]
            if (
                len(values) != 2
                or (plain and arguments)
                or not all(isinstance(value, int | float) for value in values)
            ):
                raise refused("draws noise between ends that are not known")
            return self.constant(arb(values[0]).union(arb(values[1])))

        return draw

    def _function_name(self, called: ast.expr) -> str:
        if isinstance(called, ast.Attribute) and self._means(called.value) in MODULES:
            return called.attr
        if isinstance(called, ast.Name) and called.id not in self._own:
            origin = self._means(called)
            return origin.removeprefix("math.") if origin.startswith("math.") else called.id
        raise refused(f"has a call in line {called.lineno} that cannot be followed")

    def _means(self, node: ast.expr) -> str:
        """The module, or the function of one, that a name means; nothing if the function has its own such name."""
        known = isinstance(node, ast.Name) and node.id not in self._own
        return self.claim.names.get(node.id, "") if known else ""  # type: ignore[attr-defined]

    def _known(self, name: str, values: list[Any]) -> Any:
        """A function of Python, ``math`` or ``numpy``."""
        if name in ("min", "max", "minimum", "maximum"):
            return self._extreme(values, ast.Lt if name.startswith("min") else ast.Gt)
        by_two = {"mod": self.remainder, "fmod": self.signed_remainder, "copysign": self.with_sign}
        if name in by_two and len(values) == 2:
            return by_two[name](*map(_plain_number, values))
        if name == "clip" and len(values) == 3:
            return self._extreme([self._extreme(values[:2], ast.Gt), values[2]], ast.Lt)
        if name == "len" and len(values) == 1 and isinstance(values[0], tuple):
            return len(values[0])
        if len(values) != 1 or isinstance(values[0], tuple):
            raise refused(f"calls {name}, which cannot be followed")
        (value,) = values
        if name in FUNCTIONS:
            return function(name, self.as_number(value))
        if name in ("int", "bool", "floor", "ceil"):
            return self._whole_number(name, value)
        converted = _CONVERSIONS.get(name)
        if converted is None:
            raise refused(f"calls {name}, which cannot be followed")
        return converted(value)

    def _extreme(self, values: Any, better: type) -> Any:
        """The least or the greatest of some numbers."""
        numbers = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
        if not numbers:
            raise refused("asks for the least of nothing")
        found = numbers[0]
        for number in numbers[1:]:
            found = number if self.compare(number, found, better) else found
        return found

    def _whole_number(self, name: str, value: Any) -> Any:
        if name == "bool":
            return self.truth(value)
        value = _plain_number(value)
        if not isinstance(value, Dual):
            return int(
                math.floor(value) if name == "floor" else math.ceil(value) if name == "ceil" else value
            )
        if name == "int":
            raise refused("needs a whole number where a set of numbers is")
        return (
            self.floor_divide(value, 1)
            if name == "floor"
            else negative(self.floor_divide(negative(value), 1))
        )


def _small(value: Any) -> Any:
    """A number; a whole one is refused where compiled code, or a double, would not hold it."""
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise refused("has a whole number above 2**53")
    return value


def _plain_number(value: Any) -> Any:
    if not isinstance(value, int | float | Dual):
        raise refused("computes with something that is not a number")
    return value


_OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: add_duals,
    ast.Sub: subtract,
    ast.Mult: multiply,
    ast.Div: divide,
}
_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "float": lambda x: x if isinstance(x, Dual) else float(x),
    "float64": lambda x: x if isinstance(x, Dual) else float(x),
    "abs": lambda x: magnitude(x) if isinstance(x, Dual) else abs(x),
    "fabs": lambda x: magnitude(x) if isinstance(x, Dual) else abs(x),
    "absolute": lambda x: magnitude(x) if isinstance(x, Dual) else abs(x),
}
