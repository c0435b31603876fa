"""The comparison with the neighbours: a page in Markdown, a table for programs, a picture of the puck's maps."""

from __future__ import annotations

from pathlib import Path

from distinguo.tasks.catalog import task_spec
from distinguo.views.gallery import draw_gallery
from distinguo.views.pictures import representation_picture
from distinguo.views.plots import save_figure
from distinguo.writing.atomic import write_atomically
from distinguo_lab.neighbours.maps import maps_of
from distinguo_lab.neighbours.page import as_csv, summary_rows, tables
from distinguo_lab.neighbours.study import Neighbours

PAGE, TABLE, PICTURE = "neighbours.md", "neighbours.csv", "neighbours.png"
PICTURED = "puck"  #: the task whose maps are drawn


def write_neighbours(found: Neighbours) -> tuple[Path, Path]:
    """Write the page, the table and the picture into the folder of the comparison; return the first and the last."""
    page, picture = found.folder / PAGE, found.folder / PICTURE
    write_atomically(found.folder / TABLE, as_csv(summary_rows(found)))
    draw_maps(picture, found.seed)
    words = "\n".join(
        [
            "# Neighbours",
            "",
            f"Seeds from {found.seed} on; sizes, steps and seconds are medians, steps those of successful runs.",
            "",
            f"![The maps of the puck, side by side]({PICTURE})",
            "",
            tables(summary_rows(found)),
        ]
    )
    write_atomically(page, words)
    return page, picture


def draw_maps(path: Path, seed: int) -> None:
    """Draw the puck's maps of all systems that make one."""
    spec = task_spec(PICTURED)
    pictures = [
        representation_picture(
            made.representation, spec, f"{made.system.name}: {made.representation.regions}", made.controller
        )
        for made in maps_of(PICTURED, seed)
    ]
    save_figure(draw_gallery(pictures), path)
