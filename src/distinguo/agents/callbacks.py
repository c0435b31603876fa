"""Callbacks: stop the training of other agents when a task is solved, and log our learning anywhere."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np

from distinguo.agents.economy import Scalars, describe, tensorboard_writer
from distinguo.agents.session import WINDOW
from distinguo.errors import DistinguoError, attempt, shown
from distinguo.evaluation.confirmation import CONFIDENCE, is_reached, lower_bound, spent_error
from distinguo.runs.history import TrialRow
from distinguo.runs.stage import Stage

Trials = Callable[[int], tuple[Sequence[float], int]]  #: runs so many trials: their returns and steps
SCREEN = 5  #: trials that decide whether a claim is worth testing
AT_ONCE = 10  #: trials of a test that are run together


class SolvedClaims:
    """The claims of one training that its policy reaches a threshold, each tested with new trials.

    The tests share their error, so that the probability of any false *solved* is at most ``1 - confidence``, however
    often the policy is looked at.

    >>> claims = SolvedClaims(475.0)
    >>> claims.see([9.0, 30.0])  # of the training: they show the range of returns
    >>> claims.look(lambda n: ([20.0] * n, 20 * n)), claims.look(lambda n: ([500.0] * n, 500 * n))
    (False, True)
    >>> claims.count, len(claims.returns)
    (1, 70)
    """

    def __init__(self, threshold: float, confidence: float = CONFIDENCE, screen: int = SCREEN) -> None:
        self.threshold, self.confidence, self.screen = threshold, confidence, screen
        self.count = 0  #: claims that were tested
        self.steps = 0  #: that all trials here have taken
        self.returns: list[float] = []  #: of the trials of the last claim
        self.mean = math.nan  #: of the last trials before a claim
        self._seen: list[float] = []

    def see(self, returns: Sequence[float]) -> None:
        """Note returns of trials that test nothing."""
        if returns:
            self._seen = [min([*self._seen, *returns]), max([*self._seen, *returns])]

    def look(self, trials: Trials) -> bool:
        """Whether the policy reaches the threshold: some trials to see whether it may, then new ones as a test."""
        gained, took = trials(self.screen)
        self.steps += took
        self.mean = float(np.mean(gained))
        self.see(gained)
        if self.mean < self.threshold:
            return False
        self.count += 1
        self.returns = []

        def more() -> tuple[Sequence[float], int]:
            returns, steps = trials(AT_ONCE)
            self.returns += returns
            self.steps += steps
            return returns, steps

        error = spent_error(self.count, self.confidence)
        reached = is_reached(self.threshold, np.array(self._seen), more, error)
        self.see(self.returns)
        return reached

    @property
    def bound(self) -> float:
        """A lower bound of the mean return, from the trials of the last claim."""
        return lower_bound(self.returns, self._seen[0], 1.0 - self.confidence) if self.returns else math.nan


def stop_when_solved(
    env: Any,
    threshold: float | None = None,
    *,
    every: int = 2_000,
    screen: int = SCREEN,
    confidence: float = CONFIDENCE,
    deterministic: bool = True,
    seed: int = 0,
    verbose: int = 1,
) -> Any:
    """A callback of Stable-Baselines3 that ends the training when a sequential test says *solved*.

    After ``every`` steps, the policy plays ``screen`` trials in ``env``, an id or an environment for this alone. If
    their mean reaches the ``threshold``, by default the environment's own, new trials test it. The probability that
    the training ends with a policy below the threshold is at most ``1 - confidence`` (docs/confirmation.md).
    The numbers are logged as ``solved/…``; ``callback.claims`` has them, too, and ``callback.solved``.

    >>> stop_when_solved("Pendulum-v1")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Pendulum-v1 has no threshold of its own; give the mean return that solves it: ...
    """
    made = gymnasium.make(env) if isinstance(env, str) else env
    goal = _threshold_of(made) if threshold is None else threshold
    if not isinstance(goal, int | float) or not math.isfinite(goal):
        raise DistinguoError(f"The threshold should be a finite number, got {shown(goal)}.")
    if not 0.0 < confidence < 1.0:
        raise DistinguoError(
            f"The confidence should be between 0 and 1, got {shown(confidence)}; usual is 0.95."
        )
    for name, number in (("every", every), ("screen", screen)):
        if not isinstance(number, int) or number < 1:
            raise DistinguoError(f"{name} should be a whole number from 1, got {shown(number)}.")
    try:
        base = import_module("stable_baselines3.common.callbacks").BaseCallback
    except ImportError:
        raise DistinguoError(
            'A callback for Stable-Baselines3 needs it, and it is not installed; run: pip install "distinguo[others]"'
        ) from None
    kind = type("StopWhenSolved", (_StopWhenSolved, base), {})
    callback: Any = kind(verbose)
    callback.set_up(made, SolvedClaims(float(goal), confidence, screen), every, deterministic, seed)
    return callback


def _threshold_of(env: Any) -> float:
    """The mean return that solves an environment by its own account."""
    spec = attempt(getattr, env, "spec", otherwise=None)
    if spec is None and hasattr(env, "get_attr"):  # of Stable-Baselines3
        spec = attempt(lambda: env.get_attr("spec")[0], otherwise=None)
    known = getattr(spec, "reward_threshold", None)
    if known is None:
        name = getattr(spec, "id", None) or type(getattr(env, "unwrapped", env)).__name__
        raise DistinguoError(
            f"{name} has no threshold of its own; give the mean return that solves it: threshold=…"
        )
    return float(known)


class _StopWhenSolved:
    """What the callback does; Stable-Baselines3's ``BaseCallback`` is the other base of its class."""

    training_env: Any
    model: Any
    logger: Any
    locals: dict[str, Any]
    num_timesteps: int
    verbose: int

    def set_up(self, env: Any, claims: SolvedClaims, every: int, deterministic: bool, seed: int) -> None:
        self.env, self.claims, self.every, self.deterministic = env, claims, every, deterministic
        self.seed, self.solved, self._looked = seed, False, 0
        self._trials: Any = None

    def _on_training_start(self) -> None:
        vectors = import_module("stable_baselines3.common.vec_env")
        if self._trials is None:
            env = self.env
            if not isinstance(env, vectors.VecEnv):
                env = import_module("stable_baselines3.common.monitor").Monitor(env)
                env = vectors.DummyVecEnv([lambda: env])
            if self._normalised() is not None and not isinstance(env, vectors.VecNormalize):
                env = vectors.VecNormalize(env, training=False, norm_reward=False)
            env.seed(self.seed)
            self._trials = env
        self._looked = self.num_timesteps

    def _normalised(self) -> Any:
        return getattr(self.model, "get_vec_normalize_env", lambda: None)()

    def _on_step(self) -> bool:
        episodes = (info.get("episode") for info in self.locals.get("infos", ()))
        self.claims.see([float(one["r"]) for one in episodes if one is not None])
        if self.num_timesteps - self._looked < self.every:
            return True
        self._looked = self.num_timesteps
        if self._normalised() is not None:
            sync = import_module("stable_baselines3.common.vec_env").sync_envs_normalization
            sync(self.training_env, self._trials)
        self.solved = self.claims.look(self._run)
        for name, value in (
            ("mean_return", float(np.mean(self.claims.returns)) if self.solved else self.claims.mean),
            ("claims", self.claims.count),
            ("steps", self.claims.steps),
            ("lower_bound", self.claims.bound),
        ):
            self.logger.record(f"solved/{name}", value)
        if self.solved:
            self.logger.dump(self.num_timesteps)
            if self.verbose:
                self._say()
        return not self.solved

    def _run(self, count: int) -> tuple[list[float], int]:
        evaluate = import_module("stable_baselines3.common.evaluation").evaluate_policy
        returns, lengths = evaluate(
            self.model, self._trials, count, self.deterministic, return_episode_rewards=True, warn=False
        )
        return [float(one) for one in returns], int(sum(lengths))

    def _say(self) -> None:
        from rich.console import Console

        returns = self.claims.returns
        Console(stderr=True).print(
            f"Solved after {self.num_timesteps:,} steps: {len(returns)} new trials return {np.mean(returns):.4g} on "
            f"average, {self.claims.threshold:g} is asked for; at most {1 - self.claims.confidence:.0%} of such "
            "answers are wrong.",
            highlight=False,
            soft_wrap=True,
        )


def log_to(place: Any, every: int = 1) -> Callable[[Stage], None]:
    """Log a run of :func:`distinguo.learn` anywhere: ``learn(task, watch=log_to(place))``.

    ``place`` is a folder for TensorBoard, a writer of TensorBoard, a logger of Stable-Baselines3 (``record`` and
    ``dump``), a run of Weights & Biases (``log``), MLflow (``log_metrics``), or a function of a dictionary and the
    step. Logged are the mean return and length of the last 100 trials, the regions and more, by the names that
    Stable-Baselines3 uses, after ``every`` trials; the step is that of the environment.

    >>> import distinguo
    >>> rows = []
    >>> run = distinguo.learn("puck", seed=1, watch=log_to(lambda scalars, step: rows.append((step, scalars))))
    >>> rows[-1][1]["time/episodes"], rows[-1][1]["economy/regions"] == run.representation.regions
    (17, True)
    """
    if not isinstance(every, int) or every < 1:
        raise DistinguoError(f"every should be a number of trials from 1, got {shown(every)}.")
    write = _writer(place)
    recent: deque[TrialRow] = deque(maxlen=WINDOW)
    logged = 0

    def watch(stage: Stage) -> None:
        nonlocal logged
        known = recent[-1].trial if recent else 0
        recent.extend(one for one in stage.trials[-WINDOW:] if one.trial > known)
        if not recent or recent[-1].trial < logged + every:
            return
        logged = recent[-1].trial
        scalars = {key: value for key, value in describe(stage, recent).items() if math.isfinite(value)}
        write(stage.configuration.spec.name, scalars, stage.environment_steps)

    return watch


def _writer(place: Any) -> Callable[[str, Mapping[str, float], int], None]:
    """A function that writes scalars, by the name of the task, at a step."""
    if isinstance(place, str | os.PathLike):
        opened: dict[str, Scalars] = {}

        def write(name: str, scalars: Mapping[str, float], step: int) -> None:
            if name not in opened:
                opened[name] = Scalars(tensorboard_writer(place, name, anew=True))
            _dumped(opened[name], scalars, step)

        return write
    if hasattr(place, "add_scalar"):
        to = Scalars(place)
        return lambda _, scalars, step: _dumped(to, scalars, step)
    if hasattr(place, "record") and hasattr(place, "dump"):
        return lambda _, scalars, step: _dumped(place, scalars, step)
    for name in ("log_metrics", "log"):
        method = getattr(place, name, None)
        if callable(method):
            return lambda _, scalars, step: method(dict(scalars), step=step)
    if callable(place):
        return lambda _, scalars, step: place(dict(scalars), step)
    raise DistinguoError(
        "Scalars are logged to a folder, to an object with add_scalar, record and dump, log_metrics or log, or to a "
        f"function of a dictionary and the step, got {shown(place)}."
    )


def _dumped(logger: Any, scalars: Mapping[str, float], step: int) -> None:
    for name, value in scalars.items():
        logger.record(name, value)
    logger.dump(step)
