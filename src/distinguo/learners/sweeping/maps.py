"""Maps of what was learned: the controller's, with few prototypes, and one whose regions keep the values apart.

In a partition of categories a state without a prototype belongs to the oldest of the nearest ones. So the largest
group comes first in the controller's map, and needs more prototypes only where another group would be nearer.
"""

from __future__ import annotations

import numpy as np

from distinguo.criteria import compatible
from distinguo.learners.sweeping.consolidation import largest_group
from distinguo.learners.sweeping.exploration import spread
from distinguo.learners.sweeping.memory import NOTHING, SweepingMemory
from distinguo.learners.sweeping.settings import SweepingSettings
from distinguo.references import by_reference
from distinguo.representations.categories import Categories, categories
from distinguo.representations.growing import most_alike_growing
from distinguo.seam import kernel, part


@kernel
def map_groups(memory: SweepingMemory) -> None:
    """Make the partition and the action values of the controller anew, from the groups of states."""
    memory = by_reference(memory)
    largest, states, partition = largest_group(memory), memory.counters["states"][0], memory.partition
    partition.size[0] = 0
    add_to_map(memory, max(most_visited(memory, largest), 0))
    for j in range(states):
        if memory.group[j] >= 0 and memory.group[j] != largest:
            add_to_map(memory, j)
    for j in range(states):
        if (
            memory.group[j] == largest
            and partition.primary[most_alike_growing(partition, memory.seen[j])] != 0
        ):
            add_to_map(memory, j)
    for p in range(partition.size[0]):
        value_prototype(memory, p)


@part
def most_visited(memory: SweepingMemory, group: int) -> int:
    """Return the state of a group that the plan comes to most; ``NOTHING`` if the group is empty."""
    found = NOTHING
    for j in range(memory.counters["states"][0]):
        if memory.group[j] == group and (found == NOTHING or memory.weight[j] > memory.weight[found]):
            found = j
    return found


@part
def add_to_map(memory: SweepingMemory, j: int) -> None:
    """Make state ``j`` a prototype in the region of its group, the primary one if it is the first."""
    partition = memory.partition
    p = partition.size[0]
    memory.mapped[p] = j
    partition.primary[p] = p
    for i in range(p):
        if partition.primary[i] == i and memory.group[memory.mapped[i]] == memory.group[j]:
            partition.primary[p] = i
    for i in range(memory.seen.shape[1]):
        partition.prototypes[p, i] = memory.seen[j, i]
    partition.size[0] = p + 1


@part
def value_prototype(memory: SweepingMemory, p: int) -> None:
    """Give a prototype the action values of its state, or of its whole region if it stands for that.

    Those are the means over the states, weighed by visits. The shared action is the region's best: what is as good on
    the mean need not be good in every state, and even where it is, may lead to states that were left out.
    """
    j, q = memory.mapped[p], memory.q[p]
    shared = memory.group[j]
    for a in range(len(q)):
        q[a] = memory.value[j, a]
    if memory.partition.primary[p] != p or shared < 0:
        return
    for a in range(len(q)):
        q[a] = mean_value(memory, shared, a)
    for a in range(len(q)):
        if a != shared:
            q[a] = min(q[a], np.nextafter(q[shared], -np.inf))


@part
def mean_value(memory: SweepingMemory, group: int, a: int) -> float:
    """Return the mean value of an action over the states of a group."""
    total, weights = 0.0, 0.0
    for j in range(memory.counters["states"][0]):
        if memory.group[j] == group:
            weight = max(memory.weight[j], LIGHTEST)
            total += weight * memory.value[j, a]
            weights += weight
    return total / weights


LIGHTEST = 1e-9  #: the weight of a state that the plan does not come to


def compatible_map(memory: SweepingMemory, settings: SweepingSettings) -> Categories:
    """Return a map of all states that were tried, merged where Definition 9 says that they are compatible.

    Its regions keep values apart, so that a fresh learner can learn on it; the controller's do not.
    """
    states = int(memory.counters["states"][0])
    known = np.flatnonzero(memory.tries[:states].any(axis=1))
    seen = memory.seen[known] if len(known) else memory.seen[:1]
    primary = np.arange(len(seen))
    merge_compatible(primary, memory.value[known], settings.epsilon * spread(memory))
    return categories(seen, primary)


@kernel
def merge_compatible(primary: np.ndarray, values: np.ndarray, epsilon: float) -> None:
    """Give every state to the first earlier region that it is compatible with."""
    for k in range(1, len(values)):
        for j in range(k):
            if primary[j] == j and compatible(values[j], values[k], epsilon, epsilon):
                primary[k] = j
                break
