"""Compiled kernels on disk: never stale, never torn, shared by all processes.

Numba does not see edits in a callee that lives in another file; so versions are kept under a hash of all sources that
they may come from: those of the package and, for the classes of a user, those of the user's files.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import caching as _caching
from numba.core import config as _config
from numba.core import sigutils as _sigutils
from platformdirs import user_cache_dir

caching: Any = _caching
config: Any = _config
sigutils: Any = _sigutils

_PACKAGE = Path(__file__).parent
_foreign: set[Path] = set()  #: sources outside of the package that compiled code may come from
_foreign_classes: set[type] = set()  #: classes with an implementation there


def watch_source(source: str, kind: type | None = None) -> None:
    """Let a source outside of the package, with the class that it implements something for, change the key."""
    path = Path(source)
    if path.is_relative_to(_PACKAGE) or not path.is_file():
        return
    _foreign.add(path)
    if kind is not None:
        _foreign_classes.add(kind)


def module_of(source: Path) -> str:
    """Return the name of the module that a user's file is when it is run by its path.

    >>> module_of(Path("tasks/my cart.py"))
    'distinguo_user_my_cart'
    """
    return "distinguo_user_" + re.sub(r"\W", "_", source.stem)


def name_by_file(kind: type) -> None:
    """Name a class of the main script by its file.

    Numba's cache would store a class of ``__main__`` by value, which the next process could not recognise.
    """
    main = sys.modules.get(kind.__module__)
    source = getattr(main, "__file__", None)
    if main is not None and source is not None and kind.__module__ in ("__main__", "__mp_main__"):
        kind.__module__ = module_of(Path(source))
        sys.modules[kind.__module__] = main


class KernelCache:
    """The compiled versions of one kernel on disk, each in a folder of its own.

    The folder's name is a hash of all sources that the version comes from. What the package's sources alone decide
    is shared by all processes; a version for a class of somebody else depends on foreign sources, too. As no two
    versions share a folder, processes that compile at the same time never write to the same index.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.is_foreign = not Path(function.__code__.co_filename).is_relative_to(_PACKAGE)
        self.cache_path = str(_cache_base())

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return a version that was compiled before, if there is one."""
        return self._of(signature).load_overload(signature, target)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a version for the next process."""
        self._of(signature).save_overload(signature, compiled)

    def _of(self, signature: Any) -> Any:
        arguments, _ = sigutils.normalize_signature(signature)
        classes = list(_classes_in(arguments))
        foreign = self.is_foreign or any(_is_foreign(c) for c in classes)
        key = _source_key(frozenset(_foreign) if foreign else frozenset())
        names = [
            f"{c.__module__}.{c.__qualname__}" for c in classes
        ]  # the index of a cache finds classes by name
        version = hashlib.sha256("\0".join([str(arguments), *names]).encode()).hexdigest()[:16]
        return _cache_in(self.function, str(_cache_base() / key / version))


def _classes_in(types: Any) -> Iterator[type]:
    """Yield the ``NamedTuple`` classes among the types of arguments, those within others included."""
    for one in types:
        if hasattr(one, "instance_class"):
            yield one.instance_class
        yield from _classes_in(getattr(one, "types", ()))


def _is_foreign(kind: type) -> bool:
    return kind in _foreign_classes or kind.__module__.partition(".")[0] != "distinguo"


@functools.cache
def _source_key(foreign: frozenset[Path]) -> str:
    """Hash all sources that compiled code may come from: an edit can never run stale code."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in [*sorted(_PACKAGE.rglob("*.py")), *sorted(foreign)]:
        digest.update(str(path.name).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_base() -> Path:
    return Path(config.CACHE_DIR or user_cache_dir("distinguo", appauthor=False))


def _cache_in(function: Callable[..., Any], folder: str) -> Any:
    """Return Numba's cache in our folder, leaving the user's own Numba configuration alone."""
    if not _writable(folder):  # Numba would cache beside the sources instead, without our key
        return caching.NullCache()
    before = config.CACHE_DIR
    config.CACHE_DIR = folder
    try:
        return caching.FunctionCache(function)
    except (RuntimeError, OSError):  # the source of the kernel is not a file
        return caching.NullCache()
    finally:
        config.CACHE_DIR = before


def _writable(folder: str) -> bool:
    try:
        os.makedirs(folder, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def numba_reason(error: Exception) -> str:
    """Return the line of a long message that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines()]
    marks = [n for n, line in enumerate(lines) if line.startswith("Rejected as the implementation raised")]
    after = lines[marks[0] + 1 :] if marks else lines
    said = [line for line in after if line and "Failed in nopython mode pipeline" not in line]
    return (said or ["Numba gives no reason"])[0].rstrip(".")
