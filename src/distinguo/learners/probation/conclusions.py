"""What is concluded from a proposal that was tried: whether it is kept, and what is done next."""

from __future__ import annotations

import numpy as np

from distinguo.learners.agent import Agent, luby
from distinguo.learners.probation.memory import CONSTANT, NONE, RACE, SEARCH, WIDEN
from distinguo.learners.probation.reasons import log_kept
from distinguo.learners.probation.tree import reach_of
from distinguo.seam import part
from distinguo.search.maps import copy_map

MOST_FREE = 3_000  #: proposals in a row that change nothing, after which the race counts as stalled
MOST_KNOWN = 300  #: proposals in a row that try nothing new, after which a search takes another start
FREE = 0.1  #: what a proposal that took no step counts for a stall
NEVER = -1e300  #: a return that any trial reaches


@part
def allowed_loss_to_shrink(agent: Agent) -> float:
    """Return what may be lost over all starts if that saves a prototype: what is gained beyond the threshold."""
    memory = agent.memory
    if memory.status["shrink"][0] == 0:
        return 0.0
    return max(0.0, (mean_on_starts(agent) - memory.facts["threshold"][0]) * memory.status["starts"][0])


@part
def standard_score(agent: Agent) -> float:
    """Return how many standard errors the proposal is better, on average over its pairs."""
    status = agent.memory.status
    pairs = status["place"][0]
    mean = (status["total"][0] - status["present"][0]) / pairs
    variance = max(status["squares"][0] / pairs - mean * mean, 0.0) / pairs
    if variance == 0.0:
        return 0.0 if mean == 0.0 else np.sign(mean) * 1e6
    return mean / np.sqrt(variance)


@part
def mean_on_starts(agent: Agent) -> float:
    """Return what the present map gains on its starts, on average."""
    memory, total = agent.memory, 0.0
    for i in range(memory.status["starts"][0]):
        total += memory.starts.returns[i]
    return total / memory.status["starts"][0]


@part
def is_claimable(agent: Agent) -> bool:
    """Whether the present map reaches the threshold on its starts, and was not refuted as it is."""
    memory = agent.memory
    status = memory.status
    if status["phase"][0] != RACE or not status["changed"][0] or status["shrink"][0] > 0:
        return False
    return mean_on_starts(agent) >= memory.facts["threshold"][0]


@part
def conclude(agent: Agent, cap: int) -> None:
    """Draw the conclusion from a proposal that was tried."""
    phase = agent.memory.status["phase"][0]
    if phase == CONSTANT:
        conclude_constant(agent)
    elif phase == SEARCH:
        conclude_search(agent, cap)
    elif phase == RACE:
        conclude_race(agent)
    else:
        conclude_widening(agent)


@part
def conclude_constant(agent: Agent) -> None:
    """Begin the search, unless one action everywhere is enough."""
    memory = agent.memory
    gained = memory.status["total"][0]
    memory.status["baseline"][0] = gained
    copy_map(memory.candidate, memory.incumbent)
    begin_search(agent)
    if gained >= memory.facts["threshold"][0]:
        memory.status["success"][0] = gained
        copy_map(memory.candidate, memory.success)
        begin_race(agent)


@part
def begin_search(agent: Agent) -> None:
    """Begin an attempt."""
    status = agent.memory.status
    status["phase"][0] = SEARCH
    status["began"][0] = agent.progress.counts["trial_steps"][0]
    status["attempt"][0] += 1
    forget_search(agent)


@part
def forget_search(agent: Agent) -> None:
    """Forget what the search has found from its start."""
    status = agent.memory.status
    status["far"][0], status["success"][0], status["free"][0] = -1.0, NEVER, 0


@part
def conclude_search(agent: Agent, cap: int) -> None:
    """Keep the map in mind if it went furthest or gained most; begin the race after a success."""
    memory, settings = agent.memory, agent.settings
    status = memory.status
    reach = reach_of(agent, memory.candidate, status["root"][0], status["last"][0])
    if reach > status["far"][0]:
        status["far"][0] = reach
        copy_map(memory.candidate, memory.furthest)
    if status["total"][0] > status["success"][0]:
        status["success"][0] = status["total"][0]
        copy_map(memory.candidate, memory.success)
    baseline = status["baseline"][0]
    used = agent.progress.counts["trial_steps"][0] - status["began"][0]
    status["free"][0] = 0 if status["ran"][0] > 0 else status["free"][0] + 1
    known = status["free"][0] >= MOST_KNOWN
    gained, enough = status["success"][0], known or used >= settings.effort * cap
    if gained > baseline + settings.gain * abs(baseline) and (
        enough or gained >= memory.facts["threshold"][0]
    ):
        begin_race(agent)
    elif known:  # all that maps do from here was tried
        forget_search(agent)
        status["root"][0] = NONE


@part
def begin_race(agent: Agent) -> None:
    """Race from the root of the search, and from more starts if so many are asked for."""
    memory = agent.memory
    status = memory.status
    copy_map(memory.success, memory.incumbent)
    memory.starts.roots[0], memory.starts.returns[0] = status["root"][0], status["success"][0]
    status["starts"][0], status["stalled"][0], status["free"][0], status["changed"][0] = 1, 0.0, 0, 1
    status["root"][0] = NONE
    status["widened"][0] = 0
    status["phase"][0] = RACE
    try_to_shrink(agent)
    widen_race(agent, agent.settings.starts - 1)


@part
def widen_race(agent: Agent, count: int) -> None:
    """Take more starts before the race goes on."""
    status = agent.memory.status
    if count > 0:
        status["widened"][0], status["phase"][0] = count, WIDEN


@part
def conclude_widening(agent: Agent) -> None:
    """Count the new start in."""
    memory = agent.memory
    status = memory.status
    memory.starts.returns[status["starts"][0]] = status["total"][0]
    status["starts"][0] += 1
    status["widened"][0] -= 1
    if status["widened"][0] == 0:
        status["phase"][0], status["stalled"][0], status["free"][0], status["changed"][0] = RACE, 0.0, 0, 1
        try_to_shrink(agent)


@part
def conclude_race(agent: Agent) -> None:
    """Keep the proposal if it pays; end a race that leads nowhere."""
    memory = agent.memory
    status = memory.status
    status["proposals"][0] += 1
    ran = status["ran"][0] > 0
    status["free"][0] = 0 if ran else status["free"][0] + 1
    status["stalled"][0] += 1.0 if ran else FREE
    gain = advantage(agent)
    saved = memory.incumbent.partition.size[0] - memory.candidate.partition.size[0]
    status["shrink"][0] = max(status["shrink"][0] - 1, 0)
    if gain > 0.0 or (gain == 0.0 and saved >= 0):
        if ran or saved != 0:
            log_kept(agent)
        keep_proposal(agent, gain > 0.0, ran)
    if (
        status["stalled"][0] >= agent.settings.stall * luby(status["attempt"][0])
        or status["free"][0] >= MOST_FREE
    ):
        end_or_widen(agent)


@part
def advantage(agent: Agent) -> float:
    """Return what the proposal gains beyond the present map; where chance is at work, only what is clear counts."""
    memory = agent.memory
    status = memory.status
    if memory.facts["repeats"][0]:
        gain = status["total"][0] - status["present"][0]
        complete = status["place"][0] == status["starts"][0]
        return 0.0 if gain < 0.0 and complete and gain + allowed_loss_to_shrink(agent) >= 0.0 else gain
    score = standard_score(agent)
    if score > 1.0:
        return score
    fewer = memory.candidate.partition.size[0] < memory.incumbent.partition.size[0]
    return 0.0 if fewer and score >= 0.0 else -1.0


@part
def keep_proposal(agent: Agent, gained: bool, ran: bool) -> None:
    """Put the proposal in the place of the present map."""
    memory = agent.memory
    status, starts = memory.status, memory.starts
    copy_map(memory.candidate, memory.incumbent)
    status["kept"][0] += 1
    if not memory.facts["repeats"][0]:
        status["starts"][0] = min(status["place"][0], agent.settings.most_starts)
    for i in range(status["starts"][0]):
        starts.returns[i] = starts.tried[i]
    if gained:
        status["stalled"][0], status["free"][0] = 0.0, 0
    if gained or ran:
        status["changed"][0] = 1
        try_to_shrink(agent)
    elif memory.incumbent.partition.size[0] == 1:
        status["shrink"][0] = 0  # no map has fewer


@part
def try_to_shrink(agent: Agent) -> None:
    """Before success is claimed, see whether fewer prototypes will do."""
    memory = agent.memory
    reached = mean_on_starts(agent) >= memory.facts["threshold"][0]
    size = memory.incumbent.partition.size[0]
    memory.status["shrink"][0] = agent.settings.shrink * size if reached and size > 1 else 0


@part
def end_or_widen(agent: Agent) -> None:
    """Take as many starts again if the threshold is near; else remember the best map, and search again."""
    memory, settings = agent.memory, agent.settings
    status = memory.status
    mean, threshold = mean_on_starts(agent), memory.facts["threshold"][0]
    far = threshold - mean > settings.near * (
        threshold - status["baseline"][0]
    )  # not where no threshold is known
    room = min(settings.more_starts, settings.most_starts) - status["starts"][0]
    if not far and room > 0 and memory.facts["repeats"][0]:
        widen_race(agent, min(status["starts"][0], room))
        return
    if mean > status["best"][0]:
        status["best"][0] = mean
        copy_map(memory.incumbent, memory.best)
    agent.progress.counts["attempt"][0] += 1
    begin_search(agent)
