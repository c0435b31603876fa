"""A model of the task, fitted to what was observed, in which laws are searched for before they are tried.

A step of the environment says more than its share of a return: what was observed, which amounts were taken, and what
followed. A ridge regression on fixed features (the numbers themselves, their products, and hinges between points that
were observed) predicts the next observation and the reward. A search for laws in the model costs no steps. Its result
is only a proposal: what counts are trials in the task itself, and these improve the model where it was wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from distinguo.learners.evolution.memory import EvolutionMemory, NotedSteps
from distinguo.learners.evolution.places import law_scale, prototypes_of_numbers
from distinguo.references import by_reference
from distinguo.seam import kernel

HINGES = 100  #: features that bend at a plane between observed points
MOST_FOR_PRODUCTS = 24  #: inputs up to which products of two are features, too
FREE = 0.2  #: share of the rows that a fit has to leave unexplained by the number of its features alone
RIDGES = 10.0 ** np.arange(-9, 0)  #: penalties of the regression, relative to the number of rows
COVERED = 0.02  #: share of the trials' ends below which a side of the box of observations explains nothing
UNEXPLAINED = 0.1  #: share of the ends that no side explains, above which there is a regression instead
NEWTON_STEPS, END_RIDGE = 20, 0.1  #: of the logistic regression of where trials end
MODELS = 4  #: that imagine trials in turn
FEWEST_ROWS = 100  #: steps before there is a model


class TaskModel(NamedTuple):
    """The regression: standardised observations and amounts to the change of observations and the reward."""

    planes: np.ndarray  #: (inputs, hinges)
    offsets: np.ndarray  #: (hinges,)
    weights: np.ndarray  #: (features, dimensions + 1)
    low: np.ndarray  #: (dimensions,) what was observed where trials went on
    high: np.ndarray
    ends_low: np.ndarray  #: (dimensions,) whether a trial ends beyond that side
    ends_high: np.ndarray
    ends: np.ndarray  #: of an observation and its products: a trial also ends where their sum is positive
    closed: bool  #: whether a trial ends wherever it leaves what was observed
    last: np.ndarray  #: of one and an observation: their sum is the reward of a step that ends a trial there
    least: float  #: the extreme rewards
    most: float


def rows_of(memory: EvolutionMemory) -> NotedSteps:
    """The steps that are remembered."""
    noted, status = memory.experience, memory.status[0]
    count = min(int(status["noted"]), len(noted.reward))
    trials = min(int(status["begun"]), len(noted.first))
    before, amounts, reward, ended, after = (array[:count] for array in noted[:-1])
    return NotedSteps(before, amounts, reward, ended, after, noted.first[:trials])


def work_of_step(memory: EvolutionMemory) -> int:
    """The multiplications that predict one step.

    >>> from distinguo.learners.evolution.memory import EvolutionSettings, fresh_evolution_memory
    >>> work_of_step(fresh_evolution_memory(3, 3, EvolutionSettings(), amounts=1))
    860
    """
    dimensions, inputs = len(memory.seen.mean), len(memory.seen.mean) + memory.experience.amounts.shape[1]
    products = inputs * (inputs + 1) // 2 if inputs <= MOST_FOR_PRODUCTS else 0
    return (1 + inputs + products + HINGES) * (dimensions + 1) + inputs * HINGES


def fitted_models(memory: EvolutionMemory, rng: Generator) -> list[TaskModel]:
    """Fit models that differ in their hinges; none if there is too little to learn from.

    A law that seems good to one of them may exploit its errors; those of several are not the same.
    """
    known, seen = rows_of(memory), memory.seen
    going = known.ended == 0
    if len(going) < FEWEST_ROWS:
        return []
    low, high = memory.laws.box
    before, after = (known.before - seen.centre) / seen.spread, (known.after - seen.centre) / seen.spread
    taken = (known.amounts - (low + high) / 2.0) / ((high - low) / 2.0)
    inputs = np.ascontiguousarray(np.hstack([before, taken]))
    lowest = np.minimum(before.min(axis=0), after[going].min(axis=0))
    highest = np.maximum(before.max(axis=0), after[going].max(axis=0))
    last = _fitted_last(after[~going], known.reward[~going])
    extremes = float(known.reward.min()), float(known.reward.max())
    sides, fails = (lowest, highest, *_ends(after, going, lowest, highest)), _are_failures(known)
    return [
        TaskModel(
            *_regression(inputs, going, after - before, known.reward, rng), *sides, fails, last, *extremes
        )
        for _ in range(MODELS)
    ]


def _regression(
    inputs: np.ndarray, going: np.ndarray, changes: np.ndarray, rewards: np.ndarray, rng: Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hinges, and the weights of all features; rewards where trials ended are another matter."""
    planes = rng.standard_normal((inputs.shape[1], HINGES)) / np.sqrt(inputs.shape[1])
    offsets = -np.einsum("hi,ih->h", inputs[rng.integers(len(inputs), size=HINGES)], planes)
    even = _even_features(inputs)
    features = np.hstack([even, np.maximum(inputs @ planes + offsets, 0.0)])
    nested = sorted({1 + inputs.shape[1], even.shape[1], features.shape[1]})
    if going.all():
        return planes, offsets, _ridge(features, np.hstack([changes, rewards[:, None]]), nested)
    weights = _ridge(features, changes, nested), _ridge(features[going], rewards[going, None], nested)
    return planes, offsets, np.hstack(weights)


def _ridge(features: np.ndarray, wanted: np.ndarray, nested: Sequence[int]) -> np.ndarray:
    """Ridge regressions on the first features, each with as many of them, and with the penalty, as predict best.

    What they would predict of rows left out is judged by generalised cross-validation (Golub, Heath and Wahba). Few
    rows are explained by many features whether these mean anything or not: such a fit does not count.
    """
    count, size = len(features), np.sqrt((features**2).mean(axis=0))
    size[size == 0.0] = 1.0
    features = features / size
    products, moments = features.T @ features, features.T @ wanted
    squares, best = (wanted**2).sum(axis=0), np.full(wanted.shape[1], np.inf)
    weights = np.zeros_like(moments)
    for used in nested:
        values, vectors = np.linalg.eigh(products[:used, :used])
        values = np.maximum(values, 0.0)
        turned = vectors.T @ moments[:used]
        for penalty in RIDGES * count:
            free = count - (values / (values + penalty)).sum()
            if free < FREE * count and best.max() < np.inf:
                continue
            shrunk = turned / (values + penalty)[:, None]
            left = squares - (2.0 * shrunk * turned - values[:, None] * shrunk**2).sum(axis=0)
            error = np.maximum(left, 0.0) / max(free, 1.0) ** 2
            better = error < best
            weights[:, better] = 0.0
            weights[:used, better] = (vectors @ shrunk)[:, better]
            best = np.minimum(error, best)
    return np.ascontiguousarray(weights / size[:, None])


def _ends(
    after: np.ndarray, going: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What explains the ends of trials: as few sides of the box of observations as do, or else a regression."""
    ends = after[~going]
    beyond = np.hstack([ends < low, ends > high])
    chosen = np.zeros(beyond.shape[1])
    left = np.ones(len(ends), dtype=bool)
    while left.any():
        counts = beyond[left].sum(axis=0)
        if counts.max() <= COVERED * len(ends):
            break
        side = int(counts.argmax())
        chosen[side] = 1.0
        left &= ~beyond[:, side]
    if left.sum() > UNEXPLAINED * len(ends):
        return np.zeros(len(low)), np.zeros(len(low)), _fitted_ends(after, 1.0 - going)
    return chosen[: len(low)].copy(), chosen[len(low) :].copy(), np.zeros(0)


def _are_failures(known: NotedSteps) -> bool:
    """Whether trials end by failing: their last step pays less than others, and a longer trial gains more."""
    ended = known.ended != 0
    if not ended.any() or ended.all():
        return False
    usual = known.reward[~ended].mean()
    return bool(known.reward[ended].mean() < usual or (known.reward > 0.0).mean() > 0.5)


def _fitted_last(after: np.ndarray, rewards: np.ndarray) -> np.ndarray:
    """What the last step of a trial pays, by where it ends: a landing is no crash."""
    if not len(rewards):
        return np.zeros(1 + after.shape[1])
    ones = np.ones((len(after), 1))
    return _ridge(np.hstack([ones, after]), rewards[:, None], (1, 1 + after.shape[1]))[:, 0].copy()


def _fitted_ends(after: np.ndarray, ended: np.ndarray) -> np.ndarray:
    """A logistic regression of whether a trial ended, on what was observed then and its products."""
    features = _even_features(after)
    weights = np.zeros(features.shape[1])
    weights[0] = -1.0
    for _ in range(NEWTON_STEPS):
        chances = 1.0 / (1.0 + np.exp(-np.clip(features @ weights, -30.0, 30.0)))
        slope = features.T @ (chances - ended) + END_RIDGE * weights
        bend = (features * (chances * (1.0 - chances))[:, None]).T @ features
        bend[np.diag_indices_from(bend)] += END_RIDGE
        weights -= np.linalg.solve(bend, slope)
    return weights


def _even_features(inputs: np.ndarray) -> np.ndarray:
    """One, the numbers, and their products."""
    count, width = inputs.shape
    columns = [np.ones((count, 1)), inputs]
    if width <= MOST_FOR_PRODUCTS:
        columns += [inputs[:, i : i + 1] * inputs[:, i:] for i in range(width)]
    return np.hstack(columns)


# ---- imagined trials -----------------------------------------------------------------------------------------------


class WorkSpace(NamedTuple):
    """Work space of imagined trials, as kernels allocate nothing."""

    s: np.ndarray  #: (dimensions,) the standardised observation
    x: np.ndarray  #: (inputs,) the same with the amounts
    hinges: np.ndarray
    change: np.ndarray  #: (dimensions + 1,) of the observation, and the reward
    taken: np.ndarray  #: (1,) steps so far


class ImaginedMap(NamedTuple):
    """A map of laws of standardised observations; they give amounts from -1 to 1."""

    places: np.ndarray
    widths: np.ndarray
    laws: np.ndarray


@kernel
def imagine(
    given: ImaginedMap,
    starts: np.ndarray,
    steps: int,
    model: TaskModel,
    room: WorkSpace,
    hold: bool,
    products: bool,
) -> float:
    """The mean return of a map in trials of the model."""
    given, model, room = by_reference(given), by_reference(model), by_reference(room)
    dimensions, total = len(room.s), 0.0
    for n in range(starts.shape[0]):
        for i in range(dimensions):
            room.s[i] = starts[n, i]
        length, ended = 0, False
        while not ended and length < steps:
            _take_amounts(given, _nearest(given, room.s), room)
            f = _predict_evenly(model, room, products)
            _predict_bends(model, room, f)
            ended = _move(model, room)
            length += 1
            r = _reward_at_end(model.last, room.s) if ended else room.change[dimensions]
            total += 1.0 if hold else min(model.most, max(model.least, r))
        room.taken[0] += length
    return total / starts.shape[0]


@kernel
def _nearest(given: ImaginedMap, s: np.ndarray) -> int:
    nearest, least = 0, np.inf
    for p in range(given.places.shape[0]):
        distance = 0.0
        for i in range(len(s)):
            difference = (s[i] - given.places[p, i]) / given.widths[i]
            distance += difference * difference
        if distance < least:
            nearest, least = p, distance
    return nearest


@kernel
def _take_amounts(given: ImaginedMap, a: int, room: WorkSpace) -> None:
    laws, s, x = given.laws, room.s, room.x
    dimensions = len(s)
    for i in range(dimensions):
        x[i] = s[i]
    for k in range(laws.shape[1]):
        u = laws[a, k, dimensions]
        for i in range(dimensions):
            u += laws[a, k, i] * s[i]
        x[dimensions + k] = min(1.0, max(-1.0, u))


@kernel
def _predict_evenly(model: TaskModel, room: WorkSpace, products: bool) -> int:
    """Begin the prediction with the features without bends: how many there are."""
    weights, x, change = model.weights, room.x, room.change
    for j in range(len(change)):
        change[j] = weights[0, j]
    f = 1
    for i in range(len(x)):
        for j in range(len(change)):
            change[j] += weights[f, j] * x[i]
        f += 1
    for i in range(len(x) if products else 0):
        for k in range(i, len(x)):
            product = x[i] * x[k]
            for j in range(len(change)):
                change[j] += weights[f, j] * product
            f += 1
    return f


@kernel
def _predict_bends(model: TaskModel, room: WorkSpace, f: int) -> None:
    """Add the other features, which begin at ``f``."""
    weights, x, hinges, change = model.weights, room.x, room.hinges, room.change
    for h in range(len(hinges)):
        hinges[h] = model.offsets[h]
    for i in range(len(x)):
        for h in range(len(hinges)):
            hinges[h] += model.planes[i, h] * x[i]
    for h in range(len(hinges)):
        if hinges[h] > 0.0:
            for j in range(len(change)):
                change[j] += weights[f + h, j] * hinges[h]


@kernel
def _move(model: TaskModel, room: WorkSpace) -> bool:
    """Go to the predicted observation, which stays among those observed; whether the trial ends there."""
    s, change = room.s, room.change
    for i in range(len(s)):
        s[i] += change[i]
    ended = _is_end(model.ends, s)
    for i in range(len(s)):
        if s[i] < model.low[i]:
            ended = ended or model.closed or model.ends_low[i] > 0.0
            s[i] = model.low[i]
        elif s[i] > model.high[i]:
            ended = ended or model.closed or model.ends_high[i] > 0.0
            s[i] = model.high[i]
    return ended


@kernel
def _reward_at_end(weights: np.ndarray, s: np.ndarray) -> float:
    total = weights[0]
    for i in range(len(s)):
        total += weights[1 + i] * s[i]
    return total


@kernel
def _is_end(weights: np.ndarray, s: np.ndarray) -> bool:
    """Whether a trial ends there by the regression; without weights, none does."""
    if not len(weights):
        return False
    score, f, n = weights[0], 1 + len(s), len(s)
    for i in range(n):
        score += weights[1 + i] * s[i]
        for k in range(i, n if len(weights) > 1 + n else i):
            score += weights[f] * s[i] * s[k]
            f += 1
    return bool(score > 0.0)


class Imagined:
    """The imagined return of the numbers of a search, from some starts; models of other hinges take turns."""

    def __init__(self, memory: EvolutionMemory, models: Sequence[TaskModel], size: int, steps: int) -> None:
        dimensions, amounts = len(memory.seen.centre), int(memory.facts["amounts"][0])
        self.models, self.steps, self.hold = models, steps, bool(memory.facts["hold"][0])
        self.shape = (size, amounts, dimensions + 1)
        self.products = dimensions + amounts <= MOST_FOR_PRODUCTS
        self.room = WorkSpace(*map(np.zeros, (dimensions, dimensions + amounts, HINGES, dimensions + 1, 1)))

    def __call__(self, numbers: np.ndarray, starts: np.ndarray) -> float:
        """The mean return from these starts."""
        size, amounts, affine = self.shape
        borders = len(numbers) - size * amounts * affine
        places, widths = prototypes_of_numbers(numbers[:borders], affine - 1, size)
        laws = numbers[borders:].reshape(self.shape) * law_scale(affine - 1)
        given = ImaginedMap(*map(np.ascontiguousarray, (places, widths, laws)))
        total, models = 0.0, self.models
        for k in range(min(len(models), len(starts))):
            some = starts[k :: len(models)]
            total += len(some) * imagine(
                given, some, self.steps, models[k], self.room, self.hold, self.products
            )
        return float(total / len(starts))
