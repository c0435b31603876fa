"""Action values and how far to trust them (Figures 1, 2 and 4)."""

from __future__ import annotations

from distinguo.criteria import Vector
from distinguo.learners.economy.memory import GREATEST, LEAST, Memory
from distinguo.seam import part
from distinguo.settings import LearnerSettings


@part
def alpha(updates: int, enough_samples: int) -> float:
    """Figure 4: the learning rate of active updates, 1/n until there are enough samples.

    >>> alpha(2, 5), alpha(50, 5)
    (0.5, 0.2)
    """
    if updates <= enough_samples:
        return 1.0 / updates
    return 1.0 / enough_samples


@part
def current_epsilon(memory: Memory, settings: LearnerSettings) -> float:
    """Return the reward that may be lost: as given, or a share of the range of all look-ahead values so far."""
    if settings.epsilon_share == 0.0:
        return settings.epsilon
    return settings.epsilon_share * max(memory.extremes[GREATEST] - memory.extremes[LEAST], 0.0)


@part
def widen_values(memory: Memory, q1: float) -> None:
    """Widen the range of all look-ahead values so far."""
    memory.extremes[LEAST] = min(memory.extremes[LEAST], q1)
    memory.extremes[GREATEST] = max(memory.extremes[GREATEST], q1)


@part
def reliable_source(memory: Memory, k: int, min_updates: int) -> bool:
    """Section 3.1: whether *some* action value of region ``k`` was updated often enough."""
    for a in range(memory.q.shape[1]):
        if memory.updates[k, a] >= min_updates:
            return True
    return False


@part
def reliable_prototype(memory: Memory, j: int, min_updates: int) -> bool:
    """Section 3.3: whether *every* action value of region ``j`` was updated often enough."""
    for a in range(memory.q.shape[1]):
        if memory.updates[j, a] < min_updates:
            return False
    return True


@part
def back_up(memory: Memory, j: int, a: int, q_new: float, rate: float) -> None:
    """Figure 1: move ``Q(j, a)`` towards ``q_new``."""
    memory.q[j, a] = (1.0 - rate) * memory.q[j, a] + rate * q_new
    memory.updates[j, a] += 1


@part
def apply_profile(memory: Memory, settings: LearnerSettings, j: int, q1: Vector, reliable: Vector) -> None:
    """Update ``Q(j, .)`` by the reliable entries of an action profile (the last lines of Figure 2)."""
    for a in range(len(q1)):
        if reliable[a]:
            memory.updates[j, a] += 1
            rate = alpha(memory.updates[j, a], settings.enough_samples)
            memory.q[j, a] += rate * (q1[a] - memory.q[j, a])


@part
def adopt_profile(memory: Memory, settings: LearnerSettings, p: int, q1: Vector) -> None:
    """Let prototype ``p``, which now has a region of its own, begin with an action profile as its values."""
    for a in range(len(q1)):
        memory.q[p, a] = q1[a]
        memory.updates[p, a] = settings.new_updates
        memory.seen[p, a] = 0.0
    memory.investigated[p] = settings.new_investigated
