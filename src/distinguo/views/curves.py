"""Curves: the learning curves of a comparison, and numbers over the trials of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from distinguo.errors import DistinguoError
from distinguo.evaluation.statistics import interval
from distinguo.runs.run import Run
from distinguo.study.results import AveragedCurve
from distinguo.views.drawing.colours import HUES, INK
from distinguo.views.drawing.figures import (
    FULL,
    SMALL,
    dress,
    entitle,
    explain_marks,
    new_figure,
    patch,
    plain,
)
from distinguo.views.plots import draw, save_figure


class Series(NamedTuple):
    """Numbers, one for each place of the axis that all series of a picture share."""

    name: str
    values: tuple[float, ...]
    logarithmic: bool = False


class SeriesPicture(NamedTuple):
    """One panel per series, one below the other.

    >>> lengths = Series("steps", (12.0, 40.0, 900.0), logarithmic=True)
    >>> len(draw(SeriesPicture("my run", "trial", (1.0, 2.0, 3.0), (lengths,))).axes)
    1
    """

    title: str
    axis: str  #: what the places are
    places: tuple[float, ...]
    series: tuple[Series, ...]


def trials_picture(run: Run) -> SeriesPicture:
    """Compute the picture of how a run was learned: the length of its trials, and the size of its partition."""
    if not run.trials:
        raise DistinguoError("This run has no trials to show; learn it into a folder with out=….")
    columns = {name: tuple(float(value) for value in column) for name, column in _columns(run).items()}
    places = columns.pop("trial")
    title = f"{run.configuration.spec.name}, seed {run.configuration.seed}: {len(places)} trials"
    names = {"length": "length in steps", "regions": "regions", "prototypes": "prototypes"}
    series = tuple(Series(words, columns[name], name == "length") for name, words in names.items())
    return SeriesPicture(title, "trial", places, series)


def _columns(run: Run) -> dict[str, list[float]]:
    names = ("trial", "length", "regions", "prototypes")
    return {name: [getattr(trial, name) for trial in run.trials] for name in names}


class RunsPicture(NamedTuple):
    """Several runs over their trials: a line for each in every panel."""

    title: str
    names: tuple[str, ...]  #: of the runs
    places: tuple[tuple[float, ...], ...]  #: the trials of each
    panels: tuple[tuple[str, tuple[tuple[float, ...], ...]], ...]  #: what is shown, and a line for each run


def runs_picture(runs: Sequence[Run]) -> RunsPicture:
    """Compute the picture of how several runs were learned: length of trials and regions.

    >>> import distinguo
    >>> picture = runs_picture([distinguo.learn("puck", seed=seed) for seed in (1, 2)])
    >>> picture.names, picture.panels[1][1][0][-1]
    (('puck, seed 1', 'puck, seed 2'), 4.0)
    """
    pictures = [trials_picture(run) for run in runs if run.trials]
    if not pictures:
        raise DistinguoError("None of these runs has trials to show; learn them into folders with out=….")
    names = tuple(
        f"{run.configuration.spec.name}, seed {run.configuration.seed}" for run in runs if run.trials
    )
    panels = tuple(
        (words.name, tuple(p.series[n].values for p in pictures))
        for n, words in enumerate(pictures[0].series[:2])
    )
    return RunsPicture("How they were learned", names, tuple(p.places for p in pictures), panels)


@draw.register(RunsPicture)
def draw_runs(picture: RunsPicture) -> Figure:
    """Draw every run in a colour of its own."""
    figure = new_figure(1.2 + 1.1 * len(picture.panels), FULL)
    panels = figure.subplots(len(picture.panels), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (name, lines) in zip(panels, picture.panels, strict=True):
        for n, (places, values) in enumerate(zip(picture.places, lines, strict=True)):
            panel.plot(places, values, drawstyle="steps-mid", color=HUES[n % len(HUES)], linewidth=0.9)
        panel.set_yscale("log" if spans_decades([v for line in lines for v in line]) else "linear")
        dress(panel, "", name)
    panels[-1].set_xlabel("trial")
    entitle(figure, picture.title)
    if len(picture.names) <= len(HUES):
        explain_marks(figure, [(name, patch(HUES[n])) for n, name in enumerate(picture.names)])
    return figure


@draw.register(SeriesPicture)
def draw_series(picture: SeriesPicture) -> Figure:
    """Draw the panels with a common axis."""
    figure = new_figure(0.7 + 0.9 * len(picture.series))
    panels = figure.subplots(len(picture.series), 1, sharex=True, squeeze=False)[:, 0]
    for panel, series in zip(panels, picture.series, strict=True):
        panel.plot(picture.places, series.values, drawstyle="steps-mid", color=HUES[0], linewidth=0.9)
        dress(panel, "", series.name)
        panel.set_yscale("log" if series.logarithmic and spans_decades(series.values) else "linear")
    panels[-1].set_xlabel(plain(picture.axis))
    if all(float(place).is_integer() for place in picture.places):
        panels[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    entitle(figure, picture.title)
    return figure


def draw_curves(curves: list[AveragedCurve], path: Path) -> Path:
    """Draw learning curves into a file."""
    save_figure(curves_figure(curves), path)
    return path


def curves_figure(curves: list[AveragedCurve]) -> Figure:
    """Draw the averaged curves with their intervals, and every run as a faint line."""
    figure = new_figure()
    axes = figure.add_subplot()
    for number, curve in enumerate(curves):
        colour = HUES[number % len(HUES)]
        low, high = interval(curve.scores)
        mean = curve.scores.mean(axis=0)
        label = f"{curve.name} ({curve.regions} regions)"
        axes.plot(curve.training_steps, mean, color=colour, label=plain(label), zorder=3, linewidth=1.2)
        axes.fill_between(curve.training_steps, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(curve.training_steps, curve.scores.T, color=colour, alpha=0.3, linewidth=0.4)
    if spans_decades([value for curve in curves for value in curve.scores.ravel()]):
        axes.set_yscale("symlog", linthresh=10)
    scores = " and ".join(sorted({curve.score for curve in curves}))
    dress(axes, "training steps", f"{scores} of greedy trials")
    axes.legend(fontsize=SMALL, labelcolor=INK, framealpha=0.0)
    return figure


def spans_decades(values: Sequence[float]) -> bool:
    """Tell whether numbers are so far apart that they are best read on a logarithmic axis, where it would have ticks.

    >>> spans_decades([12.0, 5e6]), spans_decades([20.0, 90.0]), spans_decades([-500.0, -80.0])
    (True, False, False)
    """
    low, high = min(values), max(values)
    return low >= 0.0 and high >= 100.0 * max(low, 1.0)
