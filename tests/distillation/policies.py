"""Policies that the tests name on the command line."""

from __future__ import annotations

from typing import Any


def swing(seen: Any) -> int:
    """Drive the car where it goes already."""
    return 2 if seen[1] > 0 else 0


def push(seen: Any) -> list[float]:
    """Push the car where it goes already, a little harder to the right."""
    return [1.0 if seen[1] > 0 else -0.9]
