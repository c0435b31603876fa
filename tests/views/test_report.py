"""A report is one small file that loads nothing, says what is missing, and lets no name out of its place."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path

import pytest

import distinguo
from distinguo.cli.seeing import report_command
from distinguo.errors import DistinguoError
from distinguo.explanations.distinctions import distinctions
from distinguo.runs.run import Run
from distinguo.settings import LearnerSettings
from distinguo.views.descriptions import regions_in_words
from distinguo.views.report import MOST_RUNS, Budget, page_of, report
from tests.nightly import so_many
from tests.views.runs import made_up

FAST = {"stage.cap": 2000, "stage.hold": 2000, "learner.epsilon": 0.125}
LARGEST = 2_000_000  #: bytes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "puck"
    distinguo.learn("puck", seed=1, settings=FAST, out=path)
    return path


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    before = sorted(path.name for path in folder.iterdir())
    text = page_of([folder], audit=True)
    assert sorted(path.name for path in folder.iterdir()) == before  # it only reads
    return text


def loads_nothing(text: str) -> None:
    """Check that nothing in a page is fetched, and that no script is in it."""
    words = re.sub(r"base64,[^\"]*", "", text)
    assert not re.search(r"https?://|@import|<script|<link|<iframe|url\((?!#)", words, re.IGNORECASE)
    for value in re.findall(r"\b(?:src|href)=\"([^\"]*)\"", text):
        assert value.startswith(("data:image/png;base64,", "#"))
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text


def test_a_report_has_all_that_is_known(page: str, folder: Path) -> None:
    run = distinguo.open_run(folder)
    for one in regions_in_words(run):
        assert html.escape(one.where) in page
        assert one.action in page
    assert page.count("<svg") + page.count("<img") >= 9  # eight views and the history
    assert "distinguo learn puck --seed 1" in page
    assert "--set learner.epsilon=0.125" in page
    assert page.count("<b>regions ") == len(distinctions(run))
    for name in LearnerSettings._fields:
        assert f">{name}<" in page
    assert "discount of future reward; ours" in page
    assert "MIN_UPDATES; paper, section 3.1" in page
    assert '<td class="changed">epsilon</td><td class="changed">0.125</td>' in page
    assert "-adequate" in page
    assert "No certificate is in the folder" in page


def test_a_report_is_small_and_loads_nothing(page: str) -> None:
    assert len(page.encode()) < LARGEST
    loads_nothing(page)
    assert "prefers-color-scheme: dark" in page
    assert "currentColor" in page
    names = re.findall(r' id="([^"]*)"', page)
    assert len(names) == len(set(names))


def test_a_report_of_a_large_map_is_small(tmp_path: Path) -> None:
    large = made_up("CartPole-v1", so_many(120, nightly=500))
    written = report(large, tmp_path / "large.html")
    assert 20_000 < written.stat().st_size < LARGEST


def test_pictures_that_do_not_fit_are_left_out() -> None:
    from markupsafe import Markup

    budget = Budget(10)
    assert budget.spend(Markup("12345")) == "12345"
    assert "left out" in budget.spend(Markup("123456"))
    assert budget.spend(Markup("12345")) == "12345"


def test_names_cannot_leave_their_place(tmp_path: Path) -> None:
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    run = made_up("puck", 3)
    spec = run.configuration.spec._replace(
        name=evil, dimensions=(evil, "$v$ & <b>"), actions=(evil, "</style>")
    )
    place = tmp_path / "<script>alert(2)<" / "b>"
    place.mkdir(parents=True)
    odd = run._replace(configuration=run.configuration._replace(spec=spec, preset=evil), path=place)
    text = page_of([odd, odd])
    loads_nothing(text)
    assert "<img src=x" not in text
    assert "<b>" not in text.replace("<b>regions ", "")
    assert text.count("</style>") == 1
    assert "&lt;script&gt;alert(2)" in text


def test_what_is_damaged_or_missing_is_said_and_the_rest_goes_on(folder: Path, tmp_path: Path) -> None:
    copies = {name: tmp_path / name for name in ("damaged", "unfinished", "old", "torn")}
    for path in copies.values():
        shutil.copytree(folder, path)
    reasons = copies["damaged"] / "reasons.jsonl"
    reasons.write_text("this is no reason\n" + reasons.read_text())
    (copies["unfinished"] / "result.json").unlink()
    (copies["old"] / "history.jsonl").unlink()
    (copies["torn"] / "values.npz").write_bytes(b"torn")
    text = page_of([*copies.values(), tmp_path / "nowhere"])
    assert text.count("<section") == 3
    assert "reasons.jsonl" in text
    assert "Explained without it" in text
    assert "Not finished: 4 regions so far. Go on with: distinguo learn puck" in text
    assert re.search(r"torn is left out: .*values\.npz", text)
    assert "nowhere is left out: " in text
    assert "All settings are the same" in text


def test_an_old_folder_without_history_says_so(folder: Path, tmp_path: Path) -> None:
    from distinguo.explanations.subject import asked_about
    from distinguo.views.report import Reader, _history

    shutil.copytree(folder, tmp_path / "old")
    (tmp_path / "old" / "history.jsonl").unlink()
    reader = Reader(asked_about(tmp_path / "old"), 1, Budget(10**6))
    assert list(_history(reader)) == []
    assert reader.notes == ["This folder has no history.jsonl, so the maps on the way are not shown."]


def test_runs_are_compared_by_what_differs(folder: Path, tmp_path: Path) -> None:
    run = distinguo.open_run(folder)
    other = run._replace(
        configuration=run.configuration._replace(learner=LearnerSettings(epsilon=0.25)), path=tmp_path
    )
    text = page_of([run, other])
    assert "2 runs compared" in text
    assert re.search(r"<td>learner\.epsilon</td><td>0\.125</td><td>0\.25</td>", text)
    assert "All settings, and where" not in text


def test_what_cannot_be_reported_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DistinguoError, match="A report is about 1 to 40 runs, got 0"):
        report([])
    with pytest.raises(DistinguoError, match="got 41"):
        report([folder] * (MOST_RUNS + 1))
    with pytest.raises(DistinguoError, match="not a run folder"):
        report(tmp_path)
    with pytest.raises(DistinguoError, match="None of the 2 runs can be opened"):
        report([tmp_path, tmp_path])
    with pytest.raises(DistinguoError, match="no folder to write a report into"):
        report(made_up("puck", 2))
    with pytest.raises(DistinguoError, match="report takes no 'audti'; did you mean 'audit'"):
        report(folder, audti=True)  # type: ignore[call-arg]


def test_the_proof_is_checked_before_it_is_cited(folder: Path, tmp_path: Path) -> None:
    from distinguo.views.report import _proof

    run: Run = distinguo.open_run(folder)._replace(path=tmp_path)
    proof = distinguo.verify(run, cells=40_000, out=tmp_path)
    assert proof.holds
    (said,) = _proof(run)
    assert said.startswith("certificate.json was checked for this report and holds: never left")
    (other,) = _proof(run._replace(q=run.q[:, ::-1].copy()))
    assert other.startswith("certificate.json is not cited: ")


def test_the_command_writes_the_file_and_says_where(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report_command([folder, folder], tmp_path / "two.html", as_json=True)
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer["report"] == str(tmp_path / "two.html")
    assert (tmp_path / "two.html").stat().st_size > 20_000
