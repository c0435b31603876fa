"""A task of one's own, as a newcomer runs it: in Python and on the command line, in fresh processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from distinguo.cli import parse
from distinguo.errors import DistinguoError
from tests.nightly import NIGHTLY

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "own_task.py"
#: In Python; the file is read as the command line does it, so that both share what was compiled.
PYTHON = """
import json, sys
import distinguo as dg
from distinguo.cli.parse import load_named
Hover = load_named(sys.argv[1])
dg.check_task(Hover())
run = dg.learn(Hover(lift=20), seed=1)
print(json.dumps({**run.summary, "parameters": run.configuration.spec.parameters}))
"""


def answer(*words: str, cwd: Path) -> dict[str, object]:
    """Return the JSON object in the last line that a process prints."""
    done = subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    content: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return content


def distinguo(*words: str, cwd: Path) -> dict[str, object]:
    return answer("-m", "distinguo", *words, "--json", cwd=cwd)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Learn the task on the command line; by day as plain Python, briefly: its kernels take long to compile."""
    path = tmp_path_factory.mktemp("own")
    brief = () if NIGHTLY else ("--set", "stage.cap=5000", "--set", "stage.hold=5000")
    with pytest.MonkeyPatch.context() as patch:
        if not NIGHTLY:
            patch.setenv("NUMBA_DISABLE_JIT", "1")
        content = distinguo("learn", f"{EXAMPLE}:Hover", "--seed", "1", *brief, "--out", "run", cwd=path)
    assert content["solved"] is True
    assert content["task"] == "Hover"
    assert 2 <= int(str(content["regions"])) <= 6
    return path


def test_a_complete_task_is_short() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 30


@pytest.mark.skipif(not NIGHTLY, reason="compiles a learner for a task of one's own, twice")
def test_python_and_the_command_line_agree(folder: Path) -> None:
    content = answer("-c", PYTHON, f"{EXAMPLE}:Hover", cwd=folder)
    result = json.loads((folder / "run" / "result.json").read_text())
    for name in ("solved", "score", "regions", "prototypes", "trials", "environment_steps"):
        assert content[name] == result[name], name
    assert content["parameters"] == {"lift": 20.0, "interval": 0.05}


def test_a_run_opens_where_the_task_is_not_known(folder: Path) -> None:
    assert distinguo("show", "run", cwd=folder)["task"] == "Hover"
    header = folder / str(distinguo("export", "run", "--to", "c", cwd=folder)["path"])
    assert header.is_file()


#: A task that needs no compiler, for the commands that run it.
LEDGE = """
from typing import NamedTuple
import distinguo as dg

@dg.task(states=("place",), actions=("left", "right"), low=(-4,), high=(4,), compiled=False)
class Ledge(NamedTuple):
    edge: float = 3.0

    def transition(self, s, a):
        place = s[0] + (1.0 if a == 1 else -1.0)
        return (place,), (-1.0 if abs(place) > self.edge else 0.0), abs(place) > self.edge

    def start(self, rng):
        return (0.0,)
"""


@pytest.fixture(scope="module")
def ledge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Learn it, with another parameter than the usual one."""
    path = tmp_path_factory.mktemp("ledge")
    (path / "my ledge.py").write_text(LEDGE)
    brief = ("--set", "task.edge=2", "--set", "stage.cap=100", "--set", "stage.hold=100")
    assert distinguo("learn", "my ledge.py:Ledge", *brief, "--out", "run", cwd=path)["solved"] is True
    return path


def test_what_needs_the_task_says_how_to_hand_it_over(ledge: Path) -> None:
    command = [sys.executable, "-m", "distinguo", "audit", "run"]
    done = subprocess.run(command, cwd=ledge, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "--task 'my ledge.py:Ledge' (the file it was learned from)" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    words = ("audit", "run", "--visits", "100", "--task", "my ledge.py:Ledge")
    assert distinguo(*words, cwd=ledge)["states"] == 100


def test_the_tester_takes_it_with_the_parameters_of_the_run(ledge: Path) -> None:
    brief = ("--runs", "1", "--steps", "300", "--cap", "100", "--set", "tester.batch=3", "--out", "test")
    content: Any = distinguo("test", "run", "--task", "my ledge.py:Ledge", *brief, cwd=ledge)
    assert [curve["representation"] for curve in content["curves"]] == ["run"]
    assert "edge = 2.0" in (ledge / "test" / "plan.toml").read_text()


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        (f"{EXAMPLE}:Hovr", "did you mean 'Hover'"),
        (f"{EXAMPLE}", "is a file; name the task in it"),
        ("nowhere.py:Hover", "There is no file nowhere.py"),
        (f"{EXAMPLE}:dg", "got module"),
    ],
)
def test_a_word_that_names_no_task(word: str, sentence: str) -> None:
    with pytest.raises(DistinguoError, match=sentence):
        parse.named_task(word)


def test_a_file_that_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import nowhere_at_all")
    with pytest.raises(
        DistinguoError, match=r"bad\.py cannot be imported: ModuleNotFoundError: No module named"
    ):
        parse.named_task(f"{tmp_path / 'bad.py'}:Cart")
    (tmp_path / "worse.py").write_text(LEDGE.replace("low=(-4,)", "low=(9,)"))
    with pytest.raises(
        DistinguoError, match=r"Ledge should have low < high in each coordinate, got 9\.0 and 4"
    ):
        parse.named_task(f"{tmp_path / 'worse.py'}:Ledge")


def test_two_files_of_the_same_name(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "ledge.py").write_text(
            LEDGE.replace("edge: float = 3.0", f"edge: float = {number}")
        )
    one, two = (parse.named_task(f"{tmp_path / str(number) / 'ledge.py'}:Ledge") for number in (1, 2))
    assert (one.task.edge, two.task.edge) == (1.0, 2.0)
    assert parse.named_task(f"{tmp_path / '1' / 'ledge.py'}:Ledge", {"edge": 4}).task == type(one.task)(4.0)


def test_an_environment_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "walk.py").write_text("from tests.tasks.faulty import Walk, Faulty")
    assert parse.named_task(f"{tmp_path / 'walk.py'}:Walk").name == "Walk"
    with pytest.raises(DistinguoError, match="--interpreted is for Gymnasium's own environments"):
        parse.named_task(f"{tmp_path / 'walk.py'}:Walk", interpreted=True)
    with pytest.raises(DistinguoError, match=r"Walk could not be made with \{'weight': 3\}: TypeError"):
        parse.named_task(f"{tmp_path / 'walk.py'}:Walk", {"weight": 3})
