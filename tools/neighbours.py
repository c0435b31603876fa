"""Put a comparison into docs: ``python -m tools.neighbours FOLDER``, made by ``distinguo reproduce --neighbours``."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from distinguo_lab.neighbours.page import PICTURE, TABLE, from_csv, tables

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"


def with_tables(page: str, table: str) -> str:
    """Return a page with the tables made of a CSV between its two marks."""
    made = f"{BEGIN}\n\n{tables(from_csv(table))}\n{END}"
    return re.sub(f"{BEGIN}.*{END}", lambda found: made, page, flags=re.DOTALL)


def main(folder: Path) -> None:
    """Copy the table and the picture, and write the tables into the page."""
    shutil.copy(folder / TABLE, DOCS / TABLE)
    shutil.copy(folder / PICTURE, DOCS / "images" / PICTURE)
    page = DOCS / "neighbours.md"
    page.write_text(
        with_tables(page.read_text(encoding="utf-8"), (folder / TABLE).read_text(encoding="utf-8"))
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
