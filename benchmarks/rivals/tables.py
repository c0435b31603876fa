"""Rivals that learn values in a table: a grid with Q-learning, and tile-coded SARSA(λ) as in Sutton and Barto."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from benchmarks.rivals.referee import Referee, Size
from benchmarks.rivals.world import World, coordinates

DEGREE = math.pi / 180.0


# ---- grids with Q-learning ---------------------------------------------------------------------------------


def evenly(low: float, high: float, parts: int) -> np.ndarray:
    return np.linspace(low, high, parts + 1)[1:-1]


#: Where each coordinate is cut. CartPole's 162 boxes are those of Barto, Sutton and Anderson (1983).
GRIDS = {
    "CartPole-v1": [
        np.array([-0.8, 0.8]),
        np.array([-0.5, 0.5]),
        np.array([-6.0, -1.0, 0.0, 1.0, 6.0]) * DEGREE,
        np.array([-50.0, 50.0]) * DEGREE,
    ],
    "MountainCar-v0": [evenly(-1.2, 0.6, 20), evenly(-0.07, 0.07, 20)],
    "Acrobot-v1": [evenly(-math.pi, math.pi, 6)] * 2 + [evenly(-6.0, 6.0, 5), evenly(-9.0, 9.0, 5)],
}
ALPHA, GAMMA = 0.2, 0.99


def hopeful(task: str, gamma: float) -> float:
    """Return the most that can be gained: values begin there, so that all actions are tried.

    A pole that never falls gains 1 at every step; elsewhere every step costs 1, so nothing is the most.
    """
    return 1.0 / (1.0 - gamma) if task == "CartPole-v1" else 0.0


class Grid:
    """A box for every combination of intervals."""

    def __init__(self, task: str, actions: int) -> None:
        self.cuts = GRIDS[task]
        self.shape = [len(c) + 1 for c in self.cuts]
        self.q = np.full((math.prod(self.shape), actions), hopeful(task, GAMMA))

    def box(self, seen: np.ndarray) -> int:
        place = 0
        for value, cuts, count in zip(coordinates(seen), self.cuts, self.shape, strict=True):
            place = place * count + int(cuts.searchsorted(value))
        return place

    def policy(self) -> Any:
        q = self.q.copy()
        return lambda seen: int(q[self.box(seen)].argmax())


def grid_trial(grid: Grid, world: World) -> float:
    """Run a trial of Q-learning."""
    k, over, gained = grid.box(world.reset()), False, 0.0
    while not over:
        a = int(grid.q[k].argmax())
        seen, reward, terminal, over = world.step(a)
        following = grid.box(seen)
        target = reward + (0.0 if terminal else GAMMA * grid.q[following].max())
        grid.q[k, a] += ALPHA * (target - grid.q[k, a])
        k, gained = following, gained + reward
    return gained


def grid(task: str, seed: int, budget: int) -> dict[str, Any]:
    """Learn with Q-learning on a grid."""
    referee, world = Referee(task, seed, budget), World(task, [seed, 0])
    table = Grid(task, world.actions)
    while not referee.over:
        gained = grid_trial(table, world)
        referee.after_trial(world.steps, gained, table.policy)
    return referee.outcome("grid, Q-learning", Size(len(table.q), "boxes"))


# ---- tile-coded SARSA(λ) -----------------------------------------------------------------------------------


class TileSettings(NamedTuple):
    """The tilings, and the constants of SARSA."""

    low: list[float]
    high: list[float]
    tiles: int  #: along each dimension
    tilings: int
    alpha: float  #: over the number of tilings
    gamma: float


#: MountainCar: ten tilings of 8 x 8, and no exploration but by optimism, as in Sutton and Barto.
TILES = {
    "CartPole-v1": TileSettings([-2.4, -3.0, -0.21, -3.5], [2.4, 3.0, 0.21, 3.5], 6, 16, 0.5, 0.99),
    "MountainCar-v0": TileSettings([-1.2, -0.07], [0.6, 0.07], 8, 10, 0.5, 1.0),
    "Acrobot-v1": TileSettings(
        [-math.pi, -math.pi, -8.0, -14.0], [math.pi, math.pi, 8.0, 14.0], 6, 16, 0.2, 1.0
    ),
}
LAMBDA = 0.9
TRACE = 44  #: steps after which a trace has faded to a hundredth


class Tiles:
    """Weights of tiles; the tilings are displaced by 1, 3, 5, … units in the dimensions."""

    def __init__(self, task: str, actions: int) -> None:
        settings = self.settings = TILES[task]
        d = len(settings.low)
        self.low = np.array(settings.low)
        self.scale = settings.tiles / (np.array(settings.high) - self.low)
        steps = np.arange(settings.tilings)[:, None] * (2 * np.arange(d) + 1)
        self.offsets = (steps % settings.tilings) / settings.tilings
        side = settings.tiles + 1
        self.powers = side ** np.arange(d)
        self.bases = np.arange(settings.tilings) * side**d
        first = hopeful(task, settings.gamma) / settings.tilings
        self.w = np.full((actions, settings.tilings * side**d), first)

    def active(self, seen: np.ndarray) -> np.ndarray:
        """Return the tile of each tiling."""
        place = np.clip((coordinates(seen) - self.low) * self.scale, 0.0, self.settings.tiles - 1e-9)
        return self.bases + (place + self.offsets).astype(np.int64) @ self.powers

    def greedy(self, tiles: np.ndarray) -> int:
        return int(self.w[:, tiles].sum(axis=1).argmax())

    def policy(self) -> Any:
        w = self.w.copy()
        return lambda seen: int(w[:, self.active(seen)].sum(axis=1).argmax())


def sarsa_trial(tiles: Tiles, world: World) -> float:
    """Run a trial of SARSA(λ) with replacing traces, of the last steps only."""
    settings, flat = tiles.settings, tiles.w.reshape(-1)
    decays = np.repeat((settings.gamma * LAMBDA) ** np.arange(TRACE)[::-1], settings.tilings)
    trace, recent = np.zeros(flat.size), np.empty(0, dtype=np.int64)
    active, over, gained = tiles.active(world.reset()), False, 0.0
    a = tiles.greedy(active)
    while not over:
        seen, reward, terminal, over = world.step(a)
        following = tiles.active(seen)
        a_next = tiles.greedy(following)
        target = reward + (0.0 if terminal else settings.gamma * tiles.w[a_next, following].sum())
        delta = target - tiles.w[a, active].sum()
        recent = np.append(recent, a * tiles.w.shape[1] + active)[-len(decays) :]
        trace[recent] = decays[-len(recent) :]  # of a tile that is met again, the latest counts
        flat[recent] += settings.alpha / settings.tilings * delta * trace[recent]
        active, a, gained = following, a_next, gained + reward
    return gained


def sarsa(task: str, seed: int, budget: int) -> dict[str, Any]:
    """Learn with tile-coded SARSA(λ)."""
    referee, world = Referee(task, seed, budget), World(task, [seed, 0])
    tiles = Tiles(task, world.actions)
    while not referee.over:
        gained = sarsa_trial(tiles, world)
        referee.after_trial(world.steps, gained, tiles.policy)
    return referee.outcome("tiles, SARSA(λ)", Size(tiles.w.size, "weights"))
