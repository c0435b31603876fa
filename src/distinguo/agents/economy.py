"""The learner as an agent with the interface of Stable-Baselines3."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from distinguo.agents import session as archive
from distinguo.agents import session as environment
from distinguo.agents.session import (
    Interface,
    Session,
    checked_masks,
    chosen_actions,
    interface_of,
    saved_interface,
)
from distinguo.errors import DistinguoError, check_known
from distinguo.interrupts import held
from distinguo.learners.catalog import ECONOMY, TEACHER
from distinguo.learners.learner import all_learners, learner_named
from distinguo.presets import DEFAULT
from distinguo.representations.file import Representation
from distinguo.runs.configuration import Configuration, configure, of_table
from distinguo.runs.history import TrialRow
from distinguo.runs.run import Run, Verbs
from distinguo.runs.stage import DONE, Stage
from distinguo.tasks.catalog import spec_of
from distinguo.tasks.gym.source import one_of_vector
from distinguo.tasks.gym.task import WORDS

#: Every call to ``learn`` gives the steps, so the stage itself has no budget by default.
UNLIMITED = {"stage.trials": 10**9, "stage.steps": 10**15}
_STREAM = 2  # follows the seed in the key of the agent's own generator, to differ from the learner's

Place = str | os.PathLike[str]


class Economy(Verbs):
    """An agent that divides the state space into as few regions as its task needs and acts by their values.

    ``env`` is a Gymnasium environment, an id, or the name of one of our tasks. An id with a compiled port uses the
    port, which is far faster, unless ``interpreted`` is set. An environment object is stepped itself: a few steps
    show how it can be restored, then it is learned in a copy, if it can be copied. The settings of the learner are
    given by name, those of other tables by dotted name in ``settings``. ``learner`` is another learner, by its name
    or as a declared class; by default, ``distinguo.Agent`` takes the one that suits the task. As for
    ``distinguo.learn``, ``threshold``, ``dimensions``, ``actions`` and ``units`` describe an environment. An agent
    has the methods of a run: ``plot``, ``rollout``, ``audit``, ``verify``, ``export``, ``explain``, ``report`` and
    ``play``.

    >>> agent = Economy("puck", seed=1, gamma=0.99, settings={"stage.hold": 100_000}).learn(1_000_000)
    >>> agent.solved
    True
    >>> action, state = agent.predict((0.5, 1.0))
    >>> int(action)
    0
    >>> Economy("puck", gama=0.9)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown setting learner.gama; did you mean 'gamma'?
    """

    _called = "Economy"
    _usual: str | None = ECONOMY  # the learner if none is given; None for the one that suits the task

    def __init__(
        self,
        env: Any,
        *others: Any,
        seed: int = 0,
        preset: str = DEFAULT,
        tensorboard_log: Place | None = None,
        verbose: int = 0,
        settings: Mapping[str, Any] | None = None,
        interpreted: bool = False,
        **options: Any,
    ) -> None:
        if others or "policy" in options:
            raise DistinguoError(
                f"{self._called} has no policy network, so it takes the environment first and nothing else without a "
                f"name; call {self._called}(env, seed=0)."
            )
        words: Any = {name: options.pop(name) for name in WORDS if name in options}
        learner = options.pop("learner", None)
        by_name = {f"learner.{name}": value for name, value in options.items()}
        chosen = self._usual if learner is None else learner
        _check_options(type(self), chosen, options)
        env = one_of_vector(env)
        configuration = configure(
            env if isinstance(env, str) else spec_of(env, of_table(settings or {}, "task")),
            seed=seed,
            preset_name=preset,
            changes={**UNLIMITED, **(settings or {}), **by_name},
            interpreted=interpreted,
            learner=chosen,
            words=words,
        )
        interface = interface_of(configuration.spec)
        self._set_up(Session(configuration), interface, env, tensorboard_log, verbose)

    def _set_up(
        self, session: Session, interface: Interface, env: Any, tensorboard_log: Place | None, verbose: int
    ) -> None:
        self._session, self._interface = session, interface
        self._env = None if isinstance(env, str) else env
        self._vectorised: Any = None
        self._rng = np.random.default_rng([session.configuration.seed, _STREAM])
        self.tensorboard_log, self.verbose = tensorboard_log, verbose
        self.logger = Scalars()
        self.num_timesteps = 0  #: environment steps of trials and mini-trials since the last reset

    def learn(
        self,
        total_timesteps: int,
        callback: Any = None,
        log_interval: int = 4,
        tb_log_name: str = "Economy",
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> Self:
        """Learn for ``total_timesteps`` more environment steps, or until it is confirmed that the task is solved.

        Steps of trials, of mini-trials and of the preliminary series count. Those of confirmations, in which nothing
        is learned, are counted separately in ``summary``. A session of mini-trials is not interrupted, so a few more
        steps may be taken. A later call continues within the trial: the result does not depend on where calls end.
        Once the task is solved, ``learn`` returns at once.

        ``callback`` is a function of ``(locals_, globals_)``, a ``BaseCallback`` of Stable-Baselines3, or a list of
        them; learning stops if one returns False. As the loop is compiled, they are called after every 1,000 steps
        and at the end of every trial, not after every step. Intervals that callbacks count in calls, such as
        ``eval_freq`` and ``save_freq``, are longer by that factor. Scalars are written every ``log_interval`` trials.
        """
        steps, interval = (
            _whole("total_timesteps", total_timesteps, 0),
            _whole("log_interval", log_interval, 1),
        )
        callbacks = Callbacks(callback)
        begun = self._session.begun
        stage = self._session.stage
        learned = stage.environment_steps if begun else 0  # the preliminary series counts for the first call
        if reset_num_timesteps or not begun:
            self.num_timesteps = stage.environment_steps - learned
        loop = TrainingLoop(self, self._session, callbacks, interval)
        if self.tensorboard_log is not None:
            self.logger.writer = tensorboard_writer(self.tensorboard_log, tb_log_name, reset_num_timesteps)
        try:
            loop.run(learned + steps, progress_bar, tb_log_name=tb_log_name)
        finally:
            self.logger.close()
        return self

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
        action_masks: Any = None,
    ) -> tuple[Any, Any]:
        """Return the action for an observation, or an array of actions for a batch, and ``state`` unchanged.

        Actions are numbered as in the environment; where several choices are made at once, they are those choices.
        Several observations of a Dict or Tuple come as a list. Of tied actions the first is taken or, unless
        ``deterministic``, a random one. Of several attempts the best one acts. Before anything was learned, the first
        representation, a single region, answers. Where ``action_masks`` allow only some actions, as for sb3-contrib's
        ``MaskablePPO``, the best of them is taken.
        """
        rows, single = self._interface.rows(observation, self.configuration.spec.name)
        rng, controller = None if deterministic else self._rng, self._session.learned.controller
        allowed = (
            None if action_masks is None else checked_masks(action_masks, len(rows), controller.q.shape[1])
        )
        chosen = chosen_actions(controller, rows, rng, allowed) + self._interface.first
        if self._interface.choices is not None:
            made = [self._interface.choices(int(a)) for a in chosen]
            return (made[0] if single else made), state
        return (chosen[0] if single else chosen), state

    def save(self, path: Place) -> None:
        """Write everything to one file, whole or not at all; ``.zip`` is added to a name without an ending.

        It is a run folder in a zip, without code.
        """
        word = archive.Word(
            num_timesteps=self.num_timesteps,
            shape=list(self._interface.shape),
            first_action=self._interface.first,
        )
        archive.write(path, self._session.packed(word))

    @classmethod
    def load(
        cls, path: Place, env: Any = None, *, tensorboard_log: Place | None = None, verbose: int = 0
    ) -> Self:
        """Load what :meth:`save` wrote, or a run folder of ``distinguo learn``.

        Acting needs no environment. Learning continues with the same bits as if it had never been interrupted; if it
        was in an environment object, pass one like it as ``env``.
        """
        files, source = archive.read(path)
        word = archive.read_word(files, source)
        session = Session.opened(files, source, word)
        if word is None:
            session.configuration = _unlimited(session.configuration)
        if env is not None:
            session.configuration = environment.placed(session.configuration, env)
        interface = saved_interface(session.configuration.spec, None if env is not None else word)
        agent = cls.__new__(cls)
        agent._set_up(session, interface, env, tensorboard_log, verbose)
        agent.num_timesteps = word.num_timesteps if word else session.summary.get("environment_steps", 0)
        return agent

    @property
    def configuration(self) -> Configuration:
        """All settings."""
        return self._session.configuration

    @property
    def run(self) -> Run:
        """What was learned so far as a run, with its trials, reasons and history.

        >>> agent = Economy("puck", seed=1).learn(500)
        >>> len(agent.run.trials), agent.run.history[-1].trial
        (5, 5)
        """
        return self._session.run

    def _as_run(self) -> Run:
        return self.run

    @property
    def representation(self) -> Representation:
        """The representation that it acts by."""
        return self._session.learned.representation

    @property
    def q(self) -> np.ndarray:
        """The action values, one row per region as ``region`` numbers them."""
        return self._session.learned.controller.q

    @property
    def solved(self) -> bool:
        """Whether it is confirmed that the task is solved."""
        return bool(self.summary.get("solved"))

    @property
    def summary(self) -> dict[str, Any]:
        """The result so far in short, as in ``result.json``."""
        return self._session.summary

    @property
    def env(self) -> Any:
        """Return the environment that was given, or Gymnasium's own of that name."""
        if self._env is None:
            self._env = environment.made(self.configuration.spec, self.configuration.stage.cap)
        return self._env

    def get_env(self) -> Any:
        """Return the environment; as a vectorised one if Stable-Baselines3 is in use."""
        if self._vectorised is None:
            self._vectorised = environment.vectorised(self.env)
        return self.env if self._vectorised is None else self._vectorised

    def get_vec_normalize_env(self) -> None:
        """Return None: observations are not normalised."""
        return

    def dump_logs(self) -> None:
        """Write the current scalars."""
        TrainingLoop(self, self._session, Callbacks(), 1).log()


class SuitedAgent(Economy):
    """The same agent with the learner that suits the task, as ``distinguo.learn`` chooses it: ``distinguo.Agent``.

    >>> SuitedAgent("puck").configuration.learner_name
    'economy'
    >>> SuitedAgent("MlpPolicy", "CartPole-v1")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Agent has no policy network, so it takes the environment first ...
    """

    _called = "Agent"
    _usual = None


def _check_options(kind: type, learner: Any, options: Mapping[str, Any]) -> None:
    """Reject settings by name that the learner does not have; with no learner yet, those that none has."""
    if learner == TEACHER:
        raise DistinguoError(
            "The learner teacher does not learn step by step; call distinguo.teach(task), or train an agent of "
            "Stable-Baselines3 yourself and call distinguo.distil(model, task)."
        )
    known = all_learners() if learner is None else [learner_named(learner)]
    fields = dict.fromkeys(name for one in known for name in one.settings._fields)
    check_known(options, fields, "learner", ("learner", *inspect.signature(kind).parameters, *WORDS))


def _unlimited(configuration: Configuration) -> Configuration:
    """Remove the budgets of the stage, which ended with the run."""
    return configuration._replace(stage=configuration.stage._replace(**of_table(UNLIMITED, "stage")))


def _whole(name: str, given: Any, least: int) -> int:
    """Return a number, which may be written as 1e6."""
    number = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not number or not math.isfinite(given) or int(given) != given or given < least:
        raise DistinguoError(f"{name} should be a whole number from {least}, got {given!r}.")
    return int(given)


# One call to an agent's ``learn``: chunks of work with callbacks, scalars and a progress bar between them.


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
        """Whether there are any callbacks."""
        return bool(self.functions or self.objects)

    def begin(self, model: Any, words: dict[str, Any]) -> None:
        """Announce that learning begins; ``words`` are the local variables that callbacks see."""
        for one in self.objects:
            one.init_callback(model)
            one.on_training_start(words, globals())
        self.tell("on_rollout_start")

    def tell(self, event: str) -> None:
        """Announce that a trial begins or ends, or that learning ends."""
        for one in self.objects:
            getattr(one, event)()

    def step(self, words: dict[str, Any]) -> bool:
        """Announce progress; return whether to continue. All callbacks are called, even if one returns False."""
        answers = [one(words, globals()) for one in self.functions]
        for one in self.objects:
            one.update_locals(words)
            answers.append(one.on_step())
        return all(answer is None or answer for answer in answers)


STRIDE = 1_000  #: steps between two calls of a callback


class TrainingLoop:
    """Works on a session until its steps are used up, a callback stops it, or nothing is left to learn."""

    def __init__(self, agent: Any, session: Session, callbacks: Callbacks, interval: int) -> None:
        self.agent, self.session, self.callbacks = agent, session, callbacks
        self.interval = interval  #: trials between two entries of scalars
        self.stage = session.stage
        self.before = self.stage.environment_steps - agent.num_timesteps  #: steps that no longer count
        self.logged = -1  #: time steps at the last entry of scalars
        self.words: dict[str, Any] = {"self": agent, "dones": np.array([False]), "infos": [{}]}

    def run(self, steps: int, progress_bar: bool, **words: Any) -> None:
        """Learn until the total of environment steps is reached."""
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
        """Work chunk by chunk; yield the steps of each."""
        work = self.stage.work()
        go_on = True
        while go_on and not self.session.is_out_of_steps and self.stage.phase != DONE:
            before = self.stage.environment_steps
            trial = self._chunk(work)
            advanced = self.stage.environment_steps - before
            if trial is not None or advanced:  # a confirmation changes nothing that a callback sees
                go_on = self._tell(trial)
            yield advanced

    def _chunk(self, work: Iterator[Any]) -> TrialRow | None:
        """Do one chunk, which Ctrl-C does not interrupt; if the task fails, only the running trial is lost."""
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
    """Show the steps taken and the number of regions."""
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("steps, {task.fields[regions]} regions"))
    with Progress(*columns, TimeRemainingColumn(), disable=not shown) as progress:
        task = progress.add_task("", total=total, regions=1)
        yield lambda advanced, regions: progress.update(task, advance=advanced, regions=regions)


# Scalars over time, recorded like Stable-Baselines3's logger does and written for TensorBoard.


class Scalars:
    """Scalars recorded since the last dump, by name; a dump writes them if there is a writer.

    >>> scalars = Scalars()
    >>> scalars.record("economy/regions", 12)
    >>> scalars.name_to_value
    {'economy/regions': 12}
    >>> scalars.dump(1000)
    >>> scalars.name_to_value, scalars.latest
    ({}, {'economy/regions': 12})
    """

    def __init__(self, writer: Any = None) -> None:
        self.writer = writer
        self.name_to_value: dict[str, Any] = {}
        self.latest: dict[str, Any] = {}  #: what was dumped last
        self._excluded: set[str] = set()

    def record(self, key: str, value: Any, exclude: str | Sequence[str] | None = None) -> None:
        """Keep a number until the next dump; one that excludes ``"tensorboard"`` is not written there."""
        self.name_to_value[key] = value
        if exclude is not None and "tensorboard" in exclude:
            self._excluded.add(key)

    def dump(self, step: int = 0) -> None:
        """Write what was recorded, at this time step, and forget it."""
        for key, value in self.name_to_value.items():
            if self.writer is not None and key not in self._excluded and np.isscalar(value):
                self.writer.add_scalar(key, value, step)
        if self.writer is not None:
            self.writer.flush()
        self.latest, self.name_to_value = self.name_to_value, {}
        self._excluded = set()

    def close(self) -> None:
        """Close the file."""
        if self.writer is not None:
            self.writer.close()
            self.writer = None


def describe(stage: Stage, recent: Collection[TrialRow]) -> dict[str, float]:
    """Return the scalars of a stage; means are over the ``recent`` trials."""
    return {
        "rollout/ep_rew_mean": _mean([trial.gained for trial in recent]),
        "rollout/ep_len_mean": _mean([trial.length for trial in recent]),
        "time/episodes": stage.count_trials,
        "economy/regions": stage.regions,
        "economy/prototypes": stage.prototypes,
        "economy/investigation_steps": stage.investigation_steps,
        "economy/attempts": stage.attempts,
    }


def _mean(numbers: Sequence[float]) -> float:
    return float(np.mean(numbers)) if numbers else math.nan


def tensorboard_writer(folder: str | os.PathLike[str], name: str, anew: bool) -> Any:
    """Return a writer to the next free ``folder/name_1``, ``name_2``, …, or to the latest one unless ``anew``."""
    try:
        writer = import_module("tensorboardX").SummaryWriter
    except ImportError:
        raise DistinguoError(
            'TensorBoard scalars need tensorboardX, which is not installed; run: pip install "distinguo[tensorboard]"'
        ) from None
    latest = _latest(Path(folder), name)
    return writer(str(Path(folder) / f"{name}_{max(1, latest + anew)}"))


def _latest(folder: Path, name: str) -> int:
    found = (path.name.removeprefix(f"{name}_") for path in folder.glob(f"{name}_*"))
    return max((int(number) for number in found if number.isdecimal()), default=0)
