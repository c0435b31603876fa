"""What the learner remembers: maps, the tree of all trials, the latest transitions, and how the race stands."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from distinguo.learners.agent import ROOM, check_arrays, field, fresh_arrays, larger_arrays
from distinguo.learners.probation.settings import MOST_PROTOTYPES, MOST_STARTS
from distinguo.search.maps import PrototypeMap, prototype_map

MOST_TESTS = 2_000  #: trials of a confirmation that are remembered
MOST = 10**15  #: that anything is counted up to
NONE = -1  #: no node
RUNNING_ON, ENDED, STOPPED = 0, 1, 2  #: whether a trial goes on from a node

#: What the learner is doing: trials of constant actions, the search for a first success, the race, more starts.
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
        ("last", np.int64),  # the node that its last trial came to
        ("kinds", np.int64),  # of changes in the pending proposal, a bit for each
        ("changed", np.int64),  # whether the map does otherwise than when it was last confirmed
        ("claimed", np.int64),  # whether it is being confirmed
        ("shrink", np.int64),  # tries that are left to do without a prototype
        ("widened", np.int64),  # starts that are still to be added
        ("total", np.float64),  # what the pending proposal gained so far
        ("present", np.float64),  # what the present map gains on the same starts
        ("squares", np.float64),  # the summed squares of the differences, where chance is at work
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
#: What is known of the task beforehand, as one record.
FACTS = np.dtype(
    [
        ("hold", np.int64),  # judged by length
        ("returns", np.int64),  # any node can be gone on from, else only the start of a trial
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
    path: Annotated[np.ndarray, field(np.int32, "cap")]


class RaceMemory(NamedTuple):
    """Everything."""

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
    """Return the memory itself if its tree has room for so many more nodes, else a copy with twice the room."""
    tree, used = memory.tree, int(memory.status["nodes"][0])
    if len(tree.gained) >= used + nodes:
        return memory
    sizes = {"width": tree.states.shape[1], "dimensions": tree.seen.shape[1], "actions": tree.child.shape[1]}
    larger = larger_arrays(tree, {}, used, **{ROOM: 2 * (used + nodes)}, **sizes)
    return memory._replace(tree=larger)


def checked_race_memory(memory: RaceMemory, fresh: RaceMemory) -> RaceMemory:
    """Return a memory that came from a file if compiled code cannot be led astray by it, else raise."""
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
    beyond = starts.roots[used:]  # not yet, or no longer, of the race
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
    """Refuse a search that has nothing to start from, and a race without a start or without room for another."""
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
    """Whether every child is one step deeper than its parent, so that walks down and up come to an end."""
    parent, depth = tree.parent[:nodes], tree.depth[:nodes]
    inner = parent >= 0
    deeper = depth[inner] == depth[parent[inner]] + 1
    child = tree.child[:nodes]
    known = child >= 0
    rows = np.repeat(np.arange(nodes), child.shape[1])[known.ravel()]
    back = parent[child[known]] == rows
    return bool(deeper.all() and back.all() and (depth[~inner] == 0).all() and (depth < cap).all())
