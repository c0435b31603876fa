"""The learners that ship, known by name as soon as this module is imported."""

from __future__ import annotations

from distinguo.learners.distilled.learner import DISTILLED
from distinguo.learners.economy.learner import ECONOMY
from distinguo.learners.kdtree.learner import KD_TREE
from distinguo.learners.model.learner import MODEL
from distinguo.learners.partigame.learner import PARTI_GAME
from distinguo.learners.probation.learner import PROBATION
from distinguo.learners.scheduling.learner import SCHEDULED
from distinguo.learners.surprise.learner import SURPRISE
from distinguo.learners.sweeping.learner import SWEEPING
from distinguo.learners.table.learner import TABLE

__all__ = [
    "DISTILLED",
    "ECONOMY",
    "KD_TREE",
    "MODEL",
    "PARTI_GAME",
    "PROBATION",
    "SCHEDULED",
    "SURPRISE",
    "SWEEPING",
    "TABLE",
]
