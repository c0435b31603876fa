"""One source, two speeds: the seam between compiled and interpreted code.

A *kernel* is a function that Numba compiles for the types it meets; a *part* is a plain function that
kernels may call. A *generic* has one implementation per class of its first argument (a ``NamedTuple``), found
by ``functools.singledispatch`` in Python and by type in compiled code. So the same source runs compiled on
our own tasks and interpreted (``kernel.py_func``) on anything else.

>>> from typing import NamedTuple
>>> class Square(NamedTuple):
...     side: float
>>> @generic
... def area(shape):
...     '''The area of a shape.'''
>>> @implements(area, Square)
... def _(shape):
...     return shape.side * shape.side
>>> @kernel
... def twice(shape):
...     return 2 * area(shape)
>>> twice(Square(3.0)), twice.py_func(Square(3.0))
(18.0, 18.0)
"""

from __future__ import annotations

import functools
import gc
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import compiler_lock as _compiler_lock
from numba.core import config as _config
from numba.extending import overload, register_jitable

from distinguo.interrupts import undisturbed
from distinguo.kernel_cache import KernelCache, name_apart, name_by_file, watch_source
from distinguo.linking import KERNEL_OPTIONS, PART_OPTIONS, borrow_generators

compiler_lock: Any = _compiler_lock
config: Any = _config
F = TypeVar("F", bound=Callable[..., Any])

_interpreted: set[type] = set()

#: No fastmath and no contraction: the same bits on every x86-64 machine (docs/readings.md, "Arithmetic").
#: ``error_model="numpy"`` drops the zero check of each division, which would keep loops from vectorising.
_COMMON: Any = {"nogil": True, "error_model": "numpy"}
_OPTIONS: Any = {**_COMMON, **PART_OPTIONS}
#: Kernels allocate nothing: arrays come from Python. So Numba's reference counting, which made the learner 14
#: times slower and its compilation 3 times longer, can be off; the parts that a kernel calls inherit this.
_KERNEL_OPTIONS: Any = {**_COMMON, "_nrt": False, **KERNEL_OPTIONS}

borrow_generators()


def part(function: F) -> F:
    """Mark a plain Python function as callable from kernels; it stays a plain function."""
    watch_source(function.__code__.co_filename)
    return register_jitable(**_OPTIONS)(function)


def guarded(check: Callable[..., None]) -> Callable[[F], F]:
    """Mark a part whose arguments are checked when plain Python calls it; kernels are trusted."""

    def mark(function: F) -> F:
        part(function)
        signature = inspect.signature(function)

        @functools.wraps(function)
        def door(*arguments: Any, **named: Any) -> Any:
            check(*signature.bind(*arguments, **named).args)
            return function(*arguments, **named)

        overload(door, jit_options=_OPTIONS, strict=False)(lambda *_, **__: function)
        return door  # type: ignore[return-value]

    return mark


def kernel(function: F) -> Any:
    """Compile a function on first use, cached on disk under a key made from the sources of kernels."""
    if config.DISABLE_JIT:
        function.__dict__["py_func"] = function
        return function
    compiled = numba.njit(**_KERNEL_OPTIONS)(function)
    compiled._cache = KernelCache(function)
    compiled.compile = undisturbed(
        _uncollected(compiled.compile), compiler_lock.global_compiler_lock.is_locked
    )
    return compiled


def _uncollected(compiles: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without garbage collection: it takes an eighth of the time, and nearly all that is made is kept."""

    @functools.wraps(compiles)
    def run(*arguments: Any) -> Any:
        was_on = gc.isenabled()
        gc.disable()
        try:
            return compiles(*arguments)
        finally:
            if was_on:
                gc.enable()

    return run


def generic(function: F) -> F:
    """Make a function that is implemented once per class of its first argument."""

    @functools.wraps(function)
    def missing(first: Any, *rest: Any) -> Any:
        raise TypeError(f"{function.__name__} is not implemented for {type(first).__name__}.")

    return functools.singledispatch(missing)  # type: ignore[return-value]


def generic_with_default(function: F) -> F:
    """Make a function that classes may implement; for all others its own body runs."""
    dispatcher: Any = functools.singledispatch(function)
    watch_source(function.__code__.co_filename)

    def pick(first: Any, *rest: Any) -> F | None:
        return None if getattr(first, "instance_class", None) in dispatcher.registry else function

    overload(dispatcher, jit_options=_OPTIONS, strict=False)(pick)
    return dispatcher


def implements(function: Any, kind: type) -> Callable[[F], F]:
    """Register the implementation of a generic for one ``NamedTuple`` class, at both speeds."""

    def register(implementation: F) -> F:
        function.register(kind, implementation)
        name_by_file(kind)
        name_apart(kind)

        def pick(first: Any, *rest: Any) -> F | None:
            return implementation if getattr(first, "instance_class", None) is kind else None

        overload(function, jit_options=_OPTIONS, strict=False)(pick)
        watch_source(implementation.__code__.co_filename, kind)
        return implementation

    return register


def implements_interpreted(function: Any, kind: type) -> Callable[[F], F]:
    """Register an implementation that only runs as plain Python, such as one that calls foreign code."""

    def register(implementation: F) -> F:
        function.register(kind, implementation)
        _interpreted.add(kind)
        return implementation

    return register


def at_speed(compiled: Any, *things: Any) -> Any:
    """Return a kernel as it is, or its plain source if one of its arguments cannot be compiled."""
    return compiled if is_compiled(*things) else compiled.py_func


def is_compiled(*things: Any) -> bool:
    """Whether kernels run compiled on these things."""
    return not any(type(thing) in _interpreted for thing in things)


def has_own(function: Any, thing: Any) -> bool:
    """Whether the class of a thing implements a generic with a default itself."""
    return type(thing) in function.registry
