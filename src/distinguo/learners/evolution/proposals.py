"""Proposals of a model: laws are searched for in a model of the task (:mod:`model`) and tried in the task itself.

A few proposals come before any search by trials, and a few more whenever half as many steps again have been noted.
They begin from the best map, from nothing, or from nothing with one law more or less.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.learners.agent import Agent
from distinguo.learners.evolution.generations import standardise
from distinguo.learners.evolution.memory import CENTRE, EvolutionMemory
from distinguo.learners.evolution.model import (
    FEWEST_ROWS,
    Imagined,
    fitted_models,
    rows_of,
    work_of_step,
)
from distinguo.learners.evolution.places import (
    by_scores,
    count_numbers,
    count_with_laws,
    standardised_again,
)

WORK_OF_GENERATION = 10**8  #: multiplications that imagine all candidates of a generation, about
MOST_STARTS, FEWEST_STARTS = 16, 3  #: of the imagined trials of a candidate
POPULATION = 24  #: of a search in the model
FROM_NOTHING, FROM_BEST = 40, 25  #: its generations
WIDTHS = 0.5, 0.15  #: of searches around the best map, relative to a fresh one
#: Proposals in a row that are no better, before the search goes on by trials: at first, and later.
FRUITLESS, FRUITLESS_LATER = 8, 4
LATER, SOON = 1.5, 2_000  #: times as many steps until the model is asked again, and so many more
LONGEST = 1_000  #: steps of an imagined trial
MOST_WORK = 10**8  #: multiplications in a generation, above which trials in the task are cheaper by the clock
TIMES_USUAL = 1.5  #: the mean length of trials so far: how long imagined ones are expected to be
WORST = 1e300  #: stands for a return that is not finite


def are_due(agent: Agent) -> bool:
    """Whether the model is to be asked again."""
    enough = steps_so_far(agent) >= agent.memory.status["again"][0]
    return bool(agent.settings.model and enough and has_enough_to_learn_from(agent.memory))


def steps_so_far(agent: Agent) -> int:
    """The steps of all trials."""
    return int(agent.progress.counts["trial_steps"][0])


def has_enough_to_learn_from(memory: EvolutionMemory) -> bool:
    """Whether a model can be fitted."""
    return bool(memory.status["noted"][0] >= FEWEST_ROWS)


def are_over(agent: Agent) -> bool:
    """Whether enough proposals in a row were no better; the model is asked again later."""
    status = agent.memory.status
    most = FRUITLESS_LATER if status["numbers"][0] else FRUITLESS
    if status["fruitless"][0] < most and agent.settings.model:
        return False
    status["proposed"] = status["fruitless"] = 0
    status["again"] = int(LATER * steps_so_far(agent)) + SOON
    return True


def propose_laws(agent: Agent, fixed: bool) -> bool:
    """Search for laws in the model, to be tested next; False if there is no model.

    The standardisation is ``fixed`` as soon as there is a search by trials.
    """
    memory = agent.memory
    status = memory.status[0]
    if not fixed:
        standardise_again(memory)
    steps = min(int(status["limit"]), LONGEST)
    usual = min(steps, int(TIMES_USUAL * status["noted"] / max(1, status["begun"])))
    if POPULATION * FEWEST_STARTS * usual * work_of_step(memory) > MOST_WORK:
        return False
    models = fitted_models(memory, agent.rng)
    if not models:
        return False
    centre, size, width, generations = _beginning(agent)
    known = rows_of(memory)
    starts = (known.first - memory.seen.centre) / memory.seen.spread
    most = WORK_OF_GENERATION // work_of_step(memory)
    numbers = _searched(
        agent, Imagined(memory, models, size, steps), starts, (most, usual), (centre, width, generations)
    )
    set_proposal(memory, numbers, size)
    status["proposals"] += 1
    return True


def set_proposal(memory: EvolutionMemory, numbers: np.ndarray, size: int) -> None:
    """Test the map that these numbers stand for next."""
    memory.laws.numbers[0, : len(numbers)] = numbers
    memory.status["proposed"], memory.status["phase"], memory.status["place"] = size, CENTRE, 0


def standardise_again(memory: EvolutionMemory) -> None:
    """Take over how far observations spread by now; the numbers of the best map go on to mean the same."""
    seen, size = memory.seen, int(memory.best.size)
    before = seen.centre.copy(), seen.spread.copy()
    standardise(memory)
    n = count_with_laws(len(seen.centre), size, int(memory.facts["amounts"][0]))
    best = memory.laws.numbers[1]
    best[:n] = standardised_again(best[:n], size, before, (seen.centre, seen.spread))


def _beginning(agent: Agent) -> tuple[np.ndarray, int, float, int]:
    """Where the search begins: its centre, its laws, its width, and its generations."""
    memory, most = agent.memory, agent.settings.regions
    status = memory.status[0]
    kind, best, known = int(status["proposals"]), int(memory.best.size), np.isfinite(status["best"])
    if known and kind > 2 and kind % 2:
        n = _count(memory, best)
        return memory.laws.numbers[1, :n].copy(), best, WIDTHS[kind // 2 % 2], FROM_BEST
    size = best
    if kind % 4 == 2 or (kind == 1 and best == 1):
        size = min(best + 1, most)
    elif kind % 8 == 4:
        size = max(best - 1, 1)
    dimensions = len(memory.seen.centre)
    centre = np.zeros(_count(memory, size))
    if not by_scores(dimensions, size):
        borders = count_numbers(dimensions, size)
        centre[:borders] = agent.rng.standard_normal(borders)
    return centre, size, 1.0, FROM_NOTHING


def _count(memory: EvolutionMemory, size: int) -> int:
    return count_with_laws(len(memory.seen.centre), size, int(memory.facts["amounts"][0]))


def _searched(
    agent: Agent,
    imagined: Imagined,
    starts: np.ndarray,
    steps: tuple[int, int],
    begin: tuple[np.ndarray, float, int],
) -> np.ndarray:
    """The centre of an evolution strategy in the model; the steps are those of a generation, and of a usual trial."""
    from cmaes import CMA  # only a run that evolves needs it

    rng, (centre, width, generations) = agent.rng, begin
    count = int(np.clip(steps[0] // (POPULATION * steps[1]), FEWEST_STARTS, MOST_STARTS))
    made: Any = CMA(mean=centre, sigma=width, population_size=POPULATION, seed=int(rng.integers(2**31)))
    for _ in range(generations):
        imagined.room.taken[:] = 0.0
        some = np.ascontiguousarray(starts[rng.permutation(len(starts))[:count]])
        drawn = [made.ask() for _ in range(POPULATION)]
        losses = [-imagined(numbers, some) for numbers in drawn]
        made.tell([(x, loss if np.isfinite(loss) else WORST) for x, loss in zip(drawn, losses, strict=True)])
        share = steps[0] / max(1.0, imagined.room.taken[0])
        count = int(np.clip(count * share, FEWEST_STARTS, MOST_STARTS))
    numbers: np.ndarray = made.mean
    return numbers
