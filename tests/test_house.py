"""House rules that a machine can check: core and lab, the map, learners in their rooms, the paper on the page."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

from distinguo.learners.catalog import learner_names
from distinguo.learners.learner import learner_named

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src"
CORE = SOURCES / "distinguo"
MODULES = [path for path in sorted(SOURCES.rglob("*.py")) if path.stem not in ("__init__", "__main__")]
KINDS = "Voronoi|Boxes|Categories|BoxTable|FunctionPartition"


def functions(path: Path) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]


def rooms_of_the_map() -> dict[str, set[str]]:
    """Return the modules of every room in ARCHITECTURE.md; a row may list rooms within its room as well."""
    text, found = (ROOT / "ARCHITECTURE.md").read_text(), {}
    for room, cell in re.findall(r"^\| `([\w/]+)` \| (.*?) \|", text, re.MULTILINE):
        for part in cell.split("; "):
            name, _, modules = part.rpartition(": ")
            found[f"{room}/{name}" if name else room] = set(modules.split())
    return found


def test_the_map_has_every_module_and_nothing_else() -> None:
    there = defaultdict(set)
    for path in MODULES:
        there[path.parent.relative_to(SOURCES).as_posix().removeprefix("distinguo/")].add(path.stem)
    assert rooms_of_the_map() == there


def test_the_map_has_the_layers_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    drawn = " ".join((ROOT / "ARCHITECTURE.md").read_text().split())
    assert " ► ".join(contracts[0]["layers"]) in drawn


def test_every_room_says_what_it_is_for() -> None:
    for path in SOURCES.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_the_core_never_names_the_lab() -> None:
    """It is found by entry points, as any other package is; ``lint-imports`` has the contract about imports."""
    for path in CORE.rglob("*.py"):
        assert "distinguo_lab" not in path.read_text(), path


def test_a_new_learner_is_a_new_room_and_nothing_else() -> None:
    """A room is named as its learner, which carries its words; no other room lists learners by hand."""
    for path in sorted((CORE / "learners").glob("*/learner.py")):
        learner = learner_named(path.parent.name)
        assert learner.about, f"{learner.name} says nothing about itself"
    names = "|".join(learner_names())
    for path in MODULES:
        if "learners" not in path.parts and path.parent.name not in ("neighbours", "paper"):
            named = set(re.findall(rf"[\"']({names})[\"']", path.read_text())) - {"model", "table", "teacher"}
            assert len(named) <= 2, f"{path} names the learners {named}"


def test_the_figures_of_the_paper_are_in_at_most_three_files() -> None:
    """Functions that are a figure say so in the first words of their docstrings."""
    homes: dict[str, set[str]] = defaultdict(set)
    for path in (CORE / "learners" / "economy").glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                figure = re.match(r"Figure (\d)\b", ast.get_docstring(node) or "")
                if figure:
                    homes[figure[1]].add(path.name)
    assert sorted(homes) == list("123456")
    files = set.union(*homes.values())
    assert len(files) <= 3, sorted(files)


def test_few_functions_have_many_parameters() -> None:
    """Only commands, whose parameters are the options of the command line, and ``learn`` itself."""
    many = []
    for path in MODULES:
        for function in functions(path):
            arguments = function.args
            count = len(arguments.posonlyargs + arguments.args + arguments.kwonlyargs)
            many += [f"{path.stem}.{function.name}"] if count >= 9 else []
    assert len(many) <= 5, many


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


#: Modules that may open files themselves, and why.
OPENERS = {
    "distinguo/reading/files.py": "it is what checks kinds and sizes",
    "distinguo/reading/arrays.py": "the same, for arrays and zips",
    "distinguo/writing.py": "locks, and its own journal, which must be a plain file",
    "distinguo/engines/results.py": "the results that it appends to, line by line",
    "distinguo/distillation/ledger.py": "the record that it appends to, which must be a plain file of limited size",
    "distinguo/registry.py": "the source of an installed package",
    "distinguo/kernel_cache.py": "source files that were imported",
    "distinguo/views/studio/server.py": "files of this package",
    "distinguo_lab/bench/reference.py": "files of this package",
}
OPENING = {
    "open",
    "read_text",
    "read_bytes",
    "load",
    "ZipFile",
    "fromfile",
    "loadtxt",
    "genfromtxt",
    "memmap",
}
OF_MODULES = {"np", "numpy", "json", "tomllib", "zipfile", "os", "io", "tarfile", "pickle"}


def opens_a_file(node: ast.AST) -> bool:
    """Whether a call opens a file to read it, other than through reading/."""
    if not isinstance(node, ast.Call):
        return False
    words = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if any(re.fullmatch("[awx]b?", word) for word in words):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id == "open"
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in OPENING:
        return False
    owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
    if node.func.attr in ("read_text", "read_bytes", "open"):
        return owner not in ("webbrowser", "archive")
    return owner in OF_MODULES


def test_files_are_opened_by_the_room_for_reading_alone() -> None:
    """A pipe would be waited for, and a huge file read to its end, by anything else."""
    found = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if any(map(opens_a_file, ast.walk(ast.parse(path.read_text()))))
    }
    assert found == set(OPENERS)


def test_opening_a_file_is_noticed() -> None:
    for line in (
        "open(p)",
        "p.read_text()",
        "Path(p).read_bytes()",
        "np.load(p)",
        "zipfile.ZipFile(p)",
        "json.load(f)",
    ):
        assert any(map(opens_a_file, ast.walk(ast.parse(line)))), line
    for line in (
        "p.open('ab')",
        "zipfile.ZipFile(b, 'w')",
        "json.loads(t)",
        "read_text(p, 5)",
        "kind.load(p)",
    ):
        assert not any(map(opens_a_file, ast.walk(ast.parse(line)))), line
