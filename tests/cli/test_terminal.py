"""What is printed, in a real terminal: it fits, no word is broken, colours and spinners are where they belong."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import distinguo
from distinguo.cli import live
from distinguo.cli.console import forget_odd_sizes
from distinguo.cli.learn import _progress
from distinguo.cli.live import at_work, live_line, progress_bar
from distinguo.runs.configuration import configure
from distinguo.runs.stage import Stage
from distinguo.views.terminal import (
    cells_of,
    columns_of,
    cut,
    fitted_lines,
    listed,
    table_with_remarks,
    without_style,
)
from tests.cli.pty_screen import has_colours, terminal, typed

WIDTHS = (40, 80, 100)
HANGING = 4  #: cells by which a broken line is set in
words = st.lists(st.text("abcXYZ-/,.é状語", min_size=1, max_size=14), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "puck"
    distinguo.learn("puck", seed=1, settings={"stage.cap": 2000, "stage.hold": 2000}, out=folder)
    return folder


# Lines that fit.


@given(words, st.integers(10, 60))
def test_lines_are_broken_at_spaces_only_and_fit(text: list[str], width: int) -> None:
    lines = fitted_lines(" ".join(text), width).split("\n")
    assert " ".join(lines).split() == text
    for line in lines:
        assert cells_of(line) <= width or len(line.split()) == 1


@given(words, st.integers(0, 60))
def test_a_live_line_is_never_wider_than_it_may_be(text: list[str], width: int) -> None:
    line = "  ".join(text)
    shown = cut(line, width)
    assert cells_of(shown) <= width
    assert shown == line or shown.endswith("…") or width == 0
    if " " in shown:  # whole words are left
        assert text[: len(shown.split()) - 1] == shown.split()[:-1]


@given(st.lists(st.tuples(*[st.text("abc状", min_size=1, max_size=8)] * 4), min_size=1, max_size=5))
def test_columns_that_do_not_fit_come_below(rows: list[tuple[str, ...]]) -> None:
    lines = columns_of(rows, width=34)
    assert max(map(cells_of, lines)) <= 34
    firsts, rest = [row[0] for row in rows], [word for row in rows for word in row[1:]]
    told = [word for line in lines for word in line.split()]
    assert sorted(told) == sorted(rest + firsts * (len(told) - len(rest)) if len(rows) == 1 else told)
    assert all(word in told for word in rest)


@given(words, st.integers(24, 60))
def test_a_remark_hangs_in_its_column(text: list[str], width: int) -> None:
    lines = "\n".join(table_with_remarks([["12", "split"]], [" ".join(text)], width)).split("\n")
    assert " ".join(lines).split() == ["12", "split", *text]
    for line in lines:
        assert cells_of(line) <= width or len(line.split()) <= 3
    beside = len("12  split  ")
    if width - beside >= 16:
        assert all(line.startswith(" " * beside) for line in lines[1:])
    listing = listed([["name", " ".join(text)]], width)
    assert " ".join(listing).split() == ["name", *text]


@pytest.mark.parametrize("width", WIDTHS)
def test_show_fits_every_terminal_with_the_same_words(run: Path, width: int) -> None:
    screen = typed(width, "show", str(run))
    assert screen.code == 0
    whole = without_style(widely_shown(run))
    long = [word for word in whole.split() if cells_of(word) > width - HANGING]
    long.append("distinguo show")  # a command to copy
    assert all(cells_of(line) <= width or any(word in line for word in long) for line in screen.lines)
    # all words of the tables and sentences are there whole; the map has fewer letters, and so other ones
    sentences = [w for line in whole.splitlines() if " |" not in line for w in line.split()]
    assert [w for w in sentences if w not in screen.words] == []
    assert has_colours(screen.raw)


def widely_shown(run: Path) -> str:
    """Return what show prints to a terminal so wide that nothing is broken."""
    return typed(1000, "show", str(run), NO_COLOR="1").raw.replace("\r\n", "\n")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", ["", "learn", "test", "verify", "play", "settings"])
def test_help_breaks_no_word(width: int, command: str) -> None:
    screen = typed(width, *[command][: len(command)], "--help")
    wide = typed(1000, *[command][: len(command)], "--help")
    assert screen.words == wide.words
    usage = 2  # the line of the usage is the parser's
    for line in screen.lines[usage:]:
        assert cells_of(line) <= width or len(line.split()) == 1 or is_command(line)


def is_command(line: str) -> bool:
    """Whether a line is a command to copy."""
    return line.lstrip().startswith("distinguo ")


@given(words, words, st.integers(1, 60))
def test_a_command_to_copy_is_never_broken(text: list[str], arguments: list[str], width: int) -> None:
    command = " ".join(["distinguo show", *arguments])
    lines = fitted_lines(f"{' '.join(text)} with: {command}", width).split("\n")
    assert lines[-1].endswith(command)
    assert " ".join(lines).split() == [*text, "with:", *command.split()]
    for line in lines[:-1]:
        assert cells_of(line) <= width or len(line.split()) == 1


@pytest.mark.parametrize("width", [20, 40, 80])
def test_every_suggested_command_can_be_copied(run: Path, width: int) -> None:
    commands = []
    for words_ in (
        ["show", str(run)],
        ["show", f"{run}x/y"],
        ["tasks"],
        ["learn", "--help"],
        ["export", "--help"],
    ):
        wide = [line.partition(": distinguo ") for line in typed(1000, *words_, NO_COLOR="1").lines]
        wanted = [f"distinguo {command}" for _, found, command in wide if found]
        wanted += [line.strip() for line, _, _ in wide if is_command(line)]
        narrow = [line.strip() for line in typed(width, *words_, NO_COLOR="1").lines]
        assert wanted, words_
        for command in wanted:
            assert any(line.endswith(command) for line in narrow), (command, narrow)
        commands += wanted
    assert len(commands) > 10


def test_a_comparison_fits_eighty_columns(run: Path, tmp_path: Path) -> None:
    asked = ["test", "diagonal", str(run), "--runs", "1", "--steps", "2000", "--cap", "200"]
    for width in (80, 40):
        screen = typed(width, *asked, "--out", str(tmp_path / "out"), streams=("stdout",), NO_COLOR="1")
        assert screen.code == 0
        lines = [line for line in screen.lines if str(tmp_path) not in line]
        assert max(map(cells_of, lines)) <= width
        if width == 80:
            table = [line for line in lines if line.startswith(("representation", "diagonal", "…"))]
            assert [len(line.split()) for line in table] == [8, 7, 7]  # in one piece
        assert "in steps" in " ".join(screen.words)


def test_errors_are_wrapped_for_people_and_one_line_for_files(capfd: pytest.CaptureFixture[str]) -> None:
    screen = typed(40, "settings", "epsilom")
    assert (screen.code, screen.widest <= 40) == (2, True)
    assert len(screen.lines) > 2
    assert "".join(screen.words) == "distinguo:Nosettinghas'epsilom'initsname;didyoumean'epsilon'?"


# Colours.


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_colours_are_where_there_is_a_terminal_that_wants_them(
    run: Path, environment: dict[str, str], expected: bool
) -> None:
    assert has_colours(typed(80, "show", str(run), **environment).raw) == expected


def test_no_colours_come_into_files_unless_they_are_forced(
    run: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for forced in (False, True):
        typed(80, "show", str(run), streams=("stderr",), **({"FORCE_COLOR": "1"} if forced else {}))
        assert has_colours(capfd.readouterr().out) == forced


# Work while it goes on.


def test_the_line_of_a_learning_run_never_floods(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of FrozenLake has more than a hundred letters, with large numbers even more."""
    stage = Stage(configure("FrozenLake-v1", learner="economy"))
    monkeypatch.setattr(type(stage), "environment_steps", 10**12)
    monkeypatch.setattr(type(stage), "attempts", 12)
    text = _progress(stage)
    assert len(text) > 100
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("COLUMNS", raising=False)
    for width in WIDTHS:
        with terminal(width, "stderr") as screen, live_line() as line:
            line(text)
            time.sleep(0.25)
        assert screen.raw.count("trial") == 1
        assert width - 20 < screen.widest < width
        assert screen.lines == [""]  # it leaves nothing behind


@pytest.mark.parametrize("width", [1, 20])
def test_progress_fits_a_narrow_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("COLUMNS", raising=False)
    with terminal(width, "stderr") as screen, progress_bar("testing") as bar:
        bar(100_000, 5_000_000)
        time.sleep(0.25)
    assert screen.widest < width
    assert screen.lines == [""]
    assert ("testing:" in screen.raw) == (width == 20)


@pytest.mark.parametrize("width", [1, 20])
@pytest.mark.parametrize(
    "words", [["tasks"], ["settings", "table"], ["show", "{run}"], ["show", "/nowhere"], ["verify", "--help"]]
)
def test_a_narrow_terminal_shows_everything(width: int, words: list[str], run: Path) -> None:
    words = [word.format(run=run) for word in words]
    narrow, wide = typed(width, *words, NO_COLOR="1"), typed(1000, *words, NO_COLOR="1")
    assert narrow.code == wide.code
    plain = [word for line in wide.lines if " |" not in line for word in line.split()]
    assert [word for word in plain if word not in narrow.words] == []


@pytest.mark.parametrize("columns", ["abc", "", "0", "-5", "²", "9" * 30])
def test_columns_that_are_no_width_are_ignored(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = typed(80, "tasks", NO_COLOR="1")
    assert typed(80, "tasks", NO_COLOR="1", COLUMNS=columns, LINES=columns).raw == wide.raw
    for name, value in (("COLUMNS", columns), ("LINES", columns), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    forget_odd_sizes()
    with terminal(80, "stderr") as screen, progress_bar("testing"):
        pass
    assert "testing" in screen.raw


def fresh_kernel(folder: Path, number: int) -> Callable[[float], float]:
    """Return a kernel of a new module; the file is the same, so that a second one is found on the disk."""
    source = folder / "some_kernel.py"
    if not source.exists():
        lines = "\n".join(f"    x = math.sin(x) * {n} + math.sqrt(abs(x))" for n in range(60))
        source.write_text(
            f"import math\nfrom distinguo.seam import kernel\n\n@kernel\ndef wave(x):\n{lines}\n    return x\n"
        )
    spec = importlib.util.spec_from_file_location("some_kernel", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["some_kernel"] = module
    spec.loader.exec_module(module)
    found: Callable[[float], float] = module.wave
    return found


@pytest.mark.parametrize("shown", [lambda: at_work("Proving"), lambda: progress_bar("testing")])
def test_a_word_while_compiling_and_none_when_the_disk_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Callable[[], Any]
) -> None:
    monkeypatch.setattr(live, "LONG_SECONDS", 0.05)
    monkeypatch.setenv("TERM", "xterm")
    said = []
    for number in range(2):
        wave = fresh_kernel(tmp_path, number)
        with terminal(80, "stderr") as screen, shown():
            wave(0.5)
            time.sleep(0.15)
        said.append("ompiling" in screen.raw)
    assert said == [True, False]


def test_a_file_is_told_once_of_compiling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(live, "LINE_SECONDS", 0.02)
    for number in range(2):
        with live_line():
            fresh_kernel(tmp_path, number)(0.5)
    assert capfd.readouterr().err == "Compiling for this machine …\n"


def test_what_is_said_meanwhile_stands_on_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from distinguo.cli.console import say

    monkeypatch.setenv("TERM", "xterm")
    with terminal(80, "stderr") as screen, live_line() as line:
        line("trial 1  length 20")
        time.sleep(0.3)
        say("Something happened.")
        time.sleep(0.3)
    assert screen.lines == ["Something happened.", ""]
    assert screen.raw.count("trial 1") == 2  # it comes back


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(live, "LINE_SECONDS", 0.0)
    with terminal(80, "stderr") as screen, live_line() as line:
        line("trial 1")
    assert screen.raw == "trial 1\r\n"


# Programs that read it.


def installed(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("distinguo")), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_show_goes_into_a_file_and_into_a_pipe_that_closes(run: Path, tmp_path: Path) -> None:
    """In a shell, as people do it; letters that the encoding does not have are no error."""
    command = Path(sys.executable).with_name("distinguo")
    file = tmp_path / "shown.txt"
    script = f"'{command}' show '{run}' > '{file}' && '{command}' show '{run}' | head -n 1"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert "greedy action" in done.stdout
    assert done.stderr == ""
    assert file.read_text().endswith("--out partition.png\n")
    assert "\x1b" not in file.read_text()


def test_letters_have_the_cells_that_rich_gives_them() -> None:
    """The shortcut for Latin and Greek letters is right for each of them."""
    from rich.cells import cell_len

    letters = [chr(code) for code in range(32, 0x3000) if chr(code).isprintable()]
    assert [cells_of(one) for one in letters] == [cell_len(one) for one in letters]
