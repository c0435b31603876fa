"""Seeds in words: numbers and ranges of numbers."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence

from distinguo.errors import DistinguoError

MOST_SEEDS = 100_000  #: in one command
MOST_NAMED = 10  #: seeds that a warning names


def seeds(text: str, source: str = "--seeds") -> list[int]:
    """Read seeds and inclusive ranges of seeds, in the given order; a warning names repeated ones.

    >>> seeds("1,2,5-9")
    [1, 2, 5, 6, 7, 8, 9]
    """
    given: list[int] = []
    for piece in text.split(","):
        given += _seed_range(piece, text, MOST_SEEDS - len(given), source)
    numbers = list(dict.fromkeys(given))
    if len(numbers) < len(given):
        twice = [number for number, count in Counter(given).items() if count > 1]
        some = (
            seed_words(twice) if len(twice) <= MOST_NAMED else f"{seed_words(twice[:MOST_NAMED])} and others"
        )
        warnings.warn(f"{source} gives {some} more than once; each is taken once.", stacklevel=2)
    return numbers


def _seed_range(piece: str, text: str, most: int, source: str) -> range:
    match = re.fullmatch(r"([0-9]{1,19})(?:-([0-9]{1,19}))?", piece.strip())
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if not 0 <= last - first < most:
        raise DistinguoError(
            f"{source} takes numbers and ranges such as 1,2,5-9 or 1-100, the lower number first and at most "
            f"{MOST_SEEDS:,} seeds in all, got '{text[:50]}'."
        )
    return range(first, last + 1)


def seed_words(numbers: Sequence[int]) -> str:
    """Write seeds as :func:`seeds` reads them, in short.

    >>> seed_words([1, 2, 5, 6, 7, 4])
    '1-2,5-7,4'
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
