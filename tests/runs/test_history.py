"""The history of a run: what there was after which trial, in little room, the same however often it was stopped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from distinguo.agents.economy import Economy
from distinguo.errors import DistinguoError
from distinguo.runs import account, history, learn
from distinguo.runs.folder import open_run, write_run
from distinguo.runs.history import HISTORY, LARGEST_HISTORY, Frame, is_due, read_history
from distinguo.runs.run import Run

PUCK = Path(__file__).parents[1] / "golden" / "formats" / "runs" / "puck-8"
SMALL = {"stage.cap": 1000, "stage.hold": 1000}


def lines_of(path: Path) -> list[str]:
    return (path / HISTORY).read_text().splitlines(keepends=True)


def same(one: Frame, other: Frame) -> bool:
    return one[:2] == other[:2] and one.delta == other.delta and same_map(one, other)


def same_map(one: Frame | Run, other: Frame | Run) -> bool:
    arrays = zip(one.representation.partition, other.representation.partition, strict=True)
    return np.array_equal(one.q, other.q) and all(np.array_equal(a, b) for a, b in arrays)


def test_frames_say_what_there_was_after_their_trials() -> None:
    run = open_run(PUCK)
    by_trial = {row.trial: row for row in run.trials}
    assert [frame.trial for frame in run.history] == list(by_trial)  # every trial at first
    for frame in run.history:
        row = by_trial[frame.trial]
        assert (frame.representation.regions, frame.representation.prototypes) == (
            row.regions,
            row.prototypes,
        )
        assert frame.environment_steps == row.environment_steps
        assert frame.q.shape == (row.regions, 2)
        assert frame.representation.dimensions == ("x", "v")
    assert same_map(run.history[-1], run)
    for s in ((0.5, 1.0), (-1.0, 0.2), (2.0, 3.0)):
        assert run.history[-1].controller.value(s) == run.controller.value(s)


def test_a_run_in_memory_has_the_same_history_as_one_in_a_folder(tmp_path: Path) -> None:
    there = learn.learn("puck", seed=2, settings=SMALL, out=tmp_path / "run")
    here = learn.learn("puck", seed=2, settings=SMALL)
    assert len(here.history) == len(there.history) == here.summary["trials"]
    assert all(same(a, b) for a, b in zip(here.history, there.history, strict=True))
    write_run(here._replace(path=tmp_path / "copy"), tmp_path / "copy")
    assert (tmp_path / "copy" / HISTORY).read_bytes() == (tmp_path / "run" / HISTORY).read_bytes()


@pytest.mark.parametrize("size", [(5, 4, 2, 2), (60, 20, 4, 3), (500, 500, 1, 6), (20_000, 20_000, 1, 8)])
def test_the_file_stays_small_however_many_trials_there_are(size: tuple[int, int, int, int]) -> None:
    prototypes, regions, dimensions, actions = size
    line = 20 * (prototypes * dimensions + regions * actions)
    due = [trial for trial in range(1, 2**16) if is_due(trial, *size)]
    assert due[:2] == [1, 2]
    assert len(due) >= 16  # enough to slide through
    if line < LARGEST_HISTORY // 64:
        assert len(due) * line * 2 < LARGEST_HISTORY  # 2^32 trials are but twice as many doublings
    gaps = np.diff(due) / np.array(due[1:])
    assert gaps[len(due) // 2 :].max() <= 0.5


def test_no_frame_is_taken_beyond_the_largest_size_but_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account, "LARGEST_HISTORY", 2_000)
    run = learn.learn("puck", seed=2, settings=SMALL, out=tmp_path / "run")
    *some, last = lines_of(tmp_path / "run")
    assert 1_000 < len("".join(some)) <= 2_000
    assert json.loads(last)["trial"] == run.summary["trials"] > len(some) + 1
    assert same_map(run.history[-1], run)


def test_a_map_that_is_too_large_for_a_line_has_no_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "LONGEST_LINE", 500)
    run = learn.learn("puck", seed=2, settings=SMALL, out=tmp_path / "run")
    assert 0 < len(run.history) < run.summary["trials"]
    assert max(map(len, lines_of(tmp_path / "run"))) <= 500


def test_another_attempt_is_seen_to_begin_again() -> None:
    stage = {"stage.restart": 12, "stage.trials": 20, "stage.cap": 100, "stage.hold": 10**6}
    run = learn.learn("puck", seed=4, settings=stage)
    sizes = [frame.representation.regions for frame in run.history]
    assert run.summary["attempts"] == 2
    assert len(sizes) == 20
    assert sizes[11] > 1 == sizes[12]


def test_a_last_line_that_is_not_whole_yet_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / HISTORY
    text = (PUCK / HISTORY).read_text()
    for cut in (1, 40, 300):
        path.write_text(text[:-cut])
        assert len(read_history(path, is_growing=True)) == len(text.splitlines()) - 1
        if cut > 1:
            with pytest.raises(DistinguoError, match=r"history\.jsonl is damaged at line 15"):
                read_history(path)


def broken(line: str, **changes: object) -> str:
    return json.dumps({**json.loads(line), **changes}) + "\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"trial": -1},
        {"trial": True},
        {"environment_steps": 2**63},
        {"q": [[0.0, 0.0]]},
        {"q": [[0.0], [1.0]]},
        {"delta": "0"},
        {"delta": -0.5},
        {"representation": {}},
        {"more": 1},
    ],
    ids=str,
)
def test_a_frame_that_is_none_is_named_by_its_line(tmp_path: Path, changes: dict[str, object]) -> None:
    lines = lines_of(PUCK)
    shutil.copytree(PUCK, tmp_path / "run")
    lines[6] = broken(lines[6], **changes)
    (tmp_path / "run" / HISTORY).write_text("".join(lines))
    with pytest.raises(DistinguoError, match=r"history\.jsonl is damaged at line 7; take a whole copy\."):
        open_run(tmp_path / "run")


def test_frames_of_different_tasks_are_refused(tmp_path: Path) -> None:
    lines = lines_of(PUCK)
    lines[6] = lines[6].replace('"dimensions":["x","v"]', '"dimensions":["x","w"]')
    (tmp_path / HISTORY).write_text("".join(lines))
    with pytest.raises(DistinguoError, match="damaged at line 7"):
        read_history(tmp_path / HISTORY)


def test_the_history_of_another_task_is_refused(tmp_path: Path) -> None:
    shutil.copytree(PUCK, tmp_path / "run")
    path = tmp_path / "run" / HISTORY
    path.write_text(path.read_text().replace('"dimensions":["x","v"]', '"dimensions":["x","w"]'))
    with pytest.raises(DistinguoError, match="is of another task than"):
        open_run(tmp_path / "run")


def test_an_agent_keeps_its_history_in_its_file(tmp_path: Path) -> None:
    agent = Economy("puck", seed=1).learn(400)
    agent.save(tmp_path / "agent.zip")
    again = Economy.load(tmp_path / "agent.zip")
    assert len(again.run.history) == len(agent.run.history) > 0
    once, twice = agent.learn(1_000_000), again.learn(1_000_000)
    assert once.solved
    assert all(same(a, b) for a, b in zip(once.run.history, twice.run.history, strict=True))
    assert same_map(once.run.history[-1], once.run)
    assert [f.trial for f in once.run.history] == list(range(1, once.summary["trials"] + 1))
