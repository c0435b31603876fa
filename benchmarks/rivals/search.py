"""Rivals that search for a policy directly, as ours does: random small maps, and decision trees that evolve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from benchmarks.rivals.referee import Referee, Size
from benchmarks.rivals.world import World

REMEMBERED = 5_000  #: states that were visited, from which prototypes and cuts are drawn


class Visited:
    """A world that remembers the states visited last."""

    def __init__(self, task: str, seed: int) -> None:
        self.world = World(task, [seed, 0])
        self.states = np.empty((REMEMBERED, self.world.dimensions))
        self.count = 0
        self.look(self.world.reset())

    def look(self, seen: np.ndarray) -> None:
        self.states[self.count % REMEMBERED] = seen
        self.count += 1

    def known(self) -> np.ndarray:
        return self.states[: min(self.count, REMEMBERED)]

    def draw(self) -> np.ndarray:
        return self.known()[self.world.rng.integers(len(self.known()))].copy()

    def trial(self, policy: Any) -> float:
        def watched(seen: np.ndarray) -> int:
            self.look(seen)
            return policy(seen)

        return self.world.trial(watched)


# ---- random search over prototypes -------------------------------------------------------------------------


class SmallMap(NamedTuple):
    """Prototypes, the weights of the distance, and an action for each."""

    prototypes: np.ndarray
    weights: np.ndarray
    actions: np.ndarray

    def __call__(self, seen: np.ndarray) -> int:
        return int(self.actions[(((self.prototypes - seen) * self.weights) ** 2).sum(axis=1).argmin()])


def random_map(visited: Visited) -> SmallMap:
    """Draw two to four visited states, an action for each, and scale by the extent visited so far."""
    rng, count = visited.world.rng, int(visited.world.rng.integers(2, 5))
    width = np.ptp(visited.known(), axis=0)
    weights = np.where(width > 0, 1.0 / np.where(width > 0, width, 1.0), 0.0)
    prototypes = np.array([visited.draw() for _ in range(count)])
    return SmallMap(prototypes, weights, rng.integers(visited.world.actions, size=count))


def random_search(task: str, seed: int, budget: int) -> dict[str, Any]:
    """Try random maps, one trial each; one as good as the best so far gets two more, and their mean is its score."""
    referee, visited = Referee(task, seed, budget), Visited(task, seed)
    best, score = None, -np.inf
    while not referee.over:
        tried, returns = random_map(visited), []
        while not referee.over and (not returns or (len(returns) < 3 and np.mean(returns) >= score)):
            returns.append(visited.trial(tried))
            if len(returns) == 3 and np.mean(returns) >= score:
                best, score = tried, float(np.mean(returns))
            look = referee.after_trial(visited.world.steps, returns[-1], lambda: best)  # noqa: B023
            score = look.mean if look else score
    return referee.outcome("random search", Size(len(best.actions) if best else 0, "prototypes"))


# ---- an evolutionary tree ----------------------------------------------------------------------------------

PARENTS, CHILDREN, DEPTH = 8, 8, 4


class Cut(NamedTuple):
    """A node: below the threshold to the left, else to the right; a leaf is the number of an action."""

    feature: int
    threshold: float
    left: Cut | int
    right: Cut | int


class Tree:
    """A decision tree as a policy, and what it gained so far."""

    def __init__(self, root: Cut | int) -> None:
        self.root, self.returns = root, []

    def __call__(self, seen: np.ndarray) -> int:
        node = self.root
        while isinstance(node, Cut):
            node = node.left if seen[node.feature] < node.threshold else node.right
        return node

    @property
    def score(self) -> float:
        return float(np.mean(self.returns))


def leaves(node: Cut | int) -> int:
    return leaves(node.left) + leaves(node.right) if isinstance(node, Cut) else 1


def grown(visited: Visited, depth: int) -> Cut | int:
    """Return a random tree of at most this depth, that cuts where states were visited."""
    rng = visited.world.rng
    if depth == 0 or rng.random() < 0.2:
        return int(rng.integers(visited.world.actions))
    feature = int(rng.integers(visited.world.dimensions))
    threshold = float(visited.draw()[feature])
    return Cut(feature, threshold, grown(visited, depth - 1), grown(visited, depth - 1))


def mutated(node: Cut | int, visited: Visited, depth: int) -> Cut | int:
    """Change one place of a tree: its cut, its action, or the whole branch."""
    rng = visited.world.rng
    if not isinstance(node, Cut) or rng.random() < 0.15:
        return grown(visited, min(depth, 2))
    what = rng.random()
    if what < 0.3:
        width = np.ptp(visited.known()[:, node.feature])
        return node._replace(threshold=node.threshold + float(rng.normal(0.0, 0.1 * width)))
    if what < 0.4:
        feature = int(rng.integers(visited.world.dimensions))
        return node._replace(feature=feature, threshold=float(visited.draw()[feature]))
    if what < 0.7:
        return node._replace(left=mutated(node.left, visited, depth - 1))
    return node._replace(right=mutated(node.right, visited, depth - 1))


def evolution(task: str, seed: int, budget: int) -> dict[str, Any]:
    """Evolve trees: the best eight and their eight children get a trial each, and are judged by their mean."""
    referee, visited = Referee(task, seed, budget), Visited(task, seed)
    rng = visited.world.rng
    trees = [Tree(grown(visited, 2)) for _ in range(PARENTS)]
    while not referee.over:
        parents = [min(rng.integers(len(trees), size=2)) for _ in range(CHILDREN)]
        trees += [Tree(mutated(trees[k].root, visited, DEPTH)) for k in parents]
        for tree in trees:
            if not referee.over:
                tree.returns.append(visited.trial(tree))
                scored = [t for t in trees if t.returns]
                best = max(scored, key=lambda t: t.score)
                look = referee.after_trial(visited.world.steps, tree.returns[-1], lambda: best)  # noqa: B023
                if look:
                    best.returns += [look.mean] * 5  # a test says more than a trial
        trees = sorted((t for t in trees if t.returns), key=lambda t: -t.score)[:PARENTS]
    chosen = referee.policy if referee.passed else trees[0]
    return referee.outcome("evolutionary tree", Size(leaves(chosen.root), "leaves"))
