"""The names of the learners and their modules: packages beside this module, or installed ones.

A package is imported when its learner is used. A new learner of ours is one new package, named as the learner, with
a module ``learner`` that registers it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from distinguo.registry import LEARNERS, added, load_added

ECONOMY, MODEL, PROBATION, SURPRISE, SWEEPING = "economy", "model", "probation", "surprise", "sweeping"
EVOLUTION = "evolution"
TEACHER = "teacher"  #: trains a network and distils it: its run is made by ``teach``, not trial by trial
DISTILLED = "distilled"  #: the learner of a run that ``distil`` made; no run is learned with it


@functools.cache
def _rooms() -> Mapping[str, str]:
    """Return the modules of our own learners by the names of the learners."""
    rooms = sorted(path.parent.name for path in Path(__file__).parent.glob("*/learner.py"))
    return {room: f"{__package__}.{room}.learner" for room in rooms}


def learner_names() -> list[str]:
    """Return the learners that a run can be learned with, our own first; none of them is imported.

    >>> learner_names()[:2]
    ['economy', 'evolution']
    """
    return list(dict.fromkeys([*_rooms(), *added(LEARNERS)]))


def import_learner(name: str) -> None:
    """Import the package that registers a learner; an unknown name does nothing."""
    if name in _rooms():
        import_module(_rooms()[name])
    elif name == DISTILLED:
        import_module(f"{__package__}.{DISTILLED}")
    elif name in added(LEARNERS):
        load_added(LEARNERS, name)
