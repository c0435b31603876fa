"""A run as a fragment of HTML, for notebooks."""

from __future__ import annotations

import base64
from html import escape

from distinguo.errors import DistinguoError, visible
from distinguo.explanations.subject import Asked
from distinguo.runs.run import Run
from distinguo.tasks.spec import CATEGORIES
from distinguo.views.show import show
from distinguo.views.words import presentable

DPI = 150
LEFT = 'style="text-align:left"'


def run_html(run: Run) -> str:
    """Return the map of a run's regions beside its figures, as HTML that loads nothing."""
    rows = "".join(
        f"<tr><th {LEFT}>{escape(name)}</th><td {LEFT}>{escape(visible(text))}</td></tr>"
        for name, text in _figures(presentable(run))
    )
    style = "display:flex;flex-wrap:wrap;gap:1.5em;align-items:center"
    return f'<div style="{style}"><table>{rows}</table>{_map(run)}</div>'


def _figures(run: Run) -> list[tuple[str, str]]:
    """Return the facts of a run, each with its name."""
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


# Which pictures a report has of a run, and what is said under each.


LARGE = 300  #: prototypes; a larger map is shown only once
#: The views in a report on one run, each with its caption.
VIEWS = {
    "partition": "The regions. The number in each area is its region, the colour what is done there.",
    "critical": "A greedy trial over the critical states: where one wrong action is the end.",
    "phase": "Where the greedy policy leads: arrows for single steps, lines for trials.",
    "values": "What the states are worth.",
    "trials": "How it was learned: length of trials, regions and prototypes.",
    "family": "Which region came from which, when and why.",
    "dial": "How many regions are left if values this close count as one.",
    "fidelity": "Where the map does what its teacher does, and which actions it takes instead.",
}
WRITTEN_DIAL = (
    "The mean return of the best map of every size: which of its distinctions are worth their price."
)


def views_of(asked: Asked, alone: bool) -> dict[str, str]:
    """Return the views worth showing for a run, each with its caption; in a comparison only the first."""
    wanted = dict(VIEWS) if alone else {name: VIEWS[name] for name in ("partition", "trials")}
    for view in _pointless(asked):
        wanted.pop(view, None)
    if "dial" in wanted and _has(asked.run, "dial.csv"):
        wanted["dial"] = WRITTEN_DIAL
    return wanted


def _pointless(asked: Asked) -> list[str]:
    """Return the views that would show nothing of this run."""
    views = [] if asked.spec.controllable else ["critical"]
    if not asked.grows_by_splits:
        views.append("family")
    if asked.values_name_actions:  # no values: there is no dial unless condense wrote one
        views += ["values"] if _has(asked.run, "dial.csv") else ["values", "dial"]
    views += ["trials"] if asked.run.is_distilled else ["fidelity"]
    if asked.spec.kind == CATEGORIES:
        views.append("phase")
    if asked.run.representation.prototypes > LARGE:
        views += ["critical", "phase", "values", "family"]
    return views


def _has(run: Run, name: str) -> bool:
    return run.path is not None and (run.path / name).is_file()
