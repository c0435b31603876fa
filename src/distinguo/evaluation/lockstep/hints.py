"""Two words to the compiler about the loops over lanes; interpreted code does not hear them.

The compiler keeps to half of AVX-512 by itself, out of care for old processors that slowed down under it, and it does
not inline a function that is handed many arrays. Neither changes a result: lanes are independent, and only whole
numbers are summed across them.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic, overload


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
