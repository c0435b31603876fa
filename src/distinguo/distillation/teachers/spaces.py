"""What a teacher sees and may answer: the observations and actions of a task, as its environment has them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces

from distinguo.errors import DistinguoError, attempt, shown
from distinguo.tasks.gym.checked_env import number_of
from distinguo.tasks.gym.spaces import View
from distinguo.tasks.spec import TaskSpec

NEAR = (
    1e-5  #: by which an amount may be outside of its bounds, as a share of their width: numbers are rounded
)


class Room(NamedTuple):
    """How many coordinates an observation has, which actions there are, and how both are written outside."""

    name: str  #: of the task
    dimensions: int
    actions: int  #: 0 where they are amounts
    first: int = 0  #: the environment's number of the first action
    view: View | None = None  #: of the environment, if there is one
    box: Any = None  #: the space of actions that are amounts
    seen: spaces.Box | None = None  #: the space of observations, where they are an array

    def observation(self, row: np.ndarray) -> Any:
        """Return an observation as the environment gives it."""
        if self.seen is not None:
            return row.astype(self.seen.dtype).reshape(self.seen.shape)
        return row.copy() if self.view is None else self.view.unflatten(row.tolist())

    def observations(self, rows: np.ndarray) -> Any:
        """Return many of them."""
        if self.seen is not None:
            return rows.astype(self.seen.dtype).reshape(len(rows), *self.seen.shape)
        return rows.copy() if self.view is None else np.array([self.observation(row) for row in rows])

    # ---- what comes back ------------------------------------------------------------------------------------------

    def checked_actions(self, given: Any, what: str, rows: np.ndarray) -> np.ndarray:
        """Return answers as numbers of actions from 0, or as amounts; else say which of them is none."""
        if self.box is not None:
            return np.array([self._amounts(one, what, row) for one, row in zip(given, rows, strict=True)])
        numbers = np.array([number_of(one) for one in given])
        wrong = np.flatnonzero(~(np.isin(numbers, np.arange(self.first, self.first + self.actions))))
        if len(wrong):
            n = int(wrong[0])
            last = self.first + self.actions - 1
            raise DistinguoError(
                f"{what} answered {shown(list(given)[n])} where it saw {_seen(rows[n])}; the actions of {self.name} "
                f"are whole numbers from {self.first} to {last}."
            )
        return numbers.astype(np.int64) - self.first

    def _amounts(self, given: Any, what: str, row: np.ndarray) -> np.ndarray:
        low, high = self.box.low.ravel().astype(float), self.box.high.ravel().astype(float)
        amounts = attempt(lambda: np.asarray(given, dtype=np.float64).ravel(), otherwise=np.zeros(0))
        slack = NEAR * np.where(np.isfinite(high - low), high - low, 1.0)
        inside = amounts.shape == low.shape and bool(
            np.isfinite(amounts).all() and (amounts >= low - slack).all() and (amounts <= high + slack).all()
        )
        if not inside:
            raise DistinguoError(
                f"{what} answered {shown(given)} where it saw {_seen(row)}; the actions of {self.name} are "
                f"{self.box}."
            )
        return np.clip(amounts, low, high)

    def checked_values(self, given: Any, what: str, rows: np.ndarray) -> np.ndarray:
        """Return what actions are worth, a row for every observation."""
        worth = attempt(
            lambda: np.array([np.ravel(one) for one in given], dtype=np.float64), otherwise=np.zeros(0)
        )
        if worth.shape != (len(rows), self.actions) or not np.isfinite(worth).all():
            raise DistinguoError(
                f"{what} should be {self.actions} finite numbers for every observation, one for each action of "
                f"{self.name}, got {shown(given[0] if len(given) else given)}."
            )
        return worth

    def check_spaces(self, thing: Any, name: str) -> None:
        """Refuse an agent that says itself that it was made for other spaces."""
        seen, acted = getattr(thing, "observation_space", None), getattr(thing, "action_space", None)
        if (
            isinstance(seen, spaces.Space)
            and seen.shape is not None
            and math.prod(seen.shape) != self.dimensions
        ):
            raise DistinguoError(
                f"The teacher {name} sees {seen}, but an observation of {self.name} has {self.dimensions} "
                "coordinates; take a teacher of this task, or another --task."
            )
        if isinstance(acted, spaces.Space) and not self._fits(acted):
            here = f"{self.actions} actions" if self.box is None else f"actions of {self.box}"
            raise DistinguoError(
                f"The teacher {name} acts by {acted}, but {self.name} has {here}; take a teacher of this task, or "
                "another --task."
            )

    def _fits(self, acted: Any) -> bool:
        if self.box is not None:
            return isinstance(acted, spaces.Box) and acted.shape == self.box.shape
        return isinstance(acted, spaces.Discrete) and int(acted.n) == self.actions


def _seen(row: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in row[:8]) + (", …)" if len(row) > 8 else ")")


def room_of(spec: TaskSpec) -> Room:
    """Return what a teacher of a task sees and may answer.

    >>> from distinguo.tasks.catalog import task_spec
    >>> room_of(task_spec("puck"))[1:4]
    (2, 2, 0)
    """
    size = (spec.name, len(spec.dimensions), len(spec.actions))
    if not spec.interpreted:
        return Room(
            *size, seen=_box_of(gymnasium.spec(spec.name) if spec.name in gymnasium.registry else None)
        )
    checked = spec.task.driver.checked_env
    space = checked.env.observation_space
    return Room(
        *size, checked.choices.first, checked.view, seen=space if isinstance(space, spaces.Box) else None
    )


def _box_of(registered: Any) -> spaces.Box | None:
    """Return what the environment is seen by that a compiled task stands for: teachers were made for its numbers."""
    if registered is None:
        return None
    env = registered.make()
    env.close()
    return env.observation_space if isinstance(env.observation_space, spaces.Box) else None
