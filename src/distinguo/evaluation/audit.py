"""Audit a representation with its action values: where is it not epsilon-adequate, and what does that cost?

Definition 8 asks two things of every state that the agent can reach: that the actions which look best for its
region are good for the state itself (policy), and that the state is worth what its region says (value).

Features (Definition 1 in general) have no borders between groups: the values of a state are ``Q(s, .)`` at the
state itself, summed over all features that respond to it. A state is inadequate when these values mislead about its
own look-ahead values. For a partition as features both readings agree.

Along the trials of the policy, the audit also compares what the values promise at the start with what the trial
returns, and both with the bound that follows from the errors and regrets found (docs/theory.md).
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from distinguo.controller import (
    Controller,
    FeatureController,
    choose,
    fill_values,
    group_in,
    room_for,
    running_parts,
)
from distinguo.criteria import (
    POLICY,
    VALUE,
    inadequacy,
    incremental_regret,
    look_ahead,
    promise_bound,
    state_value,
)
from distinguo.errors import DistinguoError, counted, shown, whole_number
from distinguo.features.feature import Workspace
from distinguo.seam import at_speed, is_compiled, kernel
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import observe, start, transition, truncated, unpack

MOST_VISITS = 10**7
NO_LIMIT = 2**62  #: steps of a trial
Watch = Callable[[int, int], None]  #: called with the number of states done and of all states
GOES_ON, ENDED, CUT = 0, 1, 2  #: what becomes of a trial after a step
CHUNK, SLOW_CHUNK = (
    20_000,
    20,
)  #: states between two checks for Ctrl-C; the second where every step is plain Python


class Visits(NamedTuple):
    """Which states to audit: those that the greedy policy visits."""

    number: int = 10_000
    seed: int = 0  #: decides among tied actions
    #: Steps after which a trial is stopped: an environment that restores a state by replaying the trial pays for
    #: every state with all steps before it.
    longest: int = NO_LIMIT


class Audit(NamedTuple):
    """The findings, one row per state."""

    states: np.ndarray  #: (states, width of a state)
    observations: np.ndarray  #: (states, dimensions) what the agent sees of each
    #: (states,) the region of each; for features the one that responds most, -1 if they form no groups
    regions: np.ndarray
    q1: np.ndarray  #: (states, actions) look-ahead values
    rules: np.ndarray  #: (states,) the broken rules, as bits of ``criteria.POLICY`` and ``criteria.VALUE``
    regret: np.ndarray  #: (states,) the incremental regret
    epsilon: float  #: the reward that may be lost at a step
    values: np.ndarray  #: (states,) the value V that look-ahead uses; nan for a map without values
    #: (states,) the discounted reward from here to the end of the trial, nan for states that were given; where a
    #: trial is cut, the rest counts as promised
    returns: np.ndarray
    horizons: np.ndarray  #: (states,) the number of these steps, discounted
    first: np.ndarray  #: (states,) whether a trial begins here

    @property
    def adequate(self) -> float:
        """Return the share of the states that are epsilon-adequate."""
        return float((self.rules == 0).mean())

    @property
    def policy_failures(self) -> int:
        """How many states break the policy rule (Eq. 1)."""
        return int(((self.rules & POLICY) > 0).sum())

    @property
    def value_failures(self) -> int:
        """How many states break the value rule (Eq. 2)."""
        return int(((self.rules & VALUE) > 0).sum())

    @property
    def stakes(self) -> np.ndarray:
        """The cost of the worst action of each state, by look-ahead: large at critical states."""
        return self.q1.max(axis=1) - self.q1.min(axis=1)

    @property
    def worst(self) -> int:
        """Return the row of the state with the greatest regret."""
        return int(self.regret.argmax())

    @property
    def value_errors(self) -> np.ndarray:
        """How much better each state looks than its look-ahead says, ``V - V1``; nan for a map without values."""
        return self.values - self.q1.max(axis=1)

    @property
    def least_epsilon(self) -> float:
        """The smallest epsilon for which all of these states are adequate."""
        return float(max(np.abs(self.value_errors).max(), self.regret.max()))

    @property
    def loss(self) -> float:
        """What the trials returned less than promised, ``V - return``, on average; nan if no trials were followed."""
        starts = self.first
        return float((self.values - self.returns)[starts].mean()) if starts.any() else np.nan

    @property
    def bound(self) -> float:
        """The most that :attr:`loss` can be, by the errors and regrets found; for a stochastic task, its mean."""
        if not self.first.any():
            return np.nan
        over, horizon = max(0.0, float(self.value_errors.max())), float(self.horizons[self.first].mean())
        known = np.isfinite([over, horizon]).all()  # without a discount below 1 a horizon may overflow
        return promise_bound(over, float(self.regret.max()), horizon) if known else np.nan

    @property
    def ratio(self) -> float:
        """How much of :attr:`bound` was lost; nan where the bound is 0 or unknown."""
        return self.loss / self.bound if self.bound > 0.0 else np.nan

    def __repr__(self) -> str:
        n, count = self.worst, len(self.states)
        where = f", in region {self.regions[n]}" if self.regions[n] >= 0 else ""
        place = ", ".join(f"{c:z.4f}" for c in self.observations[n])
        lines = [
            f"{self.adequate:.1%} of {counted(count, 'state')} {'is' if count == 1 else 'are'} "
            f"{self.epsilon:z.4g}-adequate.",
            f"Policy rule (Eq. 1) broken at {self.policy_failures:,}, "
            f"value rule (Eq. 2) at {self.value_failures:,}.",
            f"Greatest regret: {self.regret[n]:z.4f} at ({place}){where}.",
        ]
        if not np.isnan(self.least_epsilon):
            lines.append(f"All are adequate for an epsilon of {self.least_epsilon:z.4g} or more.")
        if not np.isnan(self.bound):
            lines.append(self._promise())
        return "\n".join(lines)

    def _promise(self) -> str:
        promised, returned = self.values[self.first].mean(), self.returns[self.first].mean()
        ratio = f" (ratio {self.ratio:z.3f})" if self.ratio > 0.0 else ""
        return (
            f"Promised at the start: {promised:z.4f}; returned, discounted: {returned:z.4f}; "
            f"loss {self.loss:z.4f}, by the bound at most {self.bound:z.4f}{ratio}."
        )


def audit_controller(
    task: Any,
    controller: Controller | FeatureController,
    states: ArrayLike | Visits = Visits(),  # noqa: B008 # a tuple, never changed
    *,
    gamma: float,
    epsilon: float,
    samples: int = 1,
    values: Controller | FeatureController | None = None,
    watch: Watch | None = None,
) -> Audit:
    """Audit given states, or those that the greedy policy visits from the start of a trial.

    ``task`` is a name or a task. If transitions are random, ``samples`` look-aheads of each action are averaged
    (Definition 5). ``values`` is another controller whose values are used to look ahead, such as exact ones, where
    those of the controller itself may err. ``watch`` is called with the number of states done and of all states.

    >>> from distinguo.representations.voronoi import voronoi
    >>> one = Controller(voronoi([[0.0, 0.0]], [4.8, 11.0]), np.array([[-0.5, -0.5]]))
    >>> audit_controller("puck", one, [(0.0, 0.0), (2.39, 5.0)], gamma=1.0, epsilon=0.1)
    50.0% of 2 states are 0.1-adequate.
    Policy rule (Eq. 1) broken at 0, value rule (Eq. 2) at 1.
    Greatest regret: 0.0000 at (0.0000, 0.0000), in region 0.
    All are adequate for an epsilon of 0.5 or more.
    """
    check_not_negative("gamma", gamma)
    check_not_negative("epsilon", epsilon)
    whole_number("samples", samples, 1)
    task, judge = restorable_task(task), controller if values is None else values
    parts = (task, *running_parts(controller), *running_parts(judge))
    walk = walked(task, controller, states) if isinstance(states, Visits) else None
    rows = checked_states(task, states) if walk is None else walk.states
    findings = blank_audit(task, rows, len(room_for(controller).q), epsilon)
    rooms = (room_for(controller), room_for(judge))
    if len(rooms[1].q) != len(rooms[0].q):
        raise DistinguoError(
            f"Values to look ahead with should be of {len(rooms[0].q)} actions, got {len(rooms[1].q)}."
        )
    look, at_once = at_speed(_look_ahead, *parts), CHUNK if is_compiled(*parts) else SLOW_CHUNK
    fill_in(findings, at_once, lambda some: look(task, controller, judge, rooms, gamma, samples, some), watch)
    return findings if walk is None else with_returns(findings, walk, gamma)


def fill_in(findings: Audit, at_once: int, find: Callable[[Audit], None], watch: Watch | None) -> None:
    """Fill in the rows of an audit, ``at_once`` at a time, and check that they are finite."""
    columns, count = findings._asdict(), len(findings.states)
    del columns["epsilon"]
    for first in range(0, count, at_once):
        find(findings._replace(**{name: rows[first : first + at_once] for name, rows in columns.items()}))
        if watch:
            watch(min(first + at_once, count), count)
    if not np.isfinite(findings.q1).all():
        raise DistinguoError("Rewards or action values are not finite, so they cannot be audited; fix them.")


def restorable_task(task: Any) -> Any:
    """Return the task of a name or a description; its states must be restorable for look-ahead."""
    if not isinstance(task, str | TaskSpec):
        return task
    spec = task_spec(task) if isinstance(task, str) else task
    if not spec.restorable:
        raise DistinguoError(
            f"An audit looks one step ahead from every state, but states of {spec.name} cannot be restored."
        )
    return spec.task


def blank_audit(task: Any, rows: np.ndarray, actions: int, epsilon: float) -> Audit:
    """Return an audit with room for the findings."""
    count, width = len(rows), len(observe(task, unpack(task, rows[0])))
    return Audit(
        states=rows,
        observations=np.zeros((count, width)),
        regions=np.zeros(count, dtype=np.int64),
        q1=np.zeros((count, actions)),
        rules=np.zeros(count, dtype=np.int64),
        regret=np.zeros(count),
        epsilon=epsilon,
        values=np.full(count, np.nan),
        returns=np.full(count, np.nan),
        horizons=np.zeros(count),
        first=np.zeros(count, dtype=np.bool_),
    )


def check_not_negative(name: str, value: Any) -> None:
    """Reject anything but a finite number from 0."""
    if not (isinstance(value, Real) and 0.0 <= float(value) < np.inf):
        raise DistinguoError(f"{name} of an audit should be a finite number from 0, got {shown(value)}.")


def checked_states(task: Any, states: ArrayLike) -> np.ndarray:
    """Return given states of a task as rows, or raise an error."""
    width = len(start(task, np.random.default_rng(0)))
    try:
        rows = np.array(states, dtype=np.float64)
    except (TypeError, ValueError):
        words = f"States to audit should be finite rows of {width} numbers, got {shown(states)}."
        raise DistinguoError(words) from None
    if rows.ndim != 2 or rows.shape[1] != width or not len(rows) or not np.isfinite(rows).all():
        raise DistinguoError(
            f"States to audit should be finite rows of {width} numbers, got shape {rows.shape}."
        )
    return rows


class Walk(NamedTuple):
    """The steps of the greedy policy, trial after trial."""

    states: np.ndarray  #: (steps, width of a state) where each step begins
    rewards: np.ndarray  #: (steps,)
    fates: np.ndarray  #: (steps,) ``GOES_ON``, ``ENDED`` or ``CUT``


def visited(task: Any, controller: Controller | FeatureController, visits: Visits) -> np.ndarray:
    """Return the states that the greedy policy visits, trial after trial."""
    return walked(task, controller, visits).states


def walked(task: Any, controller: Controller | FeatureController, visits: Visits) -> Walk:
    """Follow the greedy policy, trial after trial."""
    rng = np.random.default_rng(whole_number("The seed", visits.seed))
    count = whole_number("visits", visits.number, 1, MOST_VISITS)
    dimensions = len(start(task, rng))
    walk = Walk(np.zeros((count, dimensions)), np.zeros(count), np.zeros(count, dtype=np.int64))
    room = room_for(controller)
    at_speed(_visit, task, *running_parts(controller))(task, controller, room, rng, walk, visits.longest)
    return walk


@kernel
def _visit(
    task: Any, controller: Any, room: Workspace, rng: np.random.Generator, walk: Walk, longest: int
) -> None:
    s, length = start(task, rng), 0
    for n in range(len(walk.states)):
        for i in range(len(s)):
            walk.states[n, i] = s[i]
        fill_values(controller, observe(task, s), room)
        s, walk.rewards[n], terminal = transition(task, s, choose(room.q, controller.delta, rng))
        length += 1
        if terminal or truncated(task, s) or length >= longest:
            walk.fates[n] = ENDED if terminal else CUT
            s, length = start(task, rng), 0
    if walk.fates[-1] == GOES_ON:
        walk.fates[-1] = CUT


def with_returns(findings: Audit, walk: Walk, gamma: float) -> Audit:
    """Add what the trials returned. Where a trial is cut, the value of its last state stands for the rest."""
    returns, horizons = np.empty(len(walk.rewards)), np.empty(len(walk.rewards))
    gained, steps, rewards, fates = 0.0, 0.0, walk.rewards.tolist(), walk.fates.tolist()
    for n in range(len(returns) - 1, -1, -1):
        if fates[n] == CUT:
            gained, steps = float(findings.values[n]), 0.0
        else:
            on = gamma * (fates[n] == GOES_ON)
            gained, steps = rewards[n] + on * gained, 1.0 + on * steps
        returns[n], horizons[n] = gained, steps
    first = np.concatenate([[True], walk.fates[:-1] != GOES_ON])
    return findings._replace(returns=returns, horizons=horizons, first=first)


@kernel
def _look_ahead(
    task: Any,
    controller: Any,
    judge: Any,
    rooms: tuple[Workspace, Workspace],
    gamma: float,
    samples: int,
    findings: Audit,
) -> None:
    here, there = rooms
    for n in range(len(findings.states)):
        s = unpack(task, findings.states[n])
        seen = observe(task, s)
        for i in range(len(seen)):
            findings.observations[n, i] = seen[i]
        fill_values(controller, seen, here)
        findings.regions[n] = group_in(controller, here)
        fill_values(judge, seen, there)
        findings.values[n] = state_value(there.q)
        for a in range(len(here.q)):
            for _ in range(samples):
                s_next, r, terminal = transition(task, s, a)
                v = 0.0
                if not terminal:
                    fill_values(judge, observe(task, s_next), there)
                    v = state_value(there.q)
                findings.q1[n, a] += look_ahead(r, gamma, v) / samples
        findings.rules[n] = inadequacy(here.q, findings.q1[n], findings.epsilon, controller.delta)
        findings.regret[n] = incremental_regret(here.q, findings.q1[n], controller.delta)


# Audit a controller without values: an action is worth the return of a trial that takes it and then follows the
# controller.
#
# That is the incremental regret of section 2.2, with the returns of trials in place of learned values. The value
# rule (Eq. 2) cannot be checked then.


NEXT_TO_NOTHING = 0.05  #: share of the usual difference between actions below which a cost counts as nothing
POLICY_CHUNK = 200  #: states between two checks for Ctrl-C


def audit_policy(
    task: Any,
    controller: Controller,
    states: ArrayLike | Visits,
    *,
    longest: int,
    epsilon: float | None = None,
    watch: Watch | None = None,
) -> Audit:
    """Audit given states, or those that the controller visits; trials have ``longest`` steps at most.

    Without ``epsilon``, it is a twentieth of the mean difference between the best and the worst action.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.catalog import task_spec
    >>> swing = Controller(voronoi([[0.0, 0.01], [0.0, -0.01]], [1.8, 0.14]), np.array([[0.0, 0, 1], [1, 0, 0]]))
    >>> audit_policy(task_spec("MountainCar-v0").task, swing, [(-0.5, 0.02)], longest=200, epsilon=1.0).adequate
    1.0
    """
    if epsilon is not None:
        check_not_negative("epsilon", epsilon)
    rows = visited(task, controller, states) if isinstance(states, Visits) else checked_states(task, states)
    room = room_for(controller)
    findings = blank_audit(task, rows, len(room.q), 0.0)
    parts = (task, *running_parts(controller))
    follow, at_once = at_speed(_follow, *parts), POLICY_CHUNK if is_compiled(*parts) else 1
    fill_in(findings, at_once, lambda some: follow(task, controller, room, longest, some), watch)
    allowed = NEXT_TO_NOTHING * float(findings.stakes.mean()) if epsilon is None else float(epsilon)
    rules = np.where(findings.regret > allowed, POLICY, 0).astype(np.int64)
    return findings._replace(rules=rules, epsilon=allowed)


@kernel
def _follow(task: Any, controller: Any, room: Workspace, longest: int, findings: Audit) -> None:
    for n in range(len(findings.states)):
        s = unpack(task, findings.states[n])
        for a in range(len(room.q)):
            s_next, gained, terminal = transition(task, s, a)
            length, ended = 1, terminal or truncated(task, s_next)
            while not ended and length < longest:
                fill_values(controller, observe(task, s_next), room)
                s_next, r, terminal = transition(task, s_next, int(room.q.argmax()))
                gained += r
                length += 1
                ended = terminal or truncated(task, s_next)
            findings.q1[n, a] = gained
        seen = observe(task, s)
        for i in range(len(seen)):
            findings.observations[n, i] = seen[i]
        fill_values(controller, seen, room)
        findings.regions[n] = group_in(controller, room)
        findings.regret[n] = incremental_regret(room.q, findings.q1[n], controller.delta)
