"""From a run to its picture on the disk."""

from __future__ import annotations

from pathlib import Path

from distinguo.errors import DistinguoError
from distinguo.runs.folder import PICTURE
from distinguo.runs.run import Run


def draw_run(run: Run) -> Path:
    """Draw the partition of a run into its folder and return where."""
    from distinguo.views.pictures import partition_picture
    from distinguo.views.plots import draw_partition, save

    if run.path is None:
        raise DistinguoError("This run has no folder to draw into; learn it with out=….")
    path = run.path / PICTURE
    save(draw_partition(partition_picture(run)), path)
    return path
