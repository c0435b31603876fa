"""Write all reference pages anew."""

from __future__ import annotations

from tools.references.pages import FOLDER, pages

for name, text in pages().items():
    (FOLDER / name).write_text(text, encoding="utf-8")
