"""What is found in a run folder: another run, damage, files that do not belong together, many runs at once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.engines.engine import Engine
from distinguo.errors import DistinguoError
from distinguo.reading.arrays import read_arrays
from distinguo.representations.file import dumps
from distinguo.runs import folder
from distinguo.runs import learn as lab
from distinguo.runs.configuration import Configuration, configure
from distinguo.runs.learn import learn_configured
from distinguo.runs.many import learn_many
from distinguo.writing import pack_arrays
from tests.runs.stopping import FAST, from_scratch, learned, stopped

pytestmark = pytest.mark.usefixtures("small_chunks")


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


@pytest.mark.parametrize("name", ["trials.csv", "reasons.jsonl", "history.jsonl"])
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
    "history.jsonl": b'{"trial": 1}\n',
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


#: A run without a result was stopped, and an old one has no history.
HARMLESS = {("result.json", "deleted"), ("history.jsonl", "deleted")}


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
    runs = learn_many(wanted, outs, engine=Engine(workers=workers))
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
