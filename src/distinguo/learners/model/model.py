"""The learned model as a world: what happened in similar states tells what would happen in this one.

A question is a state and an action. Its *neighbours* are the tuples of that action that are nearest to the state, in
the distance of the partition. Is one of the nearest lacking within ``reach``, the answer is "not enough known": a
state of which no coordinate is a number (:func:`distinguo.tasks.world.knows`). Otherwise the nearest neighbour
tells what kind of thing happens, and

- where it ended a trial, or went farther in one step than ``reach`` (a system that was put back), the answer is
  its outcome;
- else the neighbours that did neither are fitted, coordinate by coordinate, by a plane through their displacements
  ``s' - s`` and rewards, near ones counting more: the answer is where the plane lies over the state asked about. With
  ``linear`` off it is their mean.

As the model is a world, what the paper's learner does in the task it does in the model, unchanged.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.random import Generator

from distinguo.learners.agent import field, fresh_arrays
from distinguo.learners.model.store import STARTS, Store, is_organised, reorganise
from distinguo.representations.growing import nearest
from distinguo.seam import implements, part
from distinguo.tasks.world import Sight, begin, copy_row, knows, look, step, stops

RIDGE = (
    1e-6  #: holds slopes back in directions that the neighbours do not differ in, as a share of their weight
)
NEIGHBOURS = "neighbours"


class AnswerScratch(NamedTuple):
    """Room for the answer to one question; compiled code allocates nothing."""

    near: Annotated[np.ndarray, field(int, NEIGHBOURS)]  #: the neighbours, the nearest first
    distance: Annotated[np.ndarray, field(float, NEIGHBOURS)]  #: of each, squared
    share: Annotated[np.ndarray, field(float, NEIGHBOURS)]  #: of each in the answer
    offset: Annotated[
        np.ndarray, field(float, "terms")
    ]  #: 1, and a neighbour's scaled distance per coordinate
    matrix: Annotated[np.ndarray, field(float, "terms", "terms")]
    solution: Annotated[np.ndarray, field(float, "terms")]
    answer: Annotated[np.ndarray, field(float, "dimensions")]


class LearnedModel(NamedTuple):
    """What the store says about the world, in terms of a partition."""

    store: Store
    partition: Any
    reach: float  #: the distance at which a tuple says nothing any more
    linear: bool  #: whether planes are fitted
    scratch: AnswerScratch
    spare: np.ndarray  #: (3, dimensions) rows for states on the way, as a world has them


def model_of(store: Store, partition: Any, neighbours: int, reach: float, linear: bool) -> LearnedModel:
    """Return the model that a store makes; ``neighbours`` is per term of a plane."""
    dimensions = store.before.shape[1]
    sizes = {NEIGHBOURS: neighbours * (dimensions + 1), "terms": dimensions + 1, "dimensions": dimensions}
    scratch: AnswerScratch = fresh_arrays(AnswerScratch, **sizes)
    return LearnedModel(store, partition, reach, linear, scratch, np.zeros((3, dimensions)))


@part
def scaled_square(model: LearnedModel, s: np.ndarray, row: np.ndarray) -> float:
    """Return the square of the distance, scaled as the partition's."""
    total = 0.0
    for i in range(len(s)):
        d = (s[i] - row[i]) * model.partition.weight[i]
        total += d * d
    return total


@part
def find_neighbours(model: LearnedModel, s: np.ndarray, a: int) -> int:
    """Fill in the tuples of action ``a`` nearest to ``s`` and within reach, and return how many there are.

    A prototype's tuples lie on its side of the plane halfway between it and the one nearest to ``s``; where that
    plane is farther away than the neighbours found so far, they need not be looked at.
    """
    store, partition, scratch = model.store, model.partition, model.scratch
    q = nearest(partition, s)
    own = scaled_square(model, s, partition.prototypes[q])
    count = look_through(model, s, a, q, 0)
    for p in range(partition.size[0]):
        if p == q or store.kept[p, a] == 0:
            continue
        apart = 0.0
        for i in range(len(s)):
            d = (partition.prototypes[p, i] - partition.prototypes[q, i]) * partition.weight[i]
            apart += d * d
        ahead = scaled_square(model, s, partition.prototypes[p]) - own
        # the distance to the plane is ahead / (2 sqrt(apart))
        farthest = scratch.distance[count - 1] if count == len(scratch.near) else model.reach * model.reach
        if ahead * ahead <= 4.0 * apart * farthest * (1.0 + 1e-9):
            count = look_through(model, s, a, p, count)
    return count


@part
def look_through(model: LearnedModel, s: np.ndarray, a: int, p: int, count: int) -> int:
    """Sort the tuples of prototype ``p`` and action ``a`` in among the ``count`` neighbours so far."""
    store, near, distance = model.store, model.scratch.near, model.scratch.distance
    most = len(near)
    t = store.first[p, a]
    while t >= 0:
        d = scaled_square(model, s, store.before[t])
        if d <= model.reach * model.reach and (count < most or d < distance[most - 1]):
            place = count if count < most else most - 1
            while place > 0 and distance[place - 1] > d:
                distance[place] = distance[place - 1]
                near[place] = near[place - 1]
                place -= 1
            distance[place] = d
            near[place] = t
            count = min(count + 1, most)
        t = store.following[t]
    return count


@part
def leaps(model: LearnedModel, t: int) -> bool:
    """Tell whether tuple ``t`` went farther than neighbours may be apart: it says nothing about smooth motion."""
    total = 0.0
    for i in range(model.spare.shape[1]):
        d = (model.store.after[t, i] - model.store.before[t, i]) * model.partition.weight[i]
        total += d * d
    return total > model.reach * model.reach


@part
def share_out(model: LearnedModel, s: np.ndarray, count: int) -> None:
    """Give each neighbour its share in the answer; those that ended or leapt get none.

    A neighbour at distance ``d`` counts ``(1 - (d / e)^3)^3``, where ``e`` is a little more than the farthest's.
    """
    store, scratch = model.store, model.scratch
    end = math.sqrt(scratch.distance[count - 1]) * 1.0001 + 1e-12
    total = 0.0
    for n in range(count):
        t = scratch.near[n]
        ratio = math.sqrt(scratch.distance[n]) / end
        weight = 1.0 - ratio * ratio * ratio
        weight = 0.0 if store.ended[t] or leaps(model, t) else weight * weight * weight
        scratch.share[n] = weight
        total += weight
    for n in range(count):
        scratch.share[n] /= total
    if model.linear:
        fit_plane(model, s, count)


@part
def set_offset(model: LearnedModel, s: np.ndarray, t: int) -> None:
    """Write down 1 and how far tuple ``t`` lies from ``s`` in each coordinate."""
    offset = model.scratch.offset
    offset[0] = 1.0
    for i in range(len(s)):
        offset[i + 1] = (model.store.before[t, i] - s[i]) * model.partition.weight[i]


@part
def fit_plane(model: LearnedModel, s: np.ndarray, count: int) -> None:
    """Turn weights into shares of weighted least squares: the plane's height at ``s`` is linear in all heights."""
    scratch = model.scratch
    matrix, offset, solution = scratch.matrix, scratch.offset, scratch.solution
    terms = len(offset)
    matrix[:, :] = 0.0
    for n in range(count):
        set_offset(model, s, scratch.near[n])
        for i in range(terms):
            for j in range(terms):
                matrix[i, j] += scratch.share[n] * offset[i] * offset[j]
    spread = 0.0
    for i in range(1, terms):
        spread += matrix[i, i]
    for i in range(1, terms):
        matrix[i, i] += RIDGE * spread + 1e-30
    for i in range(terms):
        solution[i] = 1.0 if i == 0 else 0.0
    solve(matrix, solution)
    for n in range(count):
        set_offset(model, s, scratch.near[n])
        height = 0.0
        for i in range(terms):
            height += solution[i] * offset[i]
        scratch.share[n] *= height


@part
def solve(matrix: np.ndarray, solution: np.ndarray) -> None:
    """Solve a positive definite system in place, by elimination."""
    terms = len(solution)
    for k in range(terms):
        for i in range(k + 1, terms):
            factor = matrix[i, k] / matrix[k, k]
            for j in range(k, terms):
                matrix[i, j] -= factor * matrix[k, j]
            solution[i] -= factor * solution[k]
    for n in range(terms):
        k = terms - 1 - n
        for j in range(k + 1, terms):
            solution[k] -= matrix[k, j] * solution[j]
        solution[k] /= matrix[k, k]


@implements(step, LearnedModel)
@part
def ask(model: LearnedModel, s: np.ndarray, a: int, out: np.ndarray) -> tuple[float, bool]:
    """Answer what action ``a`` would lead to from ``s``."""
    store, scratch = model.store, model.scratch
    if not is_organised(store, model.partition):
        reorganise(model)
    store.counters["queries"][0] += 1
    count = find_neighbours(model, s, a)
    answer = scratch.answer
    if count < len(scratch.near):
        store.counters["unknown"][0] += 1
        for i in range(len(s)):
            out[i] = np.nan
        return 0.0, False
    t = scratch.near[0]
    if store.ended[t] or leaps(model, t):
        copy_row(store.after[t], out)
        return store.reward[t], store.ended[t]
    share_out(model, s, count)
    reward = 0.0
    for i in range(len(s)):
        answer[i] = s[i]
    for n in range(count):
        t, share = scratch.near[n], scratch.share[n]
        reward += share * store.reward[t]
        for i in range(len(s)):
            answer[i] += share * (store.after[t, i] - store.before[t, i])
    copy_row(answer, out)
    return reward, False


@implements(begin, LearnedModel)
@part
def begin_again(model: LearnedModel, rng: Generator, out: np.ndarray) -> None:
    """Write the first observation of an earlier trial."""
    known = min(model.store.counters["starts"][0], STARTS)
    copy_row(model.store.starts[int(rng.random() * known)], out)


@implements(look, LearnedModel)
@part
def look_at_all(model: LearnedModel, s: np.ndarray, row: int) -> Sight:
    """See the state itself: the model knows observations only."""
    return Sight(s)


@implements(knows, LearnedModel)
@part
def is_number(model: LearnedModel, s: np.ndarray) -> bool:
    """Whether the model could answer."""
    return s[0] == s[0]


@implements(stops, LearnedModel)
@part
def is_lost(model: LearnedModel, s: np.ndarray) -> bool:
    """Whether a trial in the model cannot go on."""
    return not is_number(model, s)
