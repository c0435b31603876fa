"""Search and race: which proposal is tried next, on which starts, and whether it is kept.

*Search*: random small maps, one trial each, until a return beats that of a constant action. While no return
differs, half of them vary the map that went furthest. *Race*: proposals against the present map, on the same
starts, the worst first; kept if they gain more, or as much with no more prototypes. A race that stalls near the
threshold takes more starts, since a few may be harder than most. A race that stalls elsewhere is given up after
Luby's numbers, and the search begins again.
"""

from __future__ import annotations

import numpy as np

from distinguo.learners.agent import NO_BUDGET, PAUSED, RUNNING, SPENT, TERMINAL, Agent, luby
from distinguo.learners.probation.memory import (
    CONSTANT,
    NONE,
    RACE,
    SEARCH,
    WIDEN,
    goes_on,
    has_ended,
    imagined_return,
    new_root,
    reach_of,
    run_trial,
    set_weights,
)
from distinguo.learners.probation.proposals import DROP, below, log_kept, propose, random_map, weigh_by_extent
from distinguo.seam import part
from distinguo.search.maps import copy_map, drop_prototype, move_prototype

UNDECIDED, DECIDED, CUT = 0, 1, 2  #: the result of a trial for its proposal
FEW, SURE, HOPELESS = (
    3,
    2.0,
    -0.5,
)  #: the fewest pairs of trials, and the standard errors that end a comparison


@part
def drive(agent: Agent, cap: int, steps: int, left: int) -> int:
    """Try proposals until one that took steps is concluded, or ``steps`` steps are used up.

    A trial that would take more steps than are ``left`` is cut, and its proposal is dropped.
    """
    memory, counts = agent.memory, agent.progress.counts
    status = memory.status
    most = counts["trial_steps"][0] + left
    while True:
        if status["nodes"][0] + 2 * cap + 4 > len(memory.tree.gained) or agent.log.used[0] >= len(
            agent.log.entries
        ):
            return PAUSED
        if not status["pending"][0]:
            next_proposal(agent, cap)
        tried = try_on_next_start(agent, cap, most - counts["trial_steps"][0])
        if tried == CUT:
            status["pending"][0] = 0
            return SPENT
        if tried == DECIDED:
            conclude(agent, cap)
            status["pending"][0] = 0
            if status["ran"][0] > 0 or is_claimable(agent):
                agent.progress.counts["length"][0] = status["ran"][0]
                return TERMINAL
        elif status["ran"][0] >= steps:
            return RUNNING


@part
def next_proposal(agent: Agent, cap: int) -> None:
    """Choose what is tried next."""
    memory = agent.memory
    status = memory.status
    status["pending"][0], status["place"][0], status["ran"][0] = 1, 0, 0
    status["total"][0], status["present"][0], status["squares"][0] = 0.0, 0.0, 0.0
    status["kinds"][0] = 0
    phase = status["phase"][0]
    if phase == SEARCH and status["root"][0] == NONE:
        status["root"][0] = new_root(agent)
    if phase == CONSTANT:
        constant_map(agent)
    elif phase == WIDEN:
        copy_map(memory.incumbent, memory.candidate)
        memory.starts.roots[status["starts"][0]] = new_root(agent)
    elif phase == SEARCH and (status["far"][0] < 0.0 or agent.rng.random() >= agent.settings.furthest):
        random_map(agent, memory.candidate)
    else:
        changed_map(agent, cap, phase == RACE)
    if phase == RACE:
        order_starts(agent)


@part
def constant_map(agent: Agent) -> None:
    """Propose any one action everywhere."""
    memory = agent.memory
    memory.status["root"][0] = new_root(agent)
    memory.candidate.partition.size[0] = 1
    memory.candidate.actions[0] = int(agent.rng.random() * memory.tree.child.shape[1])
    move_prototype(memory.candidate, 0, memory.tree.seen[memory.status["root"][0]])
    weigh_by_extent(agent, memory.candidate)


@part
def changed_map(agent: Agent, cap: int, racing: bool) -> None:
    """Propose a change: of the map that went furthest or, in the race, of the present one.

    In the race it is the most promising change, as imagined on the worst start; now and then, any.
    """
    memory, settings = agent.memory, agent.settings
    source = memory.incumbent if racing else memory.furthest
    root = memory.starts.roots[worst_start(agent)] if racing else NONE
    count = settings.screen if racing and agent.rng.random() >= settings.plain else 1
    set_weights(agent)
    best = NEVER
    for number in range(count):
        kinds = propose(agent, source, memory.draft, root, cap)
        if racing and memory.status["shrink"][0] > 0:
            kinds |= drop_until_smaller(agent)
        gained = imagined_return(agent, memory.draft, root, cap, NONE, best) if count > 1 else 0.0
        if number == 0 or gained > best:
            best = gained
            memory.status["kinds"][0] = kinds
            copy_map(memory.draft, memory.candidate)


@part
def drop_until_smaller(agent: Agent) -> int:
    """Drop prototypes until the proposal has fewer than the present map."""
    memory = agent.memory
    while memory.draft.partition.size[0] >= memory.incumbent.partition.size[0]:
        drop_prototype(memory.draft, below(agent, memory.draft.partition.size[0]))
    return DROP


@part
def worst_start(agent: Agent) -> int:
    """Return the start from which the present map gains least."""
    starts, worst = agent.memory.starts, 0
    for i in range(agent.memory.status["starts"][0]):
        if starts.returns[i] < starts.returns[worst]:
            worst = i
    return worst


@part
def order_starts(agent: Agent) -> None:
    """Put the worst first."""
    order, returns = agent.memory.starts.order, agent.memory.starts.returns
    for i in range(agent.memory.status["starts"][0]):
        order[i] = i
        j = i
        while j > 0 and returns[order[j]] < returns[order[j - 1]]:
            order[j], order[j - 1] = order[j - 1], order[j]
            j -= 1


@part
def count_steps(agent: Agent, steps: int) -> None:
    """Count steps of learning."""
    agent.memory.status["ran"][0] += steps
    agent.progress.counts["trial_steps"][0] += steps


@part
def run_and_count(agent: Agent, root: int, cap: int, need: float, left: int) -> float:
    """Run the proposal from a root and return its return."""
    memory = agent.memory
    last, steps = run_trial(agent, memory.candidate, root, cap, need, left)
    count_steps(agent, steps)
    memory.status["last"][0] = last
    gained = memory.tree.gained[last]
    agent.progress.counts["gained"][0] = gained
    if has_ended(agent, last, cap):
        memory.status["least"][0] = min(memory.status["least"][0], gained)
    return gained


@part
def try_on_next_start(agent: Agent, cap: int, left: int = NO_BUDGET) -> int:
    """Try the proposal on its next start; return whether that decided it, or was cut."""
    memory = agent.memory
    status, starts = memory.status, memory.starts
    racing, repeats = status["phase"][0] == RACE, memory.facts["repeats"][0]
    i = starts.order[status["place"][0]] if racing and repeats else status["starts"][0]
    root, need, target = status["root"][0], NEVER, NEVER
    if status["phase"][0] == WIDEN:
        root = starts.roots[i]
    elif racing and repeats:
        root = starts.roots[i]
        status["present"][0] += starts.returns[i]
        target = status["present"][0] - allowed_loss_to_shrink(agent)
        need = target - status["total"][0] if agent.settings.give_up else NEVER
    elif racing:
        root = new_root(agent)
    most = agent.progress.counts["trial_steps"][0] + left
    gained = run_and_count(agent, root, cap, need, left)
    if goes_on(agent, status["last"][0], cap, need):
        return CUT
    status["total"][0] += gained
    status["place"][0] += 1
    if not racing:
        return DECIDED
    if not repeats:
        return compare_by_chance(agent, gained, cap, most - agent.progress.counts["trial_steps"][0])
    starts.tried[i] = gained
    enough = status["total"][0] < target or status["place"][0] >= status["starts"][0]
    return DECIDED if enough else UNDECIDED


@part
def compare_by_chance(agent: Agent, gained: float, cap: int, left: int) -> int:
    """Run the present map, too, from a start of its own; return whether the difference is clear, or was cut."""
    memory = agent.memory
    status, starts = memory.status, memory.starts
    i = (status["place"][0] - 1) % agent.settings.most_starts
    root = new_root(agent)
    last, steps = run_trial(agent, memory.incumbent, root, cap, NEVER, left)
    count_steps(agent, steps)
    if goes_on(agent, last, cap, NEVER):
        return CUT
    present = memory.tree.gained[last]
    starts.returns[i], starts.roots[i], starts.tried[i] = present, root, gained
    status["present"][0] += present
    status["squares"][0] += (gained - present) ** 2
    if status["place"][0] < FEW:
        return UNDECIDED
    score = standard_score(agent)
    enough = score < HOPELESS or score > SURE or status["place"][0] >= agent.settings.most_starts
    return DECIDED if enough else UNDECIDED


# Conclusions from a tried proposal: whether it is kept, and what follows.


MOST_FREE = 3_000  #: proposals in a row that change nothing, after which the race counts as stalled
MOST_KNOWN = 300  #: proposals in a row that try nothing new, after which a search takes another start
FREE = 0.1  #: how much a proposal without a step counts towards a stall
NEVER = -1e300  #: a return that any trial reaches


@part
def allowed_loss_to_shrink(agent: Agent) -> float:
    """The loss allowed over all starts to save a prototype: the surplus above what is claimed at once."""
    memory = agent.memory
    if memory.status["shrink"][0] == 0:
        return 0.0
    return max(0.0, (mean_on_starts(agent) - claim_level(agent)) * memory.status["starts"][0])


@part
def standard_score(agent: Agent) -> float:
    """By how many standard errors the proposal is better, over its pairs."""
    status = agent.memory.status
    pairs = status["place"][0]
    mean = (status["total"][0] - status["present"][0]) / pairs
    variance = max(status["squares"][0] / pairs - mean * mean, 0.0) / pairs
    if variance == 0.0:
        return 0.0 if mean == 0.0 else np.sign(mean) * 1e6
    return mean / np.sqrt(variance)


@part
def mean_on_starts(agent: Agent) -> float:
    """The mean return of the present map on its starts."""
    memory, total = agent.memory, 0.0
    for i in range(memory.status["starts"][0]):
        total += memory.starts.returns[i]
    return total / memory.status["starts"][0]


@part
def is_claimable(agent: Agent) -> bool:
    """Whether the present map is above the threshold on its starts, by a margin, and has not been refuted.

    A map without the margin is claimed when half the patience for a better one is used up.
    """
    memory = agent.memory
    status = memory.status
    if status["phase"][0] != RACE or not status["changed"][0] or status["shrink"][0] > 0:
        return False
    mean = mean_on_starts(agent)
    if mean >= claim_level(agent):
        return True
    patience = 0.5 * agent.settings.stall * luby(status["attempt"][0])
    return mean >= memory.facts["threshold"][0] and status["stalled"][0] >= patience


@part
def claim_level(agent: Agent) -> float:
    """The mean return on its starts at which a map is claimed at once: the threshold and a margin."""
    threshold = agent.memory.facts["threshold"][0]
    if agent.memory.facts["hold"][0]:  # no trial is longer
        return threshold
    return threshold + agent.settings.margin * max(threshold - agent.memory.status["baseline"][0], 0.0)


@part
def conclude(agent: Agent, cap: int) -> None:
    """Conclude a proposal that was tried."""
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
    """Forget the results of the search."""
    status = agent.memory.status
    status["far"][0], status["success"][0], status["free"][0] = -1.0, NEVER, 0


@part
def conclude_search(agent: Agent, cap: int) -> None:
    """Remember the map if it went furthest or gained most; begin the race after a success."""
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
    elif known:  # maps find nothing new from here
        forget_search(agent)
        status["root"][0] = NONE


@part
def begin_race(agent: Agent) -> None:
    """Race from the root of the search, and from more starts if the settings ask for them."""
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
    """Include the new start."""
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
    """Keep the proposal if it pays; end a race that has stalled."""
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
    """The gain over the present map; on stochastic tasks only a clear gain counts."""
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
    """Replace the present map by the proposal."""
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
    """Before success is claimed, try whether fewer prototypes are enough."""
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
    far = threshold - mean > settings.near * (threshold - status["baseline"][0])  # never without a threshold
    room = min(settings.more_starts, settings.most_starts) - status["starts"][0]
    if not far and room > 0 and memory.facts["repeats"][0]:
        widen_race(agent, min(status["starts"][0], room))
        return
    if mean > status["best"][0]:
        status["best"][0] = mean
        copy_map(memory.incumbent, memory.best)
    agent.progress.counts["attempt"][0] += 1
    begin_search(agent)
