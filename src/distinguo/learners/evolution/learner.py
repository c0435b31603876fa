"""The learner ``evolution`` as the stage sees it.

A candidate is a map of a few prototypes. Its numbers are drawn from a normal distribution, and each generation moves
the distribution towards its better half (CMA-ES). All candidates of a generation have the same starts. Only their
order counts, so any scale of rewards will do. What is claimed is the map at the centre of the distribution: it
depends less on luck than the best candidate does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import CAPPED, NO_BUDGET, SPENT, TERMINAL, Agent, begin_counting
from distinguo.learners.evolution.memory import (
    CENTRE,
    GENERATION,
    SHRINK,
    WARM_UP,
    EvolutionMemory,
    EvolutionSettings,
    checked_evolution_memory,
    fresh_evolution_memory,
)
from distinguo.learners.evolution.places import by_scores, count_numbers, prototypes_of_numbers
from distinguo.learners.evolution.strategy import begin_distribution, draw, shift_distribution
from distinguo.learners.evolution.trials import draw_start, run_candidate
from distinguo.learners.learner import Learner, Setup, register
from distinguo.seam import at_speed
from distinguo.search.maps import PrototypeMap, controller_of, copy_map, drop_prototype, prototype_map
from distinguo.search.races import is_hopeless
from distinguo.tasks.spec import Goal, Hold
from distinguo.tasks.task import has_one_start

SMOOTH = 0.2  #: share of the latest generation in the level of a search
NARROW, WIDE = 1e-9, 1e9  #: widths of a distribution that has collapsed, or that nothing holds together
NEAR = 0.5  #: share of the way to the target from which a search is worth more trials
EVERY = 5  #: generations after which the map at the centre is tested in any case
FEWEST = 3  #: trials after which the map at the centre may be given up


class Refutations:
    """What a failed confirmation teaches: longer trials where they should never end, else that the map was lucky."""

    def are_run(self, memory: EvolutionMemory) -> bool:
        """The stage runs the trials itself."""
        return False

    def begin(self, agent: Agent) -> None:
        """Do nothing."""

    def run(self, agent: Agent, cap: int) -> tuple[int, float]:
        """Do nothing: the stage runs them."""
        raise NotImplementedError

    def refuted(self, agent: Agent, returns: Sequence[float]) -> None:
        """Look for another map; where trials should never end, in trials of twice the length."""
        status = agent.memory.status
        status["best"] = -np.inf
        if agent.memory.facts["hold"][0]:
            status["limit"] *= 2


class Evolution(Learner):
    """Evolution of small maps: candidates from a distribution, which moves towards the better ones.

    The map is a *controller*: prototypes, an action for each, and the weights of the metric.
    """

    name = "evolution"
    about = "draws small maps from a distribution and moves it towards the better half"
    settings = EvolutionSettings
    suggested: Mapping[str, Any] = {  # it restarts by itself
        "stage.restart": 0,
        "stage.trials": 10**6,
        "stage.steps": 1_500_000,
    }
    only_controls = True
    needs_extent = False
    ends_with_long_trial = False
    own_tests = Refutations()

    def fresh(self, setup: Setup) -> EvolutionMemory:
        """Begin with nothing."""
        if setup.categories:
            raise DistinguoError(
                "The learner 'evolution' needs observations that are numbers, but these are labels; "
                "use --learner sweeping."
            )
        if setup.prototypes:
            raise DistinguoError(
                "The learner 'evolution' finds its own prototypes and cannot begin from given ones; leave them "
                "out, or use --learner economy."
            )
        settings = setup.settings
        memory = fresh_evolution_memory(len(setup.first), len(setup.seen), settings)
        hold, certain = isinstance(setup.goal, Hold), setup.stochastic == "no" and setup.restorable
        memory.facts["hold"], memory.facts["actions"] = hold, setup.actions
        memory.facts["common"] = setup.restorable
        memory.facts["once"] = certain and has_one_start(setup.task)
        memory.facts["threshold"] = _threshold(setup.goal)
        limit = settings.horizon if setup.limit is None else setup.limit
        memory.status["limit"] = memory.status["horizon"] = limit
        memory.best.partition.prototypes[0] = memory.seen.mean[:] = setup.seen
        if memory.facts["once"][0]:
            memory.status["trials"] = 1
        return memory

    # ---- trials ---------------------------------------------------------------------------------------------------

    def begin(self, agent: Agent) -> None:
        """Begin a trial of the present candidate."""
        memory = agent.memory
        status, candidates, seen = memory.status[0], memory.candidates, memory.seen
        status["claimed"] = 0
        begin_counting(agent.progress)
        if status["phase"] == WARM_UP:
            _draw_randomly(agent)
        elif status["place"] == 0:
            _set_candidate(agent)
        place, first = int(status["place"]), status["phase"] == GENERATION and status["candidate"] == 0
        shared = memory.facts["common"][0] and status["phase"] in (GENERATION, SHRINK)
        start = agent.progress.now
        if shared and not (first and status["phase"] == GENERATION):
            start[:] = candidates.starts[place]
        else:
            at_speed(draw_start, agent.world)(agent.world, agent.rng, start)
            candidates.starts[place % len(candidates.starts)] = start
        seen.low[:], seen.high[:] = np.inf, -np.inf

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Run the trial to its end, unless fewer steps are left."""
        memory, counts = agent.memory, agent.progress.counts
        most = min(cap, _most_steps(memory))
        hold = bool(memory.facts["hold"][0])
        length, gained, ended = at_speed(run_candidate, agent.world)(
            agent.world, memory.candidate, memory.seen, agent.progress, hold, min(most, left)
        )
        counts["trial_steps"] += length
        counts["length"], counts["gained"] = length, gained
        if not ended and length < most:
            return SPENT
        _conclude(agent, float(gained), bool(ended))
        return TERMINAL if ended else CAPPED

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Do nothing: a trial was concluded when it ended."""

    def claims(self, agent: Agent, ended: int, goal: Goal) -> bool:
        """Whether the best map reached the threshold in its tests, and is new."""
        return bool(agent.memory.status["claimed"][0])

    # ---- what was learned -----------------------------------------------------------------------------------------

    def controller(self, memory: EvolutionMemory, settings: EvolutionSettings) -> Controller:
        """Act by the best map."""
        return controller_of(memory.best, int(memory.facts["actions"][0]))

    def figures(self, memory: EvolutionMemory, settings: EvolutionSettings) -> Mapping[str, Any]:
        """How many generations and restarts there were."""
        status = memory.status[0]
        return {"generations": int(status["generations"]), "restarts": int(status["restarts"])}

    def states_needed(self, memory: EvolutionMemory) -> np.ndarray:
        """Return the starts that trials may begin from again."""
        return memory.candidates.starts

    def checked(self, memory: EvolutionMemory, fresh: EvolutionMemory) -> EvolutionMemory:
        """Check a memory from a file."""
        return checked_evolution_memory(memory, fresh)


def _threshold(goal: Goal) -> float:
    """Return the mean return that solves a task; NaN if it is unknown."""
    if isinstance(goal, Hold):
        return np.inf  # whatever the horizon is
    return np.nan if goal.threshold is None else goal.threshold


def _target(memory: EvolutionMemory) -> float:
    """Return the mean return that solves the task, as far as trials show it."""
    return float(memory.status["limit"][0] if memory.facts["hold"][0] else memory.facts["threshold"][0])


def _most_steps(memory: EvolutionMemory) -> int:
    """Return the steps of a trial at most: candidates may be cut earlier than tests are."""
    cut = memory.status["phase"][0] == GENERATION
    return int(memory.status["horizon" if cut else "limit"][0])


# ---- candidates ----------------------------------------------------------------------------------------------------


def _map(memory: EvolutionMemory, numbers: np.ndarray, actions: np.ndarray) -> PrototypeMap:
    """Return the map that some numbers stand for."""
    seen, size = memory.seen, len(actions)
    places, widths = prototypes_of_numbers(numbers, len(seen.centre), size)
    return prototype_map(places * seen.spread + seen.centre, actions, seen.spread * widths)


def _set_first_limit(agent: Agent) -> None:
    """Cut candidates at first after some times the length of random trials."""
    status, settings = agent.memory.status, agent.settings
    usual = settings.cut * agent.progress.counts["trial_steps"][0] / settings.warm_up
    limit = int(status["limit"][0])
    status["first"] = min(max(int(usual), 1), limit) if usual > 0.0 else limit


def _standardise(memory: EvolutionMemory) -> None:
    """Take over how far observations spread, for the maps that follow."""
    seen = memory.seen
    count = max(float(seen.times[0]), 1.0)
    spread = np.sqrt(seen.squares / count)
    seen.centre[:] = seen.mean
    seen.spread[:] = np.where(spread > 1e-9 * (1.0 + np.abs(seen.mean)), spread, 1.0)


def _actions(agent: Agent, size: int) -> np.ndarray:
    """Return the actions of prototypes: each as often as any other, some of them if they are too many."""
    count = int(agent.memory.facts["actions"][0])
    rounds = [agent.rng.permutation(count) for _ in range(-(-size // count))]
    return np.concatenate(rounds)[:size]


def _draw_randomly(agent: Agent) -> None:
    """Try any map, to see how far observations spread."""
    memory = agent.memory
    _standardise(memory)
    size = _size(agent)
    numbers = agent.rng.standard_normal(count_numbers(len(memory.seen.mean), size))
    copy_map(_map(memory, numbers, _actions(agent, size)), memory.candidate)


def _size(agent: Agent) -> int:
    """Return the number of prototypes: one for each action, and more after some restarts."""
    count, restarts = int(agent.memory.facts["actions"][0]), int(agent.memory.status["restarts"][0])
    return min(max(count, 2) + restarts // agent.settings.grow, agent.settings.regions)


def _begin_search(agent: Agent) -> None:
    """Begin a search with a new distribution."""
    memory = agent.memory
    status, size, dimensions = memory.status, _size(agent), len(memory.seen.mean)
    _standardise(memory)
    numbers = count_numbers(dimensions, size)
    begin_distribution(
        memory, np.zeros(numbers) if by_scores(dimensions, size) else agent.rng.standard_normal(numbers)
    )
    memory.candidates.actions[:size] = _actions(agent, size)
    status["prototypes"], status["cut"], status["horizon"] = size, 0, status["first"]
    status["trials"] = 1 if memory.facts["once"][0] else agent.settings.trials
    _begin_level(memory)
    _begin_generation(agent)


def _begin_level(memory: EvolutionMemory) -> None:
    """Begin to compare generations: the earlier ones were not tried alike."""
    memory.status["stalled"] = 0
    memory.status["level"] = memory.status["highest"] = -np.inf


def _begin_generation(agent: Agent) -> None:
    status = agent.memory.status
    draw(agent.memory, agent.rng)
    status["phase"], status["candidate"], status["place"] = GENERATION, 0, 0
    agent.memory.candidates.reach[:] = agent.memory.candidates.cut[:] = 0.0


def _set_candidate(agent: Agent) -> None:
    """Make the map that is tried next."""
    memory = agent.memory
    status = memory.status[0]
    n, size = int(status["numbers"]), int(status["prototypes"])
    actions = memory.candidates.actions[:size]
    if status["phase"] == GENERATION:
        numbers = memory.candidates.drawn[int(status["candidate"]), :n]
        copy_map(_map(memory, numbers, actions), memory.candidate)
    elif status["phase"] == CENTRE:
        copy_map(_map(memory, memory.distribution.mean[:n], actions), memory.central)
        copy_map(memory.central, memory.candidate)
        memory.seen.visits[:] = 0
    else:
        copy_map(memory.central, memory.candidate)
        drop_prototype(memory.candidate, int(status["dropped"]))


# ---- conclusions ---------------------------------------------------------------------------------------------------


def _conclude(agent: Agent, gained: float, ended: bool) -> None:
    """Note the return of a trial, and go on to what follows."""
    memory = agent.memory
    status, candidates = memory.status[0], memory.candidates
    place = int(status["place"])
    status["place"] += 1
    if status["phase"] == WARM_UP:
        if place + 1 >= agent.settings.warm_up:
            _set_first_limit(agent)
            _begin_search(agent)
    elif status["phase"] == GENERATION:
        candidates.returns[int(status["candidate"]), place] = gained
        candidates.reach[int(status["candidate"])] += _reach(memory)
        candidates.cut[int(status["candidate"])] += 0.0 if ended else 1.0 / float(status["trials"])
        _after_candidate(agent)
    elif status["phase"] == CENTRE:
        candidates.tests[place] = gained
        _after_test(agent)
    else:
        candidates.tried[place] = gained
        _after_shrinking(agent)


def _reach(memory: EvolutionMemory) -> float:
    """How far a trial went: the summed extents of its observations."""
    return float(((memory.seen.high - memory.seen.low) / memory.seen.spread).sum())


def _after_candidate(agent: Agent) -> None:
    """Go on to the next candidate; after the last, move the distribution."""
    status = agent.memory.status
    if status["place"][0] < status["trials"][0]:
        return
    status["place"] = 0
    status["candidate"] += 1
    if status["candidate"][0] < len(agent.memory.candidates.drawn):
        return
    if _end_generation(agent):
        status["phase"] = CENTRE
    else:
        _go_on(agent)


def _end_generation(agent: Agent) -> bool:
    """Move the distribution towards the better candidates; return whether the map at its centre is worth a test."""
    memory = agent.memory
    status, candidates, trials = memory.status[0], memory.candidates, int(memory.status["trials"][0])
    means = candidates.returns[:, :trials].mean(axis=1)
    order = np.lexsort((-candidates.reach, -means))  # of equal returns, what went further first
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
    if candidates.cut[order[0]] > 0.0:  # a longer trial may gain more
        best = max(best, best * float(status["limit"] / status["horizon"]))
    if status["generation"] == 1:
        status["base"] = level
    status["noise"] = candidates.returns[:, :trials].std()
    _try_longer(agent, float(candidates.cut[better].mean()))
    return not best < _target(memory) or int(status["generation"]) % EVERY == 0


def _try_longer(agent: Agent, cut: float) -> None:
    """Let trials become longer if most were cut for a while, and more of them where that no longer helps."""
    memory, settings = agent.memory, agent.settings
    status = memory.status[0]
    status["cut"] = status["cut"] + 1 if cut > 0.5 else max(int(status["cut"]) - 1, 0)
    if status["cut"] >= settings.longer and status["horizon"] < status["limit"]:
        status["horizon"], status["cut"] = min(2 * int(status["horizon"]), int(status["limit"])), 0
        _begin_level(memory)
    elif status["stalled"] >= settings.patience and _may_have_more(memory, settings) and _is_near(memory):
        more = int(status["trials"]) + max(1, int(status["trials"]) // 2)
        status["trials"] = min(more, settings.most_trials)
        _begin_level(memory)


def _is_near(memory: EvolutionMemory) -> bool:
    """Whether the search has come at least half the way to the target; True if there is none."""
    status = memory.status[0]
    return not status["highest"] - status["base"] < NEAR * (_target(memory) - status["base"])


def _may_have_more(memory: EvolutionMemory, settings: EvolutionSettings) -> bool:
    """Whether candidates may have more trials."""
    return not memory.facts["once"][0] and memory.status["trials"][0] < settings.most_trials


def _after_test(agent: Agent) -> None:
    """After the tests of the map at the centre, or as soon as it is clearly no better: keep it, or not."""
    memory, settings = agent.memory, agent.settings
    status, count = memory.status[0], int(memory.status["place"][0])
    returns = memory.candidates.tests[:count]
    most = 1 if memory.facts["once"][0] else settings.tests
    wanted = float(status["best"]) if np.isnan(_target(memory)) else _target(memory)
    if count < most and not _is_behind(returns, wanted):
        return
    surely = float(returns.mean() - max(status["noise"], returns.std()) / np.sqrt(count))
    if surely > status["best"]:
        status["best"] = surely
        copy_map(memory.central, memory.best)
    if count == most and _surely(returns, settings.margin) >= _target(memory):
        copy_map(memory.central, memory.best)
        _begin_shrinking(agent)
    else:
        _go_on(agent)


def _is_behind(returns: np.ndarray, wanted: float) -> bool:
    """Whether trials are so much worse that the rest need not be run."""
    return len(returns) >= FEWEST and np.isfinite(wanted) and _surely(returns, -1.0) < wanted


def _surely(returns: np.ndarray, errors: float) -> float:
    """Return the mean of some returns less so many standard errors."""
    error = returns.std(ddof=1) / np.sqrt(len(returns)) if len(returns) > 1 else 0.0
    return float(returns.mean() - errors * error)


def _begin_shrinking(agent: Agent) -> None:
    """Leave out the prototypes that no test visited; then try to do without each of the others."""
    memory = agent.memory
    central, visits = memory.central, memory.seen.visits
    if agent.settings.shrink:
        for p in range(central.size - 1, -1, -1):
            if visits[p] == 0 and central.size > 1:
                drop_prototype(central, p)
        copy_map(central, memory.best)
    memory.status["dropped"] = central.size
    _shrink_further(agent)


def _shrink_further(agent: Agent) -> None:
    """Try the map without another prototype; if none is left to try, claim it."""
    memory = agent.memory
    status = memory.status[0]
    status["dropped"] -= 1
    if agent.settings.shrink and memory.central.size > 1 and status["dropped"] >= 0:
        status["phase"], status["place"] = SHRINK, 0
        return
    status["claimed"] = 1
    _go_on(agent)


def _after_shrinking(agent: Agent) -> None:
    """Leave a prototype out if the returns from the same starts are no lower without it."""
    memory, settings = agent.memory, agent.settings
    status, count = memory.status[0], int(memory.status["place"][0])
    returns = memory.candidates.tried[:count]
    most = 1 if memory.facts["once"][0] else settings.tests
    if count < most and not is_hopeless(returns - memory.candidates.tests[:count]):
        return
    if count == most and returns.mean() >= memory.candidates.tests[:count].mean():
        drop_prototype(memory.central, int(status["dropped"]))
        memory.candidates.tests[:count] = returns
        status["best"] = _surely(returns, 1.0)
        copy_map(memory.central, memory.best)
    _shrink_further(agent)


def _go_on(agent: Agent) -> None:
    """Go on to the next generation, or restart."""
    memory = agent.memory
    status, n = memory.status[0], int(memory.status["numbers"][0])
    width = float(status["sigma"]) * np.sqrt(np.trace(memory.distribution.covariance[:n, :n]) / n)
    if _has_stalled(agent) or not NARROW < width < WIDE:
        status["restarts"] += 1
        agent.progress.counts["attempt"] += 1
        _begin_search(agent)
    else:
        _begin_generation(agent)


def _has_stalled(agent: Agent) -> bool:
    """Whether it is time to restart: sooner where the target is far and returns differ, as others may do better."""
    memory, settings = agent.memory, agent.settings
    far = not _is_near(memory) and memory.status["noise"][0] > 0.0
    return bool(
        memory.status["stalled"][0] >= (min(settings.patience, settings.stall) if far else settings.stall)
    )


EVOLUTION = Evolution.name

register(Evolution())
