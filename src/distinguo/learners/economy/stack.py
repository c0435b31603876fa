"""The replacing-stack (section 3.2).

Pushing a state removes any earlier state of the same region, so there is at most one entry per region: the
stack is a table by region, with the time of each push. Popping takes the latest.
"""

from __future__ import annotations

from distinguo.learners.economy.memory import Memory
from distinguo.seam import part


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
