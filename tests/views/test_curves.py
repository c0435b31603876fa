"""Pictures of curves: ticks on every axis, whatever the scores are."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from distinguo.comparison.plan import AveragedCurve
from distinguo.views.curves import Series, SeriesPicture, curves_figure
from distinguo.views.plots import draw, rendered

SCORES = {
    "lengths": ("median length", [20.0, 300.0, 5e6]),
    "short lengths": ("median length", [20.0, 40.0, 90.0]),
    "all the same": ("median length", [1000.0, 1000.0, 1000.0]),
    "negative returns": ("mean return", [-200.0, -150.0, -105.0]),
    "returns on both sides": ("mean return", [-500.0, -3.0, 8.0]),
    "returns near 0": ("mean return", [0.0, 0.4, 0.71]),
}


def shown_ticks(figure: Figure) -> list[int]:
    """Return how many labelled ticks lie in view, for each axis."""
    rendered(figure)
    counts = []
    for axes in figure.axes:
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            ticks = axis.get_major_ticks()
            places = axis.get_majorticklocs()
            inside = [t for t, place in zip(ticks, places, strict=False) if low <= place <= high]
            counts.append(sum(bool(tick.label1.get_text()) for tick in inside))
    return counts


@pytest.mark.parametrize("name", SCORES)
def test_every_axis_has_ticks(name: str) -> None:
    score, values = SCORES[name]
    scores = np.array([values, values])
    curve = AveragedCurve("mine", "plain", 3, [0, 25_000, 50_000], scores, np.zeros((2, 3)), score)
    figure = curves_figure([curve])
    assert min(shown_ticks(figure)) >= 2
    assert score in figure.axes[0].get_ylabel()
    assert figure.axes[0].get_yscale() == ("symlog" if name == "lengths" else "linear")


@pytest.mark.parametrize("lengths", [(200.0, 200.0), (12.0, 40.0), (12.0, 90_000.0)])
def test_so_has_every_panel_of_a_run(lengths: tuple[float, float]) -> None:
    series = Series("steps", lengths, logarithmic=True)
    assert min(shown_ticks(draw(SeriesPicture("run", "trial", (1.0, 2.0), (series,))))) >= 2
