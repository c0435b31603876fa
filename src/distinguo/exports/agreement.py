"""How often an exported decision is Python's: its functions computed for many observations, in its own arithmetic."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from distinguo.exports.decision import Decision, decision_of, functions_of, known_extent
from distinguo.exports.tables import LabelledController
from distinguo.representations.partition import has_labels

STATES = 100_000
NEAR = (
    2_000  #: places on a border, around which observations are tried; none where few observations are drawn
)
SCALES = 29  #: of the distance from a border, each a quarter of the one before
#: Differences of a coordinate; maps of many prototypes are tried on fewer observations.
MOST_NUMBERS = 2 * 10**7
HALVINGS = 60
FOLLOWED = 100  #: observations that differ whose distance from a border is measured


class Agreement(NamedTuple):
    """What was measured: observations drawn evenly, those with Python's action, and where others are."""

    states: int
    same: int
    farthest: float  #: of all that differ, the distance from a border, in widths of a coordinate
    amounts: float = 0.0  #: the greatest difference of an amount, in widths of its range

    @property
    def words(self) -> str:
        """What was measured, in a sentence."""
        share = f"{self.same:,}" if self.same < self.states else "all"
        text = f"Python's action at {share} of {self.states:,} observations drawn evenly from their extent"
        if self.farthest:
            text += (
                f"; any that differ are within {_at_most(self.farthest)} of the width of a coordinate from a "
                "border"
            )
        if self.amounts:
            text += f"; amounts differ by at most {_at_most(self.amounts)} of their range"
        return text + "."


def _at_most(number: float) -> str:
    """A number of one digit that is not below.

    >>> _at_most(6.1e-5), _at_most(0.25), _at_most(2.0)
    ('7e-05', '0.3', '2')
    """
    unit = 10.0 ** np.floor(np.log10(number))
    return f"{unit * np.ceil(number / unit - 1e-9):.1g}"


class Written(NamedTuple):
    """What a file holds, and the decision as it says it, with what was measured by running it."""

    content: str | bytes
    decision: Decision


def decided(named: LabelledController, arithmetic: str = "double", safe: str | None = None) -> Decision:
    """Do what :func:`decision_of` does, and say how often the action is Python's."""
    decision = decision_of(named, arithmetic, safe)
    found = agreement_of(decision)
    if found is None:
        return decision._replace(said="double, operation by operation as in Python.")
    kind = {"float": "float, 32 bits", "fixed": "fixed point, 32 bits"}[arithmetic]
    return decision._replace(said=f"{kind}: {found.words}")


#: A program that gives the actions at many observations and, if actions have them, the amounts.
Program = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray | None]]


def agreement_of(decision: Decision, seed: int = 0, program: Program | None = None) -> Agreement | None:
    """Compare a decision with the one in double; None if it is that, which repeats Python's operations.

    ``program`` is what computes it, by default the functions of the decision.

    >>> from distinguo.controller import Controller
    >>> from distinguo.exports.tables import LabelledController
    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> named = LabelledController(two, ("x",), ("left", "right"), low=(-3.0,), high=(3.0,))
    >>> found = agreement_of(decision_of(named, "fixed"))
    >>> found.same > 99_990, 0 < found.farthest < 1e-4
    (True, True)
    """
    if program is None:
        if decision.arithmetic == "double":
            return None
        program = partial(_answers, decision)
    exact = decision_of(decision.named)
    low, high = known_extent(decision.named)
    states = even_draws(exact, seed)
    count, rng = len(states), np.random.default_rng(seed + 1)
    expected, (found, amounts) = chosen(exact, states), program(states)
    same = int((expected == found).sum())
    near = _near_borders(exact, states, expected, rng)
    farthest = 0.0
    for tried in (states[expected != found], near):
        wanted, (got, _) = chosen(exact, tried), program(tried)
        differ = np.flatnonzero(wanted != got)[:FOLLOWED]
        farthest = max(farthest, _from_border(exact, tried[differ], got[differ], high - low))
    alike = expected == found
    apart = farthest_amounts(exact, states[alike], None if amounts is None else amounts[alike])
    return Agreement(count, same, farthest, apart)


def even_draws(exact: Decision, seed: int = 0) -> np.ndarray:
    """Observations drawn evenly from their known extent."""
    rng = np.random.default_rng(seed)
    partition = exact.named.controller.partition
    low, high = known_extent(exact.named)
    size = max((table.size for table in exact.tables.values()), default=1)
    count = int(min(STATES, max(MOST_NUMBERS // size, 100)))
    if has_labels(partition):  # no label is near another
        return np.stack([rng.choice(column, count) for column in partition.prototypes.T], axis=1)
    return np.asarray(low + (high - low) * rng.random((count, len(low))))


def _answers(decision: Decision, states: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The actions of a decision and, if they are laws, the amounts."""
    laws = decision.named.laws
    return chosen(decision, states), None if laws is None else amounts_chosen(decision, states)


def chosen(decision: Decision, states: np.ndarray) -> np.ndarray:
    """The action of a decision at each of many observations."""
    return np.broadcast_to(Columns(decision, states).call("action", ["s"]), len(states))


def amounts_chosen(decision: Decision, states: np.ndarray) -> np.ndarray:
    """The amounts of a decision at each of many observations, in the units of the task."""
    columns = Columns(decision, states)
    found = [
        np.broadcast_to(columns.call("amount", ["s", i]), len(states)) / per_unit
        for i, per_unit in enumerate(decision.amounts_per_unit.tolist())
    ]
    return np.stack(found, axis=1)


def _near_borders(
    exact: Decision, states: np.ndarray, actions: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Observations on both sides of borders, at distances of all magnitudes, the farthest first."""
    order = rng.permutation(len(states))
    pairs = np.flatnonzero(actions != actions[order])[:NEAR]
    here, there, mine = states[pairs], states[order[pairs]], actions[pairs]
    if has_labels(exact.named.controller.partition) or not len(pairs) or len(states) < STATES // 10:
        return states[:0]
    near, far = np.zeros(len(pairs)), np.ones(len(pairs))
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        kept = chosen(exact, here + (there - here) * middle[:, None]) == mine
        near, far = np.where(kept, middle, near), np.where(kept, far, middle)
    apart = np.outer(4.0 ** -np.arange(1, SCALES), (-1.0, 1.0)).ravel()
    places = np.clip(near + apart[:, None], 0.0, 1.0)
    return (here + (there - here) * places[:, :, None]).reshape(-1, states.shape[1])


def _from_border(exact: Decision, states: np.ndarray, other: np.ndarray, width: np.ndarray) -> float:
    """How far the farthest of these is, along a coordinate, from where the other action is Python's, too."""
    steps = 2.0 ** np.arange(-56, 1)
    least = np.full(len(states), np.inf)
    if not len(states):
        return 0.0
    for i in range(len(width)):
        for side in (-1.0, 1.0):
            moved = np.repeat(states[None], len(steps), axis=0)
            moved[:, :, i] += side * width[i] * steps[:, None]
            there = chosen(exact, moved.reshape(-1, states.shape[1])).reshape(moved.shape[:2]) == other
            least = np.where(there.any(axis=0), np.minimum(least, steps[there.argmax(axis=0)]), least)
    return float(least.max())


def farthest_amounts(exact: Decision, states: np.ndarray, amounts: np.ndarray | None) -> float:
    """The greatest difference of amounts from those in double, as a part of their range."""
    laws = exact.named.laws
    if laws is None or amounts is None or not len(states):
        return 0.0
    return float((abs(amounts_chosen(exact, states) - amounts) / (laws.high - laws.low)).max())


#: What operators do with whole columns, by the name of their class in ``ast``.
OPERATIONS: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mult": np.multiply,
    "USub": np.negative,
    "Not": np.logical_not,
    "Lt": np.less,
    "LtE": np.less_equal,
    "Gt": np.greater,
    "GtE": np.greater_equal,
    "Eq": np.equal,
    "NotEq": np.not_equal,
    "And": np.logical_and,
    "Or": np.logical_or,
}


class Columns:
    """Computes the functions of a decision for many observations at once, a column for each variable."""

    def __init__(self, decision: Decision, states: np.ndarray) -> None:
        number = decision.number
        self.number = number
        self.functions = functions_of(decision)
        self.known: dict[str, Any] = {
            name: table if table.dtype == np.int64 else table.astype(number)
            for name, table in decision.tables.items()
        }
        self.known |= {"LIMIT": number(decision.limit), "SAFE_ACTION": decision.safe_action}
        self.known["s"] = np.ascontiguousarray(decision.read(states).T)
        self.variables: dict[str, Any] = {}

    def call(self, name: str, arguments: list[Any]) -> Any:
        """The answers of a function."""
        node = self.functions[name]
        outer, self.variables = self.variables, {}
        for argument, value in zip(node.args.args[1:], arguments[1:], strict=True):
            self.variables[argument.arg] = value
        with np.errstate(all="ignore"):
            self._run_all(node.body[1:-1], np.True_)
            answer = node.body[-1]
            assert isinstance(answer, ast.Return)
            value = self._value(answer.value)
        self.variables = outer
        return value

    def _run(self, node: ast.stmt, where: Any) -> None:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id=kind), value=value):
                start = self._value(value)
                self.variables[name] = (
                    self.number(start) if kind == "number" and np.ndim(start) == 0 else start
                )
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.variables[name] = np.where(where, self._value(value), self.variables[name])
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                added = OPERATIONS[type(op).__name__](self.variables[name], self._value(value))
                self.variables[name] = np.where(where, added, self.variables[name])
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=ends), body=body):
                for turn in range(*(self._value(end) for end in ends)):
                    self.variables[name] = turn
                    self._run_all(body, where)
            case ast.While(test=test, body=body):
                while np.any(here := where & self._value(test)):
                    self._run_all(body, here)
            case ast.If(test=test, body=body, orelse=otherwise):
                answer = self._value(test)
                self._run_all(body, where & answer)
                self._run_all(otherwise, where & ~answer)

    def _run_all(self, nodes: list[ast.stmt], where: Any) -> None:
        for node in nodes:
            self._run(node, where)

    def _value(self, node: ast.expr | None) -> Any:
        match node:
            case ast.Constant(value=value):
                return self.number(value) if isinstance(value, float) else value
            case ast.Name(id=name):
                return self.variables[name] if name in self.variables else self.known[name]
            case (
                ast.BinOp(left=left, op=op, right=right)
                | ast.Compare(left=left, ops=[op], comparators=[right])
            ):
                return OPERATIONS[type(op).__name__](self._value(left), self._value(right))
            case ast.BoolOp(op=op, values=[left, right]):
                return OPERATIONS[type(op).__name__](self._value(left), self._value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return OPERATIONS[type(op).__name__](self._value(operand))
            case ast.Subscript(value=ast.Name(id="s"), slice=place):
                at, columns = self._value(place), self.known["s"]
                return columns[at] if np.ndim(at) == 0 else columns[at, np.arange(columns.shape[1])]
            case ast.Subscript(value=ast.Subscript(value=ast.Name() as table, slice=row), slice=place):
                return self._value(table)[self._value(row), self._value(place)]
            case ast.Subscript(value=ast.Name() as table, slice=place):
                return self._value(table)[self._value(place)]
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self.call(name, ["s", *(self._value(one) for one in arguments[1:])])
        raise NotImplementedError(ast.dump(node) if node else "")
