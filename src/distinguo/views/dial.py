"""The dial: what every prototype is worth, and how many regions are left if values this close are one."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.figure import Figure

from distinguo.study.condense import Condensed
from distinguo.views.drawing.colours import HUES, INK
from distinguo.views.drawing.figures import FULL, SMALL, WIDTH, dress, entitle, new_figure
from distinguo.views.plots import draw


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
    notches = sorted(condensed.dial, key=lambda notch: notch.size)
    pairs = tuple(condensed.by_epsilon)
    return DialPicture(
        f"{name}: what each prototype is worth",
        tuple(notch.size for notch in notches),
        tuple(notch.mean for notch in notches),
        tuple(notch.error for notch in notches),
        condensed.bar,
        condensed.notch.size,
        pairs if len(pairs) > 1 else (),
    )


@draw.register(DialPicture)
def draw_dial(picture: DialPicture) -> Figure:
    """Draw one panel, or two."""
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
        epsilons, regions = zip(*picture.by_epsilon, strict=True)
        panels[1].step(epsilons, regions, where="post", marker="o", ms=3, lw=1.0, color=HUES[0])
        dress(panels[1], "epsilon: values this close are one", "regions")
    entitle(figure, picture.title)
    return figure
