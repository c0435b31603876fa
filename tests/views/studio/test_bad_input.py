"""What can be wrong with a folder or a wish: the studio says so, and goes on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import distinguo
from distinguo.errors import DistinguoError
from distinguo.runs.folder import write_run
from distinguo.runs.history import frame_line
from distinguo.views.studio.library import Library
from distinguo.views.studio.server import listening
from tests.views.runs import made_up
from tests.views.studio.served import Page, Served, serving


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run that is whole, and some that are not."""
    base = tmp_path_factory.mktemp("runs")
    distinguo.learn("puck", seed=1, settings={"stage.cap": 1000, "stage.hold": 1000}, out=base / "whole")
    (base / "empty").mkdir()
    (base / "begun").mkdir()
    shutil.copy(base / "whole" / "settings.toml", base / "begun")
    (base / "cut").mkdir()
    (base / "cut" / "settings.toml").write_text((base / "whole" / "settings.toml").read_text()[:30])
    shutil.copytree(base / "whole", base / "half")
    for name in ("result.json", "representation.json", "values.npz"):
        (base / "half" / name).unlink()
    shutil.copytree(base / "whole", base / "unreasonable")
    (base / "unreasonable" / "reasons.jsonl").write_text('{"event": "split", "tri\x00\n{}\nnonsense\n')
    shutil.copytree(base / "whole", base / "unhistorical")
    (base / "unhistorical" / "history.jsonl").unlink()
    _of_unknown_task(base / "unknown")
    return base


def _of_unknown_task(path: Path) -> None:
    run = made_up("tests/Glider-v0", 6)
    summary = {
        **dict.fromkeys(
            ("seed", "score", "trials", "environment_steps", "investigation_steps", "seconds"), 0
        ),
        "task": "tests/Glider-v0",
        "solved": True,
        "regions": run.representation.regions,
        "prototypes": 6,
    }
    write_run(run._replace(summary=summary), path)
    settings = (path / "settings.toml").read_text()
    (path / "settings.toml").write_text(settings.replace("tests/Glider-v0", "tests/Gone-v0"))


@pytest.fixture(scope="module")
def studio(base: Path) -> Iterator[Served]:
    with serving(base) as served:
        yield served


@pytest.fixture
def page(studio: Served) -> Iterator[Page]:
    with studio.page() as page:
        yield page


def entries(page: Page) -> dict[str, Any]:
    return {one["name"]: one for one in page.wait("lists")["runs"]}


def opened(page: Page, name: str, pane: int = 0) -> Any:
    page.send(do="open", pane=pane, run=entries(page)[name]["id"])
    return page.wait("show", lambda news: news["pane"] == pane)


def test_no_runs_yet(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "not there"):
        assert Library(folder).entries() == []
    with serving(tmp_path / "not there") as studio, studio.page() as page:
        assert page.wait("lists")["runs"] == []
        page.send(do="drive", pane=0, number=1)
        assert page.sentence() == "There is nothing in this pane yet; open a run or start to learn."


def test_runs_are_listed_with_what_is_wrong_with_them(page: Page) -> None:
    found = entries(page)
    assert sorted(found) == ["begun", "cut", "half", "unhistorical", "unknown", "unreasonable", "whole"]
    assert found["cut"]["trouble"].startswith("Half written or damaged")
    assert found["whole"]["regions"] >= 2
    assert "solved" not in found["half"]
    assert not any("/" in one["id"] for one in found.values())


def test_a_whole_run_shows_its_history(page: Page) -> None:
    news = opened(page, "whole")
    assert news["head"]["state"] == "finished"
    assert len(news["moments"]) > 5
    assert news["at"] == len(news["moments"]) - 1
    assert news["map"]["axes"] == ["x (m)", "v (m/s)"]
    assert len(news["map"]["cells"]) == len(news["map"]["prototypes"]) >= 2
    assert news["trials"]["trial"][0] == 1
    page.send(do="look", pane=0, moment=0)
    first = page.wait("show", lambda news: news["at"] == 0)
    assert (first["follows"], len(first["map"]["cells"])) == (False, 1)
    page.send(do="look", pane=0)
    assert page.wait("show", lambda news: news["follows"])["at"] == news["at"]


def test_a_folder_that_is_cut_is_said_and_passed_over(page: Page) -> None:
    found = entries(page)
    page.send(do="open", pane=0, run=found["cut"]["id"])
    assert "settings.toml" in page.sentence()
    page.send(do="open", pane=0, run=found["whole"]["id"])
    assert page.wait("show")["head"]["solved"]


def test_a_run_that_has_only_begun(page: Page) -> None:
    news = opened(page, "begun")
    assert news["head"]["words"] == "Nothing has been written yet; this view waits for the first checkpoint."
    assert "map" not in news
    page.send(do="drive", pane=0, number=1)
    assert page.sentence() == "There is no map to act by yet; wait for the first one."
    page.send(do="explain", pane=0, observations=[[0.0, 0.0]])
    assert "no map to explain yet" in page.sentence()


def test_a_run_that_another_process_learns_is_followed(page: Page, base: Path) -> None:
    news = opened(page, "half")
    before = len(news["moments"])
    assert (news["head"]["state"], before > 5) == ("growing", True)
    frame = distinguo.open_run(base / "whole").history[-1]
    with (base / "half" / "history.jsonl").open("a") as file:
        file.write(frame_line(frame._replace(trial=frame.trial + 7)))
        file.write(frame_line(frame)[:50])  # and a line that is not whole yet
    grown = page.wait("show", lambda news: len(news.get("moments", [])) > before)
    assert (grown["moments"][-1][0], len(grown["moments"])) == (frame.trial + 7, before + 1)


def test_a_damaged_log_of_reasons_hides_nothing_else(page: Page) -> None:
    news = opened(page, "unreasonable")
    assert "reasons.jsonl" in news["head"]["words"]
    assert len(news["map"]["cells"]) >= 2
    page.send(do="explain", pane=0, observations=[[0.5, 1.0], [-0.5, -1.0]])
    assert page.wait("reason")["sentences"]


def test_a_folder_without_history_says_so(page: Page) -> None:
    news = opened(page, "unhistorical")
    assert news["head"]["notes"] == ["This folder has no history: the final map is shown."]
    assert (len(news["moments"]), len(news["map"]["cells"]) >= 2) == (1, True)


def test_a_run_of_an_unknown_task_is_shown_but_not_played(page: Page) -> None:
    news = opened(page, "unknown")
    assert news["map"]["cells"]
    page.send(do="drive", pane=0, number=1)
    assert "Gone-v0" in page.sentence()
    page.send(do="look", pane=0, moment=0)
    assert page.wait("show", lambda news: not news["follows"])


WRONG = [
    ([0.0], "A state of puck has 2 coordinates (x, v), got 1."),
    ([0.0, 0.0, 0.0], "A state of puck has 2 coordinates (x, v), got 3."),
    ([2.5, 0.0], "x of puck lies between -2.4 and 2.4, got 2.5; take a state within."),
    ([0.0, -1e300], "v of puck lies between -5.5 and 5.5, got -1e+300; take a state within."),
]


@pytest.mark.parametrize(("state", "words"), WRONG)
def test_a_state_that_is_none(page: Page, state: list[float], words: str) -> None:
    opened(page, "whole")
    page.send(do="drive", pane=0, number=1, observation=state)
    assert page.sentence() == words
    page.send(do="explain", pane=0, observations=[state])
    assert page.sentence() == words
    page.send(do="drive", pane=0, number=2, state=state)
    assert page.sentence()
    page.send(do="drive", pane=0, number=3, observation=[0.1, 0.1])
    assert page.wait("trail")["number"] == 3


def test_trails_follow_the_greedy_policy_of_what_is_shown(page: Page, base: Path) -> None:
    opened(page, "whole")
    run = distinguo.open_run(base / "whole")
    page.send(do="drive", pane=0, number=1, observation=[0.2, 0.5], steps=50)
    trail = page.wait("trail")
    assert trail["states"][0] == [0.2, 0.5]
    names = [run.configuration.spec.actions[a] for a in trail["actions"]]
    assert names == [run.action(s) for s in trail["states"][:-1]]
    page.send(do="drive", pane=0, number=1, state=trail["states"][-1], steps=50)
    assert page.wait("trail")["states"][0] == trail["states"][-1]
    page.send(do="drive", pane=0, number=2, observation=[2.3, 5.0], steps=500)
    assert page.wait("trail")["ended"]


def test_files_of_runs_that_have_none(page: Page) -> None:
    """A sentence for a run that is not finished, that is damaged, or that is none; files for all others."""
    known = {name: one["id"] for name, one in entries(page).items()}
    for name, words in {"begun": "", "half": "", "cut": "settings.toml"}.items():
        page.send(do="fetch", run=known[name], what="report")
        said = page.sentence()
        assert words in said
        assert "did not work" not in said
    page.send(do="fetch", run="0" * 16, what="c")
    assert "That run is no longer there" in page.sentence()
    page.send(do="fetch", run=known["whole"], what="exe")
    assert "should be 'report', 'c' or 'json'" in page.sentence()
    for name in ("whole", "unhistorical", "unreasonable"):
        for what in ("report", "c", "json"):
            page.send(do="fetch", run=known[name], what=what)
            assert page.wait("file")["name"].startswith(f"{name}-")


def test_two_panes_of_one_page(page: Page) -> None:
    first, second = opened(page, "whole", 0), None
    page.send(do="learn", pane=1, task="puck", seed=3)
    second = page.wait("show", lambda news: news["pane"] == 1 and "map" in news)
    assert (first["pane"], second["head"]["seed"]) == (0, 3)
    page.wait("show", lambda news: news["pane"] == 1 and news["head"]["state"] == "finished")


def test_two_studios_on_one_port(base: Path) -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DistinguoError, match=f"Port {port} of 127.0.0.1 is in use, .* --port {port + 1}"):
            listening("127.0.0.1", port)
        command = [
            sys.executable,
            "-m",
            "distinguo",
            "studio",
            str(base),
            "--port",
            str(port),
            "--no-browser",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"Port {port} of 127.0.0.1 is in use" in done.stderr


def test_wishes_of_the_command_line_that_cannot_be(base: Path) -> None:
    from typer.testing import CliRunner

    from distinguo.cli import app

    for arguments, words in (
        ([str(base / "whole" / "settings.toml")], "is a file"),
        (["--host", "no.such.host.invalid"], "not an address of this machine"),
        (["--host", "0.0.0.0", "--token", "short"], "--token should be"),
    ):
        result = CliRunner().invoke(app, ["studio", *arguments, "--no-browser"])
        assert isinstance(result.exception, DistinguoError)
        assert words in str(result.exception)


def test_ctrl_c_ends_it_within_a_moment(base: Path) -> None:
    import signal
    import time

    command = [
        sys.executable,
        "-m",
        "distinguo",
        "studio",
        str(base),
        "--port",
        "0",
        "--no-browser",
        "--json",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        port = int(address.rstrip("/").rpartition(":")[2])
        studio = Served(port)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                assert studio.ask()[0] == 200
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        with studio.page() as page:
            page.wait("lists")
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            assert process.wait(30) == 130
            assert time.monotonic() - began < 5
        assert process.stderr is not None
        assert "Stopped." in process.stderr.read()
