"""The data of ``evolution``: its settings, and its memory."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.errors import DistinguoError
from distinguo.learners.agent import check_arrays, field, fresh_arrays
from distinguo.learners.evolution.places import count_with_laws, most_numbers
from distinguo.search.maps import PrototypeMap, prototype_map

MOST_PROTOTYPES = 16  #: that a map has room for
MOST_NUMBERS = 3_000  #: that a search is made over; its covariances then take 72 MB
MOST = 10**15  #: of any counter
MOST_REMEMBERED = 20_000  #: steps that a model of the task is fitted to
MOST_NUMBERS_REMEMBERED = 2_000_000  #: the same in numbers, where observations are many
MOST_FIRST = 64  #: starts that a model imagines trials from

#: The phases: random maps, the candidates of a generation, the map at the centre, the same with fewer prototypes.
WARM_UP, GENERATION, CENTRE, SHRINK = 0, 1, 2, 3


class EvolutionSettings(NamedTuple):
    """The constants of the evolution strategy; docs/evolution.md has their effects.

    >>> EvolutionSettings().population
    24
    """

    population: Annotated[int, Field(ge=4, le=256, description="candidates of a generation")] = 24
    trials: Annotated[int, Field(ge=1, le=64, description="trials of a candidate at first")] = 1
    most_trials: Annotated[
        int, Field(ge=1, le=64, description="the same at most, where generations become no better")
    ] = 8
    patience: Annotated[
        int,
        Field(
            ge=1,
            le=10**6,
            description="generations without a better one before trials are added or, far from the target, a restart",
        ),
    ] = 8
    stall: Annotated[
        int, Field(ge=1, le=10**6, description="the same before a restart, where no more trials are allowed")
    ] = 20
    cut: Annotated[
        float,
        Field(ge=0, le=1_000, description="first limit of trials, in lengths of random ones; 0 for none"),
    ] = 2.0
    longer: Annotated[
        int,
        Field(
            ge=1,
            le=10**6,
            description="generations that are mostly cut, or with laws tests that short trials misjudge, before the "
            "limit is doubled",
        ),
    ] = 5
    tests: Annotated[
        int, Field(ge=1, le=64, description="trials of the map at the centre, after each generation")
    ] = 16
    margin: Annotated[
        float,
        Field(ge=0, le=10, description="standard errors by which it must reach the threshold to be claimed"),
    ] = 0.5
    regions: Annotated[int, Field(ge=2, le=MOST_PROTOTYPES, description="prototypes of a map at most")] = 6
    grow: Annotated[int, Field(ge=1, le=10**6, description="restarts before one more prototype is used")] = 4
    warm_up: Annotated[
        int, Field(ge=1, le=1_000, description="trials of random maps, to see how far observations spread")
    ] = 20
    shrink: Annotated[bool, Field(description="drop prototypes that are not needed, before a claim")] = True
    horizon: Annotated[
        int, Field(ge=1, le=10**6, description="steps of a trial at most, where the task has no limit")
    ] = 1_000
    model: Annotated[
        bool, Field(description="where actions are amounts, search for laws in a model of the task, too")
    ] = True
    polish: Annotated[
        float,
        Field(
            ge=0,
            le=1_000,
            description="where actions are amounts, go on for so many times the steps that the target took",
        ),
    ] = 4.0


STATUS = np.dtype(
    [
        ("phase", np.int64),
        ("numbers", np.int64),  # that the present search is over
        ("prototypes", np.int64),  # of its maps
        ("candidate", np.int64),  # of the generation that is being tried
        ("place", np.int64),  # trials that it had
        ("trials", np.int64),  # that each candidate gets
        ("generation", np.int64),  # of this search
        ("generations", np.int64),  # of all searches
        ("restarts", np.int64),
        ("cut", np.int64),  # generations that were mostly cut, those that were not taken away
        ("stalled", np.int64),  # generations without a better one
        ("first", np.int64),  # steps of a trial at most, when a search begins
        ("horizon", np.int64),  # the same now
        ("limit", np.int64),  # the same for tests
        ("claimed", np.int64),  # whether the best map is being confirmed
        ("dropped", np.int64),  # the prototype that is left out of the map being tried
        ("challenges", np.int64),  # whether this search challenges one that is paused
        ("steps", np.int64),  # of the candidates of this search
        ("due", np.int64),  # the same, when it is compared or challenged next
        ("over", np.int64),  # whether a slice of the search ends with the test of its centre
        ("noted", np.int64),  # steps that the model may be fitted to, and those that were forgotten
        ("begun", np.int64),  # trials with laws
        (
            "proposed",
            np.int64,
        ),  # laws of the map that a model proposes and a test tries; 0 if it is no proposal
        ("proposals", np.int64),  # of models so far
        ("fruitless", np.int64),  # the latest of them that were no better than the best map
        ("jumped", np.int64),  # whether a model proposed the best map since the search began
        ("again", np.int64),  # steps of all trials when a model is asked next
        ("known", np.int64),  # returns of the best map from the starts of tests
        ("reached", np.int64),  # steps of all trials when the best map reached the target; 0 before
        ("sigma", np.float64),  # the width of the distribution
        ("level", np.float64),  # the mean return of the better halves, smoothed
        ("before", np.float64),  # the same when a slice began
        ("base", np.float64),  # that of the first generation
        ("noise", np.float64),  # the standard deviation of the returns of a generation
        ("highest", np.float64),  # the greatest level so far
        ("best", np.float64),  # the mean return of the best map in its tests
        ("low", np.float64),  # the least return in the last long test
    ],
    align=True,
)
#: Known facts of the task, as one record.
FACTS = np.dtype(
    [
        ("hold", np.int64),  # judged by length
        ("common", np.int64),  # the start of a trial can be restored
        ("once", np.int64),  # all trials of a map are the same
        ("actions", np.int64),
        ("amounts", np.int64),  # that laws decide; 0 for a few actions to choose from
        ("threshold", np.float64),  # the mean return that solves it; NaN if none is known
    ],
    align=True,
)


class Distribution(NamedTuple):
    """The normal distribution that candidates are drawn from; only the first ``numbers`` rows count."""

    mean: Annotated[np.ndarray, field(float, "numbers")]
    covariance: Annotated[np.ndarray, field(float, "numbers", "numbers")]
    path: Annotated[np.ndarray, field(float, "numbers")]  #: of its centre, which widens the covariance
    width_path: Annotated[np.ndarray, field(float, "numbers")]  #: the same, for the width


class Candidates(NamedTuple):
    """A generation: what was drawn, and how well it did."""

    drawn: Annotated[np.ndarray, field(float, "population", "numbers")]
    returns: Annotated[np.ndarray, field(float, "population", "trials")]
    reach: Annotated[np.ndarray, field(float, "population")]  #: how far their trials went
    tests: Annotated[np.ndarray, field(float, "trials")]  #: returns of the map at the centre
    foreseen: Annotated[np.ndarray, field(float, "trials")]  #: what short trials foresee of them
    tried: Annotated[np.ndarray, field(float, "trials")]  #: those of the map with a prototype less
    cut: Annotated[np.ndarray, field(float, "population")]  #: the share of their trials that did not end
    starts: Annotated[np.ndarray, field(float, "trials", "width")]  #: that the candidates have in common
    actions: Annotated[np.ndarray, field(int, MOST_PROTOTYPES)]  #: of the prototypes


class Seen(NamedTuple):
    """What was observed: its mean and spread, and the extremes of a trial."""

    times: Annotated[np.ndarray, field(float, 1)]  #: how many observations there were
    mean: Annotated[np.ndarray, field(float, "dimensions")]
    squares: Annotated[np.ndarray, field(float, "dimensions")]  #: summed, of the differences from the mean
    low: Annotated[np.ndarray, field(float, "dimensions")]
    high: Annotated[np.ndarray, field(float, "dimensions")]
    visits: Annotated[np.ndarray, field(int, MOST_PROTOTYPES)]  #: of the prototypes
    centre: Annotated[np.ndarray, field(float, "dimensions")]  #: the mean when the search began
    spread: Annotated[np.ndarray, field(float, "dimensions", first=1.0)]


class LawTables(NamedTuple):
    """The laws of each map, where actions are amounts; else empty."""

    candidate: Annotated[np.ndarray, field(float, MOST_PROTOTYPES, "amounts", "affine")]
    central: Annotated[np.ndarray, field(float, MOST_PROTOTYPES, "amounts", "affine")]
    best: Annotated[np.ndarray, field(float, MOST_PROTOTYPES, "amounts", "affine")]
    box: Annotated[np.ndarray, field(float, 2, "amounts")]  #: the least and the greatest of each amount
    numbers: Annotated[np.ndarray, field(float, 2, "numbers")]  #: of the proposal and of the best map
    gains: Annotated[
        np.ndarray, field(float, 2)
    ]  #: of the map at the centre over the best one: mean, standard error
    starts: Annotated[np.ndarray, field(float, "tests", "width")]  #: that tests have in common
    record: Annotated[np.ndarray, field(float, "tests")]  #: the returns of the best map from them


class NotedSteps(NamedTuple):
    """The latest steps of trials with laws; else empty."""

    before: Annotated[np.ndarray, field(float, "rows", "dimensions")]  #: what was observed
    amounts: Annotated[np.ndarray, field(float, "rows", "amounts")]  #: that were taken
    reward: Annotated[np.ndarray, field(float, "rows")]
    ended: Annotated[np.ndarray, field(int, "rows")]  #: whether the step ended the trial
    after: Annotated[np.ndarray, field(float, "rows", "dimensions")]
    first: Annotated[np.ndarray, field(float, "firsts", "dimensions")]  #: observed when trials began


class EvolutionMemory(NamedTuple):
    """The whole memory of the learner."""

    candidate: PrototypeMap  #: that is being tried
    central: PrototypeMap  #: at the centre of the distribution
    best: PrototypeMap
    distribution: Distribution
    candidates: Candidates
    seen: Seen
    laws: LawTables
    experience: NotedSteps
    paused: Distribution  #: of the search for laws that is challenged
    paused_status: Annotated[np.ndarray, field(STATUS, 1)]
    status: Annotated[np.ndarray, field(STATUS, 1)]
    facts: Annotated[np.ndarray, field(FACTS, 1)]


MAPS = ("candidate", "central", "best")


def fresh_evolution_memory(
    width: int, dimensions: int, settings: EvolutionSettings, amounts: int = 0
) -> EvolutionMemory:
    """Return the memory before the first trial.

    >>> fresh_evolution_memory(4, 4, EvolutionSettings()).candidates.drawn.shape
    (24, 28)
    """
    numbers = most_numbers(dimensions, settings.regions, amounts)
    if numbers > MOST_NUMBERS:
        laws = f", with laws for {amounts} amounts," if amounts else ""
        other = "give task.levels" if amounts else "use --learner probation"
        raise DistinguoError(
            f"The learner 'evolution' searches over at most {MOST_NUMBERS:,} numbers, but {settings.regions} "
            f"prototypes for {dimensions:,} coordinates{laws} are {numbers:,}; lower learner.regions, or {other}."
        )
    sizes = {
        "width": width,
        "dimensions": dimensions,
        "numbers": numbers,
        "population": settings.population,
        "trials": max(settings.trials, settings.most_trials, settings.tests),
        "amounts": amounts,
        "affine": dimensions + 1,
        "tests": settings.tests if amounts else 0,
        **_rooms_of_experience(dimensions, amounts),
    }
    one = prototype_map(np.zeros((1, dimensions)), [0], np.ones(dimensions), MOST_PROTOTYPES)
    given: dict[str, Any] = {name: _copied(one) for name in MAPS}
    tables = {
        "distribution": Distribution,
        "paused": Distribution,
        "candidates": Candidates,
        "seen": Seen,
        "laws": LawTables,
        "experience": NotedSteps,
    }
    given |= {name: fresh_arrays(kind, {}, **sizes) for name, kind in tables.items()}
    memory: EvolutionMemory = fresh_arrays(EvolutionMemory, given, **sizes)
    status = memory.status
    for name in ("level", "before", "highest", "best", "low"):
        status[name] = -np.inf
    status["trials"], status["sigma"], status["dropped"] = settings.trials, 1.0, -1
    return memory


def _rooms_of_experience(dimensions: int, amounts: int) -> dict[str, int]:
    """How many steps and starts are remembered; none where actions are no amounts."""
    if not amounts:
        return {"rows": 0, "firsts": 0}
    rows = MOST_NUMBERS_REMEMBERED // (2 * dimensions + amounts + 2)
    return {"rows": max(1, min(MOST_REMEMBERED, rows)), "firsts": MOST_FIRST}


def _copied(given: PrototypeMap) -> PrototypeMap:
    return PrototypeMap(type(given.partition)(*(a.copy() for a in given.partition)), given.actions.copy())


def checked_evolution_memory(memory: EvolutionMemory, fresh: EvolutionMemory) -> EvolutionMemory:
    """Return a memory that came from a file if compiled code can trust it, else raise an error."""
    population, numbers = fresh.candidates.drawn.shape
    trials, width = fresh.candidates.starts.shape
    sizes = {
        "width": width,
        "dimensions": len(fresh.seen.mean),
        "numbers": numbers,
        "population": population,
        "trials": trials,
        "amounts": fresh.laws.box.shape[1],
        "affine": fresh.laws.best.shape[2],
        "tests": len(fresh.laws.record),
        "rows": len(fresh.experience.reward),
        "firsts": len(fresh.experience.first),
    }
    tables = (
        *(memory.distribution, memory.paused, memory.candidates),
        *(memory.seen, memory.laws, memory.experience, memory),
    )
    for table in tables:
        check_arrays(table, **sizes)
    if memory.facts.tobytes() != fresh.facts.tobytes() or (memory.laws.box != fresh.laws.box).any():
        raise ValueError("the facts of the task are not those of this run")
    for name in MAPS:
        _check_map(getattr(memory, name), getattr(fresh, name), int(fresh.facts["actions"][0]))
    _check_status(memory, sizes)
    return memory


def _check_map(given: PrototypeMap, like: PrototypeMap, actions: int) -> None:
    for array, known in zip((*given.partition, given.actions), (*like.partition, like.actions), strict=True):
        if array.dtype != known.dtype or array.shape != known.shape or not array.flags.c_contiguous:
            raise ValueError("a map has an unexpected shape or type")
    within = (given.actions >= 0) & (given.actions < actions)
    if not 1 <= given.size <= MOST_PROTOTYPES or not within.all():
        raise ValueError("a map is inconsistent")
    if not (given.partition.primary == np.arange(MOST_PROTOTYPES)).all():
        raise ValueError("a map has merged prototypes")


def _check_status(memory: EvolutionMemory, sizes: dict[str, int]) -> None:
    """Reject out-of-range counters, and distributions that nothing can be drawn from."""
    status = memory.status[0]
    most = {
        "phase": SHRINK,
        "numbers": sizes["numbers"],
        "prototypes": MOST_PROTOTYPES,
        "candidate": sizes["population"],
        "trials": sizes["trials"],
        "dropped": memory.central.size,
        "proposed": MOST_PROTOTYPES,
        "known": sizes["tests"],
    }
    for name, value in zip(STATUS.names or (), status, strict=True):
        if not -1 <= value <= most.get(name, MOST) if STATUS[name].kind == "i" else np.isnan(value):
            raise ValueError(f"{name} is out of range")
    if min(status["trials"], status["horizon"], status["limit"]) < 1 or status["sigma"] <= 0.0:
        raise ValueError("a trial, or a width, is missing")
    size = int(status["prototypes"])
    if status["phase"] != WARM_UP:
        _check_search(memory, sizes["dimensions"])
    used = max(int(status["numbers"]), 0)
    covariance = memory.distribution.covariance[:used, :used]
    numbers = (
        *memory.distribution,
        *memory.paused,
        memory.candidates.drawn,
        memory.seen.mean,
        memory.seen.spread,
        *memory.laws,
        *memory.experience,
    )
    if not all(np.isfinite(array).all() for array in numbers) or (np.diag(covariance) < 0.0).any():
        raise ValueError("the distribution is inconsistent")
    actions = memory.candidates.actions[: max(size, 0)]
    if (actions < 0).any() or (actions >= memory.facts["actions"][0]).any():
        raise ValueError("an action does not exist")


def _check_search(memory: EvolutionMemory, dimensions: int) -> None:
    """Reject the place of a search that does not exist."""
    status, candidates = memory.status[0], memory.candidates
    size, phase = int(status["prototypes"]), status["phase"]
    amounts = int(memory.facts["amounts"][0])
    sized = size >= (1 if amounts else 2) and status["numbers"] == count_with_laws(dimensions, size, amounts)
    sized |= (
        amounts > 0 and status["proposed"] > 0 and status["numbers"] == size == 0
    )  # no search by trials yet
    placed = 0 <= status["place"] < len(candidates.starts)
    drawn = phase != GENERATION or 0 <= status["candidate"] < len(candidates.drawn)
    left_out = phase != SHRINK or (0 <= status["dropped"] < memory.central.size and memory.central.size > 1)
    if not (sized and placed and drawn and left_out):
        raise ValueError("the search is inconsistent")
