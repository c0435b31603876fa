"""The learners that ship, known by name as soon as this module is imported."""

from __future__ import annotations

from distinguo.learners.economy.learner import ECONOMY
from distinguo.learners.partigame.learner import PARTI_GAME
from distinguo.learners.probation.learner import PROBATION
from distinguo.learners.sweeping.learner import SWEEPING

__all__ = ["ECONOMY", "PARTI_GAME", "PROBATION", "SWEEPING"]
