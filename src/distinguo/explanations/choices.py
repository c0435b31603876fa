"""Which actions count as best, and how values are written: one answer behind every sentence, table and file.

Values come from three sources: *then* (what the learner knew when it split or merged), *learned* (the values that
the map acts on), and *now* (a look-ahead made for the question). The first two are taken as they are, because the
learner acted on them to the last bit. A look-ahead is rounded to :data:`DECIMALS` (:func:`without_noise`), so that
noise of the arithmetic does not count as a difference. A table writes as many digits as it takes to see which values
are equal, so that a sentence and the table below it cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from distinguo.criteria import preferred

THEN, LEARNED, NOW = "then", "learned", "now"
DECIMALS = 9  #: of a look-ahead that count
NOTHING = 10.0**-DECIMALS  #: less reward is written as 0


def without_noise(values: Iterable[float]) -> tuple[float, ...]:
    """The values of a look-ahead without the noise of its arithmetic.

    >>> without_noise([0.1 + 0.2, 0.3, -1e-17])
    (0.3, 0.3, 0.0)
    """
    return tuple(round(float(value), DECIMALS) + 0.0 for value in values)


def tied_best(values: Sequence[float] | np.ndarray, tolerance: float = 0.0) -> tuple[int, ...]:
    """The actions whose value is within the tolerance of the greatest: one, or several that are tied.

    >>> tied_best([-0.8, -0.8]), tied_best([-0.8, -0.7]), tied_best([-0.8, -0.7], 0.2)
    ((0, 1), (1,), (0, 1))
    """
    return tuple(np.flatnonzero(preferred(np.asarray(values, dtype=float), tolerance)).tolist())


def amount(number: float) -> str:
    """A number with the digits worth reading.

    >>> amount(0.8712), amount(-104.37), amount(-1.1e-54)
    ('0.871', '-104.4', '0')
    """
    if abs(number) < NOTHING:
        return "0"
    return f"{number:.1f}" if abs(number) >= 100 else f"{number:.3g}"


def written_amounts(*numbers: float) -> tuple[str, ...]:
    """Numbers to be compared by a reader: written with as many digits as it takes to see which are equal.

    >>> written_amounts(0.1, 0.1004), written_amounts(-104.37, -104.41), written_amounts(0.0, -1.1e-54)
    (('0.1', '0.1004'), ('-104.37', '-104.41'), ('0', '-1.1e-54'))
    """
    written = [amount(number) for number in numbers]
    for digits in range(4, 18):
        alike = [
            any(text == other and a != b for other, b in zip(written, numbers, strict=True))
            for text, a in zip(written, numbers, strict=True)
        ]
        if not any(alike):
            break
        for n, clash in enumerate(alike):
            if clash:
                written[n] = f"{numbers[n] + 0.0:.{digits}g}"
    return tuple(written)


class ProfileRow(NamedTuple):
    """One row of the table below the sentences: what each action is worth, and which are best."""

    source: str  #: "then", "learned" or "now"
    of: str  #: the region or prototype
    values: tuple[float, ...]
    written: tuple[str, ...]
    best: tuple[int, ...]

    def document(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "source": self.source,
            "of": self.of,
            "values": list(self.values),
            "written": list(self.written),
            "best": list(self.best),
        }


def profile_row(source: str, of: str, values: Sequence[float], tolerance: float = 0.0) -> ProfileRow:
    """The row of a profile; actions within the tolerance of the best are tied with it.

    >>> profile_row("now", "region 2", (-0.807, -0.807)).best
    (0, 1)
    """
    row = tuple(values)
    return ProfileRow(source, of, row, written_amounts(*row), tied_best(row, tolerance))
