"""A log as a task: a model of the logged steps answers, and a trial ends where the model knows too little.

The model is that of the learner ``model``: a plane is fitted to the nearest steps of the same action. A state is
*known* if it has enough of them within reach. The reach follows from the log itself: it is the distance within which
a given share of the logged states have enough neighbours. An unknown state ends the trial with the worst that could
follow, so that no map is preferred for what the log does not show.
"""

from __future__ import annotations

import hashlib
from collections import namedtuple
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.errors import DistinguoError
from distinguo.learners.model.model import LearnedModel, ask, model_of
from distinguo.learners.model.store import Store, fresh_store, organise
from distinguo.offline.log import Transitions
from distinguo.representations.growing import growing_voronoi
from distinguo.seam import implements, part
from distinguo.settings import checked
from distinguo.tasks.catalog import AbsentTask
from distinguo.tasks.declare import reader
from distinguo.tasks.spec import CATEGORIES, LENGTH, RETURN, Parameters, TaskSpec
from distinguo.tasks.task import actions, seeded, start, transition, unpack

OF_A_LOG = (
    "A model of logged steps cannot be proven, and these trials were in it; name the real task: --task NAME."
)
HORIZON = 1_000  #: steps that the worst is expected to last, where neither the task nor the log has a limit


class LogParameters(NamedTuple):
    """The parameters of a log as a task.

    >>> LogParameters().known
    0.99
    """

    neighbours: Annotated[
        int, Field(ge=1, le=1_000, description="logged steps that an answer needs, per term of a plane; ours")
    ] = 3
    known: Annotated[
        float, Field(gt=0, le=1, description="share of the logged states that count as known; ours")
    ] = 0.99
    limit: Annotated[int, Field(ge=0, le=10**12, description="steps of a trial, 0 for no limit; ours")] = 0
    score: Annotated[
        Literal["", "length", "return"],
        Field(description="what trials are judged by; '' follows from the log"),
    ] = ""
    threshold: Annotated[
        float | None, Field(allow_inf_nan=False, description="the mean return that solves it; ours")
    ] = None


#: What a logged task holds: a model, the reward of what is unknown, the range of rewards, and the episodes' ends.
FIELDS = ("model", "lost", "least", "greatest", "cut")


@cache
def _kind_of(width: int) -> Any:
    """The class of the logged tasks of ``width`` coordinates: states are tuples of that length."""
    kind: Any = namedtuple(f"{LOGGED}{width}", FIELDS)  # type: ignore[misc]
    kind.__module__ = __name__
    read = part(reader(width))

    @implements(transition, kind)
    def _transition(task: Any, s: Any, a: int) -> Any:
        row, out = task.model.spare[0], task.model.spare[1]
        for i in range(len(s)):
            row[i] = s[i]
        r, ended = ask(task.model, row, a, out)
        if out[0] != out[0]:  # unknown
            return s, task.lost, True
        return read(task, out), min(max(r, task.least), task.greatest), ended

    @implements(start, kind)
    def _start(task: Any, rng: np.random.Generator) -> Any:
        starts = task.model.store.starts
        return read(task, starts[int(rng.random() * len(starts))])

    @implements(actions, kind)
    def _actions(task: Any) -> int:
        return task.model.store.kept.shape[1]

    implements(unpack, kind)(read)

    @implements(seeded, kind)
    def _seeded(task: Any, seed: int) -> Any:
        """A task with rows of its own, as several threads may ask at once."""
        model: LearnedModel = task.model
        store = model.store._replace(counters=model.store.counters.copy())
        needed = len(model.scratch.near) // (len(model.spare[0]) + 1)
        return task._replace(model=model_of(store, model.partition, needed, model.reach, model.linear))

    return kind


LOGGED = "LoggedTask"


def __getattr__(name: str) -> Any:
    """The classes of logged tasks by name, for kernels that are kept on disk."""
    if name.startswith(LOGGED) and name.removeprefix(LOGGED).isdecimal():
        return _kind_of(int(name.removeprefix(LOGGED)))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def is_logged(task: Any) -> bool:
    """Whether a task is a log.

    >>> is_logged(None)
    False
    """
    return type(task).__module__ == __name__


def log_spec(
    log: Transitions, parameters: Parameters | None = None, like: TaskSpec | None = None
) -> TaskSpec:
    """Describe a log as a task; what solves it, its limit and its units are those of the task it is ``like``.

    >>> from distinguo.offline.log import checked_log
    >>> steps = [[n / 10] for n in range(10)]
    >>> spec = log_spec(checked_log([steps[:-1], [0] * 9, [0.0] * 9, steps[1:], [False] * 9]))
    >>> spec.dimensions, spec.actions, spec.low, spec.high
    (('s0',), ('a0',), (0.0,), (0.9,))
    """
    asked = checked(LogParameters, parameters or {}, "task")
    low, high = extremes(log)
    score, limit, threshold = _goal(log, asked, like)
    task = model_task(log, asked, limit, score)
    made = {"file": log.source, "sha256": digest(log), **asked._asdict()}
    return TaskSpec(
        name=log.name,
        task=task,
        dimensions=log.dimensions,
        actions=log.actions,
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        score=score,
        threshold=threshold,
        limit=limit,
        parameters={key: value for key, value in made.items() if value is not None},
        portable=False,
        units=like.units if like is not None else (),
        note=_note(log),
    )


def _note(log: Transitions) -> str:
    return (
        f"{log.source}: {len(log.action):,} logged steps in {len(log.starts):,} episodes. Steps are those of a model "
        "of them; none is taken in the task itself."
    )


def extremes(log: Transitions) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest of each coordinate; at least a little apart."""
    both = np.vstack([log.before, log.after])
    low, high = both.min(axis=0), both.max(axis=0)
    return low, np.where(high > low, high, low + 1.0)


def _goal(
    log: Transitions, asked: LogParameters, like: TaskSpec | None
) -> tuple[str, int | None, float | None]:
    """What trials are judged by, their limit, and the mean return that solves the task."""
    if like is not None and like.kind == CATEGORIES:
        raise DistinguoError(
            f"Observations of {like.name} are labels, and a log is learned by distances between numbers; learn that "
            "task itself."
        )
    threshold = asked.threshold if asked.threshold is not None else like and like.threshold
    score = asked.score or (like.score if like is not None else "")
    score = score or (RETURN if threshold is not None else _apparent_score(log))
    limit = asked.limit or (like.limit if like is not None else _apparent_limit(log))
    return score, limit, threshold if score == RETURN else None


def _apparent_score(log: Transitions) -> str:
    """By length if every step is worth the same and an end is never worth more: then trials should go on."""
    going, ends = log.reward[~log.ended], log.reward[log.ended]
    if not len(going) or not len(ends) or np.ptp(going) > 0.0:
        return RETURN
    usual = going[0]
    return LENGTH if (ends < usual).all() or (usual >= 0.0 and (ends <= usual).all()) else RETURN


def _apparent_limit(log: Transitions) -> int | None:
    """The length at which several episodes were cut, if none was longer."""
    lengths = np.bincount(log.episodes)
    at_limit = lengths[log.episodes[log.cut]]
    longest = int(lengths.max())
    return longest if (at_limit == longest).sum() > 1 else None


ANYWHERE = 10.0  #: a reach, in widths, at which the model also answers where the log has nothing near


def model_task(
    log: Transitions, asked: LogParameters, limit: int | None, score: str, reach: float | None = None
) -> Any:
    """The model of a log, and what it is worth to leave it: the least reward for as long as a trial may last.

    The reach follows from the log, unless it is given.
    """
    count, width = log.before.shape
    low, high = extremes(log)
    rng = np.random.default_rng(0)
    some = rng.choice(count, max(1, int(np.sqrt(count))), replace=False)
    cells = growing_voronoi(np.unique(log.before[some], axis=0), high - low)
    model = model_of(_store_of(log, len(cells.primary)), cells, asked.neighbours, 1.0, True)
    if reach is None:
        reach = _reach(log, len(model.scratch.near), high - low, asked.known)
    model = model._replace(reach=reach)
    organise(model)
    least, greatest = float(log.reward.min()), float(log.reward.max())
    lasts = 1 if score == LENGTH else limit or max(HORIZON, int(np.bincount(log.episodes).max()))
    return _kind_of(width)(model, min(0.0, least) * lasts, least, greatest, log.cut)


def _store_of(log: Transitions, cells: int) -> Store:
    """All steps in the order of time; :func:`organise` makes the lists."""
    count, width = log.before.shape
    store = fresh_store(count, cells, len(log.actions), width)
    for name in ("before", "after", "action", "reward", "ended"):
        getattr(store, name)[:] = getattr(log, name)
    store.later[:-1], store.earlier[1:] = np.arange(1, count), np.arange(count - 1)
    for name, value in {"size": count, "experienced": count, "oldest": 0, "latest": count - 1}.items():
        store.counters[name] = value
    return store._replace(starts=np.ascontiguousarray(log.starts))


def _reach(log: Transitions, needed: int, widths: np.ndarray, share: float) -> float:
    """The distance within which this share of the logged states have enough other steps of each action."""
    from scipy.spatial import cKDTree  # takes long to import

    scaled = log.before / widths
    farthest = np.zeros(len(scaled))
    for a, name in enumerate(log.actions):
        of_action = scaled[log.action == a]
        if len(of_action) <= needed:
            raise DistinguoError(
                f"{log.source} has {len(of_action)} steps with the action {name}, and a model needs over {needed}: "
                "log more steps, by random actions for example."
            )
        found = cKDTree(of_action).query(scaled, k=needed + 1)[0][:, -1]
        farthest = np.maximum(farthest, found)
    return float(np.quantile(farthest, share)) + 1e-9


def digest(log: Transitions) -> str:
    """The SHA-256 of the contents of a log."""
    total = hashlib.sha256()
    for column in (log.before, log.action, log.reward, log.after, log.ended, log.cut):
        total.update(np.ascontiguousarray(column).tobytes())
    return total.hexdigest()


def log_of(spec: TaskSpec) -> Transitions:
    """The log that a task is made of."""
    store: Store = spec.task.model.store
    columns = (store.before, store.action, store.reward, store.after, store.ended, spec.task.cut)
    return Transitions(str(spec.parameters["file"]), *columns, spec.dimensions, spec.actions)


def with_log(spec: TaskSpec, log: Transitions) -> TaskSpec:
    """The task of a run whose log is in its folder; only the description of it is in the run's settings."""
    if not isinstance(spec.task, AbsentTask) or spec.parameters.get("sha256") != digest(log):
        raise DistinguoError(
            f"The log in the folder of this run of {spec.name} is not the one that it was learned from; take a whole "
            "copy."
        )
    asked = LogParameters(
        **{name: value for name, value in spec.parameters.items() if name in LogParameters._fields}
    )
    return spec._replace(task=model_task(log, asked, spec.limit, spec.score))
