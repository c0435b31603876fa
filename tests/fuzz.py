"""Every reader, fed with spoilt files: each is read, or refused in one sentence, fast and in little memory.

python -m tests.fuzz                       # 20,000 files for each reader, as by night
python -m tests.fuzz --files 500 plan      # fewer, for some readers
python -m tests.fuzz --folders --files 50  # spoilt folders of every kind through the commands (tests/folders.py)
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.agents import session as archive
from distinguo.agents.session import Session
from distinguo.comparison import cells as storage
from distinguo.comparison.plan import load_plan, write_plan
from distinguo.distillation.condense import CurveProgress, load_progress, read_curve
from distinguo.distillation.fidelity import read_fidelity
from distinguo.distillation.ledger import Ledger
from distinguo.errors import LONGEST_SENTENCE, DistinguoError
from distinguo.evaluation.statistics import Curve
from distinguo.learners.refinement.improvement import Improvement
from distinguo.proof.certificate import certificate_text, load_certificate
from distinguo.reading.arrays import read_array, read_arrays
from distinguo.representations import file as representation
from distinguo.runs import folder
from distinguo.runs.checkpoint import load_checkpoint
from distinguo.runs.digests import read_digests
from distinguo.runs.history import read_history, read_trials
from distinguo.runs.request import request_in
from distinguo.runs.restarts import read_reasons
from distinguo.runs.settings_file import from_toml, to_toml
from distinguo.search.maps import map_of
from distinguo.tasks.extent import Extent
from distinguo_lab.paper.claims import read_generated
from tests.mutations import ARRAY, TEXT, ZIP, Mutator, mutated

GOLDEN = Path(__file__).parent / "golden"
FORMATS = GOLDEN / "formats"
PUCK = FORMATS / "runs" / "puck-7"
SECONDS, MEGABYTES = 1.0, 200  #: that any one file may take


class Reader(NamedTuple):
    """A reader, whole files of its kind, and how to spoil them."""

    read: Callable[[Path], Any]
    files: tuple[Path, ...]
    mutators: tuple[Mutator, ...]


def _settings(path: Path) -> None:
    again = to_toml(from_toml(folder.read_text(path, folder.LARGEST_SETTINGS), str(path)))
    assert from_toml(again).seed >= 0


def _plan(path: Path) -> None:
    write_plan(load_plan(path))


def _representation(path: Path) -> None:
    found = representation.load(path)
    again = representation.loads(representation.dumps(found))
    assert all(np.array_equal(a, b) for a, b in zip(again.partition, found.partition, strict=True))


def _values(path: Path) -> None:
    (path.parent / folder.VALUES).write_bytes(path.read_bytes())
    folder._read_values(path.parent, representation.load(PUCK / folder.REPRESENTATION), actions=2)


def _checkpoint(path: Path) -> None:
    load_checkpoint(path, folder.read_settings(PUCK))


def _request(path: Path) -> None:
    assert request_in(path).command(path).startswith("distinguo ")


def _answers(path: Path) -> None:
    ledger = Ledger()
    with ledger.recorded_in(path):
        for number in range(3):
            ledger.answer(["what", number], lambda: {"a": np.zeros(2)}, lambda arrays: len(arrays["a"]) >= 0)


def _condensing(path: Path) -> None:
    hill = folder.open_run(FORMATS / "runs" / "hill-6")
    spec = hill.configuration.spec
    work = Improvement(spec, map_of(hill.controller), 200, np.random.default_rng(0))
    progress = CurveProgress(work)
    load_progress(progress, path)
    assert progress.curve


def _certificate(path: Path) -> None:
    found = load_certificate(path)
    assert path.read_bytes() == certificate_text(found).encode()


def _agent(path: Path) -> None:
    files, source = archive.read(path)
    session = Session.opened(files, source, archive.read_word(files, source))
    assert session.learned.controller.action((0.0, 0.0)) in (0, 1)
    assert session.stage.environment_steps >= 0  # resumes the checkpoint


def _cell(path: Path) -> None:
    storage._columns(path, Curve)


def _extent(path: Path) -> None:
    storage._columns(path, Extent)


def _carried(path: Path) -> None:
    read_arrays(path).get("q")


def _runs(name: str) -> tuple[Path, ...]:
    found = tuple(path for path in sorted((FORMATS / "runs").glob(f"*/{name}")) if path.stat().st_size)
    return (*found[:1], *found[-1:], *found)  # the newest and the oldest more often


def _tests(name: str) -> tuple[Path, ...]:
    return tuple(sorted(FORMATS.glob(f"test-*/{name}")))


READERS: dict[str, Reader] = {
    "settings": Reader(_settings, _runs("settings.toml"), TEXT),
    "plan": Reader(_plan, _tests("plan.toml"), TEXT),
    "representation": Reader(
        _representation, (*_runs("representation.json"), *GOLDEN.glob("representation-v1-*.json")), TEXT
    ),
    "values": Reader(_values, (PUCK / "values.npz",), ZIP),
    "prototypes": Reader(read_array, (FORMATS / "prototypes.npy",), ARRAY),
    "checkpoint": Reader(_checkpoint, (PUCK / "checkpoint.npz",), ZIP),
    "request": Reader(_request, (FORMATS / "unfinished" / "request.json",), TEXT),
    "answers": Reader(_answers, (FORMATS / "unfinished" / "answers.bin",), ARRAY),
    "condensing": Reader(_condensing, (FORMATS / "unfinished" / "checkpoint.npz",), ZIP),
    "reasons": Reader(lambda path: list(read_reasons(path)), _runs("reasons.jsonl"), TEXT),
    "trials": Reader(lambda path: list(read_trials(path)), _runs("trials.csv"), TEXT),
    "history": Reader(lambda path: list(read_history(path)), _runs("history.jsonl"), TEXT),
    "result": Reader(folder._read_result, _runs("result.json"), TEXT),
    "certificate": Reader(_certificate, (FORMATS / "certificate-small.json",), TEXT),
    "arrival": Reader(_certificate, (FORMATS / "runs" / "hill-6" / "certificate.json",), TEXT),
    "agent": Reader(_agent, (FORMATS / "agent-1.zip", FORMATS / "agent-2.zip"), ZIP),
    "fidelity": Reader(read_fidelity, _runs("fidelity.json"), TEXT),
    "dial": Reader(read_curve, _runs("dial.csv"), TEXT),
    "digests": Reader(read_digests, _runs("digests.json"), TEXT),
    "controller": Reader(_representation, _runs("controller-map.json"), TEXT),
    "carried": Reader(_carried, _runs("representation-values.npz"), ZIP),
    "generated": Reader(read_generated, (FORMATS / "generated-2.json",), TEXT),
    "cell": Reader(_cell, _tests("cells/*.json"), TEXT),
    "extent": Reader(_extent, _tests("extent.json"), TEXT),
}


class Account(NamedTuple):
    """What became of the files of one reader."""

    read: int
    refused: int
    slowest: float  #: seconds of the processor
    grown: float  #: megabytes of memory


def fuzz(name: str, count: int, seed: int, place: Path) -> Account:
    """Feed a reader with spoilt files; whatever else than a sentence comes out of it goes on."""
    reader, rng = READERS[name], random.Random(f"{name} {seed}")
    wholes = [path.read_bytes() for path in reader.files]
    path = place / f"spoilt-{name}{reader.files[0].suffix}"
    for whole in wholes:
        path.write_bytes(whole)
        reader.read(path)
    before, read, slowest = _peak(), 0, 0.0
    for _ in range(count):
        path.write_bytes(mutated(rng, rng.choice(wholes), reader.mutators))
        begun = time.process_time()
        read += is_read(reader, path)
        slowest = max(slowest, time.process_time() - begun)
    return Account(read, count - read, slowest, _peak() - before)


def is_read(reader: Reader, path: Path) -> bool:
    """Tell whether a file is read; a refusal is one line that names it."""
    try:
        reader.read(path)
    except DistinguoError as error:
        sentence = str(error)
        assert len(sentence.splitlines()) == 1, sentence
        assert len(sentence) <= LONGEST_SENTENCE, sentence
        assert sentence.isprintable(), sentence
        return False
    return True


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", help="names of readers or, with --folders, kinds of folders")
    parser.add_argument("--folders", action="store_true", help="spoil folders instead of single files")
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="where the file that made trouble is left")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        if asked.folders:
            from tests.folders import KINDS, fuzz_folders

            failed = False
            for kind in asked.readers or KINDS:
                folders = fuzz_folders(kind, asked.files, asked.seed, Path(name), asked.keep)
                sys.stdout.write(json.dumps({"kind": kind, **folders._asdict()}) + "\n")
                sys.stdout.flush()
                failed |= bool(folders.defects) or folders.grown > MEGABYTES
            sys.exit(failed)
        place = asked.keep or Path(name)
        accounts = {
            reader: fuzz(reader, asked.files, asked.seed, place) for reader in asked.readers or READERS
        }
    for reader, account in accounts.items():
        sys.stdout.write(json.dumps({"reader": reader, **account._asdict()}) + "\n")
    sys.exit(any(a.slowest > SECONDS or a.grown > MEGABYTES for a in accounts.values()))


if __name__ == "__main__":
    main()
