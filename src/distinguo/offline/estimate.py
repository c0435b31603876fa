"""What a log says of a controller: how well its regions are covered, and estimates of its return with intervals.

*By the model*: greedy trials from logged starts, in models of half of the episodes each. Half-samples vary as the
log itself would vary if it were logged again, so their spread is the interval; it does not hold the errors that all
models share.

*By importance*: the logged episodes themselves, weighted by how likely the controller would have acted as logged,
step by step (per-decision weighted importance sampling; Precup, Sutton and Singh, 2000). The likelihood of the logged
actions is counted among the nearest logged states. It assumes no model, but says nothing where hardly any episode
agrees with the controller.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import counted
from distinguo.evaluation.simulate import follow_in
from distinguo.offline.log import Transitions, checked_log
from distinguo.offline.task import ANYWHERE, LogParameters, extremes, log_of, model_task
from distinguo.representations.partition import region
from distinguo.seam import at_speed, kernel
from distinguo.tasks.spec import LENGTH, TaskSpec
from distinguo.tasks.task import start
from distinguo.tasks.world import world_of

HALVES = 20  #: half-samples of the episodes
TRIALS = 10  #: greedy trials in a model
LONGEST = 5_000  #: steps of a trial that has no limit
LEVEL = 0.9  #: of the intervals
NEAR = 50  #: logged states among which actions are counted
FEWEST = 5  #: effective episodes below which there is no estimate
RESAMPLES = 200  #: of the episodes, for the interval of importance sampling


def findings_of(spec: TaskSpec, controller: Controller, seed: int) -> dict[str, Any]:
    """What the log of a task says of a controller; keys for the summary of a run."""
    log = log_of(spec)
    regions = regions_of_rows(controller.partition, log.before)
    return {
        "coverage": coverage(log, controller, regions),
        "estimate": by_model(spec, controller, seed) | by_importance(log, controller, regions, seed),
    }


@kernel
def _fill_regions(partition: Any, rows: np.ndarray, out: np.ndarray) -> None:
    for n in range(len(rows)):
        out[n] = region(partition, rows[n])


def regions_of_rows(partition: Any, rows: np.ndarray) -> np.ndarray:
    """The region of each row."""
    out = np.zeros(len(rows), dtype=np.int64)
    at_speed(_fill_regions, partition)(partition, rows, out)
    return out


def coverage(log: Transitions, controller: Controller, regions: np.ndarray) -> list[dict[str, int]]:
    """For each region: the logged steps in it, in how many its action was taken, and from how many episodes.

    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[0.0], [5.0]], [1.0]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> log = checked_log([[[0.0], [1.0], [4.0]], [0, 1, 0], [0.0] * 3, [[1.0], [4.0], [5.0]], [0, 0, 1]])
    >>> coverage(log, two, regions_of_rows(two.partition, log.before))[0]
    {'region': 0, 'steps': 2, 'own_action': 1, 'episodes': 1}
    """
    sets = controller.action_sets
    own = sets[regions, log.action]
    episodes = log.episodes
    return [
        {
            "region": j,
            "steps": int((regions == j).sum()),
            "own_action": int((own & (regions == j)).sum()),
            "episodes": len(np.unique(episodes[own & (regions == j)])),
        }
        for j in range(len(controller.q))
    ]


def half_of(log: Transitions, rng: np.random.Generator) -> Transitions:
    """Half of the episodes of a log, drawn at random, in their order."""
    episodes, count = log.episodes, len(log.starts)
    chosen = np.sort(rng.choice(count, max(1, count // 2), replace=False))
    rows = np.isin(episodes, chosen)
    cut = log.cut.copy()
    cut[np.flatnonzero(np.diff(episodes, append=count))] |= (
        True  # the last step of all may be within an episode
    )
    columns = (log.before, log.action, log.reward, log.after, log.ended, cut)
    return checked_log(
        [column[rows] for column in columns],
        source=log.source,
        dimensions=log.dimensions,
        actions=log.actions,
    )


def by_model(spec: TaskSpec, controller: Controller, seed: int) -> dict[str, Any]:
    """The score of greedy trials in models of half-samples, and in the model that stops where the log ends.

    The former go on where the log has nothing near, by its nearest steps. The latter is what was learned in: how many
    of its trials left the log, and their mean score with the worst after that, says what rests on this.
    """
    log, rng = log_of(spec), np.random.default_rng(seed)
    asked = LogParameters(**{k: v for k, v in spec.parameters.items() if k in LogParameters._fields})
    cautious, left = _greedy_trials(spec.task, spec, controller, rng)
    found = {
        "cautious": cautious,
        "left_log": left / TRIALS,
        "longest": spec.cap(LONGEST),
        "of": "length" if spec.score == LENGTH else "return",
    }
    if len(log.starts) < FEWEST:
        return found | {"model": None}
    halves = (half_of(log, rng) for _ in range(HALVES))
    tasks = (model_task(half, asked, spec.limit, spec.score, ANYWHERE) for half in halves)
    scores = np.array([_greedy_trials(task, spec, controller, rng)[0] for task in tasks])
    low, high = _interval(scores)
    return found | {"model": float(np.mean(scores)), "model_low": low, "model_high": high}


def _greedy_trials(
    task: Any, spec: TaskSpec, controller: Controller, rng: np.random.Generator
) -> tuple[float, int]:
    """The mean score of greedy trials from logged starts, and how many ended where the model has no answer."""
    width = len(spec.dimensions)
    world, now = world_of(task, width, width), np.zeros(width)
    run, scores = at_speed(follow_in, world), []
    unknown = task.model.store.counters["unknown"]
    before = int(unknown[0])
    for _ in range(TRIALS):
        now[:] = start(task, rng)
        length, _ended, gained = run(world, controller, rng, now, spec.cap(LONGEST))
        scores.append(length if spec.score == LENGTH else gained)
    return float(np.mean(scores)), int(unknown[0]) - before


def _interval(values: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(values, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    return float(low), float(high)


def by_importance(log: Transitions, controller: Controller, regions: np.ndarray, seed: int) -> dict[str, Any]:
    """The return by weighted importance sampling, if enough episodes agree with the controller to say anything."""
    taken, steps = _ratios(log, controller, regions), _within_episodes(log)
    count, longest = len(log.starts), int(steps.max()) + 1
    episodes = log.episodes
    weights, rewards = np.ones((count, longest)), np.zeros((count, longest))
    weights[episodes, steps], rewards[episodes, steps] = taken, log.reward
    weights = np.multiply.accumulate(weights, axis=1)  # an episode that is over keeps its weight
    final = weights[:, -1]
    effective = float(final.sum() ** 2 / (final**2).sum()) if final.any() else 0.0
    found: dict[str, Any] = {"importance": None, "effective_episodes": effective}
    if effective < FEWEST:
        return found
    rng = np.random.default_rng(seed)
    draws = [_weighted(weights, rewards, rng.integers(count, size=count)) for _ in range(RESAMPLES)]
    low, high = _interval(np.array([draw for draw in draws if math.isfinite(draw)]))
    whole = _weighted(weights, rewards, np.arange(count))
    return found | {"importance": whole, "importance_low": low, "importance_high": high}


def _weighted(weights: np.ndarray, rewards: np.ndarray, rows: np.ndarray) -> float:
    """The return of these episodes, every step of them by its weight; NaN where none agrees."""
    total = weights[rows].sum(axis=0)
    if (total == 0.0).any():
        return math.nan
    return float(((weights[rows] * rewards[rows]).sum(axis=0) / total).sum())


def _within_episodes(log: Transitions) -> np.ndarray:
    """The number of each step within its episode."""
    first = np.flatnonzero(np.concatenate([[True], log.last[:-1]]))
    numbers: np.ndarray = np.arange(len(log.action)) - first[log.episodes]
    return numbers


def _ratios(log: Transitions, controller: Controller, regions: np.ndarray) -> np.ndarray:
    """How much likelier the controller takes each logged action than the policy that was logged."""
    from scipy.spatial import cKDTree  # takes long to import

    low, high = extremes(log)
    scaled, near = log.before / (high - low), min(NEAR, len(log.before))
    around = cKDTree(scaled).query(scaled, k=near)[1].reshape(len(scaled), -1)
    same = (log.action[around] == log.action[:, None]).sum(axis=1)
    logged = (same + 1.0) / (near + len(log.actions))
    sets = controller.action_sets
    mine = sets[regions, log.action] / sets[regions].sum(axis=1)
    ratios: np.ndarray = mine / logged
    return ratios


def finding_sentences(found: Mapping[str, Any]) -> list[str]:
    """What the log says of a controller, in sentences; none for a run that was not learned from a log."""
    if "estimate" not in found:
        return []
    return [_coverage_sentence(found["coverage"]), *_estimate_sentences(found["estimate"])]


def _coverage_sentence(regions: list[dict[str, int]]) -> str:
    least = min(regions, key=lambda one: one["own_action"])
    empty = sum(one["own_action"] == 0 for one in regions)
    if empty:
        return (
            f"Coverage: in {empty} of {counted(len(regions), 'region')} the log never takes the controller's action, "
            "so what happens there is unknown."
        )
    return (
        f"Coverage of {counted(len(regions), 'region')}: the controller's action was logged least in region "
        f"{least['region']}, {counted(least['own_action'], 'time')} of {least['steps']:,}, in "
        f"{counted(least['episodes'], 'episode')}."
    )


def _estimate_sentences(found: Mapping[str, Any]) -> list[str]:
    of = f"length (stopped at {found['longest']:,})" if found["of"] == "length" else "return"
    left = f"{found['left_log']:.0%} of the trials in the model left what the log shows"
    if found["model"] is None:
        said = [f"The log has too few episodes to estimate a mean {of}; {left}."]
    else:
        said = [
            f"Estimated mean {of}: {found['model']:z,.4g}, {LEVEL:.0%} interval {found['model_low']:z,.4g} to "
            f"{found['model_high']:z,.4g} (models of half of the episodes); {left}, and with the worst after that "
            f"the mean is {found['cautious']:z,.4g}."
        ]
    if found["importance"] is None:
        said.append(
            f"Importance sampling says nothing here: {found['effective_episodes']:.1f} effective episodes of the log "
            f"agree with the controller, and {FEWEST:g} are needed."
        )
    else:
        said.append(
            f"By importance sampling: a return of {found['importance']:z,.4g}, {LEVEL:.0%} interval "
            f"{found['importance_low']:z,.4g} to {found['importance_high']:z,.4g}, from "
            f"{found['effective_episodes']:.1f} effective episodes."
        )
    return said
