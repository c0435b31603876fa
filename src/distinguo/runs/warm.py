"""Have the kernels compiled, or loaded from the cache, before anything is timed."""

from __future__ import annotations

from distinguo.learners.economy.trials import settle
from distinguo.runs.configuration import Configuration
from distinguo.runs.stage import Generation
from distinguo.seam import is_compiled
from distinguo.settings import StageSettings


def warm(configuration: Configuration) -> None:
    """Run a stage of one step with the same types, and throw it away; plain Python needs no such thing."""
    if not is_compiled(configuration.spec.task):
        return
    short = configuration._replace(stage=StageSettings(cap=1, hold=1, trials=1, confirm=1))
    generation = Generation(short)
    for _ in generation.work():
        pass
    settle(generation.task, generation.memory, short.learner, generation.log)
