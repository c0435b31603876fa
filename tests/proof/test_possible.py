"""The possible actions of a cell hold what the policy does in every state of it, on boundaries too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.actions import ActionSets, action_bits, action_sets_of, possible_in_block, stack_for
from distinguo.proof.enclosure import cell_box, cell_of, coordinates, grid_over, state
from distinguo.proof.hold.puck import Puck
from distinguo.proof.question import controller_claim
from distinguo.representations.declare import FunctionPartition
from distinguo.representations.partition import region
from distinguo.representations.voronoi import voronoi

from .policies import ideal, random_partition

GRID = grid_over(Puck(), (200, 100))


def possible_of(partition, sets, i, j):
    policy = ActionSets(partition, sets, np.zeros(len(sets), dtype=bool), stack_for(partition))
    return possible_in_block(policy, GRID, i, j, 1, 1), policy.seen


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 30), st.sampled_from([0, 1, 5, 40]), st.integers(20, 179), st.integers(10, 89))
def test_holds_the_action_of_every_state(seed, prototypes, i, j):
    partition = random_partition(seed, prototypes)
    rows = prototypes or int((partition.axis < 0).sum())
    rng = np.random.default_rng(seed)
    sets = rng.integers(1, 4, rows)
    chosen, seen = possible_of(partition, sets, i, j)
    low, high = cell_box(GRID, i, j, 1, 1)
    corners = [(a, b) for a in (low[0], high[0]) for b in (low[1], high[1])]
    for w in [*corners, *rng.uniform(low, high, (30, 2))]:
        r = region(partition, state(GRID.matrix, tuple(w)))
        assert seen[r]
        assert sets[r] & ~chosen == 0


def test_both_sides_of_a_boundary_count_on_it():
    partition, sets = ideal(), np.array([1, 2])
    for x in np.linspace(-1, 1, 41):
        i, j = cell_of(GRID, coordinates(GRID.matrix, (x, -1.7615 * x)))
        assert possible_of(partition, sets, i, j)[0] == 3


def test_a_tie_of_two_prototypes_counts_both():
    middle = state(GRID.matrix, (0.0, 0.0))
    partition = voronoi([[middle[0] - 1, middle[1]], [middle[0] + 1, middle[1]]], [1.0, 1.0])
    i, j = cell_of(GRID, (0.0, 0.0))
    for di, dj in ((0, 0), (-1, -1), (0, -1), (-1, 0)):
        chosen, _ = possible_of(partition, np.array([1, 2]), i + di, j + dj)
        if (di, dj) != (0, -1) and (di, dj) != (-1, 0):
            assert chosen == 3


def test_few_cells_are_ambiguous():
    partition, sets = ideal(), np.array([1, 2])
    both = sum(possible_of(partition, sets, i, j)[0] == 3 for i in range(0, 200, 4) for j in range(100))
    assert both < 100


def test_actions_within_delta_are_tied():
    q = np.array([[0.0, -0.05], [0.0, -0.2]])
    assert action_bits(Controller(None, q, 0.1)).tolist() == [3, 1]
    with pytest.raises(DistinguoError, match="finite"):
        action_bits(Controller(None, np.array([[np.nan, 0.0]])))


def test_other_partitions_are_refused():
    one = Controller(FunctionPartition(lambda s: 0, 1), np.zeros((1, 2)))
    with pytest.raises(DistinguoError, match="A FunctionPartition cannot be proven; Boxes and Voronoi can"):
        action_sets_of(one)
    with pytest.raises(
        DistinguoError, match="A FunctionPartition cannot be certified; Boxes and Voronoi can"
    ):
        controller_claim(one)
