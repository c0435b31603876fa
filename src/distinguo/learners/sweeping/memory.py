"""The memory of ``sweeping``, and its settings."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.learners.agent import ROOM, check_arrays, field, fields_of, fresh_arrays
from distinguo.representations.growing import grown

# The memory of the learner for categories: the states it saw, a model of the task, upper values and a plan.
#
# Rows are indexed by state, in the order in which states were first seen; a *pair* is a state with an action, and an
# *edge* is one outcome that a pair was seen to have. The edges of a pair, and those that lead to a state, are lists:
# each names the next, -1 at the end, and the next is always an earlier one.


EDGES, SLOTS = "edges", "slots"
LOOSE = 4  #: slots of the hash table per state
NOTHING = -1  #: no state, no edge, no place, no group yet
LEFT_OUT = -2  #: the group of a state that does not matter

#: Counters, as one record.
COUNTERS = np.dtype(
    [
        ("states", np.int64),  # seen
        ("edges", np.int64),  # outcomes seen
        ("waiting", np.int64),  # states in the queue
        ("chance", np.int64),  # whether a pair had two different outcomes
        ("horizon", np.int64),  # steps after which a trial is stopped
        ("planned", np.int64),  # experience when the plan was made
        ("experience", np.int64),  # steps learned from
        ("claimed", np.int64),  # the plan that success was claimed for last
        ("changed", np.int64),  # the plan that changed the map last
        ("settled", np.int64),  # whether the plan rests on enough experience
    ],
    align=True,
)
#: Real numbers, as one record.
AMOUNTS = np.dtype(
    [
        ("best", np.float64),  # reward of a step so far
        ("worst", np.float64),
        ("greatest", np.float64),  # value of a state in the plan
        ("worth", np.float64),  # the plan's mean return, by the model
        ("gamma", np.float64),  # the discount that it was made with
    ],
    align=True,
)


class SweepingMemory(NamedTuple):
    """The whole memory of the learner.

    >>> from distinguo.representations.growing import growing_categories
    >>> fresh_sweeping(growing_categories([[3.0]], room=8), actions=4).tries.shape
    (8, 4)
    """

    partition: Any  #: the consolidated map that the controller acts by
    q: Annotated[np.ndarray, field(float, ROOM, "actions")]  #: its action values
    seen: Annotated[np.ndarray, field(float, ROOM, "dimensions")]  #: the categories of each state
    slots: Annotated[np.ndarray, field(int, SLOTS, first=NOTHING)]  #: a hash table of states
    starts: Annotated[np.ndarray, field(int, ROOM)]  #: trials that began there

    tries: Annotated[np.ndarray, field(int, ROOM, "actions")]  #: of each pair
    gained: Annotated[np.ndarray, field(float, ROOM, "actions")]  #: the sum of its rewards
    first_edge: Annotated[np.ndarray, field(int, ROOM, "actions", first=NOTHING)]
    first_way: Annotated[
        np.ndarray, field(int, ROOM, first=NOTHING)
    ]  #: the latest edge that leads to a state
    edge_pair: Annotated[np.ndarray, field(int, EDGES)]  #: state * actions + action
    edge_to: Annotated[np.ndarray, field(int, EDGES)]
    edge_ends: Annotated[np.ndarray, field(bool, EDGES)]  #: whether the trial ended there
    edge_count: Annotated[np.ndarray, field(int, EDGES)]
    edge_next: Annotated[np.ndarray, field(int, EDGES, first=NOTHING)]  #: of the same pair
    edge_way: Annotated[np.ndarray, field(int, EDGES, first=NOTHING)]  #: to the same state

    hope: Annotated[np.ndarray, field(float, ROOM, "actions")]  #: what each pair may be worth at best
    highest: Annotated[np.ndarray, field(float, ROOM)]  #: the highest of these in each state
    queue: Annotated[np.ndarray, field(int, ROOM)]  #: a heap of the states that wait for a back-up
    place: Annotated[np.ndarray, field(int, ROOM, first=NOTHING)]  #: of a state in the queue
    urgency: Annotated[np.ndarray, field(float, ROOM)]  #: its priority there

    value: Annotated[np.ndarray, field(float, ROOM, "actions")]  #: of pairs, in the plan
    trial_value: Annotated[np.ndarray, field(float, ROOM, "actions")]  #: of a plan that is being tried
    policy: Annotated[np.ndarray, field(int, ROOM)]  #: the action of each state
    weight: Annotated[np.ndarray, field(float, ROOM)]  #: expected visits in a trial of the plan
    now: Annotated[np.ndarray, field(float, ROOM)]  #: scratch: of this step
    then: Annotated[np.ndarray, field(float, ROOM)]  #: scratch: of the next one
    best_action: Annotated[np.ndarray, field(int, ROOM)]  #: of each state, by the values of the plan
    group: Annotated[
        np.ndarray, field(int, ROOM, first=NOTHING)
    ]  #: the action that a state shares with others
    mapped: Annotated[np.ndarray, field(int, ROOM)]  #: the state that each prototype of the map is
    counters: Annotated[np.ndarray, field(COUNTERS, 1)]
    amounts: Annotated[np.ndarray, field(AMOUNTS, 1)]


def fresh_sweeping(partition: Any, actions: int, gamma: float = 0.99) -> SweepingMemory:
    """Return a fresh memory."""
    memory: SweepingMemory = fresh_arrays(
        SweepingMemory, {"partition": partition}, **_sizes(partition.prototypes, actions, 0)
    )
    memory.amounts["gamma"] = gamma
    memory.amounts["best"], memory.amounts["worst"] = -np.inf, np.inf
    return memory


def _sizes(seen: np.ndarray, actions: int, edges: int) -> dict[str, int]:
    room, dimensions = seen.shape
    sizes = {ROOM: room, SLOTS: LOOSE * room, EDGES: max(edges, 2 * room * actions)}
    return {**sizes, "actions": actions, "dimensions": dimensions}


def with_spare_room(memory: SweepingMemory) -> SweepingMemory:
    """Return the memory itself if there is room for two more states and an edge, else a copy with twice the room."""
    room, actions = memory.tries.shape
    counters = memory.counters[0]
    more_states = counters["states"] + 2 > room
    more_edges = counters["edges"] + 1 > len(memory.edge_to)
    if not (more_states or more_edges):
        return memory
    room = 2 * room if more_states else room
    partition = grown(memory.partition, room)
    edges = len(memory.edge_to) * (2 if more_edges else 1)
    return _copied(memory, partition, _sizes(partition.prototypes, actions, edges))


def _copied(memory: SweepingMemory, partition: Any, sizes: dict[str, int]) -> SweepingMemory:
    larger: SweepingMemory = fresh_arrays(SweepingMemory, {"partition": partition}, **sizes)
    for name, declared in fields_of(SweepingMemory).items():
        if declared.shape[0] != SLOTS:  # the slot of a state depends on the size of the table
            old = getattr(memory, name)
            getattr(larger, name)[tuple(slice(length) for length in old.shape)] = old
    return larger


def check_sweeping(memory: SweepingMemory, actions: int, dimensions: int) -> None:
    """Raise ``ValueError`` unless compiled code can trust a memory from a file."""
    room = len(memory.tries)
    if memory.tries.shape != (room, actions) or memory.seen.shape != (room, dimensions):
        raise ValueError("the number of actions or of dimensions differs")
    check_arrays(memory, **_sizes(memory.seen, actions, len(memory.edge_to)))
    states, edges, waiting = (int(memory.counters[name][0]) for name in ("states", "edges", "waiting"))
    if not (0 <= states <= room and 0 <= edges <= len(memory.edge_to) and 0 <= waiting <= states):
        raise ValueError("there are more states or edges than there is room for")
    _check_places(memory, states, edges, waiting)
    _check_partition(memory.partition, room, dimensions)


def _check_places(memory: SweepingMemory, states: int, edges: int, waiting: int) -> None:
    order = np.arange(edges)
    places = np.full(len(memory.place), NOTHING)
    queue = memory.queue[:waiting]
    _check_within(queue, 0, states)
    places[queue] = np.arange(waiting)
    _check_within(memory.edge_to[:edges], 0, states)
    _check_within(memory.edge_pair[:edges], 0, states * memory.tries.shape[1])
    for list_of_edges in (
        memory.edge_next,
        memory.edge_way,
    ):  # each names an earlier one, so no list is endless
        _check_within(list_of_edges[:edges], NOTHING, order)
    for heads in (memory.first_edge, memory.first_way):
        _check_within(heads, NOTHING, edges)
    _check_within(memory.slots, NOTHING, states)
    _check_within(memory.policy, 0, memory.tries.shape[1])
    _check_within(memory.mapped, 0, len(memory.tries))
    _check_within(memory.group, LEFT_OUT, memory.tries.shape[1])
    full = np.count_nonzero(memory.slots != NOTHING) >= len(memory.slots)  # a search would never end
    if full or not (places == memory.place).all() or (memory.counters["horizon"] < 0).any():
        raise ValueError("the queue or the table of states is inconsistent")


def _check_partition(partition: Any, room: int, dimensions: int) -> None:
    size, primary = int(partition.size[0]), partition.primary
    same = partition.prototypes.shape == (room, dimensions) and primary.shape == (room,)
    if not same or primary.dtype != np.int64 or partition.prototypes.dtype != np.float64:
        raise ValueError("the prototypes have an unexpected shape or type")
    if not 1 <= size <= room:
        raise ValueError("the prototypes are inconsistent")
    _check_within(primary[:size], 0, size)


def _check_within(numbers: np.ndarray, least: int, beyond: Any) -> None:
    if not ((numbers >= least) & (numbers < beyond)).all():
        raise ValueError("a place lies outside of its table")


# The settings of the learner for categories; all are ours (docs/categories.md).


class SweepingSettings(NamedTuple):
    """The constants of the learner ``sweeping``.

    >>> SweepingSettings().gamma
    0.99
    """

    gamma: Annotated[float, Field(gt=0, lt=1, description="discount of upper values; ours")] = 0.99
    doubt: Annotated[
        float,
        Field(
            ge=0, le=10**6, description="imagined optimistic outcomes of each pair, in stochastic tasks; ours"
        ),
    ] = 2.0
    sweeps: Annotated[
        int, Field(ge=1, le=10**6, description="back-ups of upper values after a step; ours")
    ] = 100
    precision: Annotated[
        float, Field(gt=0, le=1, description="changes to care about, as a share of the rewards' range; ours")
    ] = 0.0001
    plan_growth: Annotated[
        float,
        Field(gt=1, le=10, description="a plan is made when experience has grown by this factor; ours"),
    ] = 1.1
    horizon: Annotated[
        int, Field(ge=1, le=10**6, description="steps of a trial that a plan considers, at most; ours")
    ] = 1000
    caution: Annotated[
        float, Field(ge=0, le=100, description="standard errors by which a plan doubts a mean; ours")
    ] = 0.5
    enough: Annotated[
        int, Field(ge=1, le=10**9, description="tries that make a pair known, where chance is at work; ours")
    ] = 100
    epsilon: Annotated[
        float,
        Field(ge=0, le=1, description="return that may be lost by merging, as a share of that range; ours"),
    ] = 0.001
