"""The checker's numbers for programs: balls with derivatives (Arb), for the mean value form.

A :class:`Dual` is a number that depends on a point ``e`` of a box, each coordinate between -1 and 1. It holds a ball
of its value in the middle, a ball of all its values, and a ball of each derivative over the whole box. By the mean
value theorem its values lie in ``middle + derivatives * [-1, 1]``.

The program rounds every result. A rounding is an unknown number added to the result, no larger than 2**-53 of it. For
given roundings the number is a smooth function of ``e``, so the mean value theorem holds for each of them: a rounding
widens both balls of the value, and no derivative.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from flint import arb

from distinguo.errors import DistinguoError

UNIT = arb(0, 1)  #: from -1 to 1
ZERO = arb(0)
ROUNDED = arb(0, 2.0**-53)  #: of one operation
LIBRARY = arb(0, 2.0**-50)  #: of a function of the C library: eight units of the last place
SINGLE = arb(0, 2.0**-24)  #: of a number as_rounded to 32 bits
TINY = arb(0, 2.0**-1070)  #: where a result has no relative error
TINY_SINGLE = arb(0, 2.0**-149)


class Unclear(Exception):  # noqa: N818 - no error: a smaller block may be clear
    """Something is not certain for the whole block."""


class Dual:
    """A number that depends on a point of a box."""

    __slots__ = ("middle", "range", "slopes")

    def __init__(self, middle: Any, whole: Any, slopes: tuple[Any, ...]) -> None:
        self.middle, self.range, self.slopes = middle, whole, slopes

    def tightened(self) -> Dual:
        """The same number, its values bounded by the mean value theorem as well."""
        by_slopes = self.middle
        for slope in self.slopes:
            by_slopes = by_slopes + slope * UNIT
        try:
            whole = self.range.intersection(by_slopes)
        except ValueError:
            whole = by_slopes
        return Dual(self.middle, whole, self.slopes)


def as_rounded(
    middle: Any, whole: Any, slopes: tuple[Any, ...], share: Any = ROUNDED, tiny: Any = TINY
) -> Dual:
    """A result as the program rounds it."""
    off = whole * share + tiny
    off = arb(0, off.abs_upper())
    return Dual(middle + off, whole + off, slopes)


def add_duals(x: Any, y: Any) -> Any:
    """The sum."""
    if isinstance(x, Dual) and isinstance(y, Dual):
        slopes = tuple(p + q for p, q in zip(x.slopes, y.slopes, strict=True))
        return as_rounded(x.middle + y.middle, x.range + y.range, slopes)
    if isinstance(x, Dual):
        number = arb(y)
        return as_rounded(x.middle + number, x.range + number, x.slopes)
    return add_duals(y, x) if isinstance(y, Dual) else x + y


def negative(x: Any) -> Any:
    """Minus a number, which is exact."""
    if not isinstance(x, Dual):
        return -x
    return Dual(-x.middle, -x.range, tuple(-slope for slope in x.slopes))


def subtract(x: Any, y: Any) -> Any:
    """The difference."""
    if isinstance(x, Dual) or isinstance(y, Dual):
        return add_duals(x, negative(y))
    return x - y


def multiply(x: Any, y: Any) -> Any:
    """The product."""
    if isinstance(x, Dual) and isinstance(y, Dual):
        slopes = tuple(p * y.range + q * x.range for p, q in zip(x.slopes, y.slopes, strict=True))
        whole = x.range**2 if x is y else x.range * y.range
        return as_rounded(x.middle * y.middle, whole, slopes)
    if isinstance(x, Dual):
        if y == 0 and x.range.is_finite():
            return 0.0
        number = arb(y)
        return as_rounded(x.middle * number, x.range * number, tuple(slope * number for slope in x.slopes))
    return multiply(y, x) if isinstance(y, Dual) else x * y


def divide(x: Any, y: Any) -> Any:
    """The quotient."""
    if not isinstance(x, Dual) and not isinstance(y, Dual):
        if y == 0:
            raise DistinguoError("The certificate is wrong: its program divides by zero.")
        return x / y
    like = x if isinstance(x, Dual) else y
    x, y = as_dual(x, like), as_dual(y, like)
    if y.range.contains(0):
        raise Unclear("divides by a number that may be zero")
    whole = x.range / y.range
    slopes = tuple((p - whole * q) / y.range for p, q in zip(x.slopes, y.slopes, strict=True))
    return as_rounded(x.middle / y.middle, whole, slopes)


def power(x: Dual, n: Any) -> Any:
    """A whole power, or the square root."""
    if n == 0.5:
        return function("sqrt", x)
    if not (isinstance(n, int | float) and n == int(n) and 0 <= n <= 16):
        raise DistinguoError(f"The certificate is wrong: its program raises to the power {n!r}.")
    n = int(n)
    if n == 0:
        return 1.0
    slope = n * x.range ** (n - 1)
    slopes = tuple(slope * p for p in x.slopes)
    return as_rounded(x.middle**n, x.range**n, slopes, LIBRARY * (n + 1))


def magnitude(x: Dual) -> Dual:
    """The magnitude. Where the sign is not known, each derivative lies between minus and plus its value.

    The mean value theorem holds for such a kink, too, with all derivatives between those on its two sides.
    """
    if x.range >= 0:
        return x
    if x.range <= 0:
        return Dual(-x.middle, -x.range, tuple(-slope for slope in x.slopes))
    return Dual(abs(x.middle), abs(x.range), tuple(slope * UNIT for slope in x.slopes))


def clamped(x: Dual, low: Any, high: Any) -> Dual:
    """A number continued by the ends of a range where it leaves it.

    This is not smooth where it does. Its derivatives lie between 0 and those of the number, which is all that the
    mean value theorem needs.
    """
    if x.range >= low and x.range <= high:
        return x
    middle, whole = (
        z.lower().max(low).min(high).union(z.upper().max(low).min(high)) for z in (x.middle, x.range)
    )
    out = x.range <= low or x.range >= high
    return Dual(middle, whole, tuple(ZERO if out else slope.union(ZERO) for slope in x.slopes))


def as_dual(x: Any, like: Dual) -> Dual:
    """A plain number as one that depends on nothing."""
    if isinstance(x, Dual):
        return x
    number = arb(x)
    return Dual(number, number, tuple(ZERO for _ in like.slopes))


def _tangent_slope(x: Any) -> Any:
    return 1 / x.cos() ** 2


def _root_slope(x: Any) -> Any:
    return 1 / (2 * x.sqrt())


#: A function, its derivative, and where it is defined.
FUNCTIONS: dict[str, tuple[Any, Any, Any]] = {
    "sin": (lambda x: x.sin(), lambda x: x.cos(), None),
    "cos": (lambda x: x.cos(), lambda x: -x.sin(), None),
    "tan": (lambda x: x.tan(), _tangent_slope, lambda x: not x.cos().contains(0)),
    "exp": (lambda x: x.exp(), lambda x: x.exp(), lambda x: x < 200),
    "log": (lambda x: x.log(), lambda x: 1 / x, lambda x: x > 0),
    "tanh": (lambda x: x.tanh(), lambda x: 1 - x.tanh() ** 2, None),
    "sqrt": (lambda x: x.sqrt(), _root_slope, lambda x: x > 0),
}


def function(name: str, x: Dual) -> Dual:
    """A function of the C library, or the square root."""
    value, slope, defined = FUNCTIONS[name]
    if defined is not None and not defined(x.range):
        raise Unclear(f"takes {name} of a number for which it may not be defined")
    k = slope(x.range)
    return as_rounded(value(x.middle), value(x.range), tuple(k * p for p in x.slopes), LIBRARY)


def rounded_to_single(x: Any) -> Any:
    """A number as_rounded to 32 bits."""
    return as_rounded(x.middle, x.range, x.slopes, SINGLE, TINY_SINGLE)


# Comparisons, by their nodes in a program.

PLAIN: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: lambda x, y: x < y,
    ast.LtE: lambda x, y: x <= y,
    ast.Gt: lambda x, y: x > y,
    ast.GtE: lambda x, y: x >= y,
    ast.Eq: lambda x, y: x == y,
    ast.NotEq: lambda x, y: x != y,
}
#: Whether the first number is not above the second where a comparison holds.
RISES: dict[type, bool] = {ast.Lt: True, ast.LtE: True, ast.Gt: False, ast.GtE: False}
#: For two balls: whether a comparison certainly holds, and whether it certainly does not.
CERTAIN: dict[type, Callable[[Any, Any], tuple[bool, bool]]] = {
    ast.Lt: lambda x, y: (x < y, x >= y),
    ast.LtE: lambda x, y: (x <= y, x > y),
    ast.Gt: lambda x, y: (x > y, x <= y),
    ast.GtE: lambda x, y: (x >= y, x < y),
    ast.Eq: lambda x, y: (False, not x.overlaps(y)),
    ast.NotEq: lambda x, y: (not x.overlaps(y), False),
}
