"""The representation file: what goes in comes out, and nothing else gets in."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.errors import DistinguoError
from distinguo.representations import file
from distinguo.representations.boxes import Box, Boxes, leaf_boxes, tree
from distinguo.representations.file import Representation, dumps, load, loads
from distinguo.representations.partition import region
from distinguo.representations.voronoi import Voronoi, voronoi

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
SCHEMA = ROOT / "docs" / "representation.schema.json"

finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.lists(st.text(max_size=5), min_size=1, max_size=3)
provenances = st.dictionaries(
    st.text(max_size=5), st.one_of(st.none(), st.booleans(), st.integers(), finite, st.text(max_size=5))
)


@st.composite
def voronois(draw: st.DrawFn) -> Representation:
    """Draw a partition with simple and compound regions."""
    dimensions = tuple(draw(names))
    width = len(dimensions)
    points = st.lists(finite, min_size=width, max_size=width).map(tuple)
    rows = draw(st.lists(points, min_size=1, max_size=8, unique=True))
    widths = st.floats(1e-300, 1e300)
    primary = list(range(len(rows)))
    for p in range(1, len(rows)):
        q = draw(st.integers(0, p))
        primary[p] = q if primary[q] == q else p
    partition = voronoi(rows, draw(st.lists(widths, min_size=width, max_size=width)), primary)
    return Representation(partition, dimensions, draw(provenances))


@st.composite
def boxes(draw: st.DrawFn) -> Representation:
    """Draw a tree of boxes of any extent."""
    dimensions = tuple(draw(names))
    width = len(dimensions)

    def cut(box: Box, depth: int) -> tuple[int, float] | None:
        if depth == 4 or not draw(st.booleans()):
            return None
        return draw(st.integers(0, width - 1)), draw(finite)

    corners = [sorted(draw(st.lists(finite, min_size=2, max_size=2, unique=True))) for _ in range(width)]
    low, high = zip(*corners, strict=True)
    return Representation(tree(low, high, cut), dimensions, draw(provenances))


representations = st.one_of(voronois(), boxes())


def bits(partition: Voronoi | Boxes) -> list[tuple[str, tuple[int, ...], bytes]]:
    return [(str(array.dtype), array.shape, array.tobytes()) for array in partition]


@given(representations)
def test_a_round_trip_keeps_every_bit(representation: Representation) -> None:
    back = loads(dumps(representation).encode())
    assert type(back.partition) is type(representation.partition)
    assert bits(back.partition) == bits(representation.partition)
    assert back.dimensions == representation.dimensions
    assert back.provenance == representation.provenance
    assert dumps(back) == dumps(representation)


@given(representations, st.data())
def test_a_round_trip_keeps_the_region_of_every_state(
    representation: Representation, data: st.DataObject
) -> None:
    back = loads(dumps(representation))
    width = len(representation.dimensions)
    with np.errstate(all="ignore"):
        for s in data.draw(st.lists(st.tuples(*[st.floats(allow_nan=False)] * width), max_size=5)):
            assert region(back.partition, s) == region(representation.partition, s)


def test_the_file_is_readable_by_hand() -> None:
    text = dumps(Representation(voronoi([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]), ("x", "v")))
    assert "\n    [1.0, 2.0],\n    [3.0, 4.0]\n" in text


def test_the_published_schema_is_current() -> None:
    """On failure write it anew: json.dumps(schema(), indent=2) and a newline."""
    assert SCHEMA.read_text() == json.dumps(file.schema(), indent=2) + "\n"


# Files of each version must open for ever: never edit these, add the next version beside them.


def test_the_golden_voronoi_file_opens() -> None:
    opened = load(GOLDEN / "representation-v1-voronoi.json")
    assert (opened.dimensions, opened.prototypes, opened.regions) == (("x", "v"), 6, 4)
    assert opened.provenance == {"task": "puck", "seed": 7, "solved": True, "note": "β = 0.3"}
    assert opened.partition.scale.tolist() == [4.8, 11.0]
    assert opened.partition.prototypes[3:].tolist() == [
        [0.0, 5e-324],
        [0.1, -1.7976931348623157e308],
        [1.0, -2.0],
    ]
    assert math.copysign(1.0, opened.partition.prototypes[3, 0]) == -1.0
    states = [(0.0, 0.0), (0.3, 0.6), (-2.0, -1.0), (1.0, -2.1), (2.0, 5.0)]
    with np.errstate(over="ignore"):
        assert [region(opened.partition, s) for s in states] == [0, 1, 2, 2, 1]


def test_the_golden_boxes_file_opens() -> None:
    opened = load(GOLDEN / "representation-v1-boxes.json")
    assert (opened.dimensions, opened.regions, opened.provenance) == (("x", "v"), 3, {})
    states = [(0.0, 9.0), (0.1, -0.6), (0.1, -0.5), (math.inf, -math.inf)]
    assert [region(opened.partition, s) for s in states] == [0, 2, 1, 2]
    assert leaf_boxes(opened.partition)[0] == ((-2.4, -5.5), (0.1, 5.5))


def test_the_golden_file_of_version_2_opens() -> None:
    opened = load(GOLDEN / "representation-v2-categories.json")
    assert (opened.prototypes, opened.regions) == (5, 3)
    assert opened.partition.regions.tolist() == [1, 0, 1, 2, 0]
    assert opened.partition.primaries.tolist() == [1, 2, 3]
    assert [region(opened.partition, (x,)) for x in (36.0, 0.0, 25.0, 35.0, 7.0, 999.0)] == [1, 0, 1, 2, 0, 1]


def test_the_golden_file_of_version_3_opens() -> None:
    opened = load(GOLDEN / "representation-v3-voronoi.json")
    assert (opened.prototypes, opened.regions) == (4, 3)
    assert opened.partition.primaries.tolist() == [3, 0, 1]  # whatever the file says
    assert [region(opened.partition, (x,)) for x in (0.0, 1.0, 2.0, 3.0)] == [1, 2, 0, 0]


@given(voronois())
def test_old_files_have_the_same_numbers(representation: Representation) -> None:
    made = representation.partition
    content = json.loads(dumps(representation))
    primary = made.primaries[made.regions].tolist()
    old = {key: value for key, value in content.items() if key not in ("regions", "primaries")}
    again = loads(json.dumps({**old, "version": 1, "primary": primary}))
    assert bits(again.partition) == bits(made)


# Bad files.

VERSIONS = {"voronoi": 1, "boxes": 1, "categories": 2, "numbered": 3}
GOOD = {
    name: (
        GOLDEN / f"representation-v{version}-{'voronoi' if name == 'numbered' else name}.json"
    ).read_bytes()
    for name, version in VERSIONS.items()
}


def sentence(text: str | bytes) -> str:
    """Return the one sentence that a file is refused with."""
    with pytest.raises(DistinguoError) as caught:
        loads(text, "maze.json")
    assert_one_sentence(str(caught.value))
    return str(caught.value)


def assert_one_sentence(message: str) -> None:
    assert message.startswith("maze.json ")
    assert message.endswith(".")
    assert message.isprintable()
    assert len(message) < 1000


def changed(name: str, **changes: Any) -> str:
    return json.dumps(json.loads(GOOD[name]) | changes)


@pytest.mark.parametrize("name", GOOD)
@given(data=st.data())
def test_a_file_cut_off_at_any_byte_is_refused(name: str, data: st.DataObject) -> None:
    whole = GOOD[name].rstrip()
    assert "damaged" in sentence(whole[: data.draw(st.integers(0, len(whole) - 1))])


def test_a_newer_version_asks_for_an_upgrade() -> None:
    message = sentence(changed("voronoi", version=5))
    assert "version 5" in message
    assert "upgrade" in message


@pytest.mark.parametrize("version", [0, -1, 1.5, "1", None, [1]])
def test_a_version_that_never_was_is_refused(version: Any) -> None:
    sentence(changed("voronoi", version=version))


@pytest.mark.parametrize(
    "content", ["{}", "[]", "3", "null", '"x"', '{"format": "mp3"}', "[" * 50 + "]" * 50]
)
def test_another_format_is_refused(content: str) -> None:
    assert "format" in sentence(content)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", '"0.5"', "true", "null", "[]"])
@pytest.mark.parametrize("place", ["0.62]", "4.8,", "-1.7976931348623157e+308]"])
def test_what_is_not_a_finite_number_is_refused(place: str, number: str) -> None:
    text = GOOD["voronoi"].replace(place.encode(), number.encode() + place[-1].encode(), 1)
    assert "not a valid representation: " in sentence(text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_json_does_not_know_is_refused_anywhere(number: str) -> None:
    """It would be written again, and other readers would stumble over it."""
    text = GOOD["voronoi"].replace(b'"seed": 7', f'"seed": {number}'.encode())
    assert "provenance" in sentence(text)


def test_a_number_beyond_all_bounds_is_refused() -> None:
    for digits in ("9" * 400, "9" * 5000):
        sentence(GOOD["voronoi"].replace(b"0.268", digits.encode(), 1))


BAD_VORONOI = {
    "no prototypes": {"prototypes": [], "primary": []},
    "duplicate prototypes": {"prototypes": [[0, 1]] * 6},
    "duplicates up to the sign of zero": {
        "prototypes": [[0, -0.0], [0, 0.0], *[[n, n] for n in range(1, 5)]]
    },
    "too many coordinates": {"prototypes": [[n, n, n] for n in range(6)]},
    "rows of several lengths": {"prototypes": [[0, 1], [2], [3, 4], [5, 6], [7, 8], [9, 9]]},
    "too few primaries": {"primary": [0, 0]},
    "a primary that is none": {"primary": [0, 1, 2, 5, 4, 2]},
    "a primary that does not exist": {"primary": [0, 1, 2, 6, 4, 2]},
    "a negative primary": {"primary": [0, 1, 2, -1, 4, 2]},
    "a broken primary": {"primary": [0, 1, 2, 0.5, 4, 2]},
    "a scale of zero": {"scale": [0.0, 1.0]},
    "a negative scale": {"scale": [-1.0, 1.0]},
    "a scale whose inverse overflows": {"scale": [5e-324, 1.0]},
    "too few scales": {"scale": [1.0]},
    "no dimensions": {"dimensions": [], "scale": [], "prototypes": [[]], "primary": [0]},
    "dimensions that are no names": {"dimensions": [1, 2]},
    "an unknown key": {"color": "red"},
    "an unknown key that is long": {"x" * 10_000: 1},
    "an unknown key of several lines": {"a\nb": 1},
    "an unknown kind": {"kind": "hexagons"},
    "provenance that is no table": {"provenance": 3},
    "half a character": {"provenance": {"note": "\ud800"}},
}


@pytest.mark.parametrize("problem", BAD_VORONOI)
def test_a_bad_voronoi_file_is_refused(problem: str) -> None:
    sentence(changed("voronoi", **BAD_VORONOI[problem]))


BAD_NUMBERS = {
    "too few regions": {"regions": [1, 2, 0]},
    "a region without a primary": {"regions": [1, 2, 3, 0]},
    "a primary of another region": {"primaries": [2, 0, 0]},
    "a primary that does not exist": {"primaries": [4, 0, 1]},
    "a region that nothing belongs to": {"primaries": [3, 0, 1, 2]},
    "a negative region": {"regions": [1, 2, -1, 0]},
    "a broken region": {"regions": [1, 2, 0.5, 0]},
    "no regions": {"regions": [], "primaries": []},
    "the words of another version": {"primary": [0, 1, 3, 3]},
    "a version that knew no numbers": {"version": 2},
    "a version that knew no numbers, and both": {"version": 2, "primary": [0, 1, 3, 3]},
}


@pytest.mark.parametrize("problem", BAD_NUMBERS)
def test_regions_that_are_not_numbered_without_gaps_are_refused(problem: str) -> None:
    sentence(changed("numbered", **BAD_NUMBERS[problem]))


def node(axis: int = 0, cut: float = 0.0, below: int = 1, above: int = 2) -> dict[str, float]:
    return {"axis": axis, "cut": cut, "below": below, "above": above}


def leaf(number: int) -> dict[str, int]:
    return {"region": number}


BAD_NODES = {
    "none": [],
    "its own child": [node(below=0), leaf(0), leaf(1)],
    "a cycle": [node(), node(below=0, above=2), leaf(0)],
    "a child that does not exist": [node(above=3), leaf(0), leaf(1)],
    "a negative child": [node(above=-1), leaf(0), leaf(1)],
    "a child of two": [node(above=1), leaf(0)],
    "an orphan": [leaf(0), leaf(1)],
    "an orphaned pair": [leaf(0), node(below=2, above=3), leaf(1), leaf(2)],
    "an axis that does not exist": [node(axis=2), leaf(0), leaf(1)],
    "a negative axis": [node(axis=-1), leaf(0), leaf(1)],
    "a region twice": [node(), leaf(0), leaf(0)],
    "a region left out": [node(), leaf(0), leaf(2)],
    "half a cut": [{"axis": 0, "cut": 0.0}],
    "a cut and a leaf": [{**node(), "region": 0}, leaf(0), leaf(1)],
    "a region that is no number": [{"region": "0"}],
}


@pytest.mark.parametrize("problem", BAD_NODES)
def test_bad_nodes_are_refused(problem: str) -> None:
    sentence(changed("boxes", nodes=BAD_NODES[problem]))


@pytest.mark.parametrize("extent", [{"low": [0.0]}, {"high": [1.0, 1.0, 1.0]}, {"low": [2.4, -5.5]}])
def test_a_bad_extent_is_refused(extent: Any) -> None:
    sentence(changed("boxes", **extent))


@pytest.mark.parametrize("depth", [900, 10_000, 1_000_000])
def test_deep_nesting_is_refused(depth: int) -> None:
    nested = "[" * depth + "]" * depth
    sentence(GOOD["voronoi"].replace(b"4.8", nested.encode()))


def test_a_file_that_is_too_large_is_not_even_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "maze.json"
    path.write_bytes(GOOD["voronoi"])
    monkeypatch.setattr(file, "LARGEST_FILE", path.stat().st_size)
    assert load(path).regions == 4
    monkeypatch.setattr(file, "LARGEST_FILE", path.stat().st_size - 1)
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("read"))
    with pytest.raises(DistinguoError, match="larger than"):
        load(path)


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", ".", "missing.json"])
def test_what_is_not_a_file_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("read"))
    with pytest.raises(DistinguoError, match=name):
        load(tmp_path / name)


# Fuzzing: whatever the bytes, a consistent representation or one sentence.


def assert_loads_or_refuses(text: bytes) -> None:
    try:
        opened = loads(text, "maze.json")
    except DistinguoError as error:
        assert_one_sentence(str(error))
    else:
        assert_consistent(opened)


def assert_consistent(opened: Representation) -> None:
    again = loads(dumps(opened).encode())
    assert bits(again.partition) == bits(opened.partition)
    assert 1 <= opened.regions <= opened.prototypes
    width = len(opened.dimensions)
    with np.errstate(all="ignore"):
        reached = {region(opened.partition, (x,) * width) for x in (-math.inf, -1.0, 0.0, 0.1, 1e300)}
    if isinstance(opened.partition, Voronoi):
        assert np.isfinite(opened.partition.weight).all()
    assert reached <= set(range(opened.regions))


@settings(max_examples=400)
@given(
    name=st.sampled_from(sorted(GOOD)),
    changes=st.lists(st.tuples(st.integers(0, 10**4), st.binary(max_size=3)), min_size=1, max_size=4),
)
def test_mutated_bytes_load_or_are_refused(name: str, changes: list[tuple[int, bytes]]) -> None:
    text = bytearray(GOOD[name])
    for place, new in changes:
        place %= len(text)
        text[place : place + len(new) or place + 1] = new
    assert_loads_or_refuses(bytes(text))


odd_numbers = st.one_of(
    st.integers(), st.floats(), st.sampled_from([0, -0.0, 1, 2, 5, 10**400, 1e-310, 2**63, 1e308])
)
odd = st.recursive(
    st.one_of(st.none(), st.booleans(), odd_numbers, st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(content: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the place of every value within a value."""
    inner = content.items() if isinstance(content, dict) else enumerate(content)
    deeper = [(*at, key) for key, _ in inner]
    for key, value in list(content.items() if isinstance(content, dict) else enumerate(content)):
        if isinstance(value, dict | list):
            deeper += places(value, (*at, key))
    return deeper


@settings(max_examples=400)
@given(name=st.sampled_from(sorted(GOOD)), value=odd, data=st.data())
def test_mutated_values_load_or_are_refused(name: str, value: Any, data: st.DataObject) -> None:
    content = json.loads(GOOD[name])
    *way, last = data.draw(st.sampled_from(places(content)))
    inner = content
    for key in way:
        inner = inner[key]
    inner[last] = value
    assert_loads_or_refuses(json.dumps(content).encode())


@settings(max_examples=200)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode)))
def test_noise_is_refused(text: bytes) -> None:
    sentence(text)
