"""From a controller to a representation: a map on which another learner, with fresh values, does well.

Its values are measured by investigation, on a few new trials: the value of an action in a region is the mean return
from the first step there, if the region takes that action for the rest of the trial. Regions that no trial visits are
removed. The same trials give the price of every distinction.

A controller may only just solve its task. A learner that finds the best policy on its map can do no better, and
fails when its own trials are less lucky. So, if steps are allowed for it (``stage.refine_steps``), the map is first
improved on probation until the mean of a hundred new trials would reach the threshold with some *assurance*. How many
distinctions a fresh learner can handle is in docs/readings.md, "The tester".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.refinement.improvement import Improvement, OutOfStepsError
from distinguo.representations.voronoi import Voronoi, voronoi
from distinguo.search.maps import PrototypeMap, map_of, set_action
from distinguo.search.prices import STARTS, all_pairs, prices
from distinguo.search.trials import Trail
from distinguo.tasks.spec import TaskSpec

FRESH_TRIALS = 100  #: trials that judge a fresh learner
FEW_TRIALS = 12  #: new trials that values and prices are measured on, where the map is not improved
PRICE_STEPS = 1_000_000  #: at most; prices that take more are left out
CAP = 10_000  #: steps of a trial at most, where the task has no limit
_STREAM = 2  #: follows the seed in the key of the random numbers, so that they are not the learner's


class RepresentationSettings(NamedTuple):
    """How a controller becomes a representation; all ours (docs/readings.md, "The tester")."""

    starts: int = 40  #: trials that judge changes at first, and that are added when those were too few
    most_starts: int = 120  #: the most trials that judge changes
    assurance: float = 1.64  #: standard errors by which new trials must be above the threshold
    patience: int = 500  #: proposals without a gain before the map is accepted as it is
    steps: int = 300_000  #: environment steps after which no further change is proposed
    most_steps: int = 1_000_000  #: in all; a map that takes more is not made
    most: int = 12  #: prototypes beyond which no more are added
    settling: int = 10  #: trials for every action of every region


class Settled(NamedTuple):
    """A representation with its values, and the effort."""

    controller: Controller
    score: float  #: the mean return of the last new trials
    assured: bool  #: whether a hundred new trials reach the threshold with assurance
    steps: int  #: environment steps that were run
    gains: dict[str, int]  #: changes that paid, by where they came from


def representation_from(
    spec: TaskSpec,
    controller: Controller,
    rng: np.random.Generator,
    settings: RepresentationSettings = RepresentationSettings(),  # noqa: B008 # a tuple, never changed
) -> Settled:
    """Return a map, like the controller's, on which a fresh learner does well, with its values.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.catalog import task_spec
    >>> three = voronoi([[-0.4421, 0.0052], [-0.338, -0.0029], [-0.2853, 0.0133]], [2.852, 0.14])
    >>> narrow = Controller(three, np.array([[-1.0, -1.0, 0.0], [0.0, -1.0, -1.0], [-1.0, -1.0, 0.0]]))
    >>> better = representation_from(task_spec("MountainCar-v0"), narrow, np.random.default_rng(1))
    >>> better.assured, better.score > -107.0, len(better.controller.q) <= 12
    (True, True, True)
    """
    if not spec.restorable:
        raise DistinguoError(
            f"A representation is made by going back to earlier states, which {spec.name} cannot; test the "
            "controller's own map."
        )
    work = Improvement(spec, map_of(controller), spec.cap(CAP), rng, settings.most_steps)
    return _settle(work, work.fresh_trails(settings.starts), settings)


def _settle(work: Improvement, fresh: list[Trail], settings: RepresentationSettings) -> Settled:
    """Improve a map until new trials like the ``fresh`` ones are assured, or steps run out; measure its values."""
    spec, work.trails = work.spec, fresh
    while not (assured := is_assured(fresh, spec.threshold, settings)) and _improve(work, settings):
        fresh = work.fresh_trails(settings.starts)
        work.trails = [*work.trails, *fresh][-settings.most_starts :]
    _leave_out_unvisited(work)
    q = settled_values(work, settings.settling)
    score = float(np.mean([trail.total for trail in fresh]))
    partition = voronoi(work.map.prototypes, work.map.scale)
    return Settled(Controller(partition, q), score, assured, work.steps, work.gains)


def is_assured(trails: list[Trail], threshold: float | None, settings: RepresentationSettings) -> bool:
    """Whether new trials would reach the threshold, judged by these; always True without a threshold."""
    if threshold is None:
        return True
    totals = np.array([trail.total for trail in trails])
    error = totals.std() * np.sqrt(1.0 / len(totals) + 1.0 / FRESH_TRIALS)
    return bool(totals.mean() - settings.assurance * error >= threshold)


def _improve(work: Improvement, settings: RepresentationSettings) -> bool:
    """Propose changes until one has paid and the trials are good enough; return whether they are."""
    idle, paid = 0, False
    while not (paid and is_assured(work.trails, work.spec.threshold, settings)):
        if idle >= settings.patience or work.steps >= settings.steps:
            return False
        gain = work.propose(settings.most)
        idle, paid = 0 if gain else idle + 1, paid or gain
    return True


def _leave_out_unvisited(work: Improvement) -> None:
    visited = np.unique(np.concatenate([trail.regions[: trail.length[0]] for trail in work.trails]))
    work.map = work.map.only(visited)
    work.trails = work.rerun_all(work.map, work.trails)


def settled_values(work: Improvement, settling: int) -> np.ndarray:
    """Return the value of every action in every region, from the first step there; better actions are adopted."""
    q = np.zeros((work.map.size, len(work.spec.actions)))
    j = 0
    while j < len(q):
        q[j], _ = _tried(work, j, work.trails[:settling])
        if q[j].argmax() != work.map.actions[j]:  # by a few trials; now check with all
            q[j], others = _tried(work, j, work.trails)
            best = int(q[j].argmax())
            if q[j, best] > q[j, work.map.actions[j]]:
                work.map, work.trails, j = work.map.changed(set_action, j, best), others[best], -1
        j += 1
    return q


def _tried(work: Improvement, j: int, trails: list[Trail]) -> tuple[list[float], list[list[Trail]]]:
    """The value of each action in a region, and the trials behind it."""
    actions = range(len(work.spec.actions))
    others = [work.rerun_all(work.map.changed(set_action, j, a), trails) for a in actions]
    return [worth_from(each, j) for each in others], others


def worth_from(trails: list[Trail], j: int) -> float:
    """Return the mean sum of rewards from the first step in a region, over the trials that visit it."""
    worths = []
    for trail in trails:
        steps = np.flatnonzero(trail.regions[: trail.length[0]] == j)
        if len(steps):
            worths.append(trail.rewards[steps[0] : trail.length[0]].sum())
    return float(np.mean(worths)) if worths else 0.0


class Refined(NamedTuple):
    """The map for other learners with its values, the effort, and the price of every distinction."""

    representation: Controller
    assured: bool  #: whether a fresh learner is expected to reach the threshold on it
    steps: int
    prices: list[dict[str, Any]]
    price_steps: int


def refine_controller(spec: TaskSpec, controller: Controller, seed: int, steps: int = 0) -> Refined | None:
    """Refine a controller, with at most ``steps`` steps to improve its map.

    None if trials cannot be repeated from the same starts, or are too long.
    """
    if not spec.restorable or spec.stochastic != "no" or not isinstance(controller.partition, Voronoi):
        return None
    settings = RepresentationSettings(steps=steps) if steps else RepresentationSettings(FEW_TRIALS, steps=0)
    rng = np.random.default_rng([seed, _STREAM])
    work = Improvement(spec, map_of(controller), spec.cap(CAP), rng, settings.most_steps)
    try:
        fresh = work.fresh_trails(settings.starts)
        settled = _settle(work, fresh, settings)
    except OutOfStepsError:
        return None
    work.map, work.trails, work.most = map_of(controller), fresh[:FEW_TRIALS], work.steps + PRICE_STEPS
    try:
        entries = prices_by_reruns(work, controller.partition.regions)
    except OutOfStepsError:
        entries = []
    return Refined(settled.controller, settled.assured, settled.steps, entries, work.steps - settled.steps)


def prices_by_reruns(work: Improvement, regions: np.ndarray) -> list[dict[str, Any]]:
    """Return the price of every distinction between prototypes; ``regions`` are those of the prototypes.

    They are measured on the trials of the work, or on new ones if it has none.

    >>> from distinguo.search.maps import prototype_map
    >>> from distinguo.tasks.catalog import task_spec
    >>> swing = prototype_map([[-0.5, 0.02], [-0.5, -0.02]], [2, 0], [1.8, 0.14])
    >>> car = Improvement(task_spec("MountainCar-v0"), swing, 200, np.random.default_rng(0))
    >>> entries = prices_by_reruns(car, np.arange(2))
    >>> [(price["regions"], price["actions"], price["lost"] > 50) for price in entries]
    [([0, 1], [2, 0], True)]
    """
    trails = work.trails or work.fresh_trails(STARTS)

    def mean(given: PrototypeMap) -> float:
        return float(np.mean([trail.total for trail in work.rerun_all(given, trails)]))

    pairs = all_pairs(work.map)
    return prices(work.map, regions, pairs, lambda maps: [mean(one) for one in maps], len(trails))
