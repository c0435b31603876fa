"""The settings of ``--learner teacher``; a network is trained and distilled in distillation/teach.py."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from distinguo.errors import DistinguoError
from distinguo.learners.catalog import TEACHER
from distinguo.learners.learner import Learner, Setup, register


class TeacherSettings(NamedTuple):
    """What is trained, and for how long; the other settings are those of a distillation.

    >>> TeacherSettings().steps
    0
    """

    algorithm: Annotated[
        Literal["", "dqn", "qrdqn", "ppo", "a2c", "sac", "td3"],
        Field(
            description="what is trained; '' for the one whose settings are published for the task, else ppo"
        ),
    ] = ""
    steps: Annotated[
        int,
        Field(
            ge=0,
            le=10**12,
            description="budget of environment steps for training, the choice among its last networks included; 0 "
            "for as many as are published for the task, else 200,000",
        ),
    ] = 0
    distil_steps: Annotated[
        int,
        Field(
            ge=0,
            le=10**12,
            description="budget of environment steps for the distillation; 0 for its usual one",
        ),
    ] = 0


class TeacherLearner(Learner):
    """Holds the settings; ``teach`` makes the run.

    >>> TeacherLearner().fresh(None)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: The learner 'teacher' trains a network of Stable-Baselines3 ...
    """

    name = TEACHER
    about = "trains a network of Stable-Baselines3 and distils it into a small map"
    settings = TeacherSettings
    only_controls = True

    def fresh(self, setup: Setup | None) -> Any:
        """Raise an error: such a run is made by ``teach``."""
        raise DistinguoError(
            "The learner 'teacher' trains a network of Stable-Baselines3 instead of learning trial by trial; run: "
            "distinguo learn TASK --learner teacher, or call distinguo.teach(task)."
        )


register(TeacherLearner())


class Published(NamedTuple):
    """Settings that were published for a task: the algorithm, environment steps, copies that run side by side."""

    algorithm: str
    steps: int
    options: dict[str, Any]
    copies: int = 1
    falling: dict[str, float] = {}  # noqa: RUF012 # options that fall to 0 as training goes on


_WIDE = {"net_arch": [256, 256]}
_DEEP = {"net_arch": [400, 300]}
_LANDER = Published(
    "ppo",
    1_000_000,
    {"n_steps": 1024, "batch_size": 64, "gae_lambda": 0.98, "gamma": 0.999, "n_epochs": 4, "ent_coef": 0.01},
    copies=16,
)
_LANDER_SAC = Published(
    "sac",
    500_000,
    {"batch_size": 256, "tau": 0.01, "learning_starts": 10_000, "policy_kwargs": _DEEP},
    falling={"learning_rate": 7.3e-4},
)
#: The RL Zoo's settings (hyperparams/ of DLR-RM/rl-baselines3-zoo), by id; for each task those that need no
#: normalised observations, which a map would not see.
PUBLISHED: dict[str, tuple[Published, ...]] = {
    "CartPole-v1": (
        Published(
            "ppo",
            100_000,
            {
                "n_steps": 32,
                "batch_size": 256,
                "gae_lambda": 0.8,
                "gamma": 0.98,
                "n_epochs": 20,
                "ent_coef": 0.0,
            },
            copies=8,
            falling={"learning_rate": 0.001, "clip_range": 0.2},
        ),
        Published(
            "dqn",
            50_000,
            {
                "learning_rate": 2.3e-3,
                "batch_size": 64,
                "buffer_size": 100_000,
                "learning_starts": 1_000,
                "target_update_interval": 10,
                "train_freq": 256,
                "gradient_steps": 128,
                "exploration_fraction": 0.16,
                "exploration_final_eps": 0.04,
                "policy_kwargs": _WIDE,
            },
        ),
    ),
    "MountainCar-v0": (
        Published(
            "dqn",
            120_000,
            {
                "learning_rate": 4e-3,
                "batch_size": 128,
                "buffer_size": 10_000,
                "learning_starts": 1_000,
                "gamma": 0.98,
                "target_update_interval": 600,
                "train_freq": 16,
                "gradient_steps": 8,
                "exploration_fraction": 0.2,
                "exploration_final_eps": 0.07,
                "policy_kwargs": _WIDE,
            },
        ),
    ),
    "Acrobot-v1": (
        Published(
            "dqn",
            100_000,
            {
                "learning_rate": 6.3e-4,
                "batch_size": 128,
                "buffer_size": 50_000,
                "learning_starts": 0,
                "target_update_interval": 250,
                "train_freq": 4,
                "gradient_steps": -1,
                "exploration_fraction": 0.12,
                "exploration_final_eps": 0.1,
                "policy_kwargs": _WIDE,
            },
        ),
    ),
    "LunarLander-v2": (_LANDER,),
    "LunarLander-v3": (_LANDER,),
    "LunarLanderContinuous-v2": (_LANDER_SAC,),
    "LunarLanderContinuous-v3": (_LANDER_SAC,),
    "Pendulum-v1": (Published("sac", 20_000, {"learning_rate": 1e-3}),),
    "MountainCarContinuous-v0": (
        Published(
            "sac",
            50_000,
            {
                "learning_rate": 3e-4,
                "buffer_size": 50_000,
                "batch_size": 512,
                "ent_coef": 0.1,
                "train_freq": 32,
                "gradient_steps": 32,
                "gamma": 0.9999,
                "tau": 0.01,
                "learning_starts": 0,
                "use_sde": True,
                "policy_kwargs": {"log_std_init": -3.67, "net_arch": [64, 64]},
            },
        ),
    ),
    "BipedalWalker-v3": (
        Published(
            "sac",
            500_000,
            {
                "learning_rate": 7.3e-4,
                "buffer_size": 300_000,
                "batch_size": 256,
                "gamma": 0.98,
                "tau": 0.02,
                "train_freq": 64,
                "gradient_steps": 64,
                "learning_starts": 10_000,
                "use_sde": True,
                "policy_kwargs": {"log_std_init": -3, "net_arch": [400, 300]},
            },
        ),
    ),
}
UNPUBLISHED = Published("ppo", 200_000, {})  #: Stable-Baselines3's defaults, for all other tasks


def published(task: str, algorithm: str = "") -> Published:
    """The settings for a task, of an algorithm if one is given.

    >>> published("CartPole-v1").steps, published("CartPole-v1", "dqn").steps, published("Own-v0", "a2c").algorithm
    (100000, 50000, 'a2c')
    """
    known = [one for one in PUBLISHED.get(task, ()) if algorithm in ("", one.algorithm)]
    return known[0] if known else UNPUBLISHED._replace(algorithm=algorithm or UNPUBLISHED.algorithm)
