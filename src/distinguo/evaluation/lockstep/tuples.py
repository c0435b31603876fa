"""Functions of states that the compiler unrolls, and hints to it: with them loops over lanes become vector code.

An index that is known only at run time would keep the loops around it from being vectorised. So, compiled, these
functions recurse over the coordinates of their first argument, a tuple, and no loop and no index remain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload

from distinguo.linking import PART_OPTIONS
from distinguo.seam import part
from distinguo.tasks.task import State

_OPTIONS: Any = {"nogil": True, "error_model": "numpy", **PART_OPTIONS}
Function = Callable[..., Any]


def _unrolled(last: Function, more: Function) -> Callable[[Function], Function]:
    """Compile a function as ``last`` for the last coordinate and as ``more`` while others follow."""

    def register(function: Function) -> Function:
        def pick(first: Any, *rest: Any) -> Function:
            return last if len(first) == 1 else more

        overload(function, jit_options=_OPTIONS, strict=False)(pick)
        return function

    return register


# ---- reading and writing ------------------------------------------------------------------------------------------


@_unrolled(
    lambda like, array, place, stride: (array[place],),
    lambda like, array, place, stride: (array[place], *read_state(like[1:], array, place + stride, stride)),
)
def read_state(like: State, array: np.ndarray, place: int, stride: int) -> State:
    """Read a state from every ``stride``-th number of an array, as long as the tuple ``like``.

    >>> read_state((0.0, 0.0), np.arange(8.0), 1, 3)
    (1.0, 4.0)
    """
    return tuple(float(array[place + stride * i]) for i in range(len(like)))


def _write_last(s: Any, array: Any, place: Any, stride: Any) -> None:
    array[place] = s[0]


def _write_more(s: Any, array: Any, place: Any, stride: Any) -> None:
    array[place] = s[0]
    write_state(s[1:], array, place + stride, stride)


@_unrolled(_write_last, _write_more)
def write_state(s: State, array: np.ndarray, place: int, stride: int) -> None:
    """Write a state to every ``stride``-th number of an array.

    >>> numbers = np.zeros(4)
    >>> write_state((1.0, 2.0), numbers, 0, 3)
    >>> numbers.tolist()
    [1.0, 0.0, 0.0, 2.0]
    """
    for i in range(len(s)):
        array[place + stride * i] = s[i]


# ---- sums over coordinates: for each, what its first coordinate adds to a total -----------------------------------


@part
def _add_square(s: State, p: State, w: State, total: float) -> float:
    d = (s[0] - p[0]) * w[0]
    return total + d * d


@_unrolled(
    _add_square,
    lambda s, p, w, total: squared_distance(s[1:], p[1:], w[1:], _add_square(s, p, w, total)),
)
def squared_distance(s: State, p: State, w: State, total: float) -> float:
    """Add the squared distance of two states to a total, coordinate by coordinate as ``nearest`` does.

    >>> squared_distance((3.0, 0.0), (0.0, 2.0), (1.0, 2.0), 0.0)
    25.0
    """
    for i in range(len(s)):
        total = _add_square(s[i:], p[i:], w[i:], total)
    return total


@part
def _is_outside(s: State, low: State, high: State) -> int:
    return int(not s[0] >= low[0]) | int(not s[0] <= high[0])


@_unrolled(
    _is_outside,
    lambda s, low, high: _is_outside(s, low, high) | outside(s[1:], low[1:], high[1:]),
)
def outside(s: State, low: State, high: State) -> int:
    """Whether a state has left a box, as 0 or 1; a state with a coordinate that is not a number has.

    >>> outside((0.5,), (0.0,), (1.0,)), outside((float("nan"),), (0.0,), (1.0,))
    (0, 1)
    """
    return max(_is_outside(s[i:], low[i:], high[i:]) for i in range(len(s)))


@part
def _add_farthest(p: State, low: State, high: State, w: State, total: float) -> float:
    below, above = (p[0] - low[0]) * w[0], (high[0] - p[0]) * w[0]
    d = below if below > above else above
    return total + d * d


@_unrolled(
    _add_farthest,
    lambda p, low, high, w, total: farthest(
        p[1:], low[1:], high[1:], w[1:], _add_farthest(p, low, high, w, total)
    ),
)
def farthest(p: State, low: State, high: State, w: State, total: float) -> float:
    """Add the squared distance of a prototype to the farthest state of a box to a total.

    >>> farthest((0.0, 0.0), (-1.0, 3.0), (2.0, 4.0), (1.0, 1.0), 0.0)
    20.0
    """
    for i in range(len(p)):
        total = _add_farthest(p[i:], low[i:], high[i:], w[i:], total)
    return total


@part
def _add_closest(p: State, low: State, high: State, w: State, total: float) -> float:
    below, above = (low[0] - p[0]) * w[0], (p[0] - high[0]) * w[0]
    d = below if below > above else above
    d = d if d > 0.0 else 0.0
    return total + d * d


@_unrolled(
    _add_closest,
    lambda p, low, high, w, total: closest(
        p[1:], low[1:], high[1:], w[1:], _add_closest(p, low, high, w, total)
    ),
)
def closest(p: State, low: State, high: State, w: State, total: float) -> float:
    """Add the squared distance of a prototype to the nearest state of a box to a total.

    >>> closest((0.0, 0.0), (-1.0, 3.0), (2.0, 4.0), (1.0, 1.0), 0.0)
    9.0
    """
    for i in range(len(p)):
        total = _add_closest(p[i:], low[i:], high[i:], w[i:], total)
    return total


@part
def _add_lead(p: State, q: State, low: State, high: State, w: State, total: float) -> float:
    slope = (p[0] - q[0]) * w[0]
    first = slope * (((low[0] - p[0]) + (low[0] - q[0])) * w[0])
    second = slope * (((high[0] - p[0]) + (high[0] - q[0])) * w[0])
    return total + (first if first > second else second)


@_unrolled(
    _add_lead,
    lambda p, q, low, high, w, total: lead(
        p[1:], q[1:], low[1:], high[1:], w[1:], _add_lead(p, q, low, high, w, total)
    ),
)
def lead(p: State, q: State, low: State, high: State, w: State, total: float) -> float:
    """Add to a total how much nearer ``p`` than ``q`` comes at most, in squared distance, to a state of a box.

    The difference of the two squared distances is affine in the state, so it is greatest at a corner.

    >>> lead((0.0,), (2.0,), (-1.0,), (0.5,), (1.0,), 0.0), lead((2.0,), (0.0,), (-1.0,), (0.5,), (1.0,), 0.0)
    (8.0, -2.0)
    """
    for i in range(len(p)):
        total = _add_lead(p[i:], q[i:], low[i:], high[i:], w[i:], total)
    return total


# ---- hints to the compiler: they change no result -----------------------------------------------------------------


def widest_vectors() -> None:
    """Make the loops of the calling function as wide as the machine can.

    >>> widest_vectors()
    """


def inlined() -> None:
    """Inline the calling function wherever it is called.

    >>> inlined()
    """


def apart() -> None:
    """Promise that no array that the calling function writes to overlaps another one that it is given.

    Without it every loop is compiled twice, as vector code and as plain code for arrays that overlap.

    >>> apart()
    """


def _prefer_wide(context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        attributes = builder.function.attributes
        if isinstance(attributes, set):  # past the list of attributes that llvmlite knows by name
            set.add(attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


def _always_inline(context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("alwaysinline")
        return context.get_dummy_value()

    return types.void(), generate


def _no_alias(context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for argument in builder.function.args:
            if isinstance(argument.type, ir.PointerType):
                argument.attributes.add("noalias")
        return context.get_dummy_value()

    return types.void(), generate


_wide: Any = intrinsic(_prefer_wide)
_inline: Any = intrinsic(_always_inline)
_apart: Any = intrinsic(_no_alias)


@overload(widest_vectors, inline="always")
def _widest_vectors() -> Any:
    return lambda: _wide()


@overload(inlined, inline="always")
def _inlined() -> Any:
    return lambda: _inline()


@overload(apart, inline="always")
def _arrays_apart() -> Any:
    return lambda: _apart()
