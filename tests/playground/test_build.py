"""The page is made from its modules, is one file, and draws with the colours of all pictures."""

from __future__ import annotations

import re
from pathlib import Path

from playground.build import FIRST, MADE, ROOT, build, modules_from

from distinguo.views.colours import FEW, HUES, PALEST, PALEST_OF_MANY, UNDECIDED

VIEW = ROOT / "src" / "distinguo" / "views" / "studio" / "page" / "view"


def test_the_page_is_what_is_built_and_small() -> None:
    """A change of a module is in the page, too."""
    made = build()
    assert MADE.read_text(encoding="utf-8") == made, "run python playground/build.py"
    assert len(made.encode()) < 300_000


def test_the_page_needs_no_other_file() -> None:
    """No address is loaded, and no handler is written into a tag."""
    made = build()
    assert not re.findall(r"<(?:script|img|iframe)[^>]*\bsrc=|@import|url\(|\bfetch\(|XMLHttpRequest", made)
    assert re.findall(r"<link[^>]*href=\"([^\"]{5})", made) == ["data:"]
    assert not re.findall(r"<[^>]*\son\w+=", made)
    assert "/*SCRIPT*/" not in made
    assert "/*STYLE*/" not in made


def test_no_module_is_long_and_all_are_used() -> None:
    """Sources stay small; what the page does not use is the studio's."""
    ours = sorted((ROOT / "playground").rglob("*.js"))
    assert {path.resolve() for path in ours} == {p for p in modules_from(FIRST) if VIEW not in p.parents}
    for path in [*ours, *VIEW.glob("*.js")]:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 500, path


def test_colours_are_those_of_all_pictures() -> None:
    """One palette for matplotlib and the browser."""
    source = (VIEW / "colours.js").read_text(encoding="utf-8")
    listed = source[source.index("HUES = [") : source.index("];")]
    assert tuple(re.findall(r"#[0-9a-f]{6}", listed)) == HUES
    numbers = dict(re.findall(r"^(?:export )?const (\w+) = \"?([#\w.]+)\"?;", source, re.MULTILINE))
    assert numbers["UNDECIDED"] == UNDECIDED
    assert [float(numbers[name]) for name in ("PALEST", "PALEST_OF_MANY", "FEW")] == [
        PALEST,
        PALEST_OF_MANY,
        FEW,
    ]


def test_sources_are_where_they_are_said_to_be() -> None:
    """The page names the file of every part of its script."""
    named = re.findall(r"^// ((?:playground|src)/\S+\.js)$", build(), re.MULTILINE)
    assert [Path(name) for name in named] == [path.relative_to(ROOT) for path in modules_from(FIRST)]
