"""Continuous actions as a few laws, or a few levels, fitted to the teacher: the fewest that keep its return."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from scipy.cluster.vq import kmeans2

from distinguo.distillation.fidelity import Alike
from distinguo.distillation.law_maps import FoundLaws
from distinguo.distillation.laws import Box
from distinguo.distillation.ledger import Arrays, BudgetEndedError, Count, Ledger
from distinguo.distillation.teachers import Room, Teacher, room_of, watched
from distinguo.distillation.trials import trials_of
from distinguo.errors import DistinguoError, call_user_code
from distinguo.runs.run import Run
from distinguo.search.maps import PrototypeMap
from distinguo.tasks.amounts import amounts_refused, laws, laws_of, needs_laws, with_laws
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.gym.face import TaskEnv
from distinguo.tasks.gym.source import AMOUNTS, LEVELS, source_of
from distinguo.tasks.gym.spaces import DiscreteActions, view_of
from distinguo.tasks.spec import CONTINUOUS, Hold, TaskSpec

MOST_LEVELS = 5  #: that are tried
NEAR = 0.1  #: of its range, within which an amount counts as the teacher's
TRIALS = 40  #: of the teacher, with continuous actions and with every number of levels
AT_ONCE = 10  #: of them that run side by side, so that the teacher answers for all at once
MORE_TRIALS = 60  #: with continuous actions, to find the return to keep
CAP = 10_000  #: steps of a trial at most, where the task has no limit
HOLDING = 2_000  #: steps after which a trial that should never end counts as a success


class Levelled(NamedTuple):
    """A teacher whose actions are levels, the task with these levels, and notes for the user."""

    teacher: Teacher
    spec: TaskSpec
    notes: tuple[str, ...] = ()
    spent: Count = Count()  #: trials that were run to choose them
    amounts: AmountTeacher | None = None  #: the teacher as it is, where its actions are amounts
    returns: np.ndarray | None = None  #: its returns then
    levels: np.ndarray | None = None  #: a row each
    mean: float | None = None  #: its mean return with them, from the same starts
    map: PrototypeMap | None = None  #: a map of laws, which needs no descent
    stopped: bool = False  #: whether the caller stopped the search for it
    tested: np.ndarray | None = None  #: the returns of all maps that the search measured


class AmountTeacher(NamedTuple):
    """A teacher with continuous actions, and its environment."""

    teacher: Teacher
    env: Any
    room: Room
    cap: int
    ledger: Ledger
    levels: np.ndarray | None = None  #: that replace its actions
    holds: bool = False  #: whether its trials should never end: the return is then their length
    others: tuple[Any, ...] = ()  #: equal environments, in which trials run side by side

    def trials(self, seeds: Sequence[int], partly: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Run it: the returns, all actions that it took, and what it saw then.

        ``partly`` allows fewer trials where the budget ends, the last of them perhaps incomplete.
        """

        def run() -> Arrays:
            trials: list[AmountTrial] = []
            at_once = 1 + len(self.others) if len(seeds) * self.cap <= self.ledger.left else 1
            try:
                for first in range(0, len(seeds), at_once):
                    trials += self._side_by_side(seeds[first : first + at_once], partly and not trials)
            except BudgetEndedError:
                if not partly or not trials:
                    raise
            return {
                "returns": np.array([one.gained for one in trials]),
                "taken": np.array([amounts for one in trials for amounts in one.taken]),
                "seen": np.array([row for one in trials for row in one.seen]),
            }

        def fits(arrays: Arrays) -> bool:
            if "seen" not in arrays or len(arrays["seen"]) != len(arrays["taken"]):
                return False
            returns, taken = arrays["returns"], arrays["taken"]
            return (
                0 < len(returns) <= len(seeds)
                and taken.shape[1:] == (int(np.prod(self.room.box.shape)),)
                and bool(np.isfinite(returns).all() and np.isfinite(taken).all())
            )

        question = ["amounts", self.room.name, self.cap, list(seeds), self.levels, partly]
        found = self.ledger.answer(question, run, fits)
        return found["returns"], found["taken"], found["seen"]

    def _side_by_side(self, seeds: Sequence[int], cut: bool) -> list[AmountTrial]:
        """Run trials within the steps that are left; unless they may be ``cut``, they must end within them."""
        most = int(min(self.cap, self.ledger.left))
        if most < 1:
            raise BudgetEndedError
        trials = [
            AmountTrial(self, env, seed) for env, seed in zip((self.env, *self.others), seeds, strict=False)
        ]
        running = trials
        try:
            while running and len(running[0].taken) < most:
                rows = np.array([one.now for one in running])
                amounts = self.teacher.answer(rows)
                if self.levels is not None:
                    amounts = self.levels[_nearest(self.levels, amounts)]
                for one, action in zip(running, amounts, strict=True):
                    one.step(action)
                running = [one for one in running if not one.ended]
        finally:
            for one in trials:
                self.ledger.spend(1, len(one.taken))
        if most < self.cap and running and not cut:
            raise BudgetEndedError
        for one in trials:
            one.check()
        return trials

    def takes(self, rows: np.ndarray) -> np.ndarray:
        """The amounts that it takes where it sees these rows, a row each."""
        return self.teacher.answer(rows).reshape(len(rows), -1)

    def alike(self, spec: TaskSpec) -> Alike:
        """Whether each amount that a law of this task says is within a tenth of its range of the teacher's."""
        known = laws_of(spec)
        assert known is not None
        box = Box(known.low, known.high)

        def is_near(rows: np.ndarray, actions: np.ndarray) -> np.ndarray:
            said = box.said(known.table, rows)[np.arange(len(rows)), actions]
            apart = np.abs(said - self.takes(rows)) / (box.high - box.low)
            return np.asarray((apart <= NEAR).all(axis=1))

        return is_near

    def on(self, levels: np.ndarray) -> AmountTeacher:
        """Return the same with a teacher that takes the nearest of these levels."""
        return self._replace(levels=levels)


class AmountTrial:
    """A trial of a teacher with continuous actions."""

    def __init__(self, teacher: AmountTeacher, env: Any, seed: int) -> None:
        self.room, self.env, self.seed, self.holds = teacher.room, env, seed, teacher.holds
        self.what = f"The environment {self.room.name}"
        self.gained, self.ended = 0.0, False
        self.seen: list[np.ndarray] = []
        self.taken: list[np.ndarray] = []
        self.now = self._row(call_user_code(self.what, lambda: env.reset(seed=seed))[0])

    def _row(self, seen: Any) -> np.ndarray:
        return np.array(self.room.view.flatten(seen))  # type: ignore[union-attr]

    def step(self, action: np.ndarray) -> None:
        """Take these amounts."""
        box = self.room.box
        self.seen.append(self.now)
        self.taken.append(action)
        sent = action.reshape(box.shape).astype(box.dtype)
        seen, reward, terminated, truncated, _ = call_user_code(self.what, self.env.step, sent)
        self.gained += 1.0 if self.holds else float(reward)
        self.ended = bool(terminated or truncated)
        self.now = self._row(seen)

    def check(self) -> None:
        """Reject rewards that are not finite."""
        if not np.isfinite(self.gained):
            raise DistinguoError(
                f"{self.what} gave rewards that are not finite in trial {self.seed}; fix it."
            )


def _nearest(levels: np.ndarray, given: np.ndarray) -> np.ndarray:
    apart = given.reshape(len(given), 1, -1) - levels[None]
    return np.asarray((apart**2).sum(axis=2).argmin(axis=1))


def has_amounts(task: Any, parameters: Mapping[str, Any] | None = None) -> bool:
    """Whether the actions of a task, by its id or as an environment, are continuous amounts.

    >>> has_amounts("Pendulum-v1"), has_amounts("CartPole-v1"), has_amounts("puck")
    (True, False, False)
    """
    if isinstance(task, gymnasium.Env):
        return isinstance(task.action_space, gymnasium.spaces.Box)
    if not isinstance(task, str) or (task not in gymnasium.registry and ":" not in task):
        return False
    env = source_of(task, _without_levels(parameters or {})).with_amounts()
    try:
        return isinstance(env.action_space, gymnasium.spaces.Box)
    finally:
        env.close()


def _without_levels(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in parameters.items() if key != LEVELS}


def levels_of_run(teacher: Any, task: Any, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters of a task with the levels of the run that is the teacher, if it has any."""
    if not isinstance(teacher, Run) or LEVELS in parameters or not has_amounts(task, parameters):
        return parameters
    known = teacher.configuration.spec.parameters
    return {**parameters, LEVELS: known[LEVELS]} if LEVELS in known else parameters


def levelled(
    teacher: Any,
    task: Any,
    parameters: Mapping[str, Any],
    keep: Callable[[TaskSpec, np.ndarray], float],
    numbers: bool = False,
    ledger: Ledger | None = None,
    search: Search | None = None,
) -> Levelled:
    """Return a teacher and its task, with levels or laws if its actions are continuous.

    ``teacher`` makes one for the spaces of a task. ``keep`` gives the mean return to keep, from the task and the
    returns of the teacher. Given levels are used as they are. A teacher that answers with ``numbers`` of actions
    needs no levels. ``search`` looks for a map of laws; without it, only levels are tried.
    """
    ledger = ledger or Ledger()
    if numbers or not has_amounts(task, parameters):
        spec = task_spec(task, parameters) if isinstance(task, str) else spec_of(task, parameters)
        if not needs_laws(spec):
            return Levelled(teacher(room_of(spec)), spec)
        if numbers or search is None:
            raise amounts_refused(spec, "distil")
        amounts = _of_declared(teacher, spec, ledger)
    else:
        amounts = _with_amounts(teacher, task, parameters, ledger)
    first, taken, seen = amounts.trials(range(TRIALS))
    more, _, _ = amounts.trials(range(len(first), TRIALS + MORE_TRIALS))
    returns = np.concatenate([first, more])
    if LEVELS in parameters:
        spec = _spec(task, parameters, parameters[LEVELS])
        found = _with_levels(amounts, _given(amounts, parameters[LEVELS]), spec)
    else:
        found = _fewest(amounts, task, parameters, ShownAmounts(returns, taken, seen), keep, search)
    if found.levels is not None:
        found = found._replace(mean=float(amounts.on(found.levels).trials(range(len(returns)))[0].mean()))
    return found._replace(amounts=amounts, returns=returns, spent=ledger.count)


def _with_amounts(teacher: Any, task: Any, parameters: Mapping[str, Any], ledger: Ledger) -> AmountTeacher:
    source = source_of(task, _without_levels(parameters) if isinstance(task, str) else {})
    env = source.with_amounts()
    view = view_of(env.observation_space, source.name)
    room = Room(source.name, len(view.names), 0, 0, view, env.action_space)
    made = teacher(room)
    rows = np.array([view.flatten(env.reset(seed=seed)[0]) for seed in range(16)])
    others = [source.with_amounts() for _ in range(AT_ONCE - 1)] if source.env is None else []
    settled = watched(made, rows, ledger)
    return AmountTeacher(settled, env, room, source.limit or CAP, ledger, others=tuple(others))


def _of_declared(teacher: Any, spec: TaskSpec, ledger: Ledger) -> AmountTeacher:
    """A teacher of a declared task that takes amounts."""
    holds = isinstance(spec.goal, Hold)
    env = TaskEnv(spec, spec.cap(HOLDING if holds else CAP))
    view = view_of(env.observation_space, spec.name)
    room = Room(spec.name, len(view.names), 0, 0, view, env.action_space)
    made = teacher(room)
    rows = np.array([view.flatten(env.reset(seed=seed)[0]) for seed in range(16)])
    return AmountTeacher(watched(made, rows, ledger), env, room, env.limit, ledger, holds=holds)


def _given(amounts: AmountTeacher, levels: Any) -> np.ndarray:
    table = DiscreteActions(amounts.env, levels).table
    return table.reshape(len(table), -1).astype(np.float64)


class ShownAmounts(NamedTuple):
    """What a teacher with amounts showed in its trials."""

    returns: np.ndarray
    taken: np.ndarray  #: (steps, amounts)
    seen: np.ndarray  #: (steps, dimensions)


#: Looks for a map of laws in a task that takes amounts: the map, and whether the caller stopped the search.
Search = Callable[[AmountTeacher, TaskSpec, ShownAmounts], tuple[FoundLaws, bool]]


def _fewest(
    amounts: AmountTeacher,
    task: Any,
    parameters: Mapping[str, Any],
    shown: ShownAmounts,
    keep: Callable[[TaskSpec, np.ndarray], float],
    search: Search | None,
) -> Levelled:
    """Return the fewest laws, or else levels, that keep the return of the teacher; if none do, what gains most."""
    declared = isinstance(amounts.env, TaskEnv)
    wide = amounts.env.task_spec if declared else None if search is None else _spec(task, parameters, AMOUNTS)
    if len(np.unique(shown.taken, axis=0)) < 2:
        raise DistinguoError(
            f"The teacher {amounts.teacher.name} always takes the same action on {amounts.room.name}; there is "
            "nothing to distil."
        )
    tried: list[Levelled] = []
    if search is not None and wide is not None and wide.kind == CONTINUOUS and wide.amounts is not None:
        found, stopped = search(amounts, wide, shown)
        tried.append(_with_laws(amounts, wide, found, stopped))
        if found.kept or stopped or declared:
            return tried[0]
    try:
        for one, words in _choices(amounts, task, parameters, shown.taken):
            trials = trials_of(one.spec, one.spec.cap(CAP), amounts.ledger)
            try:
                gained = trials.follow_teacher(one.teacher.answer, range(TRIALS)).returns
            finally:
                trials.close()
            said = (
                f"{one.spec.name} has continuous actions; {words}: with them the teacher's mean return is "
                f"{gained.mean():z.4g}, and {shown.returns.mean():z.4g} without."
            )
            tried.append(one._replace(notes=(said,), mean=float(gained.mean())))
            if gained.mean() >= keep(one.spec, shown.returns) + float(gained.std()) / np.sqrt(len(gained)):
                return tried[-1]
    except BudgetEndedError:
        if not tried:
            raise
    return max(tried, key=lambda one: -np.inf if one.mean is None else one.mean)


def _with_laws(amounts: AmountTeacher, wide: TaskSpec, found: FoundLaws, stopped: bool) -> Levelled:
    assert wide.amounts is not None
    known = laws(found.best.table, wide.amounts)
    box = Box(known.low, known.high)

    def answer(rows: np.ndarray) -> np.ndarray:
        """The law that comes nearest to its amounts."""
        return np.asarray(box.costs(known.table, rows, amounts.takes(rows)).argmin(axis=1))

    teacher = Teacher(amounts.teacher.name, answer, None, amounts.teacher.stochastic)
    words = "one affine law replaces" if found.best.size == 1 else f"{found.best.size} affine laws replace"
    said = f"{wide.name} has continuous actions; {words} them."
    spec = with_laws(wide, found.best.table)
    made = Levelled(teacher, spec, (said,), mean=found.mean)
    return made._replace(map=found.best.map, stopped=stopped, tested=found.tested)


def _choices(
    amounts: AmountTeacher, task: Any, parameters: Mapping[str, Any], taken: np.ndarray
) -> Iterator[tuple[Levelled, str]]:
    """The teacher with a few levels, and words for them."""
    for count in range(2, MOST_LEVELS + 1):
        found = chosen_levels(taken, count)
        if len(found) < count:
            return
        written = found.ravel().tolist() if found.shape[1] == 1 else found.tolist()
        one = _with_levels(amounts, found, _spec(task, parameters, written))
        yield one, f"{count} levels replace them, {_words(found)}"


def chosen_levels(taken: np.ndarray, count: int) -> np.ndarray:
    """Return ``count`` levels close to the actions taken, or fewer if there are fewer different actions.

    >>> chosen_levels(np.array([[-2.0], [-1.9], [2.0], [2.0], [1.9]]), 2).round(2).ravel().tolist()
    [-1.95, 1.97]
    """
    different = np.unique(taken.astype(np.float32).astype(np.float64), axis=0)  # as environments take them
    if len(different) <= count:
        return different
    rng = np.random.default_rng(0)
    centres, _ = kmeans2(taken, count, iter=50, minit="++", rng=rng)
    rounded = np.unique(centres.astype(np.float32).astype(np.float64), axis=0)
    return rounded[np.isfinite(rounded).all(axis=1)]


def _with_levels(amounts: AmountTeacher, levels: np.ndarray, spec: TaskSpec) -> Levelled:
    def answer(rows: np.ndarray) -> np.ndarray:
        return _nearest(levels, amounts.teacher.answer(rows))

    return Levelled(
        Teacher(amounts.teacher.name, answer, None, amounts.teacher.stochastic), spec, levels=levels
    )


def _spec(task: Any, parameters: Mapping[str, Any], levels: Any) -> TaskSpec:
    own = {**parameters, LEVELS: levels}
    return task_spec(task, own) if isinstance(task, str) else spec_of(task, own)


def _words(levels: np.ndarray) -> str:
    return ", ".join("/".join(f"{x:z.3g}" for x in row) for row in levels)


def without_unused(spec: TaskSpec, map_: PrototypeMap) -> tuple[TaskSpec, PrototypeMap]:
    """Remove the levels that a map never takes; a task without listed levels stays as it is."""
    levels, used, known = spec.parameters.get(LEVELS), np.unique(map_.actions), laws_of(spec)
    if known is not None:
        return with_laws(spec, known.table[used]), map_._replace(actions=np.searchsorted(used, map_.actions))
    if not isinstance(levels, list | tuple) or not 2 <= len(used) < len(levels):
        return spec, map_
    parameters = {**spec.parameters, LEVELS: [levels[a] for a in used]}
    fewer = (
        task_spec(spec.name, parameters)
        if spec.portable
        else spec_of(_env_of(spec), {LEVELS: parameters[LEVELS]})
    )
    return fewer, map_._replace(actions=np.searchsorted(used, map_.actions))


def _env_of(spec: TaskSpec) -> Any:
    return spec.task.driver.source.env
