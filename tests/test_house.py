"""House rules that a machine can check: the map is complete, rooms are not crowded, names mean one thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from distinguo.learners.catalog import learner_names

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src"
MODULES = [path for path in sorted(SOURCES.rglob("*.py")) if path.stem not in ("__init__", "__main__")]
KINDS = "Voronoi|Boxes|Categories|BoxTable|FunctionPartition"


def functions(path: Path) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]


def test_every_module_is_on_the_map() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rooms = dict(re.findall(r"^\| `([\w/.]+)` \| (.*?) \|", text, re.MULTILINE))
    for path in MODULES:
        room = path.parent.relative_to(SOURCES).as_posix().removeprefix("distinguo/")
        words = re.findall(r"\w+", rooms.get(room, ""))
        assert path.stem in words, f"{path.relative_to(SOURCES)} is not in ARCHITECTURE.md"


def test_every_room_says_what_it_is_for() -> None:
    for path in SOURCES.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_no_room_is_crowded_and_no_file_is_long() -> None:
    crowds: dict[Path, int] = defaultdict(int)
    for path in MODULES:
        crowds[path.parent] += 1
        assert len(path.read_text().splitlines()) <= 300, path
    assert max(crowds.values()) <= 12


def test_the_core_never_names_the_lab() -> None:
    """It is found by entry points, as any other package is (lint-imports has the contract about imports)."""
    for path in (SOURCES / "distinguo").rglob("*.py"):
        assert "distinguo_lab" not in path.read_text(), path


def test_no_list_of_learners_is_written_by_hand() -> None:
    """Help texts, completion and the list of settings ask the registry: a new learner is a new room, and no more."""
    names = "|".join(learner_names())
    for path in MODULES:
        if "learners" not in path.parts and path.parent.name not in ("neighbours", "paper"):
            named = set(re.findall(rf"[\"']({names})[\"']", path.read_text())) - {"model", "table"}
            assert len(named) <= 2, f"{path} names the learners {named}"


def test_few_functions_have_many_parameters() -> None:
    """Only commands, whose parameters are the options of the command line."""
    many = []
    for path in MODULES:
        for function in functions(path):
            arguments = function.args
            count = len(arguments.posonlyargs + arguments.args + arguments.kwonlyargs)
            many += [f"{path.stem}.{function.name}"] if count >= 9 else []
    assert len(many) <= 3, many


def test_public_names_mean_one_thing() -> None:
    homes: dict[str, set[str]] = defaultdict(set)
    for path in MODULES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(path.relative_to(SOURCES).as_posix())
    homonyms = {name: sorted(places) for name, places in homes.items() if len(places) > 1}
    assert len(homonyms) <= 8, homonyms


def test_kinds_of_partition_are_capabilities() -> None:
    """Outside of their room, hardly anybody asks of which kind a partition is."""
    pattern = re.compile(rf"isinstance\([^)]*\b({KINDS})\b|hasattr\([^)]*\"(primary|axis|prototypes)\"")
    asked = []
    for path in MODULES:
        if "representations" not in path.parts:
            lines = path.read_text().splitlines()
            asked += [f"{path.name}: {line.strip()}" for line in lines if pattern.search(line)]
    assert len(asked) <= 8, asked
