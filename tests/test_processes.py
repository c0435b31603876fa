"""Processes that we start: those that are listed, and none imports files of the current folder."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from distinguo.processes import start_python
from tests.distillation.common import QUICKEST

ROOT = Path(__file__).parents[1]
#: What starts a process, by module; a call of any other name there does not.
STARTING = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "os": {"system", "popen", "fork", "forkpty", "startfile", "posix_spawn", "posix_spawnp"}
    | {name for name in dir(os) if name.startswith(("exec", "spawn"))},
    "multiprocessing": {"Process", "Pool", "Manager", "get_context"},
    "futures": {"ProcessPoolExecutor"},
    "distributed": {"Client", "LocalCluster"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "webbrowser": {"open", "open_new", "open_new_tab", "get"},
    "animation": {"FFMpegWriter", "FFMpegFileWriter", "ImageMagickWriter"},
    "pty": {"spawn", "fork"},
}
STARTED = {
    ("src/distinguo/processes.py", "Popen"),  # workers of distil, jobs with a time limit
    ("src/distinguo/processes.py", "get_context"),  # the engine "processes"
    ("src/distinguo/engines/cluster.py", "Client"),
    ("src/distinguo/exports/fmu.py", "run"),
    ("src/distinguo/views/motion/film.py", "FFMpegWriter"),
    ("src/distinguo/views/report.py", "open"),
    ("src/distinguo/views/studio/server.py", "open"),
    ("src/distinguo_lab/bench/reference.py", "run"),
}


NAMES = re.compile("|".join(sorted(set.union(*STARTING.values()))))


def named_in(text: str) -> set[str]:
    """The names in a module that start a process: an attribute of their module, or imported from there."""
    if not any(module in text for module in STARTING) or not NAMES.search(text):
        return set()
    tree, found = ast.parse(text), set()
    types = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}  # Popen[str]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and id(node) not in types:
            found |= {node.attr} & STARTING.get(node.value.id, set())
        if isinstance(node, ast.ImportFrom):
            starting = STARTING.get((node.module or "").rpartition(".")[2], set())
            found |= {alias.name for alias in node.names} & starting
    return found


def test_every_process_that_we_start_is_listed() -> None:
    paths = [
        path for folder in ("distinguo", "distinguo_lab") for path in (ROOT / "src" / folder).rglob("*.py")
    ]
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in paths
        for name in named_in(path.read_text(encoding="utf-8"))
    }
    assert found == STARTED
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert [path for path, _ in STARTED if path.removeprefix("src/") not in security] == []


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with a file for every module of Python, and for some of the packages that we use."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in {*sys.stdlib_module_names, "numpy", "gymnasium", "numba", "distributed", "policy"}:
        (folder / f"{name}.py").write_text(
            f"import os; os.open({str(tmp_path / 'got-in')!r} + __name__, os.O_CREAT)\n"
        )
    return folder


def run_script(text: str, hostile: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a script of another folder in the hostile one, as the command ``distinguo`` runs there."""
    script = hostile.parent / "script.py"
    script.write_text(text)
    return subprocess.run(
        [sys.executable, str(script), *words], cwd=hostile, capture_output=True, text=True, timeout=300
    )


def got_in(hostile: Path) -> list[str]:
    return [path.name for path in hostile.parent.glob("got-in*")]


def test_a_process_of_ours_does_not_import_from_the_current_folder(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend("")
    with start_python("this", cwd=hostile, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        said, _ = process.communicate("", timeout=60)
    assert "Zen" in said
    assert got_in(hostile) == []


SPAWN = """
from multiprocessing import get_context
from distinguo.processes import safe_path
if __name__ == "__main__":
    with safe_path():
        process = get_context("spawn").Process(target=print, args=("alive",))
        process.start()
        process.join()
"""


def test_nor_does_one_that_a_library_starts(hostile: Path) -> None:
    done = run_script(SPAWN, hostile)
    assert (done.stdout, done.stderr, got_in(hostile)) == ("alive\n", "", [])


MASKED = """
import signal
from multiprocessing import get_context
from threading import Thread
from distinguo.processes import without_ctrl_c

def tell():
    print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))

def start():
    for _ in range(2):
        process = get_context("spawn").Process(target=tell)
        process.start()
        process.join()

if __name__ == "__main__":
    with without_ctrl_c():
        thread = Thread(target=start)
        thread.start()
    tell()
    thread.join()
"""


def test_ctrl_c_of_a_terminal_does_not_reach_processes_of_a_library(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(MASKED)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=60
    )
    assert sorted(done.stdout.split()) == ["False", "True", "True"], done.stderr


CONSOLE = (
    "from distinguo.__main__ import main\nif __name__ == '__main__':\n    main()\n"  #: the command distinguo
)
POLICY = "def swing(seen):\n    return [1.0 if seen[1] > 0 else -1.0]\n"
CHANGES = [word for name, value in QUICKEST.items() for word in ("--set", f"{name}={str(value).lower()}")]
TESTED = ("test", "grid:2x2", "--runs", "2", "--steps", "100", "--cap", "100", "--workers", "2")
COMMANDS = {
    "distil": ("distil", "../mine.py:swing", "--task", "MountainCarContinuous-v0", *CHANGES),
    "threads": TESTED,
    "processes": (*TESTED, "--engine", "processes"),
    "dask": (*TESTED, "--engine", "dask"),
    "seeds": ("learn", "puck", "--seeds", "1-2", "--set", "stage.cap=2000", "--set", "stage.hold=2000"),
}


@pytest.mark.second_stage
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_runs_files_of_the_current_folder(hostile: Path, name: str) -> None:
    (hostile.parent / "mine.py").write_text(POLICY)
    done = run_script(CONSOLE, hostile, *COMMANDS[name])
    assert done.returncode in (0, 3), done.stderr
    assert got_in(hostile) == []
