"""``condense``: the fewest prototypes that keep the return of a controller.

Prototypes are removed one by one, each time the one that costs least on the same starts. Then the others are moved,
stretched and given other actions until the loss is regained or nothing helps any more. The best map of every size,
with its return, is the size-return curve.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.criteria import preferred, state_value
from distinguo.errors import DistinguoError, attempt, checks_names, shown, whole_number
from distinguo.evaluation.confirmation import OPEN, PASSED, ReturnQuestion, judge
from distinguo.learners.refinement.improvement import Improvement
from distinguo.reading.files import MEBIBYTE, read_text
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import Voronoi
from distinguo.runs.configuration import check_seed
from distinguo.runs.folder import CURVE, is_finished, write_run
from distinguo.runs.history import Frame
from distinguo.runs.run import Run
from distinguo.search.maps import controller_of, drop_prototype, map_of
from distinguo.search.races import Candidate
from distinguo.tasks.spec import LARGEST, TaskSpec

STARTS = 20  #: trials that decide on proposals
TRIALS = 100  #: new trials for the return of every size
PATIENCE = 60  #: proposals without a gain before a size is accepted as it is
CAP = 10_000  #: steps of a trial at most, where the task has no limit
_STREAM = 3  #: follows the seed in the key of the random numbers


class Condensed(NamedTuple):
    """The smaller controller, the best map of every size, and the effort."""

    controller: Controller
    kept: bool  #: whether it was confirmed that the return is kept
    bar: float  #: the target return: the mean that had to be kept
    dial: list[Candidate]  #: the size-return curve, the largest map first
    by_epsilon: list[tuple[float, int]]  #: epsilon, and the regions left if values that close are merged
    steps: int
    confirmation_steps: int

    @property
    def chosen(self) -> Candidate:
        """The map of the controller, on the size-return curve."""
        size = len(self.controller.partition.prototypes)
        return next(candidate for candidate in self.dial if candidate.size == size)


@checks_names()
def condense(
    run: Run, *, seed: int = 0, regions: int | None = None, watch: Callable[[int], None] | None = None
) -> Condensed:
    """Return the controller with the fewest prototypes that keeps the return of a run.

    The target is the threshold of the task or, if the run does not reach it, its own mean return. A smaller map
    counts only if new trials confirm it (evaluation/confirmation.py), else the next larger one is tried.
    ``regions`` is the most prototypes to keep, whatever that costs.
    """
    check_seed(seed)
    if not isinstance(run, Run):
        raise DistinguoError(f"A run is condensed, got {shown(run)}; open its folder with open_run.")
    spec, controller = run.configuration.spec, run.controller
    _check(spec, controller, regions)
    work = Improvement(spec, map_of(controller), spec.cap(CAP), np.random.default_rng([seed, _STREAM]))
    curve = size_return_curve(work, 1, watch)
    target = _target_return(spec, curve[0])
    curve_steps, chosen, kept = work.steps, curve[0], True
    for candidate in reversed(curve):
        if regions is not None and candidate.size > regions:
            continue
        chosen, kept = candidate, is_kept(work, candidate, target, curve)
        if kept:
            break
    if regions is not None and not kept:  # the best of the allowed sizes
        chosen = max((one for one in curve if one.size <= regions), key=lambda one: one.mean)
    taken = controller_of(chosen.map, len(spec.actions))
    merged = regions_by_epsilon(controller)
    return Condensed(taken, kept, target, curve, merged, curve_steps, work.steps - curve_steps)


def _check(spec: TaskSpec, controller: Controller, regions: int | None) -> None:
    if not isinstance(controller.partition, Voronoi):
        raise DistinguoError(
            "Only maps of prototypes can be condensed, and this one is of another kind; learn one with distinguo "
            "learn."
        )
    if not spec.restorable or spec.stochastic != "no":
        raise DistinguoError(
            f"condense runs trials again from the same starts, which {spec.name} cannot; learn with fewer prototypes "
            "instead: distinguo learn … --regions K."
        )
    if regions is not None and regions < 1:
        raise DistinguoError(f"--regions should be at least 1, got {regions}.")


def size_return_curve(
    work: Improvement, smallest: int = 1, watch: Callable[[int], None] | None = None
) -> list[Candidate]:
    """Return the best map of every size, from that of ``work`` down to the smallest.

    >>> from distinguo.search.maps import prototype_map
    >>> from distinguo.tasks.catalog import task_spec
    >>> three = prototype_map([[-0.5, 0.02], [-0.4, 0.03], [-0.5, -0.02]], [2, 2, 0], [1.8, 0.14])
    >>> car = Improvement(task_spec("MountainCar-v0"), three, 200, np.random.default_rng(0))
    >>> [(candidate.size, candidate.mean > -130) for candidate in size_return_curve(car)]
    [(3, True), (2, True), (1, False)]
    """
    work.trails = work.fresh_trails(STARTS)
    curve = [_measured(work)]
    level = _total(work)
    while work.map.size > smallest:
        _leave_one_out(work)
        _regain(work, level)
        curve.append(_measured(work))
        if watch:
            watch(work.map.size)
    return curve


def _total(work: Improvement) -> float:
    """The return of the map over its starts."""
    return sum(trail.total for trail in work.trails)


def _measured(work: Improvement) -> Candidate:
    return Candidate(work.map, np.array([trail.total for trail in work.fresh_trails(TRIALS)]))


def _leave_one_out(work: Improvement) -> None:
    """Remove the prototype that costs least."""
    choices = [work.map.changed(drop_prototype, j) for j in range(work.map.size)]
    trails = [work.rerun_all(choice, work.trails) for choice in choices]
    best = int(np.argmax([sum(trail.total for trail in tried) for tried in trails]))
    work.map, work.trails = choices[best], trails[best]


def _regain(work: Improvement, level: float) -> None:
    """Propose changes that add no prototype until the old return is reached, or nothing helps."""
    idle, size = 0, work.map.size
    while idle < PATIENCE and _total(work) < level:
        idle = 0 if work.propose(size) else idle + 1


def _target_return(spec: TaskSpec, whole: Candidate) -> float:
    """Return the mean return to keep."""
    if spec.threshold is None or whole.mean < spec.threshold:
        return whole.mean - whole.error
    return spec.threshold


def is_kept(work: Improvement, candidate: Candidate, target: float, curve: list[Candidate]) -> bool:
    """Whether a smaller map keeps the return in new trials."""
    seen = np.concatenate([one.returns for one in curve])
    question = ReturnQuestion(target, float(seen.min()), float(seen.max()))
    work.map = candidate.map
    returns: list[float] = []
    began = work.steps
    while (outcome := judge(returns, work.steps - began, question) if returns else OPEN) == OPEN:
        returns += [trail.total for trail in work.fresh_trails(1)]
    return outcome == PASSED


def regions_by_epsilon(controller: Controller) -> list[tuple[float, int]]:
    """The number of regions left if those with the same preferred actions and values within epsilon merge.

    >>> from distinguo.representations.voronoi import voronoi
    >>> line = voronoi([[0.0], [1.0], [2.0]], [1.0])
    >>> regions_by_epsilon(Controller(line, np.array([[1.0, 0.0], [0.9, 0.0], [0.0, 0.5]])))
    [(0.0, 3), (0.1, 2)]
    """
    rows = controller.q
    kinds = [tuple(preferred(row, controller.delta)) for row in rows]
    values = np.array([state_value(row) for row in rows])
    levels = {0.0, *(round(float(abs(a - b)), 12) for a in values for b in values)}
    counted = [(epsilon, _left(kinds, values, epsilon)) for epsilon in sorted(levels)]
    return [pair for n, pair in enumerate(counted) if n == 0 or pair[1] < counted[n - 1][1]]


def _left(kinds: list[Any], values: np.ndarray, epsilon: float) -> int:
    """Count regions, each begun by the least value that is not within epsilon of the one before."""
    count = 0
    for kind in set(kinds):
        begun = -np.inf
        for value in sorted(v for v, k in zip(values, kinds, strict=True) if k == kind):
            if value - begun > epsilon + 1e-12:
                count, begun = count + 1, value
    return count


def save_condensed(run: Run, condensed: Condensed, path: Path) -> Run:
    """Write the smaller controller as a run folder of its own, with its size-return curve."""
    if is_finished(path):
        raise DistinguoError(f"{path} holds a run; choose another --out, or delete it.")
    chosen = condensed.chosen
    figures = {
        "solved": bool(run.summary["solved"]) and condensed.kept,
        "score": chosen.mean,
        "regions": len(np.unique(chosen.map.actions)),
        "prototypes": chosen.size,
        "condensed_from": run.representation.prototypes,
        "kept": condensed.kept,
        "condense_steps": condensed.steps,
        "confirmation_steps": condensed.confirmation_steps,
    }
    representation = run.representation._replace(partition=condensed.controller.partition)
    q = condensed.controller.q
    smaller = run._replace(
        representation=representation,
        q=q,
        updates=np.zeros(q.shape, dtype=np.int64),
        summary={**run.summary, **figures},
        path=path,
        carried=None,
        history=[*run.history, _last_frame(run, representation, q)],
    )
    write_run(smaller, path, {CURVE: curve_csv(condensed.dial, chosen.size)})
    return smaller


def _last_frame(run: Run, representation: Representation, q: np.ndarray) -> Frame:
    """Return the smaller map as the end of the history."""
    trials, steps = int(run.summary["trials"]), int(run.summary["environment_steps"])
    return Frame(trials, steps, representation, q, run.controller.delta)


_COLUMNS = ("prototypes", "mean_return", "standard_error", "trials", "chosen")
LARGEST_CURVE = MEBIBYTE  #: bytes of the table


class CurvePoint(NamedTuple):
    """A row of the table of a size-return curve."""

    size: int
    mean: float
    error: float
    is_chosen: bool


def read_curve(path: Path) -> list[CurvePoint]:
    """Read the table of a size-return curve, the smallest map first."""
    header, *lines = read_text(path, LARGEST_CURVE).splitlines() or [""]
    rows = attempt(lambda: sorted(map(_point, lines)), otherwise=[])
    sizes, chosen = {row.size for row in rows}, sum(row.is_chosen for row in rows)
    if header != ",".join(_COLUMNS) or len(sizes) < len(rows) or chosen != 1:
        raise DistinguoError(f"{path} is damaged; write it again with distinguo condense.")
    return rows


def _point(line: str) -> CurvePoint:
    size, mean, error, _, chosen = line.split(",")
    point = CurvePoint(whole_number("the size", int(size), 1), float(mean), float(error), chosen == "1")
    if not abs(point.mean) <= LARGEST or not 0.0 <= point.error <= LARGEST:
        raise ValueError("a return is out of range")
    return point


def curve_csv(curve: Iterable[Candidate], chosen: int) -> str:
    """Return a size-return curve as a table; ``chosen`` is the size that was taken."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in curve:
        writer.writerow((one.size, one.mean, one.error, len(one.returns), int(one.size == chosen)))
    return buffer.getvalue()
