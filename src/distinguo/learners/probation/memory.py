"""The data of ``probation``: its settings, its memory, the tree of all trials, and imagined trials."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.learners.agent import (
    GREATEST,
    LEAST,
    NO_BUDGET,
    ROOM,
    Agent,
    check_arrays,
    field,
    fresh_arrays,
    larger_arrays,
    widen,
)
from distinguo.seam import part
from distinguo.search.maps import PrototypeMap, action_of, prototype_map
from distinguo.tasks.world import BEFORE, NEXT, OWN, begin, copy_row, look, step, stops

# The memory of the learner: maps, the tree of all trials, the latest transitions, and the state of the race.


MOST_TESTS = 2_000  #: trials of a confirmation that are remembered
MOST = 10**15  #: of any counter
NONE = -1  #: no node
RUNNING_ON, ENDED, STOPPED = 0, 1, 2  #: whether a trial goes on from a node

#: The phases: trials of constant actions, the search for a first success, the race, more starts.
CONSTANT, SEARCH, RACE, WIDEN = 0, 1, 2, 3

STATUS = np.dtype(
    [
        ("phase", np.int64),
        ("nodes", np.int64),  # of the tree
        ("starts", np.int64),  # of the race
        ("tests", np.int64),  # trials of the latest confirmation
        ("root", np.int64),  # that the search starts from
        ("pending", np.int64),  # whether a proposal is being tried
        ("place", np.int64),  # how many of the starts it was tried on
        ("ran", np.int64),  # steps that it took so far
        ("attempt", np.int64),  # searches so far
        ("began", np.int64),  # steps before this search
        ("proposals", np.int64),  # so far
        ("kept", np.int64),  # of them
        ("free", np.int64),  # proposals in a row that took no step
        ("last", np.int64),  # the last node of its last trial
        ("kinds", np.int64),  # of changes in the pending proposal, a bit for each
        ("changed", np.int64),  # whether the map has changed since it was last confirmed
        ("claimed", np.int64),  # whether it is being confirmed
        ("shrink", np.int64),  # remaining tries to remove a prototype
        ("widened", np.int64),  # starts still to be added
        ("total", np.float64),  # the returns of the pending proposal so far
        ("present", np.float64),  # the returns of the present map on the same starts
        ("squares", np.float64),  # the summed squares of the differences, on stochastic tasks
        ("stalled", np.float64),  # proposals without a gain
        ("baseline", np.float64),  # the best of the constant actions
        ("least", np.float64),  # the least return of a trial
        ("reward", np.float64),  # the greatest of a step
        ("far", np.float64),  # how far the furthest trial of a search went
        ("success", np.float64),  # the best return of a search
        ("best", np.float64),  # the mean return of the best attempt, on its starts
    ],
    align=True,
)
#: Known facts of the task, as one record.
FACTS = np.dtype(
    [
        ("hold", np.int64),  # judged by length
        ("returns", np.int64),  # any node can be restored, else only the start of a trial
        ("repeats", np.int64),  # the same decisions lead to the same states
        ("threshold", np.float64),  # the mean return that solves it; NaN if none is known
    ],
    align=True,
)


class Tree(NamedTuple):
    """All trials so far: a node is a state, reached from its parent by an action."""

    states: Annotated[np.ndarray, field(float, ROOM, "width")]
    seen: Annotated[np.ndarray, field(float, ROOM, "dimensions")]  #: their observations
    gained: Annotated[np.ndarray, field(float, ROOM)]  #: the return of the trial until there
    depth: Annotated[np.ndarray, field(np.int32, ROOM)]  #: its steps until there
    child: Annotated[np.ndarray, field(np.int32, ROOM, "actions", first=NONE)]
    parent: Annotated[np.ndarray, field(np.int32, ROOM, first=NONE)]
    end: Annotated[np.ndarray, field(np.int8, ROOM)]


class Model(NamedTuple):
    """The latest transitions by each action."""

    seen: Annotated[np.ndarray, field(float, "actions", "kept", "dimensions")]
    change: Annotated[np.ndarray, field(float, "actions", "kept", "dimensions")]
    reward: Annotated[np.ndarray, field(float, "actions", "kept")]
    end: Annotated[np.ndarray, field(np.int8, "actions", "kept")]
    times: Annotated[np.ndarray, field(int, "actions")]  #: how many there were


class Starts(NamedTuple):
    """The starts of the race, and of the latest confirmation."""

    roots: Annotated[np.ndarray, field(int, MOST_STARTS)]
    returns: Annotated[np.ndarray, field(float, MOST_STARTS)]  #: of the present map
    tried: Annotated[np.ndarray, field(float, MOST_STARTS)]  #: of the pending proposal
    order: Annotated[np.ndarray, field(int, MOST_STARTS)]  #: in which it is tried
    tests: Annotated[np.ndarray, field(int, MOST_TESTS)]  #: the starts of a confirmation


class Scratch(NamedTuple):
    """Room to work in; compiled code allocates nothing."""

    point: Annotated[np.ndarray, field(float, "dimensions")]
    weight: Annotated[np.ndarray, field(float, "dimensions")]
    share: Annotated[
        np.ndarray, field(float, "dimensions", first=1.0)
    ]  #: of its weight that a coordinate gets
    path: Annotated[np.ndarray, field(np.int32, "cap")]


class RaceMemory(NamedTuple):
    """The whole memory of the learner."""

    incumbent: PrototypeMap  #: the present map
    candidate: PrototypeMap  #: the pending proposal
    draft: PrototypeMap  #: a proposal that is only imagined
    furthest: PrototypeMap  #: of the search
    success: PrototypeMap  #: the best of the search
    best: PrototypeMap  #: of all attempts
    tree: Tree
    model: Model
    starts: Starts
    scratch: Scratch
    status: Annotated[np.ndarray, field(STATUS, 1)]
    facts: Annotated[np.ndarray, field(FACTS, 1)]


MAPS = ("incumbent", "candidate", "draft", "furthest", "success", "best")


def fresh_map(dimensions: int) -> PrototypeMap:
    """Return the map of one prototype."""
    return prototype_map(np.zeros((1, dimensions)), [0], np.ones(dimensions), MOST_PROTOTYPES)


def fresh_race_memory(width: int, dimensions: int, actions: int, kept: int, cap: int) -> RaceMemory:
    """Return the memory before the first trial.

    >>> fresh_race_memory(2, 2, actions=3, kept=10, cap=200).tree.child.shape
    (4096, 3)
    """
    sizes = {
        ROOM: max(4096, 4 * cap),
        "width": width,
        "dimensions": dimensions,
        "actions": actions,
        "kept": kept,
        "cap": cap + 1,
    }
    given: dict[str, Any] = {name: fresh_map(dimensions) for name in MAPS}
    tables = {"tree": Tree, "model": Model, "starts": Starts, "scratch": Scratch}
    given |= {name: fresh_arrays(kind, {}, **sizes) for name, kind in tables.items()}
    memory: RaceMemory = fresh_arrays(RaceMemory, given, **sizes)
    status = memory.status
    for name in ("baseline", "reward", "success", "best"):
        status[name] = -np.inf
    status["least"], status["far"], status["root"] = np.inf, -1.0, NONE
    return memory


def with_nodes(memory: RaceMemory, nodes: int) -> RaceMemory:
    """Return the memory itself if its tree has room for ``nodes`` more, else a copy with twice the room."""
    tree, used = memory.tree, int(memory.status["nodes"][0])
    if len(tree.gained) >= used + nodes:
        return memory
    sizes = {"width": tree.states.shape[1], "dimensions": tree.seen.shape[1], "actions": tree.child.shape[1]}
    larger = larger_arrays(tree, {}, used, **{ROOM: 2 * (used + nodes)}, **sizes)
    return memory._replace(tree=larger)


def checked_race_memory(memory: RaceMemory, fresh: RaceMemory) -> RaceMemory:
    """Return a memory that came from a file if compiled code can trust it, else raise an error."""
    like, room = fresh.tree, len(memory.tree.gained)
    sizes = {"width": like.states.shape[1], "dimensions": like.seen.shape[1], "actions": like.child.shape[1]}
    check_arrays(memory.tree, **{ROOM: room}, **sizes)
    kept, cap = fresh.model.reward.shape[1], len(fresh.scratch.path)
    check_arrays(memory.model, kept=kept, **sizes)
    check_arrays(memory.starts)
    check_arrays(memory.scratch, cap=cap, **sizes)
    check_arrays(memory)
    for name in MAPS:
        _check_map(getattr(memory, name), getattr(fresh, name), like.child.shape[1])
    _check_places(memory, room, cap)
    _check_numbers(memory, fresh)
    return with_nodes(memory, 8 * cap + 8)


def _check_map(given: PrototypeMap, like: PrototypeMap, actions: int) -> None:
    for array, known in zip((*given.partition, given.actions), (*like.partition, like.actions), strict=True):
        if array.dtype != known.dtype or array.shape != known.shape or not array.flags.c_contiguous:
            raise ValueError("a map has an unexpected shape or type")
    size = int(given.partition.size[0])
    within = (given.actions >= 0) & (given.actions < actions)
    if not 1 <= size <= MOST_PROTOTYPES or not within.all():
        raise ValueError("a map is inconsistent")
    if not (given.partition.primary == np.arange(MOST_PROTOTYPES)).all():
        raise ValueError("a map has merged prototypes")


def _check_places(memory: RaceMemory, room: int, cap: int) -> None:
    status, tree, starts = memory.status[0], memory.tree, memory.starts
    nodes = int(status["nodes"])
    counts = (
        0 <= nodes <= room and 0 <= status["starts"] <= MOST_STARTS and 0 <= status["tests"] <= MOST_TESTS
    )
    if not counts or not CONSTANT <= status["phase"] <= WIDEN:
        raise ValueError("a count is out of range")
    used = int(status["starts"])
    links = (tree.child[:nodes], tree.parent[:nodes], starts.roots[:used], status["root"])
    tests = starts.tests[: int(status["tests"])]
    if not all((np.asarray(x) >= NONE).all() and (np.asarray(x) < nodes).all() for x in (*links, tests)):
        raise ValueError("a node does not exist")
    beyond = starts.roots[used:]  # not yet, or no longer, in the race
    if (beyond < 0).any() or (beyond >= max(nodes, 1)).any():
        raise ValueError("a node does not exist")
    if (starts.roots[:used] < 0).any() or (tests < 0).any() or not _is_tree(tree, nodes, cap):
        raise ValueError("the tree is inconsistent")
    if not 0 <= status["place"] <= MOST_STARTS:
        raise ValueError("a count is out of range")
    _check_phase(status)
    ordered = starts.order
    if (ordered < 0).any() or (ordered >= MOST_STARTS).any() or (memory.model.times < 0).any():
        raise ValueError("a count is out of range")


def _check_phase(status: Any) -> None:
    """Reject a search without a root, and a race without a start or without room for another."""
    phase, starts = status["phase"], status["starts"]
    lost = status["root"] == NONE if phase in (CONSTANT, SEARCH) else status["place"] >= MOST_STARTS
    least, most = (1 if phase in (RACE, WIDEN) else 0), MOST_STARTS - (phase == WIDEN)
    if (status["pending"] and lost) or not least <= starts <= most:
        raise ValueError("the race is inconsistent")


def _check_numbers(memory: RaceMemory, fresh: RaceMemory) -> None:
    """Reject out-of-range counters, with which loops might never end."""
    if memory.facts.tobytes() != fresh.facts.tobytes():
        raise ValueError("the facts of the task are not those of this run")
    for name, value in zip(STATUS.names or (), memory.status[0], strict=True):
        if not NONE <= value <= MOST if STATUS[name].kind == "i" else np.isnan(value):
            raise ValueError(f"{name} is out of range")


def _is_tree(tree: Tree, nodes: int, cap: int) -> bool:
    """Whether every child is one step deeper than its parent, so that walks down and up end."""
    parent, depth = tree.parent[:nodes], tree.depth[:nodes]
    inner = parent >= 0
    deeper = depth[inner] == depth[parent[inner]] + 1
    child = tree.child[:nodes]
    known = child >= 0
    rows = np.repeat(np.arange(nodes), child.shape[1])[known.ravel()]
    back = parent[child[known]] == rows
    return bool(deeper.all() and back.all() and (depth[~inner] == 0).all() and (depth < cap).all())


# Every constant of the learner ``probation``; docs/robustness.md has their effects.


MOST_PROTOTYPES = 16  #: that a map has room for
MOST_STARTS = 32  #: that a race has room for


class ProbationSettings(NamedTuple):
    """The constants of search, race and proposals.

    >>> ProbationSettings().starts
    1
    """

    starts: Annotated[int, Field(ge=1, le=8, description="starts that a race begins with")] = 1
    most_starts: Annotated[
        int, Field(ge=1, le=MOST_STARTS, description="starts of a race at most; the easiest leave")
    ] = 12
    counterexamples: Annotated[
        int, Field(ge=0, le=8, description="starts of a failed confirmation that join the race")
    ] = 2
    margin: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="how far above the threshold a map is claimed at once, in ranges from a constant action",
        ),
    ] = 0.02
    regions: Annotated[int, Field(ge=1, le=MOST_PROTOTYPES, description="prototypes of a map at most")] = 12
    stall: Annotated[
        int,
        Field(ge=1, le=10**6, description="proposals without a gain before the race ends, in Luby's units"),
    ] = 30
    effort: Annotated[
        float, Field(ge=0, le=100, description="steps of a search at least, in trials of full length")
    ] = 2.0
    gain: Annotated[
        float, Field(ge=0, le=1, description="share by which a return must beat the constant actions")
    ] = 0.1
    furthest: Annotated[
        float, Field(ge=0, le=1, description="share of the search that varies the map that went furthest")
    ] = 0.5
    several: Annotated[float, Field(ge=0, le=0.9, description="chance of one more change in a proposal")] = (
        0.3
    )
    jump: Annotated[float, Field(ge=0, le=1, description="share of moves that go to a visited state")] = 0.5
    step: Annotated[float, Field(gt=0, le=1, description="length of the other moves, in extents")] = 0.1
    stretch: Annotated[float, Field(ge=0, le=5, description="log-normal factor of a changed weight")] = 0.5
    screen: Annotated[
        int, Field(ge=1, le=100, description="proposals that are imagined for one that is tried; 1 for none")
    ] = 20
    plain: Annotated[float, Field(ge=0, le=1, description="share of proposals tried without imagining")] = 0.2
    model: Annotated[
        int, Field(ge=1, le=10**5, description="latest transitions of each action that imagining rests on")
    ] = 1_000
    regret: Annotated[
        float, Field(ge=0, le=1, description="share of additions where imagined regret is greatest")
    ] = 0.0
    surprise: Annotated[
        float,
        Field(ge=0, le=1, description="share of additions where the value differs most from its region's"),
    ] = 0.0
    shrink: Annotated[
        int,
        Field(ge=0, le=100, description="tries per prototype to do without one, before success is claimed"),
    ] = 3
    near: Annotated[
        float, Field(ge=0, le=1, description="how near to the threshold a stalled race takes more starts")
    ] = 0.15
    more_starts: Annotated[
        int, Field(ge=1, le=MOST_STARTS, description="starts up to which a stalled race is widened")
    ] = 8
    reuse: Annotated[
        bool, Field(description="go on from the first decision that was never tried, else from the start")
    ] = True
    give_up: Annotated[bool, Field(description="end a trial that can no longer reach the present map's")] = (
        True
    )
    horizon: Annotated[
        int, Field(ge=1, le=10**6, description="steps of a trial at most, where the task has no limit")
    ] = 1_000


# Trials as a tree: a decision that was tried from a state before is not tried again.
#
# Known transitions are looked up. From the first decision that was never tried, the trial is run: from that state
# if the task can restore it, else by replaying the actions from the start, which costs these steps again.


@part
def new_node(agent: Agent, s: np.ndarray, gained: float, depth: int, parent: int) -> int:
    """Add a state to the tree."""
    tree, status = agent.memory.tree, agent.memory.status
    k = status["nodes"][0]
    status["nodes"][0] = k + 1
    seen = look(agent.world, s, BEFORE).seen
    for i in range(len(s)):
        tree.states[k, i] = s[i]
    for i in range(len(seen)):
        tree.seen[k, i] = seen[i]
    tree.gained[k], tree.depth[k], tree.parent[k], tree.end[k] = gained, depth, parent, RUNNING_ON
    for a in range(tree.child.shape[1]):
        tree.child[k, a] = NONE
    widen(agent.progress, seen)
    return k


@part
def new_root(agent: Agent) -> int:
    """Add the start of a new trial."""
    s = agent.world.spare[NEXT]
    begin(agent.world, agent.rng, s)
    return new_node(agent, s, 0.0, 0, NONE)


@part
def grow(agent: Agent, k: int, s: np.ndarray, a: int) -> int:
    """Take an action from ``s``, the state of node ``k``, and update ``s``; return the new node."""
    tree, memory = agent.memory.tree, agent.memory
    r, terminal = step(agent.world, s, a, s)
    if memory.facts["hold"][0]:
        r = 1.0
    memory.status["reward"][0] = max(memory.status["reward"][0], r)
    j = new_node(agent, s, tree.gained[k] + r, tree.depth[k] + 1, k)
    if terminal:
        tree.end[j] = ENDED
    elif stops(agent.world, s):
        tree.end[j] = STOPPED
    tree.child[k, a] = j
    remember_transition(agent, k, a, j)
    return j


@part
def return_to(agent: Agent, root: int, k: int, s: np.ndarray) -> int:
    """Restore node ``k`` and write its state to ``s``; return the steps that this took."""
    tree, path = agent.memory.tree, agent.memory.scratch.path
    if agent.memory.facts["returns"][0] or k == root:
        copy_row(tree.states[k], s)
        return 0
    steps = tree.depth[k]
    at = k
    for place in range(steps - 1, -1, -1):
        above = tree.parent[at]
        for a in range(tree.child.shape[1]):
            if tree.child[above, a] == at:
                path[place] = a
        at = above
    copy_row(tree.states[root], s)
    for place in range(steps):
        step(agent.world, s, path[place], s)
    return steps


@part
def can_reach(agent: Agent, k: int, cap: int, need: float) -> bool:
    """Whether a trial at node ``k`` may still reach the return that is needed."""
    tree, reward = agent.memory.tree, agent.memory.status["reward"][0]
    hope = reward * (cap - tree.depth[k]) if reward > 0.0 else 0.0
    return tree.gained[k] + hope >= need


@part
def goes_on(agent: Agent, k: int, cap: int, need: float) -> bool:
    """Whether a trial at node ``k`` goes on: it has not ended and need not be given up."""
    tree = agent.memory.tree
    return tree.end[k] == RUNNING_ON and tree.depth[k] < cap and can_reach(agent, k, cap, need)


@part
def run_trial(
    agent: Agent, given: PrototypeMap, root: int, cap: int, need: float, left: int = NO_BUDGET
) -> tuple[int, int]:
    """Run a trial of a map from a root until it ends or can no longer gain ``need``; return its last node and its
    steps.

    It is cut before it takes more steps than are ``left``; it could then go on from its last node.
    """
    tree, facts = agent.memory.tree, agent.memory.facts
    known = agent.settings.reuse and facts["repeats"][0]
    k, steps, alive = root, 0, False
    s = agent.world.spare[OWN]
    while goes_on(agent, k, cap, need):
        a = action_of(given, tree.seen[k])
        j = tree.child[k, a]
        if j == NONE or not known:
            again = 0 if alive or facts["returns"][0] else tree.depth[k]
            if steps + again + 1 > left:
                break
            if not alive:
                steps += return_to(agent, root, k, s)
                alive = True
            j = grow(agent, k, s, a)
            steps += 1
        k = j
    return k, steps


@part
def has_ended(agent: Agent, k: int, cap: int) -> bool:
    """Whether a trial with the last node ``k`` ended and was not given up."""
    tree = agent.memory.tree
    return tree.end[k] != RUNNING_ON or tree.depth[k] >= cap


@part
def reach_of(agent: Agent, given: PrototypeMap, root: int, last: int) -> float:
    """How far a trial went: the summed extents of its observations, relative to those of all trials so far."""
    tree, extent = agent.memory.tree, agent.progress.extent
    total = 0.0
    for i in range(tree.seen.shape[1]):
        width = extent[GREATEST, i] - extent[LEAST, i]
        k = last
        low, high = tree.seen[k, i], tree.seen[k, i]
        while k != root:
            k = tree.parent[k]
            low, high = min(low, tree.seen[k, i]), max(high, tree.seen[k, i])
        if width > 0.0:
            total += agent.memory.scratch.share[i] * (high - low) / width
    return total


# Imagined trials: every step changes the observation as the most similar step so far did.
#
# They take no steps, and nothing is kept because of them: they only choose which proposal is worth trying.


NARROW = 1e-12  #: an extent below this counts as none


@part
def remember_transition(agent: Agent, k: int, a: int, j: int) -> None:
    """Remember the transition from node ``k`` to ``j`` in place of the oldest by the same action."""
    tree, model = agent.memory.tree, agent.memory.model
    place = model.times[a] % model.reward.shape[1]
    model.times[a] += 1
    for i in range(tree.seen.shape[1]):
        model.seen[a, place, i] = tree.seen[k, i]
        model.change[a, place, i] = tree.seen[j, i] - tree.seen[k, i]
    model.reward[a, place] = tree.gained[j] - tree.gained[k]
    model.end[a, place] = tree.end[j] == ENDED


@part
def most_similar(model: Model, scratch: Scratch, a: int) -> int:
    """Return the remembered transition by action ``a`` that began nearest to the imagined point."""
    best, place, count = 1e300, NONE, len(scratch.point)
    for q in range(min(model.times[a], model.reward.shape[1])):
        distance, i = 0.0, 0
        while i < count and distance < best:  # a sum of squares only grows
            d = (scratch.point[i] - model.seen[a, q, i]) * scratch.weight[i]
            distance += d * d
            i += 1
        if distance < best:
            best, place = distance, q
    return place


@part
def set_weights(agent: Agent) -> None:
    """Weigh coordinates by the extent that was seen so far."""
    extent, scratch = agent.progress.extent, agent.memory.scratch
    for i in range(len(scratch.weight)):
        scratch.weight[i] = scratch.share[i] / max(extent[GREATEST, i] - extent[LEAST, i], NARROW)


@part
def imagined_return(agent: Agent, given: PrototypeMap, k: int, cap: int, first: int, need: float) -> float:
    """Imagine the trial of a map from node ``k``, where it takes the action ``first`` if there is one.

    It is given up when it can no longer gain ``need``.
    """
    tree, model, point = agent.memory.tree, agent.memory.model, agent.memory.scratch.point
    while (
        first == NONE and tree.end[k] == RUNNING_ON and tree.depth[k] < cap
    ):  # known transitions need no guess
        j = tree.child[k, action_of(given, tree.seen[k])]
        if j == NONE:
            break
        k = j
    gained, depth = tree.gained[k], tree.depth[k]
    if tree.end[k] != RUNNING_ON:
        return gained
    for i in range(len(point)):
        point[i] = tree.seen[k, i]
    a = first
    reward = max(agent.memory.status["reward"][0], 0.0)
    while depth < cap and gained + reward * (cap - depth) >= need:
        if a == NONE:
            a = action_of(given, point)
        place = most_similar(model, agent.memory.scratch, a)
        if place == NONE:
            return gained
        for i in range(len(point)):
            point[i] += model.change[a, place, i]
        gained += model.reward[a, place]
        depth += 1
        if model.end[a, place]:
            return gained
        a = NONE
    return gained
