"""Files of a user in a place where a command would write: they stay, and the command says so before its work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import distinguo as dg
from distinguo.cli import app
from distinguo.errors import DistinguoError
from distinguo_lab.neighbours.study import compare_neighbours


def verified(out: Path) -> Any:
    found = CliRunner().invoke(app, ["verify", "diagonal", "--out", str(out)])
    raise found.exception or AssertionError(found.output)


COMMANDS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "verify": ("certificate.json", lambda out: dg.verify("diagonal", out=out)),
    "verify, picture": ("proof.png", verified),
    "reproduce": ("report.html", lambda out: dg.reproduce(out, quick=True)),
    "neighbours": ("neighbours.md", lambda out: compare_neighbours(out, quick=True)),
    "report": ("report.html", lambda out: dg.report(["one", "other"])),
    "learn": ("notes.txt", lambda out: dg.learn("puck", out=out)),
    "compare": ("notes.txt", lambda out: dg.compare(["diagonal"], out=out)),
}


SLOW = ("verify", "verify, picture")  #: they learn the values first


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.second_stage] if name in SLOW else []) for name in COMMANDS],
)
def test_a_file_of_a_user_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    file, command = COMMANDS[name]
    (tmp_path / file).write_text("precious")
    with pytest.raises(DistinguoError) as refused:
        command(tmp_path)
    assert "exists" in str(refused.value)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {file: "precious"}
