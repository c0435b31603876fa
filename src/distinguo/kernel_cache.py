"""Compiled kernels on disk: never stale, never torn, shared by all processes.

Numba does not see edits in a callee from another file. So versions are kept under a hash of the sources that they
may come from: the modules of the package with code for kernels, the modules whose constants these import, and the
files of a user or of another package that add something. An edit anywhere else recompiles nothing.
"""

from __future__ import annotations

import functools
import hashlib
import multiprocessing
import os
import re
import sys
import tempfile
import threading
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
_foreign: set[Path] = set()  #: sources outside the package that compiled code may come from
_foreign_classes: set[type] = set()  #: classes with an implementation there

#: A module with code for kernels, and the constants that a module takes from another one.
_COMPILED = re.compile(
    r"^@(?:\w+\.)?(?:kernel|part|guarded|generic|implements|intrinsic|overload|task|partition|learner)",
    re.MULTILINE,
)
_HOW = ("seam", "linking", "kernel_cache")  #: modules that decide how kernels are compiled
_IMPORTS = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n(]*)", re.MULTILINE)
_CONSTANT = re.compile(r"\b[A-Z][A-Z0-9_]+\b")


def watch_source(source: str, kind: type | None = None) -> None:
    """Make the key depend on a source outside the package, and note the class that it implements something for."""
    path = Path(source)
    if path.is_relative_to(_PACKAGE) or not path.is_file():
        return
    _foreign.add(path)
    if kind is not None:
        _foreign_classes.add(kind)


def module_of(source: Path) -> str:
    """Return the module name of a user's file that is run by its path.

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


class CompilingNotice:
    """One line on standard error, once per process, if compiling takes long.

    The command line turns it off, because it has live lines of its own.
    """

    SECONDS = 1.0  #: of compiling before the line appears

    def __init__(self) -> None:
        self.wanted = multiprocessing.parent_process() is None
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        """Start the clock; the line appears if compiling has not ended in time."""
        if self.wanted and self._timer is None:
            self._timer = threading.Timer(self.SECONDS, self._say)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """Stop the clock."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _say(self) -> None:
        self.wanted = False
        sys.stderr.write("distinguo: compiling for this machine; this takes some seconds, once …\n")


notice = CompilingNotice()


class KernelCache:
    """The compiled versions of one kernel on disk, each in a folder of its own.

    The folder's name is a hash of all sources that the version comes from. Versions that depend on the package
    alone are shared by all processes; a version for a foreign class depends on foreign sources, too. No two
    versions share a folder, so processes that compile at the same time never write to the same index.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.is_foreign = not Path(function.__code__.co_filename).is_relative_to(_PACKAGE)
        self.cache_path = str(_cache_base())

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return a version that was compiled before, if there is one."""
        found = self._of(signature).load_overload(signature, target)
        if found is None:
            notice.begin()
        return found

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a version for the next process."""
        notice.end()
        self._of(signature).save_overload(signature, compiled)

    def _of(self, signature: Any) -> Any:
        arguments, _ = sigutils.normalize_signature(signature)
        classes = list(_classes_in(arguments))
        foreign = self.is_foreign or any(_is_foreign(c) for c in classes)
        key = _source_key(frozenset(_foreign_sources()) if foreign else frozenset())
        names = [
            f"{c.__module__}.{c.__qualname__}" for c in classes
        ]  # the index of a cache finds classes by name
        version = hashlib.sha256("\0".join([str(arguments), *names]).encode()).hexdigest()[:16]
        return _cache_in(self.function, str(_cache_base() / key / version))


def _classes_in(types: Any) -> Iterator[type]:
    """Yield the ``NamedTuple`` classes among the types of arguments, including nested ones."""
    for one in types:
        if hasattr(one, "instance_class"):
            yield one.instance_class
        if hasattr(one, "dtype"):
            yield from _classes_in([one.dtype])
        yield from _classes_in(getattr(one, "types", ()))


def _is_foreign(kind: type) -> bool:
    return kind in _foreign_classes or kind.__module__.partition(".")[0] != _PACKAGE.name


def _foreign_sources() -> Iterator[Path]:
    """Yield foreign sources: single files and whole packages, imported or not."""
    for path in _foreign:
        root = path
        while (root.parent / "__init__.py").is_file():
            root = root.parent
        yield from [path] if root == path else _sources_of_kernels(root)


@functools.cache
def _sources_of_kernels(package: Path) -> list[Path]:
    """Return the modules of a package that compiled code may come from, in order."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    found = {path for path, text in texts.items() if _COMPILED.search(text) or path.stem in _HOW}
    constants = {
        module for path in found for module, names in _IMPORTS.findall(texts[path]) if _CONSTANT.search(names)
    }
    return [path for path in texts if path in found or _module_name(package, path) in constants]


def _module_name(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def _source_key(foreign: frozenset[Path]) -> str:
    """Hash how code is compiled, and the sources that it may come from: an edit can never run stale code."""
    digest = hashlib.sha256(f"{numba.__version__} {config.OPT}".encode())
    for path in [*_sources_of_kernels(_PACKAGE), *sorted(foreign)]:
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
    """Return the line of Numba's long message that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines()]
    marks = [n for n, line in enumerate(lines) if line.startswith("Rejected as the implementation raised")]
    after = lines[marks[0] + 1 :] if marks else lines
    said = [line for line in after if line and "Failed in nopython mode pipeline" not in line]
    return (said or ["Numba gives no reason"])[0].rstrip(".")
