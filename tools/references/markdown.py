"""The little Markdown that reference pages need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

#: Stands at the top of every page, so that nobody edits the page instead of what it is made from.
MADE = "*Made from the code by `python -m tools.references`.*"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""Return a table; a bar inside of a cell is written so that it does not end the cell.

    >>> print(table(["name"], [["a|b"]]))
    | name |
    |---|
    | a\|b |
    """
    lines = [head, *rows]
    written = ["| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines]
    return "\n".join([written[0], "|" + "---|" * len(head), *written[1:]])


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def page(title: str, *parts: str) -> str:
    """Return a page that ends in one line break."""
    return "\n\n".join([f"# {title}", MADE, *parts]) + "\n"
