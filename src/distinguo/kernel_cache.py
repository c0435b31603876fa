"""Compiled kernels on disk: never stale, never torn, shared by all processes.

Numba does not see edits in a callee from another file. So versions are kept under a hash of the sources that they
may come from: the modules of the package with code for kernels, the modules whose constants these import, and the
files of a user or of another package that add something. An edit anywhere else recompiles nothing.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
from numba.core import caching as _caching
from numba.core import config as _config
from numba.core import sigutils as _sigutils
from numba.misc import appdirs as _appdirs

from distinguo.progress import notice as notice

appdirs: Any = _appdirs
caching: Any = _caching
config: Any = _config
sigutils: Any = _sigutils

_PACKAGE = Path(__file__).parent
#: Sources outside the package that compiled code may come from, single files and whole packages, with their hash when
#: they were imported.
_foreign: dict[Path, str] = {}
_foreign_classes: set[type] = set()  #: classes with an implementation there
_sourceless: set[type] = set()  #: classes with an implementation in no file, such as those of a notebook
_first_of_name: dict[str, type] = {}  #: the first class in this process that has a name
_first_of_shape: dict[tuple[str, tuple[str, ...]], type] = {}  #: and that has a name and these fields

#: A module with code for kernels, and the constants that a module takes from another one.
_COMPILED = re.compile(
    r"\n@(?:\w+\.)?(?:kernel|part|guarded|generic|implements|intrinsic|overload|lower|task|partition|learner)"
)
_PART = re.compile(r"\bpart\(")
#: Modules that decide how kernels are compiled, or whose tuples kernels read.
_HOW = ("seam", "linking", "kernel_cache", "references", "settings")
_IMPORTS = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n(]*)", re.MULTILINE)
_CONSTANT = re.compile(r"\b[A-Z][A-Z0-9_]+\b")


def watch_source(source: str, kind: type | None = None) -> None:
    """Make the key depend on a source outside the package, and note the class that it implements something for.

    It is hashed here, as it is imported: an edit while the process runs must not give old code a new key.
    """
    path = Path(source)
    if kind is not None and not path.is_file():
        _sourceless.add(kind)
    if path.is_relative_to(_PACKAGE) or not path.is_file():
        return
    origin = _origin_of(path)
    if origin == path or origin not in _foreign:
        files = [path] if origin == path else sorted(origin.rglob("*.py"))
        _foreign[origin] = _hash_of(files)
    if kind is not None:
        _foreign_classes.add(kind)


def _origin_of(path: Path) -> Path:
    """The package that a file belongs to, or the file itself."""
    root = path
    while (root.parent / "__init__.py").is_file():
        root = root.parent
    return root


def _hash_of(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


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


def name_apart(kind: type) -> None:
    """Give a class a name of its own if another one has the same name and fields, such as a cell that was run again.

    Numba tells tuples by the name of their class and the types of their fields, and would run the old code.
    """
    name, fields = kind.__name__, getattr(kind, "_fields", ())
    number = 1
    while _first_of_shape.setdefault((kind.__name__, fields), kind) is not kind:
        number += 1
        kind.__name__ = f"{name}_{number}"


class KernelCache:
    """The compiled versions of one kernel on disk, each in a folder of its own.

    The folder's name is a hash of all sources that the version comes from. Versions that depend on the package
    alone are shared by all processes; a version for a foreign class depends on foreign sources, too. No two
    versions share a folder, so processes that compile at the same time never write to the same index.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        path = Path(function.__code__.co_filename)
        self.is_foreign = not path.is_relative_to(_PACKAGE)
        self.is_loose = self.is_foreign and _origin_of(path) == path
        package_key()
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
        if not all(map(_can_be_kept, classes)):
            return caching.NullCache()
        foreign = self.is_foreign or any(_is_foreign(c) for c in classes)
        loose = self.is_loose or any(_is_loose(c) for c in classes)
        key = _key(foreign, loose)
        # the index of a cache finds classes by name, and types do not tell the fields of a tuple
        names = [
            f"{c.__module__}.{c.__qualname__} {_file_of(c)} {getattr(c, '_fields', ())}" for c in classes
        ]
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


def _can_be_kept(kind: type) -> bool:
    """Whether the next process would know this very class by its name, and its code by a file."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    return kind not in _sourceless and _first_of_name.setdefault(name, kind) is kind


def _is_foreign(kind: type) -> bool:
    return kind in _foreign_classes or kind.__module__.partition(".")[0] != _PACKAGE.name


def _is_loose(kind: type) -> bool:
    """Whether a class may depend on single files of a user, which can import each other."""
    if not _is_foreign(kind):
        return False
    path = _file_of(kind)
    return path is None or path.is_relative_to(_PACKAGE) or _origin_of(path) == path


def _file_of(kind: type) -> Path | None:
    source = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return None if source is None else Path(source)


def _key(foreign: bool, loose: bool) -> str:
    """Hash how code is compiled, and the sources that it may come from."""
    digest = hashlib.sha256(package_key().encode())
    digest.update(f"{numba.__version__} {llvmlite.__version__} {config.OPT} {config.BOUNDSCHECK}".encode())
    for origin in sorted(_foreign) if foreign else ():
        if loose or origin.is_dir():
            digest.update(_foreign[origin].encode())
    return digest.hexdigest()[:16]


@functools.cache
def package_key() -> str:
    """The hash of our own sources that compiled code may come from, taken when the first kernel is defined."""
    return _hash_of(sources_of_kernels(_PACKAGE))


def sources_of_kernels(package: Path) -> list[Path]:
    """The modules of a package that compiled code may come from, in order."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    found = {path for path, text in texts.items() if _has_kernels(text) or path.stem in _HOW}
    constants = {
        module for path in found for module, names in _IMPORTS.findall(texts[path]) if _CONSTANT.search(names)
    }
    return [path for path in texts if path in found or _module_name(package, path) in constants]


def _has_kernels(text: str) -> bool:
    """Whether a module marks functions for kernels; each process asks this of all modules, so quickly."""
    return bool(_COMPILED.search("\n" + text) or ("part(" in text and _PART.search(text)))


def _module_name(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _cache_base() -> Path:
    return Path(config.CACHE_DIR or appdirs.user_cache_dir("distinguo", appauthor=False))


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
