"""Have the kernels compiled, or loaded from the cache, before anything is timed."""

from __future__ import annotations

from distinguo.lab.configuration import Configuration
from distinguo.lab.generation import Generation
from distinguo.learners.economy import settle
from distinguo.settings import StageSettings


def warm(configuration: Configuration) -> None:
    """Run a stage of one step with the same types, and throw it away."""
    short = configuration._replace(stage=StageSettings(cap=1, hold=1, trials=1))
    generation = Generation(short)
    for _ in generation.work():
        pass
    settle(short.world.task, generation.memory, short.learner, generation.log)
