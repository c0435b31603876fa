"""A run as a fragment of HTML, for notebooks."""

from __future__ import annotations

import base64
from html import escape

from distinguo.errors import DistinguoError
from distinguo.runs.run import Run
from distinguo.views.show import show

DPI = 150
LEFT = 'style="text-align:left"'


def run_html(run: Run) -> str:
    """Return the map of a run's regions beside its figures, with nothing to be loaded from elsewhere."""
    rows = "".join(
        f"<tr><th {LEFT}>{escape(name)}</th><td {LEFT}>{escape(text)}</td></tr>"
        for name, text in _figures(run)
    )
    style = "display:flex;flex-wrap:wrap;gap:1.5em;align-items:center"
    return f'<div style="{style}"><table>{rows}</table>{_map(run)}</div>'


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
        *([] if run.path is None else [("folder", str(run.path))]),
    ]


def _map(run: Run) -> str:
    """Return the partition as an image within the page, or why there is none."""
    from distinguo.views.plots import rendered

    try:
        image = rendered(show(run), dpi=DPI)
    except DistinguoError as error:
        return f"<p>{escape(str(error))}</p>"
    code = base64.b64encode(image).decode()
    return f'<img alt="the regions of the run" src="data:image/png;base64,{code}">'
