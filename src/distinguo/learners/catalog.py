"""The learners that come with the package, registered by being imported."""

from __future__ import annotations

from distinguo.learners.economy.learner import Economy
from distinguo.learners.learner import register

ECONOMY = Economy.name

register(Economy())
