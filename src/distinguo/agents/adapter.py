"""The environment that belongs to an agent's task, for those who want to look at it or act in it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from distinguo.errors import DistinguoError
from distinguo.runs.configuration import Configuration
from distinguo.tasks.catalog import task_spec as known
from distinguo.tasks.gym.registration import PUCK_ID
from distinguo.tasks.spec import TaskSpec

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
        env = DiscreteActions(env, len(spec.actions))
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
