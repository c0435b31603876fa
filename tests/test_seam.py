"""The seam: one source in two speeds, and a cache that can never run stale code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import pytest
from numba.core import config

from distinguo import kernel_cache, seam
from distinguo.seam import generic, implements, kernel, part


class Square(NamedTuple):
    side: float


class Disc(NamedTuple):
    radius: float


class Blob(NamedTuple):
    size: float


@generic
def area(shape: Any) -> float:
    """Return the area of a shape."""
    raise NotImplementedError


def squared(length: float) -> float:
    return length * length


def square_area(shape: Square) -> float:
    return squared(shape.side)


def disc_area(shape: Disc) -> float:
    return 3.0 * squared(shape.radius)


@pytest.fixture(scope="module")
def twice() -> Any:
    """Register two shapes without a trace in the cache key that the other tests share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seam, "watch_source", lambda *_: None)
        part(squared)
        implements(area, Square)(square_area)
        implements(area, Disc)(disc_area)

    @kernel
    def doubled(shape: Any) -> float:
        return 2.0 * area(shape)

    return doubled


SHAPES = [(Square(3.0), 18.0), (Disc(2.0), 24.0)]


@pytest.mark.parametrize(("shape", "expected"), SHAPES)
def test_a_kernel_picks_the_implementation_by_class_in_both_speeds(
    twice: Any, shape: Any, expected: float
) -> None:
    assert twice(shape) == expected
    assert twice.py_func(shape) == expected


def test_a_generic_and_a_part_stay_plain_functions(twice: Any) -> None:
    assert area(Square(4.0)) == 16.0
    assert squared(5.0) == 25.0
    assert area.__name__ == "area"
    assert area.__doc__ == "Return the area of a shape."


def test_a_missing_implementation_is_named_in_plain_python(twice: Any) -> None:
    with pytest.raises(TypeError, match=r"area is not implemented for Blob\."):
        twice.py_func(Blob(1.0))


def test_a_missing_implementation_does_not_compile(twice: Any) -> None:
    with pytest.raises(numba.TypingError):
        twice(Blob(1.0))


def test_a_class_of_equal_shape_is_not_mistaken_for_another(twice: Any) -> None:
    """Square and Disc hold the same fields in memory; only the class tells them apart."""
    assert twice(Square(2.0)) != twice(Disc(2.0))


def test_a_kernel_leaves_the_numba_configuration_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    kernel(lambda: 1)
    assert str(tmp_path) == config.CACHE_DIR


# What follows runs in processes of their own, as caches are for the next process.

TWICE = """
from distinguo.seam import generic, kernel
@generic
def area(shape): ...
@kernel
def twice(shape):
    return 2.0 * area(shape)
"""
SHAPE = """
from typing import NamedTuple
from distinguo.seam import implements
from sizes import squared
from twice import area
class Square(NamedTuple):
    side: float
@implements(area, Square)
def square_area(shape):
    return 1.0 * squared(shape.side)
"""
SIZES = """
from distinguo.seam import part
@part
def squared(length):
    return length * length
"""
MAIN = """
from twice import twice
from shape import Square
print(twice(Square(3.0)), sum(twice.stats.cache_hits.values()))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write a user's project: a kernel, an implementation and a part, each in a file of its own."""
    for name, text in {"twice": TWICE, "shape": SHAPE, "sizes": SIZES, "main": MAIN}.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def run(folder: Path, script: str, **environment: str) -> str:
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, script],
        cwd=folder,
        env=variables | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def edit(path: Path, old: str, new: str) -> None:
    """Change a source and nothing that a file system shows of it: neither its size nor its times."""
    before = path.stat()
    text = path.read_text()
    assert len(old) == len(new)
    assert old in text
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_second_process_starts_from_the_cache_until_a_foreign_source_is_edited(project: Path) -> None:
    assert run(project, "main.py") == "18.0 0"
    assert run(project, "main.py") == "18.0 1"
    edit(project / "shape.py", "1.0 *", "5.0 *")
    assert run(project, "main.py") == "90.0 0"
    edit(project / "sizes.py", "length * length", "length + length")
    assert run(project, "main.py") == "60.0 0"


SCRIPT = """
from typing import NamedTuple
from distinguo.seam import implements
from twice import area, twice
class Square(NamedTuple):
    side: float
@implements(area, Square)
def square_area(shape):
    return 1.0 * shape.side
if __name__ == "__main__":
    print(twice(Square(3.0)), sum(twice.stats.cache_hits.values()))
"""


def test_a_class_of_a_script_is_cached_and_known_by_its_file(project: Path) -> None:
    """Numba alone would compile it anew in every process, as it takes such a class for another each time."""
    (project / "script.py").write_text(SCRIPT)
    assert run(project, "script.py") == "6.0 0"
    assert run(project, "script.py") == "6.0 1"


def test_a_class_known_by_another_name_does_not_spoil_the_cache(project: Path) -> None:
    (project / "script.py").write_text(SCRIPT)
    (project / "other.py").write_text(
        "from script import Square, twice\nprint(twice(Square(3.0)), sum(twice.stats.cache_hits.values()))"
    )
    assert run(project, "script.py") == "6.0 0"
    assert run(project, "other.py") == "6.0 0"
    assert run(project, "other.py") == "6.0 1"
    assert run(project, "script.py") == "6.0 1"


OURS = """
import numpy as np
from distinguo.representations import partition as home
from distinguo.representations.voronoi import voronoi
home.regions_of(voronoi([[0.0]], [1.0]), np.zeros((1, 1)))
print(sum(home._fill_regions.stats.cache_hits.values()))
"""


def test_our_kernels_on_our_classes_are_compiled_once_whatever_else_is_imported(project: Path) -> None:
    """A test that has tasks of its own and the command that it starts share one cache."""
    (project / "alone.py").write_text(OURS)
    (project / "with_a_task.py").write_text(f"import shape\n{OURS}")
    assert run(project, "with_a_task.py") == "0"
    assert run(project, "alone.py") == "1"
    assert run(project, "with_a_task.py") == "1"


ODD = """
from distinguo.representations.partition import region
from distinguo.representations.voronoi import Voronoi
from distinguo.seam import implements
@implements(region, Voronoi)
def nowhere(partition, s):
    return 7
"""


def test_a_foreign_implementation_for_a_class_of_ours_is_cached_apart(project: Path) -> None:
    (project / "odd.py").write_text(ODD)
    (project / "alone.py").write_text(OURS)
    (project / "oddly.py").write_text(f"import odd\n{OURS}")
    hits = [run(project, name) for name in ("alone.py", "oddly.py", "alone.py", "oddly.py")]
    assert hits == ["0", "0", "1", "1"]


def test_an_unwritable_cache_still_works_and_leaves_nothing_beside_the_sources(project: Path) -> None:
    """Beside the sources a cache would have no key, and an edit could run stale code."""
    (project / "file").touch()
    nowhere = str(project / "file" / "cache")
    assert run(project, "main.py", NUMBA_CACHE_DIR=nowhere) == "18.0 0"
    assert not list(project.rglob("*.nbi"))


def test_without_a_compiler_a_kernel_is_its_python_function(project: Path) -> None:
    (project / "plain.py").write_text(
        "from twice import twice\nfrom shape import Square\n"
        "print(twice(Square(3.0)), twice.py_func(Square(3.0)))"
    )
    assert run(project, "plain.py", NUMBA_DISABLE_JIT="1") == "18.0 18.0"


def test_a_function_of_the_user_is_cached_where_the_user_said(project: Path) -> None:
    (project / "own.py").write_text(
        "import distinguo.seam, numba\n@numba.njit(cache=True)\ndef one(): return 1\none()\n"
        "print(one.stats.cache_path)"
    )
    assert Path(run(project, "own.py")).parent == project / "cache"


KERNELS = "from package.numbers import SIZE\n\n@part\ndef twice(a):\n    return 2 * a * SIZE\n"


@pytest.mark.parametrize(
    ("name", "text", "is_new"),
    [
        ("inner/kernels.py", KERNELS + "\n# a word\n", True),
        ("inner/more.py", "@implements(area, Square)\ndef _(shape):\n    return 1\n", True),
        ("numbers.py", "SIZE = 4\n", True),  # a constant that a kernel is compiled with
        ("seam.py", "# compiled otherwise\n", True),
        ("views.py", '"""Another docstring."""\n\ndef draw():\n    return 1\n', False),
    ],
)
def test_edits_change_the_key_where_kernels_come_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, text: str, is_new: bool
) -> None:
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    files = {"numbers.py": "SIZE = 3\n", "views.py": '"""Draws."""\n', "inner/kernels.py": KERNELS}
    for place, content in files.items():
        (package / place).write_text(content)
    monkeypatch.setattr(kernel_cache, "_PACKAGE", package)
    key = kernel_cache.package_key.__wrapped__

    before = key()
    (package / name).write_text(text)
    assert (key() != before) is is_new
    if name in files:
        (package / name).write_text(files[name])
    else:
        (package / name).unlink()
    assert key() == before


def test_two_files_of_one_name_never_share_code(tmp_path: Path) -> None:
    """In whatever order they are loaded, and although their classes have one name."""
    source = (
        "import distinguo as dg\nfrom typing import NamedTuple\n"
        "@dg.task(name='{name}', states=('x',), actions=('a', 'b'), low=(-1,), high=(1,))\n"
        "class Cart(NamedTuple):\n"
        "    def transition(self, s, a):\n        return ({value},), 0.0, False\n"
        "    def start(self, rng):\n        return (0.0,)\n"
    )
    for name, value in (("one", 1.0), ("two", 100.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cart.py").write_text(source.format(name=name, value=value))
    (tmp_path / "ask.py").write_text(
        "import sys, numpy as np\nfrom pathlib import Path\nfrom distinguo.cli.parse import load_named\n"
        "from distinguo.seam import kernel\nfrom distinguo.tasks.world import step, world_of\n"
        "@kernel\ndef stepped(world, s):\n    return step(world, s, 0, s)\n"
        "found = {}\n"
        "for name in sys.argv[1:]:\n"
        "    kind = load_named(f'{Path(__file__).parent / name / \"cart.py\"}:Cart')\n"
        "    s = np.zeros(1)\n    stepped(world_of(kind(), 1, 1), s)\n    found[name] = s[0]\n"
        "print(found['one'], found['two'])\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for order in (("one", "two"), ("two", "one")):
        done = subprocess.run(
            [sys.executable, str(tmp_path / "ask.py"), *order],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == ["1.0", "100.0"]
