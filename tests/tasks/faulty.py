"""Small environments, most of them with something wrong."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete


class Walk(gymnasium.Env[Any, int]):
    """A walk with momentum from a random place; nothing is wrong with it. Its speed is hidden."""

    def __init__(self) -> None:
        self.observation_space: Any = Box(-np.inf, np.inf, shape=(1,), dtype=np.float64)
        self.action_space: Any = Discrete(2)
        self.simulation = {"place": 0.0, "speed": 0.0, "steps": 0.0}

    def observation(self) -> Any:
        return np.array([self.simulation["place"]])

    def beginning(self) -> float:
        return float(self.np_random.uniform(-1, 1))

    def noise(self) -> float:
        return 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.simulation.update(place=self.beginning(), speed=0.0, steps=0.0)
        return self.observation(), {}

    def step(self, action: int) -> Any:
        simulation = self.simulation
        simulation["speed"] += 0.1 if action == 1 else -0.1
        simulation["speed"] += self.noise()
        simulation["place"] += simulation["speed"]
        simulation["steps"] += 1
        return self.observation(), -abs(simulation["place"]), abs(simulation["place"]) > 5, False, {}


class TakesOptions(Walk):
    """Sees its speed, and can be put anywhere."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, shape=(2,), dtype=np.float64)
        self.obedient = True

    def observation(self) -> Any:
        return np.array([self.simulation["place"], self.simulation["speed"]])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        if options and self.obedient:
            self.simulation["place"], self.simulation["speed"] = options["state"].tolist()
        return self.observation(), {}


class HalfOptions(Walk):
    """Takes the place from the options, but not the speed, which cannot be seen."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        if options:
            self.simulation["place"] = float(options["state"][0])
        return self.observation(), {}


class NoCopy(Walk):
    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("cannot copy a simulation")


class Sharing(Walk):
    """Its copies share the simulation."""

    def __deepcopy__(self, memo: Any) -> Any:
        return copy.copy(self)


class SetsState(NoCopy):
    def get_state(self) -> Any:
        return self.simulation  # not a copy: it will change

    def set_state(self, state: Any) -> None:
        self.simulation = state


class ClonesState(NoCopy):
    def clone_state(self) -> Any:
        return dict(self.simulation)

    def restore_state(self, state: Any) -> None:
        self.simulation.update(state)


class IdleSetState(NoCopy):
    def get_state(self) -> Any:
        return dict(self.simulation)

    def set_state(self, state: Any) -> None:
        """Do nothing."""


class HalfSetState(SetsState):
    def set_state(self, state: Any) -> None:
        self.simulation["place"] = state["place"]


class GlobalNoise(Walk):
    """Draws from a generator that belongs to nobody."""

    def noise(self) -> float:
        return random.uniform(-0.1, 0.1)


class GlobalBeginning(Walk):
    """Begins where no seed says, but then goes its way."""

    def beginning(self) -> float:
        return random.uniform(-1, 1)


class Gusts(Walk):
    """Draws from its own generator at every step."""

    def noise(self) -> float:
        return float(self.np_random.uniform(-0.1, 0.1))


class SetsStateInGusts(Gusts, SetsState):
    """The state that it gives lacks its noise."""


class RareGusts(Gusts):
    def noise(self) -> float:
        return 0.1 if self.np_random.random() < 0.01 else 0.0


class IdleDraws(Gusts):
    """Draws, but to no effect."""

    def noise(self) -> float:
        self.np_random.random()
        return 0.0


class Rebel(NoCopy):
    """Deterministic until it is told to rebel."""

    rebels = False

    def noise(self) -> float:
        return random.uniform(-0.1, 0.1) if self.rebels else 0.0


class Faulty(Walk):
    """Does something wrong at one step of every trial: ``spoil`` makes it of the right answer."""

    def __init__(self, spoil: Callable[[Any], Any], at: int = 3) -> None:
        super().__init__()
        self.spoil, self.at = spoil, at

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        answer = super().reset(seed=seed)
        return self.spoil(answer) if self.at == 0 else answer

    def step(self, action: int) -> Any:
        answer = super().step(action)
        return self.spoil(answer) if self.simulation["steps"] == self.at else answer


class Server:
    """A simulation outside of the environments that use it, as a physics server is."""

    alive: ClassVar[dict[int, dict[str, float]]] = {}

    @classmethod
    def connect(cls) -> int:
        number = len(cls.alive)
        cls.alive[number] = {"place": 0.0, "speed": 0.0, "steps": 0.0}
        return number

    @classmethod
    def at(cls, number: int) -> Any:
        simulation = cls.alive[number]
        if not simulation:
            raise RuntimeError("not connected to the physics server")
        return simulation


class Remote(Walk):
    """Its simulation is on a server; a copy has the same number, and so the same simulation."""

    def __init__(self) -> None:
        super().__init__()
        del self.simulation
        self.client = Server.connect()

    def __getattr__(self, name: str) -> Any:
        if name == "simulation":
            return Server.at(self.client)
        raise AttributeError(name)


class Disconnecting(Remote):
    """Ends the simulation when it is dropped, and so does each copy."""

    def __del__(self) -> None:
        Server.alive[self.client] = {}


class DisconnectingAll(Remote):
    """Ends all simulations when it is dropped."""

    def __del__(self) -> None:
        for number in Server.alive:
            Server.alive[number] = {}


class Closure(Walk):
    """Draws by a function that belongs to the original: in a copy, too."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = lambda: float(self.np_random.uniform(-0.1, 0.1))

    def noise(self) -> float:
        return self.drawn()


class Handles(Walk):
    """A copy works, but counts as code of its own."""

    copied = 0

    def __deepcopy__(self, memo: Any) -> Any:
        type(self).copied += 1
        new = type(self)()
        new.simulation = dict(self.simulation)
        new.np_random = copy.deepcopy(self.np_random)
        return new


class Forgetful(SetsState):
    """Gives and takes its state, until it is told to forget."""

    forgets = False

    def set_state(self, state: Any) -> None:
        if not self.forgets:
            super().set_state(state)
