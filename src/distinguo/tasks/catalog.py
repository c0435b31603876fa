"""The tasks known by name: the puck, the compiled twins of Gymnasium's classic control, and any other id."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.errors import DistinguoError, did_you_mean
from distinguo.settings import checked
from distinguo.tasks.acrobot import Acrobot
from distinguo.tasks.cart_pole import CartPole
from distinguo.tasks.gym.registration import PUCK_ID
from distinguo.tasks.mountain_car import MountainCar
from distinguo.tasks.noise import NoisyActions, NoisyPuck
from distinguo.tasks.pendulum import Pendulum, torques
from distinguo.tasks.puck.analysis import controllable
from distinguo.tasks.puck.puck import EXTREME_SPEED, Puck
from distinguo.tasks.spec import RETURN, TaskSpec

Parameters = Mapping[str, Any]


class Noise(NamedTuple):
    """Chance that can be added to any compiled task."""

    noisy_actions: Annotated[
        float, Field(ge=0, le=1, description="share of the actions that are replaced by random ones")
    ] = 0.0


class ForceNoise(NamedTuple):
    """Chance that can be added to the puck besides."""

    noise: Annotated[
        float, Field(ge=0, le=10, description="standard deviation of the force, as a share of it")
    ] = 0.0


#: What suits tasks that are judged by return, whose rewards and bounds may be anything (docs/readings.md).
BY_RETURN = {
    "learner.epsilon_share": 0.05,
    "learner.optimistic": True,
    "learner.rescale": True,
    "stage.trials": 100_000,
    "stage.steps": 200_000,
    "stage.prototypes": 300,
    "stage.restart": 60,
}
#: What chance asks of the learner: a statistical test for surprise, and, where chance may be strong, repeated
#: look-ahead (docs/readings.md, "Chance").
SOME_CHANCE = {"learner.confidence": 2.0}
CHANCE = {"learner.confidence": 2.0, "learner.samples": 8}


def _puck(parameters: Parameters) -> TaskSpec:
    chance, rest = _taken(Noise, parameters)
    force, rest = _taken(ForceNoise, rest)
    task = checked(Puck, rest, "task")
    low, high = (-task.wall, -EXTREME_SPEED), (task.wall, EXTREME_SPEED)
    hill = TaskSpec("puck", task, ("x", "v"), ("left", "right"), low, high, "length", controllable)
    hill = hill._replace(parameters=task._asdict())
    if force.noise > 0.0:
        noisy = NoisyPuck(*task, noise=force.noise, rng=np.random.default_rng(0))
        parameters = {**hill.parameters, "noise": force.noise}
        hill = hill._replace(task=noisy, controllable=None, suggested=SOME_CHANCE, parameters=parameters)
    return _with_noise(hill, chance)


def _cart_pole(parameters: Parameters) -> TaskSpec:
    low = (-4.8, -math.inf, -24 * math.pi / 180, -math.inf)
    names = ("x", "v", "angle", "angular_v")
    return _twin("CartPole-v1", CartPole, parameters, names, ("left", "right"), low, 475.0, 500)


def _mountain_car(parameters: Parameters) -> TaskSpec:
    twin = _twin(
        "MountainCar-v0",
        MountainCar,
        parameters,
        ("x", "v"),
        ("left", "none", "right"),
        (-1.2, -0.07),
        -110.0,
        200,
    )
    return twin._replace(high=_single((0.6, 0.07)))


def _acrobot(parameters: Parameters) -> TaskSpec:
    names = ("cos1", "sin1", "cos2", "sin2", "v1", "v2")
    low = (-1.0, -1.0, -1.0, -1.0, -4 * math.pi, -9 * math.pi)
    return _twin("Acrobot-v1", Acrobot, parameters, names, ("-1", "0", "+1"), low, -100.0, 500)


def _pendulum(parameters: Parameters) -> TaskSpec:
    low = (-1.0, -1.0, -8.0)
    twin = _twin("Pendulum-v1", Pendulum, parameters, ("cos", "sin", "v"), (), low, None, 200)
    return twin._replace(actions=tuple(f"{torque:+g}" for torque in torques(_inner(twin.task))))


def _twin(
    name: str,
    kind: type,
    parameters: Parameters,
    dimensions: tuple[str, ...],
    actions: tuple[str, ...],
    low: tuple[float, ...],
    threshold: float | None,
    limit: int,
) -> TaskSpec:
    """Describe a compiled twin of a Gymnasium environment, whose observations lie between ``low`` and ``-low``."""
    chance, rest = _taken(Noise, parameters)
    task: Any = checked(kind, rest, "task")
    low = _single(low)
    high = tuple(-v for v in low)
    spec = TaskSpec(name, task, dimensions, actions, low, high, RETURN, None)
    note = f"{name} runs as a compiled twin with the same numbers; --interpreted runs Gymnasium's own."
    spec = spec._replace(threshold=threshold, limit=limit, parameters=task._asdict(), note=note)
    return _with_noise(spec._replace(suggested=BY_RETURN), chance)


def _single(bounds: tuple[float, ...]) -> tuple[float, ...]:
    """Round to single precision, as Gymnasium has its bounds."""
    return tuple(float(np.float32(bound)) for bound in bounds)


def _taken(kind: Any, parameters: Parameters) -> tuple[Any, dict[str, Any]]:
    """Take the parameters of chance out of those of the task."""
    ours = {name: value for name, value in parameters.items() if name in kind._fields}
    return checked(kind, ours, "task"), {k: v for k, v in parameters.items() if k not in ours}


def _with_noise(spec: TaskSpec, chance: Noise) -> TaskSpec:
    if chance.noisy_actions == 0.0:
        return spec
    return spec._replace(
        task=NoisyActions(spec.task, chance.noisy_actions, np.random.default_rng(0)),
        controllable=None,
        suggested={**spec.suggested, **SOME_CHANCE},
        parameters={**spec.parameters, "noisy_actions": chance.noisy_actions},
    )


def _inner(task: Any) -> Any:
    return task.task if isinstance(task, NoisyActions) else task


SPECS: dict[str, Callable[[Parameters], TaskSpec]] = {
    "puck": _puck,
    "CartPole-v1": _cart_pole,
    "MountainCar-v0": _mountain_car,
    "Acrobot-v1": _acrobot,
    "Pendulum-v1": _pendulum,
}
ALIASES = {PUCK_ID: "puck"}


def task_spec(name: str, parameters: Parameters | None = None, interpreted: bool = False) -> TaskSpec:
    """Return the task of that name, with some of its parameters changed.

    It is compiled where we know how, unless ``interpreted`` asks for Gymnasium's own environment.

    >>> task_spec("CartPole-v1").limit
    500
    """
    name = ALIASES.get(name, name)
    if name in SPECS and not interpreted:
        return SPECS[name](parameters or {})
    from distinguo.tasks.gym.spec import gym_spec

    _check_name(name)
    return gym_spec(name, parameters or {}, SPECS.get(name), BY_RETURN, CHANCE)


def _check_name(name: str) -> None:
    """Offer the nearest of our own names and of Gymnasium's for one that is in neither."""
    from gymnasium import registry

    if name in SPECS or name in registry or ":" in name:
        return
    near = did_you_mean(name, [*SPECS, *registry])
    hint = near if near.startswith("did") else "take puck, or any Gymnasium id such as CartPole-v1."
    raise DistinguoError(f"Unknown task '{name}'; {hint}")


def spec_of(environment: Any, parameters: Parameters | None = None) -> TaskSpec:
    """Return a Gymnasium environment that was made already as a task."""
    from distinguo.tasks.gym.spec import gym_spec

    return gym_spec(environment, parameters or {}, None, BY_RETURN, CHANCE)
