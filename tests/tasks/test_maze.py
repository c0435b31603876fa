"""The maze: no move goes through a wall, whatever is done, and the threshold is what the shortest way says."""

from __future__ import annotations

import heapq
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.tasks.catalog import task_spec
from distinguo.tasks.check import check_task
from distinguo.tasks.maze import DIRECTIONS, GOAL_HIGH, GOAL_LOW, WALLS, Maze
from distinguo.tasks.task import goal_box, start, transition
from tests.nightly import so_many

MOVES = st.lists(st.integers(0, len(DIRECTIONS) - 1), min_size=1, max_size=60)
MAZES = st.builds(Maze, layout=st.integers(0, 3), stride=st.floats(0.001, 0.1))


def crosses(a: tuple[float, float], b: tuple[float, float], wall: tuple[float, float, float, float]) -> bool:
    """Tell whether a way crosses a wall, which is along an axis, by solving for where it comes to the wall's line."""
    along = 0 if wall[0] == wall[2] else 1
    line, gone = wall[along], b[along] - a[along]
    if (a[along] - line) * (b[along] - line) > 0 or gone == 0:
        return False
    there = a[1 - along] + (b[1 - along] - a[1 - along]) * (line - a[along]) / gone
    return wall[1 - along] + 1e-9 < there < wall[3 - along] - 1e-9


@settings(max_examples=so_many(100, nightly=3000), deadline=None)
@given(MAZES, st.integers(0, 10**6), MOVES)
def test_no_move_goes_through_a_wall(maze: Maze, seed: int, moves: list[int]) -> None:
    s = start(maze, np.random.default_rng(seed))
    for a in moves:
        to, reward, arrived = transition(maze, s, a)
        assert reward == -1.0
        assert all(0.0 <= x <= 1.0 for x in to)
        assert not any(crosses(s, to, wall) for wall in WALLS[: maze.layout])
        low, high = goal_box(maze) or ((), ())
        assert arrived == all(a <= x <= b for a, x, b in zip(low, to, high, strict=True))
        assert to == s or math.isclose(math.dist(s, to), maze.stride, rel_tol=1e-9)
        s = to


def test_a_move_along_a_wall_or_past_its_end_is_free() -> None:
    maze = Maze()
    assert transition(maze, (0.29, 0.4), 2)[0] == (0.29, 0.4 + 0.05)
    assert transition(maze, (0.29, 0.71), 0)[0] == (0.29 + 0.05, 0.71)
    assert transition(maze, (0.29, 0.69), 0)[0] == (0.29, 0.69)
    assert transition(maze, (0.98, 0.2), 0)[0] == (0.98, 0.2)


def test_the_threshold_is_twice_the_shortest_way() -> None:
    """Walk around the ends of the walls: straight lines between them, the start and the goal that touch no wall."""
    spec = task_spec("maze")
    ends = [
        (x, y)
        for wall in WALLS
        for x, y in ((wall[0], wall[1]), (wall[2], wall[3]))
        if 0 < x < 1 and 0 < y < 1
    ]
    goals = [(GOAL_LOW, GOAL_LOW), (0.5 * (GOAL_LOW + GOAL_HIGH), GOAL_LOW)]
    points = [(0.1, 0.1), *ends, *goals]
    best, todo = {points[0]: 0.0}, [(0.0, points[0])]
    while todo:
        length, here = heapq.heappop(todo)
        for there in points:
            further = length + math.dist(here, there)
            if not any(crosses(here, there, wall) for wall in WALLS) and further < best.get(there, math.inf):
                best[there] = further
                heapq.heappush(todo, (further, there))
    strides = min(best[goal] for goal in goals) / spec.task.stride
    assert spec.threshold is not None
    assert math.isclose(-spec.threshold, 2 * strides, rel_tol=0.01)


def test_it_keeps_the_contract() -> None:
    check_task(task_spec("maze"))
