"""The lesson and the tutorial as notebooks: they are executed, show pictures, and print what their pages say."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import nbformat
import pytest
from tools.notebook import DOCS, NOTEBOOK, PAGE, Piece, executed, pieces


def saved() -> Any:
    return nbformat.reads(NOTEBOOK.read_text(), as_version=4)


def printed(cell: Any) -> str:
    """What a cell shows as text."""
    texts = [
        one["text"] if one["output_type"] == "stream" else one["data"].get("text/plain", "") + "\n"
        for one in cell.outputs
    ]
    return "".join(texts)


def pictures(book: Any) -> list[str]:
    """The kinds of pictures in the outputs of a notebook, in order."""
    shown = [one.get("data", {}) for cell in book.cells for one in cell.get("outputs", [])]
    found = []
    for data in shown:
        html = data.get("text/html", "")
        found += ["png"] if "image/png" in data or "data:image/png" in html else []
        found += ["film"] if "data:video/mp4" in html or "data:image/gif" in html else []
    return found


def check_printed(cells: list[Piece], book: Any) -> None:
    """Every line that a page shows is printed; pictures and films stand for themselves."""
    checker = doctest.OutputChecker()
    for cell, made in zip(cells, book.cells, strict=True):
        assert cell.source == made.source
        if cell.is_code:
            assert checker.check_output(cell.printed, printed(made), doctest.ELLIPSIS), printed(made)
        else:
            assert made.cell_type == "markdown"


def test_the_saved_notebook_is_current_and_shows_its_pictures() -> None:
    """Its text and code are those of the page, and so is all that it printed when it was made."""
    check_printed(pieces(PAGE.read_text()), saved())
    assert pictures(saved()) == ["png", "png", "film", "png"]


@pytest.mark.parametrize("page", ["lesson.md", "tutorial.md"])
def test_a_page_runs_as_a_notebook(page: str) -> None:
    cells = pieces((DOCS / page).read_text())
    book = executed(cells)
    check_printed(cells, book)
    assert len(pictures(book)) == {"lesson.md": 4, "tutorial.md": 2}[page]


def test_every_task_has_an_answer_that_is_folded() -> None:
    texts = "\n".join(cell.source for cell in saved().cells if cell.cell_type == "markdown")
    code = [cell.source for cell in saved().cells if cell.cell_type == "code"]
    assert texts.count("**Task ") == texts.count("<summary>Answer</summary>") >= 6
    assert not any("Answer" in source or ">>>" in source for source in code)


def test_a_notebook_is_small_and_knows_nothing_of_its_machine() -> None:
    content = Path(NOTEBOOK).read_bytes()
    assert len(content) < 1_000_000
    assert b"/tmp" not in content
    assert b"/home" not in content
