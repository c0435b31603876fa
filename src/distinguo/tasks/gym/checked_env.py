"""An environment whose every answer is checked: what goes wrong is said in one sentence, with trial and step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, attempt, reason_of, shown
from distinguo.tasks.gym.snapshots import StepResult
from distinguo.tasks.gym.spaces import Choices, MisfitError, View, choices_of, view_of
from distinguo.tasks.spec import LARGEST


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
        try:
            seen, acted = env.observation_space, env.action_space
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            words = f"{name} does not tell its spaces ({reason_of(error)}); mend the environment."
            raise DistinguoError(words) from error
        self.view: View = view_of(seen, name)
        self.choices: Choices = choices_of(acted, name)

    def reset(self, seed: int, trial: int) -> tuple[float, ...]:
        """Begin a trial, and return what is observed."""
        place = (trial, 0)
        try:
            answer = self.env.reset(seed=seed)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too: it is the environment that ends, not the program
            raise self.raised(error, *place) from error
        parts = attempt(tuple, answer, otherwise=())
        if len(parts) != 2 or not isinstance(parts[1], Mapping):
            words = f"reset to {shown(answer)}; allowed is a pair, the observation and a dictionary"
            raise self.fault(words, *place)
        return self._flat(parts[0], *place)

    def step(self, a: int, trial: int, step: int, ahead: int = 0) -> StepResult:
        """Take action ``a``; the numbers say where it leads."""
        try:
            answer = self.env.step(a + self.choices.first)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self.raised(error, trial, step, ahead) from error
        parts = answer if type(answer) is tuple else attempt(tuple, answer, otherwise=())
        if len(parts) != 5 or not isinstance(parts[4], Mapping):
            words = f"returned {shown(answer)} from step; allowed are five values, as Gymnasium 1.0 has them"
            raise self.fault(words, trial, step, ahead)
        observation, reward, terminated, truncated, _ = parts
        if type(reward) is not float or not -LARGEST <= reward <= LARGEST:
            reward = self._amount(reward, trial, step, ahead)
        if terminated is not True and terminated is not False:
            terminated = self._truth("terminated", terminated, trial, step, ahead)
        if truncated is not True and truncated is not False:
            truncated = self._truth("truncated", truncated, trial, step, ahead)
        return self._flat(observation, trial, step, ahead), reward, terminated, truncated

    def _flat(self, observation: Any, trial: int, step: int, ahead: int = 0) -> tuple[float, ...]:
        try:
            return self.view.flatten(observation)
        except MisfitError as misfit:
            raise self.fault(misfit.words, trial, step, ahead) from None

    def _amount(self, reward: Any, *place: int) -> float:
        """Return a reward as a float."""
        amount = number_of(reward)
        if not math.isfinite(amount):
            raise self.fault(f"gave the reward {shown(reward)}, which is not a finite number", *place)
        if abs(amount) > LARGEST:
            words = f"gave the reward {shown(reward)}; allowed are amounts up to {LARGEST:g}"
            raise self.fault(words, *place)
        return amount

    def _truth(self, name: str, answer: Any, *place: int) -> bool:
        """Return whether a trial ends: NumPy's booleans, and 0 and 1 will do."""
        number = number_of(answer)
        if number not in (0.0, 1.0):
            raise self.fault(f"answered {shown(answer)} for {name}; allowed are True and False", *place)
        return number == 1.0

    def fault(self, words: str, trial: int, step: int, ahead: int = 0) -> DistinguoError:
        """Return the sentence for something that the environment did wrong."""
        return DistinguoError(f"{self.name} {words}, {StepPlace(trial, step, ahead)}; mend the environment.")

    def raised(self, error: BaseException, trial: int, step: int, ahead: int = 0) -> DistinguoError:
        """Return the sentence for an exception."""
        return self.fault(f"failed ({reason_of(error)})", trial, step, ahead)


def number_of(value: Any) -> float:
    """Return a number of any kind, or an array of one, as a float; NaN for what is none.

    >>> number_of(np.array([2])), number_of("2"), number_of(10**400)
    (2.0, nan, nan)
    """
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if isinstance(value, str | bytes | np.ndarray | np.complexfloating):
        return math.nan
    amount = attempt(float, value, otherwise=math.nan)
    return amount if type(amount) is float else math.nan
