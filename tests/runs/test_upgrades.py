"""Checkpoints of earlier versions are continued to the very result of a run that was never stopped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from distinguo.reading.arrays import read_arrays
from distinguo.runs import folder
from distinguo.runs.learn import learn_configured
from distinguo.writing import pack_arrays

GOLDEN = Path(__file__).parents[1] / "golden"
LEARNED = ("representation.json", "values.npz", "reasons.jsonl", "trials.csv")


#: Figures that a checkpoint of version 2 cannot know of the time before it, and the seconds.
LATER = ("seconds", "failed_confirmation_steps", "confirmations", "score_low")


def results(path: Path) -> dict[str, bytes]:
    return {name: (path / name).read_bytes() for name in LEARNED}


@pytest.mark.parametrize("name", ["checkpoint-v2-trial", "checkpoint-v2-holding", "checkpoint-v2-best"])
def test_a_checkpoint_of_version_2_goes_on_with_the_same_bits(tmp_path: Path, name: str) -> None:
    old = tmp_path / "old"
    shutil.copytree(GOLDEN / name, old)
    configuration = folder.read_settings(old)
    run = learn_configured(configuration, old)
    whole = learn_configured(configuration, tmp_path / "whole")
    assert results(old) == results(tmp_path / "whole")
    same = [{k: v for k, v in r.summary.items() if k not in LATER} for r in (run, whole)]
    assert same[0] == same[1]


def as_version_1(path: Path) -> None:
    """Take away what version 1 did not have."""
    arrays = read_arrays(path)
    for name in ("states", "gained", "error", "seen", "extremes", "extent"):
        del arrays[f"memory.{name}"]
    arrays["memory.counters"] = arrays["memory.counters"][:9]
    facts = json.loads(arrays["facts"].tobytes()) | {"version": 1}
    for name in ("returns", "held", "purpose", "best", "chance"):
        facts.pop(name, None)
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    path.write_bytes(pack_arrays(arrays))


def test_a_checkpoint_of_version_1_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(GOLDEN / "checkpoint-v2-trial", old)
    as_version_1(old / "checkpoint.npz")
    configuration = folder.read_settings(old)
    learn_configured(configuration, old)
    learn_configured(configuration, tmp_path / "whole")
    assert results(old) == results(tmp_path / "whole")
