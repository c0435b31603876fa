"""Callbacks in the three forms that Stable-Baselines3 knows: functions, objects, and lists of them.

Objects are known by their methods, so that Stable-Baselines3 need not be installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distinguo.errors import DistinguoError


class Callbacks:
    """All callbacks of one call to ``learn``.

    >>> heard = Callbacks([lambda locals_, globals_: locals_["steps"] < 5])
    >>> heard.step({"steps": 4}), heard.step({"steps": 5})
    (True, False)
    """

    def __init__(self, given: Any = None) -> None:
        self.functions: list[Callable[[dict[str, Any], dict[str, Any]], Any]] = []
        self.objects: list[Any] = []
        for one in given if isinstance(given, list | tuple) else [given]:
            self._add(one)

    def _add(self, given: Any) -> None:
        if hasattr(given, "on_step") and hasattr(given, "init_callback"):
            self.objects.append(given)
        elif callable(given):
            self.functions.append(given)
        elif given is not None:
            raise DistinguoError(
                f"A callback should be a function of (locals_, globals_), a BaseCallback or a list of them, "
                f"got {given!r}."
            )

    def __bool__(self) -> bool:
        """Tell whether there is anybody to call."""
        return bool(self.functions or self.objects)

    def begin(self, model: Any, words: dict[str, Any]) -> None:
        """Say that learning begins; ``words`` are what callbacks know as local variables."""
        for one in self.objects:
            one.init_callback(model)
            one.on_training_start(words, globals())
        self.tell("on_rollout_start")

    def tell(self, event: str) -> None:
        """Say that a trial begins or ends, or that learning does."""
        for one in self.objects:
            getattr(one, event)()

    def step(self, words: dict[str, Any]) -> bool:
        """Say that something was learned; the answer is whether to go on. All are asked, even if one says no."""
        answers = [one(words, globals()) for one in self.functions]
        for one in self.objects:
            one.update_locals(words)
            answers.append(one.on_step())
        return all(answer is None or answer for answer in answers)
