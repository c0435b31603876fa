"""One call to an agent's ``learn``: chunks of work with callbacks, scalars and a progress bar between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from distinguo.agents.scalars import describe
from distinguo.agents.session import Session
from distinguo.errors import DistinguoError
from distinguo.interrupts import held
from distinguo.runs.stage import DONE
from distinguo.runs.written.trial_table import TrialRow


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


STRIDE = 1_000  #: steps between two calls of a callback


class TrainingLoop:
    """Works on a session until its steps are used up, a callback says so, or nothing is left to learn."""

    def __init__(self, agent: Any, session: Session, callbacks: Callbacks, interval: int) -> None:
        self.agent, self.session, self.callbacks = agent, session, callbacks
        self.interval = interval  #: trials between two entries of scalars
        self.stage = session.stage
        self.before = self.stage.environment_steps - agent.num_timesteps  #: steps that do not count any more
        self.logged = -1  #: time steps at the last entry of scalars
        self.words: dict[str, Any] = {"self": agent, "dones": np.array([False]), "infos": [{}]}

    def run(self, steps: int, progress_bar: bool, **words: Any) -> None:
        """Learn until so many environment steps were taken in all."""
        self.stage.pause_at = steps
        self.stage.stride = STRIDE if self.callbacks else None
        self.words |= {"total_timesteps": steps - self.before, **words}
        self.callbacks.begin(self.agent, self.words)
        with _bar(progress_bar, steps - self.stage.environment_steps) as move:
            for advanced in self._chunks():
                move(advanced, self.stage.regions)
        if self.session.recent and self.logged != self.agent.num_timesteps:
            self.log()
        self.callbacks.tell("on_rollout_end")
        self.callbacks.tell("on_training_end")

    def _chunks(self) -> Iterator[int]:
        """Work chunk by chunk; give the steps of each."""
        work = self.stage.work()
        go_on = True
        while go_on and not self.session.is_out_of_steps and self.stage.phase != DONE:
            before = self.stage.environment_steps
            trial = self._chunk(work)
            advanced = self.stage.environment_steps - before
            if trial is not None or advanced:  # a confirmation changes nothing that a callback could look at
                go_on = self._tell(trial)
            yield advanced

    def _chunk(self, work: Iterator[Any]) -> TrialRow | None:
        """Do one chunk, which Ctrl-C does not tear; if the task fails, only the running trial is lost."""
        with held():
            try:
                next(work)
            except Exception:
                self.stage.abandon_trial()
                raise
            finally:
                trial = self.session.take_note()
                self.agent.num_timesteps = self.stage.environment_steps - self.before
        return trial

    def _tell(self, trial: TrialRow | None) -> bool:
        self.words["dones"] = np.array([trial is not None])
        self.words["infos"] = [{} if trial is None else {"episode": {"r": trial.gained, "l": trial.length}}]
        if trial is not None and trial.trial % self.interval == 0:
            self.log()
        go_on = self.callbacks.step(self.words)
        if trial is not None:
            self.callbacks.tell("on_rollout_end")
            self.callbacks.tell("on_rollout_start")
        return go_on

    def log(self) -> None:
        """Write the scalars."""
        logger, now = self.agent.logger, self.agent.num_timesteps
        for key, value in describe(self.stage, self.session.recent).items():
            logger.record(key, value)
        logger.record("time/total_timesteps", now)
        logger.dump(now)
        self.logged = now
        if self.agent.verbose:
            Console().print(_line(logger.latest), highlight=False)


def _line(latest: dict[str, Any]) -> str:
    return (
        f"{latest['time/total_timesteps']:,} steps, {latest['time/episodes']:,} trials: "
        f"{latest['economy/regions']} regions, mean return {latest['rollout/ep_rew_mean']:.4g}, "
        f"mean length {latest['rollout/ep_len_mean']:,.0f}"
    )


@contextmanager
def _bar(shown: bool, total: int) -> Iterator[Any]:
    """Show how many of the steps were taken, and how many regions there are."""
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("steps, {task.fields[regions]} regions"))
    with Progress(*columns, TimeRemainingColumn(), disable=not shown) as progress:
        task = progress.add_task("", total=total, regions=1)
        yield lambda advanced, regions: progress.update(task, advance=advanced, regions=regions)
