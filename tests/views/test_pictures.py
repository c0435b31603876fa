"""Pictures as values agree with the run they show; as pixels and as text they agree with the values."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import distinguo
from distinguo.errors import DistinguoError
from distinguo.representations.boxes import Box, tree
from distinguo.representations.file import Representation
from distinguo.representations.geometry import Outline
from distinguo.representations.partition import region
from distinguo.representations.voronoi import voronoi
from distinguo.runs.configuration import configure
from distinguo.runs.run import Run
from distinguo.views import text
from distinguo.views.pictures import PartitionPicture, cell_outlines, partition_picture
from distinguo.views.plots import draw_partition, save_figure
from distinguo.views.show import draw_run

FAST = {"stage.cap": 2000, "stage.hold": 2000}
SPEC_KEYS = configure("puck").spec
SCALE = SPEC_KEYS.scale


def a_run(prototypes: list[tuple[float, float]], primary: list[int] | None = None, seed: int = 0) -> Run:
    """Return a run with these prototypes and arbitrary values."""
    partition = voronoi(prototypes, SCALE, primary)
    rng = np.random.default_rng(seed)
    q = rng.choice([-1.0, -0.5, 0.0], (len(partition.primaries), 2))
    return Run(
        configure("puck"),
        Representation(partition, SPEC_KEYS.dimensions),
        q,
        np.ones(q.shape, dtype=np.int64),
        {"solved": True},
        [],
        [],
    )


@pytest.fixture(scope="module")
def learned() -> Run:
    return distinguo.learn("puck", seed=1, settings=FAST)


places = st.tuples(st.floats(-2.4, 2.4), st.floats(-5.5, 5.5))
on_a_lattice = st.tuples(st.integers(-4, 4).map(lambda n: n / 2), st.integers(-5, 5).map(float))
# Prototypes may also lie beyond the frame, on one line, or very near to each other.
beyond = st.tuples(st.floats(-10, 10), st.floats(-20, 20))
on_a_line = st.floats(-2.4, 2.4).map(lambda x: (x, 2 * x))
together = st.tuples(st.floats(0.1, 0.1001), st.floats(0.1, 0.1001))
points = st.lists(st.one_of(places, on_a_lattice, beyond, on_a_line, together), min_size=1, max_size=15)
prototypes = points.filter(lambda rows: apart(rows))


def apart(rows: list[tuple[float, float]]) -> bool:
    """Tell whether no two are so near that no picture could show it."""
    scaled = np.array(rows) / SCALE
    distances = np.linalg.norm(scaled[:, None] - scaled[None], axis=-1)
    return bool((distances + np.eye(len(rows)) > 1e-6).all())


def area(outlines: Iterable[Outline]) -> float:
    """Return the sum of areas; an outline that runs clockwise would count against it."""
    total = 0.0
    for outline in filter(None, outlines):
        x, y = np.array(outline).T
        total += 0.5 * float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())
    return total


def depth(outline: Outline, place: tuple[float, float]) -> float:
    """Return how deep a place lies within a convex outline; negative outside of it."""
    corners = np.array(outline)
    edges = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(*edges.T)
    to_place = np.array(place) - corners
    cross = edges[:, 0] * to_place[:, 1] - edges[:, 1] * to_place[:, 0]
    long = lengths > 1e-9
    return float((cross[long] / lengths[long]).min(initial=np.inf))


def cells(picture: PartitionPicture) -> list[Outline]:
    return [cell.outline for cell in picture.cells]


def frame_area(picture: PartitionPicture) -> float:
    return float(np.prod(np.subtract(picture.high, picture.low)))


@given(prototypes)
def test_cells_tile_the_frame(rows: list[tuple[float, float]]) -> None:
    picture = partition_picture(a_run(rows))
    assert area(cells(picture)) == pytest.approx(frame_area(picture), rel=1e-9)
    for outline in cells(picture):
        assert (np.array(outline) >= np.array(picture.low) - 1e-9).all()
        assert (np.array(outline) <= np.array(picture.high) + 1e-9).all()


@given(prototypes)
def test_every_prototype_lies_in_its_own_cell(rows: list[tuple[float, float]]) -> None:
    picture = partition_picture(a_run(rows))
    assert list(picture.prototypes) == rows
    for outline, place in zip(cells(picture), rows, strict=True):
        assert depth(outline, place) > -1e-9


def test_points_on_one_circle_have_cells_of_their_own() -> None:
    """A task with symmetries has many such points, and they are where diagrams are easily wrong."""
    rows = [(0.0, -2.0), (0.0, 0.0), (-0.5, 1.0), (-0.5, -3.0)]
    picture = partition_picture(a_run(rows))
    assert area(cells(picture)) == pytest.approx(frame_area(picture))
    for outline, place in zip(cells(picture), rows, strict=True):
        assert depth(outline, place) > 0.01


@given(prototypes, st.integers(-17, -5), st.integers(0, 99))
def test_prototypes_at_nearly_one_place_do_not_tear_the_picture(
    rows: list[tuple[float, float]], exponent: int, seed: int
) -> None:
    noise = np.random.default_rng(seed).normal(0.0, 10.0**exponent, (len(rows), 2))
    twins = [tuple(row) for row in (np.array(rows) + noise).tolist()]
    both = list(dict.fromkeys([*rows, *twins]))
    picture = partition_picture(a_run(both))
    assert area(cells(picture)) == pytest.approx(frame_area(picture), rel=1e-9)
    for outline, place in zip(cells(picture), both, strict=True):
        assert not outline or depth(outline, place) > -1e-7


@given(prototypes, st.lists(places, min_size=1, max_size=10))
def test_a_place_is_in_the_cell_of_its_region_and_in_no_other(
    rows: list[tuple[float, float]], where: list[tuple[float, float]]
) -> None:
    run = a_run(rows)
    outlines = cells(partition_picture(run))
    for s in where:
        depths = [depth(outline, s) for outline in outlines]
        assert depths.pop(region(run.representation.partition, s)) > -1e-9
        assert max(depths, default=-1.0) < 1e-9


@given(prototypes, st.data())
def test_a_cell_tells_the_region_action_and_value_of_its_prototype(
    rows: list[tuple[float, float]], data: st.DataObject
) -> None:
    primary = [data.draw(st.sampled_from([0, p])) for p in range(len(rows))]
    run = a_run(rows, primary, seed=len(rows))
    picture = partition_picture(run)
    assert picture.primary == tuple(j == p for p, j in enumerate(primary))
    for cell, p in zip(picture.cells, primary, strict=True):
        j = sorted(set(primary)).index(p)
        left, right = run.q[j]
        assert cell.region == j
        assert cell.value == max(left, right)
        assert cell.action == (-1 if left == right else int(right > left))


def test_a_learned_run_looks_like_its_policy(learned: Run) -> None:
    picture = partition_picture(learned)
    assert len(picture.cells) == learned.representation.prototypes
    assert len({cell.region for cell in picture.cells}) == learned.representation.regions
    assert picture.actions == ("left", "right")
    decided = 0
    for cell, place in zip(picture.cells, picture.prototypes, strict=True):
        if cell.action >= 0:
            decided += 1
            assert picture.actions[cell.action] == learned.action(place)
    assert decided > 1


def test_one_prototype_fills_the_frame() -> None:
    picture = partition_picture(a_run([(0.0, 0.0)]))
    ((x0, y0), (x1, y1)) = SPEC_KEYS.low, SPEC_KEYS.high
    assert set(picture.cells[0].outline) == {(x0, y0), (x1, y0), (x1, y1), (x0, y1)}
    assert (picture.low, picture.high) == (SPEC_KEYS.low, SPEC_KEYS.high)


def test_the_frame_is_widened_to_show_every_prototype() -> None:
    picture = partition_picture(a_run([(0.0, 0.0), (3.0, -9.0)]))
    assert (picture.low, picture.high) == ((-2.4, -9.0), (3.0, 5.5))


def test_the_border_between_two_cells_leans_by_the_scale() -> None:
    upper, lower = cells(partition_picture(a_run([(0.268, 0.62), (-0.268, -0.62)])))
    slope = -(0.268 / 0.62) * (SCALE[1] / SCALE[0]) ** 2
    for x in (-2.0, -1.0, 1.0, 2.0):
        assert depth(upper, (x, slope * x + 0.01)) > 0
        assert depth(lower, (x, slope * x - 0.01)) > 0


@st.composite
def boxes(draw: st.DrawFn) -> Representation:
    """Draw a tree of boxes over the frame of the puck."""

    def cut(box: Box, depth: int) -> tuple[int, float] | None:
        if depth == 4 or not draw(st.booleans()):
            return None
        axis = draw(st.integers(0, 1))
        return axis, (box[0][axis] + box[1][axis]) / 2

    return Representation(tree(SPEC_KEYS.low, SPEC_KEYS.high, cut), SPEC_KEYS.dimensions)


@given(boxes())
def test_boxes_tile_the_frame_and_hold_their_region(representation: Representation) -> None:
    outlines = cell_outlines(representation, SPEC_KEYS.low, SPEC_KEYS.high)
    assert area(outlines) == pytest.approx(4.8 * 11.0)
    for number, outline in enumerate(outlines):
        x, y = np.mean(outline, axis=0).tolist()
        assert region(representation.partition, (x, y)) == number


# Pixels.


def png_size(content: bytes) -> tuple[int, int]:
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert content[-8:-4] == b"IEND"
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def test_a_drawing_is_a_whole_png_and_the_same_every_time(learned: Run, tmp_path: Path) -> None:
    for name in ("one.png", "two.png"):
        save_figure(draw_partition(partition_picture(learned)), tmp_path / name)
    one, two = ((tmp_path / name).read_bytes() for name in ("one.png", "two.png"))
    assert one == two
    assert min(png_size(one)) > 300


def test_drawing_leaves_the_settings_of_matplotlib_alone(learned: Run, tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    save_figure(draw_partition(partition_picture(learned)), tmp_path / "a.png")
    assert dict(mpl.rcParams) == before


@settings(max_examples=3)
@given(prototypes)
def test_any_partition_can_be_drawn(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, float]]
) -> None:
    path = tmp_path_factory.mktemp("drawn") / "a.png"
    save_figure(draw_partition(partition_picture(a_run(rows, primary=[0] * len(rows)))), path)
    png_size(path.read_bytes())


def colour_at(picture: PartitionPicture, x: float, y: float) -> tuple[float, ...]:
    """Return the colour of the cell at a place."""
    (collection,) = draw_partition(picture).axes[0].collections
    for path, colour in zip(collection.get_paths(), collection.get_facecolors(), strict=True):
        if path.contains_point((x, y)):
            return tuple(colour)
    raise AssertionError("nothing is drawn there")


def test_the_hue_says_what_to_do_and_the_shade_how_well_it_goes() -> None:
    run = a_run([(-1.2, 0.0), (-0.4, 0.0), (0.4, 0.0), (1.2, 0.0)])
    q = np.array([[0.0, -1.0], [-0.5, -1.0], [-1.0, 0.0], [-0.5, -0.5]])
    picture = partition_picture(run._replace(q=q))
    well_left, left, right, tied = (colour_at(picture, x, 0.0) for x in (-1.2, -0.4, 0.4, 1.2))
    assert well_left[2] > well_left[0]  # blue
    assert left[2] > left[0]
    assert right[0] > right[2]  # orange
    assert tied[0] == pytest.approx(tied[2], abs=0.02)  # grey
    assert sum(well_left[:3]) < sum(left[:3])


def test_a_run_is_drawn_into_its_folder(learned: Run, tmp_path: Path) -> None:
    assert draw_run(learned._replace(path=tmp_path)) == tmp_path / "partition.png"
    png_size((tmp_path / "partition.png").read_bytes())


def test_a_run_without_a_folder_cannot_be_drawn_into_it(learned: Run) -> None:
    with pytest.raises(DistinguoError, match="no folder"):
        draw_run(learned)


# Text.


def map_rows(run: Run) -> list[tuple[float, str]]:
    """Return the rows of the map: the velocity and the letters."""
    _, *rows, _ = text.text_map(run).splitlines()
    return [(float(row.split("|")[0]), row.split("|")[1]) for row in rows]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_letters_of_the_map_are_the_actions_of_the_run(seed: int) -> None:
    run = distinguo.learn("puck", seed=seed, settings=FAST)
    rows = map_rows(run)
    assert len(rows) == text.ROWS
    velocities = np.linspace(5.5, -5.5, text.ROWS)
    seen = set()
    for (label, letters), v in zip(rows, velocities.tolist(), strict=True):
        assert label == pytest.approx(v, abs=0.006)
        assert len(letters) == text.COLUMNS
        for letter, x in zip(letters, np.linspace(-2.4, 2.4, text.COLUMNS).tolist(), strict=True):
            seen.add(letter)
            assert letter in (run.action((x, v))[0], ".")
    assert {"l", "r"} <= seen


def test_a_dot_is_where_actions_are_tied() -> None:
    run = a_run([(-1.0, 0.0), (1.0, 0.0)])._replace(q=np.array([[0.5, 0.5], [-1.0, 0.0]]))
    for _, letters in map_rows(run):
        assert letters == "." * (text.COLUMNS // 2) + "r" * (text.COLUMNS // 2)


def test_the_map_grows_to_the_right_and_upwards() -> None:
    right = a_run([(-1.0, 0.0), (1.0, 0.0)])._replace(q=np.array([[0.0, -1.0], [-1.0, 0.0]]))
    assert all(letters[0] == "l" and letters[-1] == "r" for _, letters in map_rows(right))
    upward = a_run([(0.0, -2.0), (0.0, 2.0)])._replace(q=np.array([[0.0, -1.0], [-1.0, 0.0]]))
    rows = map_rows(upward)
    assert set(rows[0][1]) == {"r"}
    assert set(rows[-1][1]) == {"l"}


def test_the_table_of_regions_counts_their_prototypes() -> None:
    run = a_run([(-1.0, 0.0), (1.0, 0.0), (0.5, 0.0)], primary=[0, 1, 1])
    run = run._replace(q=np.array([[0.0, -1.0], [-0.25, -0.5]]))
    head, first, second = text.regions_table(run).splitlines()
    assert head.split() == ["region", "x", "v", "prototypes", "action", "value", "updates"]
    assert first.split() == ["0", "-1.0000", "0.0000", "1", "left", "0.0000", "2"]
    assert second.split() == ["1", "1.0000", "0.0000", "2", "left", "-0.2500", "2"]


def test_the_table_of_reasons_shows_the_latest(learned: Run) -> None:
    reasons = [
        {
            "event": "split",
            "trial": n,
            "step": 10 * n,
            "prototypes": [0, n],
            "regret": 0.25,
            "states": [[0.0, 0.0], [1.0, 0.0]],
            "profiles": [[0.0, -1.0], [-1.0, 0.0]],
            "rules": ["policy (Eq. 3)"],
        }
        for n in range(1, 6)
    ]
    told = text.reasons_table(learned._replace(reasons=reasons), most=2).splitlines()
    assert "(3 earlier ones are in reasons.jsonl)" in told[1]
    assert [line.split()[0] for line in told[2:]] == ["4", "5"]
    assert "policy (Eq. 3)" in told[2]
    assert text.reasons_table(learned._replace(reasons=[])).startswith("Nothing")
