"""Colours for text: a few styles by name, and the hues of the pictures."""

from __future__ import annotations

from itertools import groupby

GOOD, POOR, HEAD, ASIDE = (
    "green",
    "yellow",
    "bold",
    "dim",
)  #: what is solved, what is not, a heading, a remark


def painted(text: str, style: str) -> str:
    r"""Return a text in a style of rich's, such as ``bold`` or ``#0072b2``, for terminals of 256 colours.

    >>> painted("Solved", GOOD)
    '\x1b[32mSolved\x1b[0m'
    >>> painted("as it is", "")
    'as it is'
    """
    if not style or not text:
        return text
    from rich.color import ColorSystem  # takes a while to load
    from rich.style import Style

    return Style.parse(style).render(text, color_system=ColorSystem.EIGHT_BIT)


def painted_letters(line: str, names: str) -> str:
    """Return a line of a map with the letters of its actions in the hues of the pictures.

    >>> from distinguo.views.terminal.layout import without_style
    >>> without_style(painted_letters("llrr..", "lr"))
    'llrr..'
    """
    from distinguo.views.drawing.colours import hue_of  # loads matplotlib

    return "".join(painted("".join(run), hue_of(names.find(letter))) for letter, run in groupby(line))
