"""The documents are true: examples in the README run, and every name in docs/paper.md exists."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path
from typing import get_type_hints

import pytest

from distinguo.settings import LearnerSettings

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("document", ["README.md", "docs/tutorial.md"])
def test_examples_run(document: str) -> None:
    failures, tried = doctest.testfile(
        str(ROOT / document), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert tried > 0
    assert failures == 0


def test_every_function_named_for_the_paper_exists() -> None:
    text = (ROOT / "docs" / "paper.md").read_text()
    names = set(
        re.findall(
            r"`((?:criteria|controller|learners|tasks|runs|study|paper|evaluation|representation|controls)\.[\w.]+)`",
            text,
        )
    )
    assert len(names) > 25
    for name in names:
        module, _, attribute = name.rpartition(".")
        found = importlib.import_module(f"distinguo.{module}")
        assert hasattr(found, attribute) or importlib.import_module(f"distinguo.{name}"), name


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
