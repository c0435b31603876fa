"""A proof of arrival as a picture: the steps that suffice, over the states and over the starts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from distinguo.proof.arrival import Arrivals, within
from distinguo.representation.file import Representation
from distinguo.tasks.world import World
from distinguo.views.pictures import Outline, cell_outlines

_UNDECIDED, _STEPS = "#fdae6b", "viridis_r"


class ArrivalPicture(NamedTuple):
    """Within how many steps each state of a grid, and each start, is proven to arrive."""

    title: str
    axes: tuple[str, str]
    x: np.ndarray  #: (nx,) positions
    v: np.ndarray  #: (nv,) velocities
    steps: np.ndarray  #: (nx, nv) steps; NaN where nothing is proven
    outlines: tuple[Outline, ...]
    edges: np.ndarray  #: (pieces + 1,) where the pieces of the starts meet
    first: np.ndarray  #: (pieces,) the steps of each; NaN where nothing is proven
    frame: tuple[tuple[float, float], tuple[float, float]]  #: the box of the starts
    threshold: float | None  #: the steps within which the task counts as solved


def arrival_picture(
    found: Arrivals,
    representation: Representation,
    world: World,
    q: np.ndarray,
    delta: float,
    horizon: int,
    title: str,
    size: int = 81,
) -> ArrivalPicture:
    """Compute the picture of a proof: every state of a grid is followed on its own.

    >>> from distinguo.proof.arrival import arrivals
    >>> from distinguo.representation.voronoi import voronoi
    >>> from distinguo.tasks.catalog import world
    >>> valley, q = world("MountainCar-v0"), np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    >>> swing = Representation(voronoi([[-0.5, 0.01], [-0.5, -0.0101]], valley.scale), ("x", "v"))
    >>> found = arrivals(valley.task, swing.partition, q)
    >>> picture = arrival_picture(found, swing, valley, q, 0.0, 200, "swing", size=5)
    >>> picture.steps.shape, float(np.nanmax(picture.first))
    ((5, 5), 125.0)
    """
    low, high = (world.low[0], world.low[1]), (world.high[0], world.high[1])
    xs, vs = (np.linspace(low[i], high[i], size) for i in (0, 1))
    points = np.array([[x, x, v, v] for x in xs for v in vs])
    steps = within(world.task, representation.partition, q, delta, points, horizon)[0].reshape(size, size)
    axis = 2 * int(np.ptp(found.boxes[:, 2:]) > np.ptp(found.boxes[:, :2]))
    return ArrivalPicture(
        title,
        (world.dimensions[0], world.dimensions[1]),
        xs,
        vs,
        np.where(steps < 0, np.nan, steps),
        tuple(outline for outline in cell_outlines(representation, low, high) if outline),
        np.append(found.boxes[:, axis], found.boxes[-1, axis + 1]),
        np.where(found.proven, found.steps, np.nan),
        _corners(found),
        None if world.threshold is None else -world.threshold,
    )


def _corners(found: Arrivals) -> tuple[tuple[float, float], tuple[float, float]]:
    low, high = found.boxes.min(axis=0).tolist(), found.boxes.max(axis=0).tolist()
    return (low[0], low[2]), (high[1], high[3])


def draw_arrivals(picture: ArrivalPicture) -> Figure:
    """Draw a proof of arrival: a colour for the steps, lines for the partition, and a curve over the starts."""
    figure = Figure(figsize=(7.2, 7.2), layout="constrained")
    top, bottom = figure.subplots(2, 1, height_ratios=(3, 1))
    _draw_states(figure, top, picture)
    _draw_starts(bottom, picture)
    return figure


def _draw_states(figure: Figure, axes: Axes, picture: ArrivalPicture) -> None:
    axes.set_facecolor(_UNDECIDED)
    frame = (picture.x[0], picture.x[-1], picture.v[0], picture.v[-1])
    image = axes.imshow(
        picture.steps.T, origin="lower", extent=frame, aspect="auto", cmap=_STEPS, interpolation="nearest"
    )
    figure.colorbar(image, ax=axes, label="proven to arrive within steps (orange: undecided)")
    axes.add_collection(
        PolyCollection(list(picture.outlines), facecolors="none", edgecolors="black", linewidths=0.5)
    )
    (x0, v0), (x1, v1) = picture.frame
    axes.plot([x0, x1, x1, x0, x0], [v0, v0, v1, v1, v0], color="red", linewidth=2)
    axes.set_xlim(frame[0], frame[1])
    axes.set_ylim(frame[2], frame[3])
    axes.set_xlabel(picture.axes[0])
    axes.set_ylabel(picture.axes[1])
    axes.set_title(picture.title)


def _draw_starts(axes: Axes, picture: ArrivalPicture) -> None:
    axes.set_facecolor(_UNDECIDED)
    known = ~np.isnan(picture.first)
    axes.bar(
        picture.edges[:-1][known],
        picture.first[known],
        width=np.diff(picture.edges)[known],
        align="edge",
        color="white",
        edgecolor="none",
    )
    axes.stairs(picture.first, picture.edges, baseline=None, color="black")
    if picture.threshold is not None:
        axes.axhline(picture.threshold, color="grey", linestyle=":")
    axes.set_xlim(picture.edges[0], picture.edges[-1])
    axes.set_xlabel("start (red above)")
    axes.set_ylabel("steps")
