"""The lesson as a notebook, made from its page.

    python -m tools.notebook

Text becomes cells of text, examples become cells of code without prompts and outputs; answers stay folded, code and
all. tests/docs/test_lesson.py says whether the notebook is current, and runs it.
"""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
PAGE, NOTEBOOK = DOCS / "lesson.md", DOCS / "lesson.ipynb"
#: An answer as a whole, or an example outside of one.
_PIECES = re.compile(r"(<details.*?</details>|^```python\n.*?^```)", re.MULTILINE | re.DOTALL)
_FORMAT = {"nbformat": 4, "nbformat_minor": 5}
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook_text(page: str) -> str:
    """Return the notebook of a page in Markdown, as the text of its file."""
    cells: list[dict[str, Any]] = []
    for piece in _PIECES.split(page):
        if piece.startswith("```python"):
            cells.append(_code(piece, len(cells)))
        elif piece.startswith("<details") and cells and cells[-1]["cell_type"] == "markdown":
            cells[-1]["source"] += "\n\n" + piece
        elif piece.strip():
            cells.append(_cell("markdown", piece.strip(), len(cells)))
    return json.dumps({"cells": cells, "metadata": _METADATA, **_FORMAT}, indent=1, ensure_ascii=False) + "\n"


def _code(fenced: str, number: int) -> dict[str, Any]:
    examples = doctest.DocTestParser().get_examples(fenced.removeprefix("```python\n").removesuffix("```"))
    source = _with_room("".join(example.source for example in examples).strip())
    return {**_cell("code", source, number), "execution_count": None, "outputs": []}


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


def _cell(kind: str, source: str, number: int) -> dict[str, Any]:
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source}


def main() -> None:
    """Write the notebook anew."""
    NOTEBOOK.write_text(notebook_text(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
