"""One process at a time in a folder; a dead one holds nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from distinguo import writing
from distinguo.errors import DistinguoError
from distinguo.writing import (
    LOCK,
    is_leftover,
    is_locked,
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
    looking = FileLock(tmp_path / LOCK, thread_local=False)
    looking.acquire(timeout=0)
    end = threading.Timer(0.02, looking.release)
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
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == others


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
    """Another process may remove it at any moment before it has its name."""
    removed, before = [], Path.chmod

    def late(path: Path, mode: int) -> None:
        if len(removed) < 2:
            remove_leftovers(tmp_path)
            removed.append(path)
        before(path, mode)

    monkeypatch.setattr(Path, "chmod", late)
    write_atomically(tmp_path / "a.txt", "content")
    assert (tmp_path / "a.txt").read_text() == "content"
    assert len(set(removed)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_many_writers_and_removers_in_one_folder(tmp_path: Path) -> None:
    """Files of several writers are all written, however often others remove what is not finished."""
    over = threading.Event()

    def remove() -> None:
        while not over.is_set():
            remove_leftovers(tmp_path)

    remover = threading.Thread(target=remove)
    remover.start()
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda n: write_atomically(tmp_path / f"{n}.txt", f"{n}" * 1000), range(100)))
    finally:
        over.set()
        remover.join()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        f"{n}.txt": f"{n}" * 1000 for n in range(100)
    }


def test_a_look_leaves_no_lock_behind(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / LOCK).touch()  # as if it was removed and made again by the look
    assert not is_locked(tmp_path)
    assert list(tmp_path.iterdir()) == []
