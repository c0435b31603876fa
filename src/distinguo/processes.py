"""Other Python processes: none of them imports files of the current folder.

Python puts the current folder first on its path for ``-m`` and ``-c``, and so do the processes that multiprocessing
and dask start. A file there called ``base64.py`` would run in place of Python's own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SAFE = "PYTHONSAFEPATH"  #: what ``-P`` is called in the environment


def start_python(module: str, **options: Any) -> subprocess.Popen[str]:
    """Start a module of ours with the paths of this process, so that it finds the modules of a user."""
    return subprocess.Popen(  # noqa: S603 # this program
        [sys.executable, "-P", "-m", module],
        text=True,
        env=os.environ | {"PYTHONPATH": _handed_on(sys.path)},
        **options,
    )


def _handed_on(paths: list[str]) -> str:
    """The paths for another process: not the current folder, nor one that would be read as several.

    >>> _handed_on(["", "/a", "/b:/c", "/d"])
    '/a:/d'
    """
    return os.pathsep.join(path for path in paths if path and os.pathsep not in path)


@contextmanager
def safe_path() -> Iterator[None]:
    """Keep the current folder off the path of the Python processes that a library starts within the block."""
    before = os.environ.get(SAFE)
    os.environ[SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE]
        else:
            os.environ[SAFE] = before
