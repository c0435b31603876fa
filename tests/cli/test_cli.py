"""The command line as scripts and people meet it."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from distinguo import writing as atomic
from distinguo.cli import app, main
from distinguo.representations.boxes import grid
from distinguo.representations.file import Representation, dumps
from distinguo.representations.voronoi import voronoi
from distinguo.runs.learn import default_folder
from tests.clock import seconds_of_children
from tests.nightly import so_many

#: The contract that scripts depend on.
KEYS = {
    *("task", "seed", "solved", "score", "regions", "prototypes", "trials"),
    *("environment_steps", "investigation_steps", "seconds", "run"),
}
FAST = ["--set", "stage.cap=2000", "--set", "stage.hold=2000"]
COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def content(self) -> Any:
        """Return the JSON object that is all of standard output."""
        assert self.code in (0, 3), self.err  # 3: not solved
        assert self.out.endswith("\n")
        assert len(self.out.splitlines()) == 1
        return json.loads(self.out)


Call = Callable[..., Answer]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Return the command line, run in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["distinguo", *words])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return Answer(code, *capfd.readouterr())

    return run


def process(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    command = [str(Path(sys.executable).with_name("distinguo")), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


# What scripts read.


def test_json_is_all_of_standard_output_and_holds_what_was_promised(tmp_path: Path) -> None:
    """In a process of its own, so that nothing else can get to standard output."""
    done = process("learn", "puck", "--seed", "1", "--out", "run", "--json", *FAST, cwd=tmp_path)
    answer = Answer(done.returncode, done.stdout, done.stderr)
    assert answer.content.keys() >= KEYS
    assert (answer.content["task"], answer.content["seed"], answer.content["run"]) == ("puck", 1, "run")
    assert "Look again with: distinguo show run" in done.stderr


def test_without_json_the_result_is_on_standard_output_and_the_way_there_on_the_other(call: Call) -> None:
    answer = call("learn", "puck", *FAST)
    assert answer.code == 0
    assert answer.out.startswith("Solved: ")
    assert "Learner: economy" in answer.err
    assert "Solved" not in answer.err


def test_values_in_json_are_of_plain_kinds(call: Call) -> None:
    content = call("learn", "puck", "--json", *FAST).content
    assert isinstance(content["solved"], bool)
    for key in KEYS - {"task", "solved", "seconds", "run"}:
        assert type(content[key]) is int, key


def test_a_solved_run_held_as_long_as_was_asked(call: Call) -> None:
    content = call("learn", "puck", "--seed", "1", "--json", *FAST).content
    assert content["solved"]
    assert content["score"] == 2000


def test_a_run_that_is_not_solved_is_an_answer_and_no_error(call: Call) -> None:
    answer = call("learn", "puck", "--json", *FAST, "--set", "stage.trials=1")
    assert answer.code == 3
    assert not answer.content["solved"]
    assert answer.content["trials"] == 1


def test_many_seeds_give_a_list_in_their_order(call: Call) -> None:
    content = call("learn", "puck", "--seeds", "2-4", "--out", "many", "--json", *FAST).content
    assert [run["seed"] for run in content["runs"]] == [2, 3, 4]
    for run in content["runs"]:
        assert run.keys() >= KEYS
        assert Path(run["run"], "representation.json").is_file()


def test_one_seed_of_many_that_is_not_solved_is_told_by_the_exit_code(call: Call) -> None:
    answer = call("learn", "puck", "--seeds", "1-2", "--json", *FAST, "--set", "stage.trials=16")
    assert [run["solved"] for run in answer.content["runs"]] == [False, True]
    assert answer.code == 3
    assert call("learn", "puck", "--seeds", "2", "--json", *FAST).code == 0


def test_what_fails_among_many_seeds_names_their_folder(
    call: Call,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = (
        "import gymnasium",
        "from tests.tasks.faulty import Faulty",
        "make = lambda: Faulty(lambda _: 1 / 0)",
    )
    (tmp_path / "breaking.py").write_text("\n".join([*lines, "gymnasium.register('Breaking-v0', make)", ""]))
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ("--seeds", "0-1", "--threshold", "9", "--no-probe", "--out", "many")
    answer = call("learn", "breaking:Breaking-v0", *words)
    assert answer.code == 2
    assert answer.err.splitlines()[-1].endswith("; fix the environment. What was learned before is in many.")


def test_many_seeds_do_not_go_into_the_folder_of_one_run(call: Call) -> None:
    call("learn", "puck", "--seed", "1", "--out", "run", *FAST)
    answer = call("learn", "puck", "--seeds", "1-2", "--out", "run", *FAST)
    assert answer.code == 2
    assert "run holds one run, and --seeds makes a folder for each; choose another --out." in answer.err
    assert not Path("run", "seed-1").exists()


@pytest.mark.second_stage
def test_a_smaller_map_that_does_not_keep_the_return_is_told_by_the_exit_code(call: Call) -> None:
    call("learn", "puck", "--seed", "1", "--out", "run", *FAST)
    answer = call("condense", "run", "--regions", "1")
    assert "is NOT kept" in answer.out
    assert answer.code == 3


def test_a_seed_among_many_learns_what_it_learns_alone(call: Call) -> None:
    call("learn", "puck", "--seeds", "2-3", "--out", "many", *FAST)
    call("learn", "puck", "--seed", "3", "--out", "alone", *FAST)
    for name in ("representation.json", "values.npz", "trials.csv", "reasons.jsonl"):
        assert Path("many", "seed-3", name).read_bytes() == Path("alone", name).read_bytes()


def test_the_table_of_many_seeds_is_for_people(call: Call) -> None:
    told = call("learn", "puck", "--seeds", "1-2", *FAST).out
    assert "of 2 seeds" in told
    assert "median" in told


def test_the_same_command_again_shows_what_is_there(call: Call) -> None:
    first = call("learn", "puck", "--json", *FAST)
    again = call("learn", "puck", "--json", *FAST)
    assert again.content == first.content
    assert "is finished already" in again.err


def test_a_setting_of_the_command_line_reaches_the_run(call: Call) -> None:
    call("learn", "puck", "--out", "run", "--set", "learner.epsilon=0.07", "--set", "task.beta=0.2", *FAST)
    text = Path("run", "settings.toml").read_text()
    assert "epsilon = 0.07 " in text
    assert "beta = 0.2 " in text


@pytest.mark.parametrize("start", ["seeds", "0.268,0.62;-0.268,-0.62", "there.json", "earlier"])
def test_a_run_may_start_from_prototypes(call: Call, start: str) -> None:
    """From the same two points, however they are given, the same is learned."""
    two = Representation(voronoi([[0.268, 0.62], [-0.268, -0.62]], [1.0, 1.0]), ("x", "v"))
    Path("there.json").write_text(dumps(two))
    Path("earlier").mkdir()
    Path("earlier", "representation.json").write_text(dumps(two))
    call("learn", "puck", "--from", "seeds", "--out", "first", *FAST)
    call("learn", "puck", "--from", start, "--out", "second", *FAST)
    first, second = (Path(name, "representation.json").read_bytes() for name in ("first", "second"))
    assert first == second
    assert b"0.268, 0.62" in first


def test_show_tells_what_was_learned_with_the_same_json(call: Call) -> None:
    learned = call("learn", "puck", "--out", "run", "--json", *FAST).content
    shown = call("show", "run", "--json")
    assert shown.content == {**learned, "picture": None}
    assert "greedy action: l = left, r = right" in shown.err
    assert "region" in shown.err
    plain = call("show", "run")
    assert "greedy action: l = left, r = right" in plain.out
    assert plain.err == ""


#: Commands on a run, with a word of what they find.
FINDINGS = {
    "show": ([], "greedy action"),
    "export": (["--to", "c", "--force"], "Controller: "),
    "audit": (["--visits", "50"], "adequate"),
    "explain": (["--state", "0.5,1"], "region"),
    "play": (["--steps", "1", "--out", "film.gif"], "Film: film.gif"),
}


def test_people_read_results_on_standard_output_and_programs_one_line_of_json(call: Call) -> None:
    call("learn", "puck", "--seed", "1", "--out", "run", *FAST)
    for command, (words, finding) in FINDINGS.items():
        plain = call(command, "run", *words)
        assert finding in plain.out, command
        assert finding not in plain.err, command
        told = call(command, "run", *words, "--json")
        assert isinstance(told.content, dict), command
        assert finding in told.err, command
    unproven = call("export", "run", "--to", "json")
    assert unproven.err == (
        "No certificate: nothing is proven about this controller; try: distinguo verify run\n"
    )


def test_an_audit_compares_the_loss_with_its_bound_if_the_map_has_values(call: Call) -> None:
    call("learn", "puck", "--seed", "1", "--out", "run", *FAST)
    told = call("audit", "run", "--visits", "50", "--json").content
    assert 0.0 < told["least_epsilon"] < 1.0
    assert told["loss"] <= told["bound"]
    assert told["ratio"] == told["loss"] / told["bound"]


def times_and_bytes(folder: Path) -> dict[Path, tuple[int, bytes | None]]:
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in [folder, *folder.rglob("*")]
    }


@pytest.mark.parametrize(
    "words", [[], ["--json"], ["--out", "elsewhere.png"], ["--view", "trials", "--out", "t.svg"]]
)
def test_show_writes_nothing_into_the_run(call: Call, words: list[str]) -> None:
    call("learn", "puck", "--seed", "1", "--out", "run", *FAST)
    before = times_and_bytes(Path("run"))
    assert call("show", "run", *words).code == 0
    assert times_and_bytes(Path("run")) == before


def test_a_run_that_may_only_be_read_is_shown(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    call("learn", "puck", "--seed", "1", "--out", "run", *FAST)
    aside = atomic._aside

    def refused(path: Path) -> Any:
        if path.parent.name == "run":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return aside(path)

    monkeypatch.setattr(atomic, "_aside", refused)
    shown = call("show", "run", "--json")
    assert (shown.code, shown.content["picture"]) == (0, None)
    assert "greedy action" in shown.err
    assert call("learn", "puck", "--seed", "1", "--out", "run", *FAST).code == 0  # it was learned before
    assert call("show", "run", "--out", "run/mine.png").code == 2
    assert call("show", "run", "--out", "elsewhere.png").code == 0
    assert Path("elsewhere.png").exists()


def test_a_view_that_is_no_text_asks_for_a_file(call: Call) -> None:
    call("learn", "puck", "--seed", "1", "--out", "run", *FAST)
    shown = call("show", "run", "--view", "trials")
    assert (shown.code, shown.out) == (2, "")
    assert "--out trials.png" in shown.err
    assert "did you mean 'trials'?" in call("show", "run", "--view", "trails").err


def test_a_style_is_of_a_picture_and_known(call: Call) -> None:
    call("learn", "puck", "--seed", "1", "--out", "run", *FAST)
    assert "--out map.png" in call("show", "run", "--style", "dark").err
    assert "did you mean 'dark'?" in call("show", "run", "--style", "drak", "--out", "map.png").err
    assert not Path("map.png").exists()
    assert call("show", "run", "--style", "print", "--out", "map.pdf").code == 0


def test_show_of_a_run_that_was_stopped_says_so(call: Call) -> None:
    call("learn", "puck", "--out", "run", *FAST)
    Path("run", "result.json").unlink()
    shown = call("show", "run")
    assert shown.code == 0
    assert "not finished" in shown.out


def test_the_picture_is_where_the_answer_says(call: Call) -> None:
    picture = Path(call("learn", "puck", "--out", "run", "--json", *FAST).content["picture"])
    assert picture == Path("run", "partition.png")
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    picture.unlink()
    assert "--out partition.png" in call("show", "run").out
    assert not picture.exists()


def test_the_version_is_told(call: Call) -> None:
    from distinguo import __version__

    assert call("--version").out == f"{__version__}\n"


# Help comes at once.


@pytest.mark.parametrize("words", [[], *([command] for command in so_many(["learn"], COMMANDS))], ids=str)
def test_help_comes_within_half_a_second(words: list[str]) -> None:
    """Of processor time, at least once in three attempts: it is 0.2 to 0.4."""
    seconds = []
    while len(seconds) < 3 and min(seconds, default=1.0) >= 0.5:
        before = seconds_of_children()
        done = process(*words, "--help")
        seconds.append(seconds_of_children() - before)
        assert done.returncode == 0
        assert "Usage: distinguo" in done.stdout
    assert min(seconds) < 0.5


def test_help_loads_nothing_heavy() -> None:
    """One process asks every command in turn, and says after which of them something heavy is there."""
    script = (
        "import sys\nfrom distinguo.cli import main\n"
        "heavy = {'numpy', 'numba', 'matplotlib', 'scipy', 'gymnasium'}\n"
        "for words in ([], *([command] for command in sys.argv[1:])):\n"
        "    sys.argv = ['distinguo', *words, '--help']\n"
        "    try:\n        main()\n    except SystemExit as end:\n        assert not end.code, words\n"
        "    print(*words, *sorted(heavy & set(sys.modules)), sep=' ', file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *COMMANDS], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("Usage: distinguo") == 1 + len(COMMANDS)
    assert done.stderr.split() == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_offers_json(call: Call, command: str) -> None:
    assert "--json" in call(command, "--help").out


# Bad input: code 2, one sentence, nothing written.


def bad_files(folder: Path) -> None:
    two = Representation(voronoi([[0.0, 1.0], [2.0, 3.0]], [1.0, 1.0]), ("x", "v"))
    text = dumps(two)
    (folder / "truncated.json").write_text(text[: len(text) // 2])
    (folder / "newer.json").write_text(re.sub(r'"version": \d', '"version": 9', text))
    (folder / "empty.json").write_text("")
    three = Representation(voronoi([[0.0, 1.0, 2.0]], [1.0, 1.0, 1.0]), ("x", "y", "z"))
    (folder / "three.json").write_text(dumps(three))
    boxes = Representation(grid([2, 2], [0.0, 0.0], [1.0, 1.0]), ("x", "v"))
    (folder / "boxes.json").write_text(dumps(boxes))
    (folder / "letter.txt").write_text("Dear Ada")
    (folder / "foreign").mkdir()
    (folder / "foreign" / "letter.txt").write_text("Dear Ada")
    (folder / "vacant").mkdir()


BAD = {
    "an unknown task": (["learn", "pukc"], "did you mean 'puck'?"),
    "a task that is nothing": (["learn", ""], "Unknown task"),
    "an unknown preset": (["learn", "puck", "--preset", "papers"], "did you mean 'paper'?"),
    "an unknown setting": (["learn", "puck", "--set", "learner.epsilom=1"], "did you mean 'epsilon'?"),
    "an unknown table": (["learn", "puck", "--set", "lerner.epsilon=1"], "did you mean 'learner.epsilon'?"),
    "a setting without its table": (
        ["learn", "puck", "--set", "epsilonn=1"],
        "did you mean 'learner.epsilon'?",
    ),
    "a parameter without its table": (["learn", "puck", "--set", "betta=1"], "did you mean 'task.beta'?"),
    "a misspelt setting": (["learn", "puck", "--set", "learner.epsilonn=1"], "did you mean 'epsilon'?"),
    "a task in capitals": (["learn", "PUCK"], "did you mean 'puck'?"),
    "a task without its version": (["learn", "cartpole"], "did you mean 'CartPole-v1'?"),
    "the latest of no runs": (["show"], "There is no run in runs"),
    "a style of no picture": (["show", "foreign", "--style", "dark"], "not a run folder"),
    "a list of nothing": (["runs", "missing"], "missing does not exist"),
    "a list of a file": (["runs", "letter.txt"], "letter.txt is a file"),
    "a setting without a table": (["learn", "puck", "--set", "epsilon=1"], "TABLE.NAME"),
    "a setting without a value": (["learn", "puck", "--set", "learner.epsilon"], "TABLE.NAME=VALUE"),
    "an empty value": (["learn", "puck", "--set", "learner.epsilon="], "learner.epsilon"),
    "a value out of range": (["learn", "puck", "--set", "learner.gamma=1.5"], "less than 1"),
    "a value of another kind": (["learn", "puck", "--set", "stage.cap=many"], "stage.cap should"),
    "NaN for a setting": (["learn", "puck", "--set", "learner.epsilon=nan"], "learner.epsilon"),
    "a setting given twice": (
        ["learn", "puck", "--set", "learner.gamma=0.5", "--set", "learner.gamma=0.6"],
        "learner.gamma",
    ),
    "a value of endless digits": (["learn", "puck", "--set", f"stage.cap={'9' * 5000}"], "stage.cap"),
    "a value of endless depth": (["learn", "puck", "--set", f"stage.cap={'[' * 5000}"], "stage.cap should"),
    "a negative seed": (["learn", "puck", "--seed", "-1"], "from 0 to"),
    "a seed too large": (["learn", "puck", "--seed", str(2**63)], "from 0 to"),
    "seeds with a hole": (["learn", "puck", "--seeds", "1,,5"], "or 1-100"),
    "seeds with a comma at the end": (["learn", "puck", "--seeds", "1,5,"], "or 1-100"),
    "too many seeds in all": (["learn", "puck", "--seeds", "1-60000,70001-130000"], "--seeds"),
    "seeds backwards": (["learn", "puck", "--seeds", "5-1"], "or 1-100"),
    "seeds of words": (["learn", "puck", "--seeds", "a-b"], "or 1-100"),
    "seeds without an end": (["learn", "puck", "--seeds", "1-"], "or 1-100"),
    "no seeds": (["learn", "puck", "--seeds", ""], "or 1-100"),
    "more seeds than anybody can wait for": (["learn", "puck", "--seeds", "0-99999999999"], "--seeds"),
    "seeds of endless digits": (["learn", "puck", "--seeds", f"0-{'9' * 5000}"], "--seeds"),
    "a seed and seeds": (["learn", "puck", "--seed", "3", "--seeds", "1-2"], "--seeds"),
    "NaN in prototypes": (["learn", "puck", "--from", "0.1,nan"], "finite"),
    "infinity in prototypes": (["learn", "puck", "--from", "0.1,1e999"], "finite"),
    "no prototypes": (["learn", "puck", "--from", ";"], "empty"),
    "no start": (["learn", "puck", "--from", ""], "empty"),
    "prototypes given twice": (["learn", "puck", "--from", "0.1,1;0.1,1"], "differ"),
    "prototypes of one coordinate": (["learn", "puck", "--from", "0.1;0.2"], "2 coordinates"),
    "prototypes of several lengths": (["learn", "puck", "--from", "0.1,1;0.2"], "rows of numbers"),
    "prototypes of words": (["learn", "puck", "--from", "left,right"], "--from takes"),
    "a missing file": (["learn", "puck", "--from", "missing.json"], "missing.json"),
    "a truncated file": (["learn", "puck", "--from", "truncated.json"], "damaged"),
    "an empty file": (["learn", "puck", "--from", "empty.json"], "damaged"),
    "a file of a newer version": (["learn", "puck", "--from", "newer.json"], "upgrade"),
    "a file of three dimensions": (["learn", "puck", "--from", "three.json"], "3 dimensions"),
    "a file of boxes": (["learn", "puck", "--from", "boxes.json"], "boxes"),
    "a start from a letter": (["learn", "puck", "--from", "letter.txt"], "letter.txt"),
    "a start from a folder without a run": (["learn", "puck", "--from", "foreign"], "foreign"),
    "out to a file": (["learn", "puck", "--out", "letter.txt"], "letter.txt"),
    "out below a file": (["learn", "puck", "--out", "letter.txt/run"], "letter.txt"),
    "out to a foreign folder": (["learn", "puck", "--out", "foreign"], "not a run folder"),
    "many out to a file": (["learn", "puck", "--seeds", "1-2", "--out", "letter.txt"], "letter.txt"),
    "a show of nothing": (["show", "missing"], "not a run folder"),
    "a show of a file": (["show", "letter.txt"], "not a run folder"),
    "a show of a foreign folder": (["show", "foreign"], "not a run folder"),
    "a show of an empty folder": (["show", "vacant"], "not a run folder"),
    "a view without a file": (["show", "foreign", "--view", "trials"], "not a run folder"),
    "a film of a foreign folder": (["play", "foreign", "--out", "film.gif"], "not a run folder"),
    "a film of another kind": (["play", "foreign", "--out", "film.avi"], ".gif or .mp4"),
    "a film from a word": (["play", "foreign", "--state", "left"], "not a run folder"),
    "a task that is nowhere": (["tasks", "carpole"], "did you mean 'CartPole-v1'?"),
    "a setting that is nowhere": (["settings", "epsilom"], "did you mean 'epsilon'?"),
    "an audit of a foreign folder": (["audit", "foreign"], "not a run folder"),
    "audits of folders that hold no runs": (["audit", "foreign", "vacant"], "foreign is not a run folder"),
    "a map condensed twice": (["condense", "vacant", "vacant"], "vacant is named twice"),
    "proofs in threads": (["verify", "diagonal", "grid:2x2", "--engine", "threads"], "--engine processes"),
    "workers for one proof": (["verify", "diagonal", "--workers", "2"], "--workers is for many runs"),
    "a part of one learning run": (["learn", "puck", "--shard", "1/2"], "--shard is for many runs"),
    "a part that is empty": (["learn", "puck", "--seeds", "1-2", "--shard", "3/4"], "nothing left to do"),
    "a part of no parts": (["learn", "puck", "--seeds", "1-2", "--shard", "3/2"], "I from 1 to N"),
    "an engine that is none": (["learn", "puck", "--seeds", "1-2", "--engine", "thread"], "'threads'?"),
    "an address that nobody answers": (
        ["verify", "diagonal", "grid:2x2", "--address", "tcp://127.0.0.1:1"],
        "No dask scheduler answers at tcp://127.0.0.1:1",
    ),
    "a seed and seeds of a teacher": (
        ["distil", "letter.txt", "--task", "puck", "--seed", "1", "--seeds", "1-2"],
        "--seeds exclude each other",
    ),
    "a proof of a representation that is unknown": (
        ["verify", "diagona", "gridd"],
        "Unknown representation 'diagona'; did you mean 'diagonal'?",
    ),
    "a letter for a teacher": (
        ["distil", "letter.txt", "--task", "puck", "--seeds", "1-2"],
        "'letter.txt' is not a teacher; ",
    ),
    "a part of the case study": (["reproduce", "--shard", "1/2"], "--shard is for --neighbours"),
}


def everything_in(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("problem", BAD)
@pytest.mark.parametrize("json_too", [False, True])
def test_bad_input_is_told_in_one_sentence(
    call: Call, tmp_path: Path, problem: str, json_too: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distinguo.engines.cluster.CONNECT_SECONDS", 1)
    bad_files(tmp_path)
    before = everything_in(tmp_path)
    words, expected = BAD[problem]
    answer = call(*words, *["--json"] * json_too)
    assert answer.code == 2, answer
    assert answer.out == ""
    assert answer.err.startswith("distinguo: ")
    assert answer.err.count("\n") == 1
    assert answer.err.rstrip()[-1] in ".?" or ": distinguo " in answer.err  # a command to copy is at the end
    assert expected in answer.err
    assert everything_in(tmp_path) == before


@pytest.mark.parametrize(
    "words",
    [
        ["learn"],
        ["learn", "puck", "--sed", "3"],
        ["learn", "puck", "--seed", "x"],
        ["learn", "puck", "more"],
        ["lern"],
        ["show"],
    ],
)
def test_words_that_are_no_command_are_told_too(call: Call, tmp_path: Path, words: list[str]) -> None:
    answer = call(*words)
    assert answer.code == 2
    assert answer.out == ""
    assert "Traceback" not in answer.err
    assert everything_in(tmp_path) == {}


def test_a_real_process_shows_no_traceback(tmp_path: Path) -> None:
    done = process("learn", "puck", "--set", "learner.epsilom=1", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "distinguo: Unknown setting learner.epsilom; did you mean 'epsilon'?\n"
    assert os.listdir(tmp_path) == []


def test_a_run_of_other_settings_is_not_written_over(call: Call, tmp_path: Path) -> None:
    call("learn", "puck", "--out", "run", *FAST)
    before = everything_in(tmp_path)
    answer = call("learn", "puck", "--out", "run", "--seed", "9", *FAST)
    assert answer.code == 2
    assert "seed 9 instead of 0" in answer.err
    assert everything_in(tmp_path) == before


def test_the_default_folder_is_free_or_of_the_same_run(call: Call) -> None:
    first = call("learn", "puck", "--json", *FAST).content["run"]
    second = call("learn", "puck", "--json", *FAST, "--set", "stage.trials=2").content["run"]
    assert first != second
    assert str(default_folder.__defaults__[0]) in first  # type: ignore[index]
