"""Links lead somewhere: to a file that is there, and to a heading that it has."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from markdown.extensions.toc import slugify

from distinguo.cli.listing import ABOUT, BOX2D
from tests.docs.blocks import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
_LINK = re.compile(r"!?\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s]+)(?: \"[^\"]*\")?\)|(?:href|src)=\"([^\"]+)\"")


def prose(path: Path) -> str:
    """Return a page without its code, in which brackets are no links."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def links(path: Path) -> list[str]:
    return [first or second for first, second in _LINK.findall(prose(path))]


@cache
def anchors(path: Path) -> frozenset[str]:
    """Return what a link to a page may point at: its headings, and what it documents by ``:::``."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return frozenset(re.findall(r"\bid=\"([^\"]+)\"", text))
    found: set[str] = set(re.findall(r"^::: ([\w.]+)", text, re.MULTILINE))
    found |= set(re.findall(r"\bid=\"([^\"]+)\"", text))
    times: dict[str, int] = {}
    for heading in re.findall(
        r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.MULTILINE
    ):
        slug = slugify(re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading), "-")
        times[slug] = times.get(slug, 0) + 1
        found.add(slug if times[slug] == 1 else f"{slug}_{times[slug] - 1}")
    return frozenset(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        parts = urlsplit(link)
        if parts.scheme:
            assert parts.scheme in ("http", "https", "mailto"), link
            assert parts.netloc or parts.path, link
            continue
        target = (page.parent / parts.path).resolve() if parts.path else page
        assert target.exists(), f"{page.name}: {link}"
        if parts.fragment and target.suffix == ".md":
            assert parts.fragment in anchors(target), (
                f"{page.name}: {link}, there are {sorted(anchors(target))}"
            )


def test_there_are_links_and_anchors_to_check() -> None:
    every = [link for page in PAGES for link in links(page)]
    assert len(every) > 100
    assert sum("#" in link for link in every) > 10


def test_every_page_can_be_reached() -> None:
    """Every page is in the navigation, and the navigation names pages that are there."""
    listed = set(re.findall(r"\"([\w./-]+\.(?:md|html))\"", (ROOT / "zensical.toml").read_text()))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")}
    assert pages <= listed
    assert {name for name in listed if not (ROOT / "docs" / name).exists()} == set()


def test_every_picture_is_used_and_has_words() -> None:
    used = {Path(link).name for page in PAGES for link in links(page)}
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.name in used, picture
    for page in PAGES:
        for words in re.findall(r"!\[([^\]]*)\]\(", prose(page)):
            assert len(words) > 10, f"{page.name}: a picture without words for those who do not see it"


def test_the_readme_is_one_page() -> None:
    """Two minutes of reading: few words, four pictures under the film, and one table of at most six figures."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 500
    shown = re.findall(r"!\[[^\]]+\]\(docs/images/([\w.]+)\)", text)
    assert shown == ["puck.gif", "why.png", "studio.png", "proof.png", "c.png"]
    rows = text[text.index("| what | distinguo |") :].split("\n\n")[0].splitlines()[2:]
    assert 1 <= len(rows) <= 6
    assert all(len(row.split("|")) == 6 and "`" in row for row in rows)


def test_there_is_one_logo() -> None:
    logo = (ROOT / "docs" / "images" / "logo.svg").read_text()
    assert logo == (ROOT / "src" / "distinguo" / "views" / "studio" / "page" / "icon.svg").read_text()


def test_every_listed_task_has_a_page_with_a_small_film_and_its_regions_in_words() -> None:
    for name in ABOUT:
        page = ROOT / "docs" / "tasks" / f"{name}.md"
        if name in BOX2D and not page.exists():  # made where their package is installed
            continue
        assert (ROOT / "docs" / "images" / f"task-{name}.gif").stat().st_size <= 300_000
        text = page.read_text()
        assert f"(../images/task-{name}.gif)" in text
        assert f"(../images/task-{name}.png)" in text
        assert text.count("\n- ") >= 1
        assert f"[{name}]({name}.md)" in (page.parent / "index.md").read_text()
