"""The colours of pictures: a hue for each action, a shade for each value, and the ink that can be read on them."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import colormaps
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb

#: One hue per action: Okabe and Ito's colours, which are told apart by colour-blind eyes, and two of Paul Tol's.
HUES = (
    "#0072b2",  # blue
    "#e69f00",  # orange
    "#009e73",  # green
    "#cc79a7",  # pink
    "#56b4e9",  # sky
    "#d55e00",  # vermilion
    "#f0e442",  # yellow
    "#882255",  # wine
    "#999933",  # olive
    "#332288",  # indigo
)
INK = "#1a1b1e"  #: of axes and words around a picture; a page may put its own in this one's place
MARK = "#000000"  #: of marks on a picture, whose ground is the same by day and by night
UNDECIDED = "#777777"  #: for regions without a preferred action
PALEST, PALEST_OF_MANY = 0.3, 0.65  #: shares of the hue at the lowest value
FEW = 4  #: hues that are told apart even when they are pale

Colour = tuple[float, float, float]


def hue_of(action: int) -> str:
    """Return the hue of an action; -1 is undecided."""
    return UNDECIDED if action < 0 else HUES[action % len(HUES)]


def shaded(hue: str, share: float) -> Colour:
    """Return a hue mixed with white.

    >>> shaded("#000000", 0.25)
    (0.75, 0.75, 0.75)
    """
    red, green, blue = (1.0 - share * (1.0 - part) for part in to_rgb(hue))
    return red, green, blue


def darkened(hue: str) -> Colour:
    """Return a hue that stands out on itself.

    >>> darkened("#ffffff")
    (0.45, 0.45, 0.45)
    """
    red, green, blue = (0.45 * part for part in to_rgb(hue))
    return red, green, blue


def palest(actions: int) -> float:
    """Return the share of the hue that the least valuable state gets: many hues must stay strong."""
    return PALEST if actions <= FEW else PALEST_OF_MANY


def shades_of(values: Sequence[float]) -> Normalize:
    """Return the scale of the shades; differences in the last digits are none."""
    highest = max(values)
    least = 0.01 * max(1.0, abs(highest))
    return Normalize(highest - max(highest - min(values), least), highest)


def greys(actions: int) -> LinearSegmentedColormap:
    """Return the shades alone, for the bar beside a picture."""
    ends = [shaded(UNDECIDED, palest(actions)), shaded(UNDECIDED, 1.0)]
    return LinearSegmentedColormap.from_list("shades", ends)


def value_colours(share: float) -> Colour:
    """Return the colour of a value between the least (0) and the greatest (1), whatever is done there."""
    red, green, blue, _ = colormaps["viridis"](share)
    return red, green, blue


def ink_on(colour: Colour) -> str:
    """Return what to write with on a colour.

    >>> ink_on((1.0, 1.0, 0.9)), ink_on((0.2, 0.1, 0.5))
    ('black', 'white')
    """
    red, green, blue = colour
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"
