"""Reading observations and actions."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from distinguo.errors import DistinguoError
from distinguo.tasks.gym.spaces import (
    CATEGORIES,
    CONTINUOUS,
    Choices,
    MisfitError,
    NumberedActions,
    choices_of,
    numbered_choices,
    view_of,
)
from distinguo.tasks.spec import LARGEST

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, max_side=4)
FLOATS = st.sampled_from([np.float16, np.float32, np.float64])
WHOLE = st.sampled_from([np.uint8, np.int8, np.int16, np.int32])


def box(shape: tuple[int, ...], dtype: Any) -> Box:
    if np.issubdtype(dtype, np.floating):
        return Box(-np.inf, np.inf, shape=shape, dtype=dtype)
    limits = np.iinfo(dtype)
    return Box(limits.min, limits.max, shape=shape, dtype=dtype)


@given(st.data(), SHAPES, FLOATS | WHOLE)
def test_a_box_there_and_back(data: Any, shape: tuple[int, ...], dtype: Any) -> None:
    elements = None
    if np.issubdtype(dtype, np.floating):
        width = np.dtype(dtype).itemsize * 8
        most = min(LARGEST, float(np.finfo(dtype).max))
        elements = st.floats(-most, most, width=width)
    array = data.draw(hnp.arrays(dtype, shape, elements=elements))
    view = view_of(box(shape, dtype), "Any-v0")
    values = view.flatten(array)
    assert len(values) == len(view.names) == len(view.low) == len(view.high) == max(1, array.size)
    assert all(type(value) is float for value in values)
    back = view.unflatten(values)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(-3, 3)), min_size=1, max_size=4), st.data())
def test_categories_there_and_back(sizes: list[tuple[int, int]], data: Any) -> None:
    counts, starts = [n for n, _ in sizes], [start for _, start in sizes]
    numbers = [data.draw(st.integers(start, start + n - 1)) for n, start in sizes]
    many = view_of(MultiDiscrete(counts, start=starts), "Any-v0")
    row = view_of(spaces.Tuple([Discrete(n, start=start) for n, start in sizes]), "Any-v0")
    one = view_of(Discrete(counts[0], start=starts[0]), "Any-v0")
    assert many.flatten(np.array(numbers)) == row.flatten(tuple(numbers)) == tuple(map(float, numbers))
    assert one.flatten(np.int64(numbers[0])) == one.flatten(numbers[0]) == (float(numbers[0]),)
    assert many.unflatten(many.flatten(np.array(numbers))).tolist() == numbers
    assert row.unflatten(row.flatten(tuple(numbers))) == tuple(numbers)
    assert one.unflatten((float(numbers[0]),)) == numbers[0]
    assert (many.low, many.high) == (row.low, row.high)
    assert many.low == tuple(map(float, starts))


def test_the_names_and_bounds_of_a_box() -> None:
    largest = np.finfo(np.float32).max
    low, high = np.float32([[-1, -largest, 0]] * 2), np.float32([[1, np.inf, 2]] * 2)
    space = Box(low, high, dtype=np.float32)  # type: ignore[arg-type]
    view = view_of(space, "Grid-v0")
    assert view.kind == CONTINUOUS
    assert view.names == ("o0_0", "o0_1", "o0_2", "o1_0", "o1_1", "o1_2")
    assert view.low == (-1.0, -math.inf, 0.0) * 2
    assert view.high == (1.0, math.inf, 2.0) * 2
    assert view_of(Box(0, 1, shape=()), "Point-v0").names == ("o0",)


def test_an_image_is_read_as_amounts() -> None:
    view = view_of(Box(0, 255, shape=(2, 2, 3), dtype=np.uint8), "Picture-v0")
    assert view.high == (255.0,) * 12
    assert view.flatten(np.full((2, 2, 3), 7, dtype=np.uint8)) == (7.0,) * 12


def test_categories_have_exact_bounds() -> None:
    view = view_of(MultiDiscrete(np.array([[2, 3], [4, 5]])), "Table-v0")
    assert (view.kind, view.names) == (CATEGORIES, ("o0_0", "o0_1", "o1_0", "o1_1"))
    assert view.high == (1.0, 2.0, 3.0, 4.0)
    bits = view_of(MultiBinary([2, 2]), "Bits-v0")
    assert bits.flatten(np.array([[0, 1], [1, 1]], dtype=np.int8)) == (0.0, 1.0, 1.0, 1.0)
    assert (bits.low, bits.high) == ((0.0,) * 4, (1.0,) * 4)
    assert view_of(Discrete(5, start=-2), "Lift-v0").low == (-2.0,)


FLATTEN = "wrap it in gymnasium.wrappers.FlattenObservation"
WRITE = "write a gymnasium.ObservationWrapper that gives a Box"
POINT = Box(0, 1, shape=(1,))


@pytest.mark.parametrize(
    ("space", "kind", "advice"),
    [
        (spaces.Text(5), "a Text", FLATTEN),
        (spaces.Sequence(POINT), "a Sequence", WRITE),
        (spaces.Dict({"a": spaces.Sequence(POINT)}), "a Dict", WRITE),
        (spaces.Graph(POINT, None), "a Graph", WRITE),
        (spaces.OneOf([POINT]), "a OneOf", WRITE),
    ],
)
def test_observations_that_cannot_be_read(space: Any, kind: str, advice: str) -> None:
    with pytest.raises(DistinguoError) as caught:
        view_of(space, "Robot-v0")
    assert str(caught.value) == (
        f"Robot-v0 observes {kind}, which cannot be divided into regions; allowed are Box, Discrete, MultiDiscrete, "
        f"MultiBinary, and a Dict or Tuple with one of them; {advice}."
    )


class Mission(spaces.Space[str]):
    """A space of somebody's own, which gives nothing away."""

    @property
    def is_np_flattenable(self) -> bool:
        raise NotImplementedError


NESTED = spaces.Dict(
    {
        "arm": Box(-1, 1, (2,), np.float64),
        "mission": Mission(),
        "mode": Discrete(3, start=1),
        "more": spaces.Tuple([MultiBinary(2), Discrete(40), Box(0, 5, ())]),
    }
)


def test_parts_are_read_one_after_the_other() -> None:
    view = view_of(NESTED, "Robot-v0")
    assert view.kind == CONTINUOUS
    assert view.names == (
        *("arm_0", "arm_1", "mode_1", "mode_2", "mode_3"),
        *("more_0_0", "more_0_1", "more_1", "more_2"),
    )
    assert view.low == (-1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert view.high == (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 39.0, 5.0)
    assert view.left_out == ("mission (a Mission)",)
    seen = {"arm": np.array([0.5, -0.5]), "mission": "go", "mode": 2, "more": ([1, 0], 17, np.float32(2.5))}
    values = view.flatten(seen)
    assert values == (0.5, -0.5, 0.0, 1.0, 0.0, 1.0, 0.0, 17.0, 2.5)
    back = view.unflatten(values)
    assert back["mission"] is None
    assert view.flatten({**back, "mission": "stay"}) == values


def test_parts_that_are_all_labels_are_labels() -> None:
    view = view_of(spaces.Dict({"row": Discrete(4), "has_key": MultiBinary(1)}), "Keys-v0")
    assert (view.kind, view.names, view.high) == (CATEGORIES, ("has_key", "row"), (1.0, 3.0))


@pytest.mark.parametrize("seen", [{}, {"arm": [0.0, 0.0]}, None, [1.0], {"arm": 3, "mode": 2, "more": ()}])
def test_parts_that_are_missing(seen: Any) -> None:
    with pytest.raises(MisfitError, match=r"Robot-v0 (gave an observation that its space|changed its)"):
        view_of(NESTED, "Robot-v0").flatten(seen)


@pytest.mark.parametrize(
    "space", [MultiDiscrete([3, 2], start=[1, 0]), MultiBinary(3), spaces.Tuple([Discrete(2), Discrete(4)])]
)
def test_several_choices_at_once_are_numbered(space: Any) -> None:
    class Arcade(gymnasium.Env[Any, Any]):
        observation_space, action_space = Discrete(2), space

    env = NumberedActions(Arcade())
    made = [env.action(n) for n in range(int(env.action_space.n))]  # type: ignore[attr-defined]
    assert all(one in space for one in made)
    assert len({str(one) for one in made}) == len(made) == math.prod(map(len, numbered_choices(space) or []))


def test_too_many_choices_at_once() -> None:
    class Arcade(gymnasium.Env[Any, Any]):
        observation_space, action_space = Discrete(2), MultiBinary(12)

    with pytest.raises(DistinguoError, match=r"has 4,096 combinations of actions; allowed are 1 to 1,000; "):
        NumberedActions(Arcade())


@pytest.mark.parametrize("space", [Box(0, 1, shape=(0,)), Box(0, 1, shape=(2, 0)), spaces.Tuple([])])
def test_observations_of_nothing(space: Any) -> None:
    with pytest.raises(DistinguoError, match=r"Robot-v0 observes .* which is empty; give it a coordinate"):
        view_of(space, "Robot-v0")


def test_numbers_that_no_float_holds() -> None:
    with pytest.raises(DistinguoError, match=r"allowed are numbers up to 2\*\*53"):
        view_of(Discrete(5, start=2**53), "Far-v0")


@pytest.mark.parametrize("space", [box((4,), np.float32), MultiDiscrete([2] * 4)])
def test_a_changed_shape(space: Any) -> None:
    view = view_of(space, "Robot-v0")
    with pytest.raises(MisfitError, match=r"Robot-v0 changed its observation shape from \(4,\) to \(3,\)\."):
        view.flatten(np.zeros(3, dtype=space.dtype))
    with pytest.raises(MisfitError, match=r"changed its observation shape from \(4,\) to \(4, 1\)"):
        view.flatten(np.zeros((4, 1), dtype=space.dtype))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite(value: float) -> None:
    view = view_of(box((2, 2), np.float64), "Robot-v0")
    with pytest.raises(MisfitError, match=f"observation that is not finite: o1_0 is {value}"):
        view.flatten(np.array([[1.0, 2.0], [value, 4.0]]))


def test_the_greatest_numbers() -> None:
    view = view_of(box((2,), np.float64), "Robot-v0")
    for allowed in ((1e100, 1e100), (-1e100, 1e100)):
        assert view.flatten(np.array(allowed)) == allowed
    for beyond in ((1.0, 1.1e100), (-1e308, 1e308)):  # their squares, or their differences, are not finite
        with pytest.raises(DistinguoError, match=r"with o. = .*e\+[13]0.; allowed are numbers up to 1e\+100"):
            view.flatten(np.array(beyond))


@pytest.mark.parametrize(
    "observation", [None, "ab", {"a": 1}, [[1.0], [1.0, 2.0]], np.array(["a", "b"]), 1j, [None, 1]]
)
def test_things_that_are_no_points(observation: Any) -> None:
    kind = type(observation).__name__
    with pytest.raises(
        MisfitError, match=rf"gave an observation that its space Box.* does not hold: .* \({kind}\)"
    ):
        view_of(box((2,), np.float64), "Robot-v0").flatten(observation)


@pytest.mark.parametrize("observation", [None, 1.0, 5, -1, "1", np.float64(2), {"a": 1}])
def test_things_that_are_no_categories(observation: Any) -> None:
    with pytest.raises(
        MisfitError, match=r"gave an observation that its space Discrete\(5\) does not hold: "
    ):
        view_of(Discrete(5), "Robot-v0").flatten(observation)


def test_a_long_thing_is_not_shown_in_full() -> None:
    with pytest.raises(MisfitError) as caught:
        view_of(Discrete(5), "Robot-v0").flatten("x" * 10_000)
    assert len(str(caught.value)) < 160


def test_lists_and_bare_numbers_are_points_too() -> None:
    assert view_of(box((2,), np.float64), "Robot-v0").flatten([1, 2.5]) == (1.0, 2.5)
    assert view_of(box((), np.float64), "Robot-v0").flatten(3) == (3.0,)


def test_actions() -> None:
    assert choices_of(Discrete(4), "Robot-v0") == Choices(4, 0)
    assert choices_of(Discrete(4, start=2), "Robot-v0") == Choices(4, 2)
    advice = r"DiscreteActions\(env, levels=3\), or add --set task.levels=3\."
    with pytest.raises(DistinguoError, match=f"Robot-v0 has continuous actions, Box.*{advice}"):
        choices_of(POINT, "Robot-v0")
    with pytest.raises(
        DistinguoError, match=r"Robot-v0 has actions of a MultiDiscrete; allowed is Discrete; "
    ):
        choices_of(MultiDiscrete([2, 2]), "Robot-v0")
