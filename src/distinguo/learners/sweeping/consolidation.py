"""Consolidation: states that need not be kept apart share an action, and states that do not matter are left out.

States can be together if some action is good in all of them, up to a tolerance. The model gives the return of the
policy of such groups; if that is too low, the tolerance is reduced. Once a plan rests on enough experience, the
states that its policy visits never, or too rarely to matter, are left out, and the others are grouped again.
"""

from __future__ import annotations

import numpy as np

from distinguo.criteria import compatible
from distinguo.learners.sweeping.memory import LEFT_OUT, NOTHING, SweepingMemory, SweepingSettings
from distinguo.learners.sweeping.model import spread
from distinguo.learners.sweeping.plan import considered_horizon, mean_return, weigh_states
from distinguo.references import by_reference
from distinguo.representations.categories import Categories, categories
from distinguo.representations.growing import most_alike_growing
from distinguo.seam import kernel, part

RARE = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0)  #: visits in a trial that may not matter
SMALLER = 0.25  #: the next tolerance after one that cost too much, as a share of it
ATTEMPTS = 6  #: tolerances tried before only exact ties are grouped


@kernel
def consolidate_plan(memory: SweepingMemory, settings: SweepingSettings, settled: bool) -> None:
    """Group the states of a plan, in ``group``: the number of the action they share, or ``LEFT_OUT``."""
    memory = by_reference(memory)
    for j in range(memory.counters["states"][0]):
        memory.group[j] = NOTHING if memory.tries[j, memory.policy[j]] > 0 else LEFT_OUT
        memory.best_action[j] = memory.policy[j]
    group_within_loss(memory, settings)
    if settled:
        leave_out_rare(memory, settings)
        group_within_loss(memory, settings)
    weigh_states(memory, considered_horizon(memory, settings))


@part
def leave_out_rare(memory: SweepingMemory, settings: SweepingSettings) -> None:
    """Leave out states that the policy of the groups visits so rarely that its action there does not matter.

    The others keep that policy as their best action.
    """
    weigh_states(memory, considered_horizon(memory, settings))
    for j in range(memory.counters["states"][0]):
        memory.best_action[j] = memory.policy[j]
    for rare in RARE:
        if memory.seen.shape[1] == 1 or rare == 0.0:  # else a state left out may not be in the largest group
            leave_out_below(memory, rare)
            if act_by_groups(memory, settings) >= memory.amounts["worth"][0] - allowed_loss(memory, settings):
                return


@part
def leave_out_below(memory: SweepingMemory, rare: float) -> None:
    """Leave out the states with at most ``rare`` visits in a trial."""
    for j in range(memory.counters["states"][0]):
        known = memory.tries[j, memory.best_action[j]] > 0
        memory.group[j] = memory.best_action[j] if known and memory.weight[j] > rare else LEFT_OUT


@part
def allowed_loss(memory: SweepingMemory, settings: SweepingSettings) -> float:
    """Return the mean return that consolidation may cost."""
    return settings.epsilon * spread(memory)


@part
def group_within_loss(memory: SweepingMemory, settings: SweepingSettings) -> None:
    """Group states with the greatest tolerance that costs no more than allowed, and act by the groups."""
    allowed = allowed_loss(memory, settings)
    tolerance = allowed
    for _ in range(ATTEMPTS):
        group_states(memory, tolerance)
        if act_by_groups(memory, settings) >= memory.amounts["worth"][0] - allowed:
            return
        tolerance *= SMALLER
    keep_best_actions(memory, settings)


@part
def keep_best_actions(memory: SweepingMemory, settings: SweepingSettings) -> None:
    """Give every state that matters the group of its best action."""
    for j in range(memory.counters["states"][0]):
        if memory.group[j] != LEFT_OUT:
            memory.group[j] = memory.best_action[j]
    act_by_groups(memory, settings)


@kernel
def group_states(memory: SweepingMemory, tolerance: float) -> None:
    """Group states by a good action: first the action that is good in most states, then in most of the rest."""
    states = memory.counters["states"][0]
    for j in range(states):
        if memory.group[j] != LEFT_OUT:
            memory.group[j] = NOTHING
    while True:
        action, most = NOTHING, 0
        for a in range(memory.value.shape[1]):
            count = count_good(memory, a, tolerance)
            if count > most:
                action, most = a, count
        if action == NOTHING:
            return
        for j in range(states):
            if is_good(memory, j, action, tolerance):
                memory.group[j] = action


@part
def count_good(memory: SweepingMemory, a: int, tolerance: float) -> int:
    """Count the states without a group in which an action is good."""
    count = 0
    for j in range(memory.counters["states"][0]):
        count += is_good(memory, j, a, tolerance)
    return count


@part
def is_good(memory: SweepingMemory, j: int, a: int, tolerance: float) -> bool:
    """Whether state ``j`` has no group yet and an action is as good as its best, up to the tolerance."""
    if memory.group[j] != NOTHING or memory.tries[j, a] == 0:
        return False
    return memory.value[j, a] >= memory.value[j, memory.best_action[j]] - tolerance


@kernel
def act_by_groups(memory: SweepingMemory, settings: SweepingSettings) -> float:
    """Adopt the policy of the groups; return its mean return in the model.

    A state that is left out belongs to the largest group, whose action need not suit it.
    """
    largest = largest_group(memory)
    for j in range(memory.counters["states"][0]):
        memory.policy[j] = memory.group[j] if memory.group[j] >= 0 else largest
    return mean_return(memory, considered_horizon(memory, settings))


@part
def largest_group(memory: SweepingMemory) -> int:
    """Return the group with most states; the first of equal ones."""
    largest, most = 0, 0
    for a in range(memory.value.shape[1]):
        count = 0
        for j in range(memory.counters["states"][0]):
            count += memory.group[j] == a
        if count > most:
            largest, most = a, count
    return largest


# Maps of the result: the controller's, with few prototypes, and one whose regions keep different values apart.
#
# In a partition of categories a state without a prototype belongs to the oldest of the nearest ones. So the largest
# group comes first in the controller's map, and needs more prototypes only where another group would be nearer.


@kernel
def map_groups(memory: SweepingMemory) -> None:
    """Rebuild the partition and the action values of the controller from the groups of states."""
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
    """Return the state of a group that the plan visits most; ``NOTHING`` if the group is empty."""
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
    """Give a prototype the action values of its state, or of its whole region if it is the primary one.

    The values of a region are means over its states, weighted by visits. The shared action is the region's best:
    another action that is as good on average may be bad in some states, or lead to states that were left out.
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


LIGHTEST = 1e-9  #: the weight of a state that the plan does not visit


def compatible_map(memory: SweepingMemory, settings: SweepingSettings) -> Categories:
    """Return a map of all states that were tried, merged where they are compatible by Definition 9.

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
