"""The game against the worst case, the neighbours of cells and what is split, against slow and plain answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo_lab.learners.partigame.game import (
    aim_between,
    best_aim,
    cell_at,
    find_part,
    link_outcomes,
    list_neighbours,
    note_arrival,
    numbered_part,
    solve_game,
    split_at,
    split_border,
    worst_case,
)
from distinguo_lab.learners.partigame.memory import NOTHING, PartiMemory, fresh_parti
from tests.nightly import so_many

MANY = settings(max_examples=so_many(30, nightly=500), deadline=None)


@st.composite
def divided(draw: st.DrawFn, most: int = 14) -> PartiMemory:
    """Draw some cells: every split halves one of them, along any coordinate."""
    dimensions = draw(st.integers(1, 3))
    memory = fresh_parti(32, dimensions, actions=2)
    for _ in range(draw(st.integers(1, most))):
        cell = draw(st.integers(0, int(memory.counters["cells"][0]) - 1))
        axis = draw(st.integers(0, dimensions - 1))
        split_at(memory, cell, axis, (memory.low[cell, axis] + memory.high[cell, axis]) / 2)
    memory.counters["goal"] = draw(st.integers(0, int(memory.counters["cells"][0]) - 1))
    list_neighbours(memory)
    link_outcomes(memory)
    return memory


@st.composite
def played(draw: st.DrawFn) -> PartiMemory:
    """Draw cells of which some aims were seen to lead anywhere at all."""
    memory = draw(divided())
    cells = int(memory.counters["cells"][0])
    for cell in range(cells):
        for other in aims_of(memory, cell):
            for result in draw(st.lists(st.integers(0, cells - 1), max_size=2)):
                note_arrival(memory, cell, other, result, draw(st.integers(1, 9)))
    return memory


def aims_of(memory: PartiMemory, cell: int) -> list[int]:
    return memory.aimed_at[memory.first_aim[cell] : memory.first_aim[cell + 1]].tolist()


def slow_costs(memory: PartiMemory, by_steps: bool) -> list[float]:
    """Repeat the equation of the game for all cells, as often as a way could be long, from records alone."""
    cells, count = int(memory.counters["cells"][0]), int(memory.counters["outcomes"][0])
    records = list(
        zip(
            *(x[:count].tolist() for x in (memory.source, memory.target, memory.result, memory.steps)),
            strict=True,
        )
    )
    cost = [math.inf] * cells
    cost[int(memory.counters["goal"][0])] = 0.0
    for _ in range(cells + 1):
        before = list(cost)
        for cell in range(cells):
            if cell == memory.counters["goal"][0]:
                continue
            ways = [math.inf]
            for other in aims_of(memory, cell):
                seen = [(j, n) for i, k, j, n in records if (i, k) == (cell, other)] or [(other, 1)]
                ways.append(max((n if by_steps else 1) + before[j] for j, n in seen))
            cost[cell] = min(ways)
    return cost


@MANY
@given(played(), st.booleans())
def test_costs_are_those_of_the_equation(memory: PartiMemory, by_steps: bool) -> None:
    solve_game(memory, by_steps)
    cells = int(memory.counters["cells"][0])
    assert memory.cost[:cells].tolist() == slow_costs(memory, by_steps)


@MANY
@given(played(), st.booleans())
def test_every_outcome_of_the_best_aim_is_nearer_to_the_goal(memory: PartiMemory, by_steps: bool) -> None:
    solve_game(memory, by_steps)
    for cell in range(int(memory.counters["cells"][0])):
        if cell != memory.counters["goal"][0] and np.isfinite(memory.cost[cell]):
            aim = aim_between(memory, cell, best_aim(memory, cell, by_steps))
            assert worst_case(memory, aim, by_steps) == memory.cost[cell]
            outcome = memory.first_outcome[aim]
            while outcome != NOTHING:
                assert memory.cost[memory.result[outcome]] < memory.cost[cell]
                outcome = memory.next_outcome[outcome]


@MANY
@given(divided())
def test_neighbours_are_those_whose_faces_meet(memory: PartiMemory) -> None:
    """A little step across a face, from a point of a fine lattice, comes to a neighbour, and to nothing else."""
    cells, dimensions = int(memory.counters["cells"][0]), memory.low.shape[1]
    found: set[tuple[int, int]] = set()
    for cell in range(cells):
        for axis in range(dimensions):
            for side in (memory.low[cell, axis] - 1e-9, memory.high[cell, axis] + 1e-9):
                found |= {(cell, other) for other in across(memory, cell, axis, side)}
    assert found == {(cell, other) for cell in range(cells) for other in aims_of(memory, cell)}


def across(memory: PartiMemory, cell: int, axis: int, side: float) -> set[int]:
    """Return the cells beyond a face of a cell: those that hold one of its points, between all cuts there are."""
    if not 0.0 < side < 1.0:
        return set()
    count = int(memory.counters["cells"][0])
    places: list[list[float]] = []
    for i in range(memory.low.shape[1]):
        edges = np.unique(np.concatenate([memory.low[:count, i], memory.high[:count, i]]))
        middles = (edges[1:] + edges[:-1]) / 2
        inside = middles[(middles > memory.low[cell, i]) & (middles < memory.high[cell, i])]
        places.append([side] if i == axis else inside.tolist())
    grid = np.stack([g.ravel() for g in np.meshgrid(*places, indexing="ij")], axis=1)
    return {cell_at(memory, place) for place in grid}


@MANY
@given(played())
def test_only_losers_beside_winners_are_split_and_those_winners(memory: PartiMemory) -> None:
    solve_game(memory, False)
    cells, goal = int(memory.counters["cells"][0]), int(memory.counters["goal"][0])
    lost = [bool(np.isinf(memory.cost[cell])) for cell in range(cells)]
    wanted = set()
    for cell in range(cells):
        for other in aims_of(memory, cell):
            if lost[cell] and not lost[other]:
                wanted |= {cell, other}
    wanted -= {goal}
    low, high = memory.low[:cells].copy(), memory.high[:cells].copy()
    kept = outcomes_without(memory, wanted)
    assert split_border(memory, 1e-6) == bool(wanted)
    changed = (memory.low[:cells] != low).any(axis=1) | (memory.high[:cells] != high).any(axis=1)
    assert set(np.flatnonzero(changed).tolist()) == wanted
    assert memory.counters["cells"][0] == cells + len(wanted)
    assert outcomes_without(memory, set()) == kept if wanted else True
    for cell in wanted:
        widths = high[cell] - low[cell]
        axis = int(widths.argmax())
        assert memory.high[cell, axis] - memory.low[cell, axis] == widths[axis] / 2


def outcomes_without(memory: PartiMemory, cells: set[int]) -> list[tuple[Any, ...]]:
    count = int(memory.counters["outcomes"][0])
    rows = zip(*(x[:count].tolist() for x in (memory.source, memory.target, memory.result)), strict=True)
    return sorted(row for row in rows if not cells & set(row))


def test_narrow_cells_and_the_goal_stay_whole() -> None:
    memory = fresh_parti(8, 1, actions=2)
    memory.counters["goal"] = split_at(memory, 0, 0, 0.5)
    list_neighbours(memory)
    note_arrival(memory, 0, 1, 0, 1)
    solve_game(memory, False)
    assert np.isinf(memory.cost[0])
    assert not split_border(memory, 0.3)
    assert split_border(memory, 0.25)
    assert memory.counters["cells"][0] == 3


@MANY
@given(divided(), st.integers(0, 5), st.lists(st.floats(0, 1, exclude_max=True), min_size=3, max_size=3))
def test_parts_are_found_by_place_and_by_number(
    memory: PartiMemory, fineness: int, place: list[float]
) -> None:
    """Of the parts of a cell, exactly the one that is found by a place contains it."""
    point = np.array(place[: memory.low.shape[1]])
    cell = cell_at(memory, point)
    find_part(memory, cell, point, fineness)
    found = memory.centre.tolist()
    holding = []
    for number in range(1 << fineness, 2 << fineness):
        assert numbered_part(memory, cell, number) == fineness
        if (memory.lower <= point).all() and (point < memory.upper).all():
            holding.append(memory.centre.tolist())
    assert holding == [found]
