"""Arrays that cannot do harm: whatever a file says, the same numbers or one sentence."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from distinguo.errors import DistinguoError
from distinguo.reading import arrays as reader
from distinguo.reading.arrays import read_arrays
from distinguo.writing import pack_arrays


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file that the examples of a test write again and again."""
    return tmp_path_factory.mktemp("scratch") / "a.npz"


numbers = st.sampled_from([np.float64, np.int64, np.bool_, np.uint8])
shapes = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
# A NaN of any payload is equal to itself in bytes.
some_arrays = numbers.flatmap(lambda dtype: arrays.arrays(dtype, shapes))


@given(st.dictionaries(st.sampled_from("abc"), some_arrays))
def test_arrays_come_back_with_the_same_bits(scratch: Path, content: dict[str, np.ndarray]) -> None:
    scratch.write_bytes(pack_arrays(content))
    back = read_arrays(scratch)
    assert {k: (v.dtype, v.shape, v.tobytes()) for k, v in back.items()} == {
        k: (v.dtype, v.shape, v.tobytes()) for k, v in content.items()
    }


def test_the_same_arrays_make_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    first = pack_arrays({"a": np.arange(3)})
    monkeypatch.setattr("time.time", lambda: 2e9)
    assert pack_arrays({"a": np.arange(3)}) == first


def refused(path: Path) -> str:
    with pytest.raises(DistinguoError) as caught:
        read_arrays(path)
    message = str(caught.value)
    assert str(path) in message
    assert len(message.splitlines()) == 1
    return message


def archive(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = npy(np.zeros(2**20))
    path = archive(tmp_path / "bomb.npz", {f"{n}.npy": zeros for n in range(4)}, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    monkeypatch.setattr(reader, "LARGEST_ARRAYS", 4 * len(zeros))
    assert len(read_arrays(path)) == 4
    monkeypatch.setattr(reader, "LARGEST_ARRAYS", 4 * len(zeros) - 1)
    monkeypatch.setattr(reader, "_entry_array", lambda *_: pytest.fail("unpacked"))
    assert "more than" in refused(path)


def test_a_declared_size_that_lies_cannot_unpack_more(tmp_path: Path) -> None:
    """The directory of the archive says 200 bytes; there are a million."""
    path = archive(tmp_path / "liar.npz", {"a.npy": npy(np.zeros(10**6))}, zipfile.ZIP_DEFLATED)
    real = (8 * 10**6 + 128).to_bytes(4, "little")
    assert path.read_bytes().count(real) == 2
    path.write_bytes(path.read_bytes().replace(real, (200).to_bytes(4, "little")))
    refused(path)


def test_a_header_that_promises_the_moon_is_refused(tmp_path: Path) -> None:
    for count in (10**15, 10**19):
        header = npy(np.zeros(10)).replace(b"(10,), }", f"({count},), }}".encode())
        refused(archive(tmp_path / "moon.npz", {"a.npy": header}))


class Harm:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, ("harm",)


def test_a_pickle_is_refused_and_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    objects = np.empty(1, dtype=object)
    objects[0] = Harm()
    np.savez(tmp_path / "a.npz", a=objects)
    (tmp_path / "b.npz").write_bytes(pickle.dumps(Harm()))
    archive(tmp_path / "c.npz", {"a.npy": pickle.dumps(Harm())})
    for name in ("a", "b", "c"):
        refused(tmp_path / f"{name}.npz")
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("content", [b"", b"PK", b"noise" * 100, npy(np.zeros(3))])
def test_what_is_not_an_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npz").write_bytes(content)
    refused(tmp_path / "a.npz")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    refused(tmp_path / "missing.npz")
    refused(tmp_path)


def test_a_foreign_member_is_refused(tmp_path: Path) -> None:
    refused(archive(tmp_path / "a.npz", {"a.txt": b"text"}))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@settings(max_examples=150)
@given(data=st.data())
def test_damage_is_refused_or_harmless(scratch: Path, method: int, data: st.DataObject) -> None:
    """Whatever happens to the bytes: the same arrays or one sentence."""
    content = np.arange(40.0)
    path = archive(scratch, {"a.npy": npy(content)}, method)
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        path.write_bytes(whole[:place])
    else:
        path.write_bytes(whole[:place] + data.draw(st.binary(min_size=1, max_size=3)) + whole[place + 1 :])
    try:
        back = read_arrays(path)
    except DistinguoError:
        refused(path)
    else:
        assert [array.tobytes() for array in back.values()] in ([content.tobytes()], [])
