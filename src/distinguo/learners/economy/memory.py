"""The memory of the paper's learner: its partition, action values, stack, and the log of changes."""

from __future__ import annotations

import functools
from typing import Annotated, Any, NamedTuple

import numpy as np

from distinguo.criteria import BEST, POLICY, VALUE, Vector, incompatibility, stake
from distinguo.learners.agent import (
    MOST_COUNTED,
    ROOM,
    Agent,
    check_arrays,
    field,
    fresh_arrays,
    larger_arrays,
)
from distinguo.representations.growing import grown
from distinguo.seam import generic_with_default, part
from distinguo.settings import LearnerSettings

#: The counters of this learner, as one record.
COUNTERS = np.dtype(
    [
        ("sessions", np.int64),  # of process_stack
        ("fe_calls", np.int64),  # of FE_TIMER
        ("merge_calls", np.int64),  # of MERGE_TIMER
        ("clock", np.int64),  # pushes so far: the time of the replacing-stack
    ],
    align=True,
)

#: Whose profile a row of ``Memory.q1`` holds: a prototype's (consolidation takes them all), or one of these.
#: Compiled code allocates nothing; see ``seam``.
STATE, PRIMARY, SECOND = -1, -2, -3
EXTRA = 3
SCRATCH = "room + 3"  #: rows of profiles

#: Places in the last axis of ``Memory.seen``: how many differences, their mean, their summed squared deviations.
COUNT, MEAN, DEVIATION = 0, 1, 2
LEAST, GREATEST = 0, 1  #: places in ``Memory.extremes``


class Memory(NamedTuple):
    """Rows are indexed by prototype; a region uses the row of its primary prototype.

    >>> from distinguo.representations.growing import growing_voronoi
    >>> fresh_memory(growing_voronoi([[0.0, 0.0]], [1.0, 1.0], room=4), actions=2).q.shape
    (4, 2)
    """

    partition: Any  #: ``GrowingVoronoi`` or ``GrowingCategories``
    q: Annotated[np.ndarray, field(float, ROOM, "actions")]  #: Q(j, a)
    updates: Annotated[np.ndarray, field(int, ROOM, "actions")]  #: Updates(j, a)
    investigated: Annotated[np.ndarray, field(bool, ROOM)]  #: whether the region was ever investigated
    states: Annotated[np.ndarray, field(float, ROOM, "width")]  #: whose observation each prototype is
    stacked: Annotated[np.ndarray, field(float, ROOM, "width")]  #: the state on the stack for each region
    pushed_at: Annotated[np.ndarray, field(int, ROOM)]  #: when; 0 for a region that is not on the stack
    counters: Annotated[np.ndarray, field(COUNTERS, 1)]
    q1: Annotated[np.ndarray, field(float, SCRATCH, "actions")]  #: the latest profiles, and three more
    reliable: Annotated[np.ndarray, field(bool, SCRATCH, "actions")]  #: which of their entries are
    error: Annotated[np.ndarray, field(float, SCRATCH, "actions")]  #: their standard errors, if repeated
    seen: Annotated[np.ndarray, field(float, ROOM, "actions", 3)]  #: differences of look-ahead and region
    extremes: Annotated[np.ndarray, field(float, 2, first=[np.inf, -np.inf])]  #: of all look-ahead values


def fresh_memory(partition: Any, actions: int, width: int = 0) -> Memory:
    """A fresh memory for a partition.

    ``width`` is the width of a state, if it differs from an observation's. The caller fills in the states of the
    prototypes, which only the task knows.
    """
    memory: Memory = fresh_arrays(Memory, {"partition": partition}, **sizes_of(partition, actions, width))
    return memory


def sizes_of(partition: Any, actions: int, width: int = 0) -> dict[str, int]:
    """Return the sizes that the shapes of a memory are made of."""
    room, dimensions = partition.prototypes.shape
    return {ROOM: room, SCRATCH: room + EXTRA, "actions": actions, "width": width or dimensions}


@functools.singledispatch
def with_room(memory: Any, room: int) -> Any:
    """The memory itself if it has room for ``room`` prototypes, else a copy with twice that.

    This and the next two functions are generics: a scheduler's memory has its own (``registry``).
    """
    if len(memory.q) >= room:
        return memory
    partition = grown(memory.partition, 2 * room)
    sizes = sizes_of(partition, memory.q.shape[1], memory.states.shape[1])
    return larger_arrays(memory, {"partition": partition}, int(memory.partition.size[0]), **sizes)


@functools.singledispatch
def checked_memory(memory: Any) -> Any:
    """A memory from a file, after checking everything that compiled code relies on."""
    partition, room = memory.partition, len(memory.q)
    check_arrays(memory, **sizes_of(partition, memory.q.shape[1], memory.states.shape[1]))
    size, primary = int(partition.size[0]), partition.primary
    if not 1 <= size <= room or not ((primary[:size] >= 0) & (primary[:size] < size)).all():
        raise ValueError("the prototypes are inconsistent")
    counters = [memory.counters[name][0] for name in COUNTERS.names or ()]
    if min(memory.updates.min(), memory.pushed_at.min(), *counters) < 0 or max(counters) >= MOST_COUNTED:
        raise ValueError("a counter is out of range")
    if not np.isfinite(memory.q).all() or not np.isfinite(partition.prototypes[:size]).all():
        raise ValueError("a number is not finite")
    return memory


@functools.singledispatch
def forget_stack(memory: Any) -> None:
    """Empty the stack: the task may be unable to restore its states."""
    memory.pushed_at[:] = 0


@part
def current_epsilon(memory: Memory, settings: LearnerSettings) -> float:
    """The reward that may be lost: as given, or a share of the range of all look-ahead values so far."""
    if settings.epsilon_share == 0.0:
        return settings.epsilon
    return settings.epsilon_share * max(memory.extremes[GREATEST] - memory.extremes[LEAST], 0.0)


@part
def widen_values(memory: Memory, q1: float) -> None:
    """Widen the range of all look-ahead values so far."""
    memory.extremes[LEAST] = min(memory.extremes[LEAST], q1)
    memory.extremes[GREATEST] = max(memory.extremes[GREATEST], q1)


# ---- why a region was split, merged or detached ------------------------------------------------------------------
#
# Each entry names two prototypes, shows both action profiles as they were at that moment, the rules of Definition 9
# that keep the two states apart (none for a merge), and the reward at stake between them.

SPLIT, MERGE, DETACH = 0, 1, 2
KINDS = ("split", "merge", "detach")
RULES = {POLICY: "policy (Eq. 3)", VALUE: "value (Eq. 4)", BEST: "best action (Eq. 6)"}


class Log(NamedTuple):
    """Entries of one session of ``process_stack``; emptied by :func:`drain`."""

    size: np.ndarray  #: (1,)
    kind: np.ndarray  #: (room, 7): kind, rules, first, second, trial, step, investigation steps
    profiles: np.ndarray  #: (room, 2, actions)
    regret: np.ndarray  #: (room,)


def fresh_log(room: int, actions: int) -> Log:
    """Return an empty log with room for ``room`` entries."""
    return Log(
        np.zeros(1, dtype=np.int64),
        np.zeros((room, 7), dtype=np.int64),
        np.zeros((room, 2, actions)),
        np.zeros(room),
    )


@generic_with_default
def rules_apart(memory: Any, q1: Vector, q2: Vector, epsilon: float) -> int:
    """Definition 9 with ``delta = epsilon``: the rules that keep two states apart, as bits."""
    return incompatibility(q1, q2, epsilon, epsilon)


@part
def record(agent: Agent, kind: int, first: int, second: int, q1: Vector, q2: Vector) -> None:
    """Log an event between two prototypes, with their profiles."""
    log, counts = agent.log, agent.progress.counts
    epsilon = current_epsilon(agent.memory, agent.settings)
    n = log.size[0]
    log.size[0] = n + 1
    log.kind[n, 0] = kind
    log.kind[n, 1] = rules_apart(agent.memory, q1, q2, epsilon)
    log.kind[n, 2] = first
    log.kind[n, 3] = second
    log.kind[n, 4] = counts["trials"][0]
    log.kind[n, 5] = counts["trial_steps"][0]
    log.kind[n, 6] = counts["investigation_steps"][0]
    for a in range(len(q1)):
        log.profiles[n, 0, a] = q1[a]
        log.profiles[n, 1, a] = q2[a]
    log.regret[n] = stake(q1, q2)


def drain(log: Log, partition: Any) -> list[dict[str, Any]]:
    """Return the entries as plain dictionaries and empty the log."""
    entries = [_entry(log, partition, n) for n in range(log.size[0])]
    log.size[0] = 0
    return entries


def _entry(log: Log, partition: Any, n: int) -> dict[str, Any]:
    kind, rules, first, second, trial, trial_steps, investigation_steps = log.kind[n].tolist()
    states = partition.prototypes
    return {
        "event": KINDS[kind],
        "trial": trial,
        "step": trial_steps + investigation_steps,
        "prototypes": [first, second],
        "states": [states[first].tolist(), states[second].tolist()],
        "profiles": log.profiles[n].tolist(),
        "rules": [name for bit, name in RULES.items() if rules & bit],
        "regret": float(log.regret[n]),
    }
