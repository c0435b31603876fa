"""The environment that belongs to an agent's task, for those who want to look at it or act in it."""

from __future__ import annotations

import math
import sys
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.representations.partition import regions_of
from distinguo.runs.configuration import Configuration
from distinguo.tasks.catalog import task_spec as known
from distinguo.tasks.gym.registration import PUCK_ID
from distinguo.tasks.gym.spaces import View, view_of
from distinguo.tasks.spec import CATEGORIES, TaskSpec

#: Parameters of a task for which there is a wrapper; an environment takes the others.
LEVELS, NOISE = "levels", "noisy_actions"


def made(spec: TaskSpec, cap: int) -> Any:
    """Return Gymnasium's environment of a task that was given by name; its trials end where the learner's do.

    >>> made(known("puck"), 1000).spec.max_episode_steps
    1000
    """
    import gymnasium

    from distinguo.tasks.gym.source import registered_spec
    from distinguo.tasks.gym.wrappers import DiscreteActions, NoisyActions

    limit, name = spec.cap(cap), PUCK_ID if spec.name == "puck" else spec.name
    known_id = registered_spec(name).id  # says in words if there is none
    env = gymnasium.make(known_id, **(_arguments(spec) | {"max_episode_steps": limit}))
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        env = DiscreteActions(env, spec.parameters[LEVELS])
    noise = spec.parameters.get(NOISE)
    return NoisyActions(env, noise) if noise else env


def _arguments(spec: TaskSpec) -> dict[str, Any]:
    """Return what ``gymnasium.make`` should be told; the parameters of most compiled tasks are not for it."""
    given = {name: value for name, value in spec.parameters.items() if name not in (LEVELS, NOISE)}
    if spec.interpreted or (spec.name == "puck" and "noise" not in given):
        return given
    usual = known(spec.name).parameters
    changed = [name for name, value in given.items() if value != usual.get(name)]
    if changed:
        raise DistinguoError(
            f"There is no Gymnasium environment of {spec.name} with another task.{changed[0]}; make one yourself."
        )
    return {}


def vectorised(env: Any) -> Any:
    """Return the environment as callbacks of Stable-Baselines3 want it, or nothing if that is not in use."""
    if "stable_baselines3" not in sys.modules:
        return None
    return import_module("stable_baselines3.common.vec_env").DummyVecEnv([lambda: env])


def placed(configuration: Configuration, env: Any) -> Configuration:
    """Return a configuration that learns in this environment; a compiled task stays as it is, for the same bits."""
    from distinguo.tasks.gym.task import make_task

    spec = configuration.spec
    given = {LEVELS: spec.parameters[LEVELS]} if spec.interpreted and LEVELS in spec.parameters else {}
    task = make_task(PUCK_ID if env == "puck" else env, given)
    checked = task.driver.checked_env
    theirs = (len(checked.view.names), checked.choices.number)
    ours = (len(spec.dimensions), len(spec.actions))
    if theirs != ours:
        raise DistinguoError(
            f"{checked.name} has {theirs[0]} coordinates and {theirs[1]} actions, but {spec.name}, which the agent "
            f"learned, has {ours[0]} and {ours[1]}; give an environment like it."
        )
    return configuration._replace(spec=spec._replace(task=task)) if spec.interpreted else configuration


class Interface(NamedTuple):
    """How observations come in and actions go out.

    >>> from distinguo.tasks.catalog import task_spec
    >>> interface_of(task_spec("puck"))[1:]
    ((2,), 0)
    """

    view: View
    shape: tuple[int, ...]  #: of one observation
    first: int  #: the environment's number of the first action

    def rows(self, observation: Any, name: str) -> tuple[np.ndarray, bool]:
        """Return one or several observations as rows of coordinates, and whether it was one."""
        shape = np.shape(observation)
        if shape == self.shape:
            return np.array([self.view.flatten(observation)]), True
        if shape[1:] != self.shape or not shape:
            many = f"({', '.join(map(str, ('n', *self.shape)))})"
            raise DistinguoError(
                f"An observation of {name} should have shape {self.shape}, or {many} for several, got {shape}."
            )
        rows = [self.view.flatten(one) for one in observation]
        return np.array(rows).reshape(len(rows), len(self.view.names)), False


def interface_of(spec: TaskSpec, shape: tuple[int, ...] | None = None, first: int | None = None) -> Interface:
    """Return the interface of a task; the shape and the first action, where its environment is not at hand."""
    if shape is None and spec.interpreted:
        checked = spec.task.driver.checked_env
        space = checked.env.observation_space
        where = (len(space.spaces),) if isinstance(space, spaces.Tuple) else space.shape
        return Interface(checked.view, where, checked.choices.first)
    shape = (len(spec.dimensions),) if shape is None else shape
    if math.prod(shape) != len(spec.dimensions):
        raise DistinguoError(f"Observations of shape {shape} are none of {spec.name}; take a whole copy.")
    return Interface(view_of(_space(spec, shape), spec.name), shape, first or 0)


def _space(spec: TaskSpec, shape: tuple[int, ...]) -> Any:
    """Return a space of the same observations, in the absence of the environment itself."""
    if spec.kind != CATEGORIES:
        return spaces.Box(-np.inf, np.inf, shape=shape, dtype=np.float64)
    low, high = np.array(spec.low, dtype=np.int64), np.array(spec.high, dtype=np.int64)
    if not shape:
        return spaces.Discrete(int(high[0] - low[0]) + 1, start=int(low[0]))
    return spaces.MultiDiscrete((high - low + 1).reshape(shape), start=low.reshape(shape))


def chosen_actions(controller: Controller, rows: np.ndarray, rng: np.random.Generator | None) -> np.ndarray:
    """Return an action for every row of observations: the first preferred one, or any of them at random."""
    preferred = controller.action_sets[regions_of(controller.partition, rows)]
    if rng is None:
        return preferred.argmax(axis=1)
    return (rng.random(preferred.shape) * preferred).argmax(axis=1)
