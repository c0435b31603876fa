"""Consolidation: states that need not be told apart share an action, and states that do not matter are left out.

States can be together if some action is good in all of them, up to a tolerance. The model says what the policy of
such groups returns; where that costs too much, the tolerance is made smaller. Once a plan rests on enough experience,
the states that its policy comes to never, or too rarely to matter, are left out, and the others are grouped again.
"""

from __future__ import annotations

from distinguo.learners.sweeping.exploration import spread
from distinguo.learners.sweeping.memory import LEFT_OUT, NOTHING, SweepingMemory
from distinguo.learners.sweeping.plan import considered_horizon, mean_return, weigh_states
from distinguo.learners.sweeping.settings import SweepingSettings
from distinguo.references import by_reference
from distinguo.seam import kernel, part

RARE = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0)  #: visits in a trial that may not matter
SMALLER = 0.25  #: the next tolerance after one that cost too much, as a share of it
ATTEMPTS = 6  #: of them, before only exact ties are put together


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
    """Leave out states that the policy of the groups comes to so rarely that what it does there does not matter.

    The others keep that policy as their best action.
    """
    weigh_states(memory, considered_horizon(memory, settings))
    for j in range(memory.counters["states"][0]):
        memory.best_action[j] = memory.policy[j]
    for rare in RARE:
        if memory.seen.shape[1] == 1 or rare == 0.0:  # else a state left out need not be in the largest group
            leave_out_below(memory, rare)
            if act_by_groups(memory, settings) >= memory.amounts["worth"][0] - allowed_loss(memory, settings):
                return


@part
def leave_out_below(memory: SweepingMemory, rare: float) -> None:
    """Leave out the states with no more visits in a trial than these."""
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
    """Group states by a good action: first the action that is good in most, then the one in most of the rest."""
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
    """Tell whether state ``j`` has no group yet and an action is as good as its best, up to the tolerance."""
    if memory.group[j] != NOTHING or memory.tries[j, a] == 0:
        return False
    return memory.value[j, a] >= memory.value[j, memory.best_action[j]] - tolerance


@kernel
def act_by_groups(memory: SweepingMemory, settings: SweepingSettings) -> float:
    """Let the policy be that of the groups; return its mean return in the model.

    A state that is left out belongs to the largest group, whose action need not suit it.
    """
    largest = largest_group(memory)
    for j in range(memory.counters["states"][0]):
        memory.policy[j] = memory.group[j] if memory.group[j] >= 0 else largest
    return mean_return(memory, considered_horizon(memory, settings))


@part
def largest_group(memory: SweepingMemory) -> int:
    """Return the group with most states, of equal ones the first."""
    largest, most = 0, 0
    for a in range(memory.value.shape[1]):
        count = 0
        for j in range(memory.counters["states"][0]):
            count += memory.group[j] == a
        if count > most:
            largest, most = a, count
    return largest
