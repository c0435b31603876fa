"""The environment that belongs to an agent's world, for those who want to look at it or act in it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from distinguo.errors import DistinguoError
from distinguo.lab.configuration import Configuration
from distinguo.tasks.catalog import world as known
from distinguo.tasks.registration import PUCK_ID
from distinguo.tasks.world import World

#: Parameters of a task for which there is a wrapper; an environment takes the others.
LEVELS, NOISE = "levels", "noisy_actions"


def made(world: World, cap: int) -> Any:
    """Return Gymnasium's environment of a world that was given by name; its trials end where the learner's do.

    >>> made(known("puck"), 1000).spec.max_episode_steps
    1000
    """
    import gymnasium

    from distinguo.tasks.gym_making import spec_of
    from distinguo.tasks.gym_wrappers import DiscreteActions, NoisyActions

    limit, name = world.cap(cap), PUCK_ID if world.name == "puck" else world.name
    spec_of(name)  # says in words if there is none
    env = gymnasium.make(name, **(_arguments(world) | {"max_episode_steps": limit}))
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        env = DiscreteActions(env, len(world.actions))
    noise = world.parameters.get(NOISE)
    return NoisyActions(env, noise) if noise else env


def _arguments(world: World) -> dict[str, Any]:
    """Return what ``gymnasium.make`` should be told; the parameters of most compiled tasks are not for it."""
    given = {name: value for name, value in world.parameters.items() if name not in (LEVELS, NOISE)}
    if world.interpreted or (world.name == "puck" and "noise" not in given):
        return given
    usual = known(world.name).parameters
    changed = [name for name, value in given.items() if value != usual.get(name)]
    if changed:
        raise DistinguoError(
            f"There is no Gymnasium environment of {world.name} with another task.{changed[0]}; make one yourself."
        )
    return {}


def vectorised(env: Any) -> Any:
    """Return the environment as callbacks of Stable-Baselines3 want it, or nothing if that is not in use."""
    if "stable_baselines3" not in sys.modules:
        return None
    return import_module("stable_baselines3.common.vec_env").DummyVecEnv([lambda: env])


def placed(configuration: Configuration, env: Any) -> Configuration:
    """Return a configuration that learns in this environment; a compiled task stays as it is, for the same bits."""
    from distinguo.tasks.gym_task import describe, make_task

    world = configuration.world
    given = {LEVELS: world.parameters[LEVELS]} if world.interpreted and LEVELS in world.parameters else {}
    task = make_task(PUCK_ID if env == "puck" else env, given)
    found = describe(task)
    theirs, ours = (len(found.names), found.actions), (len(world.dimensions), len(world.actions))
    if theirs != ours:
        raise DistinguoError(
            f"{found.name} has {theirs[0]} coordinates and {theirs[1]} actions, but {world.name}, which the agent "
            f"learned, has {ours[0]} and {ours[1]}; give an environment like it."
        )
    return configuration._replace(world=world._replace(task=task)) if world.interpreted else configuration
