"""Surprising states: which they are (section 3.1; more than noise explains), and the replacing-stack (section 3.2).

Pushing a state removes any earlier state of the same region, so there is at most one entry per region: the stack is a
table by region, with the time of each push. Popping takes the latest.
"""

from __future__ import annotations

import math

from distinguo.criteria import adequate
from distinguo.learners.economy.memory import COUNT, DEVIATION, MEAN, STATE, Memory
from distinguo.learners.economy.values import current_epsilon
from distinguo.seam import part
from distinguo.settings import LearnerSettings


@part
def surprising(memory: Memory, settings: LearnerSettings, j: int, a: int, q1: float) -> bool:
    """Tell whether a transition shows that its state is not epsilon-adequate.

    Only one look-ahead value is known; the others are taken to be as the region says (docs/readings.md). With a
    ``confidence``, one instance is not enough: it must be unusual among all that were seen of this region and
    action, "taking into account trends and averages over very many instances" (section 5.1).
    """
    inadequate = seems_inadequate(memory, settings, j, a, q1)
    if settings.confidence == 0.0:
        return inadequate
    difference = q1 - memory.q[j, a]
    strange = unusual(memory, settings, j, a, difference)
    take_note(memory, j, a, difference)
    return inadequate and strange


@part
def seems_inadequate(memory: Memory, settings: LearnerSettings, j: int, a: int, q1: float) -> bool:
    """Judge a state by one transition, as if the task were deterministic."""
    epsilon = current_epsilon(memory, settings)
    if settings.surprise_by_transition:
        return not abs(q1 - memory.q[j, a]) <= epsilon
    profile = memory.q1[STATE]
    for b in range(len(profile)):
        profile[b] = q1 if b == a else memory.q[j, b]
    return not adequate(memory.q[j], profile, epsilon, settings.delta)


@part
def unusual(memory: Memory, settings: LearnerSettings, j: int, a: int, difference: float) -> bool:
    """Tell whether a difference lies far from the mean of those seen, in standard deviations.

    With fewer than ``min_updates`` of them, everything is unusual.
    """
    count = memory.seen[j, a, COUNT]
    if count < max(settings.min_updates, 2):
        return True
    deviation = math.sqrt(memory.seen[j, a, DEVIATION] / (count - 1.0))
    return abs(difference - memory.seen[j, a, MEAN]) > settings.confidence * deviation


@part
def take_note(memory: Memory, j: int, a: int, difference: float) -> None:
    """Add a difference to the running mean and deviation (Welford's method)."""
    seen = memory.seen[j, a]
    seen[COUNT] += 1.0
    step = difference - seen[MEAN]
    seen[MEAN] += step / seen[COUNT]
    seen[DEVIATION] += step * (difference - seen[MEAN])


@part
def push(memory: Memory, s: tuple[float, ...], j: int) -> None:
    """Push ``s``, which lies in region ``j``, in place of any earlier state of that region."""
    memory.counters["clock"][0] += 1
    memory.pushed_at[j] = memory.counters["clock"][0]
    for i in range(len(s)):
        memory.stacked[j, i] = s[i]


@part
def pop(memory: Memory) -> int:
    """Take the latest entry off the stack and return its place in ``memory.stacked``; -1 if there is none."""
    latest = -1
    for j in range(memory.partition.size[0]):
        if memory.pushed_at[j] > 0 and (latest < 0 or memory.pushed_at[j] > memory.pushed_at[latest]):
            latest = j
    if latest >= 0:
        memory.pushed_at[latest] = 0
    return latest
