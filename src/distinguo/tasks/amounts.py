"""Actions that are amounts: how a task declares them, and laws that decide them.

A task with amounts takes any numbers of a box as its action, such as the torque of a motor. A *law* says how much,
from what is observed: ``u = clip(K s + b)``. A constant amount is a law without gains ``K``. A few laws make the task
one with a few actions again: action ``a`` means law ``a``. So maps, learners, testers, proofs and pictures of finite
actions work on laws as they are.

>>> two = laws([[[-3.0, 1.0]], [[0.0, 0.5]]], amounts(-1.0, 1.0))  # -3 s + 1, and always 0.5
>>> [amounts_of(two, 0, (s,)) for s in (0.1, 5.0)], amounts_of(two, 1, (5.0,))
([(0.7,), (-1.0,)], (0.5,))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from distinguo.errors import DistinguoError, shown
from distinguo.seam import implements, implements_interpreted, is_compiled, part
from distinguo.tasks.spec import LARGEST, Amounts, TaskSpec
from distinguo.tasks.task import (
    Observation,
    State,
    actions,
    by_law,
    goal_box,
    has_one_start,
    memories,
    observe,
    randomness,
    remember,
    seeded,
    start,
    transition,
    truncated,
    uncounted_steps,
    unpack,
)


class Levels(NamedTuple):
    """A few amounts to choose from."""

    values: tuple[float, ...]


def amounts(low: Any, high: Any, names: Sequence[str] = ()) -> Amounts:
    """Declare actions as amounts: ``@task(actions=amounts(-2.0, 2.0), ...)``.

    With two numbers, ``transition(self, s, u)`` takes a number; with two rows of numbers, a tuple.
    """
    single = not isinstance(low, Sequence | np.ndarray) and not isinstance(high, Sequence | np.ndarray)
    try:
        least = tuple(map(float, [low] if single else low))
        greatest = tuple(map(float, [high] if single else high))
    except (TypeError, ValueError):
        least, greatest = (), ()
    usual = ("u",) if single else tuple(f"u{i}" for i in range(len(least)))
    box = Amounts(least, greatest, tuple(names) or usual, single)
    check_box(box, "Amounts")
    return box


def check_box(box: Amounts, name: str) -> None:
    """Reject a box that has no amounts, only one, or no bounds; ``name`` begins the sentence."""
    whole = box.low and len(box.low) == len(box.high) == len(set(box.names)) == len(box.names)
    if not whole or not all(isinstance(word, str) and word for word in box.names):
        raise DistinguoError(
            f"{name} should be two numbers, or two rows of as many numbers and names, low before high, got "
            f"{shown((box.low, box.high, box.names))}."
        )
    for word, low, high in zip(box.names, box.low, box.high, strict=True):
        if not (abs(low) <= LARGEST and abs(high) <= LARGEST):
            raise DistinguoError(
                f"{name} should have bounds, so that a law can be clipped, got {low:g} .. {high:g} for {word}; give "
                "the least and the greatest amount that is sensible."
            )
        if not low < high:
            raise DistinguoError(
                f"{name} should have low < high, got {low:g} .. {high:g} for {word}; leave an amount out that "
                "cannot be chosen."
            )


def levels(low: float, high: float, count: int) -> Levels:
    """Declare actions as a few amounts at even distances; ``transition(self, s, u)`` takes the amount.

    >>> levels(-1, 1, 5).values
    (-1.0, -0.5, 0.0, 0.5, 1.0)
    """
    number = isinstance(count, int) and not isinstance(count, bool)
    given = all(isinstance(side, int | float) and math.isfinite(side) for side in (low, high))
    if not given or not low < high or not number or not 2 <= count <= MOST_LEVELS:
        raise DistinguoError(
            f"Levels should be two numbers, low before high, and a count from 2 to {MOST_LEVELS}, got "
            f"{shown((low, high, count))}."
        )
    return Levels(tuple(low + (high - low) * n / (count - 1) for n in range(count)))


MOST_LEVELS = 1_000
MOST_LAWS = 16  #: that a map of a learner has room for


# ---- laws ----------------------------------------------------------------------------------------------------------


class Laws(NamedTuple):
    """A table of laws: of each, a row for every amount, with a gain for every observed number and the offset last."""

    table: np.ndarray  #: (laws, amounts, dimensions + 1)
    low: np.ndarray  #: (amounts,)
    high: np.ndarray


def laws(table: ArrayLike, box: Amounts) -> Laws:
    """Make laws from their numbers and the box that they are clipped to."""
    return Laws(np.array(table, dtype=np.float64), np.array(box.low), np.array(box.high))


@part
def amount_of(given: Laws, a: int, i: int, seen: Any) -> float:
    """Number ``i`` of the amounts that law ``a`` decides where ``seen`` is observed."""
    total = given.table[a, i, len(seen)]
    for j in range(len(seen)):
        total += given.table[a, i, j] * seen[j]
    if total < given.low[i]:
        total = given.low[i]
    if total > given.high[i]:
        total = given.high[i]
    return total


def amounts_of(given: Laws, a: int, seen: Sequence[float]) -> tuple[float, ...]:
    """All amounts that law ``a`` decides where ``seen`` is observed."""
    return tuple(float(amount_of(given, a, i, seen)) for i in range(len(given.low)))


def taker(box: Amounts) -> Any:
    """The implementation of :func:`by_law` for tasks with amounts of this box; compiled, it has no loop."""
    return _take_one if box.single else _take_several(len(box.low))


def _take_one(task: Any, given: Laws, a: int, seen: Any) -> Any:
    return amount_of(given, a, 0, seen)


@cache
def _take_several(count: int) -> Any:
    if count == 1:
        return part(lambda task, given, a, seen: (amount_of(given, a, 0, seen),))
    shorter, last = _take_several(count - 1), count - 1
    return part(
        lambda task, given, a, seen: (*shorter(task, given, a, seen), amount_of(given, a, last, seen))
    )


def takes_a_number(task: Any, given: Laws) -> bool:
    """Whether a task with amounts takes its only one as a number, not as a tuple."""
    return not isinstance(by_law(task, given, 0, (0.0,) * (given.table.shape[2] - 1)), tuple)


def count_stored(table: np.ndarray, prototypes: int) -> int:
    """How many numbers a map of laws is: places and widths, if there are several, and the laws without zero gains.

    >>> count_stored(np.ones((2, 1, 4)), prototypes=2), count_stored(np.ones((1, 1, 4)), prototypes=1)
    (17, 4)
    """
    dimensions = table.shape[2] - 1
    places = (prototypes + 1) * dimensions if prototypes > 1 else 0
    return int(places + np.count_nonzero(table[:, :, :-1]) + table.shape[0] * table.shape[1])


class LawTask(NamedTuple):
    """A task with amounts, in which action ``a`` means law ``a``."""

    task: Any
    laws: Laws


class PlainLawTask(NamedTuple):
    """The same for a task in plain Python."""

    task: Any
    laws: Laws

    @property
    def driver(self) -> Any:
        """The driver of the environment, where it is one of Gymnasium's."""
        return self.task.driver


def task_with_laws(task: Any, given: Laws) -> Any:
    """Return a task with amounts as one whose actions are these laws."""
    return (LawTask if is_compiled(task) else PlainLawTask)(task, given)


def law_names(table: np.ndarray) -> tuple[str, ...]:
    """The names of laws, as actions.

    >>> law_names(np.array([[[0.0, 0.5]], [[2.0, -1.0]]]))
    ('+0.5', 'law_1')
    """
    plain = ["/".join(f"{x:+.4g}" for x in law[:, -1]) for law in table]
    names = [f"law_{a}" if law[:, :-1].any() else plain[a] for a, law in enumerate(table)]
    return tuple(f"{name} ({a})" if names.count(name) > 1 else name for a, name in enumerate(names))


def with_laws(spec: TaskSpec, table: ArrayLike) -> TaskSpec:
    """Return the description of a task with amounts as one whose actions are these laws."""
    inner = without_laws(spec)
    if inner.amounts is None:
        raise DistinguoError(f"{spec.name} takes no amounts; laws are for tasks declared with dg.amounts.")
    numbers = np.array(table, dtype=np.float64)
    shape = (len(inner.amounts.low), len(inner.dimensions) + 1)
    if numbers.ndim != 3 or not len(numbers) or numbers.shape[1:] != shape or not np.isfinite(numbers).all():
        raise DistinguoError(
            f"Laws of {spec.name} should be finite numbers in an array of shape (laws, {shape[0]}, {shape[1]}), got "
            f"{shown(numbers.shape)}."
        )
    task = task_with_laws(inner.task, laws(numbers, inner.amounts))
    return inner._replace(task=task, actions=law_names(numbers))


def without_laws(spec: TaskSpec) -> TaskSpec:
    """Return the description of the task with amounts itself; any other one as it is."""
    if not isinstance(spec.task, LawTask | PlainLawTask) or spec.amounts is None:
        return spec
    return spec._replace(task=spec.task.task, actions=spec.amounts.names)


def laws_of_task(task: Any) -> Laws | None:
    """The laws that are the actions of a task; None if its actions are no laws."""
    return task.laws if isinstance(task, LawTask | PlainLawTask) else None


def laws_of(spec: TaskSpec) -> Laws | None:
    """The same of a described task."""
    return laws_of_task(spec.task)


def needs_laws(spec: TaskSpec) -> bool:
    """Whether the actions of a task are amounts, and no laws decide them yet."""
    return spec.amounts is not None and laws_of(spec) is None


MOST_PARTS = 4  #: of a law that are named in a sentence


def law_in_words(spec: TaskSpec, a: int, seen: Sequence[float]) -> str:
    """What the law of action ``a`` does where ``seen`` is observed, in a sentence; empty if it is constant.

    >>> from distinguo.tasks.catalog import task_spec
    >>> pendulum = with_laws(task_spec("Pendulum-v1", {"levels": 0}), [[[0.0, -8.0, -2.0, 0.5]]])
    >>> law_in_words(pendulum, 0, (1.0, 0.25, 0.5))
    'Its law gives torque -2: -2 from sin, -1 from v, 0.5 always; in all -2.5, cut to its range.'
    """
    known = laws_of(spec)
    if known is None or spec.amounts is None or not known.table[a, :, :-1].any():
        return ""
    said = []
    for i, name in enumerate(spec.amounts.names):
        *gains, offset = known.table[a, i].tolist()
        total = offset + sum(gain * x for gain, x in zip(gains, seen, strict=True))
        given, parts = amount_of(known, a, i, seen), zip(gains, seen, spec.dimensions, strict=True)
        shares = sorted(
            ((gain * x, f"from {word}") for gain, x, word in parts if gain), key=lambda s: -abs(s[0])
        )
        named = [f"{share:.3g} {word}" for share, word in [*shares[:MOST_PARTS], (offset, "always")] if share]
        cut = f"; in all {total:.3g}, cut to its range" if given != total and len(shares) else ""
        said.append(f"{name} {given:.3g}" + (f": {', '.join(named)}{cut}" if shares else ""))
    return f"Its law gives {'; and '.join(said)}."


def law_formula(spec: TaskSpec, a: int) -> str:
    """The law of an action as a formula; empty if actions are no laws.

    >>> from distinguo.tasks.catalog import task_spec
    >>> law_formula(with_laws(task_spec("Pendulum-v1", {"levels": 0}), [[[0.0, -8.0, -2.0, 0.5]]]), 0)
    'torque = 0.5 - 8 sin - 2 v, within -2 .. 2'
    """
    known = laws_of(spec)
    if known is None or spec.amounts is None:
        return ""
    said = []
    for i, name in enumerate(spec.amounts.names):
        *gains, offset = known.table[a, i].tolist()
        parts = [
            f"{'+-'[gain < 0]} {abs(gain):.3g} {word}"
            for gain, word in zip(gains, spec.dimensions, strict=True)
            if gain
        ]
        first = [f"{offset:.3g}"] if offset or not parts else []
        range_ = f", within {known.low[i]:g} .. {known.high[i]:g}" if parts else ""
        said.append(f"{name} = {' '.join([*first, *parts]).removeprefix('+ ')}{range_}")
    return "; ".join(said)


def amounts_refused(spec: TaskSpec, who: str) -> DistinguoError:
    """Return the error for something that only knows a few actions; ``who`` is its subject."""
    way = (
        "take --set task.levels=5" if spec.interpreted or spec.portable else "declare actions=dg.levels(...)"
    )
    return DistinguoError(
        f"{spec.name} takes amounts ({', '.join(spec.actions)}), and {who} chooses among a few actions; {way}, or "
        "learn laws with --learner evolution."
    )


# ---- a task with laws is a task ------------------------------------------------------------------------------------


def _law_transition(task: Any, s: State, a: int) -> tuple[State, float, bool]:
    return transition(task.task, s, by_law(task.task, task.laws, a, observe(task.task, s)))


def _law_start(task: Any, rng: np.random.Generator) -> State:
    return start(task.task, rng)


def _law_actions(task: Any) -> int:
    return len(task.laws.table)


def _law_unpack(task: Any, row: np.ndarray) -> State:
    return unpack(task.task, row)


def _law_observe(task: Any, s: State) -> Observation:
    return observe(task.task, s)


def _law_truncated(task: Any, s: State) -> bool:
    return truncated(task.task, s)


def _law_seeded(task: Any, seed: int) -> Any:
    return task._replace(task=seeded(task.task, seed))


def _law_randomness(task: Any) -> np.random.Generator | None:
    return randomness(task.task)


def _law_memories(task: Any, states: np.ndarray) -> dict[str, np.ndarray]:
    return memories(task.task, states)


def _law_remember(task: Any, arrays: dict[str, np.ndarray]) -> None:
    remember(task.task, arrays)


def _law_uncounted_steps(task: Any) -> tuple[int, int]:
    return uncounted_steps(task.task)


def _law_has_one_start(task: Any) -> bool:
    return has_one_start(task.task)


def _law_goal_box(task: Any) -> tuple[Observation, Observation] | None:
    return goal_box(task.task)


_PASSED_ON: dict[Any, Any] = {
    transition: _law_transition,
    start: _law_start,
    actions: _law_actions,
    unpack: _law_unpack,
    observe: _law_observe,
    truncated: _law_truncated,
    seeded: _law_seeded,
    randomness: _law_randomness,
    memories: _law_memories,
    remember: _law_remember,
    uncounted_steps: _law_uncounted_steps,
    has_one_start: _law_has_one_start,
    goal_box: _law_goal_box,
}
for _of, _body in _PASSED_ON.items():
    implements(_of, LawTask)(_body)
    implements_interpreted(_of, PlainLawTask)(_body)
