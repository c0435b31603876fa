"""Pictures and maps of any number of dimensions, and of categories, agree with the regions of the run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from distinguo.controller import Controller
from distinguo.representations.boxes import Boxes, grid, tree
from distinguo.representations.categories import categories
from distinguo.representations.file import Representation
from distinguo.representations.geometry import Plane, learned_extent
from distinguo.representations.partition import region
from distinguo.representations.voronoi import voronoi
from distinguo.runs.run import Run
from distinguo.tasks.spec import TaskSpec
from distinguo.views.colours import HUES, hue_of
from distinguo.views.pictures import (
    OTHER,
    PartitionPicture,
    frame_of,
    partition_picture,
    plane_of,
    representation_picture,
    tiles_of,
)
from distinguo.views.plots import draw_partition, marks_of, save_figure
from tests.views.runs import EIGHT, made_up
from tests.views.test_pictures import area, cells, depth, frame_area

CONTINUOUS = [("MountainCar-v0", 20), ("Pendulum-v1", 25), ("CartPole-v1", 40), ("Acrobot-v1", 60)]
CATEGORIES = [("FrozenLake-v1", 9), ("FrozenLake-v1", 1), ("Blackjack-v1", 60), ("Taxi-v4", 120)]


def a_world(
    *names: str, low: float = -1.0, high: float = 1.0, kind: str = "continuous", actions: int = 2
) -> TaskSpec:
    words = tuple(f"a{n}" for n in range(actions))
    return TaskSpec("made up", None, names, words, (low,) * len(names), (high,) * len(names), kind=kind)


def acting(representation: Representation, q: np.ndarray) -> Controller:
    return Controller(representation.partition, q)


def preference(run: Run, j: int) -> tuple[int, float]:
    return int(run.controller.policy[j]), float(run.q[j].max())


def as_is(run: Run) -> tuple[Representation, TaskSpec]:
    return run.representation, run.configuration.spec


@pytest.mark.parametrize(("task", "count"), CONTINUOUS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_slice_tiles_its_frame_and_tells_the_region_of_every_place(
    task: str, count: int, seed: int
) -> None:
    run = made_up(task, count, seed)
    picture = partition_picture(run)
    plane = picture.plane
    assert np.isfinite([picture.low, picture.high]).all()
    assert area(cells(picture)) == pytest.approx(frame_area(picture), rel=1e-9)
    for x, y in np.random.default_rng(seed).uniform(picture.low, picture.high, (200, 2)).tolist():
        j = region(run.representation.partition, plane.state(x, y))
        here = [cell for cell in picture.cells if cell.outline and depth(cell.outline, (x, y)) > 1e-9]
        assert all((cell.region, cell.action, cell.value) == (j, *preference(run, j)) for cell in here)
        assert len(here) == 1


@pytest.mark.parametrize("seed", range(5))
def test_a_slice_of_a_lattice_does_not_tear_where_many_are_equally_near(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.unique(rng.integers(-2, 3, (60, 4)) / 2, axis=0)
    representation = Representation(voronoi(rng.permutation(rows), [1.0, 2.0, 1.0, 0.5]), tuple("abcd"))
    picture = representation_picture(representation, a_world(*"abcd"), "")
    assert area(cells(picture)) == pytest.approx(frame_area(picture), rel=1e-9)


def test_the_plane_has_the_coordinates_of_most_difference_and_says_where_the_others_are() -> None:
    rows = [[0.0, 5.0, 0.1, -1.0], [0.0, 6.0, 0.9, -1.0], [0.0, 7.0, 0.5, -1.0]]
    representation = Representation(voronoi(rows, [1.0, 100.0, 1.0, 1.0]), ("a", "b", "c", "d"))
    assert plane_of(representation, a_world(*"abcd")) == Plane((1, 2), (0.0, 7.0, 0.5, -1.0))
    picture = representation_picture(representation, a_world(*"abcd"), "four")
    assert picture.axes == ("b", "c")
    assert picture.note.startswith("slice at a = 0, d = -1")
    assert len(picture.prototypes) == 3


def test_what_is_infinite_is_framed_by_what_was_observed() -> None:
    spec = a_world("x", "y", low=-np.inf, high=np.inf)
    partition = voronoi([[0.0, 0.0], [1.0, 4.0]], [1.0, 1.0])
    told = Representation(partition, ("x", "y"), {"extent": [[-2.0, -3.0], [2.0, 5.0]]})
    picture = representation_picture(told, spec, "")
    assert (picture.low, picture.high) == ((-2.0, -3.0), (2.0, 5.0))
    old = representation_picture(told._replace(provenance={}), spec, "")
    assert (old.low, old.high) == ((-0.5, -2.0), (1.5, 6.0))
    for odd in ("wide", [[0.0], [1.0]], [[5.0, 5.0], [1.0, 1.0]], [[None, 0.0], [1.0, 1.0]]):
        assert learned_extent({"extent": odd}, spec.low, spec.high) == (spec.low, spec.high)


def test_one_dimension_is_a_strip() -> None:
    representation = Representation(voronoi([[0.5], [-0.5]], [2.0]), ("x",))
    picture = representation_picture(representation, a_world("x"), "", acting(representation, np.eye(2)))
    assert picture.cells[0].outline == ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    assert picture.axes == ("x", "")
    assert picture.prototypes == ((0.5, 0.5), (-0.5, 0.5))


def some_boxes(rng: np.random.Generator, dimensions: int) -> Boxes:
    def cut(box: tuple, level: int) -> tuple[int, float] | None:
        axis = int(rng.integers(dimensions))
        return None if level == 7 else (axis, float(rng.uniform(box[0][axis], box[1][axis])))

    return tree([-1.0] * dimensions, [1.0] * dimensions, cut)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5])
def test_a_slice_of_boxes_tells_the_region_of_every_place(dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    names = tuple("abcdef"[:dimensions])
    representation = Representation(some_boxes(rng, dimensions), names)
    spec = a_world(*names)
    picture, plane = representation_picture(representation, spec, ""), plane_of(representation, spec)
    assert area(cells(picture)) == pytest.approx(frame_area(picture))
    for x, y in rng.uniform(picture.low, picture.high, (200, 2)).tolist():
        here = [cell.region for cell in picture.cells if cell.outline and depth(cell.outline, (x, y)) > 1e-9]
        assert here == [region(representation.partition, plane.state(x, y))]


def test_boxes_of_an_endless_task_are_framed_by_their_own_extent() -> None:
    representation = Representation(grid([2, 2], [-3.0, 0.0], [3.0, 4.0]), ("x", "y"))
    spec = a_world("x", "y", low=-np.inf, high=np.inf)
    (x0, y0), (x1, y1) = frame_of(representation, spec, plane_of(representation, spec))
    assert (x0 <= -3.0, y0 <= 0.0, x1 >= 3.0, y1 >= 4.0) == (True,) * 4
    assert np.isfinite([x0, y0, x1, y1]).all()


@pytest.mark.parametrize(("task", "count"), CATEGORIES)
def test_every_square_tells_the_region_of_its_category(task: str, count: int) -> None:
    run = made_up(task, count)
    picture, tiles = partition_picture(run), tiles_of(*as_is(run), run.controller)
    assert area(cells(picture)) == pytest.approx(len(picture.cells))
    for n, (cell, square) in enumerate(zip(picture.cells, tiles.squares, strict=True)):
        j = region(run.representation.partition, square.state)
        action, value = preference(run, j)
        assert (cell.region, cell.value) == (j, value)
        assert cell.action == (-1 if n in dict(picture.ends) else action)
    assert len(picture.primary) == len(picture.prototypes)


def test_few_categories_are_all_shown_and_of_many_those_with_a_prototype() -> None:
    few = tiles_of(*as_is(made_up("FrozenLake-v1", 3)))
    assert [square.state for square in few.squares] == [(float(n),) for n in range(16)]
    run = made_up("Taxi-v4", 20)
    own = run.configuration.spec._replace(name="tests/Own-v0")
    run = run._replace(configuration=run.configuration._replace(spec=own))
    many = tiles_of(*as_is(run))
    assert len(many.squares) == run.representation.prototypes + 1
    assert many.squares[-1].state == (OTHER,) or np.isnan(many.squares[-1].state[0])
    assert partition_picture(run).labels[-1].text.splitlines()[0] == "other"
    assert region(run.representation.partition, (OTHER,)) == region(run.representation.partition, (777.0,))


def drawn(picture: PartitionPicture, path: Path) -> bytes:
    save_figure(draw_partition(picture), path)
    return path.read_bytes()


@pytest.mark.parametrize(("task", "count"), [*CONTINUOUS, *CATEGORIES, (EIGHT, 30), ("CartPole-v1", 1)])
def test_every_kind_of_task_can_be_drawn(task: str, count: int, tmp_path: Path) -> None:
    assert drawn(partition_picture(made_up(task, count)), tmp_path / "a.png")[:4] == b"\x89PNG"


def test_odd_partitions_can_be_drawn_too(tmp_path: Path) -> None:
    strip = Representation(voronoi([[0.5], [-0.5]], [2.0]), ("$x",))
    boxes = Representation(some_boxes(np.random.default_rng(0), 3), tuple("abc"))
    labels = Representation(categories([[0.0] * 4, [1.0] * 4]), tuple("abcd"))
    tasks = [a_world("$x"), a_world(*"abc"), a_world(*"abcd", low=0.0, high=9.0, kind="categories")]
    for representation, spec in zip((strip, boxes, labels), tasks, strict=True):
        for controller in (None, acting(representation, np.zeros((representation.regions, 2)))):
            picture = representation_picture(representation, spec, "odd $", controller)
            assert drawn(picture, tmp_path / "a.png")[:4] == b"\x89PNG"


def test_ten_actions_have_ten_hues_and_a_legend_that_fits(tmp_path: Path) -> None:
    assert len({hue_of(a) for a in range(-1, 10)}) == len(HUES) + 1 == 11
    for actions in (2, 6, 10):
        spec = a_world("x", "y", actions=actions)
        representation = Representation(voronoi([[0.0, 0.0], [0.5, 0.5]], [2.0, 2.0], [0, 0]), ("x", "y"))
        controller = acting(representation, np.zeros((1, actions)))
        figure = draw_partition(representation_picture(representation, spec, "", controller))
        save_figure(figure, tmp_path / "a.png")
        (legend,) = figure.legends
        box = legend.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert [text.get_text() for text in legend.get_texts()][:actions] == list(spec.actions)


def test_a_legend_of_many_actions_has_those_that_occur() -> None:
    """With 27 actions it would cover the picture."""
    picture = partition_picture(made_up("puck", 6))
    many = picture._replace(actions=(*picture.actions, *(f"a{n}" for n in range(25))))
    named = {name for name, _ in marks_of(many)}
    assert named & set(many.actions) == {many.actions[cell.action] for cell in many.cells if cell.action >= 0}
    few = picture._replace(actions=(*picture.actions, "a0"))
    assert {name for name, _ in marks_of(few)} >= set(few.actions)
