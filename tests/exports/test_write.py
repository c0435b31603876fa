"""Exporting a run folder: what is written, what is refused."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import distinguo
from distinguo.cli.seeing import export_command as command
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.exports.graph import certain, to_graph, touching_prototypes
from distinguo.exports.tables import LabelledController
from distinguo.exports.write import FORMATS, export, render
from distinguo.reading.arrays import read_arrays
from distinguo.representations import file as representation_file
from distinguo.representations.declare import FunctionPartition, partition
from distinguo.representations.partition import nearest
from distinguo.representations.voronoi import voronoi
from distinguo.writing import pack_arrays
from tests.exports.controllers import boxes_controller, categories_controller, voronoi_controller

IDENTIFIER = r'(?:[A-Za-z_]\w*|"(?:[^"\\\n]|\\.)*"|#\w+)'
ATTRIBUTES = rf"\[{IDENTIFIER}={IDENTIFIER}(?:, {IDENTIFIER}={IDENTIFIER})*\]"
STATEMENT = re.compile(
    rf"  ({IDENTIFIER})(?: (--|->) ({IDENTIFIER}))?(?: ({ATTRIBUTES}))?;", re.ASCII | re.DOTALL
)


def parse(dot: str) -> tuple[str, dict[str, str], list[tuple[str, str]]]:
    """Read the part of the DOT language that we write: the kind, the nodes and the edges."""
    head, *body = dot.splitlines()
    kind = re.fullmatch(rf"(graph|digraph) {IDENTIFIER} {{", head)
    assert kind is not None
    assert body.pop() == "}"
    nodes: dict[str, str] = {}
    edges: list[tuple[str, str]] = []
    for line in body:
        statement = STATEMENT.fullmatch(line)
        assert statement is not None, line
        first, operator, second, attributes = statement.groups()
        if operator is None:
            nodes[first] = attributes
        else:
            assert operator == ("--" if kind.group(1) == "graph" else "->")
            edges.append((first, second))
    nodes.pop("node")
    nodes.pop("graph", None)  # a word to the reader
    assert {n for edge in edges for n in edge} <= set(nodes)
    return kind.group(1), nodes, edges


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "puck"
    distinguo.learn("puck", seed=1, out=folder)
    return folder


#: Formats that can be written here, and the packages that some of them need.
NEEDED = {"onnx": ("onnx", "onnxruntime"), "fmu": ("pythonfmu",)}
WRITTEN = [to for to in FORMATS if all(map(find_spec, NEEDED.get(to, ())))]


@pytest.mark.parametrize("to", WRITTEN)
def test_every_format_is_written_once_and_again_only_by_force(run: Path, to: str, tmp_path: Path) -> None:
    path = export(run, to, out=tmp_path / "file")
    before = path.read_bytes()
    with pytest.raises(DistinguoError, match="exists already; choose another --out"):
        export(run, to, out=path)
    path.write_text("old")
    assert export(run, to, out=path, force=True).read_bytes() == before


def test_json_is_enough_to_act_as_the_run_does(run: Path, tmp_path: Path) -> None:
    content = json.loads(export(run, "json", out=tmp_path / "c.json").read_text())
    opened = distinguo.open_run(run)
    representation = representation_file.loads(json.dumps(content["representation"]))
    action = {row["region"]: content["actions"][row["action"]] for row in content["regions"]}
    assert len(action) == representation.regions
    for s in np.random.default_rng(0).uniform([-2.4, -5.5], [2.4, 5.5], (500, 2)).tolist():
        assert action[distinguo.region(representation.partition, tuple(s))] == opened.action(tuple(s))
    for row in content["regions"]:
        assert row["values"] == opened.q[row["region"]].tolist()


def test_npz_holds_the_arrays(run: Path, tmp_path: Path) -> None:
    arrays = read_arrays(export(run, "npz", out=tmp_path / "c.npz"))
    assert set(arrays) == {"prototypes", "regions", "primaries", "scale", "weight", "q", "actions"}
    np.testing.assert_array_equal(arrays["actions"], arrays["q"].argmax(axis=1))
    (tmp_path / "b.npz").write_bytes(render(boxes_controller(np.random.default_rng(0), 3, 2), "npz"))  # type: ignore[arg-type]
    assert {"axis", "cut", "below", "above", "q", "actions"} <= set(read_arrays(tmp_path / "b.npz"))


def test_graph_of_a_run_has_its_regions(run: Path, tmp_path: Path) -> None:
    kind, nodes, edges = parse(export(run, "dot", out=tmp_path / "c.dot").read_text())
    assert kind == "graph"
    assert len(nodes) == distinguo.open_run(run).representation.regions
    assert edges


def test_neighbours_of_a_lattice_are_those_beside_each_other() -> None:
    places = [[x, y] for x in range(4) for y in range(3)]
    lattice = voronoi(places, [1.0, 1.0])
    expected = {
        (p, o)
        for p, (x, y) in enumerate(places)
        for o, (z, w) in enumerate(places)
        if p < o and abs(x - z) + abs(y - w) == 1  # diagonal ones meet in a corner only
    }
    assert touching_prototypes(lattice, (-1.0, -1.0), (4.0, 3.0)) == expected
    assert touching_prototypes(lattice, (-np.inf, -1.0), (np.inf, np.inf)) == expected
    assert certain(np.array(places)) == expected


def test_points_on_one_circle_are_neighbours_of_those_beside_them() -> None:
    """Of four points on a circle around nobody, those across the middle meet in a point at most."""
    places = [[0.0, -2.0], [0.0, 0.0], [-0.5, 1.0], [-0.5, -3.0]]
    four = voronoi(places, [4.8, 11.0])
    assert {(0, 1), (1, 2), (0, 3)} <= touching_prototypes(four, (-2.4, -5.5), (2.4, 5.5))
    angles = np.arange(12) * np.pi / 6
    ring = voronoi(np.stack([np.cos(angles), np.sin(angles)], axis=1), [1.0, 1.0])
    assert {(n, n + 1) for n in range(11)} | {(0, 11)} <= touching_prototypes(ring, (), ())


def test_neighbours_in_space_are_certain() -> None:
    """The middle between two of them belongs to one, and a step to either side to each."""
    partition = voronoi_controller(np.random.default_rng(4), 30, 4).controller.partition
    pairs = touching_prototypes(partition, (), ())
    assert len(pairs) >= 29
    for p, o in pairs:
        here, there = partition.prototypes[p], partition.prototypes[o]
        for share, owner in ((0.499, p), (0.501, o)):
            s = tuple((here + share * (there - here)).tolist())
            assert nearest(partition, s) == owner


def test_graph_of_boxes_is_a_tree_and_of_space_says_what_it_knows() -> None:
    rng = np.random.default_rng(1)
    boxes = boxes_controller(rng, 6, 2)
    kind, nodes, edges = parse(to_graph(boxes))
    assert kind == "digraph"
    assert len(edges) == len(nodes) - 1
    space = to_graph(voronoi_controller(rng, 9, 3))
    kind, nodes, edges = parse(space)
    assert kind == "graph"
    assert len(edges) >= len(nodes) - 1
    assert "others may touch elsewhere" in space
    _, nodes, edges = parse(to_graph(voronoi_controller(rng, 1, 2)))
    assert (len(nodes), edges) == (1, [])


def test_labels_have_no_neighbours_and_the_graph_says_so() -> None:
    controller = categories_controller(np.random.default_rng(1), 12, 2)
    dot = to_graph(controller)
    kind, nodes, edges = parse(dot)
    assert (kind, edges) == ("graph", [])
    assert len(nodes) == controller.representation.regions
    assert "Not joined" in dot


def test_arrays_and_json_of_labels_are_enough_to_act(tmp_path: Path) -> None:
    controller = categories_controller(np.random.default_rng(1), 12, 2)
    (tmp_path / "c.npz").write_bytes(render(controller, "npz"))  # type: ignore[arg-type]
    arrays = read_arrays(tmp_path / "c.npz")
    assert set(arrays) == {"prototypes", "regions", "primaries", "q", "actions"}
    content = json.loads(str(render(controller, "json")))
    written = content["representation"]
    actions = {row["region"]: row["action"] for row in content["regions"]}
    for s in np.random.default_rng(0).integers(-4, 5, (200, 2)).astype(float):
        action = controller.controller.action(tuple(s.tolist()))
        p = int((arrays["prototypes"] != s).sum(axis=1).argmin())
        assert arrays["actions"][arrays["regions"][p]] == action
        assert actions[written["regions"][p]] == action
        assert written["prototypes"][p] == arrays["prototypes"][p].tolist()


def test_hostile_names_stay_inside_their_quotes() -> None:
    boxes = boxes_controller(np.random.default_rng(1), 3, 2)
    words = ('"];}\\', "a\n\x00b")
    renamed = boxes._replace(actions=words, dimensions=words)
    parse(to_graph(renamed, '"\\'))
    json.loads(str(render(renamed, "json")))


@pytest.fixture(scope="module")
def proven(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the run with a certificate; few cells will do."""
    folder = tmp_path_factory.mktemp("runs") / "proven"
    shutil.copytree(run, folder)
    assert distinguo.verify(folder, cells=40_000).path == folder / "certificate.json"
    return folder


def test_a_certificate_beside_the_run_is_cited(proven: Path, run: Path, tmp_path: Path) -> None:
    header = export(proven, "c", out=tmp_path / "c.h", name="puck").read_text()
    document = json.loads(export(proven, "json", out=tmp_path / "c.json").read_text())
    digest = hashlib.sha256((proven / "certificate.json").read_bytes()).hexdigest()
    assert digest in header
    assert "cells of the grid" in header
    assert document["certificate"]["sha256"] == digest
    assert digest not in export(run, "c", out=tmp_path / "d.h").read_text()


def forged(certificate: bytes, *changes: tuple[bytes, bytes]) -> bytes:
    """Return a certificate with other words and a digest that fits them."""
    for old, new in changes:
        assert old in certificate
        certificate = certificate.replace(old, new, 1)
    body = certificate.partition(b'"claim":\n')[2][:-2]
    digest = hashlib.sha256(body).hexdigest().encode()
    return re.sub(rb'"sha256": "[0-9a-f]{64}"', b'"sha256": "' + digest + b'"', certificate)


DOUBTFUL = {
    "damaged": (lambda data: data.replace(b"puck", b"pukc"), "was damaged or changed"),
    "cut off": (lambda data: data[:-100], "damaged"),
    "no certificate": (lambda data: b"{}", "not a distinguo certificate"),
    "empty": (lambda data: b"", "damaged"),
    "of another task": (
        lambda data: forged(data, (b'"mass": 1.0', b'"mass": 1.5')),
        "another task|positive and in",
    ),
    "false": (
        lambda data: forged(data, (b'"disturbance": [0.0, 0.0]', b'"disturbance": [0.0, 3.0]')),
        "is wrong",
    ),
}


@pytest.mark.parametrize("doubt", DOUBTFUL)
def test_a_certificate_in_doubt_is_not_cited_and_the_reason_is_said(
    proven: Path, doubt: str, tmp_path: Path
) -> None:
    change, why = DOUBTFUL[doubt]
    shutil.copytree(proven, tmp_path / "run")
    (tmp_path / "run" / "certificate.json").write_bytes(change((proven / "certificate.json").read_bytes()))
    header = export(tmp_path / "run", "c").read_text()
    assert "SHA-256" not in header
    assert re.search(f"Certificate: certificate.json is not cited: .*({why})", header)
    assert "certificate" not in json.loads(export(tmp_path / "run", "json").read_text())


def test_the_certificate_of_another_controller_is_not_cited(proven: Path, tmp_path: Path) -> None:
    distinguo.learn("puck", seed=2, out=tmp_path / "other")
    shutil.copy(proven / "certificate.json", tmp_path / "other" / "certificate.json")
    header = export(tmp_path / "other", "c").read_text()
    assert "not cited: the certificate belongs to another controller" in header
    # one that is true is cited all the same
    assert distinguo.verify(tmp_path / "other", cells=40_000, disturbance=1e-4).path is not None
    header = export(tmp_path / "other", "c", force=True).read_text()
    assert "Certificate: certificate-disturbance-0.0001.json, SHA-256" in header


def test_bad_input_gets_one_sentence(run: Path, tmp_path: Path) -> None:
    with pytest.raises(DistinguoError, match="did you mean 'json'"):
        export(run, "jsn")
    with pytest.raises(DistinguoError, match="is not a run folder"):
        export(tmp_path, "c")
    with pytest.raises(DistinguoError, match="There is no folder"):
        export(run, "c", out=tmp_path / "no" / "c.h")
    with pytest.raises(DistinguoError, match="is a folder"):
        export(run, "c", out=tmp_path)
    values = run / "values.npz"
    content = values.read_bytes()
    try:
        values.unlink()
        with pytest.raises(DistinguoError, match=r"has no values\.npz"):
            export(run, "c", out=tmp_path / "c.h")
        arrays = distinguo.open_run  # only a folder with values opens
        values.write_bytes(content)
        q = arrays(run).q.copy()
        q[0, 0] = np.nan
        values.write_bytes(pack_arrays({"q": q, "updates": arrays(run).updates}))
        with pytest.raises(DistinguoError, match="a value is not finite"):
            export(run, "c", out=tmp_path / "c.h")
    finally:
        values.write_bytes(content)
    assert list(tmp_path.iterdir()) == []


def test_command_answers_in_json(run: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(command)
    target = tmp_path / "puck.h"
    done = CliRunner().invoke(app, [str(run), "--to", "c", "--out", str(target), "--name", "puck", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout.splitlines()[-1])["path"] == str(target)
    assert "puck_action" in target.read_text()


def test_a_run_is_exported_by_the_suffix_of_a_file(run: Path, tmp_path: Path) -> None:
    opened = distinguo.open_run(run)
    for to in WRITTEN:
        known = FORMATS[to]
        path = export(opened, tmp_path / known.file, force=to == "c-source")  # which has a header, too
        assert path == tmp_path / known.file
        other = export(run, to, out=tmp_path / f"other-{to}").read_bytes()
        assert path.read_bytes() == other.replace(f"other-{to}.h".encode(), b"controller.h")
    in_memory = opened._replace(path=None)
    assert export(in_memory, str(tmp_path / "memory.h")).exists()
    with pytest.raises(DistinguoError, match=r"no folder to write into; give a file, such as controller\.h"):
        export(in_memory, "c")
    with pytest.raises(DistinguoError, match=r"Unknown format 'mine\.hh'; did you mean '\.h'"):
        export(run, "mine.hh")


def test_the_exported_action_is_the_first_of_those_that_the_learner_ties(run: Path, tmp_path: Path) -> None:
    opened = distinguo.open_run(run)
    learner = opened.configuration.learner._replace(delta=1e9)
    tied = opened._replace(configuration=opened.configuration._replace(learner=learner), path=None)
    arrays = read_arrays(export(tied, tmp_path / "c.npz"))
    assert set(arrays["actions"].tolist()) == {0}
    for s in [(0.5, 1.0), (-0.5, -1.0)]:
        assert tied.action(s) == opened.configuration.spec.actions[0]


@partition
class Halves(NamedTuple):
    """A partition of one's own that says how it looks in C."""

    where: float = 0.5

    def region(self, s):
        return int(s[0] > self.where)

    def regions(self):
        return 2

    def in_c(self, name):
        return [], f"    return s[0] > {self.where!r};"


def test_a_partition_of_ones_own_is_written_as_far_as_it_says_how() -> None:
    named = LabelledController(Controller(Halves(), np.eye(2)), ("x",), ("a", "b"))
    assert "return s[0] > 0.5;" in str(render(named, "c"))
    kind, nodes, edges = parse(str(render(named, "dot")))
    assert (kind, len(nodes), edges) == ("graph", 2, [])
    for to, words in (("json", "cannot be written to a file"), ("npz", "cannot be written as arrays")):
        with pytest.raises(DistinguoError, match=f"A partition of the class Halves {words}"):
            render(named, to)
    for to in ("python", "javascript", "markdown", "onnx", "fmu"):
        with pytest.raises(
            DistinguoError, match=f"cannot be written as {to}; take c, for which a partition may"
        ):
            render(named, to)
    other = named._replace(controller=Controller(FunctionPartition(lambda s: 0, 1), np.zeros((1, 2))))
    with pytest.raises(DistinguoError, match=r"cannot be written in C; give it a method in_c\(self, name\)"):
        render(other, "c")
