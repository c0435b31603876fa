"""An environment whose every answer is checked: what goes wrong is said in one sentence, with trial and step."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from distinguo.errors import DistinguoError
from distinguo.tasks.gym.snapshots import StepResult
from distinguo.tasks.gym.spaces import Choices, MisfitError, View, choices_of, view_of


class StepPlace(NamedTuple):
    """Where something happens: at a step of a trial, or so many steps of a look-ahead farther.

    >>> print(StepPlace(3, 17), StepPlace(3, 17, 2), sep=", ")
    in trial 3 at step 17, in a look-ahead from trial 3, step 17, at its step 2
    """

    trial: int
    step: int
    ahead: int = 0

    def __str__(self) -> str:
        if self.ahead:
            return f"in a look-ahead from trial {self.trial}, step {self.step}, at its step {self.ahead}"
        return f"in trial {self.trial} at step {self.step}"


class CheckedEnv:
    """An environment with its name, the view of its observations and its actions."""

    def __init__(self, env: Any, name: str) -> None:
        self.env, self.name = env, name
        self.view: View = view_of(env.observation_space, name)
        self.choices: Choices = choices_of(env.action_space, name)

    def reset(self, seed: int, trial: int) -> tuple[float, ...]:
        """Begin a trial, and return what is observed."""
        place = (trial, 0)
        try:
            answer = self.env.reset(seed=seed)
        except Exception as error:
            raise self.raised(error, *place) from error
        try:
            observation, _ = answer
        except (TypeError, ValueError):
            words = f"reset to {answer!r}; allowed is a pair, the observation and a dictionary"
            raise self.fault(words, *place) from None
        return self._flat(observation, *place)

    def step(self, a: int, trial: int, step: int, ahead: int = 0) -> StepResult:
        """Take action ``a``; the numbers say where it leads."""
        try:
            answer = self.env.step(a + self.choices.first)
        except Exception as error:
            raise self.raised(error, trial, step, ahead) from error
        try:
            observation, reward, terminated, truncated, _ = answer
        except (TypeError, ValueError):
            words = f"returned {answer!r} from step; allowed are five values, as Gymnasium 1.0 has them"
            raise self.fault(words, trial, step, ahead) from None
        if type(reward) is not float or not math.isfinite(reward):
            reward = self._amount(reward, trial, step, ahead)
        return self._flat(observation, trial, step, ahead), reward, bool(terminated), bool(truncated)

    def _flat(self, observation: Any, trial: int, step: int, ahead: int = 0) -> tuple[float, ...]:
        try:
            return self.view.flatten(observation)
        except MisfitError as misfit:
            raise self.fault(misfit.words, trial, step, ahead) from None

    def _amount(self, reward: Any, *place: int) -> float:
        """Return a reward as a float."""
        try:
            amount = math.nan if isinstance(reward, str | bytes) else float(reward)
        except (TypeError, ValueError, OverflowError):
            amount = math.nan
        if not math.isfinite(amount):
            raise self.fault(f"gave the reward {reward!r}, which is not a finite number", *place)
        return amount

    def fault(self, words: str, trial: int, step: int, ahead: int = 0) -> DistinguoError:
        """Return the sentence for something that the environment did wrong."""
        return DistinguoError(f"{self.name} {words}, {StepPlace(trial, step, ahead)}; mend the environment.")

    def raised(self, error: Exception, trial: int, step: int, ahead: int = 0) -> DistinguoError:
        """Return the sentence for an exception."""
        trouble = f"{type(error).__name__}: {error}".removesuffix(".")
        return self.fault(f"failed ({trouble})", trial, step, ahead)
