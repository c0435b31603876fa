"""Pictures that an environment draws of itself, for tasks that we have no scene of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from distinguo.errors import attempt
from distinguo.study.rollout import Rollout
from distinguo.tasks.gym.driver import Driver, trial_seed

RGB = "rgb_array"
Images = Sequence[np.ndarray]


def images_of(driver: Driver, trial: Rollout, seed: int) -> Images:
    """Return what an environment looked like before each step of a trial and after the last; nothing if it cannot.

    The trial is gone through once more in an environment that draws; it began with the same seed. Where that one does
    not show the same observations, its pictures would be of another trial, and there are none.
    """
    env = attempt(_drawing, driver, otherwise=None)
    if env is None:
        return ()
    images = attempt(_gone_through, env, driver, trial, seed, otherwise=())
    attempt(env.close, otherwise=None)
    return images if len(images) == len(trial.observations) else ()


def _drawing(driver: Driver) -> Any:
    """Return an environment like the driver's that renders to arrays."""
    import gymnasium

    source = driver.source.again()[0]
    if source.env is None:
        return source._replace(arguments={**source.arguments, "render_mode": RGB}).make()
    drawn: gymnasium.Env[Any, Any] | None = source.make()
    return drawn if drawn is not None and drawn.render_mode == RGB else None


def _gone_through(env: Any, driver: Driver, trial: Rollout, seed: int) -> Images:
    checked = driver.checked_env
    view = checked.view
    seen, _ = env.reset(seed=trial_seed(seed, 0))
    images = [np.asarray(env.render())]
    for step, a in enumerate(trial.choices.tolist()):
        if view.flatten(seen) != tuple(trial.observations[step].tolist()):
            return ()
        seen, *_ = env.step(a + checked.choices.first)
        images.append(np.asarray(env.render()))
    return images
