"""The dial: what every prototype is worth, and how many regions are left if values this close are one."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from distinguo.distillation.condense import Condensed, regions_by_epsilon
from distinguo.errors import DistinguoError
from distinguo.reading.files import MEBIBYTE, read_text
from distinguo.runs.run import Run
from distinguo.search.races import Candidate
from distinguo.views.drawing.colours import HUES, INK
from distinguo.views.drawing.figures import FULL, SMALL, WIDTH, dress, entitle, new_figure
from distinguo.views.plots import draw

LARGEST_DIAL = MEBIBYTE  #: bytes of the table


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
    bar: float  #: the return that is to be kept
    chosen: int  #: the size that keeps it
    by_epsilon: tuple[tuple[float, int], ...]  #: epsilon, regions; none where there is but one pair


def dial_picture(name: str, condensed: Condensed) -> DialPicture:
    """Compute the picture."""
    pairs = tuple(condensed.by_epsilon)
    picture = picture_of_curve(name, condensed.dial, condensed.bar, condensed.chosen.size)
    return picture._replace(by_epsilon=pairs if len(pairs) > 1 else ())


def picture_of_curve(name: str, curve: Iterable[Candidate], bar: float, chosen: int) -> DialPicture:
    """Compute the picture of the best maps of every size, of which one was chosen."""
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
    spec, rows = run.configuration.spec, _written_dial(run)
    pairs = () if rows else tuple(regions_by_epsilon(run.controller))
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
    bar = float(run.summary.get("bar", bar))  # a distilled run says itself what it was to keep
    return DialPicture(title, sizes, means, errors, bar, sizes[chosen.index(True)], ())


def _written_dial(run: Run) -> list[tuple[int, float, float, bool]]:
    """Return the rows of the table that ``distinguo condense`` writes, by size; none if there is none."""
    path = None if run.path is None else run.path / "dial.csv"
    if path is None or not path.is_file():
        return []
    try:
        table = list(csv.DictReader(read_text(path, LARGEST_DIAL).splitlines()))
        rows = [
            (int(r["prototypes"]), float(r["mean_return"]), float(r["standard_error"]), r["chosen"] == "1")
            for r in table
        ]
    except (KeyError, ValueError, TypeError):
        rows = []
    if not any(row[3] for row in rows) or not all(map(math.isfinite, (n for row in rows for n in row[:3]))):
        raise DistinguoError(f"{path} is damaged; write it anew with distinguo condense.")
    return sorted(rows)


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
        picture.bar, linestyle="--", color=HUES[5], lw=1.0, label=f"to be kept: {picture.bar:.4g}"
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
