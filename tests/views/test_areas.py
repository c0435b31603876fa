"""Cells of one region are joined: borders part regions only, and every area carries its number."""

from __future__ import annotations

import numpy as np
import pytest

from distinguo.representations.boxes import grid
from distinguo.representations.file import Representation
from distinguo.representations.partition import region
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.catalog import task_spec
from distinguo.views.areas import areas_of
from distinguo.views.pictures import PartitionPicture, partition_picture, representation_picture
from distinguo.views.plots import SMALL, draw_partition
from tests.views.runs import made_up

SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))


def beside(picture: PartitionPicture, segment: tuple, share: float = 1e-4) -> tuple[int, int]:
    """Return the regions on the two sides of the middle of a border, by the cells that are there."""
    (x0, y0), (x1, y1) = segment
    size = np.subtract(picture.high, picture.low)
    across = np.array([-(y1 - y0) / size[1], (x1 - x0) / size[0]])
    across *= share * size / np.hypot(*across)
    middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2])
    one, other = (cell_at(picture, middle + sign * across) for sign in (1, -1))
    return one, other


def cell_at(picture: PartitionPicture, place: np.ndarray) -> int:
    for cell in picture.cells:
        corners = np.array(cell.outline)
        edges = np.roll(corners, -1, axis=0) - corners
        to = place - corners
        if len(corners) and (edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0] >= -1e-12).all():
            return cell.region
    raise AssertionError("no cell is there")


@pytest.mark.parametrize(
    ("task", "count", "seed"), [("puck", 12, 0), ("puck", 40, 1), ("CartPole-v1", 30, 2)]
)
def test_borders_part_different_regions_and_no_other_edge_does(task: str, count: int, seed: int) -> None:
    picture = partition_picture(made_up(task, count, seed, merged=0.6))
    assert picture.borders
    for segment in picture.borders:
        one, other = beside(picture, segment)
        assert one != other
    drawn = {tuple(np.round(np.mean(segment, axis=0), 6)) for segment in picture.borders}
    inner = 0
    for cell in picture.cells:
        corners = np.array(cell.outline)
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            middle = (a + b) / 2
            on_frame = (np.isclose(middle, picture.low) | np.isclose(middle, picture.high)).any()
            if not on_frame and np.hypot(*((b - a) / np.subtract(picture.high, picture.low))) > 1e-3:
                one, other = beside(picture, (a, b))
                assert (one != other) == (tuple(np.round(middle, 6)) in drawn)
                inner += one == other
    assert inner > 0  # there are cells of one region that touch


def test_corners_in_the_middle_of_an_edge_cut_it() -> None:
    upper = ((0.0, 1.0), (2.0, 1.0), (2.0, 2.0), (0.0, 2.0))
    left, right = SQUARE, ((1.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0))
    found = areas_of([left, right, upper], [0, 1, 1], (0.0, 0.0), (2.0, 2.0))
    assert sorted(map(sorted, found.members)) == [[0], [1, 2]]
    assert sorted(map(sorted, found.borders)) == [[(0.0, 1.0), (1.0, 1.0)], [(1.0, 0.0), (1.0, 1.0)]]


def test_every_area_carries_the_number_of_its_region() -> None:
    """A region of three prototypes that lies in two places has its number twice."""
    rows = [[-2.0, 0.0], [0.0, 0.0], [2.0, 0.0], [2.0, 4.0]]
    spec = task_spec("puck")
    representation = Representation(voronoi(rows, spec.scale, [0, 1, 0, 0]), spec.dimensions)
    picture = representation_picture(representation, spec, "")
    assert sorted(label.text for label in picture.labels) == ["0", "0", "1"]
    for label in picture.labels:
        assert str(region(representation.partition, (label.x, label.y))) == label.text
        assert picture.cells[label.cell].region == int(label.text)


@pytest.mark.parametrize("seed", range(4))
def test_numbers_stand_in_their_region_and_tiny_areas_are_pointed_at(seed: int) -> None:
    run = made_up("puck", 25, seed, merged=0.4)
    picture = partition_picture(run)
    outlines = [cell.outline for cell in picture.cells]
    found = areas_of(outlines, [cell.region for cell in picture.cells], picture.low, picture.high)
    assert len(picture.labels) == len(found.members)
    assert sorted(n for members in found.members for n in members) == list(range(len(outlines)))
    for label in picture.labels:
        assert region(run.representation.partition, (label.x, label.y)) == int(label.text)


def test_where_very_many_areas_are_tiny_it_is_said() -> None:
    spec = task_spec("puck")
    representation = Representation(grid([60, 1], spec.low, spec.high), spec.dimensions)
    picture = representation_picture(representation, spec, "")
    assert not picture.labels
    assert picture.note == "60 areas are too small for their number"
    few = representation_picture(
        Representation(grid([10, 1], spec.low, spec.high), spec.dimensions), spec, ""
    )
    assert [label.text for label in few.labels] == [str(n) for n in range(10)]
    assert few.note == ""


def test_a_number_that_has_no_room_points_to_its_area() -> None:
    spec = task_spec("puck")
    partition = voronoi([[-0.1, 0.0], [0.0, 0.0], [0.1, 0.0]], spec.scale)
    picture = representation_picture(Representation(partition, spec.dimensions), spec, "")
    assert [label.beside for label in picture.labels] == [False, True, False]
    drawn = draw_partition(picture).axes[0].texts
    assert [text.get_text() for text in drawn if text.arrow_patch is not None] == ["1"]


def test_letters_can_be_read_in_a_column_of_print() -> None:
    for run in (made_up("puck", 30), made_up("CartPole-v1", 20), made_up("FrozenLake-v1", 9)):
        figure = draw_partition(partition_picture(run))
        assert figure.get_figwidth() <= 3.6  # inches
        texts = [t for t in figure.findobj(lambda a: hasattr(a, "get_fontsize")) if t.get_text()]
        assert texts
        assert min(text.get_fontsize() for text in texts) >= SMALL == 7.0
