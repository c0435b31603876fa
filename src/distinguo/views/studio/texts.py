"""Documents as JSON text."""

from __future__ import annotations

import json
import math
from typing import Any

DIGITS = 6  #: that a number keeps on its way to the screen


def to_text(document: Any) -> str:
    """Return a document as JSON that every browser reads; what is no number becomes null.

    >>> to_text({"a": [1.23456789, float("inf")]})
    '{"a":[1.23457,null]}'
    """
    return json.dumps(_plain(document), separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, str | int | bool):
        return value
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)
