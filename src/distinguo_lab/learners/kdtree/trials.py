"""Trials on the leaves of a kd-tree: act, stack what follows, and learn from the stack, the latest step first.

Q-learning needs no reset and no end of a trial: the stack is learned from when the trial ends, when it is full, and
before a leaf is halved.
"""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from distinguo.controller import choose, region_at
from distinguo.criteria import look_ahead, prefers, state_value
from distinguo.learners.agent import (
    CAPPED,
    NO_ACTION,
    PAUSED,
    RUNNING,
    TERMINAL,
    Agent,
    Progress,
    begin_counting,
    keep,
)
from distinguo.seam import kernel, part
from distinguo.tasks.task import start, transition, truncated, unpack
from distinguo_lab.learners.kdtree.memory import KdTreeMemory
from distinguo_lab.learners.kdtree.settings import KdTreeSettings


@kernel
def begin_on_leaves(
    task: Any,
    memory: KdTreeMemory,
    settings: KdTreeSettings,
    progress: Progress,
    log: Any,
    rng: Generator,
) -> None:
    """Begin a trial."""
    s = start(task, rng)
    begin_counting(progress, s)
    progress.counts["action"][0] = act_on_leaf(memory, settings, region_at(task, memory.tree, s), rng)


@kernel
def advance_on_leaves(
    task: Any,
    memory: KdTreeMemory,
    settings: KdTreeSettings,
    progress: Progress,
    log: Any,
    rng: Generator,
    cap: int,
    steps: int,
) -> int:
    """Drive the running trial for at most so many steps, to its end, to the cap, or until leaves should be halved."""
    agent = Agent(task, memory, settings, progress, log, rng)
    counts = progress.counts
    s = unpack(task, progress.now)
    j = region_at(task, memory.tree, s)
    first = counts["length"][0]
    terminal, stopped = False, False
    while not terminal and not stopped and counts["length"][0] < min(cap, first + steps):
        s, j, terminal = step_on_leaves(agent, s, j)
        stopped = not terminal and (truncated(task, s) or counts["length"][0] >= cap)
        if is_look_due(memory, settings):
            break
    if terminal or stopped or is_look_due(memory, settings):
        learn_from_stack(memory, settings, 0.0 if terminal else state_value(memory.q[j]))
    keep(progress, s)
    if terminal:
        return TERMINAL
    if stopped:
        return CAPPED
    return PAUSED if is_look_due(memory, settings) else RUNNING


@part
def step_on_leaves(agent: Agent, s: Any, j: int) -> tuple[Any, int, bool]:
    """Take the chosen action in leaf ``j``, put the step on the stack, and choose the next action."""
    memory, settings, counts = agent.memory, agent.settings, agent.progress.counts
    a = counts["action"][0]
    s_next, r, terminal = transition(agent.task, s, a)
    k = region_at(agent.task, memory.tree, s_next)
    counts["length"][0] += 1
    counts["trial_steps"][0] += 1
    counts["gained"][0] += r
    memory.counters["since"][0] += 1
    stack_step(memory, settings, j, a, r)
    held = settings.hold and k == j
    if memory.counters["stacked"][0] == len(memory.leaf) and not held:
        learn_from_stack(memory, settings, 0.0 if terminal else state_value(memory.q[k]))
    if terminal:
        counts["action"][0] = NO_ACTION
    elif not held:
        counts["action"][0] = act_on_leaf(memory, settings, k, agent.rng)
    return s_next, k, terminal


@part
def act_on_leaf(memory: KdTreeMemory, settings: KdTreeSettings, j: int, rng: Generator) -> int:
    """Choose a preferred action of a leaf, or now and then any."""
    if settings.explore > 0.0 and rng.random() < settings.explore:
        return int(rng.random() * memory.q.shape[1])
    return choose(memory.q[j], 0.0, rng)


@part
def is_look_due(memory: KdTreeMemory, settings: KdTreeSettings) -> bool:
    """Tell whether it is time to look at the boundaries."""
    return memory.counters["since"][0] >= settings.interval * memory.tree.size[0]


@part
def stack_step(memory: KdTreeMemory, settings: KdTreeSettings, j: int, a: int, r: float) -> None:
    """Put a step on the stack; one that goes on with an action that is held joins the one before."""
    place = memory.counters["stacked"][0]
    last = place - 1
    if settings.hold and place > 0 and memory.leaf[last] == j and memory.action[last] == a:
        memory.reward[last] += memory.discount[last] * r
        memory.discount[last] *= settings.gamma
        return
    memory.leaf[place] = j
    memory.action[place] = a
    memory.reward[place] = r
    memory.discount[place] = settings.gamma
    memory.explored[place] = not prefers(memory.q[j], a, 0.0)
    memory.counters["stacked"][0] = place + 1


@part
def learn_from_stack(memory: KdTreeMemory, settings: KdTreeSettings, v_last: float) -> None:
    """Learn from the stacked steps, the latest first, and empty the stack; ``v_last`` is worth what followed them.

    Each step learns from a mixture of the value that followed it and of the return along the steps after it. An
    action that was not preferred ends that return, as in Watkins's Q(lambda).
    """
    v, g = v_last, v_last
    for place in range(memory.counters["stacked"][0] - 1, -1, -1):
        j, a = memory.leaf[place], memory.action[place]
        ahead = (1.0 - settings.lambda_) * v + settings.lambda_ * g
        g = look_ahead(memory.reward[place], memory.discount[place], ahead)
        memory.lessons[j, a] += 1
        rate = max(settings.alpha, 1.0 / memory.lessons[j, a])
        memory.q[j, a] += rate * (g - memory.q[j, a])
        v = state_value(memory.q[j])
        if memory.explored[place]:
            g = v
    memory.counters["stacked"][0] = 0
