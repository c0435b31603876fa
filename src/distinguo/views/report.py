"""The report of a reproduction: one self-contained HTML page, and a table in Markdown."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, PackageLoader
from matplotlib.figure import Figure

from distinguo.paper.claims import BEST_FOUR, Claim
from distinguo.paper.reproduce import Reproduction
from distinguo.representation.file import load
from distinguo.runs.files import write_atomically
from distinguo.views.curves import curves_figure
from distinguo.views.maps import draw_map
from distinguo.views.pictures import partition_picture, representation_picture
from distinguo.views.plots import draw_partition, save

POOR = ("vrdp", "controllability")


class Shown(NamedTuple):
    """A figure of the report."""

    number: str  #: of the paper's figure
    caption: str
    figure: Figure


def write_report(found: Reproduction, out: Path) -> Path:
    """Write ``report.html``, ``claims.md`` and the pictures; return where the report is."""
    shown = figures(found, out)
    for item in shown:
        save(item.figure, out / f"figure-{item.number}.png")
    template = Environment(loader=PackageLoader("distinguo.views"), autoescape=True).get_template(
        "report.html"
    )
    page = template.render(
        effort=found.scope.words,
        claims=found.claims,
        held=sum(claim.holds for claim in found.claims),
        figures=[(item.number, item.caption, _embedded(item.figure)) for item in shown],
    )
    write_atomically(out / "report.html", page)
    write_atomically(out / "claims.md", markdown(found.claims))
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


def figures(found: Reproduction, out: Path) -> list[Shown]:
    """Draw Figures 8 to 16."""
    curves = found.curves
    shown = [
        Shown("08", "Controllable states.", draw_map(found.puck_map, critical=False)),
        Shown("09", "Critical states, separated by the diagonal.", draw_map(found.puck_map, critical=True)),
        Shown("10", "Learned from scratch.", draw_partition(partition_picture(found.scratch))),
        Shown("11", "Learned from two seed points.", draw_partition(partition_picture(found.seeded))),
    ]
    for number, name in (("12", "vrdp"), ("13", "vrdp-enhanced"), ("14", "controllability")):
        folder = out / "controls" if name.startswith("vrdp") else out / "test" / "representations"
        representation = load(folder / f"{name}.json")
        title = f"{name}: {representation.regions} regions"
        picture = representation_picture(representation, found.spec, title)
        shown.append(Shown(number, f"Control representation {name}.", draw_partition(picture)))
    shown.append(Shown("15", "Averaged curves of the poorest.", curves_figure([curves[n] for n in POOR])))
    shown.append(
        Shown("16", "Averaged curves of the four best.", curves_figure([curves[n] for n in BEST_FOUR]))
    )
    return shown


def _embedded(figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    return base64.b64encode(buffer.getvalue()).decode()
