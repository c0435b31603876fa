"""A distillation, or a condensation, that is interrupted anywhere goes on from there and ends with the same files."""

from __future__ import annotations

import errno
import json
import random
import shlex
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distinguo as dg
from distinguo.distillation import condense as condensing
from distinguo.distillation.condense import condensed_in
from distinguo.distillation.ledger import RECORD, Count, KeptAnswer, Ledger, Record
from distinguo.distillation.trials import CompiledTrials
from distinguo.errors import DistinguoError
from distinguo.runs import learn
from distinguo.runs.folder import alone_in
from distinguo.runs.request import REQUEST, read_request
from distinguo.views.studio.library import Library
from distinguo.writing import InUseError
from tests.cli.test_cli import Call, call
from tests.cuts import HILL, files_of
from tests.distillation.common import CAR, QUICK, SWINGS, refused
from tests.nightly import so_many

__all__ = ["call"]  # a fixture

POLICY = dg.Policy(SWINGS, name="swing")


class Killed(BaseException):
    """As by a kill: nobody answers it."""


def distilled(out: Path, watch: Callable[[str], None] | None = None, **changes: Any) -> Any:
    options: dict[str, Any] = {"keep": -130.0, "settings": QUICK, "seed": 3, "teacher": POLICY} | changes
    return dg.distil(options.pop("teacher"), CAR, out=out, watch=watch, **options)


def cut_at(out: Path, text: str) -> None:
    def watch(said: str) -> None:
        if said.startswith(text):
            raise Killed

    with pytest.raises(Killed):
        distilled(out, watch)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the files of a distillation that was never interrupted."""
    out = tmp_path_factory.mktemp("whole") / "run"
    distilled(out)
    return files_of(out)


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose distillation was interrupted near its end."""
    out = tmp_path_factory.mktemp("cut") / "run"
    cut_at(out, "comparing")
    return out


@pytest.mark.parametrize(
    "text", ["following", "round 1", "3 prototypes", "1 proto", "confirming", "comparing"]
)
def test_it_goes_on_where_it_was_cut(text: str, tmp_path: Path, whole: dict[str, Any]) -> None:
    out = tmp_path / "run"
    cut_at(out, text)
    assert sorted(path.name for path in out.iterdir()) == [RECORD, REQUEST]
    cut_at(out, "comparing")  # and again, later
    distilled(out)
    assert files_of(out) == whole


def test_what_is_recorded_is_not_run_again(
    tmp_path: Path, cut: Path, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[int] = []
    run = CompiledTrials._judge
    monkeypatch.setattr(CompiledTrials, "_judge", lambda *given: (judged.append(1), run(*given))[1])
    shutil.copytree(cut, tmp_path / "run")
    distilled(tmp_path / "run")
    assert files_of(tmp_path / "run") == whole
    assert len(judged) <= 1  # for the prices


def test_one_that_was_stopped_goes_on_too(tmp_path: Path, whole: dict[str, Any]) -> None:
    def stop(said: str) -> None:
        if said.startswith("3 prototypes"):
            raise StopIteration

    out = tmp_path / "run"
    assert distilled(out, stop).run.summary["stopped"]
    assert dg.open_run(out).summary["prototypes"] == 3
    distilled(out)
    assert files_of(out) == whole


def test_a_record_that_is_cut_or_spoilt_anywhere_is_used_up_to_there(
    tmp_path: Path, cut: Path, whole: dict[str, Any]
) -> None:
    rng, data = random.Random(0), (cut / RECORD).read_bytes()
    for n in range(so_many(3, 60)):
        out = tmp_path / str(n)
        shutil.copytree(cut, out)
        place = rng.randrange(30, len(data))
        spoilt = data[:place] if n % 2 else data[:place] + bytes([data[place] ^ 64]) + data[place + 1 :]
        (out / RECORD).write_bytes(spoilt)
        distilled(out)
        assert files_of(out) == whole, place


def test_a_full_disk_is_told_and_what_was_saved_is_completed(
    tmp_path: Path, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, write, left = tmp_path / "run", Record._write, [20]

    def full(record: Record, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            record._file.write(data[: len(data) // 2])  # as far as there is room
            monkeypatch.setattr(Record, "_write", write)
            raise DistinguoError(f"Cannot write {record.path}: {errno.errorcode[errno.ENOSPC]}")
        write(record, data)

    monkeypatch.setattr(Record, "_write", full)
    refused(lambda: distilled(out), "Cannot write")
    distilled(out)
    assert files_of(out) == whole


def test_a_full_disk_at_the_end_too(
    tmp_path: Path, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("distinguo.writing.os.fsync", full)
        patch.setattr("distinguo.distillation.ledger.FLUSH_SECONDS", 1e9)
        patch.setattr("distinguo.runs.folder.write_atomically", lambda path, text: path.write_text(text))
        refused(
            lambda: distilled(tmp_path / "run"), "No space left on device; what was saved before is as it was"
        )
    refused(lambda: dg.open_run(tmp_path / "run"), "distinguo distil was interrupted")
    distilled(tmp_path / "run")
    assert files_of(tmp_path / "run") == whole


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 4}, "holds another run (asked now: seed 4 instead of 3)"),
        ({"keep": -140.0}, "keep -140.0 instead of -130.0"),
        ({"regions": 2}, "regions 2 instead of null"),
        ({"settings": QUICK | {"learner.trials": 6}}, "learner.trials 6 instead of 5"),
        ({"teacher": dg.Policy(SWINGS, name="other")}, 'teacher "other" instead of "swing"'),
        ({"teacher": dg.Policy(lambda s: 1, name="swing")}, "no longer gives the answers"),
    ],
)
def test_another_request_is_refused(cut: Path, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    shutil.copytree(cut, tmp_path / "run")
    refused(lambda: distilled(tmp_path / "run", **changes), words)
    assert files_of(tmp_path / "run") == files_of(cut)


def test_a_second_one_is_refused_before_its_work(tmp_path: Path) -> None:
    out, asked = tmp_path / "run", []
    teacher = dg.Policy(lambda s: asked.append(s) or 0, name="swing")
    here, go = threading.Event(), threading.Event()

    def wait(said: str) -> None:
        here.set()
        go.wait(60)
        raise Killed

    def first() -> None:
        with pytest.raises(Killed):
            distilled(out, wait)

    thread = threading.Thread(target=first)
    thread.start()
    assert here.wait(60)
    with pytest.raises(InUseError, match="is in use by process"):
        distilled(out, teacher=teacher)
    with pytest.raises(InUseError):
        condensed_in(out, dg.open_run(HILL))
    go.set()
    thread.join()
    assert asked == []


READERS: dict[str, tuple[str, ...]] = {
    "show": ("show", "RUN"),
    "explain": ("explain", "RUN", "--state", "0,0"),
    "play": ("play", "RUN", "--out", "film.gif"),
    "report": ("report", "RUN"),
    "audit": ("audit", "RUN"),
    "verify": ("verify", "RUN"),
    "export": ("export", "RUN", "--to", "c"),
    "condense": ("condense", "RUN"),
    "test": ("test", "RUN", "--task", CAR),
    "learn": ("learn", CAR, "--from", "RUN"),
    "distil": ("distil", "RUN", "--task", CAR, "--out", "other"),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_says_how_to_complete_it(name: str, cut: Path, call: Call) -> None:
    answer = call(*(str(cut) if word == "RUN" else word for word in READERS[name]))
    assert answer.code == 2
    assert (
        f"{cut} is not finished: distinguo distil was interrupted; complete it with: distinguo distil"
        in answer.err
    )
    assert f"--out {cut}" in answer.err


def test_the_studio_says_so_too(cut: Path) -> None:
    (entry,) = Library(cut.parent).entries()
    assert "distinguo distil was interrupted; complete it with: distinguo distil swing" in entry["trouble"]


def test_the_same_command_completes_what_its_sentence_names(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "policies.py").write_text("def swing(seen):\n    return 2 if seen[1] > 0 else 0\n")
    sets = [word for name, value in QUICK.items() for word in ("--set", f"{name}={json.dumps(value)}")]
    words = ["distil", "policies.py:swing", "--task", CAR, "--keep", "-150", *sets]
    with monkeypatch.context() as patch:
        patch.setattr("distinguo.distillation.distil.Distillation._compared", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            call(*words)
    sentence = call("show", f"runs/{CAR}-distilled-seed0").err
    assert call(*words).code == 0  # finds its folder by itself
    again = call(*shlex.split(sentence.partition("complete it with: distinguo ")[2]))
    assert "is finished already; showing it." in again.err
    assert [path.name for path in Path("runs").iterdir()] == [f"{CAR}-distilled-seed0"]


# ---- condense ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left", [0, 1, 2, 4, 5])
def test_condensing_goes_on_where_it_was_cut(
    left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learn, "CHECKPOINT_SECONDS", -1.0)
    run, save, saves = dg.open_run(HILL), condensing.save_progress, [left]
    condensed_in(tmp_path / "whole", run)

    def save_some(*given: Any) -> None:
        if not saves[0]:
            raise Killed
        saves[0] -= 1
        save(*given)

    with monkeypatch.context() as patch:
        patch.setattr(condensing, "save_progress", save_some)
        with pytest.raises(Killed):
            condensed_in(tmp_path / "run", run)
    if left:
        refused(lambda: dg.open_run(tmp_path / "run"), "distinguo condense was interrupted; complete it with")
        refused(lambda: condensed_in(tmp_path / "run", run, seed=1), "seed 1 instead of 0")
    condensed_in(tmp_path / "run", run)
    assert files_of(tmp_path / "run") == files_of(tmp_path / "whole")


# ---- the record ----------------------------------------------------------------------------------------------------


def test_answers_come_back_as_they_were(tmp_path: Path) -> None:
    given = {"a": np.array([[1.5, -0.0]]), "b": np.zeros((0, 3)), "c": np.array([3]), "d": np.array(True)}
    for number in range(2):  # asked, and remembered
        ledger, runs = Ledger(100), []
        with ledger.recorded_in(tmp_path / RECORD):

            def run(ledger: Ledger = ledger, runs: list[int] = runs) -> dict[str, np.ndarray]:
                runs.append(1)
                ledger.spend(2, 7)
                return given

            found = ledger.answer(["what", np.arange(3)], run)
        assert ledger.count == Count(2, 7)
        assert len(runs) == 1 - number
        for name, array in given.items():
            np.testing.assert_array_equal(found[name], array)
            assert found[name].shape == array.shape
            assert found[name].dtype == array.dtype


def test_a_record_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distinguo.distillation.ledger.LARGEST_RECORD", 1_000)
    record = Record(tmp_path / RECORD)
    for _ in range(30):
        record.recall(b"0" * 16)
        record.keep(b"0" * 16, KeptAnswer({"a": np.zeros(10)}, Count(1, 1)))
    record.close()
    assert 500 < (tmp_path / RECORD).stat().st_size <= 1_000


def test_only_plain_files_are_records(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("Dear reader, this is no record.")
    refused(lambda: Record(tmp_path / "letter"), "is damaged; delete it to begin from the start")
    assert (tmp_path / "letter").read_text().startswith("Dear")
    (tmp_path / "link").symlink_to(tmp_path / "letter")
    refused(lambda: Record(tmp_path / "link"), "Cannot use")


def test_a_lock_from_the_beginning(tmp_path: Path) -> None:
    with alone_in(tmp_path), pytest.raises(InUseError):
        distilled(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2, "asked": {}, "words": ["distil"], "versions": {}}',
                                  '{"version": 1, "asked": {}, "words": ["rm"], "versions": {}}'])  # fmt: skip
def test_a_damaged_request_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / REQUEST).write_text(text)
    refused(lambda: read_request(tmp_path), REQUEST)
    refused(lambda: distilled(tmp_path), REQUEST)
