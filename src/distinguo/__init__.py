"""distinguo learns which differences between states matter.

>>> import distinguo
>>> run = distinguo.learn("puck", seed=1)
>>> run.solved
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distinguo.errors import DistinguoError
    from distinguo.lab.folder import Run, open_run
    from distinguo.lab.learn import learn
    from distinguo.representation.file import Representation, load
    from distinguo.representation.partition import region

from distinguo.tasks.registration import register_with_gymnasium

__version__ = "0.1.0"

register_with_gymnasium()

#: Where each public name lives. Names are imported on first use, so that the command line starts at once.
_HOMES = {
    "DistinguoError": "distinguo.errors",
    "Run": "distinguo.lab.folder",
    "open_run": "distinguo.lab.folder",
    "learn": "distinguo.lab.learn",
    "Representation": "distinguo.representation.file",
    "load": "distinguo.representation.file",
    "region": "distinguo.representation.partition",
}

__all__ = ["DistinguoError", "Representation", "Run", "learn", "load", "open_run", "region"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'distinguo' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
