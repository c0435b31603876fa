"""Code that a user names on the command line: ``path/to/file.py:name``.

Only words of the command line are read here. No file that is opened may ever name code to import.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from distinguo.errors import DistinguoError, did_you_mean


def names_code(text: str) -> bool:
    """Tell whether a word names something in a Python file.

    >>> names_code("tasks/cart.py:Cart"), names_code("CartPole-v1"), names_code("module:Env-v0")
    (True, False, False)
    """
    path, colon, name = text.rpartition(":")
    return bool(colon and name) and path.endswith(".py")


def code_or_word(text: str) -> Any:
    """Return what a word names if it names something in a Python file, else the word itself.

    >>> code_or_word("diagonal")
    'diagonal'
    """
    return load_named(text) if names_code(text) else text


def load_named(text: str) -> Any:
    """Run the file of ``path/to/file.py:name`` and return what it calls by that name."""
    path, _, name = text.rpartition(":")
    module = _module(Path(path))
    if not hasattr(module, name):
        known = [word for word in vars(module) if not word.startswith("_")]
        raise DistinguoError(f"{path} has no '{name}'; {did_you_mean(name, known)}")
    return getattr(module, name)


def _module(path: Path) -> ModuleType:
    """Import a file under a name made of its stem; a second time it is the same module.

    The name has no dot: Numba's cache looks classes up by importing their module by name.
    """
    if not path.is_file():
        raise DistinguoError(f"There is no file {path}; give the path of a Python file before the colon.")
    from distinguo.kernel_cache import module_of

    place = path.resolve()
    key = module_of(place)
    while (known := sys.modules.get(key)) is not None:
        if known.__file__ == str(place):
            return known
        key += "_"  # another file of that name
    spec = importlib.util.spec_from_file_location(key, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module  # before it runs: what it defines may look its module up
    try:
        spec.loader.exec_module(module)
    except DistinguoError:
        del sys.modules[key]
        raise
    except Exception as error:
        del sys.modules[key]
        reason = " ".join(str(error).split())
        raise DistinguoError(f"{path} cannot be imported: {type(error).__name__}: {reason}.") from error
    return module
