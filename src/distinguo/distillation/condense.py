"""``condense``: the fewest prototypes that keep the return of a controller.

Prototypes are removed one by one, each time the one that costs least on the same starts. Then the others are moved,
stretched and given other actions until the loss is regained or nothing helps any more. The best map of every size,
with its return, is the size-return curve. Where the paper's learner sampled amounts, regions first merge where one
law does for all of them (:mod:`distinguo.distillation.merging`), into the fewest laws that keep the return.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.criteria import preferred, state_value
from distinguo.distillation.merging import merged_maps, only_used
from distinguo.errors import DistinguoError, attempt, checks_names, counted, one_line, shown, whole_number
from distinguo.evaluation.confirmation import is_reached, spent_error
from distinguo.interrupts import held
from distinguo.learners.catalog import ECONOMY
from distinguo.learners.refinement.improvement import Improvement, OutOfStepsError
from distinguo.progress import show_progress
from distinguo.reading.arrays import read_arrays
from distinguo.reading.files import MEBIBYTE, parse_json, read_text
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import Voronoi
from distinguo.runs import learn as learning
from distinguo.runs.configuration import check_seed
from distinguo.runs.folder import CHECKPOINT, CURVE, working_on, write_whole
from distinguo.runs.history import Frame
from distinguo.runs.request import RunRequest, as_asked
from distinguo.runs.run import Run
from distinguo.seam import is_compiled
from distinguo.search.maps import PrototypeMap, controller_of, drop_prototype, map_of, prototype_map
from distinguo.search.races import Candidate
from distinguo.search.trials import Trail, fresh_trail
from distinguo.tasks.amounts import count_stored, laws_of, with_laws
from distinguo.tasks.spec import LARGEST, TaskSpec
from distinguo.tasks.task import memories
from distinguo.writing import pack_arrays, write_atomically

STARTS = 20  #: trials that decide on proposals
TRIALS = 100  #: new trials for the return of every size
PATIENCE = 60  #: proposals without a gain before a size is accepted as it is
CAP = 10_000  #: steps of a trial at most, where the task has no limit
#: The usual budget of a compiled task, and of one that is run as plain Python.
STEPS, SLOW_STEPS = 10**9, 10**7
LEARNING = 0.9  #: the share of the budget after which no smaller map is tried; the rest confirms one
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
    #: Whether the budget of steps ended before all sizes were tried, or before one was confirmed.
    ended: bool = False
    laws: np.ndarray | None = None  #: those of the smaller controller, where regions were merged into laws

    @property
    def chosen(self) -> Candidate:
        """The map of the controller, on the size-return curve."""
        size = len(self.controller.partition.prototypes)
        return next(candidate for candidate in self.dial if candidate.size == size)


@checks_names()
def condense(
    run: Run,
    *,
    seed: int = 0,
    regions: int | None = None,
    steps: int | None = None,
    watch: Callable[[int], None] | None = None,
) -> Condensed:
    """Return the controller with the fewest prototypes that keeps the return of a run.

    The target is the threshold of the task or, if the run does not reach it, its own mean return. A smaller map
    counts only if new trials confirm it (evaluation/confirmation.py), else the next larger one is tried.
    ``regions`` is the most prototypes to keep, whatever that costs. ``steps`` is the most environment steps, by
    default 1,000,000,000, or 10,000,000 if the task runs as plain Python.
    """
    with show_progress("Condensing the map") as tell:
        told = watch or (lambda size: tell(f"Condensing the map: {counted(size, 'prototype')}"))
        return _condensed(run, seed, regions, steps, told, None)


def _condensed(
    run: Run,
    seed: int,
    regions: int | None,
    steps: int | None,
    watch: Callable[[int], None] | None,
    saved: Path | None,
) -> Condensed:
    """Condense, from the checkpoint in a file if there is one."""
    check_seed(seed)
    if not isinstance(run, Run):
        raise DistinguoError(f"A run is condensed, got {shown(run)}; open its folder with open_run.")
    spec, controller = run.configuration.spec, run.controller
    _check(spec, controller, regions)
    merged, sampled = None, laws_of(spec)
    if sampled is not None and run.configuration.learner_name == ECONOMY:
        merged = merged_maps(controller, sampled.table)
        spec = with_laws(spec, merged.laws)
    usual = STEPS if is_compiled(spec.task) else SLOW_STEPS
    budget = usual if steps is None else whole_number("steps", steps, 1, 10**15)
    rng = np.random.default_rng([seed, _STREAM])
    work = Improvement(spec, map_of(controller), spec.cap(CAP), rng, math.floor(LEARNING * budget))
    progress = CurveProgress(work, saved)
    try:
        if not progress.curve:
            progress.begin(merged.maps if merged else ())
        size_return_curve(work, 1, watch, progress)
    except OutOfStepsError:
        if not progress.curve:
            raise DistinguoError(
                f"A budget of {counted(budget, 'environment step')} does not suffice to run the map of {spec.name} "
                f"{TRIALS} times; allow more with --steps."
            ) from None
        progress.ended = True
    curve, target = progress.curve, _target_return(spec, progress.curve[0])
    curve_steps, work.most = progress.curve_steps, budget
    sizes = [one for one in reversed(curve) if regions is None or one.size <= regions]
    if not sizes:
        raise DistinguoError(
            f"A budget of {counted(budget, 'environment step')} does not suffice to come down to "
            f"{counted(regions or 1, 'prototype')}; allow more with --steps."
        )
    kept = progress.confirmed(sizes, target, run.configuration.stage.confidence)
    chosen = sizes[len(progress.verdicts) - 1] if progress.verdicts else curve[0]
    if not kept and regions is None:
        chosen = curve[0]
    elif not kept:  # the best of the allowed sizes
        chosen = max(sizes, key=lambda one: one.mean)
    taken, found = only_used(chosen.map, merged.laws) if merged else (chosen.map, None)
    smaller = controller_of(taken, len(spec.actions) if found is None else len(found))
    by_epsilon, confirming = regions_by_epsilon(controller), work.steps - curve_steps
    return Condensed(smaller, kept, target, curve, by_epsilon, curve_steps, confirming, progress.ended, found)


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
    work: Improvement,
    smallest: int = 1,
    watch: Callable[[int], None] | None = None,
    progress: CurveProgress | None = None,
) -> list[Candidate]:
    """Return the best map of every size, from that of ``work`` down to the smallest; ``progress`` may hold some.

    >>> from distinguo.search.maps import prototype_map
    >>> from distinguo.tasks.catalog import task_spec
    >>> three = prototype_map([[-0.5, 0.02], [-0.4, 0.03], [-0.5, -0.02]], [2, 2, 0], [1.8, 0.14])
    >>> car = Improvement(task_spec("MountainCar-v0"), three, 200, np.random.default_rng(0))
    >>> [(candidate.size, candidate.mean > -130) for candidate in size_return_curve(car)]
    [(3, True), (2, True), (1, False)]
    """
    done = progress or CurveProgress(work)
    if not done.curve:
        done.begin()
    while work.map.size > smallest and not done.verdicts:
        _leave_one_out(work)
        _regain(work, done.level)
        done.add(_measured(work))
        if watch:
            watch(work.map.size)
    return done.curve


class CurveProgress:
    """The curve so far and what was confirmed; with a file, saved there now and then to go on from.

    >>> from distinguo.search.maps import prototype_map
    >>> from distinguo.tasks.catalog import task_spec
    >>> one = prototype_map([[-0.5, 0.02]], [2], [1.8, 0.14])
    >>> CurveProgress(Improvement(task_spec("MountainCar-v0"), one, 200, np.random.default_rng(0))).curve
    []
    """

    def __init__(self, work: Improvement, path: Path | None = None) -> None:
        self.work, self.path = work, path
        self.level = 0.0  #: the return of the whole map over its starts
        self.curve: list[Candidate] = []
        self.verdicts: list[bool] = []  #: of the smallest sizes, the smallest first
        self.curve_steps = 0
        self.ended = False
        self._saved = time.monotonic()
        if path is not None and path.exists():
            load_progress(self, path)

    def begin(self, merged: Sequence[PrototypeMap] = ()) -> None:
        """Measure the whole map, and go on from the first of some maps that keeps the return, if one does."""
        work = self.work
        work.trails = work.fresh_trails(STARTS)
        self.level = _total(work)
        whole = _measured(work)
        for one in merged:
            trails = work.rerun_all(one, work.trails)
            if sum(trail.total for trail in trails) >= STARTS * _target_return(work.spec, whole):
                work.map, work.trails = one, trails
                break
        self.add(whole)

    def add(self, candidate: Candidate) -> None:
        """Add the best map of the next size."""
        self.curve.append(candidate)
        self.curve_steps = self.work.steps
        self._save()

    def confirmed(self, sizes: list[Candidate], target: float, confidence: float) -> bool:
        """Whether new trials confirm that one of some sizes keeps the return; the first that does ends it."""
        try:
            while not any(self.verdicts) and len(self.verdicts) < len(sizes):
                candidate = sizes[len(self.verdicts)]
                error = spent_error(len(self.verdicts) + 1, confidence)
                self.verdicts.append(is_kept(self.work, candidate, target, self.curve, error))
                self._save()
        except OutOfStepsError:
            self.ended = True
        return any(self.verdicts)

    def _save(self) -> None:
        if self.path is not None and time.monotonic() - self._saved > learning.CHECKPOINT_SECONDS:
            save_progress(self, self.path)
            self._saved = time.monotonic()


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


def is_kept(
    work: Improvement, candidate: Candidate, target: float, curve: list[Candidate], error: float = 0.05
) -> bool:
    """Whether a smaller map keeps the return in new trials."""
    work.map = candidate.map

    def some() -> tuple[list[float], int]:
        began = work.steps
        return [trail.total for trail in work.fresh_trails(1)], work.steps - began

    return is_reached(target, np.concatenate([one.returns for one in curve]), some, error)


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


def condensed_in(
    path: Path,
    run: Run,
    *,
    seed: int = 0,
    regions: int | None = None,
    steps: int | None = None,
    watch: Callable[[int], None] | None = None,
    draw: Callable[[Run, Condensed], None] = lambda run, condensed: None,
) -> tuple[Run, Condensed]:
    """Condense in a folder, from where an interrupted process stopped; ``draw`` adds pictures to the folder."""
    request = condense_request(run, seed, regions, steps)
    with working_on(path, request, CHECKPOINT) as finish:
        condensed = _condensed(run, seed, regions, steps, watch, path / CHECKPOINT)
        saved = _written(run, condensed, path, request)
        draw(saved, condensed)
        finish()
    return saved, condensed


def condense_request(run: Run, seed: int, regions: int | None, steps: int | None) -> RunRequest:
    """What is asked, as the folder records it; a run that cannot be condensed is rejected."""
    _check(run.configuration.spec, run.controller, regions)
    map_, name = map_of(run.controller), "run" if run.path is None else str(run.path)
    digest = hashlib.sha256(run.configuration.spec.name.encode())
    for array in (map_.prototypes, map_.actions, map_.scale):
        digest.update(array.tobytes())
    words = ["condense", name, "--seed", str(seed)]
    words += [] if regions is None else ["--regions", str(regions)]
    words += [] if steps is None else ["--steps", str(steps)]
    asked = {"run": digest.hexdigest(), "seed": seed, "regions": regions, "steps": steps}
    return RunRequest(asked, words)


def save_condensed(run: Run, condensed: Condensed, path: Path) -> Run:
    """Write the smaller controller as a run folder of its own, with its size-return curve."""
    request = condense_request(run, 0, None, None)
    with working_on(path, request, CHECKPOINT) as finish:
        saved = _written(run, condensed, path, request)
        finish()
    return saved


def _written(run: Run, condensed: Condensed, path: Path, request: RunRequest) -> Run:
    chosen = condensed.chosen
    figures = {
        "solved": bool(run.summary["solved"]) and condensed.kept,
        "score": chosen.mean,
        "regions": len(np.unique(chosen.map.actions)),
        "prototypes": chosen.size,
        "condensed_from": run.representation.prototypes,
        "kept": condensed.kept,
        "bar": condensed.bar,
        "condense_steps": condensed.steps,
        "confirmation_steps": condensed.confirmation_steps,
        "request": as_asked(request.asked),
    }
    representation = run.representation._replace(partition=condensed.controller.partition)
    q, configuration = condensed.controller.q, run.configuration
    if condensed.laws is not None:
        configuration = configuration._replace(spec=with_laws(configuration.spec, condensed.laws))
        figures["numbers"] = count_stored(condensed.laws, chosen.size)
    history = run.history if condensed.laws is None else []  # earlier maps have other actions
    smaller = run._replace(
        configuration=configuration,
        representation=representation,
        q=q,
        updates=np.zeros(q.shape, dtype=np.int64),
        summary={**run.summary, **figures},
        path=path,
        carried=None,
        history=[*history, _last_frame(run, representation, q)],
    )
    with held():
        write_whole(smaller, path, {CURVE: curve_csv(condensed.dial, chosen.size)})
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


# ---- checkpoints ---------------------------------------------------------------------------------------------------


def save_progress(progress: CurveProgress, path: Path) -> None:
    """Write the state of a descent, whole or not at all."""
    work = progress.work
    facts = {
        "version": 1,
        "rng": work.rng.bit_generator.state,
        "steps": work.steps,
        "curve_steps": progress.curve_steps,
        "level": progress.level,
        "verdicts": progress.verdicts,
        "ended": progress.ended,
        "curve": len(progress.curve),
        "trails": len(work.trails),
    }
    arrays = {"facts": np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)}
    for name, map_ in [("map", work.map), *((f"curve.{n}", one.map) for n, one in enumerate(progress.curve))]:
        arrays |= {f"{name}.prototypes": map_.prototypes, f"{name}.scale": map_.scale}
        arrays[f"{name}.actions"] = map_.actions[: map_.size]
    for n, one in enumerate(progress.curve):
        arrays[f"curve.{n}.returns"] = one.returns
    for n, trail in enumerate(work.trails):
        length = int(trail.length[0])
        arrays[f"trail.{n}.states"] = trail.states[: length + 1]
        for name in _OF_STEPS:
            arrays[f"trail.{n}.{name}"] = getattr(trail, name)[:length]
    states = np.vstack([arrays[f"trail.{n}.states"] for n in range(len(work.trails))])
    arrays |= {f"task.{name}": array for name, array in memories(work.spec.task, states).items()}
    write_atomically(path, pack_arrays(arrays))


_OF_STEPS = ("regions", "actions", "rewards")  #: the parts of a trail with an entry for every step


def load_progress(progress: CurveProgress, path: Path) -> None:
    """Go on from the state of a descent in a file."""
    arrays, work = read_arrays(path), progress.work
    try:
        facts = parse_json(arrays["facts"].tobytes(), str(path))
        if facts["version"] != 1:
            raise ValueError("its version is unknown")
        map_ = _map_of(arrays, "map", work)
        for n in range(facts["curve"]):
            returns = arrays[f"curve.{n}.returns"]
            if returns.shape != (TRIALS,) or not np.isfinite(returns).all():
                raise ValueError("its returns are wrong")
            progress.curve.append(Candidate(_map_of(arrays, f"curve.{n}", work), returns))
        trails = [_trail_of(arrays, n, work) for n in range(facts["trails"])]
        if not progress.curve or len(trails) != STARTS:
            raise ValueError("its parts are missing")
        known = {k.removeprefix("task."): v for k, v in arrays.items() if k.startswith("task.")}
        work.go_on(map_, trails, int(facts["steps"]), facts["rng"], known)
        progress.level, progress.curve_steps = float(facts["level"]), int(facts["curve_steps"])
        progress.verdicts = [verdict is True for verdict in facts["verdicts"]]
        progress.ended = facts["ended"] is True
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        raise DistinguoError(
            f"{path} is damaged ({one_line(str(error))}); delete it to begin from the start."
        ) from None


def _map_of(arrays: dict[str, np.ndarray], name: str, work: Improvement) -> PrototypeMap:
    prototypes, actions, scale = (arrays[f"{name}.{part}"] for part in ("prototypes", "actions", "scale"))
    spec = work.spec
    if prototypes.ndim != 2 or prototypes.shape[1] != len(spec.dimensions) or not len(prototypes):
        raise ValueError("its prototypes are wrong")
    if actions.shape != (len(prototypes),) or scale.shape != (len(spec.dimensions),):
        raise ValueError("the parts of a map do not fit each other")
    if not (np.isfinite(prototypes).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise ValueError("its numbers are not finite")
    if actions.dtype.kind != "i" or actions.min() < 0 or actions.max() >= len(spec.actions):
        raise ValueError("it has an unknown action")
    return prototype_map(prototypes, actions, scale)


def _trail_of(arrays: dict[str, np.ndarray], n: int, work: Improvement) -> Trail:
    states, parts = arrays[f"trail.{n}.states"], [arrays[f"trail.{n}.{name}"] for name in _OF_STEPS]
    length = len(states) - 1
    if states.ndim != 2 or not 0 < length <= work.cap or any(part.shape != (length,) for part in parts):
        raise ValueError("its trials are wrong")
    if not np.isfinite(states).all() or not np.isfinite(parts[2]).all():
        raise ValueError("its numbers are not finite")
    trail = fresh_trail(states[0], work.cap)
    trail.states[: length + 1] = states
    for name, part in zip(_OF_STEPS, parts, strict=True):
        getattr(trail, name)[:length] = part
    trail.length[0] = length
    return trail
