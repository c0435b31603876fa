"""The reference pages say what the code says."""

from __future__ import annotations

import pytest
from tools.references.api import grouped
from tools.references.fields import FILES
from tools.references.files import described
from tools.references.pages import FOLDER, pages

import distinguo


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return pages()


def test_what_is_committed_is_current(made: dict[str, str]) -> None:
    assert {path.name for path in FOLDER.glob("*.md")} == set(made)
    for name, text in made.items():
        assert (FOLDER / name).read_text() == text, f"{name} is out of date: python -m tools.references"


def test_every_public_name_has_its_place(made: dict[str, str]) -> None:
    groups = grouped()
    assert "Others" not in groups, "put these into a group of tools/references/api.py: " + ", ".join(
        groups["Others"]
    )
    assert sorted(name for names in groups.values() for name in names) == sorted(distinguo.__all__)
    assert made["api.md"].count("\n::: ") == len(distinguo.__all__)


def test_a_field_that_nobody_described_is_noticed() -> None:
    with pytest.raises(distinguo.DistinguoError, match="unheard-of"):
        described(FILES, ["settings.toml", "unheard-of"])
