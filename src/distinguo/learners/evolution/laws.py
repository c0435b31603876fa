"""How ``evolution`` searches where actions are amounts: laws and borders together, and as few regions as pay.

The first search is for one law. After each slice of steps in which it hardly rose, another search challenges it: for
as many laws from nothing, for one more, or around a split of one of its regions. The map at the centre of the new
search is compared with the best one so far, in trials from the same starts: if it pays, the new search takes the
place of the old one; if it no longer rises and is surely worse, or has had its time, the old one goes on.
"""

from __future__ import annotations

import numpy as np

from distinguo.learners.agent import Agent
from distinguo.learners.evolution.generations import (
    EVERY,
    FEWEST,
    add_trials,
    begin_generation,
    begin_level,
    has_collapsed,
    has_stalled,
    is_behind,
    is_far,
    is_near,
    let_trials_be_longer,
    map_of_numbers,
    standardise,
    surely,
    target_of,
)
from distinguo.learners.evolution.memory import CENTRE, GENERATION, WARM_UP, EvolutionMemory
from distinguo.learners.evolution.places import (
    by_scores,
    count_numbers,
    count_with_laws,
    law_scale,
    numbers_with_another,
)
from distinguo.learners.evolution.proposals import set_proposal, standardise_again, steps_so_far
from distinguo.learners.evolution.strategy import begin_distribution
from distinguo.search.maps import copy_map, drop_prototype
from distinguo.search.races import HOPELESS, is_hopeless

WAIT, CLAIM, ON = "wait", "claim", "on"  #: what follows a trial of a test
#: Standard errors by which more regions must be better, in trials from the same starts; the second for a large gain.
PAYS, PAYS_IF_LARGE = 2.5, 1.0
LARGE = 0.1  #: share of what the best map gains over random laws that is a large gain
WORTH = 0.005  #: share by which more regions must be better, of what the best map gains over random laws
SLICE = 30_000  #: steps of a search before it is challenged, at the least, and then between two comparisons
MOST_OF_ALL = 0.1  #: share of all steps that a generation may take before its candidates get no more trials
MANY = 50  #: generations that are a slice, too, where trials are short
LONGEST = 4  #: slices that a search which challenges another may always have; else it has as many steps as the other
MISLED = 0.25  #: share of what a map gains over random laws by which short trials may be wrong
#: Share of all steps that a test may take, steps that it may take in any case, and its trials at the least.
TESTED, TEST_STEPS, FEWEST_TESTS = 0.03, 8_000, 16
#: Shares by which a search that rises becomes better in a slice: of what it has gained, or of what it lacks.
RISES, RISES_TO = 0.25, 0.1
EARLIEST = 2  #: slices before it may be given up
#: Trials that decide while both maps are far from the target: that a map is worse, and that it is better.
FEWEST_IF_WORSE, FEWEST_IF_FAR = 2, 5
#: Times the way from the mean return to the least in the last long test: a larger loss of one trial ends a test.
FAR_BELOW = 3.0
AROUND_BEST = 0.3  #: width of a search around the best map, relative to a fresh one
SPLIT_WIDTH = 0.5  #: of the distribution around a map in which a region was split, relative to a fresh one


def has_laws(memory: EvolutionMemory) -> bool:
    """Whether actions are amounts."""
    return bool(memory.facts["amounts"][0])


def laws_of_numbers(memory: EvolutionMemory, numbers: np.ndarray, size: int) -> np.ndarray:
    """The laws that the last numbers of a search stand for: those of standardised observations, for the raw ones.

    Random numbers spread the amounts over their box, whatever the number of coordinates.
    """
    seen, (low, high) = memory.seen, memory.laws.box
    dimensions, amounts = len(seen.centre), len(low)
    own = numbers[len(numbers) - size * amounts * (dimensions + 1) :].reshape(size, amounts, dimensions + 1)
    half, middle = (high - low)[:, None] / 2.0, (low + high) / 2.0
    scaled = own * half * law_scale(dimensions)
    table = np.empty_like(scaled)
    table[..., :-1] = scaled[..., :-1] / seen.spread
    table[..., -1] = middle + scaled[..., -1] - table[..., :-1] @ seen.centre
    return table


def _set_map(memory: EvolutionMemory, name: str, numbers: np.ndarray, size: int) -> None:
    """Make the map that some numbers stand for, with its laws."""
    own = size * int(memory.facts["amounts"][0]) * (len(memory.seen.centre) + 1)
    copy_map(map_of_numbers(memory, numbers[: len(numbers) - own], np.arange(size)), getattr(memory, name))
    getattr(memory.laws, name)[:size] = laws_of_numbers(memory, numbers, size)


def copy_candidate(memory: EvolutionMemory, source: str, target: str) -> None:
    """Copy a map with its laws."""
    copy_map(getattr(memory, source), getattr(memory, target))
    getattr(memory.laws, target)[:] = getattr(memory.laws, source)


def drop_with_law(memory: EvolutionMemory, name: str, p: int) -> None:
    """Drop a prototype, and its law; those behind it move up."""
    given, table = getattr(memory, name), getattr(memory.laws, name)
    drop_prototype(given, p)
    if has_laws(memory):
        table[p:-1] = table[p + 1 :].copy()
        given.actions[: given.size] = np.arange(given.size)


def set_law_trial(agent: Agent) -> None:
    """Make the map that is tried in the trial that begins; at first any law, to see how far observations spread."""
    memory = agent.memory
    status, amounts = memory.status[0], int(memory.facts["amounts"][0])
    size, n = int(status["prototypes"]), int(status["numbers"])
    if status["phase"] == WARM_UP:
        standardise(memory)
        drawn = agent.rng.standard_normal(count_with_laws(len(memory.seen.mean), 1, amounts))
        _set_map(memory, "candidate", drawn, 1)
    elif status["phase"] == CENTRE:
        _set_tested(memory)
    elif status["place"] == 0 and status["phase"] == GENERATION:
        _set_map(memory, "candidate", memory.candidates.drawn[int(status["candidate"]), :n], size)
    elif status["place"] == 0:
        copy_candidate(memory, "central", "candidate")
        drop_with_law(memory, "candidate", int(status["dropped"]))


def begin_law_search(agent: Agent, size: int) -> None:
    """Begin a search for so many laws from nothing."""
    memory = agent.memory
    status, dimensions = memory.status, len(memory.seen.mean)
    centre = np.zeros(count_with_laws(dimensions, size, int(memory.facts["amounts"][0])))
    if not by_scores(dimensions, size):
        borders = count_numbers(dimensions, size)
        centre[:borders] = agent.rng.standard_normal(borders)
    status["horizon"] = status["first"]
    status["trials"] = 1 if memory.facts["once"][0] else agent.settings.trials
    _begin(agent, centre, size, 1.0)


def begin_search_around_best(agent: Agent) -> None:
    """Begin a search around the best map, which a model proposed; for one law if it is far from the target."""
    memory = agent.memory
    if not np.isfinite(memory.status["best"][0]) or is_far(memory, "best"):
        standardise_again(memory)
        begin_law_search(agent, 1)
        return
    size = int(memory.best.size)
    n = count_with_laws(len(memory.seen.mean), size, int(memory.facts["amounts"][0]))
    memory.status["horizon"] = memory.status["first"]
    memory.status["trials"] = 1 if memory.facts["once"][0] else agent.settings.trials
    _begin(agent, memory.laws.numbers[1, :n].copy(), size, AROUND_BEST)


def _begin_split(agent: Agent) -> None:
    """Begin a search around the best map with one more region: it has the law of another, and shares its place."""
    memory = agent.memory
    size, dimensions, amounts = int(memory.best.size), len(memory.seen.mean), int(memory.facts["amounts"][0])
    n = count_with_laws(dimensions, size, amounts)
    numbers, chosen = memory.laws.numbers[1, :n].copy(), int(agent.rng.integers(size))
    own = numbers[n - size * amounts * (dimensions + 1) :].reshape(size, -1)
    borders = numbers_with_another(numbers[: n - own.size], dimensions, size, chosen)
    _begin(agent, np.concatenate([borders, own.ravel(), own[chosen]]), size + 1, SPLIT_WIDTH)


def _begin(agent: Agent, centre: np.ndarray, size: int, width: float) -> None:
    memory = agent.memory
    begin_distribution(memory, centre, width)
    memory.candidates.actions[:size] = np.arange(size)
    memory.status["prototypes"], memory.status["cut"], memory.status["over"] = size, 0, 0
    memory.status["jumped"], memory.status["before"] = 0, -np.inf
    memory.status["steps"], memory.status["due"] = 0, SLICE
    begin_level(memory)
    begin_generation(agent)


def projected(memory: EvolutionMemory, half: float, whole: float) -> float:
    """The return of a trial if it went on as in the second half of its first steps.

    So short trials stand for long ones, and who falls soon after them does not gain by it for long: what the same
    trials gain in the end is compared with it.
    """
    status = memory.status[0]
    shown = int(status["horizon"])
    return whole + (int(status["limit"]) - shown) * (whole - half) / (shown - shown // 2)


def _is_misled(memory: EvolutionMemory, own: np.ndarray) -> bool:
    """Whether short trials foresee other returns than whole ones: of the map tested, or of the better candidates."""
    status, mean = memory.status[0], own.mean()
    best = max(mean, status["best"])
    wrong = max(abs(memory.candidates.foreseen[: len(own)].mean() - mean), status["level"] - best)
    return bool(wrong > MISLED * (np.fmax(target_of(memory), best) - status["base"]))


def count_of_tests(agent: Agent) -> int:
    """The trials of a test: more where they are short, and later, as a map may be lucky with a few starts."""
    memory, most = agent.memory, agent.settings.tests
    if memory.facts["once"][0]:
        return 1
    steps = max(TESTED * steps_so_far(agent), TEST_STEPS)
    return int(np.clip(steps / int(memory.status["limit"][0]), min(FEWEST_TESTS, most), most))


# ---- conclusions ---------------------------------------------------------------------------------------------------


def is_law_test_due(memory: EvolutionMemory) -> bool:
    """Whether the map at the centre is tested after a generation: now and then, and when a slice is over."""
    status = memory.status[0]
    return bool(status["over"] or int(status["generation"]) % EVERY == 0)


def is_slice_over(agent: Agent) -> bool:
    """Whether a search is to be compared: after so many steps or generations, or as it comes no further."""
    status = agent.memory.status[0]
    many = status["steps"] >= status["due"] or status["generation"] % MANY == 0
    young = (
        not status["challenges"] and status["generation"] < status["numbers"]
    )  # as many as it searches over
    polishes = not status["challenges"] and is_near(agent.memory)  # which nothing challenges
    return bool(many and not young) or (_is_stuck(agent) and not polishes)


def _is_stuck(agent: Agent) -> bool:
    """Whether a search comes no further."""
    return has_stalled(agent) or has_collapsed(agent.memory)


def _set_tested(memory: EvolutionMemory) -> None:
    """Make the map that is tried next in a test: the one at the centre, or a proposal."""
    if memory.status["place"][0] == 0:
        _set_map(memory, "central", *_tested(memory))
        memory.seen.visits[:] = 0
        if not np.isfinite(memory.status["best"][0]):
            memory.status["known"] = 0
    copy_candidate(memory, "central", "candidate")


def _tested(memory: EvolutionMemory) -> tuple[np.ndarray, int]:
    """The numbers that are tested, and how many laws they are: a proposal, or the centre of the distribution."""
    status = memory.status[0]
    size = int(status["proposed"])
    if size:
        n = count_with_laws(len(memory.seen.mean), size, int(memory.facts["amounts"][0]))
        return memory.laws.numbers[0, :n], size
    return memory.distribution.mean[: int(status["numbers"])], int(status["prototypes"])


def _keep(memory: EvolutionMemory, count: int) -> None:
    """Make what is tested the best map, with the returns of so many trials."""
    numbers, _ = _tested(memory)
    memory.laws.numbers[1, : len(numbers)] = numbers
    memory.laws.record[:count] = memory.candidates.tests[:count]
    memory.status["best"], memory.status["known"] = memory.candidates.tests[:count].mean(), count
    copy_candidate(memory, "central", "best")


def after_law_test(agent: Agent, gained: float) -> str:
    """Note the return of a trial of a test: whether to wait for more, to claim the task, or to go on.

    The best map is not run again: its returns from the same starts are known.
    """
    memory, settings = agent.memory, agent.settings
    status, candidates = memory.status[0], memory.candidates
    count, known = int(status["place"]), np.isfinite(status["best"])
    candidates.tests[count - 1] = gained
    most = max(count_of_tests(agent), int(status["known"]))
    own, target = candidates.tests[:count], target_of(memory)
    shared = min(count, int(status["known"]))
    gains = own[:shared] - memory.laws.record[:shared]
    if count < most and not _is_decided(memory, own, gains):
        return WAIT
    memory.laws.gains[:] = 0.0
    if known:
        memory.laws.gains[:] = gains.mean(), gains.std(ddof=1) / np.sqrt(shared) if shared > 1 else 0.0
    better = not known or _is_better(memory)
    pays = not known or (better and (memory.laws.gains[0] > _worth(memory) or not is_far(memory, "best")))
    status["fruitless"] = 0 if pays else status["fruitless"] + bool(status["proposed"])
    if better:
        status["jumped"] = status["proposed"] > 0
        _keep(memory, count)
    if count >= FEWEST_IF_FAR:
        status["low"] = min(memory.laws.record[: int(status["known"])].min(), status["best"])
    if not status["proposed"]:
        status["cut"] = status["cut"] + 1 if _is_misled(memory, own) else 0
        let_trials_be_longer(agent)
    alone = not (better or status["challenges"] or status["proposed"])
    if count == most and alone and _may_cost_more(agent):  # luck hides what is better
        add_trials(agent)
    if count == most and surely(own, settings.margin) >= target:
        if (not known and status["reached"]) or own.std() == 0.0:
            _keep(memory, count)
            return CLAIM
        status["reached"] = status["reached"] or steps_so_far(agent)
    elif not known:
        status["reached"] = 0  # what was good before was lucky
    return ON


def is_polished(agent: Agent) -> bool:
    """Whether the best map reached the target, and so many steps have passed since that it is to be claimed."""
    reached = int(agent.memory.status["reached"][0])
    return bool(reached and steps_so_far(agent) >= (1.0 + agent.settings.polish) * reached)


def begin_last_test(memory: EvolutionMemory) -> None:
    """Test the best map alone, to claim it."""
    size = int(memory.best.size)
    n = count_with_laws(len(memory.seen.mean), size, int(memory.facts["amounts"][0]))
    memory.status["best"] = -np.inf
    set_proposal(memory, memory.laws.numbers[1, :n].copy(), size)


def _may_cost_more(agent: Agent) -> bool:
    """Whether a generation takes so few of all steps that its candidates may have more trials."""
    status = agent.memory.status[0]
    steps = len(agent.memory.candidates.drawn) * status["trials"] * status["horizon"]
    return bool(steps < MOST_OF_ALL * steps_so_far(agent))


def _is_decided(memory: EvolutionMemory, own: np.ndarray, gains: np.ndarray) -> bool:
    """Whether more trials would hardly change which map is better; less is enough while the target is far."""
    status, target, count = memory.status[0], target_of(memory), len(own)
    if not len(gains):  # there is no best map yet
        return count >= FEWEST and not own.mean() >= target
    if gains.min() < -FAR_BELOW * (status["best"] - status["low"]):
        return True
    if is_hopeless(gains) and own.mean() < status["best"]:
        return True
    far = max(own.max(), memory.laws.record[: len(gains)].max()) < target
    if far and gains.mean() <= 0.0:
        return count >= FEWEST_IF_WORSE
    if count < max(FEWEST_IF_FAR, int(status["known"])):  # what is better runs from all known starts
        return False
    if far:
        return True
    if memory.central.size > memory.best.size:
        better = _is_sure(memory, gains.mean(), gains.std(ddof=1) / np.sqrt(len(gains)))
    else:
        better = is_hopeless(-gains)
    return better and (np.isnan(target) or is_behind(own, target))


def _is_better(memory: EvolutionMemory) -> bool:
    """Whether the map at the centre gains over the best one in the last test; a larger one must do so surely."""
    if memory.central.size > memory.best.size:
        return _gains_surely(memory) and bool(memory.laws.gains[0] > _worth(memory))
    return bool(memory.laws.gains[0] > 0.0)


def _worth(memory: EvolutionMemory) -> float:
    """The least gain for which one more law pays."""
    status = memory.status[0]
    return float(WORTH * max(status["best"] - status["base"], 0.0))


def _gains_surely(memory: EvolutionMemory) -> bool:
    """Whether the map at the centre gained more over the best one in the last test than luck explains."""
    return _is_sure(memory, *memory.laws.gains)


def _is_sure(memory: EvolutionMemory, mean: float, error: float) -> bool:
    """Whether a gain is more than luck explains: a large one needs less evidence where no target is known."""
    status = memory.status[0]
    is_large = mean > LARGE * max(status["best"] - status["base"], 0.0) and np.isnan(target_of(memory))
    return bool(mean > (PAYS_IF_LARGE if is_large else PAYS) * error)


def next_slice(agent: Agent) -> None:
    """After a slice of a search: let another search challenge it, or decide between the two."""
    memory = agent.memory
    status = memory.status[0]
    rises = _rises(memory) and not _is_stuck(agent)
    if not status["challenges"] and not (rises or is_near(memory)):
        _challenge(agent)
        return
    if status["challenges"] and _is_better(memory):  # it takes the place of the other
        status["challenges"] = 0
    elif status["challenges"] and not rises and (_is_stuck(agent) or _has_lost(memory)):
        _go_back(memory)
        status["challenges"] = 0
    status["due"] = status["steps"] + SLICE
    begin_generation(agent)


def _rises(memory: EvolutionMemory) -> bool:
    """Whether a search became better in this slice: surely, or by a share of its gain or of what it lacks."""
    status = memory.status[0]
    before, level = float(status["before"]), float(status["level"])
    status["before"] = level
    if _gains_surely(memory) or not np.isfinite(before):
        return True
    least = np.fmin(RISES * (before - status["base"]), RISES_TO * (target_of(memory) - level))
    return bool(level - before > least)


def _has_lost(memory: EvolutionMemory) -> bool:
    """Whether the search that challenges, and no longer rises, is surely worse or has had its time."""
    mean, error = memory.laws.gains
    steps, generation = int(memory.status["steps"][0]), int(memory.status["generation"][0])
    old = steps >= EARLIEST * SLICE or generation >= EARLIEST * MANY
    worse = old and mean < -HOPELESS * error
    return bool(worse or steps >= max(LONGEST * SLICE, int(memory.paused_status["steps"][0])))


def _challenge(agent: Agent) -> None:
    """Begin another search: from nothing again, from nothing with one more law, or around a split of this map."""
    memory, most = agent.memory, agent.settings.regions
    status = memory.status[0]
    size, kind = int(memory.best.size), int(status["restarts"]) % 3
    for kept, array in zip(memory.paused, memory.distribution, strict=True):
        kept[:] = array
    memory.paused_status[:] = memory.status
    status["restarts"] += 1
    agent.progress.counts["attempt"] += 1
    status["challenges"] = 1
    if size < most and kind == 2:
        _begin_split(agent)
    else:
        begin_law_search(agent, min(size + (kind == 1), most))


#: What belongs to a search, and not to the learner as a whole.
_OF_A_SEARCH = (
    *("numbers", "prototypes", "trials", "generation", "cut", "stalled", "horizon", "steps"),
    *("sigma", "level", "before", "base", "noise", "highest"),
)


def _go_back(memory: EvolutionMemory) -> None:
    """Go on with the search that is paused."""
    for kept, array in zip(memory.paused, memory.distribution, strict=True):
        array[:] = kept
    for name in _OF_A_SEARCH:
        memory.status[name] = memory.paused_status[name]
    memory.candidates.actions[:] = np.arange(len(memory.candidates.actions))
