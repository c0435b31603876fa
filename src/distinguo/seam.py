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
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import boxing as _boxing  # noqa: F401 - registers what is replaced below
from numba.core import cgutils as _cgutils
from numba.core import config as _config
from numba.core import pythonapi as _pythonapi
from numba.core import types
from numba.extending import overload, register_jitable
from platformdirs import user_cache_dir

from distinguo.linking import PART_OPTIONS

config: Any = _config
cgutils: Any = _cgutils
pythonapi: Any = _pythonapi
F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parent
_kernels: list[Any] = []
_foreign: set[tuple[Path, str]] = set()  # sources outside the package, and the modules of their classes
_interpreted: set[type] = set()

#: No fastmath and no contraction: the same bits on every x86-64 machine (docs/readings.md, "Arithmetic").
#: ``error_model="numpy"`` drops the zero check of each division, which would keep loops from vectorising.
_COMMON: Any = {"nogil": True, "error_model": "numpy"}
_OPTIONS: Any = {**_COMMON, **PART_OPTIONS}
#: Kernels allocate nothing: arrays come from Python. So Numba's reference counting, which made the learner 14
#: times slower and its compilation 3 times longer, can be off; the parts that a kernel calls inherit this.
_KERNEL_OPTIONS: Any = {**_COMMON, "_nrt": False}


def _borrow_generators() -> None:
    """Let kernels borrow a ``Generator`` from their caller instead of owning it.

    Numba takes a reference to every generator that it is given and leaves it to its reference counting to drop it;
    kernels have none, so each call would keep a generator alive for ever. Code with reference counting is left alone.
    """
    kind = types.NumPyRandomGeneratorType
    own = pythonapi._unboxers.functions[kind]
    bits = types.NumPyRandomBitGeneratorType("bit_generator")

    def borrow(typ: Any, obj: Any, c: Any) -> Any:
        if c.context.enable_nrt:
            return own(typ, obj, c)
        generator = cgutils.create_struct_proxy(typ)(c.context, c.builder)
        bit_generator = c.pyapi.object_getattr_string(obj, "bit_generator")
        unboxed = c.unbox(bits, bit_generator)
        generator.bit_generator, generator.parent = unboxed.value, obj
        generator.meminfo = cgutils.get_null_value(generator.meminfo.type)
        c.pyapi.decref(bit_generator)
        return pythonapi.NativeValue(generator._getvalue(), is_error=unboxed.is_error)

    pythonapi._unboxers.functions[kind] = borrow


_borrow_generators()


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
    _kernels.append(compiled)
    _enable_caching(compiled, _cache_folder())
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
        _name_by_file(kind)

        def pick(first: Any, *rest: Any) -> F | None:
            return implementation if getattr(first, "instance_class", None) is kind else None

        overload(function, jit_options=_OPTIONS, strict=False)(pick)
        _watch(Path(implementation.__code__.co_filename), kind.__module__)
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


def module_of(source: Path) -> str:
    """Return the name of the module that a user's file is when it is run by its path.

    >>> module_of(Path("tasks/my cart.py"))
    'distinguo_user_my_cart'
    """
    return "distinguo_user_" + re.sub(r"\W", "_", source.stem)


def _name_by_file(kind: type) -> None:
    """Name a class of the main script by its file.

    Numba's cache would store a class of ``__main__`` by value, which the next process could not recognise.
    """
    main = sys.modules.get(kind.__module__)
    source = getattr(main, "__file__", None)
    if main is not None and source is not None and kind.__module__ in ("__main__", "__mp_main__"):
        kind.__module__ = module_of(Path(source))
        sys.modules[kind.__module__] = main


def _watch(source: Path, module: str = "") -> None:
    """Numba does not see edits in a callee of another file: let a foreign source change the key.

    The name of its module does so, too: the index of a cache names the classes it was made for, and cannot be read
    where these are known by other names.
    """
    if source.is_relative_to(_PACKAGE) or not source.is_file() or (source, module) in _foreign:
        return
    _foreign.add((source, module))
    _source_key.cache_clear()
    for compiled in _kernels:
        _enable_caching(compiled, _cache_folder())


@functools.cache
def _source_key() -> str:
    """Hash all sources that compiled code may come from: an edit can never run stale code."""
    digest = hashlib.sha256(numba.__version__.encode())
    sources = [(path, "") for path in sorted(_PACKAGE.rglob("*.py"))]
    for path, module in [*sources, *sorted(_foreign)]:
        digest.update(f"{path.name}\0{module}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> str:
    base = config.CACHE_DIR or user_cache_dir("distinguo", appauthor=False)
    return str(Path(base) / _source_key())


def _enable_caching(compiled: Any, folder: str) -> None:
    """Cache this kernel in our folder, leaving the user's own Numba configuration alone."""
    if not _writable(folder):  # Numba would cache beside the sources instead, without our key
        return
    before = config.CACHE_DIR
    config.CACHE_DIR = folder
    try:
        compiled.enable_caching()
    except (RuntimeError, OSError):  # the source of the kernel is not a file
        pass
    finally:
        config.CACHE_DIR = before


def _writable(folder: str) -> bool:
    try:
        os.makedirs(folder, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
