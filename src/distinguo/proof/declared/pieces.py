"""Sets of states that are followed for many steps: their shapes, and how these are cut, turned and merged.

The states of a piece are ``centre + columns @ e + rest`` with every coordinate of ``e`` between -1 and 1 and every
coordinate of ``rest`` within its bound. A step adds a remainder to ``rest``. It is turned into columns at once, along
axes that fit it: a box in fixed axes would grow in every direction that the states only turn or shear.

There are two columns for each dimension. The first half began as the edges of a box of starts; the others hold what
has been added since.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.proof.number.form import Form

ROUNDING = 2.0**-46  #: share of the magnitudes that a product of small matrices, and a sum, may be off by
#: A coordinate is replaced by its interval where that is this much shorter.
NARROWER = 0.7


class Pieces(NamedTuple):
    """Many sets of states, with the start piece that each came from and what it has gained at least."""

    centre: np.ndarray  #: (pieces, dimensions)
    columns: np.ndarray  #: (pieces, dimensions, 2 * dimensions)
    rest: np.ndarray  #: (pieces, dimensions)
    owner: np.ndarray  #: (pieces,)
    gained: np.ndarray  #: (pieces,) the return so far is at least this

    def at(self, rows: np.ndarray) -> Pieces:
        """Some of the pieces."""
        return Pieces(*(part[rows] for part in self))

    @staticmethod
    def joined(groups: list[Pieces]) -> Pieces:
        """Several groups as one."""
        return Pieces(*(np.concatenate(parts) for parts in zip(*groups, strict=True)))

    def forms(self) -> tuple[Form, ...]:
        """The states, a number for each coordinate."""
        columns = self.columns.transpose(1, 2, 0)
        return tuple(
            Form(self.centre[:, i], columns[i], self.rest[:, i]) for i in range(self.centre.shape[1])
        )

    @property
    def reach(self) -> np.ndarray:
        """How far each piece reaches from its centre in every coordinate."""
        return np.abs(self.columns).sum(axis=2) + self.rest


def boxes(low: np.ndarray, high: np.ndarray) -> Pieces:
    """Boxes, a row each, as pieces of their own."""
    n, d = low.shape
    centre = 0.5 * (low + high)
    half = np.maximum(high - centre, centre - low) * (1.0 + ROUNDING)
    columns = np.zeros((n, d, 2 * d))
    columns[:, np.arange(d), np.arange(d)] = half
    rest = ROUNDING * (np.abs(centre) + half)
    return Pieces(centre, columns, rest, np.arange(n), np.zeros(n))


def of_forms(state: tuple[Form, ...], kept: np.ndarray, owner: np.ndarray, gained: np.ndarray) -> Pieces:
    """The states that a step led to; a coordinate whose interval is much shorter becomes that interval."""
    centre = np.stack([form.centre[kept] for form in state], axis=1)
    columns = np.stack([form.gradient[:, kept].T for form in state], axis=1)
    rest = np.stack([form.radius[kept] for form in state], axis=1)
    low, high = (np.stack([getattr(form, end)[kept] for form in state], axis=1) for end in ("low", "high"))
    reach = np.abs(columns).sum(axis=2) + rest
    middle = 0.5 * (low + high)
    half = np.maximum(high - middle, middle - low) * (1.0 + ROUNDING)
    short = half < NARROWER * reach
    centre, rest = np.where(short, middle, centre), np.where(short, half, rest)
    columns = np.where(short[:, :, None], 0.0, columns)
    return Pieces(centre, columns, rest, owner, gained)


# ---- half spaces ---------------------------------------------------------------------------------------------------


class Window(NamedTuple):
    """The part of ``e`` that is left of some pieces."""

    low: np.ndarray  #: (pieces, columns)
    high: np.ndarray
    empty: np.ndarray  #: (pieces,) nothing is left

    @classmethod
    def whole(cls, count: int, columns: int) -> Window:
        """All of ``e``."""
        return cls(
            np.full((count, columns), -1.0), np.full((count, columns), 1.0), np.zeros(count, dtype=bool)
        )

    def within(self, centre: np.ndarray, slope: np.ndarray, radius: np.ndarray) -> Window:
        """What is left where ``centre + slope . e`` may be at most ``radius``."""
        first, last = slope * self.low, slope * self.high
        least = np.minimum(first, last)
        size = np.abs(centre) + np.abs(slope).sum(axis=1) + radius
        room = radius - centre - least.sum(axis=1) + ROUNDING * size
        with np.errstate(all="ignore"):
            far = np.where(slope == 0.0, np.inf, np.maximum(room, 0.0)[:, None] / np.abs(slope))
        far = far * (1.0 + ROUNDING) + ROUNDING
        high = np.where(slope > 0.0, np.minimum(self.high, self.low + far), self.high)
        low = np.where(slope < 0.0, np.maximum(self.low, self.high - far), self.low)
        return Window(low, high, self.empty | ~(room >= 0.0))

    def hull(self, other: Window) -> Window:
        """What is left in either."""
        low = np.where(self.empty[:, None], other.low, np.minimum(self.low, other.low))
        high = np.where(self.empty[:, None], other.high, np.maximum(self.high, other.high))
        low, high = (
            np.where(other.empty[:, None], mine, both) for mine, both in ((self.low, low), (self.high, high))
        )
        return Window(low, high, self.empty & other.empty)

    def at(self, rows: np.ndarray) -> Window:
        """The windows of some pieces."""
        return Window(*(part[rows] for part in self))


def looked_at(pieces: Pieces, window: Window) -> Pieces:
    """What is left of pieces; those of which nothing is left should have been dropped."""
    middle = 0.5 * (window.low + window.high)
    half = np.maximum(window.high - middle, middle - window.low)
    changed = np.asarray(((window.low > -1.0) | (window.high < 1.0)).any(axis=1))
    centre = pieces.centre + (pieces.columns @ middle[:, :, None])[:, :, 0]
    columns = pieces.columns * half[:, None, :]
    off = ROUNDING * (np.abs(pieces.centre) + np.abs(pieces.columns).sum(axis=2))
    return pieces._replace(
        centre=np.where(changed[:, None], centre, pieces.centre),
        columns=np.where(changed[:, None, None], columns, pieces.columns),
        rest=pieces.rest + np.where(changed[:, None], off, 0.0),
    )


# ---- axes ----------------------------------------------------------------------------------------------------------


def _in_axes(axes: np.ndarray, parts: np.ndarray, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns and a box around the origin in other axes: a box along these, as columns, and what rounding adds."""
    inverse = np.linalg.inv(axes)
    turned = inverse @ parts
    widths = np.abs(turned).sum(axis=2) + (np.abs(inverse) @ rest[:, :, None])[:, :, 0]
    lost = np.abs(parts - axes @ turned).sum(axis=2)
    eye = np.abs(np.eye(axes.shape[1]) - axes @ inverse)  # the box is turned by the same inverse
    lost = lost + (eye @ rest[:, :, None])[:, :, 0]
    sizes = np.abs(axes) @ (np.abs(inverse) @ (np.abs(parts).sum(axis=2) + rest)[:, :, None])
    widths = widths * (1.0 + ROUNDING)
    return axes * widths[:, None, :], lost + ROUNDING * sizes[:, :, 0]


def _axes_along(parts: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Axes at right angles in scaled coordinates, the first along the longest of some columns."""
    scaled = parts / scale[:, None]
    length = (scaled * scaled).sum(axis=1)
    order = np.argsort(-length, axis=1, kind="stable")[:, : parts.shape[1]]
    chosen = np.take_along_axis(scaled, order[:, None, :], axis=2)
    return np.asarray(np.linalg.qr(chosen)[0] * scale[:, None])


def absorbed(pieces: Pieces, scale: np.ndarray) -> Pieces:
    """Turn the rest into columns: the second half of them, along axes that fit these."""
    d = pieces.centre.shape[1]
    later = pieces.columns[:, :, d:]
    axes = _axes_along(np.concatenate([later, pieces.rest[:, :, None] * np.eye(d)], axis=2), scale)
    columns, lost = _in_axes(axes, later, pieces.rest)
    lost = lost + ROUNDING * np.abs(pieces.centre)
    return pieces._replace(columns=np.concatenate([pieces.columns[:, :, :d], columns], axis=2), rest=lost)


def renewed(pieces: Pieces, scale: np.ndarray) -> Pieces:
    """All columns and the rest as a box along axes that fit the longest: the first half of the columns."""
    axes = _axes_along(pieces.columns, scale)
    columns, lost = _in_axes(axes, pieces.columns, pieces.rest)
    return pieces._replace(columns=np.concatenate([columns, np.zeros_like(columns)], axis=2), rest=lost)


def halves(pieces: Pieces, column: np.ndarray) -> Pieces:
    """Both halves of every piece, cut across one of its columns."""
    n, _, m = pieces.columns.shape
    sides = []
    for low, high in ((-1.0, 0.0), (0.0, 1.0)):
        window = Window.whole(n, m)
        window.low[np.arange(n), column], window.high[np.arange(n), column] = low, high
        sides.append(looked_at(pieces, window))
    return Pieces.joined(sides)
