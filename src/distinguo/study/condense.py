"""``condense``: the fewest prototypes that keep the return of a controller, and what each of them is worth."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.criteria import preferred, state_value
from distinguo.errors import DistinguoError, checks_names, shown
from distinguo.evaluation.confirmation import OPEN, PASSED, ReturnQuestion, judge
from distinguo.learners.probation.learner import acting_by
from distinguo.learners.refinement.condense import Notch, dial
from distinguo.learners.refinement.improvement import Improvement
from distinguo.learners.refinement.representation import map_of
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import Voronoi
from distinguo.runs.configuration import check_seed
from distinguo.runs.folder import is_finished, write_run
from distinguo.runs.run import Run
from distinguo.runs.written.history import Frame
from distinguo.tasks.spec import TaskSpec
from distinguo.writing.atomic import write_atomically

_STREAM = 3  #: follows the seed in the key of the random numbers
DIAL = "dial.csv"
CAP = 10_000  #: steps of a trial at most, where the task has no limit


class Condensed(NamedTuple):
    """The smaller controller, the best map of every size, and what it took."""

    controller: Controller
    kept: bool  #: whether it was confirmed that the return is kept
    bar: float  #: the mean return that had to be kept
    dial: list[Notch]
    by_epsilon: list[tuple[float, int]]  #: regions that are left if values this close are one
    steps: int
    confirmation_steps: int

    @property
    def notch(self) -> Notch:
        """Return the place of the controller on the dial."""
        size = len(self.controller.partition.prototypes)
        return next(notch for notch in self.dial if notch.size == size)


@checks_names()
def condense(
    run: Run, *, seed: int = 0, regions: int | None = None, watch: Callable[[int], None] | None = None
) -> Condensed:
    """Return the controller with the fewest prototypes that keeps the return of a run's.

    What is to be kept is the threshold of the task or, if the run does not reach it, its own mean return. A smaller
    map counts only if new trials confirm it (evaluation/confirmation.py), else the next larger one is tried.
    ``regions`` asks for at most so many, whatever that costs.
    """
    check_seed(seed)
    if not isinstance(run, Run):
        raise DistinguoError(f"A run is condensed, got {shown(run)}; open its folder with open_run.")
    spec, controller = run.configuration.spec, run.controller
    _check(spec, controller, regions)
    work = Improvement(spec, map_of(controller), spec.cap(CAP), np.random.default_rng([seed, _STREAM]))
    notches = dial(work, 1, watch)
    bar = _bar(spec, notches[0])
    dial_steps, chosen, kept = work.steps, notches[0], True
    for notch in reversed(notches):
        if regions is not None and notch.size > regions:
            continue
        chosen, kept = notch, is_kept(work, notch, bar, notches)
        if kept:
            break
    if regions is not None and not kept:  # at most so many, the best of them
        chosen = max((n for n in notches if n.size <= regions), key=lambda n: n.mean)
    taken = acting_by(chosen.map.prototypes, chosen.map.scale, chosen.map.actions, len(spec.actions))
    merged = regions_by_epsilon(controller)
    return Condensed(taken, kept, bar, notches, merged, dial_steps, work.steps - dial_steps)


def _check(spec: TaskSpec, controller: Controller, regions: int | None) -> None:
    if not isinstance(controller.partition, Voronoi):
        raise DistinguoError(
            "Only maps of prototypes can be condensed; this one is of another kind. Learn one with distinguo learn."
        )
    if not spec.restorable or spec.stochastic != "no":
        raise DistinguoError(
            f"condense runs trials again from the same starts, which {spec.name} cannot; learn with fewer prototypes "
            "instead: distinguo learn … --regions K."
        )
    if regions is not None and regions < 1:
        raise DistinguoError(f"--regions should be at least 1, got {regions}.")


def _bar(spec: TaskSpec, whole: Notch) -> float:
    """Return the mean return that is to be kept."""
    if spec.threshold is None or whole.mean < spec.threshold:
        return whole.mean - whole.error
    return spec.threshold


def is_kept(work: Improvement, notch: Notch, bar: float, notches: list[Notch]) -> bool:
    """Tell, by new trials, whether a smaller map keeps the return."""
    seen = np.concatenate([n.returns for n in notches])
    question = ReturnQuestion(bar, float(seen.min()), float(seen.max()))
    work.map = notch.map
    returns: list[float] = []
    began = work.steps
    while (outcome := judge(returns, work.steps - began, question) if returns else OPEN) == OPEN:
        returns += [trail.total for trail in work.fresh_trails(1)]
    return outcome == PASSED


def regions_by_epsilon(controller: Controller) -> list[tuple[float, int]]:
    """Return how many regions are left if those with the same preferred actions and values within epsilon are one.

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
    """Write the smaller controller as a run folder of its own, with its dial."""
    if is_finished(path):
        raise DistinguoError(f"{path} holds a run; choose another --out, or delete it.")
    notch = condensed.notch
    figures = {
        "solved": bool(run.summary["solved"]) and condensed.kept,
        "score": notch.mean,
        "regions": len(np.unique(notch.map.actions)),
        "prototypes": notch.size,
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
    write_run(smaller, path)
    write_atomically(path / DIAL, dial_csv(condensed.dial, notch.size))
    return smaller


def _last_frame(run: Run, representation: Representation, q: np.ndarray) -> Frame:
    """Return the smaller map as the end of the history."""
    trials, steps = int(run.summary["trials"]), int(run.summary["environment_steps"])
    return Frame(trials, steps, representation, q, run.controller.delta)


def dial_csv(notches: Iterable[Notch], chosen: int) -> str:
    """Return a dial as a table; ``chosen`` is the size that was taken."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("prototypes", "mean_return", "standard_error", "trials", "chosen"))
    for notch in notches:
        writer.writerow((notch.size, notch.mean, notch.error, len(notch.returns), int(notch.size == chosen)))
    return buffer.getvalue()
