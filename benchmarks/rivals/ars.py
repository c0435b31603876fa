"""Augmented random search (Mania, Guy and Recht, 2018), with the settings that the RL Zoo publishes (ars.yml)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from benchmarks.rivals.referee import Referee, Size
from benchmarks.rivals.world import Policy, World


class ArsSettings(NamedTuple):
    """The defaults are those of sb3-contrib, where the RL Zoo says nothing."""

    hidden: int = 0  #: units of the hidden layer; 0 for a linear policy, which begins with zeros
    directions: int = 8
    top: int = 8
    rate: float = 0.02
    spread: float = 0.05
    normalise: bool = False


#: hyperparams/ars.yml of DLR-RM/rl-baselines3-zoo.
ARS = {
    "CartPole-v1": ArsSettings(directions=2, top=2),
    "MountainCar-v0": ArsSettings(16, directions=8, top=1, rate=0.018, spread=0.1, normalise=True),
    "Acrobot-v1": ArsSettings(16, directions=4, top=1, rate=0.018, spread=0.1, normalise=True),
}


class Normaliser:
    """The mean and deviation of what was observed so far (Welford's method)."""

    def __init__(self, dimensions: int, used: bool) -> None:
        self.used, self.count = used, 0
        self.mean, self.squares = np.zeros(dimensions), np.zeros(dimensions)

    def look(self, seen: np.ndarray) -> None:
        self.count += 1
        away = seen - self.mean
        self.mean = self.mean + away / self.count
        self.squares = self.squares + away * (seen - self.mean)

    def __call__(self, seen: np.ndarray) -> np.ndarray:
        if not self.used or self.count < 2:
            return seen
        return np.clip((seen - self.mean) / np.sqrt(self.squares / self.count + 1e-8), -10.0, 10.0)


class Network:
    """A linear policy without bias, or one with a hidden layer of rectified units, as a vector of weights."""

    def __init__(self, world: World, hidden: int) -> None:
        self.inputs, self.hidden, self.outputs = world.dimensions, hidden, world.actions

    def first(self, rng: np.random.Generator) -> np.ndarray:
        if not self.hidden:
            return np.zeros(self.inputs * self.outputs)
        counts = [(self.inputs + 1) * self.hidden, (self.hidden + 1) * self.outputs]
        bounds = [self.inputs**-0.5, self.hidden**-0.5]
        return np.concatenate([rng.uniform(-b, b, n) for n, b in zip(counts, bounds, strict=True)])

    def policy(self, weights: np.ndarray, normalised: Normaliser) -> Policy:
        """Return the greedy policy of some weights."""
        if not self.hidden:
            matrix = weights.reshape(self.outputs, self.inputs)
            return lambda seen: int((matrix @ normalised(seen)).argmax())
        cut = (self.inputs + 1) * self.hidden
        first = weights[:cut].reshape(self.hidden, self.inputs + 1)
        second = weights[cut:].reshape(self.outputs, self.hidden + 1)

        def act(seen: np.ndarray) -> int:
            middle = np.maximum(first[:, :-1] @ normalised(seen) + first[:, -1], 0.0)
            return int((second[:, :-1] @ middle + second[:, -1]).argmax())

        return act


def ars(task: str, seed: int, budget: int) -> dict[str, Any]:
    """Learn with augmented random search."""
    settings, referee, world = ARS[task], Referee(task, seed, budget), World(task, [seed, 0])
    network, normaliser = Network(world, settings.hidden), Normaliser(world.dimensions, settings.normalise)
    weights = network.first(world.rng)

    def gain(candidate: np.ndarray) -> float:
        """Run a trial of changed weights; what is put to the test are the unchanged ones."""
        acts = network.policy(candidate, normaliser)

        def watched(seen: np.ndarray) -> int:
            normaliser.look(seen)
            return acts(seen)

        gained = world.trial(watched)
        referee.after_trial(world.steps, gained, lambda: network.policy(weights, normaliser))
        return gained

    while not referee.over:
        deltas = world.rng.normal(size=(settings.directions, len(weights)))
        returns = np.full((settings.directions, 2), np.nan)
        for k, delta in enumerate(deltas):
            for side, sign in enumerate((1.0, -1.0)):
                if not referee.over:
                    returns[k, side] = gain(weights + sign * settings.spread * delta)
        if not referee.over:
            weights = weights + update(settings, deltas, returns)
    return referee.outcome("ARS", Size(len(weights), "weights"))


def update(settings: ArsSettings, deltas: np.ndarray, returns: np.ndarray) -> np.ndarray:
    """Return the step along the best directions, by the spread of their returns."""
    top = np.argsort(-returns.max(axis=1), kind="stable")[: settings.top]
    rate = settings.rate / (len(top) * returns[top].std() + 1e-6)
    return rate * (returns[top, 0] - returns[top, 1]) @ deltas[top]
