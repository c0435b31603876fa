"""One process at a time in a folder; a dead one holds nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distinguo import writing
from distinguo.errors import DistinguoError
from distinguo.writing import (
    LOCK,
    is_leftover,
    is_locked,
    lock_file,
    locked,
    remove_leftovers,
    write_atomically,
)

HOLDER = """
import sys, time
from pathlib import Path
from distinguo.writing import locked
with locked(Path(sys.argv[1])):
    print("here", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Give a process that works in the folder."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "here\n"
        yield process
        process.kill()


def test_whoever_comes_is_told_who_is_there_until_that_one_is_dead(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    assert is_locked(tmp_path)
    with (
        pytest.raises(DistinguoError, match=rf"in use by process {holder.pid} on .* since "),
        locked(tmp_path),
    ):
        pytest.fail("two at once")
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / LOCK).exists()
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        assert is_locked(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_it_excludes_other_threads_of_the_same_process_too(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(DistinguoError, match=str(os.getpid())), locked(tmp_path):
        pytest.fail("two at once")


def test_one_who_only_looks_holds_nobody_up(tmp_path: Path) -> None:
    """A look locks for an instant; of many writers who come then, none is sent away."""
    (tmp_path / LOCK).write_text('{"pid": 1, "host": "gone", "since": "long ago"}')
    looking = os.open(tmp_path / LOCK, os.O_RDWR)
    assert lock_file(looking)
    end = threading.Timer(0.02, os.close, [looking])
    end.start()
    with locked(tmp_path):
        assert is_locked(tmp_path)
    end.join()


def test_a_damaged_lock_tells_nothing_and_does_no_harm(tmp_path: Path) -> None:
    for content in (b"", b"[" * 5000, b"9" * 5000, b'{"pid": []}'):
        (tmp_path / LOCK).write_bytes(content)
        with locked(tmp_path):
            (tmp_path / LOCK).write_bytes(content)
            with pytest.raises(DistinguoError, match="another process"), locked(tmp_path):
                pass


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ada")
    (tmp_path / LOCK).symlink_to(tmp_path / "letter.txt")
    with pytest.raises(DistinguoError), locked(tmp_path):
        pass
    assert (tmp_path / "letter.txt").read_text() == "Dear Ada"


#: Names of users' files may have something of ours in them.
PIECES = (
    ".",
    "-",
    "~",
    "settings.toml",
    "distinguo",
    ".distinguo-",
    "lock",
    "journal.zip",
    "0123abcd",
    "-0123abcd",
)


def cut_off(path: Path) -> str:
    """Begin to write a file, as a process that is killed does, and return the name that it has until then."""
    handle, name = writing._aside(path)
    os.close(handle)
    return Path(name).name


def test_what_a_killed_process_was_writing_is_removed_and_nothing_else(tmp_path: Path) -> None:
    left = cut_off(tmp_path / "settings.toml")
    cut_off(tmp_path / ("x" * 255))
    others = {".notes.txt-backup", ".hidden", "trials.csv-1", f"x{left}", f"{left}x", left.replace("s", "t")}
    for name in others:
        (tmp_path / name).touch()
    alive, name = writing._aside(tmp_path / "result.json")
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == others | {Path(name).name}
    os.close(alive)


@given(
    st.lists(
        st.sampled_from(PIECES) | st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"])),
        min_size=1,
    ).map("".join)
)
def test_no_name_of_a_user_is_taken_for_one_of_ours(name: str) -> None:
    assert not is_leftover(Path("folder") / name)


def test_a_file_that_is_taken_for_a_leftover_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may look between the moment that it is made and the moment that it is locked."""
    from distinguo import writing as atomic

    calls = []

    def late(handle: int) -> bool:
        calls.append(handle)
        if len(calls) == 1:
            for path in tmp_path.iterdir():
                path.unlink()
        return lock_file(handle)

    monkeypatch.setattr(atomic, "lock_file", late)
    write_atomically(tmp_path / "a.txt", "content")
    assert (tmp_path / "a.txt").read_text() == "content"
    assert len(calls) == 2
