"""Code of a user's file: imported by its path, and brought to processes that do not have it.

Only words of the command line and arguments of functions name files. No file that is opened may ever name code.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from distinguo.errors import DistinguoError
from distinguo.kernel_cache import module_of
from distinguo.reading.files import read_bytes

LARGEST_CODE = 2**26  #: bytes of a file of code


def imported(path: Path) -> ModuleType:
    """Import a file as a module named after its stem; importing it again gives the same module.

    The name has no dot: Numba's cache looks classes up by importing their module by name.
    """
    if not path.is_file():
        raise DistinguoError(f"There is no file {path}; give the path of a Python file before the colon.")
    place = path.resolve()
    key = module_of(place)
    while (known := sys.modules.get(key)) is not None:
        if known.__file__ == str(place):
            return known
        key += "_"  # another file has that name
    spec = importlib.util.spec_from_file_location(key, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module  # before it runs: its definitions may look their module up
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


class Code(NamedTuple):
    """A user's file as it travels to another process: its name, the digest of its bytes, and the source."""

    name: str
    digest: str
    source: str


_HERE: set[str] = set()  #: digests of the files that this process has imported


def code_behind(*kinds: Any) -> tuple[Code, ...]:
    """Return the files that define these classes, where a user named the file.

    Files that such a file imports do not travel: another machine must have them.
    """
    names = dict.fromkeys(str(getattr(kind, "__module__", "")) for kind in kinds)
    files = [
        Path(str(sys.modules[name].__file__))
        for name in names
        if name.startswith(module_of(Path())) and name in sys.modules
    ]
    return tuple(_code_in(path) for path in files)


def _code_in(path: Path) -> Code:
    data = read_bytes(path, LARGEST_CODE)
    code = Code(path.name, hashlib.sha256(data).hexdigest(), data.decode())
    _HERE.add(code.digest)
    return code


def bring(code: Code) -> None:
    """Import a file that came with a job, once in a process."""
    if code.digest in _HERE:
        return
    if hashlib.sha256(code.source.encode()).hexdigest() != code.digest:
        raise DistinguoError(f"{code.name} was changed on its way to this process; run the command again.")
    folder = Path(tempfile.mkdtemp(prefix="distinguo-code-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / Path(code.name).name
    path.write_text(code.source, encoding="utf-8")
    imported(path)
    _HERE.add(code.digest)
