"""The documents are true: their examples run, and every name in docs/paper.md exists."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path
from typing import get_type_hints

import pytest

from distinguo.settings import LearnerSettings
from tests.conftest import FIRST, NIGHT, SECOND_STAGE

ROOT = Path(__file__).parent.parent


DOCUMENTS = [path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if ">>> " in path.read_text()]


def test_the_documents_have_examples() -> None:
    assert {"README.md", "gymnasium.md", "tutorial.md"} <= {path.name for path in DOCUMENTS}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_examples_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # they may write runs
    failures, tried = doctest.testfile(str(document), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 0
    assert failures == 0


def test_no_python_in_a_document_is_left_untried() -> None:
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for block in re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL):
            assert block.startswith(">>> "), f"{path.name}: {block}"


def test_every_function_named_for_the_paper_exists() -> None:
    text = (ROOT / "docs" / "paper.md").read_text()
    names = set(
        re.findall(
            r"`((?:criteria|controller|learners|tasks|runs|study|paper|evaluation|representation|controls)\.[\w.]+)`",
            text,
        )
    )
    assert len(names) > 25
    of_lab = set(re.findall(r"`(distinguo_lab\.[\w.]+)`", text))
    for name in {f"distinguo.{name}" for name in names} | of_lab:
        module, _, attribute = name.rpartition(".")
        found = importlib.import_module(module)
        assert hasattr(found, attribute) or importlib.import_module(name), name


def test_every_test_named_for_the_paper_exists() -> None:
    text = (ROOT / "docs" / "paper.md").read_text()
    for path in set(re.findall(r"`(tests/[\w./]+)`", text)):
        assert (ROOT / path).exists(), path


def test_every_setting_has_a_reading() -> None:
    """A setting whose source is "ours" must be explained in docs/readings.md."""
    hints = get_type_hints(LearnerSettings, include_extras=True)
    ours = [name for name, hint in hints.items() if "ours" in hint.__metadata__[0].description]
    readings = (ROOT / "docs" / "readings.md").read_text()
    assert len(ours) > 10
    for name in ours:
        assert f"`{name}`" in readings, name


def test_the_files_whose_time_is_chosen_exist() -> None:
    for name in (*FIRST, *SECOND_STAGE, *NIGHT):
        path, _, test = name.partition("::")
        assert (ROOT / path).exists(), name
        assert not test or f"def {test.partition('[')[0]}(" in (ROOT / path).read_text(), name
