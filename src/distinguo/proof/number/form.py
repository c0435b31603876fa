"""Sets of numbers on which a program runs unchanged: affine forms with an interval, for many cells at once.

A :class:`Form` holds one number for each cell, known only up to a set. In the cell's own coordinates ``e``, each
between -1 and 1, the number is

    x = centre + gradient . e + rest,    |rest| <= radius,        and        low <= x <= high

The affine part keeps track of how numbers depend on each other, so that ``x - x`` is nearly 0. The interval is what
the same operations give at the ends: ``+``, ``-``, ``*``, ``/`` and ``sqrt`` round monotonically, so the rounded
results at the ends enclose every rounded result between them. Both are about the *floating-point* program: ``radius``
covers its rounding and our own.

A comparison that is true for some numbers of a set and false for others forks the run (:mod:`.paths`).

>>> import numpy as np
>>> x = Form.of_cells(np.array([[1.0, 5.0]]), np.array([[0.5]]))[0]   # two cells: 0.5 to 1.5, and 4.5 to 5.5
>>> [bool((x - x).high.max() < 1e-12), (x * x).low.round(3).tolist(), (x * x).high.round(3).tolist()]
[True, [0.25, 20.25], [2.25, 30.25]]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from distinguo.proof.number.paths import Undecided, limit, lose

#: Every operation adds this share of its magnitudes to the radius. One rounding is 2**-53 of them; an operation here
#: and in the program together has fewer than 20 of these.
ROUNDING = 2.0**-48
TINY = 1e-300  #: covers the rounding of numbers that have no relative error
ULPS = 2.0**-50  #: how far, relatively, a function of the C library may be off: eight units of the last place
SINGLE, SINGLE_TINY = 2.0**-23, 2.0**-148  #: how far a number rounded to 32 bits may be off, doubled
MOST_PERIODS = 2.0**50  #: more of them than are counted in a number
#: Larger numbers are refused: within this bound no product overflows.
LARGEST = 1e100

Ends = tuple[np.ndarray, np.ndarray]


class Unreadable(Exception):  # noqa: N818 - it says what, not that it failed
    """What a program does that cannot be followed over sets of numbers."""


class Form:
    """One number for each cell, known up to a set."""

    __slots__ = ("centre", "gradient", "high", "low", "radius", "reach")
    __array_ufunc__ = None  # numpy's numbers leave the operation to us

    def __init__(
        self, centre: np.ndarray, gradient: np.ndarray, radius: np.ndarray, ends: Ends | None = None
    ) -> None:
        self.centre, self.gradient, self.radius = centre, gradient, radius
        self.reach = _reach(gradient, radius)  #: how far the affine part reaches from its centre
        wide = self.reach * (1.0 + ROUNDING) + ROUNDING * np.abs(centre) + TINY
        self.low, self.high = centre - wide, centre + wide
        if ends is not None:
            self.low, self.high = np.maximum(self.low, ends[0]), np.minimum(self.high, ends[1])

    @property
    def size(self) -> np.ndarray:
        """The greatest magnitude of the affine part."""
        return np.abs(self.centre) + self.reach

    @classmethod
    def of_cells(cls, centres: np.ndarray, edges: np.ndarray) -> tuple[Form, ...]:
        """The coordinates of cells from their centres (coordinates, cells) and half edges (coordinates, axes)."""
        count = centres.shape[1]
        spread = edges if edges.ndim == 3 else np.broadcast_to(edges[:, :, None], (*edges.shape, count))
        nothing = np.zeros(count)
        return tuple(cls(c.copy(), g.copy(), nothing) for c, g in zip(centres, spread, strict=True))

    @classmethod
    def between(cls, low: np.ndarray, high: np.ndarray, directions: int) -> Form:
        """Numbers about which nothing is known but their ends."""
        middle = 0.5 * (low + high)
        radius = np.maximum(high - middle, middle - low) * (1.0 + ROUNDING)
        return cls(middle, np.zeros((directions, len(low))), radius, (low, high))

    def like(self, value: Any) -> Form:
        """A plain number as a form; a form is returned as it is."""
        if isinstance(value, Form):
            return value
        if not isinstance(value, int | float | np.integer | np.floating):
            raise Unreadable(f"computes with {value!r}, which is not a number")
        number = np.full(len(self.centre), float(value))
        return Form(number, np.zeros_like(self.gradient), np.zeros(len(number)), (number, number))

    def at(self, rows: np.ndarray) -> Form:
        """The numbers of some of the cells, in order."""
        form = object.__new__(Form)
        whole = len(rows) == len(self.centre)  # rows are in order: nothing to copy
        for name in ("centre", "radius", "reach", "low", "high"):
            numbers = getattr(self, name)
            setattr(form, name, numbers if whole else numbers[rows])
        form.gradient = self.gradient if whole else self.gradient.take(rows, axis=1)
        return form

    @staticmethod
    def joined(forms: list[Form]) -> Form:
        """The numbers of several groups of cells, one group after the other."""
        form = object.__new__(Form)
        for name in ("centre", "radius", "reach", "low", "high"):
            setattr(form, name, np.concatenate([getattr(one, name) for one in forms]))
        form.gradient = np.concatenate([one.gradient for one in forms], axis=1)
        return form

    # ---- arithmetic ------------------------------------------------------------------------------------------------

    def __neg__(self) -> Form:
        return Form(-self.centre, -self.gradient, self.radius, (-self.high, -self.low))

    def __pos__(self) -> Form:
        return self

    def __add__(self, other: Any) -> Form:
        if isinstance(other, float | int):
            rest = self.radius + ROUNDING * (self.size + abs(other))
            return Form(self.centre + other, self.gradient, rest, (self.low + other, self.high + other))
        other = self.like(other)
        rest = self.radius + other.radius + ROUNDING * (self.size + other.size)
        ends = self.low + other.low, self.high + other.high
        return Form(self.centre + other.centre, self.gradient + other.gradient, rest, ends)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Form:
        if isinstance(other, float | int):
            return self + -other
        other = self.like(other)
        rest = self.radius + other.radius + ROUNDING * (self.size + other.size)
        ends = self.low - other.high, self.high - other.low
        return Form(self.centre - other.centre, self.gradient - other.gradient, rest, ends)

    def __rsub__(self, other: Any) -> Form:
        return self.like(other) - self

    def __mul__(self, other: Any) -> Form:
        if other is self:
            return _square(self)
        if isinstance(other, float | int):
            rest = abs(other) * self.radius + ROUNDING * abs(other) * self.size + TINY
            ends = (
                (self.low * other, self.high * other) if other >= 0 else (self.high * other, self.low * other)
            )
            return Form(self.centre * other, self.gradient * other, rest, ends)
        other = self.like(other)
        corners = [p * q for p in (self.low, self.high) for q in (other.low, other.high)]
        gradient = self.centre * other.gradient + other.centre * self.gradient
        rest = np.abs(self.centre) * other.radius + np.abs(other.centre) * self.radius
        rest = rest + self.reach * other.reach + ROUNDING * self.size * other.size + TINY
        ends = _least_and_greatest(*corners)
        return Form(self.centre * other.centre, gradient, rest, ends)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Form:
        other = self.like(other)
        lose(~((other.low > 0) | (other.high < 0)), "divide by 0")
        with np.errstate(all="ignore"):
            corners = [p / q for p in (self.low, self.high) for q in (other.low, other.high)]
        quotient = self * _smooth(other, _INVERSE)
        ends = _least_and_greatest(*corners)
        return Form(quotient.centre, quotient.gradient, quotient.radius, ends)

    def __rtruediv__(self, other: Any) -> Form:
        return self.like(other) / self

    def __pow__(self, exponent: Any) -> Form:
        if isinstance(exponent, Form) and len(exponent.low) and (exponent.low == exponent.low[0]).all():
            exponent = float(exponent.low[0]) if (exponent.high == exponent.low[0]).all() else exponent
        if not isinstance(exponent, Form) and exponent == 0.5:
            return square_root(self)
        if not isinstance(exponent, int | float) or exponent != int(exponent) or not 0 <= exponent <= 16:
            raise Unreadable(
                f"raises to the power {exponent!r}; whole numbers from 0 to 16 and 0.5 can be followed"
            )
        power, result = int(exponent), self.like(1.0)
        for _ in range(power):
            result = self * result if result is not self else _square(self)
        wide = ULPS * (
            1 + power
        )  # the program may multiply in another order, or call a function of the C library
        return _off_by(result, wide)

    def __abs__(self) -> Form:
        return _folded(self)

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    def __float__(self) -> float:
        raise Unreadable("needs a plain number where a set of numbers is")

    __int__ = __index__ = __float__

    def __floordiv__(self, other: Any) -> Form:
        return _whole_periods(self, self.like(other))

    def __rfloordiv__(self, other: Any) -> Form:
        return self.like(other) // self

    def __mod__(self, other: Any) -> Form:
        return _remainder(self, self.like(other))

    def __rmod__(self, other: Any) -> Form:
        return self.like(other) % self

    # ---- comparisons -----------------------------------------------------------------------------------------------

    def __lt__(self, other: Any) -> Undecided:
        other = self.like(other)
        return Undecided(self.low < other.high, self.high < other.low, lambda yes: _order(self, other, yes))

    def __le__(self, other: Any) -> Undecided:
        other = self.like(other)
        return Undecided(self.low <= other.high, self.high <= other.low, lambda yes: _order(self, other, yes))

    def __gt__(self, other: Any) -> Undecided:
        return self.like(other) < self

    def __ge__(self, other: Any) -> Undecided:
        return self.like(other) <= self

    def __eq__(self, other: Any) -> Undecided:  # type: ignore[override]
        other = self.like(other)
        may = (self.low <= other.high) & (other.low <= self.high)
        must = (self.low == self.high) & (other.low == other.high) & (self.low == other.low)
        return Undecided(may, must)

    def __ne__(self, other: Any) -> Undecided:  # type: ignore[override]
        same = self == other
        return Undecided(~same.must, ~same.may)

    __hash__ = object.__hash__


def _order(less: Form, more: Form, yes: bool) -> None:
    """Narrow two numbers after a comparison: the first is not above the second, or not below it."""
    if not yes:
        less, more = more, less
    limit(less, more)
    less.high, more.low = np.minimum(less.high, more.high), np.maximum(more.low, less.low)


def _reach(gradient: np.ndarray, radius: np.ndarray) -> np.ndarray:
    total = radius
    for row in gradient:
        total = total + np.abs(row)
    return total


def _least_and_greatest(p: np.ndarray, q: np.ndarray, r: np.ndarray, s: np.ndarray) -> Ends:
    return np.minimum(np.minimum(p, q), np.minimum(r, s)), np.maximum(np.maximum(p, q), np.maximum(r, s))


def _folded(form: Form) -> Form:
    """The magnitude: it is convex, so it lies between its chord over the interval and a parallel to it."""
    low, high = form.low, form.high
    both = (low < 0.0) & (high > 0.0)
    width = np.where(both, high - low, 1.0)
    slope = np.where(both, (low + high) / width, np.where(high > 0.0, 1.0, -1.0))
    # the chord is above the magnitude by at most this, at zero
    gap = np.where(both, -2.0 * (low / width) * high * (1.0 + ROUNDING), 0.0)
    rest = np.abs(slope) * form.radius + 0.5 * gap + ROUNDING * (form.size + gap) + TINY
    near = np.where(both, 0.0, np.minimum(np.abs(low), np.abs(high)))
    ends = near, np.maximum(np.abs(low), np.abs(high))
    return Form(slope * form.centre + 0.5 * gap, slope * form.gradient, rest, ends)


def _lesser(x: Form, y: Form) -> Form:
    """The lesser of two numbers: half their sum less half their distance."""
    apart = _folded(x - y)
    found = (x + y - apart) * 0.5
    ends = np.minimum(x.low, y.low), np.minimum(x.high, y.high)
    return Form(found.centre, found.gradient, found.radius, ends)


def within_range(form: Form, low: float, high: float) -> Form:
    """A number within bounds, without a fork: where a bound is in the set, in a band around a chord.

    Where that band is wider than the numbers are apart, as with huge gains, only their ends are known.
    """
    found = _lesser(-_lesser(-form, form.like(-low)), form.like(high))
    plain = Form.between(found.low, found.high, len(form.gradient))
    loose = ~(found.reach <= plain.reach)
    return Form(
        np.where(loose, plain.centre, found.centre),
        np.where(loose, 0.0, found.gradient),
        np.where(loose, plain.radius, found.radius),
        (found.low, found.high),
    )


def _off_by(form: Form, share: float) -> Form:
    """The same numbers, each off by up to a share of itself."""
    off = share * np.maximum(np.abs(form.low), np.abs(form.high)) + TINY
    rest = form.radius + share * form.size + TINY
    return Form(form.centre, form.gradient, rest, (form.low - off, form.high + off))


def _square(form: Form) -> Form:
    """The square: never negative, and with half the remainder of a product."""
    half = 0.5 * form.reach * form.reach
    first, last = form.low * form.low, form.high * form.high
    lowest = np.where((form.low <= 0) & (form.high >= 0), 0.0, np.minimum(first, last))
    rest = 2.0 * np.abs(form.centre) * form.radius + half + ROUNDING * form.size * form.size + TINY
    ends = lowest, np.maximum(first, last)
    return Form(form.centre * form.centre + half, 2.0 * form.centre * form.gradient, rest, ends)


# ---- functions -----------------------------------------------------------------------------------------------------


class _Function:
    """A function with what a remainder of first order needs: its derivative, and a bound of the second one."""

    def __init__(
        self,
        value: Callable[[np.ndarray], np.ndarray],
        slope: Callable[[np.ndarray], np.ndarray],
        bend: Callable[[np.ndarray, np.ndarray], np.ndarray],
        ends: Callable[[np.ndarray, np.ndarray], Ends],
        outside: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self.value, self.slope, self.bend, self.ends = value, slope, bend, ends
        self.outside = outside  #: where it may not be defined


def _smooth(form: Form, function: _Function) -> Form:
    """A function of a form: its tangent in the middle of the interval, and Taylor's remainder."""
    low, high = form.low, form.high
    if function.outside is not None:
        lose(function.outside(low, high), "leave the domain of a function")
    middle = 0.5 * (low + high)
    half = np.maximum(high - middle, middle - low)
    value, slope = function.value(middle), function.slope(middle)
    bend = 0.5 * function.bend(low, high) * half * half * (1.0 + ROUNDING)
    away = form.centre - middle
    magnitudes = np.abs(value) + np.abs(slope) * (np.abs(middle) + form.size) + bend
    rest = np.abs(slope) * form.radius + bend + (ROUNDING + ULPS) * magnitudes + TINY
    first, last = function.ends(low, high)
    ends = first - ULPS * np.abs(first) - TINY, last + ULPS * np.abs(last) + TINY
    return Form(value + slope * away, slope * form.gradient, rest, ends)


def _sine_ends(low: np.ndarray, high: np.ndarray) -> Ends:
    """The least and the greatest sine between two angles; angles near a summit count as having passed it."""
    near = 1e-9 * (1.0 + np.abs(low) + np.abs(high))
    one, other = np.sin(low), np.sin(high)

    def passes(summit: float) -> np.ndarray:
        turns = np.ceil((low - near - summit) / (2 * math.pi))
        return np.asarray(summit + 2 * math.pi * turns <= high + near)

    lowest = np.where(passes(-math.pi / 2), -1.0, np.minimum(one, other))
    return lowest, np.where(passes(math.pi / 2), 1.0, np.maximum(one, other))


def _cosine_ends(low: np.ndarray, high: np.ndarray) -> Ends:
    first, last = _sine_ends(low + math.pi / 2, high + math.pi / 2)
    off = 1e-15 * (1.0 + np.abs(low) + np.abs(high))  # of the shift
    return np.maximum(first - off, -1.0), np.minimum(last + off, 1.0)


def _far(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.maximum(np.abs(low), np.abs(high))


_INVERSE = _Function(
    lambda x: 1.0 / x,
    lambda x: -1.0 / (x * x),
    lambda low, high: 2.0 / np.minimum(np.abs(low), np.abs(high)) ** 3,
    lambda low, high: (1.0 / high, 1.0 / low),
)
_SINE = _Function(np.sin, np.cos, lambda low, high: _far(*_sine_ends(low, high)), _sine_ends)
_COSINE = _Function(
    np.cos, lambda x: -np.sin(x), lambda low, high: _far(*_cosine_ends(low, high)), _cosine_ends
)
_EXPONENTIAL = _Function(
    np.exp,
    np.exp,
    lambda low, high: np.exp(high),
    lambda low, high: (np.exp(low), np.exp(high)),
    lambda low, high: high > 200.0,
)
_TANGENT = _Function(
    np.tan,
    lambda x: 1.0 / np.cos(x) ** 2,
    lambda low, high: 2.0 * np.abs(np.tan(_far(low, high))) / np.cos(_far(low, high)) ** 2,
    lambda low, high: (np.tan(low), np.tan(high)),
    lambda low, high: _far(low, high) > 1.57,
)
_LOGARITHM = _Function(
    np.log,
    lambda x: 1.0 / x,
    lambda low, high: 1.0 / (low * low),
    lambda low, high: (np.log(low), np.log(high)),
    lambda low, high: low <= 0.0,
)
_HYPERBOLIC_TANGENT = _Function(
    np.tanh,
    lambda x: 1.0 - np.tanh(x) ** 2,
    lambda low, high: np.full(len(low), 0.77),  # the greatest second derivative is 4 / (3 sqrt 3)
    lambda low, high: (np.tanh(low), np.tanh(high)),
)


def square_root(form: Form) -> Form:
    """The square root, by its chord: it is concave, so it lies between the chord and a parallel to it."""
    lose(form.low < 0.0, "take the root of a negative number")
    low, high = np.sqrt(form.low), np.sqrt(form.high)
    slope = 1.0 / np.maximum(low + high, TINY)
    gap = 0.25 * (high - low) * (high - low) * slope
    magnitudes = high + slope * form.size + gap
    rest = slope * form.radius + 0.5 * gap + ROUNDING * magnitudes + TINY
    return Form(low + slope * (form.centre - form.low) + 0.5 * gap, slope * form.gradient, rest, (low, high))


def _either(plain: Callable[[Any], Any], function: _Function) -> Callable[[Any], Any]:
    return lambda x: _smooth(x, function) if isinstance(x, Form) else plain(x)


# ---- periods -------------------------------------------------------------------------------------------------------


def _whole_periods(number: Form, period: Form) -> Form:
    """How many whole periods are in a number, rounded down, as ``//`` counts them.

    The run forks where a multiple of the period lies in a cell. Where two of them do, the count is an interval.
    """
    lose(~((period.low > 0.0) | (period.high < 0.0)), "divide by 0")
    if period < 0.0:
        number, period = -number, -period
    with np.errstate(all="ignore"):
        least = number.low / np.where(number.low < 0.0, period.low, period.high)
        most = number.high / np.where(number.high < 0.0, period.high, period.low)
    # a quotient may have been rounded to a whole number; one below 0 may even have been rounded to 0
    least = np.where(number.low < 0.0, np.minimum(least * (1.0 + ROUNDING), -TINY), least * (1.0 - ROUNDING))
    most = most * np.where(most < 0.0, 1.0 - ROUNDING, 1.0 + ROUNDING)
    lose(
        ~((np.maximum(-least, most) < MOST_PERIODS) & (period.high < LARGEST)), "divide by too small a number"
    )
    first, last = np.floor(least), np.floor(most)
    one = last - first == 1.0
    # asked even if no cell leaves it open: every run of a program asks the same questions in the same order
    border = _multiples(period, Form.between(last, last, len(number.gradient)))
    low, high = (np.where(one, end, number.high) for end in (border.low, border.high))
    border = Form.between(low, high, len(number.gradient))
    may, must = ~one | (number.low < border.high), ~one | (number.high < border.low)
    if Undecided(may, must, lambda yes: _order(number, border, yes)):
        last = np.where(one, first, last)
    else:
        first = last
    return Form.between(first, last, len(number.gradient))


def _multiples(period: Form, count: Form) -> Form:
    """The exact multiples of a period."""
    return _off_by(period * count, ROUNDING)


def _remainder(number: Form, period: Form) -> Form:
    """The remainder as Python's ``%`` gives it: with the sign of the period, and rounded at most once."""
    count = _whole_periods(number, period)
    left = number - _multiples(period, count)
    low, high = np.minimum(period.low, 0.0), np.maximum(period.high, 0.0)
    middle, several = 0.5 * (low + high), count.low < count.high  # where it may be any
    return Form(
        np.where(several, middle, left.centre),
        np.where(several, 0.0, left.gradient),
        np.where(several, (high - low) * (0.5 + ROUNDING), left.radius),
        (
            np.where(several, low, np.clip(left.low, low, high)),
            np.where(several, high, np.clip(left.high, low, high)),
        ),
    )


def signed_remainder(number: Any, period: Any) -> Any:
    """The remainder as ``math.fmod`` gives it: with the sign of the number, and exact."""
    if not isinstance(number, Form) and not isinstance(period, Form):
        return math.fmod(number, period)
    number = number if isinstance(number, Form) else period.like(number)
    period = abs(period)
    return -((-number) % period) if number < 0.0 else number % period


def with_sign(size: Any, sign: Any) -> Any:
    """The magnitude of one number with the sign of another; where that may be 0, both, as zeros have a sign."""
    if not isinstance(sign, Form):
        return abs(size) if math.copysign(1.0, sign) > 0.0 else -abs(size)
    nothing = sign.like(0.0)
    positive = Undecided(sign.high >= 0.0, sign.low > 0.0, lambda yes: _order(nothing, sign, yes))
    return abs(sign.like(size)) if positive else -abs(sign.like(size))


def least_of(*numbers: Any) -> Any:
    """The least of some numbers.

    Where it depends on the state which of a number and a bound it is, the run forks: a clamp is followed exactly.
    """
    numbers = numbers[0] if len(numbers) == 1 else numbers
    found = numbers[0]
    for number in numbers[1:]:
        if isinstance(number, Form) and isinstance(found, Form):
            found = _lesser(found, number)
        else:
            found = number if number < found else found
    return found


def greatest_of(*numbers: Any) -> Any:
    """The greatest of some numbers, likewise."""
    numbers = numbers[0] if len(numbers) == 1 else numbers
    return -least_of(tuple(-number for number in numbers))


def within_bounds(number: Any, low: Any, high: Any) -> Any:
    """A number within bounds."""
    return least_of(greatest_of(number, low), high)


def to_single(number: Any) -> Any:
    """A number rounded to 32 bits: off by half a unit of the last of its 24 digits."""
    if not isinstance(number, Form):
        return float(np.float32(number))
    rest = number.radius + SINGLE * number.size + SINGLE_TINY
    ends = (
        np.float64(np.float32(end)) for end in (number.low, number.high)
    )  # which rounds monotonically, too
    return Form(number.centre, number.gradient, rest, tuple(ends))  # type: ignore[arg-type]


#: The functions of ``math`` and ``numpy`` that can be followed, by name.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": _either(math.sin, _SINE),
    "cos": _either(math.cos, _COSINE),
    "tan": _either(math.tan, _TANGENT),
    "exp": _either(math.exp, _EXPONENTIAL),
    "log": _either(math.log, _LOGARITHM),
    "tanh": _either(math.tanh, _HYPERBOLIC_TANGENT),
    "sqrt": lambda x: square_root(x) if isinstance(x, Form) else math.sqrt(x),
    "floor": lambda x: _whole_periods(x, x.like(1.0)) if isinstance(x, Form) else math.floor(x),
    "ceil": lambda x: -_whole_periods(-x, x.like(1.0)) if isinstance(x, Form) else math.ceil(x),
    "fmod": signed_remainder,
    "mod": lambda x, y: x % y,
    "copysign": with_sign,
    "fabs": abs,
    "abs": abs,
    "absolute": abs,
    "minimum": least_of,
    "maximum": greatest_of,
    "min": least_of,
    "max": greatest_of,
    "clip": within_bounds,
    "float": lambda x: x if isinstance(x, Form) else float(x),
    "float64": lambda x: x if isinstance(x, Form) else float(x),
    "float32": to_single,
}
