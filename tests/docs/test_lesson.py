"""The notebook of the lesson is made from its page, and its code runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tools.notebook import NOTEBOOK, PAGE, notebook_text


def cells(kind: str) -> list[str]:
    content = json.loads(NOTEBOOK.read_text())
    return [cell["source"] for cell in content["cells"] if cell["cell_type"] == kind]


def test_the_notebook_is_current() -> None:
    assert NOTEBOOK.read_text() == notebook_text(PAGE.read_text()), "out of date: python -m tools.notebook"


def test_its_code_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for source in cells("code"):
        exec(compile(source, "lesson.ipynb", "exec"), names)
    assert names["run"].solved
    assert {curve.representation for curve in names["result"].curves} == {"line", "left and right"}


def test_every_task_has_an_answer_that_is_folded() -> None:
    texts = "\n".join(cells("markdown"))
    assert texts.count("**Task ") == texts.count("<summary>Answer</summary>") >= 6
    assert not any("Answer" in source or ">>>" in source for source in cells("code"))
