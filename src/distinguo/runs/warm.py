"""Have the kernels compiled, or loaded from the cache, before anything is timed."""

from __future__ import annotations

from distinguo.runs.configuration import Configuration
from distinguo.runs.stage import Stage
from distinguo.seam import is_compiled
from distinguo.settings import StageSettings


def warm(configuration: Configuration) -> None:
    """Run a stage of one step with the same types, and throw it away; plain Python needs no such thing."""
    if not is_compiled(configuration.spec.task):
        return
    stage = Stage(configuration._replace(stage=StageSettings(cap=1, hold=1, trials=1, confirm=1)))
    for _ in stage.work():
        pass
    stage.settle()
