"""Loops over tuples that the compiler unrolls, and hints to it: what makes the lanes vector instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from distinguo.tasks.task import State

_OPTIONS: Any = {"nogil": True, "error_model": "numpy"}
Function = Callable[..., Any]


def _unrolled(last: Function, more: Function) -> Callable[[Function], Function]:
    """Compile a function as ``last`` for the last coordinate and as ``more`` while others follow."""

    def register(function: Function) -> Function:
        def pick(first: Any, *rest: Any) -> Function:
            return last if len(first) == 1 else more

        overload(function, jit_options=_OPTIONS, strict=False)(pick)
        return function

    return register


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


def _squared_last(s: Any, p: Any, w: Any, total: Any) -> Any:
    d = (s[0] - p[0]) * w[0]
    return total + d * d


def _squared_more(s: Any, p: Any, w: Any, total: Any) -> Any:
    d = (s[0] - p[0]) * w[0]
    return squared_distance(s[1:], p[1:], w[1:], total + d * d)


@_unrolled(_squared_last, _squared_more)
def squared_distance(s: State, p: State, w: State, total: float) -> float:
    """Add the squared distance of two states to a total, coordinate by coordinate as ``nearest`` does.

    >>> squared_distance((3.0, 0.0), (0.0, 2.0), (1.0, 2.0), 0.0)
    25.0
    """
    for i in range(len(s)):
        total = _squared_last(s[i:], p[i:], w[i:], total)
    return total


def _outside_last(s: Any, low: Any, high: Any) -> int:
    return int(not s[0] >= low[0]) | int(not s[0] <= high[0])


def _outside_more(s: Any, low: Any, high: Any) -> int:
    return int(not s[0] >= low[0]) | int(not s[0] <= high[0]) | outside(s[1:], low[1:], high[1:])


@_unrolled(_outside_last, _outside_more)
def outside(s: State, low: State, high: State) -> int:
    """Tell whether a state has left a box; one that is not a number has.

    >>> outside((0.5,), (0.0,), (1.0,)), outside((float("nan"),), (0.0,), (1.0,))
    (0, 1)
    """
    return max(_outside_last(s[i:], low[i:], high[i:]) for i in range(len(s)))


def _farthest_last(p: Any, low: Any, high: Any, w: Any, total: Any) -> Any:
    below, above = (p[0] - low[0]) * w[0], (high[0] - p[0]) * w[0]
    d = below if below > above else above
    return total + d * d


def _farthest_more(p: Any, low: Any, high: Any, w: Any, total: Any) -> Any:
    below, above = (p[0] - low[0]) * w[0], (high[0] - p[0]) * w[0]
    d = below if below > above else above
    return farthest(p[1:], low[1:], high[1:], w[1:], total + d * d)


@_unrolled(_farthest_last, _farthest_more)
def farthest(p: State, low: State, high: State, w: State, total: float) -> float:
    """Add the squared distance of a prototype to the farthest state of a box to a total.

    >>> farthest((0.0, 0.0), (-1.0, 3.0), (2.0, 4.0), (1.0, 1.0), 0.0)
    20.0
    """
    for i in range(len(p)):
        total = _farthest_last(p[i:], low[i:], high[i:], w[i:], total)
    return total


def _closest_last(p: Any, low: Any, high: Any, w: Any, total: Any) -> Any:
    below, above = (low[0] - p[0]) * w[0], (p[0] - high[0]) * w[0]
    d = below if below > above else above
    d = d if d > 0.0 else 0.0
    return total + d * d


def _closest_more(p: Any, low: Any, high: Any, w: Any, total: Any) -> Any:
    below, above = (low[0] - p[0]) * w[0], (p[0] - high[0]) * w[0]
    d = below if below > above else above
    d = d if d > 0.0 else 0.0
    return closest(p[1:], low[1:], high[1:], w[1:], total + d * d)


@_unrolled(_closest_last, _closest_more)
def closest(p: State, low: State, high: State, w: State, total: float) -> float:
    """Add the squared distance of a prototype to the nearest state of a box to a total.

    >>> closest((0.0, 0.0), (-1.0, 3.0), (2.0, 4.0), (1.0, 1.0), 0.0)
    9.0
    """
    for i in range(len(p)):
        total = _closest_last(p[i:], low[i:], high[i:], w[i:], total)
    return total


def _lead_last(p: Any, q: Any, low: Any, high: Any, w: Any, total: Any) -> Any:
    slope = (p[0] - q[0]) * w[0]
    first = slope * (((low[0] - p[0]) + (low[0] - q[0])) * w[0])
    second = slope * (((high[0] - p[0]) + (high[0] - q[0])) * w[0])
    return total + (first if first > second else second)


def _lead_more(p: Any, q: Any, low: Any, high: Any, w: Any, total: Any) -> Any:
    slope = (p[0] - q[0]) * w[0]
    first = slope * (((low[0] - p[0]) + (low[0] - q[0])) * w[0])
    second = slope * (((high[0] - p[0]) + (high[0] - q[0])) * w[0])
    return lead(p[1:], q[1:], low[1:], high[1:], w[1:], total + (first if first > second else second))


@_unrolled(_lead_last, _lead_more)
def lead(p: State, q: State, low: State, high: State, w: State, total: float) -> float:
    """Add to a total how much nearer ``p`` than ``q`` comes at most, in squared distance, to a state of a box.

    The difference of the two squared distances is affine in the state, so it is greatest at a corner.

    >>> lead((0.0,), (2.0,), (-1.0,), (0.5,), (1.0,), 0.0), lead((2.0,), (0.0,), (-1.0,), (0.5,), (1.0,), 0.0)
    (8.0, -2.0)
    """
    for i in range(len(p)):
        total = _lead_last(p[i:], q[i:], low[i:], high[i:], w[i:], total)
    return total


def widest_vectors() -> None:
    """Make the loops of the calling function as wide as the machine can.

    >>> widest_vectors()
    """


def inlined() -> None:
    """Inline the calling function wherever it is called.

    >>> inlined()
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


_wide: Any = intrinsic(_prefer_wide)
_inline: Any = intrinsic(_always_inline)


@overload(widest_vectors, inline="always")
def _widest_vectors() -> Any:
    return lambda: _wide()


@overload(inlined, inline="always")
def _inlined() -> Any:
    return lambda: _inline()
