"""One source, two speeds: the seam between compiled and interpreted code.

A *kernel* is a function that Numba compiles for the types it meets; a *part* is a plain function that
kernels may call. A *generic* has one implementation per class of its first argument (a ``NamedTuple``), found
by ``functools.singledispatch`` in Python and by type in compiled code. So the same source runs compiled on
our own tasks and interpreted (``kernel.py_func``) on anything else.

>>> from typing import NamedTuple
>>> class Square(NamedTuple):
...     side: float
>>> @generic
... def area(shape):
...     '''The area of a shape.'''
>>> @implements(area, Square)
... def _(shape):
...     return shape.side * shape.side
>>> @kernel
... def twice(shape):
...     return 2 * area(shape)
>>> twice(Square(3.0)), twice.py_func(Square(3.0))
(18.0, 18.0)
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import caching as _caching
from numba.core import config as _config
from numba.core import sigutils as _sigutils
from numba.extending import overload, register_jitable
from platformdirs import user_cache_dir

config: Any = _config
caching: Any = _caching
sigutils: Any = _sigutils
F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parent
_foreign: set[Path] = set()  #: sources outside of the package that compiled code may come from
_foreign_classes: set[type] = set()  #: classes with an implementation there
_interpreted: set[type] = set()

#: No fastmath and no contraction: the same bits on every x86-64 machine (docs/readings.md, "Arithmetic").
#: ``error_model="numpy"`` drops the zero check of each division, which would keep loops from vectorising.
_OPTIONS: Any = {"nogil": True, "error_model": "numpy"}
#: Kernels allocate nothing: arrays come from Python. So Numba's reference counting, which made the learner 14
#: times slower and its compilation 3 times longer, can be off; the parts that a kernel calls inherit this.
_KERNEL_OPTIONS: Any = {**_OPTIONS, "_nrt": False}


def part(function: F) -> F:
    """Mark a plain Python function as callable from kernels; it stays a plain function."""
    _watch(Path(function.__code__.co_filename))
    return register_jitable(**_OPTIONS)(function)


def kernel(function: F) -> Any:
    """Compile a function on first use, cached on disk under a key made from the package's sources."""
    if config.DISABLE_JIT:
        function.__dict__["py_func"] = function
        return function
    compiled = numba.njit(**_KERNEL_OPTIONS)(function)
    compiled._cache = _KernelCache(function)
    return compiled


def generic(function: F) -> F:
    """Make a function that is implemented once per class of its first argument."""

    @functools.wraps(function)
    def missing(first: Any, *rest: Any) -> Any:
        raise TypeError(f"{function.__name__} is not implemented for {type(first).__name__}.")

    return functools.singledispatch(missing)  # type: ignore[return-value]


def generic_with_default(function: F) -> F:
    """Make a function that classes may implement; for all others it does what its own body says."""
    dispatcher: Any = functools.singledispatch(function)
    _watch(Path(function.__code__.co_filename))

    def pick(first: Any, *rest: Any) -> F | None:
        return None if getattr(first, "instance_class", None) in dispatcher.registry else function

    overload(dispatcher, jit_options=_OPTIONS, strict=False)(pick)
    return dispatcher


def implements(function: Any, kind: type) -> Callable[[F], F]:
    """Register the implementation of a generic for one ``NamedTuple`` class, in both speeds."""

    def register(implementation: F) -> F:
        function.register(kind, implementation)

        def pick(first: Any, *rest: Any) -> F | None:
            return implementation if getattr(first, "instance_class", None) is kind else None

        overload(function, jit_options=_OPTIONS, strict=False)(pick)
        if _watch(Path(implementation.__code__.co_filename)):
            _foreign_classes.add(kind)
        return implementation

    return register


def implements_interpreted(function: Any, kind: type) -> Callable[[F], F]:
    """Register an implementation that only runs as plain Python, such as one that calls foreign code."""

    def register(implementation: F) -> F:
        function.register(kind, implementation)
        _interpreted.add(kind)
        return implementation

    return register


def at_speed(compiled: Any, *things: Any) -> Any:
    """Return a kernel as it is, or its plain source if one of the things it will be given cannot be compiled."""
    return compiled if is_compiled(*things) else compiled.py_func


def is_compiled(*things: Any) -> bool:
    """Tell whether kernels run compiled on these things."""
    return not any(type(thing) in _interpreted for thing in things)


def has_own(function: Any, thing: Any) -> bool:
    """Tell whether the class of a thing implements a generic with a default itself."""
    return type(thing) in function.registry


def _watch(source: Path) -> bool:
    """Numba does not see edits in a callee of another file: let a foreign source change the key of its cache."""
    if source.is_relative_to(_PACKAGE) or not source.is_file():
        return False
    _foreign.add(source)
    return True


class _KernelCache:
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
        foreign = self.is_foreign or any(_is_foreign(c) for c in _classes_in(arguments))
        key = _source_key(frozenset(_foreign) if foreign else frozenset())
        version = hashlib.sha256(str(arguments).encode()).hexdigest()[:16]
        return _cache_in(self.function, str(_cache_base() / key / version))


def _classes_in(types: Any) -> Iterator[type]:
    """Yield the ``NamedTuple`` classes among the types of arguments, those within others included."""
    for one in types:
        if hasattr(one, "instance_class"):
            yield one.instance_class
        yield from _classes_in(getattr(one, "types", ()))


def _is_foreign(kind: type) -> bool:
    return kind in _foreign_classes or kind.__module__.partition(".")[0] != __package__


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
