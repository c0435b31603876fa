"""Every command of the documents is run, as a reader would type it: page by page, in order, in one folder."""

from __future__ import annotations

import doctest
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tools.references.commands import commands, examples_of
from typer.testing import CliRunner

from distinguo.cli import app
from distinguo.errors import DistinguoError
from tests.docs.blocks import DOCUMENTS, ROOT, Shell, code_blocks, shell_commands
from tests.nightly import NIGHTLY

#: Written by a script that ran the commands; they replay failures of hundreds of thousands of steps.
REPLAYED = ROOT / "docs" / "robustness.md"
PAGES = [path for path in DOCUMENTS if path != REPLAYED and shell_commands(path)]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
#: Of all commands in the documents, so many at most may be left untried; each says why.
MOST_SKIPPED = 54


def invoke(command: Shell) -> str:
    """Run a command in this process and return what it prints."""
    result = CliRunner().invoke(app, list(command.words))
    if isinstance(result.exception, DistinguoError):
        pytest.fail(f"{command.document}: {command.line}: {result.exception}")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == command.exit_code, f"{command.document}: {command.line}\n{result.output}"
    return result.output


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    shutil.copytree(ROOT / "examples", "examples")
    write_files_of(page)
    for command in shell_commands(page):
        if not is_tried(command):
            continue
        output = invoke(command)
        if command.expected is not None:
            checker = doctest.OutputChecker()
            good = checker.check_output(command.expected, output, FLAGS)
            assert good, f"{command.document}: {command.line}\nexpected:\n{command.expected}\ngot:\n{output}"


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_program_in_c_gives_the_action_of_the_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "how-to" / "export-to-c.md"
    write_files_of(page)
    for command in shell_commands(page)[:2]:
        invoke(command)
    line = re.search(r"^    (cc .*)$", page.read_text(), re.MULTILINE)
    assert line is not None
    done = subprocess.run(line[1], shell=True, capture_output=True, text=True, check=True)
    assert f"prints `{done.stdout.strip()}`" in page.read_text()


def is_tried(command: Shell) -> bool:
    """Tell whether there is time for a command: at night also for those that take long."""
    return not command.skipped or (NIGHTLY and command.skipped.startswith("takes "))


def write_files_of(page: Path) -> None:
    """Write the files that a page shows before a block: a block titled ``plan.toml`` is one."""
    for title, content in re.findall(r'^```\w+ title="([\w./-]+)"\n(.*?)^```', page.read_text(), re.M | re.S):
        Path(title).parent.mkdir(parents=True, exist_ok=True)
        Path(title).write_text(content)


def test_few_commands_are_left_untried() -> None:
    every = [command for path in DOCUMENTS for command in shell_commands(path)]
    replayed = REPLAYED.relative_to(ROOT).as_posix()
    skipped = [command for command in every if command.skipped or command.document == replayed]
    assert len(every) > 40
    assert len(skipped) <= MOST_SKIPPED, "\n".join(f"{c.document}: {c.line}" for c in skipped)


def test_no_command_hides_in_a_block_of_another_language() -> None:
    for path in DOCUMENTS:
        for language, block in code_blocks(path.read_text()):
            if language in ("bash", "shell", "zsh"):
                pytest.fail(
                    f"{path.name}: write sh or console instead of {language}, or nothing runs it: {block}"
                )


def test_the_scripts_that_are_named_exist() -> None:
    """A figure carries the command that made it; that command is there."""
    named = 0
    for path in DOCUMENTS:
        for script in re.findall(
            r"python (benchmarks/[\w/.]+|examples/[\w.]+|-m (?:benchmarks|tools)[\w.]*)", path.read_text()
        ):
            place = script.removeprefix("-m ").replace(".", "/") if script.startswith("-m") else script
            there = [ROOT / place, ROOT / f"{place}.py"]
            assert any(one.exists() for one in there), f"{path.name}: {script}"
            named += 1
    assert named > 10


@pytest.mark.parametrize("name", list(commands()))
def test_the_examples_of_the_help_are_understood(name: str) -> None:
    """Not run, but parsed: an option that was renamed is noticed."""
    command = commands()[name]
    examples = examples_of(command)
    assert examples, f"distinguo {name} --help has no example"
    for line in examples:
        words = line.partition(" #")[0].replace('"', "").split()
        assert words[1] == name
        command.make_context(name, words[2:])
