"""The colours of pictures: a hue for each action, a shade for each value, the ink on them, and styles of paper."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from matplotlib import colormaps
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.errors import DistinguoError, attempt, did_you_mean, one_line
from distinguo.tasks.grids import CLIFF_FIELD, HOLE_FIELD

#: One hue per action: Okabe and Ito's colours, safe for colour-blind readers, and some of Paul Tol's.
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
INK = "#1a1b1e"  #: of axes and words around a picture; a page may replace it by its own
MARK = "#000000"  #: of marks on a picture, whose background is the same in light and dark pages
UNDECIDED = "#777777"  #: for regions without a preferred action
LIGHT, DARK, PRINT = STYLES = ("light", "dark", "print")  #: what a picture is looked at on
PAPER = {LIGHT: "#ffffff", DARK: "#14171d", PRINT: "#ffffff"}  #: around and behind a picture
HATCHING, PRINTED = (
    "#555555",
    0.45,
)  #: the lines of hatches, and the share of grey at the greatest value, in print
PALE_INK = "#e6e9ef"  #: in place of ``INK`` on dark paper
#: One pattern per action in print, where hues are greys; the first two are the most different.
HATCHES = ("///", "...", "xxx", "\\\\\\", "---", "|||", "ooo", "+++", "***", "OO")
DASHES: tuple[Any, ...] = ("-", "--", ":", "-.")  #: of lines in print
#: In print, the greys of lines and marks in the hues of the palette.
GREYS = ("#000000", "#6b6b6b", "#9a9a9a", "#3c3c3c", "#b5b5b5")
CURRENT: ContextVar[str] = ContextVar("style", default=LIGHT)  #: the style that is drawn in
PALEST, PALEST_OF_MANY = 0.3, 0.65  #: shares of the hue at the lowest value
FEW = 4  #: hues that stay distinguishable when pale

Colour = tuple[float, float, float]


END_COLOURS = {
    HOLE_FIELD: "#27415c",
    CLIFF_FIELD: "#27415c",
}  #: colours of fields where trials end; others are white


#: The places in ``HUES`` of actions that many tasks have, so that each has the same hue in all of them.
MEANINGS = {
    **dict.fromkeys(("left", "west"), 0),
    **dict.fromkeys(("right", "east"), 1),
    **dict.fromkeys(("none", "nothing", "idle", "stay", "noop", "coast", "down", "south"), 2),
    **dict.fromkeys(("up", "north"), 3),
}
LEVELS = (
    (0, 4, 9),
    (1, 5, 6),
)  #: places in ``HUES`` of forces to the left and to the right, the strongest first


def hue_of(action: int, actions: Sequence[str] = ()) -> str:
    """Return the hue of an action of a task, by its number and the names of all; -1 is undecided.

    >>> hue_of(1, ("left", "right")) == hue_of(2, ("left", "none", "right")) == hue_of(2, ("-1", "0", "+1"))
    True
    """
    if action < 0:
        return UNDECIDED
    return hues_of(tuple(actions))[action] if actions else HUES[action % len(HUES)]


def hatch_of(action: int, actions: Sequence[str]) -> str:
    """Return the pattern of an action in print, where it stands for the hue."""
    return HATCHES[HUES.index(hue_of(action, actions))]


@functools.lru_cache(maxsize=256)
def hues_of(actions: tuple[str, ...]) -> tuple[str, ...]:
    """Return the hues of a task's actions: left, right, up, down and none, or forces by their sign, have their own.

    >>> places = [HUES.index(hue) for hue in hues_of(("up", "right", "down", "left"))]
    >>> places, [HUES.index(hue) for hue in hues_of(("-2", "-1", "+0", "+1", "+2"))]
    ([3, 1, 2, 0], [0, 4, 2, 5, 1])
    """
    wanted = _of_forces(actions) or [MEANINGS.get(name.lower()) for name in actions]
    taken: list[int] = []
    for place in wanted:
        taken.append(-1 if place is None or place in taken else place)
    free = [place for place in range(len(HUES)) if place not in taken]
    chosen = [place if place >= 0 else (free.pop(0) if free else n) for n, place in enumerate(taken)]
    return tuple(HUES[place % len(HUES)] for place in chosen)


def _of_forces(actions: tuple[str, ...]) -> list[int | None]:
    """Return the places of forces; empty if the actions are no numbers, or too many on one side."""
    try:
        forces = [float(name) for name in actions]
    except ValueError:
        return []
    sides = sorted(f for f in forces if f < 0.0), sorted((f for f in forces if f > 0.0), reverse=True)
    if any(len(side) > len(places) for side, places in zip(sides, LEVELS, strict=True)) or not all(sides):
        return []
    known = {0.0: MEANINGS["none"]}
    for side, places in zip(sides, LEVELS, strict=True):
        known |= dict(zip(side, places, strict=False))
    return [known[force] for force in forces]


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
    """Return the share of the hue for the least valuable state; many hues must stay strong."""
    return PALEST if actions <= FEW else PALEST_OF_MANY


def shades_of(values: Sequence[float]) -> Normalize:
    """Return the scale of the shades; it ignores differences in the last digits."""
    highest = max(values)
    least = 0.01 * max(1.0, abs(highest))
    return Normalize(highest - max(highest - min(values), least), highest)


def greys(actions: int) -> LinearSegmentedColormap:
    """Return the shades alone, for the colour bar."""
    ends = [shaded(UNDECIDED, palest(actions)), shaded(UNDECIDED, 1.0)]
    if CURRENT.get() == PRINT:
        ends = [shaded(UNDECIDED, 0.0), shaded(UNDECIDED, PRINTED)]
    return LinearSegmentedColormap.from_list("shades", ends)


def value_colours(share: float) -> Colour:
    """Return the colour of a value between the least (0) and the greatest (1), whatever the action."""
    red, green, blue, _ = colours_named("viridis")(share)
    return red, green, blue


def colours_named(name: str) -> Colormap:
    """Return a range of colours or, in print, of greys on which lines can be seen."""
    if CURRENT.get() == PRINT:
        return LinearSegmentedColormap.from_list("greys", [shaded(UNDECIDED, 0.0), shaded(UNDECIDED, 1.0)])
    return colormaps[name]


def ink_on(colour: Colour) -> str:
    """Return the colour of text that can be read on a background.

    >>> ink_on((1.0, 1.0, 0.9)), ink_on((0.2, 0.1, 0.5))
    ('black', 'white')
    """
    red, green, blue = colour
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


# The style of a picture: for light and dark pages, and for print in black and white.


@contextmanager
def drawn_for(style: str) -> Iterator[None]:
    """Draw what is drawn within a ``with`` block in a style; :func:`restyled` must follow for its colours.

    >>> with drawn_for("drak"):
    ...     pass
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown style 'drak'; did you mean 'dark'?
    """
    if style not in STYLES:
        raise DistinguoError(f"Unknown style '{one_line(str(style))}'; {did_you_mean(str(style), STYLES)}")
    before = CURRENT.set(style)
    try:
        yield
    finally:
        CURRENT.reset(before)


def restyled(figure: Figure, style: str) -> Figure:
    """Give a figure the paper and the ink of a style, and in print lines that need no colours."""
    if style == LIGHT:
        return figure
    figure.set_facecolor(PAPER[style])
    for axes in figure.axes:
        axes.set_facecolor(PAPER[style])
    for artist in figure.findobj():
        if style == DARK:
            _inked(artist)
        elif isinstance(artist, Line2D):
            _dashed(artist)
    return figure


def _inked(artist: Any) -> None:
    """Replace the ink of a word, a line or a frame by one that can be read on dark paper."""
    for get, put in (("get_color", "set_color"), ("get_edgecolor", "set_edgecolor")):
        colour = attempt(lambda get=get: to_hex(getattr(artist, get)()), otherwise="")
        if colour == INK:
            getattr(artist, put)(PALE_INK)
    if isinstance(artist, Line2D):
        for put in ("set_markeredgecolor", "set_markerfacecolor"):
            if attempt(to_hex, getattr(artist, f"g{put[1:]}")(), otherwise="") == INK:
                getattr(artist, put)(PALE_INK)


def _dashed(line: Line2D) -> None:
    """Draw a line in a hue as a grey line with dashes of its own."""
    colour = attempt(to_hex, line.get_color(), otherwise="")
    place = next((n for n, hue in enumerate(HUES) if colour in (hue, to_hex(darkened(hue)))), None)
    if place is not None:
        line.set_color(GREYS[place % len(GREYS)])
        if line.get_linestyle() == "-":
            line.set_linestyle(DASHES[place % len(DASHES)])
