"""The report of a reproduction: one self-contained HTML page, and a table in Markdown."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.paper.claims import BEST_FOUR, Claim
from distinguo.paper.reproduce import Reproduction
from distinguo.representations.file import load
from distinguo.runs.files import write_atomically
from distinguo.tasks.puck.analysis import (
    DIAGONAL_SLOPE,
    DOOMED,
    MUST_PUSH_LEFT,
    MUST_PUSH_RIGHT,
    PuckMap,
)
from distinguo.views.curves import curves_figure
from distinguo.views.pictures import partition_picture, representation_picture
from distinguo.views.plots import draw, rendered, save_figure

POOR = ("vrdp", "controllability")


class Shown(NamedTuple):
    """A figure of the report."""

    number: str  #: of the paper's figure
    caption: str
    figure: Figure


def write_report(reproduction: Reproduction, out: Path) -> Path:
    """Write ``report.html``, ``claims.md`` and the pictures; return where the report is."""
    shown = figures(reproduction, out)
    for item in shown:
        save_figure(item.figure, out / f"figure-{item.number}.png")
    template = Environment(loader=PackageLoader("distinguo.views"), autoescape=True).get_template(
        "report.html"
    )
    page = template.render(
        effort=reproduction.scope.words,
        claims=reproduction.claims,
        held=sum(claim.holds for claim in reproduction.claims),
        figures=[(item.number, item.caption, _embedded(item.figure)) for item in shown],
    )
    write_atomically(out / "report.html", page)
    write_atomically(out / "claims.md", markdown(reproduction.claims))
    return out / "report.html"


def markdown(claims: list[Claim]) -> str:
    """Return the claims as a table.

    >>> print(markdown([Claim("a", "one", "1", "1.0", True)]))
    | claim | paper | ours | holds |
    |---|---|---|---|
    | one | 1 | 1.0 | yes |
    <BLANKLINE>
    """
    rows = [f"| {c.claim} | {c.paper} | {c.ours} | {'yes' if c.holds else 'no'} |" for c in claims]
    return "\n".join(["| claim | paper | ours | holds |", "|---|---|---|---|", *rows, ""])


def figures(reproduction: Reproduction, out: Path) -> list[Shown]:
    """Draw Figures 8 to 16."""
    curves = reproduction.curves
    shown = [
        Shown("08", "Controllable states.", draw_map(reproduction.puck_map, critical=False)),
        Shown(
            "09",
            "Critical states, separated by the diagonal.",
            draw_map(reproduction.puck_map, critical=True),
        ),
        Shown("10", "Learned from scratch.", draw(partition_picture(reproduction.scratch))),
        Shown("11", "Learned from two seed points.", draw(partition_picture(reproduction.seeded))),
    ]
    for number, name in (("12", "vrdp"), ("13", "vrdp-enhanced"), ("14", "controllability")):
        folder = out / "controls" if name.startswith("vrdp") else out / "test" / "representations"
        representation = load(folder / f"{name}.json")
        title = f"{name}: {representation.regions} regions"
        picture = representation_picture(representation, reproduction.spec, title)
        shown.append(Shown(number, f"Control representation {name}.", draw(picture)))
    shown.append(Shown("15", "Averaged curves of the poorest.", curves_figure([curves[n] for n in POOR])))
    shown.append(
        Shown("16", "Averaged curves of the four best.", curves_figure([curves[n] for n in BEST_FOUR]))
    )
    return shown


def _embedded(figure: Figure) -> str:
    return base64.b64encode(rendered(figure)).decode()


_COLOURS = {"doomed": "#f4f4f4", "controllable": "#9ecae1", "left": "#08519c", "right": "#d94801"}


def draw_map(puck_map: PuckMap, critical: bool) -> Figure:
    """Draw the analysis of the puck: the controllable band, or the critical states with the diagonal between them."""
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    axes = figure.add_subplot()
    extent = (puck_map.x[0], puck_map.x[-1], puck_map.v[0], puck_map.v[-1])
    names = ["doomed", "left", "right"] if critical else ["doomed", "controllable"]
    image = _critical(puck_map.codes) if critical else (puck_map.codes != DOOMED).astype(int)
    colours = ListedColormap([_COLOURS[name] for name in names])
    axes.imshow(image.T, origin="lower", extent=extent, aspect="auto", cmap=colours, interpolation="nearest")
    if critical:
        axes.plot(puck_map.x, DIAGONAL_SLOPE * puck_map.x, "k--", linewidth=1)
        names = ["other", "must push left", "must push right"]
    marks = [
        Line2D([], [], linestyle="", marker="s", color=colours(n), markeredgecolor="grey")
        for n in range(len(names))
    ]
    axes.set_ylim(puck_map.v[0], puck_map.v[-1])
    axes.legend(marks, names, loc="upper right")
    axes.set_xlabel("x")
    axes.set_ylabel("v")
    return figure


def _critical(codes: np.ndarray) -> np.ndarray:
    return np.where(codes == MUST_PUSH_LEFT, 1, np.where(codes == MUST_PUSH_RIGHT, 2, 0))
