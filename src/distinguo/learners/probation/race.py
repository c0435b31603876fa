"""Search and race: which proposal is tried next, on which starts, and whether it is kept.

*Search*: random small maps, one trial each, until a return beats that of a constant action. While no return differs,
half of them vary the map that went furthest. *Race*: proposals against the present map, on the same starts, the worst
first; kept if they gain more, or as much with no more prototypes. A race that stalls near the threshold takes more
starts, since few may be harder than most; one that stalls elsewhere is given up, and the search begins again, after
Luby's numbers.
"""

from __future__ import annotations

from distinguo.learners.agent import NO_BUDGET, PAUSED, RUNNING, SPENT, TERMINAL, Agent
from distinguo.learners.probation.conclusions import (
    NEVER,
    allowed_loss_to_shrink,
    conclude,
    is_claimable,
    standard_score,
)
from distinguo.learners.probation.memory import CONSTANT, NONE, RACE, SEARCH, WIDEN
from distinguo.learners.probation.model import imagined_return, set_weights
from distinguo.learners.probation.proposals import DROP, below, propose, random_map, weigh_by_extent
from distinguo.learners.probation.tree import goes_on, has_ended, new_root, run_trial
from distinguo.seam import part
from distinguo.search.maps import copy_map, drop_prototype, move_prototype

UNDECIDED, DECIDED, CUT = 0, 1, 2  #: what a trial says of its proposal
FEW, SURE, HOPELESS = 3, 2.0, -0.5  #: pairs of trials at least, and standard errors that end a comparison


@part
def drive(agent: Agent, cap: int, steps: int, left: int) -> int:
    """Try proposals until one that took steps is concluded, or so many steps are used up.

    A trial that would take more than are ``left`` is cut, and its proposal is as if it had not been made.
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

    There it is the change of which most is to be hoped, as imagined on the worst start; now and then, any.
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
    """Leave a proposal with fewer prototypes than the present map."""
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
    """Run the proposal from a root: what it gained."""
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
    """Try the proposal on its next start; tell whether that was enough, or cut."""
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
    """Run the present map, too, from a start of its own; tell whether the difference is clear, or cut."""
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
