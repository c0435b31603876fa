"""The reproduction of the paper in small: claims, figures, report."""

from __future__ import annotations

import base64
import json
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from distinguo.cli import main
from distinguo.comparison import cells
from distinguo.comparison.cells import run_cell
from distinguo_lab.paper import reproduce
from distinguo_lab.paper import stages as readings
from distinguo_lab.paper.claims import read_generated
from distinguo_lab.paper.reproduce import Scope
from tests.cuts import files_of, without_times
from tests.nightly import NIGHTLY

TINY = Scope(runs=1, cap=2000, seeds=3, last_trial=2000, quick=True)
#: A coarser quantization, which is made in a moment.
COARSE = (readings.PAPER._replace(controllability="controllability:1e-3"), readings.DEFAULT)
IDS = [
    *("balance-point", "diagonal-separates"),
    *("scratch-solves", "scratch-categories", "values-outwards"),
    *("seeded-categories", "seeded-added", "seeded-trials", "seeded-long-trial"),
    *("diagonal-reaches-cap", "learned-reaches-cap", "vrdp-best", "vrdp-poor", "controllability-poor"),
    *("order-of-best", "order-of-poor", "enhanced-better"),
    *("diagonal-categories", "learned-categories", "grid:10x10-categories", "vrdp-enhanced-categories"),
    "critic-balances",
]
NUMBERS = sorted([*(f"{n:02}" for n in range(7, 17)), *(f"{n}-default" for n in (10, 11, 14, 15, 16))])
FIGURES = sorted(f"figure-{number}.png" for number in NUMBERS)


def run_tiny(folder: Path, out: str, *words: str) -> int:
    """Run the quick reproduction, made tiny, from within a folder; return its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(reproduce, "QUICK", TINY)
        patch.setattr(reproduce, "READINGS", COARSE)
        patch.setattr(sys, "argv", ["distinguo", "reproduce", "--quick", "--out", out, "--json", *words])
        with pytest.raises(SystemExit) as end:
            main()
    return int(end.value.code or 0)


class Made:
    """A reproduction that was made once for all tests."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.code = run_tiny(out.parent, out.name)
        self.claims: list[dict[str, Any]] = json.loads((out / "claims.json").read_text())
        self.page = (out / "report.html").read_text()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("reproduction") / "out")


# What comes out.


def test_every_claim_is_there_once_and_in_order(made: Made) -> None:
    assert made.code == (0 if all(row["holds"] for row in made.claims) else 3)
    assert [row["id"] for row in made.claims] == IDS
    for row in made.claims:
        assert all(row[key] for key in ("claim", "paper", "criterion", "ours"))
        for finding in (row, row["default"]):
            assert finding["verdict"] in ("reproduced", "better", "differs")
            assert finding["holds"] is (finding["verdict"] != "differs")


def test_the_claims_are_the_same_as_ever(made: Made) -> None:
    """Those of ``reproduce --quick`` are compared at night (tests/test_golden.py)."""
    golden = Path(__file__).parents[2] / "golden" / "claims-tiny.json"
    assert json.loads((made.out / "claims.json").read_text()) == json.loads(golden.read_text())


@pytest.mark.skipif(not NIGHTLY, reason="takes a minute for each engine")
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_every_engine_leaves_the_same_files(made: Made, engine: str, tmp_path: Path) -> None:
    """Threads did the tiny case study; nothing but times may differ. Files name their path, so it is the same."""
    by_threads = without_times(files_of(made.out))
    made.out.rename(tmp_path / "aside")
    try:
        assert run_tiny(made.out.parent, made.out.name, "--engine", engine, "--workers", "2") == made.code
        found = without_times(files_of(made.out))
    finally:
        shutil.rmtree(made.out)
        (tmp_path / "aside").rename(made.out)
    assert len(found) > 50
    assert sorted(n for n in found.keys() | by_threads.keys() if found.get(n) != by_threads.get(n)) == []


def test_what_the_paper_can_be_held_to_even_in_small_holds(made: Made) -> None:
    sure = {"balance-point", "diagonal-separates", "diagonal-categories", "grid:10x10-categories"}
    assert {row["id"] for row in made.claims if row["holds"]} >= sure | {"scratch-solves", "values-outwards"}
    assert {row["id"] for row in made.claims if row["default"]["holds"]} >= sure | {"seeded-trials"}


def test_every_figure_is_a_picture(made: Made) -> None:
    assert sorted(path.name for path in made.out.glob("*.png")) == FIGURES
    for name in FIGURES:
        content = (made.out / name).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) > 5000


def test_figures_of_different_things_differ(made: Made) -> None:
    assert len({(made.out / name).read_bytes() for name in FIGURES}) == len(FIGURES)


class Page(HTMLParser):
    """Collects what a page refers to and the cells of its table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.rows: dict[str, list[str]] = {}
        self.captions: list[str] = []
        self._into: list[str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.add(tag)
        self.links += [
            str(attributes[name])
            for name in ("src", "href", "srcset", "action", "data")
            if name in attributes
        ]
        if tag == "tr":
            self.row = self.rows.setdefault(str(attributes.get("id")), [])
        if tag in ("td", "figcaption"):
            self._into = self.row if tag == "td" else self.captions
            self._into.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "figcaption"):
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into[-1] += data


def test_the_report_needs_no_other_file_and_no_network(made: Made) -> None:
    page = Page(made.page)
    assert not page.tags & {"script", "link", "iframe", "object", "embed"}
    assert not re.search(r"https?://|//[a-z]|url\(|@import", re.sub(r"base64,[^\"]*", "", made.page))
    assert len(page.links) == len(FIGURES)
    for link in page.links:
        assert link.startswith("data:image/png;base64,")
        assert base64.b64decode(link.partition(",")[2], validate=True).startswith(b"\x89PNG")


def cells_of(row: dict[str, Any]) -> list[str]:
    both = [*(row[key] for key in ("claim", "paper", "criterion", "ours", "verdict"))]
    return [*both, row["default"]["ours"], row["default"]["verdict"]]


def test_the_report_tells_every_claim_and_figure(made: Made) -> None:
    page = Page(made.page)
    for row in made.claims:
        assert page.rows[row["id"]] == cells_of(row)
    told = [caption.split(".")[0] for caption in page.captions]
    assert told == [f"Figure {number.lstrip('0')}" for number in NUMBERS]
    for held in (sum(r["holds"] for r in made.claims), sum(r["default"]["holds"] for r in made.claims)):
        assert f"{held} of {len(IDS)} claims hold." in made.page
    assert "Quick: 1 runs and a cap of 2,000 steps" in made.page


def test_the_table_in_markdown_has_the_same_rows(made: Made) -> None:
    head, rule, *rows = (made.out / "claims.md").read_text().splitlines()
    assert head == (
        "| claim | the paper | reproduced if | reading paper | verdict | reading default | verdict |"
    )
    assert rule == "|---|---|---|---|---|---|---|"
    assert [[cell.strip() for cell in row.strip("|").split("|")] for row in rows] == [
        cells_of(row) for row in made.claims
    ]


# Again.


def kept(out: Path) -> dict[str, int]:
    """Return when each file of the runs and of the tests was written."""
    folders = ("controls", "paper", "default")
    return {str(p): p.stat().st_mtime_ns for f in folders for p in (out / f).rglob("*") if p.is_file()}


def test_a_second_run_uses_what_is_there(made: Made, monkeypatch: Any, capfd: Any) -> None:
    """Also when the folder is called by another name."""
    before = kept(made.out)
    monkeypatch.setattr(cells, "run_cell", lambda payload: pytest.fail(f"{payload['key']} was run again"))
    capfd.readouterr()
    assert run_tiny(made.out.parent, made.out.name) == made.code
    assert kept(made.out) == before
    answer = json.loads(capfd.readouterr().out)
    assert answer["claims"] == made.claims
    assert answer["report"] == f"{made.out.name}/report.html"
    assert answer["seconds"] > 0
    for name in ("paper", "default"):
        assert answer["adequacy"][name].startswith("Of 3 solved maps from scratch, ")
        assert answer["adequacy"][name] in made.page


def test_runs_of_an_earlier_version_are_read_though_they_were_not_audited(made: Made, tmp_path: Path) -> None:
    content = json.loads((made.out / "paper" / "generated.json").read_text())
    for run in content["scratch"]:
        assert 0.0 <= run.pop("adequate") <= 1.0
    (tmp_path / "generated.json").write_text(json.dumps(content))
    assert [run.adequate for run in read_generated(tmp_path / "generated.json").scratch] == [None] * 3


def stumbling(payload: dict[str, Any]) -> dict[str, Any]:
    if payload["key"] == "grid-10x10--plain--run-0":
        raise ArithmeticError("no luck today")
    return run_cell(payload)


def test_a_cell_that_fails_is_named_and_can_be_run_again(made: Made, monkeypatch: Any, capfd: Any) -> None:
    (lost,) = (made.out / "paper" / "test" / "cells").glob("grid-10x10--*")
    content = lost.read_bytes()
    lost.unlink()
    monkeypatch.setattr(cells, "run_cell", stumbling)
    capfd.readouterr()
    assert run_tiny(made.out.parent, made.out.name) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "grid-10x10--plain--run-0" in printed.err.splitlines()[-1]
    assert "no luck today" in printed.err.splitlines()[-1]
    monkeypatch.undo()
    monkeypatch.setattr(reproduce, "QUICK", TINY)
    monkeypatch.setattr(reproduce, "READINGS", COARSE)
    again = reproduce.reproduce(made.out, quick=True)
    assert (again.as_json(), again.folder) == (made.claims, made.out)
    assert repr(again).splitlines()[-1] == TINY.words
    assert lost.read_bytes() == content
