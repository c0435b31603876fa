"""Curves: learning curves of a comparison, numbers over the trials of a run, the return by number of prototypes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from distinguo.comparison.plan import AveragedCurve
from distinguo.distillation.condense import Condensed, CurvePoint, read_curve, regions_by_epsilon
from distinguo.errors import DistinguoError, counted
from distinguo.evaluation.statistics import interval
from distinguo.runs.folder import CURVE
from distinguo.runs.run import Run
from distinguo.search.races import Candidate
from distinguo.views.colours import HUES, INK
from distinguo.views.plots import (
    FULL,
    SMALL,
    WIDTH,
    draw,
    dress,
    entitle,
    explain_marks,
    new_figure,
    patch,
    plain,
    save_figure,
)

# Curves: the learning curves of a comparison, and numbers over the trials of a run.


class Series(NamedTuple):
    """Numbers, one for each point of the axis that all series of a picture share."""

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
    axis: str  #: label of the shared axis
    places: tuple[float, ...]
    series: tuple[Series, ...]


def trials_picture(run: Run) -> SeriesPicture:
    """Compute the picture of a run's learning: the length of its trials and the size of its partition."""
    if not run.trials:
        raise DistinguoError(
            "This run has no trials to show: it was distilled, or its history was not kept. Look at the view "
            "'partition', or learn it again."
        )
    columns = {name: tuple(float(value) for value in column) for name, column in _columns(run).items()}
    places = columns.pop("trial")
    title = f"{run.configuration.spec.name}, seed {run.configuration.seed}: {counted(len(places), 'trial')}"
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
    """Compute the picture of several runs' learning: length of trials and regions.

    >>> import distinguo
    >>> picture = runs_picture([distinguo.learn("puck", seed=seed) for seed in (1, 2)])
    >>> picture.names, picture.panels[1][1][0][-1]
    (('puck, seed 1', 'puck, seed 2'), 4.0)
    """
    pictures = [trials_picture(run) for run in runs if run.trials]
    if not pictures:
        raise DistinguoError(
            "None of these runs has trials to show: they were distilled, or lost their history; learn them again."
        )
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
        regions = counted(curve.regions, "region") if curve.regions else "training episodes"
        label = f"{curve.name} ({regions})"
        axes.plot(curve.training_steps, mean, color=colour, label=plain(label), zorder=3, linewidth=1.2)
        axes.fill_between(curve.training_steps, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(curve.training_steps, curve.scores.T, color=colour, alpha=0.3, linewidth=0.4)
    if spans_decades([value for curve in curves for value in curve.scores.ravel()]):
        axes.set_yscale("symlog", linthresh=10)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    scores = " and ".join(sorted({curve.score for curve in curves}))
    greedy = all(curve.regions for curve in curves)
    dress(axes, "training steps", f"{scores} of greedy trials" if greedy else scores)
    axes.legend(fontsize=SMALL, labelcolor=INK, framealpha=0.0)
    return figure


def spans_decades(values: Sequence[float]) -> bool:
    """Whether numbers span enough decades for a logarithmic axis, which would have ticks.

    >>> spans_decades([12.0, 5e6]), spans_decades([20.0, 90.0]), spans_decades([-500.0, -80.0])
    (True, False, False)
    """
    low, high = min(values), max(values)
    return low >= 0.0 and high >= 100.0 * max(low, 1.0)


# The dial, a size-return curve: the return of every number of prototypes, and the number of regions by epsilon.


class DialPicture(NamedTuple):
    """Return against prototypes with standard errors, and regions against epsilon.

    >>> picture = DialPicture("my run", (1, 2, 3), (-200.0, -120.0, -104.0), (0.0, 2.0, 1.0), -110.0, 3, ())
    >>> len(draw(picture).axes)
    1
    """

    title: str
    sizes: tuple[int, ...]
    means: tuple[float, ...]
    errors: tuple[float, ...]
    bar: float  #: the target return
    chosen: int  #: the size that reaches it
    by_epsilon: tuple[tuple[float, int], ...]  #: epsilon, regions; empty if there is only one pair


def dial_picture(name: str, condensed: Condensed) -> DialPicture:
    """Compute the picture."""
    pairs = tuple(condensed.by_epsilon)
    picture = picture_of_curve(name, condensed.dial, condensed.bar, condensed.chosen.size)
    return picture._replace(by_epsilon=pairs if len(pairs) > 1 else ())


def picture_of_curve(name: str, curve: Iterable[Candidate], bar: float, chosen: int) -> DialPicture:
    """Compute the picture of the best maps of every size and the one that was chosen."""
    candidates = sorted(curve, key=lambda one: one.size)
    return DialPicture(
        f"{name}: what each prototype is worth",
        tuple(one.size for one in candidates),
        tuple(one.mean for one in candidates),
        tuple(one.error for one in candidates),
        bar,
        chosen,
        (),
    )


def dial_of(run: Run) -> DialPicture:
    """Compute the dial of a run: the return of every size if it was condensed, and regions by epsilon.

    >>> import distinguo
    >>> dial_of(distinguo.learn("puck", seed=1)).by_epsilon[0]
    (0.0, 4)
    """
    spec, rows = run.configuration.spec, written_dial(run)
    pairs = () if rows else tuple(regions_by_epsilon(run.controller))
    if not rows and run.representation.regions == 1:
        raise DistinguoError(
            "This map has one region, so it makes no distinction whose worth could be shown; learn it with a smaller "
            "epsilon, or for longer."
        )
    if not rows and len(pairs) < 2:
        raise DistinguoError(
            "This run has no dial: its values do not tell its regions apart; make one with distinguo condense."
        )
    title = f"{spec.name}, seed {run.configuration.seed}: what a distinction is worth"
    if not rows:
        return DialPicture(title, (), (), (), 0.0, 0, pairs)
    sizes, means, errors, chosen = zip(*rows, strict=True)
    reached = spec.threshold is not None and means[-1] >= spec.threshold
    bar = float(spec.threshold) if reached else means[-1] - errors[-1]  # type: ignore[arg-type]
    bar = float(run.summary.get("bar", bar))  # a distilled run has its own target
    return DialPicture(title, sizes, means, errors, bar, sizes[chosen.index(True)], ())


def written_dial(run: Run) -> list[CurvePoint]:
    """Return the rows of the table that ``distinguo condense`` writes, by size; none if there is none."""
    path = None if run.path is None else run.path / CURVE
    return [] if path is None or not path.exists() else read_curve(path)


@draw.register(DialPicture)
def draw_dial(picture: DialPicture) -> Figure:
    """Draw one panel, or two."""
    if not picture.sizes:
        figure = new_figure(2.4)
        _draw_regions(figure.add_subplot(), picture)
        entitle(figure, picture.title)
        return figure
    both = bool(picture.by_epsilon)
    figure = new_figure(2.6, FULL if both else WIDTH)
    panels = figure.subplots(1, 2 if both else 1, squeeze=False)[0]
    returns = panels[0]
    returns.errorbar(
        picture.sizes, picture.means, yerr=picture.errors, marker="o", ms=3, lw=1.0, capsize=2, color=HUES[0]
    )
    returns.axhline(
        picture.bar, linestyle="--", color=HUES[5], lw=1.0, label=f"to be kept: {picture.bar:z.4g}"
    )
    at = picture.sizes.index(picture.chosen)
    returns.plot(picture.chosen, picture.means[at], "o", ms=8, mfc="none", mec=HUES[5], label="chosen")
    dress(returns, "prototypes", "mean return of 100 new trials")
    returns.set_xticks(
        picture.sizes if len(picture.sizes) <= 12 else picture.sizes[:: len(picture.sizes) // 8]
    )
    returns.legend(fontsize=SMALL, labelcolor=INK, framealpha=0.0)
    if both:
        _draw_regions(panels[1], picture)
    entitle(figure, picture.title)
    return figure


def _draw_regions(axes: Axes, picture: DialPicture) -> None:
    epsilons, regions = zip(*picture.by_epsilon, strict=True)
    axes.step(epsilons, regions, where="post", marker="o", ms=3, lw=1.0, color=HUES[0])
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    dress(axes, "epsilon: values this close are one", "regions")
