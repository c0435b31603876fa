"""The learners that ship, known by name as soon as this module is imported."""

from __future__ import annotations

from distinguo.learners.economy.learner import ECONOMY
from distinguo.learners.kdtree.learner import KD_TREE
from distinguo.learners.probation.learner import PROBATION
from distinguo.learners.sweeping.learner import SWEEPING

__all__ = ["ECONOMY", "KD_TREE", "PROBATION", "SWEEPING"]
