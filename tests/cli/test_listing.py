"""Lists of what there is, words that the shell completes, and seeds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import distinguo
from distinguo.cli import completion
from distinguo.cli.listing import ABOUT, BOX2D, setting_lines, task_lines
from distinguo.errors import DistinguoError
from distinguo.presets import PRESETS
from distinguo.runs.configuration import configure, flat
from distinguo.runs.seeds import seed_words, seeds
from distinguo.tasks.catalog import SPECS, task_spec
from distinguo.views.colours import STYLES
from tests.cli.test_cli import Call, call  # noqa: F401 - a fixture


@given(st.lists(st.integers(0, 10**19 - 1), min_size=1, max_size=50, unique=True))
def test_seeds_are_read_as_they_are_written(numbers: list[int]) -> None:
    assert seeds(seed_words(numbers)) == numbers


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 9), st.booleans()), min_size=1, max_size=12))
def test_lists_and_ranges_of_seeds_may_be_mixed(pieces: list[tuple[int, int, bool]]) -> None:
    words, expected = [], list[int]()
    for first, more, spaced in pieces:
        words.append(f"{' ' * spaced}{first}-{first + more}" if more else f"{first}{' ' * spaced}")
        expected += range(first, first + more + 1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert seeds(",".join(words)) == list(dict.fromkeys(expected))
    assert len(told) == (len(set(expected)) < len(expected))
    for warning in told:
        assert "more than once; each is taken once" in str(warning.message)


@pytest.mark.parametrize(
    "text", ["", ",", "1,,2", "5-1", "1-", "-3", "a", "1;2", "0x3", "1.5", "1-2-3", "9" * 20]
)
def test_what_is_no_list_of_seeds_is_refused(text: str) -> None:
    with pytest.raises(DistinguoError, match="such as 1,2,5-9"):
        seeds(text)


@pytest.mark.filterwarnings("default")
def test_seeds_given_twice_are_learned_once_and_said(call: Call) -> None:  # noqa: F811
    answer = call(
        "learn", "puck", "--seeds", "2,1-2", "--json", "--set", "stage.cap=500", "--set", "stage.hold=500"
    )
    assert [run["seed"] for run in answer.content["runs"]] == [2, 1]
    assert "distinguo: --seeds gives 2 more than once; each is taken once." in answer.err
    assert answer.content["runs"][0]["run"] == "runs/puck-default-seeds2,1/seed-2"


# Tasks and settings.


def test_every_task_of_ours_is_listed_with_its_facts(call: Call) -> None:  # noqa: F811
    content = call("tasks", "--json").content
    listed = {line["name"]: line for line in content["tasks"]}
    assert set(listed) >= set(SPECS)
    for name in SPECS:
        spec = task_spec(name)
        assert tuple(listed[name]["dimensions"]) == spec.dimensions
        assert listed[name]["actions"] == len(spec.actions)
        assert listed[name]["compiled"]
    lake = listed["FrozenLake-v1"]
    assert (lake["actions"], lake["goal"], lake["compiled"]) == (4, "mean return 0.7", False)
    plain = call("tasks")
    assert plain.err == ""
    assert [line.split()[0] for line in plain.out.splitlines()][: len(listed)] == list(listed)


def test_lists_are_filtered_by_a_word(call: Call) -> None:  # noqa: F811
    names = [line["name"] for line in call("tasks", "LAKE", "--json").content["tasks"]]
    assert names == ["FrozenLake-v1", "FrozenLake8x8-v1"]
    landers = call("tasks", "lander", "--json").content
    assert "LunarLander-v3" in [*landers["others"], *(line["name"] for line in landers["tasks"])]
    assert "LunarLanderContinuous-v3" in landers["others"]
    keys = {line["key"] for line in call("settings", "epsilon", "--json").content["settings"]}
    assert keys == {"learner.epsilon", "learner.epsilon_share"}


def test_every_description_is_of_a_task_that_can_be_made() -> None:
    missing = () if find_spec("Box2D") else BOX2D
    assert [line.name for line in task_lines()] == [name for name in ABOUT if name not in missing]
    assert all("o0" not in line.dimensions for line in task_lines())


@pytest.mark.parametrize(
    ("task", "learner"), [("puck", "economy"), ("MountainCar-v0", "probation"), ("FrozenLake-v1", "sweeping")]
)
def test_every_setting_of_a_configuration_is_listed(task: str, learner: str) -> None:
    keys = {line.key for line in setting_lines() if line.owner.split()[-1] in (learner, "learning", task)}
    asked = {name for name in flat(configure(task, learner=learner)) if "." in name}
    assert asked <= keys


def test_the_values_of_presets_are_those_that_a_run_takes() -> None:
    lines = {
        line.key: line for line in setting_lines() if line.owner in ("learner economy", "stage of learning")
    }
    for preset in PRESETS:
        taken = flat(configure("puck", preset_name=preset))
        for key, line in lines.items():
            assert line.presets.get(preset, line.default) == taken[key], (preset, key)


def test_an_empty_range_is_never_told() -> None:
    for line in setting_lines():
        assert line.range, line
        assert line.about, line


# Completion.


def test_the_words_that_are_completed_are_all_there_are() -> None:
    from distinguo import controls as catalog
    from distinguo.exports.write import FORMATS as formats
    from distinguo.learners.catalog import learner_names
    from distinguo.learners.learner import all_learners
    from distinguo.views.show import _views

    assert set(completion.OWN_TASKS) == set(SPECS)
    assert [learner.name for learner in all_learners()] == [*learner_names(), "distilled"]
    assert completion.complete_style("") == list(STYLES)
    assert completion.complete_learner("") == sorted(learner_names())
    own = vars(catalog).values()  # not those of tests and examples
    ours = {builder.usage for builder in catalog._builders.values() if builder.function in own}
    assert set(completion.BASELINES) == ours
    own = {name for name, view in _views.items() if view.__module__ == "distinguo.views.show"}
    assert set(completion.VIEWS) == own
    assert set(completion.FORMATS) == set(formats)


def test_run_folders_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("runs/a", "runs/b", "here", "other", ".hidden"):
        Path(name).mkdir(parents=True)
    for name in ("runs/a", "here"):
        Path(name, "settings.toml").touch()
    assert completion.complete_run("") == ["here", "other/", "runs/", "runs/a", "runs/b/"]
    assert completion.complete_run("runs/") == ["runs/a", "runs/b/"]
    assert completion.complete_run("he") == ["here"]
    assert completion.complete_run("nowhere/x") == []


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("learn Cart", "CartPole-v1"), ("show runs/a --view tr", "trials")],
)
def test_a_shell_gets_its_words_fast_and_nothing_heavy_is_loaded(typed: str, expected: str) -> None:
    script = (
        "import sys\nfrom distinguo.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numba', 'matplotlib', 'scipy'}\n"
        "print(*sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    words = f"distinguo {typed}"
    environment = {
        **os.environ,
        "_DISTINGUO_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    code = f"import sys; sys.argv = ['distinguo']\n{script}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout.split() == [expected], done
    assert done.stderr.split() == []


def test_completion_can_be_shown_for_a_shell(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    out = call("--show-completion", "bash").out
    assert "complete_bash" in out
    assert "complete -o default -F" in out


# Runs.


SMALL = {"stage.cap": 2000, "stage.hold": 2000}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two runs in ``runs``, the later one deeper, and one that is damaged."""
    base = tmp_path_factory.mktemp("shelf")
    for number, name in enumerate(("puck-first", "class/puck-second")):
        distinguo.learn("puck", seed=1, settings=SMALL, out=base / "runs" / name)
        for file in (base / "runs" / name).iterdir():
            os.utime(file, (10**9 + number, 10**9 + number))
    damaged = base / "runs" / "damaged"
    damaged.mkdir()
    (damaged / "settings.toml").write_text("[run")
    os.utime(damaged / "settings.toml", (10**9 + 9, 10**9 + 9))
    return base


def test_runs_are_listed_the_newest_first(call: Call, shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.chdir(shelf)
    listed = call("runs", "--json")
    assert [line["run"] for line in listed.content["runs"]] == [
        *("runs/damaged", "runs/class/puck-second", "runs/puck-first")
    ]
    assert "damaged" in listed.content["runs"][0]["trouble"]
    facts = listed.content["runs"][2]
    assert (facts["task"], facts["learner"], facts["solved"], facts["prototypes"]) == (
        "puck",
        "economy",
        True,
        5,
    )
    plain = call("runs").out.splitlines()
    assert plain[2].split(maxsplit=1)[1].startswith("puck, economy, solved, 5 prototypes, 2001-09-09")
    assert call("runs", "runs/class", "--json").content["runs"][0]["run"] == "runs/class/puck-second"


ABOUT_THE_LATEST = (["show"], ["explain", "--state", "0.5,1"], ["export", "--to", "json", "--force"])
SLOW_ABOUT_THE_LATEST = (
    *(["audit", "--visits", "20"], ["verify"], ["report"], ["play", "--steps", "1", "--out", "film.gif"]),
    *(["condense", "--steps", "10000000"], ["test", "--runs", "1", "--steps", "500", "--cap", "50"]),
)


@pytest.mark.parametrize(
    "words",
    [
        *ABOUT_THE_LATEST,
        *(pytest.param(words, marks=pytest.mark.second_stage) for words in SLOW_ABOUT_THE_LATEST),
    ],
    ids=lambda words: words[0],
)
def test_every_command_takes_the_latest_run(
    call: Call,  # noqa: F811
    shelf: Path,
    tmp_path: Path,
    words: list[str],
) -> None:
    shutil.copytree(shelf / "runs", tmp_path / "runs")
    answer = call(*words, "--json")
    assert answer.code in (0, 3), answer
    assert "No run was named; taking the latest: runs/class/puck-second" in answer.err.splitlines()
    assert "runs/class/puck-second" in answer.out
    assert isinstance(answer.content, dict)


def test_a_wrong_path_names_the_nearest_runs(
    call: Call,  # noqa: F811
    shelf: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(shelf)
    for wrong in ("runs/puck-frist", "runs/PUCK", "puck-first"):
        for command in ("show", "verify") if "/" in wrong else ("show",):
            told = call(command, wrong)
            assert told.code == 2
            assert "did you mean runs/puck-first" in told.err
    assert "it holds 1 run, such as runs/class/puck-second" in call("show", "runs/class").err
    assert "list the runs there are with: distinguo runs" in call("show", "elsewhere").err


def test_no_runs_are_told(call: Call) -> None:  # noqa: F811
    told = call("runs")
    assert (told.code, told.out) == (0, "There are no runs in runs; learn one with: distinguo learn puck\n")
    assert call("runs", "--json").content == {"runs": []}
