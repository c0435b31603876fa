"""Audit a controller that only says what to do: an action is worth what a trial gains that takes it, then follows it.

That is the incremental regret of section 2.2 with the returns of trials in place of learned values, which such a
controller has none of. Nothing can be said of the value rule (Eq. 2) then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from distinguo.controller import Controller, fill_values, group_in, room_for, running_parts
from distinguo.criteria import POLICY, incremental_regret
from distinguo.evaluation.audit import (
    Audit,
    Visits,
    Watch,
    blank_audit,
    check_not_negative,
    checked_states,
    fill_in,
    visited,
)
from distinguo.features.feature import Workspace
from distinguo.seam import at_speed, is_compiled, kernel
from distinguo.tasks.task import observe, transition, truncated, unpack

NEXT_TO_NOTHING = 0.05  #: share of what actions usually differ by: what costs less counts as nothing
CHUNK = 200  #: states between two looks at the keyboard


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

    Without ``epsilon``, a twentieth of what the best and the worst action differ by on average may be lost.

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
    follow, at_once = at_speed(_follow, *parts), CHUNK if is_compiled(*parts) else 1
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
