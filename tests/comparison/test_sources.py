"""What can be compared: files, arrays and run folders, and what is refused."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.comparison.compare import compare_plan
from distinguo.comparison.plan import make_plan
from distinguo.controls import diagonal
from distinguo.representations.file import Representation, dumps
from distinguo.representations.voronoi import voronoi
from distinguo.runs.learn import learn
from distinguo.tasks.catalog import task_spec
from tests.comparison.plans import (
    SHORT,
    refusal,
    some_plan,
)

# What can be compared.


def final(what: object, out: Path) -> list[list[float]]:
    """Return the scores of every run under the first variant."""
    comparison = compare_plan(some_plan((str(what),)), out)
    assert comparison.failures == {}
    return comparison.curves[0].scores.tolist()


def test_files_and_arrays_of_the_same_regions_get_the_same_curves(tmp_path: Path) -> None:
    two = diagonal(task_spec("puck"))
    (tmp_path / "two.json").write_text(dumps(two))
    np.save(tmp_path / "two.npy", two.partition.prototypes)
    wanted = final("diagonal", tmp_path / "control")
    assert final(tmp_path / "two.json", tmp_path / "file") == wanted
    assert final(tmp_path / "two.npy", tmp_path / "array") == wanted
    assert final("grid:2x1", tmp_path / "other") != wanted


def test_a_run_folder_is_compare_plan(tmp_path: Path) -> None:
    run = learn("puck", seed=1, settings={"stage.cap": 1000, "stage.hold": 1000}, out=tmp_path / "run")
    plan = make_plan([str(tmp_path / "run")], tester=SHORT)
    comparison = compare_plan(plan, tmp_path / "out")
    assert comparison.curves[0].regions == run.representation.regions


def test_a_file_at_the_end_of_a_long_path_is_compare_plan(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["folder-" * 8] * 5)
    deep.mkdir(parents=True)
    (deep / "two.json").write_text(dumps(diagonal(task_spec("puck"))))
    assert final(deep / "two.json", tmp_path / "out") == final("diagonal", tmp_path / "control")


def test_a_representation_of_other_dimensions_is_refused(tmp_path: Path) -> None:
    three = Representation(voronoi([[0.0, 0.0, 0.0]], [1.0, 1.0, 1.0]), ("x", "y", "z"))
    (tmp_path / "three.json").write_text(dumps(three))
    sentence = refusal(some_plan((str(tmp_path / "three.json"),)), tmp_path / "out")
    assert "three.json has 3 dimensions (x, y, z), but the task puck has 2 (x, v)" in sentence


class Trap:
    """Makes a file when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path(os.environ["MARK"]),)


def test_a_pickle_is_refused_and_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARK", str(tmp_path / "sprung"))
    np.save(tmp_path / "objects.npy", np.array([[Trap(), Trap()]], dtype=object), allow_pickle=True)
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(Trap()))
    for name in ("objects.npy", "pickle.npy"):
        assert "not a whole .npy file of numbers" in refusal(
            some_plan((str(tmp_path / name),)), tmp_path / "out"
        )
    assert not (tmp_path / "sprung").exists()


def header(*shape: int) -> bytes:
    from io import BytesIO

    buffer = BytesIO()
    fields = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, fields)
    return buffer.getvalue()


ARRAYS: dict[str, tuple[Any, str]] = {
    "words": (np.array([["a", "b"], ["c", "d"]]), "not a whole .npy file of numbers"),
    "complex numbers": (np.array([[1j, 0.0]]), "not a whole .npy file of numbers"),
    "three coordinates": (np.zeros((2, 3)), "should have 2 coordinates"),
    "a single number": (np.float64(3.0), "should have 2 coordinates"),
    "nothing": (np.zeros((0, 2)), "empty"),
    "not a number": (np.array([[0.0, np.nan]]), "finite"),
    "twice the same": (np.zeros((2, 2)), "differ"),
    "cut off": (header(3, 2) + bytes(40), "not a whole .npy file of numbers"),
    "declared beyond all memory": (header(10**13, 2), "not a whole .npy file of numbers"),
    "text": (b"0.3 0.6", "not a whole .npy file of numbers"),
    "no file": (None, "No such file"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_wrong_arrays_are_refused(tmp_path: Path, case: str) -> None:
    content, why = ARRAYS[case]
    path = tmp_path / "some.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content)
    assert why in refusal(some_plan((str(path),)), tmp_path / "out")
    assert not (tmp_path / "out").exists()
