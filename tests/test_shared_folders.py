"""Folders that others made: whatever is in them, everything that reads them answers, or refuses in one sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.agents import session as archive
from distinguo.agents.economy import Economy
from distinguo.cli.console import output_for
from distinguo.distillation.condense import read_curve
from distinguo.distillation.fidelity import LARGEST_FIDELITY, read_fidelity
from distinguo.distillation.teachers import kind_of_zip, read_table
from distinguo.errors import DistinguoError, visible
from distinguo.reading.files import MEBIBYTE
from distinguo.runs import folder
from distinguo.runs.digests import DIGESTS
from distinguo.runs.folder import open_run
from distinguo.tasks.catalog import task_spec
from distinguo.views.report import report
from distinguo.views.words import outcome_sentence
from tests.folders import (
    COMMANDS,
    KINDS,
    RUNS,
    Defect,
    command,
    fuzz_folders,
    is_answered,
    signed_again,
)
from tests.fuzz import READERS
from tests.nightly import so_many

NEWEST = RUNS / "puck-9"


def copy_of(whole: Path, place: Path) -> Path:
    shutil.copytree(whole, place / "run")
    return place / "run"


def refusal(call: Any, *arguments: Any) -> str:
    with pytest.raises(DistinguoError) as caught:
        call(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_spoilt_folders_of_every_kind_are_read_or_refused_in_a_sentence(kind: str, tmp_path: Path) -> None:
    account = fuzz_folders(kind, so_many(15, nightly=200), 3, tmp_path, whole=False)
    assert not account.defects
    assert account.refused > 0


def test_every_file_of_a_folder_is_fuzzed() -> None:
    """A new file of a run, a comparison or an agent needs a reader, a place in the list, and a folder that has it."""
    fuzzed = {path.name for reader in READERS.values() for path in reader.files}
    there = {path.name for kind in KINDS.values() for whole in kind.wholes for path in whole.rglob("*")}
    known = {
        *folder.TOGETHER,
        *folder.GROWING,
        *archive.NAMES,
        folder.SETTINGS,
        folder.CHECKPOINT,
        "certificate.json",
    }
    assert known - {"agent.json"} <= there
    assert known - {"agent.json"} <= fuzzed | {"certificate.json"}
    for whole in (path for kind in KINDS.values() for path in kind.wholes if path.parent == RUNS):
        assert {path.name for path in whole.iterdir()} <= known


# ---- names with control characters ----

HOSTILE = "\x1b]0;owned\x07\x1b[31m\u202e\x9b\x7f"


def hostile_run(place: Path) -> Path:
    """Return a run whose task, coordinates, actions and units have control characters in their names."""
    run = copy_of(RUNS / "cliff-6", place)
    settings, words = run / "settings.toml", json.dumps(HOSTILE)[1:-1].replace("\x7f", "\\u007f")
    text = settings.read_text()
    names = {
        "CliffWalking-v1",
        *open_run(run).configuration.spec.actions,
        *open_run(run).representation.dimensions,
    }
    for path in (settings, *run.glob("*.json")):
        text = path.read_text()
        for name in names:
            text = text.replace(f'"{name}"', f'"{name}{words}"')
        path.write_text(text)
    assert HOSTILE in open_run(run).configuration.spec.actions[0]
    return run


@pytest.mark.parametrize(
    "words",
    [
        *COMMANDS,
        ("explain", "--state=3"),
        ("verify",),
        ("audit",),
        ("condense",),
        ("play", "--out", "{out}.gif"),
    ],
)
def test_no_command_prints_control_characters_of_names(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "0")
    is_answered(lambda: command(words, hostile_run(tmp_path)))  # raises if one is printed


def test_names_are_shown_with_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    output_for(as_json=False).tell(f"left{HOSTILE}")
    assert capsys.readouterr().out == "left" + r"\x1b]0;owned\x07\x1b[31m\u202e\x9b\x7f" + "\n"


def test_a_command_that_prints_names_as_they_are_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distinguo.cli.console.visible", str)
    with pytest.raises(Defect, match="printed"):
        is_answered(lambda: command(("explain", "--state=3"), hostile_run(tmp_path)))


def test_a_report_on_a_folder_of_any_name(tmp_path: Path) -> None:
    run = hostile_run(tmp_path).rename(tmp_path / "run\x1b[31m\udcff\u202e")
    page = report(run, tmp_path / "page.html").read_text()
    assert visible(page) == page
    assert r"\x1b]0;owned" in page


# ---- what belongs together ----


def swap_rows(path: Path) -> None:
    with np.load(path) as found:
        arrays = {name: found[name][::-1] for name in found.files}
    np.savez(path, **arrays)


@pytest.mark.parametrize("name", ["puck-9", "swing-9", "swing-9-condensed"])
def test_values_of_another_map_are_noticed(name: str, tmp_path: Path) -> None:
    run = copy_of(RUNS / name, tmp_path)
    swap_rows(run / folder.VALUES)
    assert "values.npz was not saved with the other files of its folder" in refusal(open_run, run)
    with pytest.raises(DistinguoError, match="was not saved with"):
        command(("show",), run)
    (run / DIGESTS).unlink()  # what the sentence says: open it as it is, as a folder of an earlier version
    assert open_run(run).representation.regions > 0


@pytest.mark.parametrize("name", [name for name in folder.TOGETHER if name not in (DIGESTS, folder.SETTINGS)])
def test_every_file_that_was_saved_with_others_is_bound(name: str, tmp_path: Path) -> None:
    wholes = [path.parent for path in RUNS.glob(f"*/{name}") if (path.parent / DIGESTS).exists()]
    for whole in wholes[:1]:
        run = copy_of(whole, tmp_path)
        (run / name).write_bytes((run / name).read_bytes() + b"\n")
        assert name in refusal(open_run, run)
    if not wholes:  # one that only some learners write: it is foreign to this run
        run = copy_of(NEWEST, tmp_path)
        source = folder.VALUES if name.endswith(".npz") else folder.REPRESENTATION
        shutil.copy(run / source, run / name)
        assert name in refusal(open_run, run)


def test_settings_and_a_representation_alone_are_free(tmp_path: Path) -> None:
    run = copy_of(NEWEST, tmp_path)
    settings = run / folder.SETTINGS
    settings.write_text(settings.read_text().replace("hold = ", "hold =  "))
    assert open_run(run).solved
    shutil.copy(run / folder.REPRESENTATION, tmp_path / "mine.json")
    assert folder.representation_file.load(tmp_path / "mine.json").regions == 4


def test_growing_files_of_another_run_are_not_gone_on_with(tmp_path: Path) -> None:
    run = copy_of(NEWEST, tmp_path)
    (run / folder.RESULT).unlink()
    text = (run / folder.TRIALS).read_text()
    (run / folder.TRIALS).write_text(text.replace("\n1,", "\n2,", 1))
    sentence = refusal(folder.resume, run, folder.read_settings(run))
    assert "trials.csv is not the file that its checkpoint was saved with" in sentence


# ---- what archives say ----


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of an agent whose environment is Gymnasium's own."""
    path = tmp_path_factory.mktemp("lake") / "agent.zip"
    Economy("FrozenLake-v1", seed=1).save(path)
    return archive.read(path)[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"first_action": -5}, "actions begin at -5"),
        ({"first_action": 2**40}, "actions begin at"),
        ({"shape": [1]}, "have the shape"),
        ({"num_timesteps": 2**63}, "damaged"),
        ({"summary": {"solved": "yes"}}, "damaged"),
        ({"summary": {"solved": True}}, "damaged"),
    ],
    ids=str,
)
def test_an_archive_is_not_believed(
    lake: dict[str, bytes], change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    run = tmp_path / "agent"
    run.mkdir()
    for name, content in lake.items():
        (run / name).write_bytes(content)
    (run / "agent.json").write_text(json.dumps({**json.loads(lake["agent.json"]), **change}))
    assert "agent.json was not saved with" in refusal(Economy.load, run) or words in refusal(
        Economy.load, run
    )
    signed_again(run)
    assert words in refusal(Economy.load, run)


@pytest.mark.parametrize(
    ("field", "value"),
    [("trials", -1), ("trials", 2**62), ("attempt", 2**62), ("since", 99), ("gained", np.nan), ("action", 5)],
)
def test_counters_of_a_checkpoint_are_checked(field: str, value: float, tmp_path: Path) -> None:
    run = copy_of(NEWEST, tmp_path)
    with np.load(run / folder.CHECKPOINT) as found:
        arrays = {name: found[name] for name in found.files}
    arrays["progress.counts"][field] = value
    np.savez(run / folder.CHECKPOINT, **arrays)
    assert "checkpoint.npz is damaged" in refusal(folder.resume, run, folder.read_settings(run))


# ---- files of all kinds ----


def test_a_pipe_as_a_teacher_is_refused_at_once(tmp_path: Path) -> None:
    for name in ("agent.zip", "table.csv"):
        os.mkfifo(tmp_path / name)
    assert "is not a file" in refusal(kind_of_zip, tmp_path / "agent.zip")
    assert "is not a file" in refusal(read_table, tmp_path / "table.csv", task_spec("puck"))


@pytest.mark.parametrize(
    "text", ["x" * 200_000, "x,v,action\n\0", "x,v,action\n1,2", '"', "x,v,action\n" + '"' * 9]
)
def test_tables_that_are_no_tables_are_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(text)
    refusal(read_table, tmp_path / "table.csv", task_spec("puck"))


def changed(content: Any) -> list[Any]:
    """Return a content with each of its values in turn replaced by values of other types."""
    found: list[Any] = []
    for key in content:
        for odd in (None, "text", -1, 10**400, float("nan"), [], {}, [[1]], True):
            if type(odd) is not type(content[key]):
                found.append({**content, key: odd})
        found.append({name: value for name, value in content.items() if name != key})
    return found


def test_every_value_of_a_fidelity_is_checked(tmp_path: Path) -> None:
    whole = json.loads((RUNS / "swing-9" / "fidelity.json").read_text())
    path = tmp_path / "fidelity.json"
    allowed = {"regret_of_disagreements", "free_disagreements"}
    for spoilt in changed(whole):
        path.write_text(json.dumps(spoilt))
        if all(spoilt.get(name, None) == whole[name] for name in whole if name not in allowed):
            is_answered(lambda: read_fidelity(path))
        elif spoilt.get("actions") != []:
            assert "fidelity.json" in refusal(read_fidelity, path)


def read_again(found: Any, run: Path) -> Any:
    return found._replace(summary=folder._read_result(run / folder.RESULT))


def test_every_value_of_a_result_that_is_shown_is_checked(tmp_path: Path) -> None:
    for name in ("puck-9", "swing-9"):
        run = copy_of(RUNS / name, tmp_path)
        (run / DIGESTS).unlink()
        whole, whole_run = json.loads((run / folder.RESULT).read_text()), open_run(run)
        for spoilt in changed(whole):
            (run / folder.RESULT).write_text(json.dumps(spoilt))
            is_answered(lambda found=whole_run, run=run: outcome_sentence(read_again(found, run)))
        (run / folder.RESULT).write_text(json.dumps({**whole, "score": "500"}))
        assert "result.json is damaged" in refusal(open_run, run)
        shutil.rmtree(run)


@pytest.mark.parametrize(
    "table",
    [
        "",
        "prototypes\n1\n",
        "prototypes,mean_return,standard_error,trials,chosen\n",
        "prototypes,mean_return,standard_error,trials,chosen\n0,1,0,9,1\n",
        "prototypes,mean_return,standard_error,trials,chosen\n1,nan,0,9,1\n",
        "prototypes,mean_return,standard_error,trials,chosen\n1,1,-1,9,1\n",
        "prototypes,mean_return,standard_error,trials,chosen\n1,1,0,9,1\n2,1,0,9,1\n",
    ],
)
def test_a_spoilt_dial_is_told(table: str, tmp_path: Path) -> None:
    (tmp_path / "dial.csv").write_text(table)
    assert "dial.csv is damaged" in refusal(read_curve, tmp_path / "dial.csv")


MEASURE = """
import resource, sys
from distinguo.distillation.fidelity import read_fidelity
from distinguo.errors import DistinguoError
from pathlib import Path
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_fidelity(Path(sys.argv[1]))
except DistinguoError:
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.second_stage
@pytest.mark.parametrize("bomb", ["[", '"'])
def test_a_bomb_takes_a_few_times_its_size(bomb: str, tmp_path: Path) -> None:
    path = tmp_path / "fidelity.json"
    path.write_text(bomb * LARGEST_FIDELITY)
    command = [sys.executable, "-c", MEASURE, str(path)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(answer.stdout) < 4 * LARGEST_FIDELITY / MEBIBYTE
