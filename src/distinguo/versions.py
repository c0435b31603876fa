"""The software that a result comes from: another version may round differently or draw other random numbers."""

from __future__ import annotations

import functools
import platform
from collections.abc import Mapping
from importlib import metadata

PACKAGES = ("distinguo", "numpy", "numba", "gymnasium")


@functools.cache
def _versions() -> tuple[tuple[str, str], ...]:
    return (("python", platform.python_version()), *((name, metadata.version(name)) for name in PACKAGES))


def software() -> dict[str, str]:
    """Return the versions of what decides a result.

    >>> list(software())
    ['python', 'distinguo', 'numpy', 'numba', 'gymnasium']
    """
    return dict(_versions())


def changed(before: Mapping[str, str]) -> str:
    """The versions that changed; empty if none did, or if none were recorded.

    >>> changed({**software(), "numpy": "0.1"})
    'numpy ... (was 0.1)'
    """
    now = software()
    return ", ".join(
        f"{name} {now[name]} (was {before[name]})"
        for name in now
        if name in before and before[name] != now[name]
    )
