"""A task's own functions as a program over sets of numbers, and as text for a certificate.

The text of ``transition`` (and of ``observe``, and of the functions that they call) is all that a claim is about, so
everything it uses must be in it: its arguments, its parameters ``self.name``, functions of ``math`` or ``numpy``,
functions of the same file, and numbers (or tuples of numbers) of the file whose names are in capitals. What reads
anything else is refused, with the line.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import textwrap
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from distinguo import seam
from distinguo.errors import DistinguoError
from distinguo.proof.number.form import FUNCTIONS, Form, Unreadable, within_range
from distinguo.proof.number.paths import TooManyPathsError, paths
from distinguo.seam import has_own
from distinguo.tasks import task as generics
from distinguo.tasks.amounts import Laws, laws_of_task, takes_a_number

#: Built-in functions that a program may call.
BUILTINS = ("abs", "min", "max", "float", "range", "len", "int", "bool")
MODULES = {"math": math, "numpy": np}
CONSTANTS = ("pi", "e", "tau")
MOST_DIMENSIONS = 5


class Program(NamedTuple):
    """The functions of a task that a proof is about."""

    functions: dict[str, str]  #: the text of each, ``transition`` first
    names: dict[str, str]  #: what other names mean, such as "np": "numpy" and "sin": "math.sin"
    constants: dict[str, float | tuple[float, ...]]  #: numbers of the file that they read, or tuples of them
    parameters: dict[str, float]
    step: Callable[[Any, Any, int], Any]
    start: Callable[[Any, Any], Any]
    observe: Callable[[Any, Any], Any] | None
    where: str  #: file and first line of ``transition``


class NotProvableError(DistinguoError):
    """Why a program cannot be followed."""


class Parameters:
    """The fields of a task as a program sees them; those with a range are sets of numbers."""

    def __init__(
        self, values: Mapping[str, float], ranges: Mapping[str, tuple[float, float]], shape: tuple[int, int]
    ) -> None:
        self._values, self._ranges, self._shape = values, ranges, shape

    def __getattr__(self, name: str) -> Any:
        if name == "rng":
            return _Noise(*self._shape)
        if name in self._ranges:
            low, high = (np.full(self._shape[1], end) for end in self._ranges[name])
            return Form.between(low, high, self._shape[0])
        try:
            return self._values[name]
        except KeyError:
            raise Unreadable(f"uses self.{name}, which is not a number") from None


class _Noise:
    """A generator: what it draws may be any number between two ends."""

    def __init__(self, directions: int, count: int) -> None:
        self.directions, self.count = directions, count

    def uniform(self, low: Any = 0.0, high: Any = 1.0) -> Form:
        """Any number between two ends."""
        if isinstance(low, Form) or isinstance(high, Form):
            raise Unreadable("draws noise between ends that depend on the state; scale a plain draw instead")
        first, last = (np.full(self.count, end) for end in (min(low, high), max(low, high)))
        return Form.between(first, last, self.directions)

    def random(self) -> Form:
        """Any number from 0 to 1."""
        return self.uniform()

    def __getattr__(self, name: str) -> Any:
        raise Unreadable(f"draws noise by rng.{name}; uniform and random can be followed")


def program_of(task: Any) -> Program:
    """Read the functions of a task; raise an error that says where something cannot be followed.

    >>> from distinguo.tasks.puck.puck import Puck
    >>> sorted(program_of(Puck()).parameters)
    ['beta', 'force', 'gravity', 'interval', 'mass', 'wall']
    """
    known = laws_of_task(task)
    task = task if known is None else task.task
    kind = type(task)
    if not has_own(generics.transition, task):
        raise NotProvableError(
            f"{kind.__name__} has no transition whose source can be read, so nothing can be proven."
        )
    reader = _Reader(kind.__name__)
    step = reader.rebuilt("transition", _body(generics.transition, kind))
    start = reader.rebuilt("start", _body(generics.start, kind))
    observe = None
    if has_own(generics.observe, task):
        observe = reader.rebuilt("observe", _body(generics.observe, kind))
    parameters = {name: value for name, value in task._asdict().items() if name != "rng"}
    for name, value in parameters.items():
        if not isinstance(value, int | float):
            raise NotProvableError(
                f"A proof needs parameters that are numbers, but {kind.__name__}.{name} is {value!r}."
            )
    if known is not None:
        step = _lawful_step(step, observe, known, takes_a_number(task, known))
    return Program(
        reader.functions, reader.names, reader.constants, parameters, step, start, observe, reader.where
    )


def _lawful_step(step: Any, observe: Any, given: Laws, single: bool) -> Callable[[Any, Any, int], Any]:
    """The step of a task that takes amounts, by the action whose law says how much."""

    def by_action(fields: Any, s: Any, a: int) -> Any:
        seen = s if observe is None else observe(fields, s)
        taken = tuple(_amount(given, a, i, seen) for i in range(len(given.low)))
        return step(fields, s, taken[0] if single else taken)

    return by_action


def _amount(given: Laws, a: int, i: int, seen: Any) -> Any:
    """An amount as ``amounts.amount_of`` adds it up, over sets of numbers."""
    *gains, total = given.table[a, i].tolist()
    for gain, number in zip(gains, seen, strict=True):
        total = total + gain * number
    if not isinstance(total, Form):
        total = next(number for number in seen if isinstance(number, Form)).like(total)
    return within_range(total, float(given.low[i]), float(given.high[i]))


def _within_marks(thing: Any) -> Any:
    """The function that Numba, or a mark of ours, wraps; any other wrapper may do something else than it."""
    while True:
        if hasattr(thing, "py_func"):
            thing = thing.py_func
        elif hasattr(thing, "__wrapped__") and inspect.getsourcefile(thing.__code__) == seam.__file__:
            thing = thing.__wrapped__
        else:
            return thing


def _body(generic: Any, kind: type) -> Any:
    """The function that implements a generic for a class."""
    return generic.dispatch(kind)


class _Reader:
    """Reads functions and what they call, and rebuilds them with our functions in place of those of ``math``."""

    def __init__(self, title: str) -> None:
        self.title, self.where = title, ""
        self.functions: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.constants: dict[str, float | tuple[float, ...]] = {}
        self._known: dict[Any, Any] = {}  # by the function; None while it is being read

    def rebuilt(self, name: str, function: Any) -> Callable[..., Any]:
        function = _within_marks(function)
        text, first = self._text(name, function)
        place = f"line {{}} of {inspect.getsourcefile(function) or 'its file'}"
        self.where = self.where or place.format(first)
        self.functions[name] = text
        self._known[function] = None
        free = _free_names(ast.parse(text), name, self._refuse(place, first))
        space: dict[str, Any] = {"__builtins__": {}}
        for word, line in free.items():
            space[word] = self._meaning(word, function, self._refuse(place, first), line)
        self._known[function] = types.FunctionType(function.__code__, space, name, function.__defaults__)
        return self._known[function]

    def _text(self, name: str, function: Any) -> tuple[str, int]:
        if hasattr(function, "__wrapped__"):
            raise NotProvableError(
                f"{self.title} cannot be proven: {name} is wrapped by a decorator, which cannot be followed; write "
                "what it does into the function."
            )
        if function.__code__.co_freevars:
            raise NotProvableError(
                f"{self.title} cannot be proven: {name} uses {function.__code__.co_freevars[0]}, which is defined "
                "inside another function; move it to the file."
            )
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise NotProvableError(
                f"{self.title} cannot be proven: the source of {name} is not in a file; put the class into one."
            ) from None
        text = textwrap.dedent("".join(lines))
        return text[text.index("def ") :], first + text[: text.index("def ")].count("\n")

    def _refuse(self, place: str, first: int) -> Callable[[int, str], NotProvableError]:
        return lambda line, what: NotProvableError(
            f"{self.title} cannot be proven: {place.format(first + line - 1)} {what}."
        )

    def _meaning(self, word: str, function: Any, refuse: Any, line: int) -> Any:
        """Our own function, module or constant in place of what a name means in the user's file."""
        if word not in function.__globals__:
            if word in BUILTINS and hasattr(builtins, word):
                return FUNCTIONS.get(word, getattr(builtins, word))
            raise refuse(line, f"uses {word}, which is not defined or cannot be followed")
        thing = function.__globals__[word]
        for module, real in MODULES.items():
            if thing is real:
                self.names[word] = module
                return _Module(module)
        title = getattr(thing, "__name__", "")
        if getattr(thing, "__module__", None) == "math" and title in FUNCTIONS:
            self.names[word] = f"math.{title}"
            return FUNCTIONS[title]
        if isinstance(thing, int | float) or (
            isinstance(thing, tuple) and thing and all(map(_is_plain, thing))
        ):
            return self._number(word, thing, refuse, line)
        raw = _within_marks(thing) if callable(thing) else None
        if isinstance(raw, types.FunctionType):
            return self._called(word, raw, refuse, line)
        raise refuse(line, f"uses {word}, which cannot be followed")

    def _number(
        self, word: str, number: float | tuple[float, ...], refuse: Any, line: int
    ) -> float | tuple[float, ...]:
        if not word.isupper():
            raise refuse(
                line, f"reads the global {word}; make it a parameter of the class, or write the number"
            )
        if self.constants.setdefault(word, number) != number:
            raise refuse(line, f"reads {word}, which is the name of two numbers")
        return number

    def _called(self, word: str, raw: Any, refuse: Any, line: int) -> Any:
        if raw in self._known:
            if self._known[raw] is None:
                raise refuse(line, f"calls {word}, which calls itself")
            return self._known[raw]
        if word in self.functions:
            raise refuse(line, f"calls {word}, which is the name of two functions")
        return self.rebuilt(word, raw)


def _is_plain(thing: Any) -> bool:
    return isinstance(thing, int | float)


class _Module:
    """The functions of a module that can be followed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, word: str) -> Any:
        if word in CONSTANTS:
            return getattr(math, word)
        if word in FUNCTIONS and hasattr(MODULES[self._name], word):
            return FUNCTIONS[word]
        raise Unreadable(f"uses {self._name}.{word}, which cannot be followed")


_ALLOWED = (
    ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If,
    ast.IfExp, ast.For, ast.While, ast.Expr, ast.Pass, ast.Constant, ast.Name, ast.Attribute, ast.Subscript,
    ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call, ast.expr_context, ast.operator,
    ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


def _free_names(
    tree: ast.Module, name: str, refuse: Callable[[int, str], NotProvableError]
) -> dict[str, int]:
    """The names that a function does not define itself, with the line of each; refuse what cannot be followed."""
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef) or len(tree.body) != 1:
        raise refuse(1, f"should be the function {name}")
    if function.decorator_list or function.args.kwonlyargs or function.args.vararg or function.args.kwarg:
        raise refuse(1, f"{name} has arguments or decorators that cannot be followed")
    own = {argument.arg for argument in (*function.args.posonlyargs, *function.args.args)}
    function.returns = None
    for argument in function.args.args:
        argument.annotation = None
    _refuse_short_numbers(function, refuse)
    for node in ast.walk(function):
        if not isinstance(node, _ALLOWED):
            raise refuse(
                getattr(node, "lineno", 1), f"has a {type(node).__name__.lower()}, which cannot be followed"
            )
        if isinstance(node, ast.While) and (isinstance(node.test, ast.Constant) or node.orelse):
            raise refuse(node.lineno, "has a while without a condition, which cannot be followed")
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
    return {
        node.id: node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id not in own
    }


def _refuse_short_numbers(function: ast.FunctionDef, refuse: Callable[[int, str], NotProvableError]) -> None:
    """Refuse what computes with numbers of 32 bits; they may only be turned back into 64."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    kept = {id(call.args[0]) for call in calls if _attribute(call) == "float64" and len(call.args) == 1}
    for call in calls:
        if _attribute(call) == "float32" and id(call) not in kept:
            raise refuse(call.lineno, "computes in 32 bits; only np.float64(np.float32(x)) can be followed")


def _attribute(call: ast.Call) -> str:
    """The name of the function of a module that is called; nothing if it is another call."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def start_boxes(
    program: Program, ranges: Mapping[str, tuple[float, float]]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Boxes of all states that ``start`` can return, whatever is drawn."""

    def once(rows: np.ndarray) -> tuple[Form, ...]:
        shape = (1, len(rows))
        noise = _Noise(*shape)
        state = program.start(Parameters(program.parameters, ranges, shape), noise)
        return tuple(noise.uniform().like(number) for number in state)

    boxes = []
    for path in paths(once, 1):
        if len(path.lost):
            raise Unreadable("starts from something that may not be a number")
        if not len(path.rows):
            continue
        low, high = (np.array([getattr(form, end)[0] for form in path.result]) for end in ("low", "high"))
        boxes.append((low, high))
    return boxes


def run(program: Program, function: Callable[[], Any]) -> Any:
    """Run a part of a program; what cannot be followed becomes an error with its place."""
    try:
        return function()
    except Unreadable as trouble:
        raise NotProvableError(
            f"The program at {program.where} {trouble}, so nothing can be proven."
        ) from None
    except TooManyPathsError:
        raise NotProvableError(
            f"The program at {program.where} has more branches than can be followed; nothing can be proven."
        ) from None
