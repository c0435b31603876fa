"""What is published: the versions that are named agree, and the packages hold every file of the source."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.nightly import so_many

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = ROOT / ".github" / "workflows"


def test_the_lock_has_every_package_of_the_tests_and_no_host() -> None:
    lines = [one for one in (ROOT / "tests" / "constraints.txt").read_text().splitlines() if one[0] != "#"]
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.!+]+", line) for line in lines)
    pinned = dict(line.split("==") for line in lines)
    extra = PROJECT["optional-dependencies"]["test"]
    needed = [Requirement(line) for line in (*PROJECT["dependencies"], *extra)]
    known = [one for one in needed if canonicalize_name(one.name) in pinned]
    assert all(one.specifier.contains(pinned[canonicalize_name(one.name)]) for one in known)
    missing = {one.name for one in needed} - {one.name for one in known}
    assert not missing & {Requirement(line).name for line in PROJECT["dependencies"]}
    assert len(missing) <= so_many(3, nightly=0), f"python -m tools.lock: {missing}"  # until the next release


def test_the_versions_of_python_agree() -> None:
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert f"Python {named[0]} or newer" in (ROOT / "README.md").read_text()
    tested = set(re.findall(r'"(3\.\d+)"', (WORKFLOWS / "tests.yml").read_text()))
    assert set(named) <= tested


def test_publishing_needs_no_password() -> None:
    text = (WORKFLOWS / "release.yml").read_text()
    publish = text[text.index("  publish:") :]
    assert "id-token: write" in publish
    assert "id-token" not in text[: text.index("  publish:")]
    assert "environment: pypi" in publish
    assert not re.search(r"secrets\.|password", text.partition("jobs:")[2])


@pytest.mark.second_stage
def test_the_packages_hold_every_file_of_the_source(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-d"]
    subprocess.run([*build, str(tmp_path / "first")], cwd=ROOT, check=True, capture_output=True)
    (source,), (wheel,) = (list((tmp_path / "first").glob(kind)) for kind in ("*.tar.gz", "*.whl"))
    there = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and ".egg-info" not in str(path)
    }

    def packed(path: Path) -> set[str]:
        return {name for name in zipfile.ZipFile(path).namelist() if ".dist-info/" not in name}

    assert packed(wheel) == there
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (unpacked,) = (tmp_path / "source").iterdir()
    assert (unpacked / "tests" / "constraints.txt").is_file()
    subprocess.run(
        [*build, str(tmp_path / "second"), "-t", "wheel"], cwd=unpacked, check=True, capture_output=True
    )
    (again,) = (tmp_path / "second").iterdir()
    assert packed(again) == there
