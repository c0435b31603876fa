"""Files that cannot be torn, and arrays that cannot do harm."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from distinguo.errors import DistinguoError
from distinguo.writing import write_atomically


@pytest.mark.parametrize("content", ["β\n", b"\x00\xff"])
def test_a_file_is_written_whole(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, "before")
    write_atomically(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fdopen", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_at_any_step_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, "before")

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises((DistinguoError, KeyboardInterrupt)) as caught:
        write_atomically(path, "after" * 1000)
    if isinstance(error, OSError):
        assert str(caught.value).startswith(f"Cannot write {path}: No space left on device; ")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_the_content_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (steps.append("fsync"), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda *names: (steps.append("replace"), replace(*names)))
    write_atomically(tmp_path / "a.txt", "content")
    assert steps[:2] == ["fsync", "replace"]


def test_no_handle_is_left_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = count()
    write_atomically(tmp_path / "a.txt", "content")
    assert count() == before
