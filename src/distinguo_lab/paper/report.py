"""The report of a reproduction: one self-contained HTML page, and a table in Markdown."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.errors import counted
from distinguo.reading.files import MEBIBYTE, read_bytes
from distinguo.representations.file import load
from distinguo.tasks.puck.analysis import (
    DIAGONAL_SLOPE,
    DOOMED,
    MUST_PUSH_LEFT,
    MUST_PUSH_RIGHT,
    PuckMap,
)
from distinguo.tasks.puck.puck import Puck
from distinguo.views.colours import hue_of
from distinguo.views.curves import curves_figure
from distinguo.views.pictures import partition_picture, representation_picture
from distinguo.views.plots import draw, save_figure
from distinguo.views.proof import COLOURS
from distinguo.writing import write_atomically
from distinguo_lab.paper.claims import BEST_FOUR, POOREST, Claim
from distinguo_lab.paper.reproduce import CaseStudy, Reproduction
from distinguo_lab.paper.stages import control_file

#: The paper's remarks on its maps, to be read beside ours.
LARGEST_PICTURE = 16 * MEBIBYTE  #: bytes
LAID_OUT = (
    "The paper of its 24: placed so that one can easily tell which boundary a state is closer to, and farther and "
    "farther out, most likely because states closer to failure are worth less."
)
ADDED = "The paper of its 4: two states were added at the usual failure points."


class Shown(NamedTuple):
    """A figure of the report."""

    number: str  #: of the paper's figure, and the reading if it is not the paper's
    caption: str
    figure: Figure


def write_report(reproduction: Reproduction, out: Path) -> Path:
    """Write ``report.html``, ``claims.md`` and the pictures; return the path of the report."""
    shown = figures(reproduction)
    saved = [out / f"figure-{item.number}.png" for item in shown]
    for item, path in zip(shown, saved, strict=True):
        save_figure(item.figure, path)
    template = Environment(loader=PackageLoader("distinguo_lab.paper"), autoescape=True).get_template(
        "report.html"
    )
    page = template.render(
        effort=reproduction.scope.words,
        readings=[
            (
                study.reading.name,
                study.reading.words,
                sum(claim.holds for claim in study.claims),
                study.adequacy,
            )
            for study in reproduction.studies
        ],
        rows=reproduction.rows,
        figures=[
            (item.number.lstrip("0"), item.caption, _embedded(path))
            for item, path in zip(shown, saved, strict=True)
        ],
    )
    write_atomically(out / "report.html", page)
    names = [study.reading.name for study in reproduction.studies]
    write_atomically(out / "claims.md", markdown(names, reproduction.rows))
    return out / "report.html"


def markdown(readings: Sequence[str], rows: Sequence[tuple[Claim, ...]]) -> str:
    """Return the claims as a table with two columns for each reading.

    >>> print(markdown(["paper"], [(Claim("a", "one", "1", "the same", "1.0", "reproduced"),)]))
    | claim | the paper | reproduced if | reading paper | verdict |
    |---|---|---|---|---|
    | one | 1 | the same | 1.0 | reproduced |
    <BLANKLINE>
    """
    head = "".join(f" reading {name} | verdict |" for name in readings)
    lines = [f"| claim | the paper | reproduced if |{head}", "|---|---|---|" + "---|---|" * len(readings)]
    for claims in rows:
        cells = "".join(f" {claim.ours} | {claim.verdict} |" for claim in claims)
        lines.append(f"| {claims[0].claim} | {claims[0].paper} | {claims[0].criterion} |{cells}")
    return "\n".join([*lines, ""])


def figures(reproduction: Reproduction) -> list[Shown]:
    """Draw Figures 7 to 16; those that depend on the reading, under each."""
    first = [
        Shown("07", "The task: a puck on a hill between two walls.", draw_hill(reproduction.spec.task)),
        Shown("08", "Controllable states.", draw_map(reproduction.puck_map, critical=False)),
        Shown(
            "09",
            "Critical states, separated by the diagonal.",
            draw_map(reproduction.puck_map, critical=True),
        ),
    ]
    for name, number in (("vrdp", "12"), ("vrdp-enhanced", "13")):
        first.append(_control(reproduction, reproduction.studies[0], name, number, ""))
    for study in reproduction.studies:
        first += _of_reading(reproduction, study)
    return sorted(first, key=lambda shown: shown.number)


def _of_reading(reproduction: Reproduction, study: CaseStudy) -> list[Shown]:
    """Draw the learned and tested maps under a reading."""
    mark = "" if study.reading.like_paper else f"-{study.reading.name}"
    under, curves = f"Reading '{study.reading.name}'.", study.curves
    generated = study.generated
    return [
        Shown(
            f"10{mark}",
            f"{under} Learned from scratch. {LAID_OUT}",
            draw(partition_picture(generated.from_scratch)),
        ),
        Shown(
            f"11{mark}",
            f"{under} Learned from two seed points. {ADDED}",
            draw(partition_picture(generated.from_seeds)),
        ),
        _control(reproduction, study, "controllability", f"14{mark}", under),
        Shown(
            f"15{mark}",
            f"{under} Averaged curves of the two poorest.",
            curves_figure([curves[n] for n in POOREST]),
        ),
        Shown(
            f"16{mark}",
            f"{under} Averaged curves of the four best.",
            curves_figure([curves[n] for n in BEST_FOUR]),
        ),
    ]


def _control(reproduction: Reproduction, study: CaseStudy, name: str, number: str, under: str) -> Shown:
    representation = load(control_file(study.reading, name, study.folder))
    title = f"{name}: {counted(representation.regions, 'region')}"
    picture = representation_picture(representation, reproduction.spec, title)
    return Shown(number, f"{under} Control representation {name}.".strip(), draw(picture))


def _embedded(picture: Path) -> str:
    return base64.b64encode(read_bytes(picture, LARGEST_PICTURE)).decode()


def draw_hill(task: Puck) -> Figure:
    """Draw the task: the hill between its walls, the puck, and what moves it (Figure 7)."""
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    axes = figure.add_subplot()
    x = np.linspace(-task.wall, task.wall, 201)
    axes.plot(x, -task.beta * x**2, color="#4a5160")
    foot = -task.beta * task.wall**2
    for side in (-task.wall, task.wall):
        axes.plot([side, side], [foot, foot + 0.9], color="#4a5160", linewidth=4)
    place = (0.8, 0.06 - task.beta * 0.8**2)
    axes.plot(*place, "o", markersize=16, color=_COLOURS["right"])
    push = f"{task.force:g} N"
    for to, name in (
        ((-0.8, 0.0), f"left, {push}"),
        ((0.8, 0.0), f"right, {push}"),
        ((0.0, -0.7), "gravity"),
    ):
        end = (place[0] + to[0], place[1] + to[1])
        axes.annotate("", end, place, arrowprops={"arrowstyle": "->", "linewidth": 1.6})
        axes.annotate(name, end, (to[0] * 8, 10 if to[0] else -13), textcoords="offset points", ha="center")
    axes.set_ylim(foot - 0.15, 0.4)
    axes.text(0.0, foot + 0.1, f"y = -{task.beta:g} x²", ha="center")
    axes.set_xlabel(f"x in m; hitting a wall, at ±{task.wall:g}, ends the trial with a reward of -1")
    axes.set_ylabel("y in m")
    return figure


_COLOURS = {"doomed": COLOURS[0], "controllable": COLOURS[2], "left": hue_of(0), "right": hue_of(1)}


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
