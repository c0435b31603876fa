"""The controllability quantization against a slow analysis by the paper's equations of motion."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.representations.boxes import Box, Boxes, leaf_boxes
from distinguo.representations.file import Representation, dumps
from distinguo.tasks.catalog import task_spec
from distinguo_lab.controls import controllability as deviation
from distinguo_lab.controls import controllability as module
from distinguo_lab.controls.controllability import (
    Trajectories,
    controllability,
    controllability_error,
    holdable_width,
    quickest_failure,
    send_all_sequences,
)
from tests.controls import needs_speed

HILL = task_spec("puck")
HORIZON = 54


@pytest.fixture(scope="module")
def made() -> Representation:
    return controllability(HILL)


def slow_error(box: Box, horizon: int = HORIZON) -> float:
    """Let all sequences of pushes run side by side; the states are the nine of a Gauss-Legendre rule."""
    (x0, v0), (x1, v1) = box
    nodes = {-np.sqrt(0.6): 5 / 18, 0.0: 8 / 18, np.sqrt(0.6): 5 / 18}
    pairs = list(itertools.product(nodes, nodes))
    x = np.array([(x0 + x1) / 2 + (x1 - x0) / 2 * a for a, _ in pairs])
    v = np.array([(v0 + v1) / 2 + (v1 - v0) / 2 * b for _, b in pairs])
    share = np.array([nodes[a] * nodes[b] for a, b in pairs])
    step = np.arange(horizon)
    early = np.array([step < change for change in range(1, horizon + 1)])
    pushes = np.where(np.concatenate([early, ~early]), -3.0, 3.0)  # (sequences, steps)
    x, v = (np.tile(c, (len(pushes), 1)) for c in (x, v))
    over = np.zeros_like(x, dtype=bool)
    worst = distances(x, v).max(axis=0)
    for f in pushes.T:
        theta = np.arctan(-0.6 * x)
        pull = (f[:, None] - 9.8 * np.sin(theta)) * np.cos(theta)
        x, v = np.where(over, x, x + 0.02 * v), np.where(over, v, v + 0.02 * pull)
        over |= np.abs(x) >= 2.4
        worst = np.maximum(worst, distances(x, v).max(axis=0))
    return float((share[:, None] * share * worst).sum())


def distances(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.hypot((x[:, :, None] - x[:, None]) / 4.8, (v[:, :, None] - v[:, None]) / 11.0)


def walk(partition: Boxes, node: int, box: Box) -> Iterator[tuple[Box, int, float]]:
    """Yield every box that ever was, with the coordinate and place of its cut; -1 if it was not cut."""
    axis, cut = int(partition.axis[node]), float(partition.cut[node])
    yield box, axis, cut
    if axis >= 0:
        low, high = halves(box, axis, cut)
        yield from walk(partition, int(partition.below[node]), low)
        yield from walk(partition, int(partition.above[node]), high)


def halves(box: Box, axis: int, cut: float) -> tuple[Box, Box]:
    (x0, v0), (x1, v1) = box
    if axis == 0:
        return ((x0, v0), (cut, v1)), ((cut, v0), (x1, v1))
    return ((x0, v0), (x1, cut)), ((x0, cut), (x1, v1))


@needs_speed
def test_every_region_is_below_the_tolerance_and_no_cut_was_needless(made: Representation) -> None:
    tolerance = made.provenance["tolerance"]
    found = list(walk(made.partition, 0, (HILL.low, HILL.high)))
    assert len(found) == 2 * made.regions - 1
    for box, axis, cut in found:
        assert (slow_error(box) < tolerance) == (axis < 0)
        if axis >= 0:
            middle = [(a + b) / 2 for a, b in zip(*box, strict=True)]
            assert cut == middle[axis]


@needs_speed
def test_cuts_leave_the_smaller_errors(made: Representation) -> None:
    cuts = [(box, axis) for box, axis, _ in walk(made.partition, 0, (HILL.low, HILL.high)) if axis >= 0]
    for box, axis in cuts[::5]:
        middle = [(a + b) / 2 for a, b in zip(*box, strict=True)]
        left = [sum(map(slow_error, halves(box, i, middle[i]))) for i in (0, 1)]
        assert left[axis] <= left[1 - axis] + 1e-9


def contains(outer: Box, inner: Box) -> bool:
    return bool((np.array(outer[0]) <= inner[0]).all() and (np.array(outer[1]) >= inner[1]).all())


def test_error_equals_the_slow_one() -> None:
    rng = np.random.default_rng(0)
    for _ in range(6):
        a, b = np.sort(rng.uniform(HILL.low, HILL.high, (2, 2)), axis=0).tolist()
        assert controllability_error(HILL, (tuple(a), tuple(b)), 20) == pytest.approx(
            slow_error((tuple(a), tuple(b)), 20), rel=1e-9
        )


@needs_speed
def test_regions_mirror_each_other(made: Representation) -> None:
    boxes = set(leaf_boxes(made.partition))
    assert {((-c, -d), (-a, -b)) for (a, b), (c, d) in boxes} == boxes


@needs_speed
def test_size_is_moderate_and_no_chance_is_involved(made: Representation) -> None:
    assert 80 <= made.regions <= 150
    assert dumps(controllability(HILL)) == dumps(made)


@needs_speed
def test_blind_is_finest_where_control_is_at_stake(made: Representation) -> None:
    """A doomed corner stays coarse; the top of the hill does not."""
    areas = {box: np.prod(np.subtract(box[1], box[0])) for box in leaf_boxes(made.partition)}
    corner = next(area for box, area in areas.items() if contains(box, ((2.3, 5.4), (2.4, 5.5))))
    top = next(area for box, area in areas.items() if contains(box, ((0.01, 0.01), (0.02, 0.02))))
    assert corner >= 16 * top


def test_a_smaller_tolerance_takes_more_regions() -> None:
    sizes = [controllability(HILL, tolerance, horizon=8).regions for tolerance in (1.0, 0.3, 0.2, 0.1)]
    assert sizes[0] == 1
    assert sizes == sorted(set(sizes))


def test_compiled_equals_interpreted() -> None:
    states = np.random.default_rng(1).uniform(HILL.low, HILL.high, (5, 2))
    found = []
    for send in (send_all_sequences, send_all_sequences.py_func):
        ended, squared = np.zeros(5, dtype=bool), np.zeros((5, 5))
        send(HILL.task, Trajectories(states, states.copy(), ended, 1 / np.array(HILL.scale), squared), 12)
        found.append(squared.tobytes())
    assert found[0] == found[1]


def test_constants_come_from_the_task() -> None:
    assert quickest_failure(HILL) == HORIZON
    assert holdable_width(HILL) == pytest.approx(2 * 0.536 / 4.8, abs=1e-3)
    assert holdable_width(task_spec("puck", {"force": 20.0})) == 1.0


@pytest.mark.parametrize(("tolerance", "horizon"), [(0.0, 5), (-1.0, 5), (np.nan, 5), (0.2, 0)])
def test_bad_constants_are_refused(tolerance: float, horizon: int) -> None:
    with pytest.raises(DistinguoError, match="positive tolerance and a horizon"):
        controllability(HILL, tolerance, horizon)


def test_a_tolerance_that_is_too_small_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_REGIONS", 20)
    with pytest.raises(DistinguoError, match=r"below 0\.01 takes more than 20 regions"):
        controllability(HILL, tolerance=0.01, horizon=5)


def test_a_task_without_a_rule_or_a_failure_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DistinguoError, match="There is no default tolerance"):
        holdable_width(HILL._replace(task=None))
    monkeypatch.setattr(deviation, "LONGEST", 20)
    with pytest.raises(DistinguoError, match="fails within 20 steps"):
        quickest_failure(HILL)
