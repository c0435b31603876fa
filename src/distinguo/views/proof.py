"""A proof as a picture: the states or starts that are proven, doomed or undecided, over the partition."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path

from distinguo.proof.arrive.question import ArrivalFinding
from distinguo.proof.declared.question import ProgramFinding
from distinguo.proof.hold.question import HoldFinding
from distinguo.representations.file import Representation
from distinguo.representations.geometry import Outline
from distinguo.verification import Proof
from distinguo.views.colours import INK
from distinguo.views.pictures import cell_outlines
from distinguo.views.plots import SMALL, dress, entitle, explain_marks, new_figure

_NAMES = ("doomed whatever is done", "undecided", "proven to be held for ever")
#: Not those of actions, so that a proof is not taken for a map; colour-blind readers can distinguish them.
COLOURS = ("#ededed", "#c7b98c", "#332288")
LINES, HATCH = "#9a9a9a", "////"  #: of the partition, and of what is undecided


def proof_figure(proof: Proof) -> Figure | None:
    """Draw what was proven; None if there are only trials and no proof."""
    return finding_figure(proof.finding, proof.subject.representation, proof.subject.name)


@singledispatch
def finding_figure(finding: Any, representation: Representation, title: str) -> Figure | None:
    """Draw the finding of a prover, by its class; None for most classes."""
    return None


@finding_figure.register
def _(finding: HoldFinding, representation: Representation, title: str) -> Figure:
    return draw_hold(hold_picture(finding, representation, title))


@finding_figure.register
def _(finding: ProgramFinding, representation: Representation, title: str) -> Figure | None:
    if len(finding.request.spec.low) == 2:
        return draw_hold(hold_picture(finding, representation, title))
    return draw_slices(finding, title) if len(finding.request.spec.low) == 3 else None


@finding_figure.register
def _(finding: ArrivalFinding, representation: Representation, title: str) -> Figure:
    return draw_arrival(arrival_picture(finding, representation, title))


class HoldPicture(NamedTuple):
    """What is known of every state of a grid, and the outlines of the partition."""

    title: str
    axes: tuple[str, str]
    x: np.ndarray  #: (nx,) positions
    v: np.ndarray  #: (nv,) velocities
    codes: np.ndarray  #: (nx, nv) ``PROVEN``, ``UNDECIDED`` or ``DOOMED``
    outlines: tuple[Outline, ...]


def hold_picture(
    finding: HoldFinding | ProgramFinding, representation: Representation, title: str, size: int = 161
) -> HoldPicture:
    """Compute the picture of a proof over the whole extent of a task.

    >>> from distinguo.verification import verify
    >>> proof = verify("diagonal", cells=40_000)
    >>> picture = hold_picture(proof.finding, proof.subject.representation, "diagonal", size=5)
    >>> picture.codes.shape, int(picture.codes[2, 2])
    ((5, 5), 2)
    """
    spec = finding.request.spec
    low, high = (spec.low[0], spec.low[1]), (spec.high[0], spec.high[1])
    xs, vs = (np.linspace(low[i], high[i], size) for i in (0, 1))
    axes = (spec.axes[0], spec.axes[1])
    return HoldPicture(title, axes, xs, vs, finding.codes(xs, vs), _outlines(representation, low, high))


def _outlines(
    representation: Representation, low: tuple[float, float], high: tuple[float, float]
) -> tuple[Outline, ...]:
    return tuple(outline for outline in cell_outlines(representation, low, high) if outline)


def draw_hold(picture: HoldPicture) -> Figure:
    """Draw what is proven for ever: a colour for what is known, lines for the partition."""
    figure = new_figure()
    axes = figure.add_subplot()
    frame = (picture.x[0], picture.x[-1], picture.v[0], picture.v[-1])
    _codes(axes, frame, picture.codes)
    _hatch(axes, picture)
    _outline(axes, picture.outlines)
    present = [code for code in range(3) if (picture.codes == code).any()]
    explain_marks(figure, [*((_NAMES[code], square(COLOURS[code])) for code in present), BORDER])
    axes.set_xlim(frame[0], frame[1])
    axes.set_ylim(frame[2], frame[3])
    dress(axes, *picture.axes)
    entitle(figure, picture.title)
    return figure


def _hatch(axes: Any, picture: HoldPicture) -> None:
    """Hatch what is undecided as one shape: thousands of hatched squares take seconds to draw."""
    i, j = np.nonzero(picture.codes == 1)
    if not len(i):
        return
    half = [(middle[1] - middle[0]) / 2 for middle in (picture.x, picture.v)]
    centres = np.stack((picture.x[i], picture.v[j]), axis=1)
    squares = centres[:, None] + np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half
    shape = Path.make_compound_path_from_polys(squares)
    # add_patch would look for the extent of every square, which takes seconds; the limits are those of the grid
    axes.add_artist(PathPatch(shape, fill=False, hatch=HATCH, edgecolor=LINES, linewidth=0))


SLICES = (0.25, 0.5, 0.75)  #: of the extent of the coordinate that a slice holds fixed


def draw_slices(finding: ProgramFinding, title: str, size: int = 121) -> Figure:
    """Draw what is proven of three coordinates: every pair of them, in slices at three values of the third."""
    spec = finding.request.spec
    figure = new_figure(6.0, 6.0)
    planes = figure.subplots(3, len(SLICES))
    lines = [np.linspace(low, high, size) for low, high in zip(spec.low, spec.high, strict=True)]
    seen = np.zeros(3, dtype=bool)
    for row, (p, q, fixed) in enumerate(((0, 1, 2), (0, 2, 1), (1, 2, 0))):
        for axes, share in zip(planes[row], SLICES, strict=True):
            value = spec.low[fixed] + share * (spec.high[fixed] - spec.low[fixed])
            codes = finding.slice_codes((p, q), (lines[p], lines[q]), value)
            _codes(axes, (lines[p][0], lines[p][-1], lines[q][0], lines[q][-1]), codes)
            seen |= np.isin(np.arange(3), codes)
            dress(axes, spec.axes[p], spec.axes[q])
            axes.locator_params(nbins=5)
            axes.set_title(f"{spec.axes[fixed]} = {value:z.3g}", fontsize=SMALL, color=INK)
    entitle(figure, title)
    explain_marks(figure, [(_NAMES[code], square(COLOURS[code])) for code in np.flatnonzero(seen).tolist()])
    return figure


def _codes(axes: Any, frame: tuple[float, float, float, float], codes: np.ndarray) -> None:
    axes.imshow(
        codes.T,
        origin="lower",
        extent=frame,
        aspect="auto",
        cmap=ListedColormap(COLOURS),
        vmin=-0.5,
        vmax=2.5,
        interpolation="nearest",
    )


def _outline(axes: Any, outlines: tuple[Outline, ...]) -> None:
    axes.add_collection(PolyCollection(list(outlines), facecolors="none", edgecolors=LINES, linewidths=0.6))


def square(colour: str) -> Any:
    """Return a square for a legend, hatched if it is of what is undecided."""
    hatch = HATCH if colour == COLOURS[1] else ""
    return Patch(facecolor=colour, edgecolor=LINES, hatch=hatch, linewidth=0.4)


BORDER = ("border of a cell of the map", Line2D([], [], color=LINES, linewidth=0.8))


class ArrivalPicture(NamedTuple):
    """Which starts are proven to arrive, and within how many steps, and the outlines of the partition."""

    title: str
    axes: tuple[str, str]
    low: tuple[float, float]
    high: tuple[float, float]
    boxes: np.ndarray  #: (pieces, 4) low x, high x, low v, high v
    steps: np.ndarray  #: (pieces,) steps; where nothing is proven, the bound that was tried
    proven: np.ndarray  #: (pieces,)
    outlines: tuple[Outline, ...]


def arrival_picture(finding: ArrivalFinding, representation: Representation, title: str) -> ArrivalPicture:
    """Compute the picture of a proof of arrival.

    >>> from distinguo.verification import verify
    >>> proof = verify("grid:2x2", task="MountainCar-v0", cells=1_000)
    >>> int(arrival_picture(proof.finding, proof.subject.representation, "four boxes").steps.max())
    200
    """
    spec, proof = finding.request.spec, finding.proof
    low, high = (spec.low[0], spec.low[1]), (spec.high[0], spec.high[1])
    steps = np.where(proof.proven, proof.steps, finding.asked)
    axes = (spec.axes[0], spec.axes[1])
    outlines = _outlines(representation, low, high)
    return ArrivalPicture(title, axes, low, high, proof.boxes, steps, proof.proven, outlines)


def draw_arrival(picture: ArrivalPicture) -> Figure:
    """Draw a proof of arrival: the starts in the partition above, the steps that each takes below."""
    figure = new_figure(3.6)
    plane, curve = figure.subplots(2, 1, height_ratios=(3, 2))
    _outline(plane, picture.outlines)
    colours = np.where(picture.proven, COLOURS[2], COLOURS[1])
    ends = [((x0, v0), (x1, v1)) for x0, x1, v0, v1 in picture.boxes]
    plane.add_collection(LineCollection(ends, colors=list(colours), linewidths=3.5))
    plane.set(xlim=(picture.low[0], picture.high[0]), ylim=(picture.low[1], picture.high[1]))
    dress(plane, *picture.axes)
    entitle(figure, picture.title)
    words = ("starts that are undecided", "starts proven to arrive")
    explain_marks(figure, [*zip(words, map(square, COLOURS[1:]), strict=True), BORDER])
    widths = picture.boxes[:, 1] - picture.boxes[:, 0]
    curve.bar(picture.boxes[:, 0], picture.steps, widths, align="edge", color=list(colours))
    curve.locator_params(axis="x", nbins=5)
    dress(curve, f"{picture.axes[0]} of the start", "steps at most")
    return figure
