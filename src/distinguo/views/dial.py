"""The dial: what every prototype is worth, and how many regions are left if values this close are one."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.figure import Figure

from distinguo.study.condense import Condensed
from distinguo.views.plots import draw, plain


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
    figure = Figure(figsize=(9.0 if both else 5.2, 3.6), layout="constrained")
    panels = figure.subplots(1, 2 if both else 1, squeeze=False)[0]
    returns = panels[0]
    returns.errorbar(picture.sizes, picture.means, yerr=picture.errors, marker="o", capsize=3)
    returns.axhline(picture.bar, linestyle="--", color="0.4", label=f"to be kept: {picture.bar:.4g}")
    at = picture.sizes.index(picture.chosen)
    returns.plot(picture.chosen, picture.means[at], "o", ms=12, mfc="none", mec="C1", label="chosen")
    returns.set_xlabel("prototypes")
    returns.set_ylabel("mean return of 100 new trials")
    returns.set_xticks(
        picture.sizes if len(picture.sizes) <= 12 else picture.sizes[:: len(picture.sizes) // 8]
    )
    returns.legend()
    if both:
        epsilons, regions = zip(*picture.by_epsilon, strict=True)
        panels[1].step(epsilons, regions, where="post", marker="o")
        panels[1].set_xlabel("epsilon: values this close are one")
        panels[1].set_ylabel("regions")
    figure.suptitle(plain(picture.title))
    return figure
