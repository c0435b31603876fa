"""The studio deletes run folders of its own directory, whole or not at all, and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import distinguo
from distinguo.errors import DistinguoError
from distinguo.runs import folder
from distinguo.views.studio.library import Library
from tests.views.studio.served import Served, serving


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("learned") / "run"
    distinguo.learn("puck", seed=1, settings={"stage.cap": 500, "stage.hold": 500}, out=path)
    return path


@pytest.fixture
def base(tmp_path: Path, learned: Path) -> Path:
    for name in ("one", "two"):
        shutil.copytree(learned, tmp_path / "runs" / name)
    (tmp_path / "secret.txt").write_text("not for the world")
    return tmp_path / "runs"


@pytest.fixture
def studio(base: Path) -> Iterator[Served]:
    with serving(base) as served:
        yield served


def identities(page: Any) -> dict[str, str]:
    return {one["name"]: one["id"] for one in page.wait("lists")["runs"]}


def test_a_run_is_deleted_and_no_other(studio: Served, base: Path) -> None:
    with studio.page() as page:
        known = identities(page)
        page.send(do="delete", run=known["one"])
        assert page.wait("deleted") == {"about": "deleted", "run": known["one"], "text": "Deleted one."}
        assert [one["name"] for one in page.wait("lists")["runs"]] == ["two"]
        page.send(do="delete", run=known["one"])
        assert page.sentence() == "That run is no longer there."
    assert [one.name for one in base.iterdir()] == ["two"]


def test_a_page_names_no_path(studio: Served, base: Path) -> None:
    with studio.page() as page:
        known = identities(page)
        for run in ("one", "../secret.txt", str(base / "one"), "0" * 15 + "/", "", None, ["one"], "0" * 16):
            page.send(do="delete", run=run)
            page.sentence()
        page.send(do="delete", run=known["one"], path=str(base / "two"))
        assert "path" in page.sentence()
    assert sorted(one.name for one in base.iterdir()) == ["one", "two"]


def test_a_page_without_the_token_deletes_nothing(base: Path) -> None:
    with serving(base, "a-token-that-is-long-enough") as studio:
        with pytest.raises(Exception, match="403"), studio.page() as page:
            page.send(do="delete", run="0" * 16)
        cookie = f"distinguo-{studio.port}={studio.token}"
        with studio.page(additional_headers={"Cookie": cookie}) as page:
            page.send(do="delete", run=identities(page)["two"])
            page.wait("deleted")
    assert [one.name for one in base.iterdir()] == ["one"]


@pytest.mark.parametrize("kind", ["file", "folder", "link", "link to a known name"])
def test_a_folder_with_anything_else_stays_whole(base: Path, kind: str) -> None:
    other = base / "one" / ("report.html" if kind == "link to a known name" else "notes.txt")
    if kind == "file":
        other.write_text("mine")
    elif kind == "folder":
        other.mkdir()
    else:
        other.symlink_to(base.parent / "secret.txt")
    before = sorted(one.name for one in (base / "one").iterdir())
    with pytest.raises(
        DistinguoError, match=f"one also holds '{other.name}', which is not a file of a run; nothing"
    ):
        folder.delete(base / "one")
    assert sorted(one.name for one in (base / "one").iterdir()) == before
    assert (base.parent / "secret.txt").exists()


def test_a_folder_that_became_a_link_is_not_followed(base: Path) -> None:
    library = Library(base)
    known = {one["name"]: one["id"] for one in library.entries()}
    shutil.move(base / "one", base.parent / "elsewhere")
    (base / "one").symlink_to(base.parent / "elsewhere")
    with pytest.raises(DistinguoError, match="no longer there"):
        library.delete(known["one"])
    assert (base.parent / "elsewhere" / "settings.toml").exists()


def test_a_folder_in_use_stays(base: Path) -> None:
    library = Library(base)
    known = {one["name"]: one["id"] for one in library.entries()}
    with folder.alone_in(base / "one"), pytest.raises(DistinguoError, match="one"):
        library.delete(known["one"])
    assert (base / "one" / "settings.toml").exists()


def test_the_folder_of_the_studio_itself_stays(base: Path) -> None:
    library = Library(base / "one")
    [entry] = library.entries()
    with pytest.raises(DistinguoError, match="The studio shows this folder itself"):
        library.delete(entry["id"])
    assert (base / "one" / "settings.toml").exists()


def test_what_commands_add_is_deleted_too(base: Path) -> None:
    for name in ("report.html", "proof.png", "partition.png", "certificate.json", "controller.h"):
        (base / "one" / name).write_text("")
    folder.delete(base / "one")
    assert [one.name for one in base.iterdir()] == ["two"]
