"""What partitions can do: our own kinds keep the promises that they are asked for, and so must those of others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.representations.boxes import BoxTable, for_lookup, grid
from distinguo.representations.categories import categories
from distinguo.representations.check import PartitionCheck, check_partition
from distinguo.representations.declare import FunctionPartition, capability, partition
from distinguo.representations.file import Representation, can_be_written, dumps
from distinguo.representations.geometry import Plane, landmarks, main_plane, outlines
from distinguo.representations.partition import (
    count_regions,
    has_labels,
    nearest,
    prototypes_of,
    region,
    regions_of,
)
from distinguo.representations.voronoi import voronoi
from distinguo.seam import is_compiled

needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="all runs as plain Python")
LOW, HIGH = (-2.0, -1.0), (2.0, 3.0)


def merged() -> Any:
    """Return five prototypes in three regions."""
    points = np.random.default_rng(0).uniform(LOW, HIGH, (5, 2))
    return voronoi(points, [4.0, 4.0], primary=[0, 1, 0, 3, 3])


def labels() -> Any:
    return categories([[0.0, 0.0], [1.0, 2.0], [1.0, 1.0], [0.0, 2.0]], primary=[0, 1, 2, 1])


OURS = {
    "voronoi": merged(),
    "categories": labels(),
    "boxes": grid([3, 4], LOW, HIGH),
    "table": for_lookup(grid([3, 4], LOW, HIGH)),
    "function": FunctionPartition(lambda s: int(s[0] > 0) + int(s[1] > 0), regions=3),
}


@pytest.mark.parametrize("name", OURS)
def test_our_own_partitions_keep_their_promises(name: str) -> None:
    assert check_partition(OURS[name], LOW, HIGH).unreached == ()


@pytest.mark.parametrize("name", OURS)
def test_regions_are_numbered_without_gaps(name: str) -> None:
    made = OURS[name]
    rows = np.random.default_rng(1).uniform(LOW, HIGH, (200, 2))
    assert set(regions_of(made, rows).tolist()) <= set(range(count_regions(made)))
    assert [region(made, tuple(row)) for row in rows.tolist()] == regions_of(made, rows).tolist()


def test_what_each_kind_is() -> None:
    assert isinstance(OURS["table"], BoxTable)
    assert [has_labels(made) for made in OURS.values()] == [False, True, False, False, False]
    assert [can_be_written(made) for made in OURS.values()] == [True, True, True, False, False]
    assert [prototypes_of(made) is not None for made in OURS.values()] == [True, True, False, False, False]
    assert [len(landmarks(made)) for made in OURS.values()] == [5, 4, 2, 0, 0]
    assert main_plane(OURS["function"]) is None
    assert OURS["voronoi"].regions.tolist() == [0, 1, 0, 2, 2]
    assert OURS["voronoi"].primaries.tolist() == [0, 1, 3]


def test_what_is_missing_is_said_in_a_sentence() -> None:
    made = OURS["function"]
    with pytest.raises(
        DistinguoError, match=r"^A partition of the class FunctionPartition cannot be drawn; give"
    ):
        outlines(made, Plane((0, 1), (0.0, 0.0)), LOW, HIGH)
    with pytest.raises(DistinguoError, match="cannot be written to a file; files hold prototypes and boxes"):
        dumps(Representation(made, ("x", "y")))
    with pytest.raises(DistinguoError, match="class dict does not say how many regions it has"):
        count_regions({})


# The door.


@partition
class Halves(NamedTuple):
    where: float = 0.0

    def region(self, s):
        x, _ = s
        return int(x > self.where)

    def regions(self):
        return 2

    def outlines(self, plane, low, high):
        (x0, y0), (x1, y1), x = low, high, self.where
        return [
            (0, ((x0, y0), (x, y0), (x, y1), (x0, y1))),
            (1, ((x, y0), (x1, y0), (x1, y1), (x, y1))),
        ]


@partition(compiled=False)
class Slow:
    def region(self, s):
        return {True: 0, False: 1}[s[0] > 0]

    def regions(self):
        return 2


def test_a_class_of_ones_own_is_a_partition_like_ours() -> None:
    assert check_partition(Halves(0.5), LOW, HIGH) == PartitionCheck(2, 1003, ())
    assert is_compiled(Halves())
    assert [j for j, _ in outlines(Halves(), Plane((0, 1), (0.0, 0.0)), LOW, HIGH)] == [0, 1]
    assert Representation(Halves(), ("x", "y")).prototypes == 2


def test_plain_python_will_do() -> None:
    assert not is_compiled(Slow())
    assert check_partition(Slow(), [-1.0], [1.0]).unreached == ()


def test_a_class_that_is_no_partition_is_refused() -> None:
    with pytest.raises(DistinguoError, match="Empty has no method region; write"):

        @partition
        class Empty(NamedTuple):
            pass

    with pytest.raises(DistinguoError, match="Endless has no method regions; write"):

        @partition
        class Endless(NamedTuple):
            def region(self, s):
                return 0

    with pytest.raises(DistinguoError, match="Loose is not a NamedTuple, so it cannot be compiled"):

        @partition
        class Loose:
            def region(self, s):
                return 0

            def regions(self):
                return 1


def test_what_is_no_prototype_partition_has_no_nearest() -> None:
    with pytest.raises(TypeError, match="nearest is not implemented for Halves"):
        nearest(Halves(), (0.0, 0.0))


def test_a_capability_that_comes_later_is_found_in_earlier_classes() -> None:
    @singledispatch
    def colour(made: Any) -> str:
        return "grey"

    @partition(compiled=False)
    class Red:
        def region(self, s):
            return 0

        def regions(self):
            return 1

        def colour(self):
            return "red"

    capability("colour", colour)
    assert (colour(Red()), colour(Halves())) == ("red", "grey")


# The check.


def broken(region_function: Any, regions: int = 2) -> Any:
    """Return a partition with this method, run as plain Python."""
    kind = type("Broken", (), {"region": region_function, "regions": lambda self: regions})
    return partition(compiled=False)(kind)()


def toggling() -> Any:
    answers: Iterator[int] = iter(range(10**9))
    return broken(lambda self, s: next(answers) % 2)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (broken(lambda self, s: 2), "gave region 2 for .*; allowed are 0 to 1"),
        (broken(lambda self, s: -1), "gave region -1 for"),
        (broken(lambda self, s: s[0] > 0), "gave (True|False) as the region of .*: return int"),
        (broken(lambda self, s: 1.0), r"gave 1\.0 as the region of"),
        (broken(lambda self, s: 1 // 0), "has no region for .*: ZeroDivisionError"),
        (broken(lambda self, s: 0, regions=0), "should have one region or more"),
        (toggling(), "gave another region than 0 .* when it was asked again"),
    ],
)
def test_a_broken_promise_is_told_in_a_sentence(made: Any, words: str) -> None:
    with pytest.raises(DistinguoError, match=f"^The partition Broken .*{words}.*\\.$"):
        check_partition(made, [-1.0], [1.0])


def test_regions_that_cannot_be_reached_are_named() -> None:
    assert check_partition(broken(lambda self, s: 1, regions=4), [-1.0], [1.0]).unreached == (0, 2, 3)


@pytest.mark.parametrize(("low", "high"), [([1.0], [0.0]), ([-np.inf], [0.0]), ([0.0], [1.0, 2.0])])
def test_the_extent_of_a_check_is_finite(low: list[float], high: list[float]) -> None:
    with pytest.raises(DistinguoError, match="between two finite corners"):
        check_partition(Slow(), low, high)


@needs_compiler
def test_what_compiles_to_something_else_is_noticed() -> None:
    @partition
    class Overflowing(NamedTuple):
        large: int = 2**62

        def region(self, s):
            return (self.large * 4 + 1) % 3

        def regions(self):
            return 3

    with pytest.raises(DistinguoError, match=r"gave region 1 for .* compiled, but 2 as plain Python"):
        check_partition(Overflowing(), [-1.0], [1.0])


@needs_compiler
def test_what_does_not_compile_is_told_why() -> None:
    @partition
    class Wordy(NamedTuple):
        def region(self, s):
            return int(f"{s[0]:.0f}" == "0")

        def regions(self):
            return 2

    with pytest.raises(DistinguoError, match=r"Wordy cannot be compiled \(.*\); use only what Numba knows"):
        check_partition(Wordy(), [-1.0], [1.0])


@pytest.mark.parametrize("width", [40, 600])
def test_rows_of_many_coordinates_are_looked_up(width: int) -> None:
    rng = np.random.default_rng(width)
    points, rows = rng.normal(size=(5, width)), rng.normal(size=(30, width))
    nearest = ((rows[:, None] - points[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert regions_of(voronoi(points, [1.0] * width), rows).tolist() == nearest.tolist()
