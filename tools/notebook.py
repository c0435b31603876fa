"""The lesson as a notebook, made from its page and executed.

    python -m tools.notebook

Text becomes cells of text, examples become cells of code without prompts, with what they show; answers stay folded,
code and all. tests/docs/test_lesson.py says whether the notebook is current, and executes it again.
"""

from __future__ import annotations

import doctest
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbclient import NotebookClient

DOCS = Path(__file__).parents[1] / "docs"
PAGE, NOTEBOOK = DOCS / "lesson.md", DOCS / "lesson.ipynb"
#: An answer as a whole, or an example outside of one.
_PIECES = re.compile(r"(<details.*?</details>|^```python\n.*?^```)", re.MULTILINE | re.DOTALL)
_PICTURES = re.compile(
    r"^!\[[^\n]*\]\(images/[^\n]*\)\n\n", re.MULTILINE
)  #: of the page; a notebook makes its own
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SECONDS = 600  #: for one cell, which may compile


class Piece(NamedTuple):
    """A cell of a notebook to be: text, or code with what its page says that it prints."""

    is_code: bool
    source: str
    printed: str = ""


def pieces(page: str) -> list[Piece]:
    """Return the cells of a page in Markdown; a cell of code ends where something is printed."""
    found: list[Piece] = []
    for part in _PIECES.split(_PICTURES.sub("", page)):
        if part.startswith("```python"):
            found += _examples(part)
        elif part.startswith("<details") and found and not found[-1].is_code:
            found[-1] = found[-1]._replace(source=f"{found[-1].source}\n\n{part}")
        elif part.strip():
            found.append(Piece(False, part.strip()))
    return found


def _examples(fenced: str) -> list[Piece]:
    cells, source = [], ""
    for example in doctest.DocTestParser().get_examples(
        fenced.removeprefix("```python\n").removesuffix("```")
    ):
        source += example.source
        if example.want:
            cells.append(Piece(True, _with_room(source.strip()), example.want))
            source = ""
    return [*cells, Piece(True, _with_room(source.strip()))] if source.strip() else cells


def _with_room(source: str) -> str:
    """Set imports apart, ours from others and all from what follows, as ruff has it."""
    lines = source.splitlines()
    for n in range(len(lines) - 1, 0, -1):
        if _kind(lines[n - 1]) not in ("", _kind(lines[n])):
            lines.insert(n, "")
    return "\n".join(lines)


def _kind(line: str) -> str:
    """Return whose import a line is; nothing for another line."""
    module = re.match(r"(?:import|from) (\w+)", line)
    return "" if module is None else "ours" if module[1] == "distinguo" else "others"


def executed(cells: list[Piece]) -> Any:
    """Return the notebook of some cells, with what each shows when they are run in a folder of their own."""
    book = nbformat.v4.new_notebook(metadata=_METADATA)
    for number, cell in enumerate(cells):
        new = nbformat.v4.new_code_cell if cell.is_code else nbformat.v4.new_markdown_cell
        book.cells.append(new(cell.source, id=f"cell-{number}"))
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(book, timeout=SECONDS, resources={"metadata": {"path": folder}}).execute()
    book.metadata = _METADATA  # without the versions of this machine
    for cell in book.cells:
        cell.metadata.clear()  # when it was run
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if not _is_progress(one)]
    return book


def _is_progress(output: Any) -> bool:
    return output.get("metadata", {}).get("distinguo") == "progress"


def main() -> None:
    """Write the notebook anew."""
    book = executed(pieces(PAGE.read_text(encoding="utf-8")))
    NOTEBOOK.write_text(nbformat.writes(book) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
