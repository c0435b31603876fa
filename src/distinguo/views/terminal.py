"""Text for a terminal: lines that fit a width, and colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

# Text that fits a width: lines break only at spaces, and widths count the cells of a terminal.
#
# A wide character, such as 状, takes two cells; a colour takes none. A word that is wider than the width stays whole,
# and so does a command to copy: at the end of a line after a colon, or in a line of its own.


HANGING = 2  #: indent of the later lines of a paragraph, in cells
NARROWEST = 16  #: cells; a narrower column of words is not wrapped
GAP = "  "  #: between two columns
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_COMMAND = re.compile(
    r"(?:(?<=: )|(?<=^))"
    r"(?:(?:PYTHONPATH=\S+ )?distinguo [a-z]+(?: .*)?|distinguo\.[a-z]+\(.*|pip install .*)$"
)

Rows = Sequence[Sequence[str]]


def without_style(text: str) -> str:
    r"""Return a text without its colours.

    >>> without_style("\x1b[32mSolved\x1b[0m: all")
    'Solved: all'
    """
    return _STYLE.sub("", text)


#: Letters of one cell each, beyond ASCII: accented and Greek ones, dashes, quotation marks.
_NARROW = re.compile("[ -~\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03c9\u2010-\u2027]*")


def cells_of(text: str) -> int:
    r"""Return the number of terminal cells that a text takes.

    >>> cells_of("state"), cells_of("状態"), cells_of("\x1b[32mSolved\x1b[0m")
    (5, 4, 6)
    """
    bare = without_style(text)
    if bare.isascii() or _NARROW.fullmatch(bare):
        return len(bare)
    from rich.cells import cell_len  # takes a while to load

    return cell_len(bare)


def fitted_lines(text: str, width: int | None, hanging: int = HANGING) -> str:
    """Break the lines of a text at spaces so that they fit, with later lines indented; None means no limit.

    >>> print(fitted_lines("one two three four", 9))
    one two
      three
      four
    >>> print(fitted_lines("Look again with: distinguo show runs/puck-default-seed0", 40))
    Look again with:
      distinguo show runs/puck-default-seed0
    """
    if width is None:
        return text
    return "\n".join(_broken(line, width, hanging) for line in text.split("\n"))


def _broken(line: str, width: int, hanging: int) -> str:
    if cells_of(line) <= width:
        return line
    margin = " " * _margin(line)
    inner = margin + " " * hanging
    done, now, fresh = [], margin, True
    text = line[len(margin) :]
    command = _COMMAND.search(text)
    whole = [] if command is None else [(" ", command[0])]
    for space, word in re.findall(r"( *)([^ ]+)", text[: command.start()] if command else text) + whole:
        longer = now + word if fresh else now + space + word
        if not fresh and cells_of(longer) > width:
            done.append(now)
            longer = inner + word
        now, fresh = longer, False
    return "\n".join([*done, now])


def cut(line: str, width: int | None) -> str:
    """Replace the last words of a line that does not fit by an ellipsis; a single long word is cut.

    >>> cut("trial 12  length 500  regions 4", 24), cut("trial 12", 24)
    ('trial 12  length 500 …', 'trial 12')
    """
    if width is None or cells_of(line) <= width:
        return line
    if width < 1:
        return ""
    kept = ""
    for piece in re.findall(r" *[^ ]+", line):
        if cells_of(kept + piece) + 2 > width:
            break
        kept += piece
    return f"{kept} …" if kept else _chopped(line, width)


def _chopped(word: str, width: int) -> str:
    kept = ""
    for letter in without_style(word):
        if cells_of(kept + letter) >= width:
            break
        kept += letter
    return f"{kept}…"


def columns_of(rows: Rows, width: int | None = None) -> list[str]:
    r"""Return rows as lines, with right-aligned columns as wide as their widest word.

    Columns that do not fit go below, beside a repeated first column.

    >>> print(*columns_of([["region", "x", "action"], ["0", "-1.5", "left"]], width=14), sep="\n")
    region     x
         0  -1.5
    <BLANKLINE>
    region  action
         0    left
    """
    columns = list(zip(*rows, strict=True))
    widths = [max(map(cells_of, column)) for column in columns]
    blocks = _blocks(widths, width)
    lines: list[str] = []
    for block in blocks:
        lines += [""] if lines else []
        lines += [GAP.join(_right(row[i], widths[i]) for i in block) for row in rows]
    return lines


def _blocks(widths: Sequence[int], width: int | None) -> list[list[int]]:
    """Return the columns of each block; the first column is in every block."""
    if not widths or width is None:
        return [list(range(len(widths)))]
    blocks, now, taken = [], [0], widths[0]
    for i in range(1, len(widths)):
        if len(now) > 1 and taken + len(GAP) + widths[i] > width:
            blocks.append(now)
            now, taken = [0], widths[0]
        now.append(i)
        taken += len(GAP) + widths[i]
    return [*blocks, now]


def _right(word: str, width: int) -> str:
    return " " * (width - cells_of(word)) + word


def table_with_remarks(rows: Rows, remarks: Sequence[str], width: int | None = None) -> list[str]:
    r"""Return rows as lines, each beside a sentence wrapped in its own column.

    If there is no room beside the row, the sentence goes below it; if the row does not fit either, all sentences go
    below all rows.

    >>> print(*table_with_remarks([["a", "1"]], ["one two three"], width=14), sep="\n")
    a  1
      one two
        three
    """
    lines = columns_of(rows)
    if width is None:
        return [f"{line}{GAP}{remark}" for line, remark in zip(lines, remarks, strict=True)]
    if max(map(cells_of, lines)) > width:
        named = [[" ".join(row[:2]), remark] for row, remark in zip(rows, remarks, strict=True)]
        return [*columns_of(rows, width), "", *listed(named, width)]
    beside = max(map(cells_of, lines)) + len(GAP)
    if width - beside < NARROWEST:
        pairs = zip(lines, remarks, strict=True)
        return [text for line, remark in pairs for text in (line, fitted_lines(GAP + remark, width))]
    hung = []
    for line, remark in zip(lines, remarks, strict=True):
        first, *later = fitted_lines(remark, width - beside, hanging=0).split("\n")
        hung += [f"{line}{GAP}{first}", *(" " * beside + text for text in later)]
    return hung


def listed(rows: Rows, width: int | None = None) -> list[str]:
    r"""Return rows as left-aligned columns with the last one wrapped: a list of names with explanations.

    >>> print(*listed([["puck", "a hill"], ["cart", "a pole on a cart"]], width=30), sep="\n")
    puck  a hill
    cart  a pole on a cart
    """
    if not rows:
        return []
    heads = [row[:-1] for row in rows]
    widths = [max(map(cells_of, column)) for column in zip(*heads, strict=True)]
    lines = [
        GAP.join(word + " " * (w - cells_of(word)) for word, w in zip(head, widths, strict=True))
        for head in heads
    ]
    longest = max(cells_of(word) for row in rows for word in row[-1].split() or [""])
    if width is not None and width - max(map(cells_of, lines)) - len(GAP) < max(NARROWEST, longest):
        below = [
            [line.rstrip(), " " * (_margin(line) + 4) + row[-1]]
            for line, row in zip(lines, rows, strict=True)
        ]
        return [fitted_lines(text, width, hanging=0) for pair in below for text in pair if text.strip()]
    lines = [f"{line}{GAP}{row[-1]}" for line, row in zip(lines, rows, strict=True)]
    beside = sum(widths) + len(GAP) * len(widths)
    return [fitted_lines(line, width, hanging=beside - _margin(line)).rstrip() for line in lines]


def _margin(line: str) -> int:
    """Return the indent of a line."""
    return len(line) - len(line.lstrip(" "))


# Colours for text: a few styles by name, and the hues of the pictures.


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


def painted_letters(line: str, names: str, actions: Sequence[str]) -> str:
    """Return a line of a map with the letters of its actions in the hues of the pictures.

    >>> from distinguo.views.terminal import without_style
    >>> without_style(painted_letters("llrr..", "lr", ("left", "right")))
    'llrr..'
    """
    from distinguo.views.colours import hue_of  # loads matplotlib

    return "".join(
        painted("".join(run), hue_of(names.find(letter), actions)) for letter, run in groupby(line)
    )
