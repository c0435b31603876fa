"""A proof as a picture: which states are proven, doomed or undecided, over the partition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.proof.verification import Verification
from distinguo.representation.file import Representation
from distinguo.tasks.world import World
from distinguo.views.pictures import Outline, cell_outlines

_NAMES = ("doomed whatever is done", "undecided", "proven for ever")
_COLOURS = ("#f0f0f0", "#fdae6b", "#74c476")


class ProofPicture(NamedTuple):
    """What is known of every state of a grid, and the outlines of the partition."""

    title: str
    axes: tuple[str, str]
    x: np.ndarray  #: (nx,) positions
    v: np.ndarray  #: (nv,) velocities
    codes: np.ndarray  #: (nx, nv) ``PROVEN``, ``UNDECIDED`` or ``DOOMED``
    outlines: tuple[Outline, ...]


def proof_picture(
    found: Verification, representation: Representation, world: World, title: str, size: int = 161
) -> ProofPicture:
    """Compute the picture of a proof over the whole extent of a task.

    >>> from distinguo.controls.diagonal import diagonal
    >>> from distinguo.proof.verification import verify
    >>> from distinguo.tasks.catalog import world
    >>> hill = world("puck")
    >>> found = verify(hill.task, diagonal(hill).partition, np.array([[0.0, -1.0], [-1.0, 0.0]]), counts=(256, 128))
    >>> picture = proof_picture(found, diagonal(hill), hill, "diagonal", size=5)
    >>> picture.codes.shape, int(picture.codes[2, 2])
    ((5, 5), 2)
    """
    low, high = (world.low[0], world.low[1]), (world.high[0], world.high[1])
    xs, vs = (np.linspace(low[i], high[i], size) for i in (0, 1))
    axes = (world.dimensions[0], world.dimensions[1])
    outlines = tuple(outline for outline in cell_outlines(representation, low, high) if outline)
    return ProofPicture(title, axes, xs, vs, found.codes(xs, vs), outlines)


def draw_proof(picture: ProofPicture) -> Figure:
    """Draw a proof: a colour for what is known, lines for the partition."""
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    axes = figure.add_subplot()
    frame = (picture.x[0], picture.x[-1], picture.v[0], picture.v[-1])
    axes.imshow(
        picture.codes.T,
        origin="lower",
        extent=frame,
        aspect="auto",
        cmap=ListedColormap(_COLOURS),
        vmin=-0.5,
        vmax=2.5,
        interpolation="nearest",
    )
    axes.add_collection(
        PolyCollection(list(picture.outlines), facecolors="none", edgecolors="black", linewidths=0.5)
    )
    marks = [Line2D([], [], linestyle="", marker="s", color=c, markeredgecolor="grey") for c in _COLOURS]
    axes.legend(marks, _NAMES, loc="upper right", framealpha=0.9, fontsize=9)
    axes.set_xlim(frame[0], frame[1])
    axes.set_ylim(frame[2], frame[3])
    axes.set_xlabel(picture.axes[0])
    axes.set_ylabel(picture.axes[1])
    axes.set_title(picture.title)
    return figure
