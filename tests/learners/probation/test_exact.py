"""The same bits: compiled and interpreted, stopped and resumed; and checkpoints that compiled code may not see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.learners.probation import learner as probation
from distinguo.learners.probation.memory import STATUS, run_trial
from distinguo.learners.probation.race import NEVER
from distinguo.reading.arrays import read_arrays
from distinguo.runs import folder, stage
from distinguo.runs.configuration import Configuration, configure
from distinguo.runs.learn import learn, learn_configured
from distinguo.runs.run import Run
from distinguo.runs.stage import CONFIRMING, Stage
from distinguo.tasks.cart_pole import CartPole
from distinguo.tasks.task import transition
from distinguo.tasks.world import python_world
from distinguo.writing import pack_arrays
from tests.nightly import NIGHTLY, so_many

SAME = ("representation.json", "values.npz", "trials.csv", "reasons.jsonl")
ASKED = {"CartPole-v1": 1001, "MountainCar-v0": 1001}  #: seeds that try, keep and refute a few maps


def asked(name: str, **changes: Any) -> Configuration:
    return configure(name, seed=ASKED[name], changes={f"stage.{key}": v for key, v in changes.items()})


def told(run: Run) -> dict[str, Any]:
    """Return all that a run found."""
    partition = run.representation.partition
    summary = {key: value for key, value in run.summary.items() if key != "seconds"}
    arrays = partition.prototypes.tobytes(), partition.weight.tobytes(), run.q.tobytes()
    return {"summary": summary, "arrays": arrays, "trials": run.trials, "reasons": run.reasons}


def test_compiled_and_interpreted_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    brief = {"stage.steps": 3000, "stage.confirm": 3, "learner.model": 20, "learner.screen": 3}
    fast = told(learn("CartPole-v1", seed=1001, settings=brief))
    assert fast["summary"]["kept"] > 3
    monkeypatch.setattr(stage, "world_of", python_world)
    assert told(learn("CartPole-v1", seed=1001, settings=brief)) == fast


def test_the_tree_never_changes_a_return() -> None:
    """Trials of any map through a well-filled tree are those of a plain loop, bit for bit, and cost less."""
    work = Stage(asked("CartPole-v1"))
    for _ in work.work():
        pass
    agent, rng = work.agent._replace(world=python_world(CartPole(), 4, 4)), np.random.default_rng(1)
    memory = agent.memory
    roots = memory.starts.roots[: int(memory.status["starts"][0])]
    given, saved = memory.draft, 0
    for number in range(40):
        given.partition.size[0] = 1 + number % 4
        chosen = rng.integers(int(memory.status["nodes"][0]), size=4)
        given.partition.prototypes[:4], given.actions[:4] = memory.tree.seen[chosen], rng.integers(2, size=4)
        given.partition.weight[:] = memory.incumbent.partition.weight * rng.uniform(0.5, 2.0, 4)
        agent = agent._replace(memory=probation.with_nodes(agent.memory, 2000))
        for root in roots:
            s, gained, over = tuple(agent.memory.tree.states[root].tolist()), 0.0, False
            while not over and gained < 500:
                s, r, over = transition(CartPole(), s, choice_of_four(given, s))
                gained += r
            last, steps = run_trial(agent, given, int(root), 500, NEVER)
            assert agent.memory.tree.gained[last] == gained
            assert tuple(agent.memory.tree.states[last].tolist()) == s
            saved += int(gained) - steps
    assert saved > 500


def choice_of_four(given: Any, seen: Any) -> int:
    size = int(given.partition.size[0])
    offsets = (given.partition.prototypes[:size] - np.array(seen)) * given.partition.weight
    squares = offsets * offsets
    nearest = np.argmin([((row[0] + row[1]) + row[2]) + row[3] for row in squares])
    return int(given.actions[int(nearest)])


# Stopped and resumed.


class Stopped(Exception):
    pass


def left(path: Path) -> dict[str, Any]:
    result = json.loads((path / "result.json").read_text())
    del result["seconds"]
    return {name: (path / name).read_bytes() for name in SAME} | {"result": result}


def stop_at(chunk: int, seen: list[str]) -> Any:
    def watch(work: Stage) -> None:
        seen.append(work.phase)
        if len(seen) == chunk:
            raise Stopped

    return watch


@pytest.fixture
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "CHUNK", 100)


@pytest.mark.usefixtures("_small_chunks")
@pytest.mark.parametrize("name", ASKED if NIGHTLY else ["CartPole-v1"])  # whose kernels are there anyway
def test_a_run_stopped_anywhere_ends_with_the_same_bytes(name: str, tmp_path: Path) -> None:
    """Once after each of many chunks, some of them in the midst of a confirmation, and again and again."""
    phases: list[str] = []
    learn_configured(asked(name), tmp_path / "whole", stop_at(0, phases))
    whole, confirming = left(tmp_path / "whole"), [n for n, phase in enumerate(phases) if phase == CONFIRMING]
    assert whole["reasons.jsonl"].count(b"\n") > 5
    chosen = {
        *np.linspace(1, len(phases) - 1, so_many(4, nightly=40)).astype(int).tolist(),
        confirming[3] + 1,
        confirming[-2] + 1,
    }
    for chunk in chosen:
        path = tmp_path / str(chunk)
        with pytest.raises(Stopped):
            learn_configured(asked(name), path, stop_at(chunk, []))
        learn_configured(asked(name), path)
        assert left(path) == whole, chunk
    often, stops = tmp_path / "often", 0
    while not folder.is_finished(often):
        try:
            learn_configured(asked(name), often, stop_at(len(phases) // 9, []))
        except Stopped:
            stops += 1
    assert stops >= 8
    assert left(often) == whole


@pytest.mark.usefixtures("_small_chunks")
def test_the_size_of_a_chunk_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    small = told(learn_configured(asked("CartPole-v1")))
    monkeypatch.setattr(stage, "CHUNK", 10**6)
    assert told(learn_configured(asked("CartPole-v1"))) == small


# Checkpoints that do not hold together.


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stop a run in the midst of its last confirmation."""
    path = tmp_path_factory.mktemp("stopped") / "run"
    phases: list[str] = []
    learn_configured(asked("CartPole-v1"), None, stop_at(0, phases))
    with pytest.raises(Stopped):
        learn_configured(asked("CartPole-v1"), path, stop_at(len(phases) - 5, []))
    assert json.loads(read_arrays(path / "checkpoint.npz")["facts"].tobytes())["phase"] == CONFIRMING
    return path / "checkpoint.npz"


def changed(arrays: dict[str, np.ndarray], name: str, place: Any, value: Any) -> dict[str, np.ndarray]:
    new = arrays[name].copy()
    new[place] = value
    return arrays | {name: new}


BAD: dict[str, tuple[Any, Any]] = {
    "memory.tree.child": ((0, 0), 10**8),
    "memory.tree.parent": (1, 10**8),
    "memory.tree.depth": (1, 400),
    "memory.starts.roots": (31, 10**8),
    "memory.starts.order": (0, 32),
    "memory.starts.tests": (0, -5),
    "memory.model.times": (0, -1),
    "memory.incumbent.actions": (0, 2),
    "memory.best.partition.size": (0, 17),
    "memory.draft.partition.size": (0, 0),
    "memory.furthest.partition.primary": (0, 3),
    "memory.facts": ("hold", 1),
}
BAD_STATUS = {
    "phase": 4,
    "nodes": 10**9,
    "starts": 33,
    "tests": 2_001,
    "root": 10**8,
    "place": 33,
    "attempt": -(10**18),
    "free": -(10**18),
    "stalled": np.nan,
    "total": np.nan,
}


def refused(arrays: dict[str, np.ndarray], path: Path) -> None:
    path.write_bytes(pack_arrays(arrays))
    with pytest.raises(DistinguoError) as caught:
        folder.load_checkpoint(path, asked("CartPole-v1"))
    assert len(str(caught.value).splitlines()) == 1
    assert str(path) in str(caught.value)


def test_damaged_arrays_are_refused_in_one_sentence(checkpoint: Path, tmp_path: Path) -> None:
    arrays, path = read_arrays(checkpoint), tmp_path / "checkpoint.npz"
    for name, (place, value) in BAD.items():
        refused(changed(arrays, name, place, value), path)
    for name, value in BAD_STATUS.items():
        refused(changed(arrays, "memory.status", name, value), path)
    every = so_many(4, nightly=1)
    for name in [name for name in arrays if name.startswith("memory.")][::every]:
        array = arrays[name]
        refused({key: value for key, value in arrays.items() if key != name}, path)
        refused(arrays | {name: array[:-1]}, path)
        if not array.dtype.names:
            refused(arrays | {name: array.astype(np.complex128)}, path)


def test_a_race_that_cannot_be_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    arrays, path = read_arrays(checkpoint), tmp_path / "checkpoint.npz"
    for changes in (
        {"phase": 2, "starts": 0},
        {"phase": 3, "starts": 32},
        {"phase": 2, "pending": 1, "place": 32},
        {"phase": 1, "pending": 1, "root": -1},
    ):
        harmed = arrays
        for name, value in changes.items():
            harmed = changed(harmed, "memory.status", name, value)
        refused(harmed, path)


def test_a_tree_without_room_is_given_room(checkpoint: Path, tmp_path: Path) -> None:
    """In the midst of a confirmation the next trial would be written beyond the arrays."""
    arrays = read_arrays(checkpoint)
    nodes = int(arrays["memory.status"]["nodes"][0])
    full = {
        name: array[:nodes] if name.startswith("memory.tree.") else array for name, array in arrays.items()
    }
    path = tmp_path / "checkpoint.npz"
    path.write_bytes(pack_arrays(full))
    work, _ = folder.load_checkpoint(path, asked("CartPole-v1"))
    assert len(work.agent.memory.tree.gained) > nodes + 500


def test_whatever_a_checkpoint_says_no_index_leaves_its_array(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any number of the memory changed: refused, or gone on with, as plain Python that would raise IndexError."""
    monkeypatch.setattr(stage, "world_of", python_world)
    arrays, path, rng = read_arrays(checkpoint), tmp_path / "checkpoint.npz", np.random.default_rng(1)
    integers = [name for name in STATUS.names or () if STATUS[name].kind == "i"]
    names = [name for name in arrays if name.startswith("memory.") and arrays[name].dtype.kind == "i"]
    gone_on = 0
    for number in range(40):
        value = int(rng.choice([-2, -1, 0, 1, 2, 5, 31, 32, 10**6]))
        if number % 2:
            harmed = changed(arrays, "memory.status", str(rng.choice(integers)), value)
        else:
            name = str(rng.choice(names))
            place = tuple(int(rng.integers(min(size, 40))) for size in arrays[name].shape)
            harmed = changed(arrays, name, place, np.clip(value, *_limits(arrays[name])))
        path.write_bytes(pack_arrays(harmed))
        try:
            work, _ = folder.load_checkpoint(path, asked("CartPole-v1", steps=1))
        except DistinguoError:
            continue
        for _ in zip(range(3), work.work(), strict=False):
            gone_on += 1
    assert gone_on > 20


def _limits(array: np.ndarray) -> tuple[int, int]:
    info = np.iinfo(array.dtype)
    return int(info.min), int(info.max)
