"""The door for packages: the example is installed and used by its names; a broken package spoils nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import distinguo
from distinguo.registry import GROUPS, NAMES, added

PACKAGE = Path(__file__).parents[1] / "examples" / "own_package"
BROKEN = """\
[distinguo.learners]
torn = nowhere_at_all:Learner
[distinguo.representations]
torn = broken_package:missing
[distinguo.commands]
torn = broken_package:command
learn = broken_package:command
[distinguo.names]
torn = broken_package:command
"""
Distinguo = Callable[..., subprocess.CompletedProcess[str]]


def command_line(packages: Path, folder: Path) -> Distinguo:
    """Return the command line in a process of its own, as plain Python, with these packages installed."""

    def call(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(packages), "NUMBA_DISABLE_JIT": "1", "COLUMNS": "200"}
        done = subprocess.run(
            [sys.executable, "-m", "distinguo", *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done
        assert "Traceback" not in done.stderr
        return done

    return call


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Distinguo:
    """Install the example, with what is at hand: nothing is downloaded."""
    folder = tmp_path_factory.mktemp("package")
    source, target = folder / "source", folder / "installed"
    shutil.copytree(PACKAGE, source)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True)
    return command_line(target, folder)


def test_the_parts_of_the_example_are_short() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 30, path


def test_a_package_adds_a_learner_a_representation_and_a_command(installed: Distinguo) -> None:
    learned = installed(
        *("learn", "puck", "--learner", "optimist", "--set", "stage.steps=300", "--out", "run", "--json"),
        code=3,
    )
    assert json.loads(learned.stdout.splitlines()[-1])["regions"] == 64
    assert "Learner: optimist" in learned.stderr
    tested = installed(*("test", "strips:3", "--runs", "1", "--steps", "200", "--cap", "50", "--json"))
    assert json.loads(tested.stdout.splitlines()[-1])["curves"][0]["regions"] == 3
    assert installed("smallest", "run").stdout == "run: 64 regions\n"


def test_what_a_package_adds_is_listed(installed: Distinguo) -> None:
    assert "smallest   Name the run with the fewest regions." in installed("--help").stdout
    assert "optimist" in installed("learn", "--help").stdout
    assert "strips" in installed("test", "--help").stdout
    assert "Run folders." in installed("smallest", "--help").stdout
    assert "did you mean 'optimist'" in installed("learn", "puck", "--learner", "optmist", code=2).stderr
    assert "did you mean 'strips:4'" in installed("test", "stirps:4", code=2).stderr


@pytest.fixture
def broken(tmp_path: Path) -> Distinguo:
    """Install a package that names what is not there, and one thing of ours."""
    info = tmp_path / "installed" / "broken_package-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(BROKEN)
    (info.parent / "broken_package.py").write_text("raise RuntimeError('no licence')\n")
    return command_line(info.parent, tmp_path)


def test_a_broken_package_spoils_nothing_but_itself(broken: Distinguo) -> None:
    assert "torn" in broken("--help").stdout
    assert "Learn a representation" in broken("learn", "--help").stdout  # no package takes a name of ours
    assert "learner.epsilon" in broken("settings", "epsilon").stdout
    for words in (["torn"], ["test", "torn"], ["learn", "puck", "--learner", "torn"]):
        sentence = broken(*words, code=2).stderr
        assert "'torn' of the package broken-package cannot be imported" in sentence, words
        assert len(sentence.splitlines()) == 1
    assert "RuntimeError: no licence" in broken("torn", code=2).stderr


def test_only_names_that_are_public_can_be_added(tmp_path: Path) -> None:
    assert set(added(NAMES)) <= set(distinguo.__all__)
    for name in added(NAMES):
        assert callable(getattr(distinguo, name))
    with pytest.raises(AttributeError, match="no attribute 'torn'"):
        _ = distinguo.torn


def test_entry_points_are_those_that_python_finds() -> None:
    from importlib.metadata import entry_points

    for group in GROUPS:
        theirs = {one.name: (one.value, one.module, one.attr) for one in entry_points(group=group)}
        assert theirs
        assert {name: (one.value, one.module, one.attr) for name, one in added(group).items()} == theirs
