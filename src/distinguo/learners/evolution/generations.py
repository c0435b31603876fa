"""The generations of the learner ``evolution``: candidates are drawn and tried, and the distribution moves."""

from __future__ import annotations

import numpy as np

from distinguo.learners.agent import Agent
from distinguo.learners.evolution.memory import (
    CENTRE,
    GENERATION,
    WARM_UP,
    EvolutionMemory,
    EvolutionSettings,
)
from distinguo.learners.evolution.places import by_scores, count_numbers, prototypes_of_numbers
from distinguo.learners.evolution.strategy import begin_distribution, draw, shift_distribution
from distinguo.search.maps import PrototypeMap, copy_map, drop_prototype, prototype_map

SMOOTH = 0.2  #: share of the latest generation in the level of a search
NARROW, WIDE = 1e-9, 1e9  #: widths of a distribution that has collapsed, or that nothing holds together
WARM_UP_STEPS = 200  #: of a trial of random laws at most, and of one of a candidate at the least
NEAR = 0.5  #: share of the way to the target from which a search is worth more trials
ALMOST = 0.9  #: the same from which no other search is tried beside it
EVERY = 5  #: generations after which the map at the centre is tested in any case
FEWEST = 3  #: trials after which the map at the centre may be given up


def target_of(memory: EvolutionMemory) -> float:
    """Return the mean return that solves the task, as far as trials show it."""
    return float(memory.status["limit"][0] if memory.facts["hold"][0] else memory.facts["threshold"][0])


def most_steps(memory: EvolutionMemory) -> int:
    """Return the steps of a trial at most: candidates may be cut earlier than tests are."""
    phase, limit = memory.status["phase"][0], int(memory.status["limit"][0])
    if phase == WARM_UP and memory.facts["amounts"][0]:
        return min(limit, WARM_UP_STEPS)
    return int(memory.status["horizon"][0]) if phase == GENERATION else limit


# ---- candidates ----------------------------------------------------------------------------------------------------


def map_of_numbers(memory: EvolutionMemory, numbers: np.ndarray, actions: np.ndarray) -> PrototypeMap:
    """Return the map that some numbers stand for."""
    seen, size = memory.seen, len(actions)
    places, widths = prototypes_of_numbers(numbers, len(seen.centre), size)
    return prototype_map(places * seen.spread + seen.centre, actions, seen.spread * widths)


def set_first_limit(agent: Agent) -> None:
    """Cut candidates at first after some times the length of random trials."""
    status, settings = agent.memory.status, agent.settings
    usual = settings.cut * agent.progress.counts["trial_steps"][0] / settings.warm_up
    limit = int(status["limit"][0])
    if usual > 0.0 and agent.memory.facts["amounts"][0]:
        usual = max(usual, float(WARM_UP_STEPS))
    status["first"] = min(max(int(usual), 1), limit) if usual > 0.0 else limit


def standardise(memory: EvolutionMemory) -> None:
    """Take over how far observations spread, for the maps that follow."""
    seen = memory.seen
    count = max(float(seen.times[0]), 1.0)
    spread = np.sqrt(seen.squares / count)
    seen.centre[:] = seen.mean
    seen.spread[:] = np.where(spread > 1e-9 * (1.0 + np.abs(seen.mean)), spread, 1.0)


def drawn_actions(agent: Agent, size: int) -> np.ndarray:
    """Return the actions of prototypes: each as often as any other, some of them if they are too many."""
    count = int(agent.memory.facts["actions"][0])
    rounds = [agent.rng.permutation(count) for _ in range(-(-size // count))]
    return np.concatenate(rounds)[:size]


def set_random_candidate(agent: Agent) -> None:
    """Try any map, to see how far observations spread."""
    memory = agent.memory
    standardise(memory)
    size = size_of_search(agent)
    numbers = agent.rng.standard_normal(count_numbers(len(memory.seen.mean), size))
    copy_map(map_of_numbers(memory, numbers, drawn_actions(agent, size)), memory.candidate)


def size_of_search(agent: Agent) -> int:
    """Return the number of prototypes: one for each action, and more after some restarts."""
    count, restarts = int(agent.memory.facts["actions"][0]), int(agent.memory.status["restarts"][0])
    return min(max(count, 2) + restarts // agent.settings.grow, agent.settings.regions)


def begin_map_search(agent: Agent) -> None:
    """Begin a search with a new distribution."""
    memory = agent.memory
    status, size, dimensions = memory.status, size_of_search(agent), len(memory.seen.mean)
    standardise(memory)
    numbers = count_numbers(dimensions, size)
    begin_distribution(
        memory, np.zeros(numbers) if by_scores(dimensions, size) else agent.rng.standard_normal(numbers)
    )
    memory.candidates.actions[:size] = drawn_actions(agent, size)
    status["prototypes"], status["cut"], status["horizon"] = size, 0, status["first"]
    status["trials"] = 1 if memory.facts["once"][0] else agent.settings.trials
    begin_level(memory)
    begin_generation(agent)


def begin_level(memory: EvolutionMemory) -> None:
    """Begin to compare generations: the earlier ones were not tried alike."""
    memory.status["stalled"] = 0
    memory.status["level"] = memory.status["highest"] = -np.inf


def begin_generation(agent: Agent) -> None:
    """Draw the next candidates."""
    status = agent.memory.status
    draw(agent.memory, agent.rng)
    status["phase"], status["candidate"], status["place"] = GENERATION, 0, 0
    agent.memory.candidates.reach[:] = agent.memory.candidates.cut[:] = 0.0


def set_candidate(agent: Agent) -> None:
    """Make the map that is tried next."""
    memory = agent.memory
    status = memory.status[0]
    n, size = int(status["numbers"]), int(status["prototypes"])
    actions = memory.candidates.actions[:size]
    if status["phase"] == GENERATION:
        numbers = memory.candidates.drawn[int(status["candidate"]), :n]
        copy_map(map_of_numbers(memory, numbers, actions), memory.candidate)
    elif status["phase"] == CENTRE:
        copy_map(map_of_numbers(memory, memory.distribution.mean[:n], actions), memory.central)
        copy_map(memory.central, memory.candidate)
        memory.seen.visits[:] = 0
    else:
        copy_map(memory.central, memory.candidate)
        drop_prototype(memory.candidate, int(status["dropped"]))


# ---- after a generation --------------------------------------------------------------------------------------------


def reach_of_trial(memory: EvolutionMemory) -> float:
    """How far a trial went: the summed extents of its observations."""
    return float(((memory.seen.high - memory.seen.low) / memory.seen.spread).sum())


def end_generation(agent: Agent) -> tuple[float, float]:
    """Move the distribution towards the better candidates: the best return, and the share of cut trials."""
    memory = agent.memory
    status, candidates, trials = memory.status[0], memory.candidates, int(memory.status["trials"][0])
    means = candidates.returns[:, :trials].mean(axis=1)
    reach = candidates.reach
    if (
        memory.facts["amounts"][0] and means.min() < means.max()
    ):  # who stays longest may well stay in one place
        reach = np.zeros(len(means))
    order = np.lexsort((-reach, -means))  # of equal returns, what went further first
    ranks = np.empty(len(order))
    ranks[order] = np.arange(len(order))
    shift_distribution(memory, ranks)
    better, best = order[: len(order) // 2], float(means[order[0]])
    level = float(means[better].mean())
    if np.isfinite(status["level"]):
        level = (1.0 - SMOOTH) * float(status["level"]) + SMOOTH * level
    status["level"] = level
    status["stalled"] = 0 if level > status["highest"] else status["stalled"] + 1
    status["highest"] = max(float(status["highest"]), level)
    if candidates.cut[order[0]] > 0.0 and not memory.facts["amounts"][0]:  # a longer trial may gain more
        best = max(best, best * float(status["limit"] / status["horizon"]))
    if status["generation"] == 1:
        status["base"] = level
    status["noise"] = candidates.returns[:, :trials].std()
    return best, float(candidates.cut[better].mean())


def is_worth_a_test(memory: EvolutionMemory, best: float) -> bool:
    """Whether the map at the centre is tested after a generation, whose best candidate had this return."""
    return not best < target_of(memory) or int(memory.status["generation"][0]) % EVERY == 0


def try_longer(agent: Agent, cut: float) -> None:
    """Note whether most trials were cut: then they become longer, or more of them where that no longer helps.

    Short trials of laws are kept as long as these foresee the whole ones: tests show whether they do.
    """
    memory, settings = agent.memory, agent.settings
    status = memory.status[0]
    if memory.facts["amounts"][0]:
        return
    status["cut"] = status["cut"] + 1 if cut > 0.5 else max(int(status["cut"]) - 1, 0)
    if let_trials_be_longer(agent):
        return
    if status["stalled"] >= settings.patience and not is_far(memory):
        add_trials(agent)


def let_trials_be_longer(agent: Agent) -> bool:
    """Double the length of trials if most were cut, or misjudged, for a while; whether that was so."""
    memory = agent.memory
    status = memory.status[0]
    if status["cut"] < agent.settings.longer or status["horizon"] >= status["limit"]:
        return False
    status["horizon"], status["cut"] = min(2 * int(status["horizon"]), int(status["limit"])), 0
    begin_level(memory)
    return True


def add_trials(agent: Agent) -> None:
    """Let candidates have more trials, if they may."""
    status, settings = agent.memory.status[0], agent.settings
    if may_have_more(agent.memory, settings):
        more = int(status["trials"]) + max(1, int(status["trials"]) // 2)
        status["trials"] = min(more, settings.most_trials)
        begin_level(agent.memory)


def is_far(memory: EvolutionMemory, name: str = "highest") -> bool:
    """Whether a search has come less than half the way to the target; False if there is none."""
    status = memory.status[0]
    return bool(status[name] - status["base"] < NEAR * (target_of(memory) - status["base"]))


def is_near(memory: EvolutionMemory) -> bool:
    """Whether the best map has come most of the way to the target; False if there is none."""
    status = memory.status[0]
    return bool(status["best"] - status["base"] > ALMOST * (target_of(memory) - status["base"]))


def may_have_more(memory: EvolutionMemory, settings: EvolutionSettings) -> bool:
    """Whether candidates may have more trials."""
    return not memory.facts["once"][0] and memory.status["trials"][0] < settings.most_trials


def is_behind(returns: np.ndarray, wanted: float) -> bool:
    """Whether trials are so much worse that the rest need not be run."""
    return len(returns) >= FEWEST and np.isfinite(wanted) and surely(returns, -1.0) < wanted


def surely(returns: np.ndarray, errors: float) -> float:
    """Return the mean of some returns less so many standard errors."""
    error = returns.std(ddof=1) / np.sqrt(len(returns)) if len(returns) > 1 else 0.0
    return float(returns.mean() - errors * error)


def has_collapsed(memory: EvolutionMemory) -> bool:
    """Whether a distribution has become a point, or nothing holds it together."""
    status, n = memory.status[0], int(memory.status["numbers"][0])
    width = float(status["sigma"]) * np.sqrt(np.trace(memory.distribution.covariance[:n, :n]) / n)
    return not NARROW < width < WIDE


def has_stalled(agent: Agent) -> bool:
    """Whether it is time to restart: sooner where the target is far and returns differ, as others may do better."""
    memory, settings = agent.memory, agent.settings
    far = is_far(memory) and memory.status["noise"][0] > 0.0
    return bool(
        memory.status["stalled"][0] >= (min(settings.patience, settings.stall) if far else settings.stall)
    )
