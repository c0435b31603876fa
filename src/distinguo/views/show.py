"""From a run to its picture: on the screen, on the disk, in a notebook."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from distinguo.errors import DistinguoError
from distinguo.runs.files import slug
from distinguo.runs.folder import Run, open_run
from distinguo.views.catalog import ViewFunction, view_named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTITION = "partition"
HTML_DPI = 72


def show(
    run: Run | str | Path, view: str | ViewFunction = PARTITION, path: str | Path | None = None
) -> Figure:
    """Draw a run, or the run in a folder, and return the figure; with a path it is written there, too.

    ``view`` is the name of one, such as ``partition``, ``values`` or ``trials``, or a function from a run to a
    picture; the suffix of the path is ``.png``, ``.svg`` or ``.pdf``.

    >>> import distinguo
    >>> figure = show(distinguo.learn("puck", seed=1), view="values")
    >>> figure.axes[0].get_xlabel()
    'x'
    """
    from distinguo.views.plots import draw, save_figure

    opened = run if isinstance(run, Run) else open_run(run)
    picture = (view_named(view) if isinstance(view, str) else view)(opened)
    figure = draw(picture)
    if path is not None:
        save_figure(figure, Path(path))
    return figure


def draw_run(run: Run, view: str | ViewFunction = PARTITION, path: Path | None = None) -> Path:
    """Draw a run into a file, by default into its folder, and return where."""
    if path is None and run.path is None:
        raise DistinguoError("This run has no folder to draw into; learn it with out=….")
    name = slug(view if isinstance(view, str) else view.__name__)
    place = path or Path(run.path or ".") / f"{name}.png"
    show(run, view, place)
    return place


def run_html(run: Run) -> str:
    """Return a run as a piece of HTML for notebooks: the map of its regions beside its figures."""
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in _figures(run)
    )
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:center">'
        f"<table>{rows}</table>{_map(run)}</div>"
    )


def _figures(run: Run) -> list[tuple[str, str]]:
    """Return what is known of a run, in words."""
    configuration, result = run.configuration, run.summary
    names = ("score", "trials", "environment_steps", "investigation_steps", "seconds")
    return [
        ("task", f"{configuration.spec.name}, seed {configuration.seed}"),
        ("solved", "yes" if run.solved else "no"),
        ("regions", f"{run.representation.regions:,}"),
        ("prototypes", f"{run.representation.prototypes:,}"),
        *((name.replace("_", " "), f"{result[name]:,}") for name in names if name in result),
        ("folder", "none: it is in memory only" if run.path is None else str(run.path)),
    ]


def _map(run: Run) -> str:
    """Return the partition as an image within the page, or why there is none."""
    from distinguo.views.plots import rendered

    try:
        image = rendered(show(run), dpi=HTML_DPI)
    except DistinguoError as error:
        return f"<p>{escape(str(error))}</p>"
    code = base64.b64encode(image).decode()
    return f'<img alt="the regions of the run" src="data:image/png;base64,{code}">'
