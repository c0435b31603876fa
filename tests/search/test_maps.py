"""The five moves against plain arrays; a move in a copy leaves the map as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.seam import kernel
from distinguo.search.maps import (
    PrototypeMap,
    append_prototype,
    controller_of,
    copy_map,
    drop_prototype,
    map_of,
    move_prototype,
    prototype_map,
    set_action,
    stretch_weight,
    stretch_width,
)
from tests.nightly import so_many

seeds = st.integers(0, 2**32)


def drawn(seed: int, size: int = 4, width: int = 3, room: int = 0) -> PrototypeMap:
    rng = np.random.default_rng(seed)
    return prototype_map(
        rng.normal(size=(size, width)), rng.integers(3, size=size), np.exp(rng.normal(size=width)), room
    )


def bits(map_: PrototypeMap) -> list[bytes]:
    return [column.tobytes() for column in (*map_.partition, map_.actions)]


def plainly(move_: Any, one: PrototypeMap, how: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Return prototypes, actions and scale after a move, by plain array code."""
    prototypes, actions, scale = one.prototypes.copy(), one.actions[: one.size].copy(), one.scale.copy()
    if move_ is move_prototype:
        prototypes[how[0]] = how[1]
    elif move_ is set_action:
        actions[how[0]] = how[1]
    elif move_ is append_prototype:
        prototypes, actions = np.vstack([prototypes, how[0]]), np.append(actions, how[1])
    elif move_ is drop_prototype:
        prototypes, actions = np.delete(prototypes, how[0], axis=0), np.delete(actions, how[0])
    else:
        scale[how[0]] *= how[1]
    return prototypes, actions, scale


MOVES: list[tuple[Any, tuple[Any, ...]]] = [
    (move_prototype, (1, np.array([1.0, 2.0, 3.0]))),
    (stretch_width, (1, 1.7)),
    (set_action, (2, 1)),
    (append_prototype, (np.array([4.0, 5.0, 6.0]), 2)),
    (drop_prototype, (0,)),
    (drop_prototype, (3,)),
]


@pytest.mark.parametrize(("move_", "how"), MOVES)
@settings(max_examples=so_many(10, nightly=100))
@given(seed=seeds)
def test_a_move_in_a_copy_is_what_its_name_says(move_: Any, how: tuple[Any, ...], seed: int) -> None:
    one = drawn(seed)
    before, expected = bits(one), plainly(move_, one, how)
    changed = one.changed(move_, *how)
    assert bits(one) == before
    for column, other in zip((changed.prototypes, changed.actions, changed.scale), expected, strict=True):
        np.testing.assert_array_equal(column, other)
    np.testing.assert_array_equal(changed.partition.weight, 1.0 / changed.scale)
    assert len(changed.actions) == len(changed.partition.prototypes) == changed.size  # no room to spare


@given(seeds, st.floats(0.1, 10.0))
def test_widths_and_weights_stay_each_others_inverse(seed: int, factor: float) -> None:
    one = drawn(seed)
    stretch_weight(one, 1, factor)
    np.testing.assert_array_equal(one.scale[1], 1.0 / one.partition.weight[1])
    wider = drawn(seed).changed(stretch_width, 1, 1.0 / factor)
    np.testing.assert_allclose(one.scale, wider.scale, rtol=1e-12)


@kernel
def every_move(one: PrototypeMap, place: np.ndarray) -> None:
    append_prototype(one, place, 1)
    drop_prototype(one, 1)
    move_prototype(one, 0, place)
    stretch_weight(one, 0, 1.3)
    stretch_width(one, 1, 0.7)
    set_action(one, 2, 0)


def test_moves_are_the_same_at_both_speeds_and_take_no_more_room() -> None:
    place = np.array([0.5, -0.5, 0.25])
    fast, slow = drawn(7, room=6), drawn(7, room=6)
    every_move(fast, place)
    every_move.py_func(slow, place)
    assert bits(fast) == bits(slow)
    assert (fast.size, len(fast.actions)) == (4, 6)
    target = drawn(8, size=1, room=6)
    copy_map(fast, target)
    assert [target.prototypes.tobytes(), target.actions[:4].tobytes()] == [
        fast.prototypes.tobytes(),
        fast.actions[:4].tobytes(),
    ]


@settings(max_examples=so_many(30, nightly=300))
@given(seeds, st.integers(1, 6))
def test_the_nearest_prototype_acts_and_a_controller_acts_the_same(seed: int, size: int) -> None:
    one, rng = drawn(seed, size), np.random.default_rng(seed)
    seen = rng.normal(size=(20, 3))
    far = ((seen[:, None] - one.prototypes[None]) * one.partition.weight) ** 2
    assert one.choose(seen).tolist() == one.actions[far.sum(axis=2).argmin(axis=1)].tolist()
    again = map_of(controller_of(one, 3))
    assert bits(again) == bits(one)
    assert one.choose(seen.astype(np.float32)).tolist() == again.choose(seen.astype(np.float32)).tolist()
