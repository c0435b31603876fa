"""The learner ``evolution`` as the stage sees it.

A candidate is a map of a few prototypes. Its numbers are drawn from a normal distribution, and each generation moves
the distribution towards its better half (CMA-ES). All candidates of a generation have the same starts. Only their
order counts, so any scale of rewards will do. What is claimed is the map at the centre of the distribution: it
depends less on luck than the best candidate does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import CAPPED, NO_BUDGET, SPENT, TERMINAL, Agent, begin_counting
from distinguo.learners.evolution.generations import (
    begin_generation,
    begin_map_search,
    end_generation,
    has_collapsed,
    has_stalled,
    is_behind,
    is_far,
    is_worth_a_test,
    most_steps,
    reach_of_trial,
    set_candidate,
    set_first_limit,
    set_random_candidate,
    surely,
    target_of,
    try_longer,
)
from distinguo.learners.evolution.laws import (
    CLAIM,
    WAIT,
    after_law_test,
    begin_last_test,
    begin_search_around_best,
    copy_candidate,
    drop_with_law,
    has_laws,
    is_law_test_due,
    is_polished,
    is_slice_over,
    next_slice,
    projected,
    set_law_trial,
)
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
from distinguo.learners.evolution.proposals import are_due as proposals_are_due
from distinguo.learners.evolution.proposals import are_over as proposals_are_over
from distinguo.learners.evolution.proposals import has_enough_to_learn_from, propose_laws
from distinguo.learners.evolution.trials import Noting, draw_start, run_candidate
from distinguo.learners.learner import Learner, Setup, register
from distinguo.seam import at_speed
from distinguo.search.maps import controller_of, copy_map
from distinguo.search.races import is_hopeless
from distinguo.tasks.spec import Goal, Hold, TaskSpec
from distinguo.tasks.task import has_one_start

#: Where actions are amounts.
MOST_WARM_UP = 10  #: times as many trials of random laws, where they are short
LAW_SETTINGS = {
    "learner.population": 12,
    "learner.warm_up": 16,
    "learner.regions": 4,
    "learner.longer": 1,
    "learner.tests": 64,
}


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
        status["best"], status["reached"] = -np.inf, 0
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
    uses_laws = True
    only_controls = True
    needs_extent = False
    ends_with_long_trial = False
    own_tests = Refutations()

    def suggested_for(self, spec: TaskSpec) -> Mapping[str, Any]:
        """Return the settings that suit it and a task: laws show sooner than places how far observations spread."""
        if spec.amounts is None:
            return super().suggested_for(spec)
        return {**super().suggested_for(spec), **LAW_SETTINGS}

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
        box = setup.box
        memory = fresh_evolution_memory(
            len(setup.first), len(setup.seen), settings, 0 if box is None else len(box.low)
        )
        if box is not None:
            memory.laws.box[:], memory.facts["amounts"] = (box.low, box.high), len(box.low)
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
        (set_law_trial if has_laws(memory) else _set_trial)(agent)
        place, start, starts = int(status["place"]), agent.progress.now, candidates.starts
        is_new = status["phase"] in (WARM_UP, CENTRE) or (
            status["phase"] == GENERATION and status["candidate"] == 0
        )
        if status["phase"] in (CENTRE, SHRINK) and has_laws(memory):
            starts, is_new = memory.laws.starts, place >= status["known"]
        if memory.facts["common"][0] and not is_new:
            start[:] = starts[place]
        else:
            at_speed(draw_start, agent.world)(agent.world, agent.rng, start)
            starts[place % len(starts)] = start
        seen.low[:], seen.high[:] = np.inf, -np.inf
        status["begun"] += has_laws(memory)

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Run the trial to its end, unless fewer steps are left."""
        memory, counts = agent.memory, agent.progress.counts
        most = min(cap, most_steps(memory))
        if has_laws(memory):
            agent.world.laws[:] = memory.laws.candidate
        hold = bool(memory.facts["hold"][0])
        begun, before = int(memory.status["begun"][0]) - 1, int(memory.status["noted"][0])
        noting = Noting(memory.experience, memory.laws.box, begun, before)
        shown = int(memory.status["horizon"][0])
        length, gained, ended, half, whole = at_speed(run_candidate, agent.world)(
            agent.world, memory.candidate, memory.seen, noting, agent.progress, hold, min(most, left), shown
        )
        counts["trial_steps"] += length
        memory.status["noted"] += length
        counts["length"], counts["gained"] = length, gained
        if not ended and length < most:
            return SPENT
        gained, foreseen = float(gained), float(gained)
        if has_laws(memory) and length >= shown + bool(ended):
            foreseen = projected(memory, float(half), float(whole))
        _conclude(agent, gained, foreseen, bool(ended))
        return TERMINAL if ended else CAPPED

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Do nothing: a trial was concluded when it ended."""

    def claims(self, agent: Agent, ended: int, goal: Goal) -> bool:
        """Whether the best map reached the threshold in its tests, and is new."""
        return bool(agent.memory.status["claimed"][0])

    # ---- what was learned -----------------------------------------------------------------------------------------

    def controller(self, memory: EvolutionMemory, settings: EvolutionSettings) -> Controller:
        """Act by the best map."""
        if has_laws(memory):
            return controller_of(memory.best, memory.best.size)
        return controller_of(memory.best, int(memory.facts["actions"][0]))

    def set_laws(self, agent: Agent) -> None:
        """Write the laws of the best map into the world."""
        if has_laws(agent.memory):
            agent.world.laws[:] = agent.memory.laws.best

    def laws(self, memory: EvolutionMemory) -> np.ndarray | None:
        """The laws of the best map."""
        return memory.laws.best[: memory.best.size].copy() if has_laws(memory) else None

    def figures(self, memory: EvolutionMemory, settings: EvolutionSettings) -> Mapping[str, Any]:
        """How many generations and restarts there were."""
        status = memory.status[0]
        return {"generations": int(status["generations"]), "restarts": int(status["restarts"])}

    def states_needed(self, memory: EvolutionMemory) -> np.ndarray:
        """Return the starts that trials may begin from again."""
        return np.concatenate([memory.candidates.starts, memory.laws.starts])

    def checked(self, memory: EvolutionMemory, fresh: EvolutionMemory) -> EvolutionMemory:
        """Check a memory from a file."""
        return checked_evolution_memory(memory, fresh)


def _set_trial(agent: Agent) -> None:
    """Make the map that is tried in the trial that begins."""
    if agent.memory.status["phase"][0] == WARM_UP:
        set_random_candidate(agent)
    elif agent.memory.status["place"][0] == 0:
        set_candidate(agent)


def _threshold(goal: Goal) -> float:
    """Return the mean return that solves a task; NaN if it is unknown."""
    if isinstance(goal, Hold):
        return np.inf  # whatever the horizon is
    return np.nan if goal.threshold is None else goal.threshold


# ---- conclusions ---------------------------------------------------------------------------------------------------


def _conclude(agent: Agent, gained: float, foreseen: float, ended: bool) -> None:
    """Note the return of a trial and what a short one foresees of it, and go on to what follows."""
    memory, length = agent.memory, int(agent.progress.counts["length"][0])
    status, candidates = memory.status[0], memory.candidates
    place = int(status["place"])
    status["place"] += 1
    if status["phase"] == WARM_UP:
        status["base"] += (gained - status["base"]) / (place + 1)
        if place + 1 >= agent.settings.warm_up and not _is_too_little(agent, place + 1):
            set_first_limit(agent)
            if has_laws(memory):
                _propose_or(agent, begin_search_around_best)
            else:
                begin_map_search(agent)
    elif status["phase"] == GENERATION:
        status["steps"] += length
        candidates.returns[int(status["candidate"]), place] = foreseen
        candidates.reach[int(status["candidate"])] += reach_of_trial(memory)
        candidates.cut[int(status["candidate"])] += 0.0 if ended else 1.0 / float(status["trials"])
        _after_candidate(agent)
    elif status["phase"] == CENTRE:
        if has_laws(memory):
            candidates.foreseen[place] = foreseen
            _after_law_test(agent, gained)
            return
        candidates.tests[place] = gained
        _after_test(agent)
    else:
        candidates.tried[place] = gained
        _after_shrinking(agent)


def _after_candidate(agent: Agent) -> None:
    """Go on to the next candidate; after the last, move the distribution."""
    status = agent.memory.status
    if status["place"][0] < status["trials"][0]:
        return
    status["place"] = 0
    status["candidate"] += 1
    if status["candidate"][0] < len(agent.memory.candidates.drawn):
        return
    best, cut = end_generation(agent)
    laws = has_laws(agent.memory)
    status["over"] = laws and is_slice_over(agent)
    if not status["over"]:
        try_longer(agent, cut)
    if is_law_test_due(agent.memory) if laws else is_worth_a_test(agent.memory, best):
        status["phase"] = CENTRE
    else:
        _go_on(agent)


def _after_law_test(agent: Agent, gained: float) -> None:
    """Note the return of a test of laws, and go on to what follows."""
    answer = after_law_test(agent, gained)
    if answer == CLAIM:
        _begin_shrinking(agent)
    elif answer != WAIT:
        _go_on(agent)


def _after_test(agent: Agent) -> None:
    """After the tests of the map at the centre, or as soon as it is clearly no better: keep it, or not."""
    memory, settings = agent.memory, agent.settings
    status, count = memory.status[0], int(memory.status["place"][0])
    returns = memory.candidates.tests[:count]
    most = 1 if memory.facts["once"][0] else settings.tests
    wanted = float(status["best"]) if np.isnan(target_of(memory)) else target_of(memory)
    if count < most and not is_behind(returns, wanted):
        return
    sure = float(returns.mean() - max(status["noise"], returns.std()) / np.sqrt(count))
    if sure > status["best"]:
        status["best"] = sure
        copy_map(memory.central, memory.best)
    if count == most and surely(returns, settings.margin) >= target_of(memory):
        copy_map(memory.central, memory.best)
        _begin_shrinking(agent)
    else:
        _go_on(agent)


def _begin_shrinking(agent: Agent) -> None:
    """Leave out the prototypes that no test visited; then try to do without each of the others."""
    memory = agent.memory
    central, visits = memory.central, memory.seen.visits
    if agent.settings.shrink:
        for p in range(central.size - 1, -1, -1):
            if visits[p] == 0 and central.size > 1:
                drop_with_law(memory, "central", p)
        copy_candidate(memory, "central", "best")
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
    most = int(status["known"]) if has_laws(memory) else 1 if memory.facts["once"][0] else settings.tests
    if count < most and not is_hopeless(returns - memory.candidates.tests[:count]):
        return
    if count == most and returns.mean() >= memory.candidates.tests[:count].mean():
        drop_with_law(memory, "central", int(status["dropped"]))
        memory.candidates.tests[:count] = returns
        status["best"] = surely(returns, 1.0)
        copy_candidate(memory, "central", "best")
    _shrink_further(agent)


def _go_on(agent: Agent) -> None:
    """Go on to the next generation, or restart."""
    memory = agent.memory
    status = memory.status[0]
    if has_laws(memory):
        _go_on_with_laws(agent)
    elif has_stalled(agent) or has_collapsed(memory):
        status["restarts"] += 1
        agent.progress.counts["attempt"] += 1
        begin_map_search(agent)
    else:
        begin_generation(agent)


def _go_on_with_laws(agent: Agent) -> None:
    """Go on to the last test, to another proposal of a model, or to the next generation or search."""
    memory = agent.memory
    status = memory.status[0]
    if is_polished(agent):
        begin_last_test(memory)
    elif status["proposed"]:
        ahead = status["jumped"] and not status["challenges"] and not is_far(memory, "best")
        _propose_or(agent, begin_generation if status["numbers"] and not ahead else begin_search_around_best)
    elif proposals_are_due(agent):
        if status["over"]:
            next_slice(agent)
        _propose_or(agent, begin_generation)
    else:
        (next_slice if status["over"] else begin_generation)(agent)


def _propose_or(agent: Agent, otherwise: Callable[[Agent], None]) -> None:
    """Let a model propose laws; do something else if there were enough proposals, or there is no model."""
    if proposals_are_over(agent) or not propose_laws(agent, fixed=bool(agent.memory.status["numbers"][0])):
        agent.memory.status["proposed"] = 0
        otherwise(agent)


def _is_too_little(agent: Agent, trials: int) -> bool:
    """Whether the first random laws left too little to fit a model to."""
    memory, settings = agent.memory, agent.settings
    wants = has_laws(memory) and settings.model and trials < MOST_WARM_UP * settings.warm_up
    return bool(wants and not has_enough_to_learn_from(memory))


EVOLUTION = Evolution.name

register(Evolution())
