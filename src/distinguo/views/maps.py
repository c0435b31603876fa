"""The analysis of the puck as a picture (Figures 8 and 9)."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.tasks.puck.analysis import (
    DIAGONAL_SLOPE,
    DOOMED,
    MUST_PUSH_LEFT,
    MUST_PUSH_RIGHT,
    PuckMap,
)

_COLOURS = {"doomed": "#f4f4f4", "controllable": "#9ecae1", "left": "#08519c", "right": "#d94801"}


def draw_map(puck_map: PuckMap, critical: bool) -> Figure:
    """Draw the controllable band, or the critical states with the diagonal between them."""
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
