"""Files that belong together: all are replaced or none, whenever the process is killed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from distinguo import writing as together
from distinguo.errors import DistinguoError
from distinguo.writing import JOURNAL, finish_writing, is_unfinished, write_together

OLD, NEW = {"a.json": b"1", "b.npz": b"2"}, {"a.json": b"3", "b.npz": b"4"}


class Killed(BaseException):
    pass


@pytest.mark.parametrize("step", range(5))
def test_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    write_together(tmp_path, OLD)
    write, steps = together.write_atomically, iter(range(9))

    def killing(path: Path, content: str | bytes) -> None:
        if next(steps) == step:
            raise Killed
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(together, "write_atomically", killing)
        try:
            write_together(tmp_path, NEW)
        except Killed:
            assert step < 3
    finish_writing(tmp_path, tuple(NEW))
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert found == (OLD if step == 0 else NEW)


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "settings.toml"])
def test_a_journal_writes_no_other_files(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / JOURNAL, "w") as archive:
        archive.writestr("a.json", b"1")
        archive.writestr(name, b"harm")
    with pytest.raises(DistinguoError, match="damaged"):
        finish_writing(tmp_path, tuple(NEW))
    assert [path.name for path in tmp_path.iterdir()] == [JOURNAL]
    assert is_unfinished(tmp_path)


@pytest.mark.parametrize("content", [b"", b"PK", b"noise" * 99])
def test_a_damaged_journal_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / JOURNAL).write_bytes(content)
    with pytest.raises(DistinguoError, match=r"\.journal\.zip is damaged"):
        finish_writing(tmp_path, tuple(NEW))


def test_a_journal_that_unpacks_to_too_much_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "LARGEST", 10**5)
    for method, words in ((zipfile.ZIP_DEFLATED, "it is packed"), (zipfile.ZIP_STORED, "too large")):
        with zipfile.ZipFile(tmp_path / JOURNAL, "w", method) as archive:
            archive.writestr("a.json", bytes(10**6))
        with pytest.raises(DistinguoError, match=words):
            finish_writing(tmp_path, tuple(NEW))
