"""Loading never runs code and never eats the machine: every reader, under attack."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from distinguo.cli import main
from distinguo.comparison.plan import read_plan
from distinguo.errors import DistinguoError
from distinguo.reading.arrays import read_array, read_arrays, read_zip
from distinguo.reading.files import parse_json, parse_toml, read_bytes, read_text
from distinguo.representations.file import load
from distinguo.runs import folder
from distinguo.runs.folder import open_run
from distinguo.runs.restarts import read_reasons
from tests.fuzz import FORMATS, MEGABYTES, PUCK, READERS, SECONDS, is_read
from tests.nightly import so_many

ROOT = Path(__file__).parent.parent


def test_spoilt_files_are_read_or_refused_in_a_sentence_fast_and_in_little_memory() -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--files", str(so_many(80, nightly=20_000))]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr[-2000:]
    accounts = [json.loads(line) for line in answer.stdout.splitlines()]
    assert [account["reader"] for account in accounts] == list(READERS)
    for account in accounts:
        assert account["refused"] > 5 * account["read"] or account["read"] > 0
        assert account["slowest"] < SECONDS
        assert account["grown"] < MEGABYTES


# --- nothing is imported -------------------------------------------------------------------------------------------

TRAP = """
import pathlib
pathlib.Path(__file__).with_name("sprung").touch()
import gymnasium
gymnasium.register("Trap-v0", "trap_module:Trap")
class Trap(gymnasium.Env): pass
"""
NAMES = ("trap_module:Trap-v0", "trap_module:Trap", "trap_module.Trap", "trap_module.py:Trap", "trap_module")
_STRING = re.compile(rb'"[^"\n]*"(?!\s*:)')


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a module on the path whose import leaves a mark."""
    (tmp_path / "trap_module.py").write_text(TRAP)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "sprung"
    assert "trap_module" not in sys.modules


def named_everywhere(data: bytes) -> Iterator[bytes]:
    """Put the trap's name in the place of each word of a file, one after the other."""
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        for name in members:
            for spoilt in named_everywhere(members[name]):
                yield zipped(members | {name: spoilt})
        return
    words = {word[0]: word for word in _STRING.finditer(data)}
    for word in list(words.values())[:12]:
        for name in NAMES:
            yield data[: word.start()] + f'"{name}"'.encode() + data[word.end() :]


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("name", READERS)
def test_no_name_in_any_file_is_imported(name: str, tmp_path: Path, trap: Path) -> None:
    reader = READERS[name]
    for file in dict.fromkeys(reader.files):
        path = tmp_path / f"spoilt{file.suffix}"
        for spoilt in named_everywhere(file.read_bytes()):
            path.write_bytes(spoilt)
            is_read(reader, path)
            assert not trap.exists(), spoilt


def test_a_run_folder_that_names_code_can_be_opened_and_the_code_is_never_looked_for(
    tmp_path: Path, trap: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(FORMATS / "runs" / "cliff-6", run)
    settings = run / "settings.toml"
    settings.write_text(settings.read_text().replace("CliffWalking-v1", NAMES[0]))
    assert open_run(run).configuration.spec.name == NAMES[0]
    for words in (
        *(["show", "run"], ["audit", "run"], ["verify", "run"], ["condense", "run"]),
        *(["test", "run"], ["export", "run", "--to", "json"], ["export", "run", "--to", "c"]),
    ):
        monkeypatch.setattr(sys, "argv", ["distinguo", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert "Traceback" not in capfd.readouterr().err
        assert ended.value.code in (0, 2)
        assert not trap.exists(), words


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_plan_that_names_code_is_refused(name: str, trap: Path) -> None:
    with pytest.raises(DistinguoError, match="names code"):
        read_plan(f'[plan]\nrepresentations = ["diagonal"]\ntask = "{name}"\n')
    assert not trap.exists()


# --- only files, and only of some size -----------------------------------------------------------------------------


@pytest.fixture
def alarm() -> Iterator[None]:
    """Fail instead of waiting for ever."""
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits for ever"))
    signal.alarm(20)
    yield
    signal.alarm(0)


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("name", READERS)
def test_a_pipe_and_a_device_and_a_folder_are_refused_at_once(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    suffix = reader.files[0].suffix
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"zeros{suffix}").symlink_to("/dev/zero")
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / f"loop{suffix}").symlink_to(tmp_path / f"loop{suffix}")
    for kind in ("pipe", "zeros", "folder", "loop", "missing"):
        if (name, kind) == ("history", "missing"):
            assert not reader.read(tmp_path / f"missing{suffix}")  # a run of an earlier version has none
        elif (name, kind) == ("answers", "missing"):
            reader.read(tmp_path / f"missing{suffix}")  # begins a new record
        elif name != "values" or kind in ("pipe", "zeros"):
            assert not refused_file(reader.read, tmp_path / f"{kind}{suffix}")


def refused_file(read: object, path: Path) -> bool:
    """Read through the reader proper: that of values is given a folder, and copies into it first."""
    if read is READERS["values"].read:
        path.rename(path.parent / folder.VALUES)
        try:
            with pytest.raises(DistinguoError):
                folder._read_values(path.parent, load(PUCK / folder.REPRESENTATION), actions=2)
        finally:
            (path.parent / folder.VALUES).rename(path)
        return False
    with pytest.raises(DistinguoError) as caught:
        read(path)  # type: ignore[operator]
    assert len(str(caught.value).splitlines()) == 1
    return False


@pytest.mark.parametrize("name", READERS)
def test_a_file_of_many_gigabytes_is_refused_before_it_is_read(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    path = tmp_path / f"large{reader.files[0].suffix}"
    with path.open("wb") as file:
        file.truncate(8 * 2**30)  # a hole: it takes no room on the disk
    tracemalloc.start()
    refused_file(reader.read, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


def test_a_file_that_grows_while_it_is_read_is_not_read_beyond_its_size(tmp_path: Path) -> None:
    assert read_text("/proc/self/status", 10**6)  # says that it has no bytes at all
    with pytest.raises(DistinguoError, match="larger than 5 bytes"):
        read_bytes("/proc/self/status", 5)


# --- values that are larger than their files -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "[" * 2_000,
        "[" * 101 + "]" * 101,
        '{"a":' * 200 + "1" + "}" * 200,
        "9" * 5_000,
        "[" + "[]," * 2**21 + "1]",
    ],
    ids=["open", "deep", "deep objects", "long digits", "many lists"],
)
def test_json_that_would_become_large_or_deep_is_refused(text: str) -> None:
    tracemalloc.start()
    with pytest.raises(DistinguoError, match=r"mine\.json"):
        parse_json(text, "mine.json")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**25


@pytest.mark.parametrize("value", ["[" * 2_000, "[" * 101 + "]" * 101, "9" * 5_000, "0x" + "f" * 2_000])
def test_toml_that_would_become_large_or_deep_is_refused(value: str) -> None:
    with pytest.raises(DistinguoError, match=r"mine\.toml"):
        parse_toml(f"a = {value}", "mine.toml")


def test_what_is_deep_but_not_too_deep_is_read() -> None:
    assert str(parse_json("[" * 100 + "]" * 100, "mine.json")) == "[" * 100 + "]" * 100


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_bombs_are_refused_however_small_they_are(tmp_path: Path) -> None:
    zeros = npy(np.zeros(2**24))  # 128 MiB
    (tmp_path / "a.npz").write_bytes(zipped({"q.npy": zeros}))
    (tmp_path / "a.zip").write_bytes(zipped({"settings.toml": zeros}))
    tracemalloc.start()
    for read in (
        lambda: read_arrays(tmp_path / "a.npz"),
        lambda: read_zip(tmp_path / "a.zip", ("settings.toml",), 2**30),
    ):
        with pytest.raises(DistinguoError, match="would unpack to"):
            read()
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_a_zip_with_a_list_of_files_that_fills_the_memory_is_refused(tmp_path: Path) -> None:
    whole = zipped({f"{n}.npy": b"" for n in range(20_000)}, zipfile.ZIP_STORED)
    (tmp_path / "many.npz").write_bytes(whole)
    end = bytearray(whole)
    struct.pack_into("<L", end, len(end) - 10, 2**30)
    (tmp_path / "lies.npz").write_bytes(end)
    for name in ("many", "lies"):
        with pytest.raises(DistinguoError, match="its list of files is too long"):
            read_arrays(tmp_path / f"{name}.npz")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_ways_to_pack_that_ask_for_memory_of_their_own_are_refused(tmp_path: Path, method: int) -> None:
    (tmp_path / "a.npz").write_bytes(zipped({"q.npy": npy(np.zeros(3))}, method))
    with pytest.raises(DistinguoError, match="unusual way"):
        read_arrays(tmp_path / "a.npz")


LIES = {
    "more": (b"(3,)", b"(4,)"),
    "fewer": (b"(3,)", b"(2,)"),
    "fewer than none": (b"(3,)", b"(-3,)"),
    "objects": (b"<f8", b"|O8"),
    "the moon": (b"(3,)", b"(1000000000,)"),
    "no Python": (b"'descr'", b"'desc\\"),
    "version": (b"\x01\x00", b"\x03\x00"),
}


@pytest.mark.parametrize("change", LIES.values(), ids=list(LIES))
def test_headers_that_lie_are_refused(tmp_path: Path, change: tuple[bytes, bytes]) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(npy(np.zeros(3)).replace(*change, 1))
    tracemalloc.start()
    with pytest.raises(DistinguoError, match=r"a\.npy is not a whole \.npy file"):
        read_array(path)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_a_table_of_many_reasons_takes_little_memory_and_reads_like_a_list(tmp_path: Path) -> None:
    count = so_many(20_000, nightly=1_000_000)
    line = (PUCK / "reasons.jsonl").read_text().splitlines()[0]
    entry = json.loads(line)
    path = tmp_path / "reasons.jsonl"
    with path.open("w") as file:
        file.writelines(json.dumps({**entry, "trial": n, "step": 7 * n}) + "\n" for n in range(count))
    tracemalloc.start()
    reasons = read_reasons(path)
    assert tracemalloc.get_traced_memory()[1] < 2**22 + 150 * count  # as dictionaries they take 2 kB each
    tracemalloc.stop()
    assert len(reasons) == count
    assert reasons[count // 2] == {**entry, "trial": count // 2, "step": 7 * (count // 2)}
    assert [reason["trial"] for reason in reasons[-3:]] == [count - 3, count - 2, count - 1]
    assert sum(1 for _ in reasons) == count
    with pytest.raises(IndexError):
        reasons[count]


def test_reasons_of_attempts_that_were_returned_to_again_and_again_are_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "reasons.jsonl"
    split, back = (
        '{"event": "split", "trial": 3}\n',
        '{"event": "return", "trial": 9, "attempt": 0, "until": 5}\n',
    )
    path.write_text(split * 2_000 + back * 2_000)
    tracemalloc.start()
    assert len(read_reasons(path)) == 2_000
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("key", "value"), [("runs", 2**63 - 1), ("runs", 10**7), ("batch", 10**9), ("steps", 10**15)]
)
def test_every_count_of_a_plan_has_a_bound(key: str, value: int) -> None:
    with pytest.raises(DistinguoError, match=f"tester.{key} should be less than"):
        read_plan(f'[plan]\nrepresentations = ["diagonal"]\n[tester]\n{key} = {value}\n')


def test_a_plan_has_only_so_many_cells() -> None:
    names = json.dumps([f"grid:{n}x2" for n in range(2, 52)])
    with pytest.raises(DistinguoError, match=r"1,000,000 cells .* at most, got 50,000,000"):
        read_plan(f"[plan]\nrepresentations = {names}\n[tester]\nruns = 1000000\n")
