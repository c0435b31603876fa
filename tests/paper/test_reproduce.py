"""The reproduction of the paper in small: claims, figures, report; and what makes a claim fail."""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.cli import main
from distinguo.learners.ahc import Balanced
from distinguo.paper import reproduce
from distinguo.paper.claims import Claim, analysis_claims, critic_claim, curve_claims, generation_claims
from distinguo.paper.reproduce import Scope
from distinguo.study import engines
from distinguo.study.engines import run_cell
from distinguo.study.results import AveragedCurve
from distinguo.tasks.puck.analysis import MUST_PUSH_LEFT, analyse
from distinguo.tasks.puck.puck import Puck

TINY = Scope(runs=1, cap=2000, seeds=3, quick=True)
IDS = [
    *("balance-point", "diagonal-separates"),
    *("scratch-solves", "scratch-categories", "seeded-categories", "seeded-trials"),
    *("diagonal-reaches-cap", "learned-reaches-cap", "vrdp-best", "vrdp-poor", "controllability-poor"),
    *("order-of-best", "enhanced-better"),
    *("diagonal-categories", "learned-categories", "grid:10x10-categories", "vrdp-enhanced-categories"),
    "critic-balances",
]
FIGURES = [f"figure-{number:02}.png" for number in range(8, 17)]


def run_tiny(folder: Path, out: str) -> int:
    """Run the quick reproduction, made tiny, from within a folder; return its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(reproduce, "QUICK", TINY)
        patch.setattr(sys, "argv", ["distinguo", "reproduce", "--quick", "--out", out, "--json"])
        with pytest.raises(SystemExit) as end:
            main()
    return int(end.value.code or 0)


class Made:
    """A reproduction that was made once for all tests."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.code = run_tiny(out.parent, str(out))
        self.claims = [Claim(**row) for row in json.loads((out / "claims.json").read_text())]
        self.page = (out / "report.html").read_text()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("reproduction") / "out")


# What comes out.


def test_every_claim_is_there_once_and_in_order(made: Made) -> None:
    assert made.code == 0
    assert [claim.id for claim in made.claims] == IDS
    for claim in made.claims:
        assert type(claim.holds) is bool
        assert claim.claim
        assert claim.paper
        assert claim.ours


def test_the_claims_are_the_same_as_ever(made: Made) -> None:
    """Those of ``reproduce --quick`` are compared at night (tests/test_golden.py)."""
    golden = Path(__file__).parents[1] / "golden" / "claims-tiny.json"
    assert json.loads((made.out / "claims.json").read_text()) == json.loads(golden.read_text())


def test_what_the_paper_can_be_held_to_even_in_small_holds(made: Made) -> None:
    sure = {
        *(
            "balance-point",
            "diagonal-separates",
            "scratch-solves",
            "seeded-categories",
            "diagonal-reaches-cap",
        ),
        *("diagonal-categories", "grid:10x10-categories"),
    }
    assert {claim.id for claim in made.claims if claim.holds} >= sure


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


def test_the_report_tells_every_claim_and_figure(made: Made) -> None:
    page = Page(made.page)
    for claim in made.claims:
        assert page.rows[claim.id] == [claim.claim, claim.paper, claim.ours, "yes" if claim.holds else "no"]
    assert [caption.split(".")[0] for caption in page.captions] == [f"Figure {n}" for n in range(8, 17)]
    held = sum(claim.holds for claim in made.claims)
    assert f"{held} of {len(IDS)} claims hold." in made.page
    assert "Quick: 1 runs and a cap of 2,000 steps" in made.page


def test_the_table_in_markdown_has_the_same_rows(made: Made) -> None:
    head, rule, *rows = (made.out / "claims.md").read_text().splitlines()
    assert (head, rule) == ("| claim | paper | ours | holds |", "|---|---|---|---|")
    cells = [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in rows]
    assert cells == [(c.claim, c.paper, c.ours, "yes" if c.holds else "no") for c in made.claims]


# Again.


def kept(out: Path) -> dict[str, int]:
    """Return when each file of the runs and of the tests was written."""
    folders = ("learned", "from-seeds", "test")
    return {str(p): p.stat().st_mtime_ns for f in folders for p in (out / f).rglob("*") if p.is_file()}


def test_a_second_run_uses_what_is_there(made: Made, monkeypatch: Any, capfd: Any) -> None:
    """Also when the folder is called by another name."""
    before = kept(made.out)
    monkeypatch.setattr(engines, "run_cell", lambda payload: pytest.fail(f"{payload['key']} was run again"))
    capfd.readouterr()
    assert run_tiny(made.out.parent, made.out.name) == 0
    assert kept(made.out) == before
    answer = json.loads(capfd.readouterr().out)
    assert [Claim(**row) for row in answer["claims"]] == made.claims
    assert answer["report"] == f"{made.out.name}/report.html"
    assert answer["seconds"] > 0


def stumbling(payload: dict[str, Any]) -> dict[str, Any]:
    if payload["key"] == "grid-10x10--plain--run-0":
        raise ArithmeticError("no luck today")
    return run_cell(payload)


def test_a_cell_that_fails_is_named_and_can_be_run_again(made: Made, monkeypatch: Any, capfd: Any) -> None:
    (lost,) = (made.out / "test" / "cells").glob("grid-10x10--*")
    content = lost.read_bytes()
    lost.unlink()
    monkeypatch.setattr(engines, "run_cell", stumbling)
    capfd.readouterr()
    assert run_tiny(made.out.parent, made.out.name) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "grid-10x10--plain--run-0" in printed.err.splitlines()[-1]
    assert "no luck today" in printed.err.splitlines()[-1]
    monkeypatch.undo()
    monkeypatch.setattr(reproduce, "QUICK", TINY)
    again = reproduce.reproduce(made.out, quick=True)
    assert (again.claims, again.folder) == (made.claims, made.out)
    assert repr(again).splitlines()[-1] == TINY.words
    assert lost.read_bytes() == content


# What makes a claim fail: curves and summaries made by hand.

CAP = 5_000_000
LEVELS: dict[str, list[float]] = {
    "diagonal": [60, CAP, CAP],
    "learned": [60, CAP / 2, CAP],
    "grid:10x10": [60, CAP / 3, CAP / 2],
    "vrdp-enhanced": [60, CAP / 5, CAP / 4],
    "vrdp": [60, 900, 2215],
    "controllability": [60, 100, 300],
}
REGIONS = {
    "diagonal": 2,
    "learned": 24,
    "grid:10x10": 100,
    "vrdp-enhanced": 117,
    "vrdp": 265,
    "controllability": 9,
}
SURVIVAL = {"vrdp-enhanced": 0.5, "vrdp": 0.1}
Curves = dict[str, AveragedCurve]


def good_curves() -> Curves:
    def curve(name: str) -> AveragedCurve:
        scores = np.tile(np.array(LEVELS[name], dtype=float), (10, 1))
        survival = np.full(scores.shape, SURVIVAL.get(name, 1.0))
        return AveragedCurve(name, "plain", REGIONS[name], [0, 25_000, 50_000], scores, survival)

    return {name: curve(name) for name in LEVELS}


def failing(claims: list[Claim]) -> set[str]:
    return {claim.id for claim in claims if not claim.holds}


def with_scores(name: str, scores: list[float]) -> Callable[[Curves], None]:
    def change(curves: Curves) -> None:
        curves[name].scores[:] = scores

    return change


def with_failures(name: str, runs: int) -> Callable[[Curves], None]:
    """Let some runs end just below the cap."""

    def change(curves: Curves) -> None:
        curves[name].scores[:runs, -1] = CAP - 1

    return change


def with_survival(name: str, share: float) -> Callable[[Curves], None]:
    def change(curves: Curves) -> None:
        curves[name].survival[:] = share

    return change


def with_regions(name: str, regions: int) -> Callable[[Curves], None]:
    def change(curves: Curves) -> None:
        curves[name] = curves[name]._replace(regions=regions)

    return change


#: What is changed, and which claims fail then; a claim and its neighbours say the same of the original VRDP.
CHANGES: list[tuple[Callable[[Curves], None], set[str]]] = [
    (with_failures("diagonal", 1), set()),
    (with_failures("diagonal", 2), {"diagonal-reaches-cap"}),
    (with_failures("learned", 2), {"learned-reaches-cap"}),
    (with_scores("vrdp", [60, 2499, 60]), set()),
    (with_scores("vrdp", [60, 2500, 60]), {"vrdp-best", "vrdp-poor"}),
    (with_scores("controllability", [60, 2600, 60]), {"controllability-poor"}),
    (with_scores("vrdp-enhanced", [60, CAP / 2, CAP / 2]), {"order-of-best"}),
    (with_scores("grid:10x10", [60, CAP / 1.5, CAP]), {"order-of-best"}),
    (with_scores("learned", [60, CAP, CAP]), set()),
    (with_survival("vrdp-enhanced", 0.11), set()),
    (with_survival("vrdp-enhanced", 0.1), {"enhanced-better"}),
    (with_regions("diagonal", 3), {"diagonal-categories"}),
    (with_regions("learned", 4), set()),
    (with_regions("learned", 25), {"learned-categories"}),
    (with_regions("grid:10x10", 99), {"grid:10x10-categories"}),
    (with_regions("vrdp-enhanced", 103), set()),
    (with_regions("vrdp-enhanced", 265), {"vrdp-enhanced-categories"}),
    (with_regions("vrdp-enhanced", 40), {"vrdp-enhanced-categories"}),
]


@pytest.mark.parametrize(("change", "fail"), CHANGES)
def test_curves_that_break_a_claim_make_it_fail_and_no_other(
    change: Callable[[Curves], None], fail: set[str]
) -> None:
    curves = good_curves()
    assert failing(curve_claims(curves, CAP)) == set()
    change(curves)
    assert failing(curve_claims(curves, CAP)) == fail


def test_every_claim_about_curves_can_fail() -> None:
    ids = {claim.id for claim in curve_claims(good_curves(), CAP)}
    assert set().union(*(fail for _, fail in CHANGES)) == ids


def test_a_claim_tells_the_averaged_score_and_the_runs_at_the_cap() -> None:
    curves = good_curves()
    curves["learned"].scores[:3, -1] = [0.0, 1_000_000.0, 2_000_000.0]
    claim = next(c for c in curve_claims(curves, CAP) if c.id == "learned-reaches-cap")
    assert claim.ours == "3,800,000 (7 of 10 runs at 5,000,000)"


def summaries(count: int = 20, **changes: list[int]) -> list[dict[str, Any]]:
    """Return results of learning runs; of a list given, each value is for one run, the rest stay as they are."""
    rows: list[dict[str, Any]] = [{"solved": True, "regions": 4, "trials": 100} for _ in range(count)]
    for key, values in changes.items():
        for row, value in zip(rows, values, strict=False):
            row[key] = value
    return rows


GENERATED: list[tuple[dict[str, list[int]], dict[str, list[int]], set[str]]] = [
    ({}, {}, set()),
    ({"solved": [0]}, {}, set()),
    ({"solved": [0, 0]}, {}, {"scratch-solves"}),
    ({"regions": [99] * 9}, {"regions": [99] * 9}, set()),
    ({"regions": [25] * 11}, {}, {"scratch-categories"}),
    ({}, {"regions": [5] * 11}, {"seeded-categories"}),
    ({}, {"trials": [208] * 11}, {"seeded-trials"}),
    ({"trials": [999] * 20}, {"solved": [0] * 20}, set()),
]


@pytest.mark.parametrize(("scratch", "seeded", "fail"), GENERATED)
def test_learning_runs_that_break_a_claim_make_it_fail_and_no_other(
    scratch: dict[str, list[int]], seeded: dict[str, list[int]], fail: set[str]
) -> None:
    assert failing(generation_claims(summaries(**scratch), summaries(**seeded))) == fail


def test_another_hill_breaks_the_claims_of_the_analysis() -> None:
    puck_map = analyse(Puck(), resolution=0.05)
    assert failing(analysis_claims(Puck(), puck_map)) == set()
    assert failing(analysis_claims(Puck(force=2.9), puck_map)) == {"balance-point"}
    crossed = puck_map._replace(codes=puck_map.codes.copy())
    crossed.codes[0, 0] = MUST_PUSH_LEFT  # at the foot of the left side, below the diagonal
    assert failing(analysis_claims(Puck(), crossed)) == {"diagonal-separates"}


CRITICS: list[tuple[list[Balanced], bool]] = [
    ([Balanced(True, 13, 2000)] * 5, True),
    ([Balanced(True, 1, 100), Balanced(True, 25, 3900)], True),
    ([Balanced(True, 1, 100), Balanced(True, 26, 3900)], False),
    ([Balanced(True, 1, 100), Balanced(True, 25, 3901)], False),
    ([Balanced(True, 1, 100), Balanced(False, 1, 100)], False),
]


@pytest.mark.parametrize(("balanced", "holds"), CRITICS)
def test_critics_that_need_longer_or_fail_break_their_claim(balanced: list[Balanced], holds: bool) -> None:
    assert critic_claim(balanced).holds is holds


def test_claims_leave_what_they_are_given_as_it_is() -> None:
    curves, before = good_curves(), good_curves()
    assert curve_claims(curves, CAP) == curve_claims(curves, CAP)
    for name, curve in before.items():
        assert np.array_equal(curves[name].scores, curve.scores)
        assert curves[name].regions == curve.regions
