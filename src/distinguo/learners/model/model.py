"""The model that investigations ask, the memory that holds it, and its settings."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from pydantic import Field

from distinguo.learners.agent import field, fresh_arrays
from distinguo.learners.economy.memory import checked_memory, with_room
from distinguo.learners.model.store import (
    STARTS,
    Store,
    checked_store,
    is_organised,
    reorganise,
    store_with_room,
)
from distinguo.representations.growing import nearest
from distinguo.seam import implements, part
from distinguo.settings import (
    Alpha,
    Coin,
    EnoughSamples,
    Epsilon,
    EpsilonShare,
    Explore,
    Gamma,
    LearnerSettings,
    MaxSteps,
    MergeInterval,
    MinUpdates,
    Optimistic,
    Rescale,
)
from distinguo.tasks.world import Sight, begin, copy_row, knows, look, step, stops

# The learned model as a world: it predicts by what happened in similar states.
#
# A question is a state and an action. Its *neighbours* are the tuples of that action that are nearest to the state,
# in the distance of the partition. If there are not enough of them within ``reach``, the answer is "unknown": a
# state of NaN (:func:`distinguo.tasks.world.knows`). Otherwise the nearest neighbour decides:
#
# - where it ended a trial, or went farther in one step than ``reach`` (a system that was put back), the answer is
#   its outcome;
# - else the neighbours that did neither are fitted, coordinate by coordinate, by a plane through their displacements
#   ``s' - s`` and rewards, near ones counting more: the answer is the plane's height at the state. With ``linear``
#   off it is their mean.
#
# As the model is a world, the paper's learner works in it unchanged.


RIDGE = 1e-6  #: damps slopes in directions in which the neighbours do not differ, as a share of their weight
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
    """The model that a store and a partition make."""

    store: Store
    partition: Any
    reach: float  #: the distance beyond which a tuple is ignored
    linear: bool  #: whether planes are fitted
    scratch: AnswerScratch
    spare: np.ndarray  #: (3, dimensions) rows for states, as a world has them


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

    A prototype's tuples lie on its side of the plane halfway between it and the one nearest to ``s``; if that plane
    is farther away than the neighbours found so far, these tuples can be skipped.
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
    """Sort the tuples of prototype ``p`` and action ``a`` into the ``count`` neighbours so far."""
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
    """Whether tuple ``t`` moved farther than ``reach`` and so says nothing about smooth motion."""
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
    """Write 1 and the distance of tuple ``t`` from ``s`` in each coordinate."""
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
            weight = scratch.share[n] * offset[i]
            for j in range(terms):
                matrix[i, j] += weight * offset[j]
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
    """Predict the outcome of action ``a`` from ``s``."""
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
    """Observe the state itself: the model only knows observations."""
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


# The memory of the learner: that of the paper's learner, and its experience.


class ModelMemory(NamedTuple):
    """The map with its values, whose states are observations, and the store that the model asks."""

    economy: Any  #: the paper's ``Memory``, or the one that a scheduler makes of it
    store: Store


def model_in(memory: ModelMemory, settings: ModelSettings) -> LearnedModel:
    """Return the model that a memory holds."""
    return model_of(
        memory.store, memory.economy.partition, settings.neighbours, settings.reach, settings.linear
    )


def memory_with_room(memory: ModelMemory) -> ModelMemory:
    """Return the memory with room for one session: a prototype for every region."""
    economy = with_room(memory.economy, 2 * int(memory.economy.partition.size[0]) + 2)
    return ModelMemory(economy, store_with_room(memory.store, len(economy.q)))


def checked_model_memory(memory: ModelMemory, fresh: ModelMemory) -> ModelMemory:
    """Return a memory that came from a file if compiled code can trust it, else raise ``ValueError``."""
    economy, store = memory.economy, memory.store
    same = economy.q.shape[1:] == fresh.economy.q.shape[1:] and store.before.shape == fresh.store.before.shape
    if not same or economy.states.shape[1] != fresh.economy.states.shape[1]:
        raise ValueError("an array has an unexpected shape")
    if store.kept.shape != economy.q.shape or economy.partition.prototypes.shape[1] != store.before.shape[1]:
        raise ValueError("the store is not that of the map")
    return memory_with_room(ModelMemory(checked_memory(economy), checked_store(store)))


# The settings of the learner by a model: those of the paper's learner that matter to it, and the model's own.


STACK: Literal["stack"] = "stack"  #: the paper's own scheduler; the others come from the registry


class ModelSettings(NamedTuple):
    """The constants of the learner ``model``.

    >>> ModelSettings().capacity
    20000
    """

    gamma: Gamma = 0.99
    epsilon: Epsilon = 0.1
    epsilon_share: EpsilonShare = 0.0
    alpha: Alpha = 0.05
    min_updates: MinUpdates = 3
    enough_samples: EnoughSamples = 3
    max_steps: MaxSteps = 5
    coin: Coin = 0.00001
    explore: Explore = 0.0
    merge_interval: MergeInterval = 3
    optimistic: Optimistic = False
    rescale: Rescale = False
    investigate_every: Annotated[
        int,
        Field(
            ge=0,
            le=10**12,
            description="steps between investigations while no trial has ever ended, 0 none; section 5.1",
        ),
    ] = 100
    capacity: Annotated[
        int, Field(ge=1, le=10**8, description="tuples that are kept; then the oldest of many goes; ours")
    ] = 20_000
    neighbours: Annotated[
        int, Field(ge=1, le=1_000, description="tuples that an answer needs, per term of a plane; ours")
    ] = 3
    reach: Annotated[
        float, Field(gt=0, le=1_000, description="scaled distance at which a tuple tells nothing; ours")
    ] = 0.5
    linear: Annotated[
        bool, Field(description="answers fit a plane to the neighbours, else take their mean; ours")
    ] = True
    rehearsals: Annotated[
        int, Field(ge=0, le=10**6, description="trials in the model after each that ended in the world; ours")
    ] = 5
    scheduler: Annotated[
        Literal["stack", "sweeping", "dyna", "dyna-oldest", "rout"],
        Field(description="what drives investigation; paper, sections 3.2, 5.3 and 5.4"),
    ] = STACK
    investigations: Annotated[
        int,
        Field(ge=0, le=10**9, description="in a session, 0 for as many as were surprising; ours"),
    ] = 0


def economy_settings(settings: ModelSettings, ended: bool) -> LearnerSettings:
    """The settings of the paper's learner, in the world and in the model.

    Values are grounded in terminal states, and investigations begin at the ends of trials. Until a trial has
    ``ended``, the task may be one without ends. Then all values count as reliable, and investigations come at
    regular intervals (section 5.1).

    >>> [economy_settings(ModelSettings(), ended).min_updates for ended in (True, False)]
    [3, 0]
    """
    shared = {name: value for name, value in settings._asdict().items() if name in LearnerSettings._fields}
    unended = {} if ended else {"min_updates": 0}
    shared["investigate_every"] = 0 if ended else settings.investigate_every
    return LearnerSettings(**{**shared, **unended}, discount_steps=True)
