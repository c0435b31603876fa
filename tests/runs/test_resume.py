"""Exact resume: stopped anywhere and continued, a run ends with the same bytes as one never stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.learners.economy.learner import Economy
from distinguo.reading.arrays import read_arrays
from distinguo.representations.file import dumps
from distinguo.runs import folder, stage
from distinguo.runs import learn as lab
from distinguo.runs.configuration import Configuration, configure
from distinguo.runs.learn import learn_configured, learn_many
from distinguo.runs.stage import Stage
from distinguo.writing.atomic import pack_arrays

FAST = {"stage.cap": 2000, "stage.hold": 2000}
SAME = ("settings.toml", "representation.json", "values.npz", "trials.csv", "reasons.jsonl")
DRIVER = Path(__file__).with_name("driver.py")


def from_scratch() -> Configuration:
    return configure("puck", seed=1, changes=FAST)


def from_many() -> Configuration:
    """Start with so many prototypes that memory must grow, and stop before the task is solved."""
    rng = np.random.default_rng(5)
    points = rng.uniform((-2.4, -5.5), (2.4, 5.5), (40, 2))
    return configure("puck", seed=1, changes=FAST | {"stage.trials": 25}, prototypes=points)


def without_resets() -> Configuration:
    """Split in the midst of trials, where the non-active form does."""
    changes = {"learner.active": False, "learner.epsilon": 0.01, "learner.gamma": 0.9, "learner.alpha": 0.1}
    changes |= {"learner.new_updates": 1, "learner.reduced_updates": 0}
    return configure("puck", seed=1, changes=FAST | changes)


CONFIGURATIONS = [from_scratch, from_many, without_resets]


def learned(path: Path) -> dict[str, Any]:
    """Return all that a finished run left, but for the time it took."""
    result = json.loads((path / "result.json").read_text())
    del result["seconds"]
    return {name: (path / name).read_bytes() for name in SAME} | {"result": result}


class Stopped(Exception):
    pass


def stop_after(chunks: int) -> Callable[[Stage], None]:
    left = chunks

    def watch(_: Stage) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Stopped

    return watch


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "CHUNK", 300)


@pytest.fixture(params=CONFIGURATIONS, ids=lambda make: make.__name__)
def configuration(request: pytest.FixtureRequest) -> Configuration:
    return request.param()


def never_stopped(configuration: Configuration, path: Path) -> tuple[dict[str, Any], int]:
    """Return what a run leaves that is never stopped, and the number of its chunks."""
    chunks = 0

    def count(_: Stage) -> None:
        nonlocal chunks
        chunks += 1

    learn_configured(configuration, path, count)
    return learned(path), chunks


@pytest.fixture
def whole(tmp_path: Path) -> dict[str, Any]:
    """Return what a run from scratch leaves that is never stopped."""
    return never_stopped(from_scratch(), tmp_path / "whole")[0]


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Write a checkpoint after every chunk, until the patch is undone."""
    monkeypatch.setattr(lab, "CHECKPOINT_SECONDS", 0.0)
    return monkeypatch


def test_the_runs_of_these_tests_are_worth_stopping(configuration: Configuration, tmp_path: Path) -> None:
    whole, chunks = never_stopped(configuration, tmp_path / "run")
    assert chunks > 20
    assert whole["reasons.jsonl"].count(b"\n") > 1
    assert whole["trials.csv"].count(b"\n") > 5


def test_a_run_stopped_once_after_any_chunk(configuration: Configuration, tmp_path: Path) -> None:
    whole, chunks = never_stopped(configuration, tmp_path / "whole")
    for chunk in range(1, chunks + 1):
        path = tmp_path / f"stopped-{chunk}"
        with pytest.raises(Stopped):
            learn_configured(configuration, path, stop_after(chunk))
        learn_configured(configuration, path)
        assert learned(path) == whole, chunk


@pytest.mark.parametrize("every", [1, 7])
def test_a_run_stopped_again_and_again(configuration: Configuration, tmp_path: Path, every: int) -> None:
    whole, chunks = never_stopped(configuration, tmp_path / "whole")
    path = tmp_path / "stopped"
    stops = 0
    while not folder.is_finished(path):
        try:
            learn_configured(configuration, path, stop_after(every))
        except Stopped:
            stops += 1
    assert stops >= chunks // every
    assert learned(path) == whole


def test_the_size_of_a_chunk_changes_nothing(
    configuration: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = never_stopped(configuration, tmp_path / "whole")
    monkeypatch.setattr(stage, "CHUNK", 10**6)
    assert never_stopped(configuration, tmp_path / "large")[0] == whole


def test_a_stopped_run_can_be_opened(configuration: Configuration, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        learn_configured(configuration, tmp_path / "run", stop_after(20))
    opened = folder.open_run(tmp_path / "run")
    assert not opened.solved
    assert len(opened.trials) > 3
    assert opened.action((0.0, 1.0)) in ("left", "right")


def test_a_stopped_run_can_be_opened_though_its_last_line_was_cut_off(tmp_path: Path) -> None:
    stopped(tmp_path / "run", from_scratch())
    count = len(folder.open_run(tmp_path / "run").trials)
    for name in ("trials.csv", "reasons.jsonl"):
        with (tmp_path / "run" / name).open("a") as file:
            file.write('{"event": "spl' if name.endswith("l") else "12,3")
    assert len(folder.open_run(tmp_path / "run").trials) == count


def test_a_finished_run_is_not_learned_again(tmp_path: Path, whole: Any) -> None:
    learn_configured(from_scratch(), tmp_path / "whole", lambda _: pytest.fail("it learned again"))
    assert learned(tmp_path / "whole") == whole


def test_in_memory_and_in_a_folder_are_the_same(configuration: Configuration, tmp_path: Path) -> None:
    free, kept = learn_configured(configuration), learn_configured(configuration, tmp_path / "run")
    assert free.q.tobytes() == kept.q.tobytes()
    assert free.updates.tobytes() == kept.updates.tobytes()
    assert (free.trials, free.reasons) == (kept.trials, kept.reasons)
    free.summary.pop("seconds")
    assert free.summary == {k: v for k, v in kept.summary.items() if k != "seconds"}


# Ctrl-C comes at any time, most often while compiled code runs: Python hears of it when that returns.


def interrupting(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, call: int) -> None:
    """Let Ctrl-C be pressed during a certain call of a function."""
    real = getattr(module, name)
    calls = 0

    def interrupted(*values: Any) -> Any:
        nonlocal calls
        calls += 1
        result = real(*values)
        if calls == call:
            signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(module, name, interrupted)


PLACES = [
    (Economy, "begin", 5),
    (Economy, "advance", 3),
    (Economy, "advance", 8),
    (Economy, "reasons", 2),
    (stage, "follow", 2),
    (folder, "_append", 3),
    (folder, "_append", 4),
    (folder, "write_checkpoint", 2),
    (folder, "write_together", 1),
    (folder, "write_together", 2),
]


@pytest.mark.parametrize(("module", "name", "call"), PLACES)
def test_a_run_stopped_by_control_c_at_any_place(
    tmp_path: Path, whole: Any, often: pytest.MonkeyPatch, module: Any, name: str, call: int
) -> None:
    interrupting(often, module, name, call)
    with pytest.raises(KeyboardInterrupt):
        learn_configured(from_scratch(), tmp_path / "run")
    often.undo()
    learn_configured(from_scratch(), tmp_path / "run")
    assert learned(tmp_path / "run") == whole


def test_control_c_is_as_before_after_a_run(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    learn_configured(from_scratch(), tmp_path / "run")
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_within_a_chunk_keeps_the_last_checkpoint(
    tmp_path: Path, whole: Any, often: pytest.MonkeyPatch
) -> None:
    """The state of a chunk that broke off is torn: a run that goes on from it would differ."""
    advance, calls = Economy.advance, iter(range(100))

    def failing(*values: Any) -> Any:
        result = advance(*values)
        if next(calls) == 10:
            raise MemoryError
        return result

    often.setattr(Economy, "advance", failing)
    with pytest.raises(MemoryError):
        learn_configured(from_scratch(), tmp_path / "run")
    often.undo()
    learn_configured(from_scratch(), tmp_path / "run")
    assert learned(tmp_path / "run") == whole


# Processes of the command line, ended from outside.

ARGUMENTS = ["learn", "puck", "--seed", "1", "--set", "stage.cap=2000", "--set", "stage.hold=2000"]


def start(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(DRIVER), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for a process, though not for ever, and return what it said."""
    try:
        return process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise


def test_processes_killed_at_random_moments_end_with_the_same_bytes(tmp_path: Path, whole: Any) -> None:
    out = tmp_path / "killed"
    said, complaint = finish(start("kills", str(out), *ARGUMENTS, "--out", str(out)))
    killed, interrupted = map(int, said.split())
    assert killed >= 3, complaint
    assert interrupted >= 1
    assert learned(out) == whole


def test_control_c_says_where_the_run_is_and_the_same_command_goes_on(tmp_path: Path, whole: Any) -> None:
    out, here, go = tmp_path / "run", tmp_path / "here", tmp_path / "go"
    words = ["waits", str(here), str(go), *ARGUMENTS, "--out", str(out)]
    process = start(*words)
    while not here.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    go.touch()
    said, told = finish(process)
    assert process.returncode == 130
    assert said == ""
    assert f"saved in {out}" in told
    assert "Traceback" not in told
    assert not folder.is_finished(out)
    again = start(*words)
    assert "Look again" in finish(again)[0]
    assert again.returncode == 0
    assert learned(out) == whole


# What is found in a folder.


def stopped(path: Path, configuration: Configuration) -> Path:
    with pytest.raises(Stopped):
        learn_configured(configuration, path, stop_after(20))
    return path / "checkpoint.npz"


def refusal(configuration: Configuration, path: Path) -> str:
    """Return the sentence of a run that does not go on, and see to it that nothing was written."""
    before = {file: file.read_bytes() for file in path.iterdir()}
    with pytest.raises(DistinguoError) as caught:
        learn_configured(configuration, path)
    assert {file: file.read_bytes() for file in path.iterdir()} == before
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_another_run_is_not_written_over(tmp_path: Path) -> None:
    stopped(tmp_path / "run", from_scratch())
    other = configure("puck", seed=2, changes=FAST | {"learner.epsilon": 0.33})
    message = refusal(other, tmp_path / "run")
    assert "seed 2 instead of 1" in message
    assert "learner.epsilon 0.33" in message


def test_a_finished_run_of_others_is_not_written_over(tmp_path: Path) -> None:
    learn_configured(from_scratch(), tmp_path / "run")
    assert "seed" in refusal(configure("puck", seed=2, changes=FAST), tmp_path / "run")


def test_a_foreign_folder_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ada")
    assert "not a run folder" in refusal(from_scratch(), tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_checkpoint_cut_off_is_refused(tmp_path: Path, share: float) -> None:
    checkpoint = stopped(tmp_path / "run", from_scratch())
    whole = checkpoint.read_bytes()
    checkpoint.write_bytes(whole[: int(share * len(whole))])
    assert "damaged" in refusal(from_scratch(), tmp_path / "run")


def facts_with(arrays: dict[str, np.ndarray], **changes: Any) -> dict[str, np.ndarray]:
    facts = json.loads(arrays["facts"].tobytes()) | changes
    return arrays | {"facts": np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)}


def with_item(arrays: dict[str, np.ndarray], name: str, place: Any, value: Any) -> dict[str, np.ndarray]:
    changed = arrays[name].copy()
    changed[place] = value
    return arrays | {name: changed}


def with_action(arrays: dict[str, np.ndarray], action: int) -> dict[str, np.ndarray]:
    counts = arrays["progress.counts"].copy()
    counts["action"] = action
    return arrays | {"progress.counts": counts}


DAMAGES: dict[str, Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]] = {
    "no facts": lambda a: {k: v for k, v in a.items() if k != "facts"},
    "facts of noise": lambda a: a | {"facts": np.arange(9, dtype=np.uint8)},
    "facts that are a list": lambda a: a | {"facts": np.frombuffer(b"[1]", dtype=np.uint8)},
    "a newer version": lambda a: facts_with(a, version=99),
    "a version of no number": lambda a: facts_with(a, version="new"),
    "an unknown phase": lambda a: facts_with(a, phase="dancing"),
    "a score of no number": lambda a: facts_with(a, score="high"),
    "no random state": lambda a: facts_with(a, rng={}),
    "another random generator": lambda a: facts_with(a, rng={"bit_generator": "MT19937", "state": {}}),
    "no sizes": lambda a: facts_with(a, sizes=None),
    "a size of no number": lambda a: facts_with(a, sizes={"trials.csv": "x", "reasons.jsonl": 0}),
    "a negative size": lambda a: facts_with(a, sizes={"trials.csv": -1, "reasons.jsonl": 0}),
    "a size left out": lambda a: facts_with(a, sizes={}),
    "an array left out": lambda a: {k: v for k, v in a.items() if k != "memory.q"},
    "an array too short": lambda a: a | {"memory.q": a["memory.q"][:-1]},
    "an array of another type": lambda a: a | {"memory.updates": a["memory.updates"].astype(np.float64)},
    "an array of another shape": lambda a: a | {"memory.q1": a["memory.q1"].ravel()},
    "a number for an array": lambda a: a | {"memory.q": np.float64(0.0)},
    "no prototypes": lambda a: with_item(a, "memory.partition.size", 0, 0),
    "too many prototypes": lambda a: with_item(a, "memory.partition.size", 0, 10**9),
    "a negative primary": lambda a: with_item(a, "memory.partition.primary", 0, -1),
    "a primary beyond the prototypes": lambda a: with_item(a, "memory.partition.primary", 0, 60),
    "an action that does not exist": lambda a: with_action(a, 10**6),
    "a negative action": lambda a: with_action(a, -(10**6)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_checkpoint_that_does_not_hold_together_is_refused(tmp_path: Path, damage: str) -> None:
    """Compiled code checks no bounds, so nothing may pass that would lead it out of an array."""
    checkpoint = stopped(tmp_path / "run", from_scratch())
    checkpoint.write_bytes(pack_arrays(DAMAGES[damage](read_arrays(checkpoint))))
    assert str(checkpoint) in refusal(from_scratch(), tmp_path / "run")


def test_a_checkpoint_without_room_for_new_prototypes_is_given_room(tmp_path: Path) -> None:
    """A full memory cannot come from us; with it, the next split would be written beyond the arrays."""
    checkpoint = stopped(tmp_path / "run", from_scratch())
    checkpoint.write_bytes(pack_arrays(with_item(read_arrays(checkpoint), "memory.partition.size", 0, 64)))
    resumed = folder.resume(tmp_path / "run", from_scratch())
    assert len(resumed.agent.memory.q) >= 2 * 64


@pytest.mark.parametrize("name", ["trials.csv", "reasons.jsonl"])
def test_a_growing_file_that_lost_lines_is_told(tmp_path: Path, name: str) -> None:
    stopped(tmp_path / "run", from_scratch())
    (tmp_path / "run" / name).write_bytes(b"")
    assert name in refusal(from_scratch(), tmp_path / "run")


def test_a_deleted_checkpoint_starts_from_the_beginning(tmp_path: Path, whole: Any) -> None:
    stopped(tmp_path / "run", from_scratch()).unlink()
    learn_configured(from_scratch(), tmp_path / "run")
    assert learned(tmp_path / "run") == whole


HARMED = {
    "settings.toml": b"\xff\xfe",
    "representation.json": b"{}",
    "values.npz": b"PK",
    "trials.csv": b"trial,length\n1,long\n",
    "reasons.jsonl": b'{"event": \n',
    "result.json": b"[1, 2]",
}


@pytest.mark.parametrize("name", HARMED)
@pytest.mark.parametrize("harm", ["damaged", "emptied", "deleted"])
def test_a_run_with_a_harmed_file_is_refused_in_one_sentence(tmp_path: Path, name: str, harm: str) -> None:
    learn_configured(from_scratch(), tmp_path / "run")
    path = tmp_path / "run" / name
    path.unlink()
    if harm != "deleted":
        path.write_bytes(HARMED[name] if harm == "damaged" else b"")
    if (name, harm) in HARMLESS:
        assert folder.open_run(tmp_path / "run").representation.regions > 0
        return
    with pytest.raises(DistinguoError) as caught:
        folder.open_run(tmp_path / "run")
    assert len(str(caught.value).splitlines()) == 1
    assert name in str(caught.value)


#: A run without a result is one that was stopped; one without reasons may never have split.
HARMLESS = {("result.json", "deleted"), ("reasons.jsonl", "emptied"), ("trials.csv", "emptied")}


def test_files_of_different_runs_are_not_taken_for_one(tmp_path: Path) -> None:
    run = learn_configured(from_scratch(), tmp_path / "run")
    wide = run.representation.prototypes + 1, run.q.shape[1]
    for q, updates in [
        (np.zeros(wide), np.zeros(wide, dtype=np.int64)),
        (run.q.astype("U9"), run.updates),
        (run.q, run.updates.astype(np.float64)),
    ]:
        (tmp_path / "run" / "values.npz").write_bytes(pack_arrays({"q": q, "updates": updates}))
        with pytest.raises(DistinguoError, match=r"values\.npz does not belong to"):
            folder.open_run(tmp_path / "run")


def test_a_representation_of_other_dimensions_is_not_taken(tmp_path: Path) -> None:
    run = learn_configured(from_scratch(), tmp_path / "run")
    other = run.representation._replace(dimensions=("x", "y"))
    (tmp_path / "run" / "representation.json").write_text(dumps(other))
    with pytest.raises(DistinguoError, match="other dimensions"):
        folder.open_run(tmp_path / "run")


# Many at once.


def many(path: Path, workers: int) -> list[dict[str, Any]]:
    wanted = [configure("puck", seed=n, changes=FAST) for n in range(6)]
    outs = [path / str(c.seed) for c in wanted]
    runs = learn_many(wanted, outs, workers=workers)
    assert [run.configuration.seed for run in runs] == list(range(6))
    return [learned(out) for out in outs]


def test_the_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    alone = many(tmp_path / "alone", 1)
    assert many(tmp_path / "together", 3) == alone
    assert len({run["representation.json"] for run in alone}) > 1


def test_one_bad_run_among_many_is_told(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "letter.txt").touch()
    with pytest.raises(DistinguoError, match="not a run folder"):
        many(tmp_path, 2)


def test_a_run_has_a_folder_of_its_own_by_default(tmp_path: Path) -> None:
    first = lab.default_folder(from_scratch(), tmp_path)
    learn_configured(from_scratch(), first)
    assert lab.default_folder(from_scratch(), tmp_path) == first
    other = configure("puck", seed=1, changes=FAST | {"stage.trials": 7})
    second = lab.default_folder(other, tmp_path)
    assert second != first
    os.mkdir(second)
    assert lab.default_folder(other, tmp_path) == second  # nothing is there
    (second / "letter.txt").touch()
    assert lab.default_folder(other, tmp_path) not in (first, second)
