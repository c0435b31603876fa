"""Variable resolution: interpolation against planes, plans against a plain solver, criteria on trees made by hand."""

from __future__ import annotations

from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import distinguo as dg
from distinguo.controls import build_representation
from distinguo.errors import DistinguoError
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import Extent
from distinguo_lab.controls.resolution.corners import (
    Corners,
    ResolutionPlan,
    corners_of,
    interpolated,
    plan_on,
    weigh_corners,
)
from distinguo_lab.controls.resolution.variable import (
    CRITERIA,
    halve_best,
    influence,
    influence_scores,
    nonlinearity_scores,
    policy_scores,
    value_scores,
    variable_resolution,
    variance,
)
from distinguo_lab.growing_boxes import GrowingBoxes, growing_boxes, halve, halve_evenly
from tests.lab.test_growing_boxes import grown_trees, holders
from tests.nightly import NIGHTLY

# ---- interpolation -----------------------------------------------------------------------------------------------


@given(grown_trees(), st.data())
def test_planes_are_interpolated_exactly(tree: GrowingBoxes, data: st.DataObject) -> None:
    corners = corners_of(tree)
    slopes = np.array([data.draw(st.floats(-3, 3)) for _ in tree.low])
    s = tuple(data.draw(st.floats(a, b)) for a, b in zip(tree.low, tree.high, strict=True))
    found = interpolated(corners, corners.points @ slopes + 7.0, s)
    assert np.isclose(found, np.array(s) @ slopes + 7.0, rtol=1e-9, atol=1e-6)


def kuhn(tree: GrowingBoxes, leaf: int, s: tuple[float, ...], value: Any) -> float:
    """Interpolate by trying every order of the coordinates until all barycentric coordinates are positive."""
    low, high = tree.least[leaf], tree.most[leaf]
    inside = np.clip((np.array(s) - low) / (high - low), 0.0, 1.0)
    for order in permutations(range(len(s))):
        steps = inside[list(order)]
        weights = -np.diff([1.0, *steps, 0.0])
        if (weights >= 0).all():
            ways = [np.isin(np.arange(len(s)), order[:n]) for n in range(len(s) + 1)]
            return float(
                sum(w * value(np.where(way, high, low)) for w, way in zip(weights, ways, strict=True))
            )
    raise AssertionError


@settings(max_examples=50)
@given(grown_trees(), st.data())
def test_other_functions_are_interpolated_in_their_simplex(tree: GrowingBoxes, data: st.DataObject) -> None:
    corners = corners_of(tree)

    def bent(point: np.ndarray) -> float:
        return float(np.sin(point).sum() + np.prod(np.cos(point)))

    s = tuple(data.draw(st.floats(-200, 200)) for _ in tree.low)
    values = np.array([bent(point) for point in corners.points])
    expected = kuhn(tree, holders(tree, s)[0], s, bent)
    places, weights = np.zeros(len(s) + 1, dtype=np.int64), np.zeros(len(s) + 1)
    weigh_corners(corners, s, places, weights)
    assert np.isclose(interpolated(corners, values, s), expected, rtol=1e-9, atol=1e-9)
    assert np.isclose(weights @ values[places], expected, rtol=1e-9, atol=1e-9)
    assert np.isclose(weights.sum(), 1.0)
    assert (weights >= 0).all()


# ---- plans -------------------------------------------------------------------------------------------------------


@dg.task(name="slope", states=("x",), actions=("down", "up"), low=(0.0,), high=(1.0,), compiled=False)
class Slope(NamedTuple):
    """A walk on a line that ends with a reward at the top; a step costs a little."""

    stride: float = 0.07

    def transition(self, s: tuple[float], a: int) -> tuple[tuple[float], float, bool]:
        """Walk a step."""
        x = max(0.0, s[0] + (self.stride if a == 1 else -self.stride))
        return (x,), (1.0 if x >= 1.0 else -0.01), x >= 1.0

    def start(self, rng: np.random.Generator) -> tuple[float]:
        """Start in the middle."""
        return (0.5,)


def solved(edges: list[float], gamma: float) -> dict[float, float]:
    """Solve the slope on a line cut at these edges, by plain value iteration over a dictionary."""
    values = dict.fromkeys(edges, 0.0)

    def cell(x: float) -> int:
        return sum(x >= edge for edge in edges[1:-1])

    def look(x: float, a: int) -> float:
        gained, discount, before = 0.0, 1.0, None
        for _ in range(200):
            (x,), r, end = Slope().transition((x,), a)
            gained, discount = gained + discount * r, discount * gamma
            if end:
                return gained
            if before is not None and cell(x) != before:
                break
            before = cell(x)
        low, high = edges[cell(x)], edges[cell(x) + 1]
        share = (x - low) / (high - low)
        return gained + discount * ((1 - share) * values[low] + share * values[high])

    for _ in range(300):
        values |= {edge: max(look(edge, 0), look(edge, 1)) for edge in edges}
    return values


def line(*leaves: int) -> Corners:
    tree = growing_boxes([0.0], [1.0], room=16)
    for leaf in leaves:
        halve(tree, leaf, 0)
    return corners_of(tree)


@pytest.mark.parametrize("halved", [(), (0, 1, 1), (0, 0, 0, 1, 2)])
def test_values_are_those_of_a_plain_solver(halved: tuple[int, ...]) -> None:
    corners = line(*halved)
    plan = plan_on(Slope(), corners, actions=2, gamma=0.9)
    expected = solved(corners.points[:, 0].tolist(), 0.9)
    assert np.allclose(plan.values, [expected[x] for x in corners.points[:, 0].tolist()], atol=1e-5)
    assert np.allclose(plan.q.max(axis=1), plan.values, atol=1e-5)
    assert plan.queries > 2 * len(corners.points)


def test_influence_and_variance_solve_their_equations() -> None:
    """I = 1 + P'I and v = e + D P v, by matrices."""
    plan = plan_on(Slope(), line(0, 1, 1, 3), actions=2, gamma=0.9)
    count, best = len(plan.values), plan.q.argmax(axis=1)
    chain = np.zeros((count, count))
    for c in range(count):
        np.add.at(chain[c], plan.next[c, best[c]], plan.weight[c, best[c]])
    sources = np.arange(count) % 2 == 0
    expected = np.linalg.solve(np.eye(count) - chain.T, sources.astype(float))
    assert np.allclose(influence(plan, sources), expected, rtol=1e-4)
    discount = chain.sum(axis=1)
    chance = np.divide(chain, discount[:, None], out=np.zeros_like(chain), where=discount[:, None] > 0)
    spread = chance @ plan.values**2 - (chance @ plan.values) ** 2
    own = np.linalg.solve(np.eye(count) - discount[:, None] ** 2 * chance, discount**2 * spread)
    assert own.max() > 1e-4
    assert np.allclose(variance(plan), own, rtol=1e-4, atol=1e-9)


# ---- criteria ----------------------------------------------------------------------------------------------------


def made(q: list[list[float]]) -> ResolutionPlan:
    """Two squares side by side in x, with these action values at (0,0), (0,1), (1,0), (1,1), (2,0), (2,1)."""
    tree = growing_boxes([0.0, 0.0], [2.0, 1.0], room=8)
    halve(tree, 0, 0)
    corners, rows = corners_of(tree), np.array(q)
    stay = np.zeros((6, rows.shape[1], 3), dtype=np.int64)
    return ResolutionPlan(corners, 0.9, stay, np.zeros(stay.shape), rows, rows.max(axis=1), 0)


def test_values_that_differ_along_a_coordinate_are_seen_there() -> None:
    plan = made([[v] for v in (0.0, 0.0, 4.0, 4.0, 4.0, 10.0)])
    assert value_scores(plan).tolist() == [[4.0, 0.0], [3.0, 3.0]]
    assert nonlinearity_scores(plan).tolist() == [[0.0, 0.0], [3.0, 3.0]]


def test_policies_that_differ_are_seen_at_the_edges_where_they_do() -> None:
    left, right, both = [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]
    assert policy_scores(made([left, left, right, right, right, right])).tolist() == [[0.5, 0.0], [0.0, 0.0]]
    assert policy_scores(made([left, left, left, left, left, right])).tolist() == [[0.0, 0.0], [0.25, 0.5]]
    assert not policy_scores(made([left, left, both, both, right, right])).any()
    assert not policy_scores(made([[9.0, 0.0], *[left] * 5])).any()


def test_influence_counts_only_where_a_value_is_uncertain_and_matters() -> None:
    left, right = [1.0, 0.0], [0.0, 1.0]
    certain = made([left, left, right, right, right, right])
    assert not influence_scores(certain).any()  # every action ends the trial: nothing varies
    weight, following = certain.weight.copy(), certain.next.copy()
    following[:2, :, 0], following[:2, :, 1], weight[:2, :, :2] = 2, 4, 0.45
    unsure = certain._replace(weight=weight, next=following, values=np.array([3.0, 3, 5, 5, 2, 2]))
    # the first corners lead to 5 or to 2, each as likely: a deviation of 0.9 * 1.5, at half of the corners of a leaf
    assert np.allclose(influence_scores(unsure), [[0.0, 0.5 * 0.9 * 1.5], [0.0, 0.0]])
    agreed = unsure._replace(gained=np.array([right] * 6))
    assert not influence_scores(agreed).any()


def test_the_best_leaves_are_halved_across_their_best_coordinate() -> None:
    tree = growing_boxes([0.0, 0.0], [1.0, 1.0], room=18)
    halve_evenly(tree, 16)
    scores = np.zeros((16, 2))
    scores[5], scores[9] = (1.0, 3.0), (2.0, 1.0)
    scores[3, 0] = 0.5
    assert halve_best(tree, scores) == 2  # a tenth of 16 leaves, and there is room for two
    assert tree.size[0] == 18
    assert (tree.most - tree.least)[[5, 9, 3]].tolist() == [[0.25, 0.125], [0.125, 0.25], [0.25, 0.25]]
    assert halve_best(tree, np.zeros((18, 2))) == 0


# ---- tasks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA if NIGHTLY else ["policy"])
def test_the_puck_is_held_from_every_start_that_can_be(criterion: str) -> None:
    hill = variable_resolution("puck", criterion, leaves=40)
    assert hill.representation.regions == 40
    starts = Extent(hill.spec.low, hill.spec.high).draw(np.random.default_rng(1), 4, 60)
    hold = hill.trials(starts=starts[hill.spec.controllable_among(starts)], cap=2_000)
    assert hold.ended.mean() <= 0.05
    assert hill.trials(1, cap=2_000).lengths.tolist() == [2_000]


@pytest.mark.skipif(not NIGHTLY, reason="another task to compile for")
def test_the_car_gets_up_its_hill() -> None:
    valley = variable_resolution("MountainCar-v0", "policy", leaves=500)
    assert valley.trials(100, seed=1).returns.mean() >= -110.0


def test_it_is_known_by_name_and_deterministic() -> None:
    hill = task_spec("puck")
    one, other = (build_representation("variable-resolution:policy,40", hill, seed) for seed in (1, 2))
    assert one.regions == 40
    assert all(np.array_equal(a, b) for a, b in zip(one.partition, other.partition, strict=True))
    assert one.provenance["criterion"] == "policy"
    assert one.provenance["model_queries"] > 1_000


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: variable_resolution("Acrobot-v1"), "6 numbers of a state of 4"),
        (lambda: variable_resolution("FrozenLake-v1"), "categories"),
        (lambda: variable_resolution(task_spec("CartPole-v1", interpreted=True)), "plain Python"),
        (lambda: variable_resolution(task_spec("puck", {"noise": 0.1})), "is stochastic"),
        (lambda: variable_resolution("puck", "influnce"), "did you mean 'influence'"),
        (lambda: variable_resolution("puck", leaves=1), "from 2 to 20"),
        (lambda: variable_resolution("puck", gamma=1.0), "below 1"),
        (lambda: build_representation("variable-resolution:policy,x", task_spec("puck"), 0), "policy,200"),
        (lambda: variable_resolution("puck", leaves=4).action((0.0, np.nan)), "2 finite numbers"),
    ],
)
def test_bad_input(call: Any, sentence: str) -> None:
    with pytest.raises(DistinguoError, match=sentence) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1
