"""The contract of a task, as a check that its author can run: ``check_task(MyTask())``.

>>> from distinguo.tasks.puck.puck import Puck
>>> check_task(Puck())
>>> check_task("CartPole-v1")
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba.core.errors import NumbaError

from distinguo.errors import DistinguoError, reason_of
from distinguo.kernel_cache import numba_reason
from distinguo.seam import is_compiled, kernel
from distinguo.tasks.amounts import needs_laws, with_laws
from distinguo.tasks.spec import LARGEST, TaskSpec
from distinguo.tasks.task import (
    Observation,
    State,
    actions,
    observe,
    randomness,
    seeded,
    start,
    transition,
    truncated,
    unpack,
)

_LONGEST = 5_000  # steps after which a trial that repeats an action, or takes random ones, counts as endless
_REPEATED = 20  # steps of a trial that are taken twice, to see whether they lead to the same state
_RECORDED = 500  # steps that are compared between two seeds, and between the two speeds
_BEYOND = 0.1  # share of its width by which an observation may be outside its bounds


def check_task(task: Any) -> None:
    """Check that a task keeps its contract; the first breach is an error of one sentence.

    ``task`` is a declared task or its class, a name, a Gymnasium environment, or a ``TaskSpec``. Trials that repeat
    each action, and one of random actions, are played in plain Python, step by step. States, observations, rewards
    and ends must be valid and within the bounds; the same step must lead to the same state; some trial must end.
    Then the same seed must give the same trials, and compiled trials must have the same bits.
    """
    from distinguo.tasks.catalog import spec_of, task_spec

    spec = _with_constants(task_spec(task) if isinstance(task, str) else spec_of(task))
    contract = _Contract(spec, seeded(spec.task, 1))
    contract.check_actions()
    ended = [contract.check_trial(action) for action in [*range(len(spec.actions)), None]]
    if spec.limit is None and not any(ended):
        raise contract.fault(
            f"no trial ended within {_LONGEST:,} steps; end them, or declare it with a limit"
        )
    contract.check_seeds()
    if is_compiled(spec.task):
        contract.check_speeds()


def check_first_steps(spec: TaskSpec) -> None:
    """Take each action once and compile the task: this finds most mistakes at once."""
    spec = _with_constants(spec)
    contract = _Contract(spec, seeded(spec.task, 1))
    contract.check_actions()
    s = contract.started(np.random.default_rng(0))
    for a in range(len(spec.actions)):
        contract.stepped(s, a, "in the first step")
    if is_compiled(spec.task):
        contract.recorded(_record, 1, 1)


def _with_constants(spec: TaskSpec) -> TaskSpec:
    """Return a task with amounts as one of a few constants: the least, the greatest and the middle ones."""
    if not needs_laws(spec) or spec.amounts is None:
        return spec
    low, high = np.array(spec.amounts.low), np.array(spec.amounts.high)
    table = np.zeros((3, len(low), len(spec.dimensions) + 1))
    table[:, :, -1] = low, high, (low + high) / 2.0
    return with_laws(spec, table)


class _Contract(NamedTuple):
    spec: TaskSpec
    task: Any

    def fault(self, trouble: str) -> DistinguoError:
        return DistinguoError(f"{self.spec.name} breaks the contract of a task: {trouble}.")

    def check_actions(self) -> None:
        if actions(self.task) != len(self.spec.actions):
            raise self.fault(
                f"it has {actions(self.task)} actions, but {len(self.spec.actions)} names for them"
            )

    def check_trial(self, action: int | None) -> bool:
        """Play a trial that repeats an action, or takes random ones; return whether it ended."""
        rng = np.random.default_rng(0)
        s = self.started(rng)
        for step in range(1, self.spec.cap(_LONGEST) + 1):
            a = int(rng.integers(len(self.spec.actions))) if action is None else action
            place = f"at step {step} of a trial of {'random actions' if action is None else f'action {a}'}"
            after, reward, terminal = self.stepped(s, a, place)
            if step <= _REPEATED:
                self._check_repeated(s, a, place, after, reward, terminal)
            if terminal:
                return True
            self._check_within(after, place)
            stopped = truncated(self.task, after)
            if not isinstance(stopped, bool | np.bool_):
                raise self.fault(f"truncated returned {stopped!r} {place}, which is not a bool")
            if stopped:
                return True
            s = after
        return False

    def started(self, rng: np.random.Generator) -> State:
        """Return the checked start of a trial."""
        s = self._called("start", "", start, rng)
        self._check_floats("start", s, None, "")
        self._check_kept(s)
        self._seen(s, "at the start")
        return s

    def stepped(self, s: State, a: int, place: str) -> tuple[State, float, bool]:
        """Take a step and check its result."""
        answer = self._called("transition", place, transition, s, a)
        if not isinstance(answer, tuple) or len(answer) != 3:
            raise self.fault(f"transition returned {answer!r} {place}, not (next state, reward, terminal)")
        after, reward, terminal = answer
        self._check_floats("transition", after, len(s), place)
        if not _is_finite_number(reward):
            raise self.fault(f"transition gave the reward {reward!r} {place}, which is not a finite number")
        if abs(reward) > LARGEST:
            allowed = f"allowed are numbers up to {LARGEST:g}"
            raise self.fault(f"transition gave the reward {reward!r} {place}; {allowed}")
        if not isinstance(terminal, bool | np.bool_):
            raise self.fault(f"transition said {terminal!r} for terminal {place}, which is not a bool")
        self._seen(after, place)
        return answer

    def _called(self, name: str, place: str, function: Any, *arguments: Any) -> Any:
        try:
            return function(self.task, *arguments)
        except (DistinguoError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise self.fault(f"{name} failed {place}".rstrip() + f" ({reason_of(error)})") from error

    def _check_floats(self, function: str, s: Any, width: int | None, place: str) -> None:
        if not isinstance(s, tuple) or (width is not None and len(s) != width):
            wanted = "a tuple" if width is None else f"a tuple of {width}"
            raise self.fault(
                f"{function} returned {s!r} {place}".rstrip() + f"; a state is {wanted} of floats"
            )
        for coordinate in s:
            if not isinstance(coordinate, float) or not math.isfinite(coordinate):
                words = f"{function} returned the coordinate {coordinate!r} {place}".rstrip()
                raise self.fault(f"{words}, which is not a finite float such as 0.0")

    def _check_kept(self, s: State) -> None:
        back = tuple(unpack(self.task, np.array(s)))
        if back != s:
            raise self.fault(f"unpack made {back} of the row of the state {s}")

    def _seen(self, s: State, place: str) -> Observation:
        seen, names = self._called("observe", place, observe, s), self.spec.dimensions
        if not isinstance(seen, tuple) or len(seen) != len(names):
            raise self.fault(f"observe returned {seen!r} {place}, not a float for each of {', '.join(names)}")
        for name, value in zip(names, seen, strict=True):
            if not isinstance(value, float) or not math.isfinite(value):
                raise self.fault(f"it observed {value!r} for {name} {place}, which is not a finite float")
        return seen

    def _check_within(self, s: State, place: str) -> None:
        spec = self.spec
        for name, value, low, high in zip(
            spec.dimensions, self._seen(s, place), spec.low, spec.high, strict=True
        ):
            slack = _BEYOND * (high - low) if math.isfinite(high - low) else 0.0
            if not low - slack <= value <= high + slack:
                raise self.fault(
                    f"it observed {value:.6g} for {name} {place}, far outside {low:g} .. {high:g}; widen low and high"
                )

    def _check_repeated(self, s: State, a: int, place: str, *first: Any) -> None:
        """Check that the same step from the same state leads to the same outcome; skip stochastic tasks."""
        if self.spec.stochastic != "no" or not self.spec.restorable:
            return
        look = (lambda after: observe(self.task, after)) if self.spec.interpreted else (lambda after: after)
        again = transition(self.task, s, a)
        if (look(again[0]), *again[1:]) != (look(first[0]), *first[1:]):
            raise self.fault(
                f"the same step led to {first} and to {again} {place}; draw noise from a field rng, a "
                "numpy.random.Generator"
            )

    def check_seeds(self) -> None:
        """Check that the same seed gives the same trials, and another seed another generator."""
        plain = _record.py_func
        if self.recorded(plain, 1, _RECORDED).tobytes() != self.recorded(plain, 1, _RECORDED).tobytes():
            raise self.fault("the same seed gave different trials; draw noise from a field rng only")
        if self.spec.stochastic == "no" or self.spec.interpreted:
            return
        one, two = (randomness(seeded(self.spec.task, seed)) for seed in (1, 2))
        if one is None or two is None:
            raise self.fault("it is stochastic, but has no generator of its own; add a field rng")
        if one.bit_generator.state == two.bit_generator.state:
            raise self.fault("seeded gives the same generator for different seeds")

    def check_speeds(self) -> None:
        """Check that trials have the same bits compiled and in plain Python."""
        plain, fast = self.recorded(_record.py_func, 1, _RECORDED), self.recorded(_record, 1, _RECORDED)
        if plain.tobytes() != fast.tobytes():
            step = int(np.flatnonzero((plain != fast).any(axis=1))[0])
            raise self.fault(
                f"compiled, step {step + 1} gave {fast[step].tolist()}, in plain Python {plain[step].tolist()}; "
                "avoid sums of arrays and powers, which round differently, or declare it with compiled=False"
            )

    def recorded(self, record: Any, seed: int, steps: int) -> np.ndarray:
        """The outcomes of steps with random actions, one row each."""
        task, rng = seeded(self.spec.task, seed), np.random.default_rng(seed)
        width = len(start(task, np.random.default_rng(seed)))
        rows = np.zeros((steps, width + len(self.spec.dimensions) + 3))
        try:
            record(task, rng, rng.integers(len(self.spec.actions), size=steps), rows)
        except NumbaError as error:
            raise DistinguoError(
                f"{self.spec.name} cannot be compiled: {numba_reason(error)}; call only functions marked with "
                "distinguo.seam.part, or declare it with compiled=False."
            ) from None
        return rows


@kernel
def _record(task: Any, rng: np.random.Generator, choices: np.ndarray, rows: np.ndarray) -> None:
    """Write state, observation, reward and end of every step into a row, trial after trial."""
    s = start(task, rng)
    for i in range(len(choices)):
        s, reward, terminal = transition(task, s, choices[i])
        seen = observe(task, s)
        for j in range(len(s)):
            rows[i, j] = s[j]
        for j in range(len(seen)):
            rows[i, len(s) + j] = seen[j]
        stopped = truncated(task, s)
        rows[i, -3], rows[i, -2], rows[i, -1] = reward, terminal, stopped
        if terminal or stopped:
            s = start(task, rng)


def _is_finite_number(reward: Any) -> bool:
    number = isinstance(reward, int | float | np.number) and not isinstance(reward, bool)
    return number and math.isfinite(reward)
