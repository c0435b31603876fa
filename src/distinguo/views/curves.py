"""Learning curves as a picture."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from distinguo.evaluation.statistics import interval
from distinguo.study.results import AveragedCurve
from distinguo.views.plots import save


def draw_curves(curves: list[AveragedCurve], path: Path) -> Path:
    """Draw learning curves into a file."""
    save(curves_figure(curves), path)
    return path


def curves_figure(curves: list[AveragedCurve]) -> Figure:
    """Draw the averaged curves with their intervals, and every run as a faint line."""
    figure = Figure(figsize=(7.2, 5.0), layout="constrained")
    axes = figure.add_subplot()
    for number, curve in enumerate(curves):
        colour = f"C{number % 10}"
        low, high = interval(curve.scores)
        mean = curve.scores.mean(axis=0)
        label = f"{curve.name} ({curve.regions} regions)"
        axes.plot(curve.training_steps, mean, color=colour, label=label, zorder=3)
        axes.fill_between(curve.training_steps, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(curve.training_steps, curve.scores.T, color=colour, alpha=0.2, linewidth=0.6)
    axes.set_yscale("symlog", linthresh=10)
    axes.set_xlabel("training steps")
    axes.set_ylabel("score: median of a batch of greedy trials")
    axes.legend(fontsize=9)
    return figure
