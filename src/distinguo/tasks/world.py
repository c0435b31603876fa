"""The world: a task behind function pointers, so that a learner is compiled once for all tasks.

Every task is a class of its own, and code that takes a task is compiled anew for every class. A *world* has one
type for all tasks: the address of the task's parameters and the addresses of its compiled ``transition``,
``start``, ``observe`` and ``truncated``. A new task compiles these few functions only. States are rows of numbers
here, written in place; ``out`` may be ``s`` itself.

A task in plain Python has the same kind of world: its compiled functions call Python, so that only the task itself
is interpreted. A :class:`PythonWorld` is for what cannot be compiled, and for tests: on it the same source runs
interpreted.

>>> from distinguo.tasks.puck.puck import Puck
>>> world, s = world_of(Puck(), width=2, dimensions=2), np.array([0.0, 1.0])
>>> push = kernel(lambda world, s, a: step(world, s, a, s))
>>> push(world, s, 1), s.tolist()
((0.0, False), [0.02, 1.06])
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numba as _numba
import numpy as np
from numba import extending as _extending
from numba import types as _types
from numba.core import cgutils as _cgutils
from numpy.random import Generator

from distinguo.seam import (
    config,
    generic,
    generic_with_default,
    has_own,
    implements,
    implements_interpreted,
    is_compiled,
    kernel,
    part,
)
from distinguo.tasks.amounts import LawTask, PlainLawTask
from distinguo.tasks.task import observe, start, transition, truncated, unpack

cgutils: Any = _cgutils
extending: Any = _extending
numba: Any = _numba
types: Any = _types

#: Rows of ``spare``: where a trial goes next, where a mini-trial is, and one more for a learner's own use.
NEXT, ON_THE_WAY, OWN = 0, 1, 2
#: Rows of ``sights``: what is observed before a step, and after it.
BEFORE, AFTER = 0, 1


class World(NamedTuple):
    """A compiled task behind addresses; see :func:`world_of`."""

    task: int  #: the address of its parameters
    step: int  #: the addresses of its functions
    begin: int
    observe: int  #: 0 for a task whose states are observed as they are
    truncated: int  #: 0 for a task that never stops a trial itself
    spare: np.ndarray  #: (3, width) rows for states, as compiled code allocates nothing
    sights: np.ndarray  #: (2, dimensions) rows for observations
    laws: (
        np.ndarray
    )  #: (laws, amounts, dimensions + 1) what the actions mean, which a learner may change; or empty


class PythonWorld(NamedTuple):
    """A task that runs as plain Python; see :func:`python_world`."""

    task: Any
    spare: np.ndarray
    sights: np.ndarray
    laws: np.ndarray


@generic
def step(world: Any, s: np.ndarray, a: int, out: np.ndarray) -> tuple[float, bool]:
    """Take action ``a`` from ``s`` and write the next state: the reward, and whether that state is terminal."""
    raise NotImplementedError


@generic
def begin(world: Any, rng: Generator, out: np.ndarray) -> None:
    """Write the state that a trial begins from."""
    raise NotImplementedError


class Sight(NamedTuple):
    """What is observed of a state; compiled code returns rows only within a tuple."""

    seen: np.ndarray


@generic
def look(world: Any, s: np.ndarray, row: int) -> Sight:
    """Observe ``s``: the result is ``s`` itself, or a row of the sights that the next look there overwrites."""
    raise NotImplementedError


@generic
def stops(world: Any, s: np.ndarray) -> bool:
    """Whether the task itself stops the trial in ``s``, which is not terminal."""
    raise NotImplementedError


@generic_with_default
def knows(world: Any, s: np.ndarray) -> bool:
    """Whether a step led to ``s``; only a learned model may not know."""
    return True


@part
def copy_row(source: np.ndarray, out: np.ndarray) -> None:
    """Copy a state."""
    for i in range(len(out)):
        out[i] = source[i]


# ---- compiled tasks ----------------------------------------------------------------------------------------------

_ROW = types.Array(types.float64, 1, "C")
_GENERATOR = types.NumPyRandomGeneratorType("NumPyRandomGeneratorType")
_OUTCOME = types.Tuple((types.float64, types.boolean))


@kernel
def _step_through(at: Any, s: np.ndarray, a: int, out: np.ndarray) -> tuple[float, bool]:
    task = _read_value(at)
    s_next, r, terminal = transition(task, unpack(task, s), a)
    for i in range(len(s_next)):
        out[i] = s_next[i]
    return float(r), bool(terminal)


@kernel
def _begin_through(at: Any, rng: Generator, out: np.ndarray) -> None:
    s = start(_read_value(at), rng)
    for i in range(len(s)):
        out[i] = s[i]


@kernel
def _observe_through(at: Any, s: np.ndarray, out: np.ndarray) -> None:
    task = _read_value(at)
    seen = observe(task, unpack(task, s))
    for i in range(len(seen)):
        out[i] = seen[i]


@kernel
def _truncated_through(at: Any, s: np.ndarray) -> bool:
    task = _read_value(at)
    return bool(truncated(task, unpack(task, s)))


@kernel
def _write(task: Any, buffer: np.ndarray) -> int:
    return _write_value(task, buffer)


@extending.intrinsic  # type: ignore[untyped-decorator]
def _read_value(typingctx: Any, at: Any) -> Any:
    """Read the value at an address, which :func:`_write_value` wrote."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.unpack_value(builder, signature.return_type, args[0])

    return at.dtype(at), codegen


@extending.intrinsic  # type: ignore[untyped-decorator]
def _write_value(typingctx: Any, value: Any, buffer: Any) -> Any:
    """Write a value into a buffer as compiled code lays it out, if it fits, and return its size in bytes."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, array = signature.args
        layout = context.data_model_manager[kind].get_data_type()
        size = context.get_constant(types.intp, context.get_abi_sizeof(layout))
        room = context.make_array(array)(context, builder, args[1])
        with builder.if_then(builder.icmp_signed("<=", size, builder.mul(room.nitems, room.itemsize))):
            context.pack_value(builder, kind, args[0], builder.bitcast(room.data, layout.as_pointer()))
        return size

    return types.intp(value, buffer), codegen


def _caller(kind: Any) -> Any:
    """Return a function for kernels that calls the compiled code at an address and passes its errors on."""

    @extending.intrinsic  # type: ignore[untyped-decorator]
    def call(typingctx: Any, address: Any, arguments: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = context.call_conv.get_function_type(kind.return_type, kind.args).as_pointer()
            given = cgutils.unpack_tuple(builder, args[1], len(kind.args))
            status, result = context.call_conv.call_function(
                builder, builder.inttoptr(args[0], place), kind.return_type, kind.args, given
            )
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return result

        return kind.return_type(types.intp, types.Tuple(kind.args)), codegen

    return call


_call_step = _caller(_OUTCOME(types.intp, _ROW, types.int64, _ROW))
_call_begin = _caller(types.void(types.intp, _GENERATOR, _ROW))
_call_observe = _caller(types.void(types.intp, _ROW, _ROW))
_call_truncated = _caller(types.boolean(types.intp, _ROW))


@implements(step, World)
def _step(world: World, s: np.ndarray, a: int, out: np.ndarray) -> tuple[float, bool]:
    return _call_step(world.step, (world.task, s, a, out))


@implements(begin, World)
def _begin(world: World, rng: Generator, out: np.ndarray) -> None:
    _call_begin(world.begin, (world.task, rng, out))


@implements(look, World)
def _look(world: World, s: np.ndarray, row: int) -> Sight:
    if world.observe == 0:
        return Sight(s)
    _call_observe(world.observe, (world.task, s, world.sights[row]))
    return Sight(world.sights[row])


@implements(stops, World)
def _stops(world: World, s: np.ndarray) -> bool:
    return world.truncated != 0 and _call_truncated(world.truncated, (world.task, s))


_tasks: dict[int, Any] = {}  #: tasks and the copies of their parameters that worlds point at, by address


def world_of(task: Any, width: int, dimensions: int) -> Any:
    """Return the world of a task whose states have ``width`` coordinates and whose observations ``dimensions``."""
    if config.DISABLE_JIT:
        return python_world(task, width, dimensions)
    if not is_compiled(task):
        return _calling_world(task, width, dimensions)
    kind = types.CPointer(numba.typeof(task))
    spare, sights = _rooms(width, dimensions)
    return World(
        _written(task, spare),
        _address(_step_through, _OUTCOME(kind, _ROW, types.int64, _ROW)),
        _address(_begin_through, types.void(kind, _GENERATOR, _ROW)),
        _address(_observe_through, types.void(kind, _ROW, _ROW)) if has_own(observe, task) else 0,
        _address(_truncated_through, types.boolean(kind, _ROW)) if has_own(truncated, task) else 0,
        spare,
        sights,
        _laws_of(task),
    )


def _laws_of(task: Any) -> np.ndarray:
    """The table of the laws that are the task's actions, to be written in place; empty if they are none."""
    return task.laws.table if isinstance(task, LawTask | PlainLawTask) else np.zeros((0, 0, 0))


def _rooms(width: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((3, width)), np.zeros((2, dimensions))


def _written(task: Any, owner: np.ndarray, kept: Any = None) -> int:
    """Return the address of a copy of the task's parameters that lives as long as its owner.

    Arrays and generators are borrowed from the task, which is kept alive with the copy, as is what is ``kept``.
    """
    buffer = np.zeros(_write(task, np.zeros(0, dtype=np.int64)) // 8 + 1, dtype=np.int64)
    _write(task, buffer)
    address = int(buffer.ctypes.data)
    _tasks[address] = (task, buffer, kept)
    weakref.finalize(owner, _tasks.pop, address).atexit = False  # a thread may still be at work then
    return address


def _address(function: Any, signature: Any) -> int:
    function.compile(signature)
    compiled = function.get_compile_result(signature)
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


# ---- tasks in plain Python ---------------------------------------------------------------------------------------


class PythonCalls(NamedTuple):
    """The functions of a task in plain Python, as compiled code calls them: numbers are passed in shared rows."""

    step: int  #: the addresses of functions without arguments
    begin: int  #: takes the generator
    observe: int
    truncated: int
    s: np.ndarray  #: (width,) the state that they are given
    out: np.ndarray  #: (width,) the state that they return
    seen: np.ndarray  #: (dimensions,) the observation that they return
    numbers: np.ndarray  #: the action, the reward, and a yes or no


_ACTION, _REWARD, _FLAG = 0, 1, 2  #: places in ``numbers``


@extending.intrinsic  # type: ignore[untyped-decorator]
def _call_python(typingctx: Any, function: Any, argument: Any) -> Any:
    """Call a Python function by its address, with a generator or without an argument; its exception is passed on.

    The exception stays with the thread, and every caller returns at once, as Numba's own code does.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        api = context.get_python_api(builder)
        given = []
        if signature.args[1] is not types.none:
            given = [cgutils.create_struct_proxy(signature.args[1])(context, builder, args[1]).parent]
        gil = api.gil_ensure()
        result = api.call_function_objargs(builder.inttoptr(args[0], api.pyobj), given)
        api.decref(result)  # also where there is none
        api.gil_release(gil)
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, result)):
            context.call_conv.return_exc(builder)
        return context.get_dummy_value()

    return types.none(types.intp, argument), codegen


@kernel
def _step_by_call(at: Any, s: np.ndarray, a: int, out: np.ndarray) -> tuple[float, bool]:
    calls = _read_value(at)
    copy_row(s, calls.s)
    calls.numbers[_ACTION] = a
    _call_python(calls.step, None)
    copy_row(calls.out, out)
    return calls.numbers[_REWARD], calls.numbers[_FLAG] != 0.0


@kernel
def _begin_by_call(at: Any, rng: Generator, out: np.ndarray) -> None:
    calls = _read_value(at)
    _call_python(calls.begin, rng)
    copy_row(calls.out, out)


@kernel
def _observe_by_call(at: Any, s: np.ndarray, out: np.ndarray) -> None:
    calls = _read_value(at)
    copy_row(s, calls.s)
    _call_python(calls.observe, None)
    copy_row(calls.seen, out)


@kernel
def _truncated_by_call(at: Any, s: np.ndarray) -> bool:
    calls = _read_value(at)
    copy_row(s, calls.s)
    _call_python(calls.truncated, None)
    return calls.numbers[_FLAG] != 0.0


def _calling_world(task: Any, width: int, dimensions: int) -> World:
    """Return the world of a task in plain Python, whose functions are called from compiled code."""
    s, out, seen, numbers = np.zeros(width), np.zeros(width), np.zeros(dimensions), np.zeros(3)

    def take_step() -> None:
        out[:], r, terminal = transition(task, _python_state(task, s), int(numbers[_ACTION]))
        numbers[_REWARD], numbers[_FLAG] = float(r), bool(terminal)

    def begin_trial(rng: Generator) -> None:
        out[:] = start(task, rng)

    def see() -> None:
        seen[:] = observe(task, _python_state(task, s))

    def is_truncated() -> None:
        numbers[_FLAG] = bool(truncated(task, _python_state(task, s)))

    functions = (take_step, begin_trial, see, is_truncated)
    calls = PythonCalls(id(take_step), id(begin_trial), id(see), id(is_truncated), s, out, seen, numbers)
    kind, (spare, sights) = types.CPointer(numba.typeof(calls)), _rooms(width, dimensions)
    return World(
        _written(calls, spare, (task, functions)),
        _address(_step_by_call, _OUTCOME(kind, _ROW, types.int64, _ROW)),
        _address(_begin_by_call, types.void(kind, _GENERATOR, _ROW)),
        _address(_observe_by_call, types.void(kind, _ROW, _ROW)) if has_own(observe, task) else 0,
        _address(_truncated_by_call, types.boolean(kind, _ROW)) if has_own(truncated, task) else 0,
        spare,
        sights,
        _laws_of(task),
    )


def _python_state(task: Any, s: np.ndarray) -> tuple[float, ...]:
    """The state as the task gave it: a tuple of Python's own floats."""
    return tuple(map(float, unpack(task, s)))


def calls_python(world: Any) -> bool:
    """Whether the task of a world is plain Python."""
    if isinstance(world, World):
        return isinstance(_tasks[world.task][0], PythonCalls)
    return not is_compiled(world)


# ---- everything in plain Python ----------------------------------------------------------------------------------


def python_world(task: Any, width: int, dimensions: int) -> PythonWorld:
    """Return a world on which kernels run interpreted."""
    return PythonWorld(task, *_rooms(width, dimensions), _laws_of(task))


@implements_interpreted(step, PythonWorld)
def _step_in_python(world: PythonWorld, s: np.ndarray, a: int, out: np.ndarray) -> tuple[float, bool]:
    out[:], r, terminal = transition(world.task, _python_state(world.task, s), int(a))
    return float(r), bool(terminal)


@implements_interpreted(begin, PythonWorld)
def _begin_in_python(world: PythonWorld, rng: Generator, out: np.ndarray) -> None:
    out[:] = start(world.task, rng)


@implements_interpreted(look, PythonWorld)
def _look_in_python(world: PythonWorld, s: np.ndarray, row: int) -> Sight:
    if not has_own(observe, world.task):
        return Sight(s)
    world.sights[row] = observe(world.task, _python_state(world.task, s))
    return Sight(world.sights[row])


@implements_interpreted(stops, PythonWorld)
def _stops_in_python(world: PythonWorld, s: np.ndarray) -> bool:
    return bool(truncated(world.task, _python_state(world.task, s)))
