"""The plan: the values of the model without optimism, and the best policy for a trial of finite length.

A trial is stopped after a number of steps, the horizon, but a policy does not know the time. So value iteration
runs with several discounts, none looking much farther than the horizon. The policy with the best mean return over a
whole trial is taken; the model gives that return, without discount.
"""

from __future__ import annotations

from typing import Any

from distinguo.learners.sweeping.memory import NOTHING, SweepingMemory, SweepingSettings
from distinguo.learners.sweeping.model import expected, spread, uncertainty
from distinguo.references import by_reference
from distinguo.seam import kernel, part

LOOKS = (1.0, 2.0, 4.0, 8.0)  #: the discounts are 1 - look / horizon
SHORTEST_LOOK = 0.5  #: and no less than this
MOST_SWEEPS = 20_000  #: of value iteration
FEW_TRIALS = 10  #: before which starts are not known
UNCERTAIN = 0.01  #: share of a plan's steps that may come from pairs tried too seldom


@part
def lowest_value(memory: SweepingMemory, gamma: float) -> float:
    """Return the lowest value of an untried pair, by the rewards so far."""
    return min(0.0, memory.amounts["worst"][0]) / (1.0 - gamma)


@kernel
def iterate_values(memory: SweepingMemory, settings: SweepingSettings, gamma: float) -> None:
    """Compute the values of all pairs in the model into ``trial_value``; untried pairs get the lowest value."""
    states, least = memory.counters["states"][0], settings.precision * spread(memory) * (1.0 - gamma)
    for j in range(states):
        memory.now[j] = lowest_value(memory, gamma)
        for a in range(memory.trial_value.shape[1]):
            memory.trial_value[j, a] = memory.now[j]
    for _ in range(MOST_SWEEPS):
        change = 0.0
        for i in range(states):
            change = max(change, _back_up_value(memory, settings, states - 1 - i, gamma))
        if change <= least:
            return


@part
def _back_up_value(memory: SweepingMemory, settings: SweepingSettings, j: int, gamma: float) -> float:
    before, value = memory.now[j], memory.trial_value[j]
    best = lowest_value(memory, gamma)
    for a in range(len(value)):
        if memory.tries[j, a] > 0:
            doubtful = settings.caution * gamma * uncertainty(memory, memory.now, j, a)
            value[a] = expected(memory, memory.now, j, a, gamma) - doubtful
            best = max(best, value[a])
    memory.now[j] = best
    return abs(best - before)


@part
def take_best_actions(memory: SweepingMemory, values: Any) -> None:
    """Set the policy of each state to its best action; the first of equal ones."""
    for j in range(memory.counters["states"][0]):
        best = 0
        for a in range(1, values.shape[1]):
            if values[j, a] > values[j, best]:
                best = a
        memory.policy[j] = best


@kernel
def mean_return(memory: SweepingMemory, horizon: int) -> float:
    """Return the mean return of the policy over a trial in the model; an untried pair ends a trial."""
    states = memory.counters["states"][0]
    for j in range(states):
        memory.now[j] = 0.0
    for _ in range(horizon):
        for j in range(states):
            a = memory.policy[j]
            memory.then[j] = expected(memory, memory.now, j, a, 1.0) if memory.tries[j, a] > 0 else 0.0
        for j in range(states):
            memory.now[j] = memory.then[j]
    trials, total = 0, 0.0
    for j in range(states):
        trials += memory.starts[j]
        total += memory.starts[j] * memory.now[j]
    return total / max(trials, 1)


@kernel
def weigh_states(memory: SweepingMemory, horizon: int) -> None:
    """Compute how often the policy visits each state in a trial, into ``weight``."""
    states, trials = memory.counters["states"][0], 0
    for j in range(states):
        trials += memory.starts[j]
    for j in range(states):
        memory.weight[j], memory.now[j] = 0.0, memory.starts[j] / max(trials, 1)
    for _ in range(horizon):
        for j in range(states):
            memory.then[j] = 0.0
        for j in range(states):
            if memory.now[j] > 0.0:
                memory.weight[j] += memory.now[j]
                _move_on(memory, j)
        for j in range(states):
            memory.now[j] = memory.then[j]


@part
def _move_on(memory: SweepingMemory, j: int) -> None:
    """Move the visits in state ``j`` to the states that the policy leads to."""
    a = memory.policy[j]
    e = memory.first_edge[j, a]
    while e != NOTHING:
        if not memory.edge_ends[e]:
            share = memory.edge_count[e] / memory.tries[j, a]
            memory.then[memory.edge_to[e]] += memory.now[j] * share
        e = memory.edge_next[e]


@part
def considered_horizon(memory: SweepingMemory, settings: SweepingSettings) -> int:
    """Return the steps of a trial that a plan considers."""
    return max(1, min(memory.counters["horizon"][0], settings.horizon))


@kernel
def make_plan_of_model(memory: SweepingMemory, settings: SweepingSettings) -> None:
    """Find the best policy, its action values and its mean return, and how often it visits each state."""
    memory = by_reference(memory)
    horizon, amounts = considered_horizon(memory, settings), memory.amounts
    found = False
    for look in LOOKS:
        gamma = max(SHORTEST_LOOK, 1.0 - look / horizon)
        iterate_values(memory, settings, gamma)
        take_best_actions(memory, memory.trial_value)
        worth = mean_return(memory, horizon)
        if not found or worth > amounts["worth"][0]:
            amounts["worth"][0], amounts["gamma"][0], found = worth, gamma, True
            keep_trial_values(memory)
    take_best_actions(memory, memory.value)
    weigh_states(memory, horizon)
    memory.counters["planned"][0] = memory.counters["experience"][0]


@part
def keep_trial_values(memory: SweepingMemory) -> None:
    """Keep the values that were just found."""
    for j in range(memory.counters["states"][0]):
        for a in range(memory.value.shape[1]):
            memory.value[j, a] = memory.trial_value[j, a]


@kernel
def note_greatest_value(memory: SweepingMemory) -> bool:
    """Note the greatest value of the plan, which the optimistic value must exceed; return whether it grew."""
    memory = by_reference(memory)
    greatest = memory.amounts["greatest"][0]
    for j in range(memory.counters["states"][0]):
        for a in range(memory.value.shape[1]):
            if memory.tries[j, a] > 0:
                memory.amounts["greatest"][0] = max(memory.amounts["greatest"][0], memory.value[j, a])
    return memory.amounts["greatest"][0] > greatest


@kernel
def rests_on_experience(memory: SweepingMemory, settings: SweepingSettings) -> bool:
    """Whether the plan rests on enough experience: known starts, and pairs tried often enough nearly everywhere it
    goes.

    Starts are known after a few trials if no start was seen only once: by the Good-Turing estimate, hardly any is
    then unseen.
    """
    memory = by_reference(memory)
    trials, visits, uncertain = 0, 0.0, 0.0
    needed = settings.enough if memory.counters["chance"][0] == 1 else 1
    for j in range(memory.counters["states"][0]):
        if memory.starts[j] == 1:
            return False
        trials += memory.starts[j]
        visits += memory.weight[j]
        if memory.tries[j, memory.policy[j]] < needed:
            uncertain += memory.weight[j]
    return trials >= FEW_TRIALS and uncertain <= UNCERTAIN * visits
