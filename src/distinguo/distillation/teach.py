"""``teach``: train a network of Stable-Baselines3 on a task, then distil it into a small map.

Nine tenths of the budget are for training; the rest is for choosing among the networks of its second half. The
network is kept in the run folder as Stable-Baselines3's own zip. An interrupted run reads its weights from there,
which runs no code, and goes on with the distillation.
"""

from __future__ import annotations

import io
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from distinguo.distillation.distil import (
    Distilled,
    NoMapError,
    Wish,
    check_asked,
    distilled,
    distilled_in,
)
from distinguo.distillation.ledger import RECORD, Arrays, Ledger
from distinguo.distillation.levels import HOLDING, has_amounts
from distinguo.distillation.teachers import CLASSES, Policy
from distinguo.errors import DistinguoError, check_known, checks_names, counted, path_from, reason_of, shown
from distinguo.learners.catalog import TEACHER
from distinguo.learners.distilled import DistilSettings
from distinguo.learners.teacher.learner import Published, TeacherSettings, published
from distinguo.progress import show_progress
from distinguo.runs.configuration import assigned_text, check_seed, of_table
from distinguo.runs.folder import NETWORK, finished_run
from distinguo.runs.request import RunRequest
from distinguo.runs.run import Run
from distinguo.settings import checked
from distinguo.tasks.catalog import SPECS, spec_of, task_spec
from distinguo.tasks.gym.face import TaskEnv
from distinguo.tasks.gym.source import LEVELS, one_of_vector, source_of
from distinguo.tasks.gym.spaces import view_of
from distinguo.tasks.spec import CATEGORIES
from distinguo.writing import write_atomically

Watch = Callable[[str], None]
Make = Callable[[], Any]  #: a new environment
Weights = dict[str, Any]  #: of a network

TRAINING = 0.9  #: the share of the budget for training
MARKS = (0.6, 0.7, 0.8, 0.9)  #: of training, after which the network is a candidate beside the last one
TRIALS = 20  #: of each candidate at most
FIRST = 10_000  #: the seed of their first trial
SECONDS = 1.0  #: between two lines of progress
FEWEST = 8  #: steps of each copy in a rollout at least


class TrainingStoppedError(DistinguoError):
    """The caller stopped the training of a network, of which nothing is kept."""


@checks_names()
def teach(
    task: Any,
    *,
    seed: int = 0,
    regions: int | None = None,
    keep: float | None = None,
    settings: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    watch: Watch | None = None,
) -> Distilled:
    """Train a network of Stable-Baselines3 on a task and distil it; ``learn(task, learner="teacher")`` is the same.

    Known ids use the settings of the RL Zoo, all other tasks Stable-Baselines3's defaults. ``settings`` are changes
    by dotted name: ``learner.algorithm``, ``learner.steps`` (the budget of training), ``learner.distil_steps`` (that
    of the distillation) and the settings of :func:`~distinguo.distil`, whose other arguments mean the same here. With
    ``out``, the network is kept as ``teacher.zip`` in the folder, and an interrupted run is not trained again.

    >>> teach("CartPole-v1", settings={"learner.algorithm": "sarsa"})
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Setting learner.algorithm should be '', 'dqn', ... got 'sarsa'.
    """
    if watch is not None and not callable(watch):
        raise DistinguoError(f"watch should be a function of a text, got {shown(watch)}.")
    place = None if out is None else path_from(out)
    teaching = teaching_of(task, seed, regions, keep, settings)
    with show_progress("Teaching") as tell:
        told = watch or (lambda text: tell(f"Teaching: {text}"))
        return teaching.held(told) if place is None else teaching.held_in(place, teaching.request(), told)


def teach_run(
    task: Any,
    *,
    seed: int,
    keep: float | None,
    settings: Mapping[str, Any] | None,
    out: str | Path | None,
) -> Run:
    """The run that ``teach`` makes, or the one that is in the folder already."""
    if out is not None:
        request = teaching_of(task, seed, None, keep, settings).request()
        if (known := finished_run(path_from(out), request, RECORD)) is not None:
            return known
    return teach(task, seed=seed, keep=keep, settings=settings, out=out).run


class Teaching(NamedTuple):
    """What is trained and then distilled."""

    wish: Wish  #: what is distilled; its teacher is not there yet
    own: TeacherSettings
    asked: Mapping[str, Any]  #: all changes of settings

    def request(self, task: str = "") -> RunRequest:
        """What is asked, as the folder records it; the command line has a word of its own for the task."""
        wish = self.wish
        words = ["learn", task or Wish.name_of(wish.task), "--learner", TEACHER, "--seed", str(wish.seed)]
        words += [] if wish.regions is None else ["--regions", str(wish.regions)]
        words += [] if wish.keep is None else [f"--threshold={wish.keep}"]
        for name, value in self.asked.items():
            words += ["--set", f"{name}={assigned_text(value)}"]
        asked = {"learner": TEACHER, "task": words[1], "seed": wish.seed, "regions": wish.regions}
        return RunRequest(asked | {"keep": wish.keep, **self.asked}, words)

    def held(self, watch: Watch) -> Distilled:
        """Train and distil in memory."""
        return taught(self, None, self.wish, Ledger(), watch)

    def held_in(
        self,
        path: Path,
        request: RunRequest,
        watch: Watch,
        draw: Callable[[Distilled], None] = lambda small: None,
    ) -> Distilled:
        """Train and distil in a folder, from where an interrupted process stopped."""
        training_of(self)  # what cannot be trained is rejected before there is a folder
        return distilled_in(path, self.wish, request, watch, draw, partial(taught, self, path))


def teaching_of(
    task: Any, seed: int, regions: int | None, keep: float | None, settings: Mapping[str, Any] | None
) -> Teaching:
    """Check what is asked; nothing is trained yet."""
    if settings is not None and not isinstance(settings, Mapping):
        raise DistinguoError(f"Settings are a dictionary by dotted name, got {shown(settings)}.")
    asked = dict(settings or {})
    for name in asked:
        if str(name).partition(".")[0] not in ("task", "learner"):
            raise DistinguoError(
                f"The learner 'teacher' does not use the setting {name}; it takes those of the tables task and "
                "learner, such as learner.steps, its budget of training, and learner.distil_steps."
            )
    given = of_table(asked, "learner")
    others = [name for name in DistilSettings._fields if name not in ("teacher", "steps")]
    check_known(given, [*TeacherSettings._fields, *others], "learner")
    own = checked(
        TeacherSettings, {k: v for k, v in given.items() if k in TeacherSettings._fields}, "learner"
    )
    changes = {
        key: value
        for key, value in asked.items()
        if key.removeprefix("learner.") not in TeacherSettings._fields or not key.startswith("learner.")
    }
    checked(DistilSettings, of_table(changes, "learner"), "learner")
    check_asked(regions, keep)
    if regions is not None:
        changes.setdefault("learner.most", regions)  # larger maps would only cost steps
    if own.distil_steps:
        changes["learner.steps"] = own.distil_steps
    return Teaching(Wish(None, one_of_vector(task), check_seed(seed), regions, keep, changes), own, asked)


def taught(
    teaching: Teaching, path: Path | None, wish: Wish, ledger: Ledger, watch: Watch | None
) -> Distilled:
    """Train, or open what was trained before, and distil; the ledger knows whether there was a training."""
    training = training_of(teaching)
    zipped = None if path is None else path / NETWORK
    watch = watch or (lambda text: None)
    began, models = time.perf_counter(), []

    def train() -> Arrays:
        model, steps, returns = training.done(watch)
        models.append(model)
        if zipped is not None:
            content = io.BytesIO()
            model.save(content)
            write_atomically(zipped, content.getvalue())
        seconds = time.perf_counter() - began
        return {"steps": np.array(steps), "returns": returns, "seconds": np.array(seconds)}

    found = ledger.answer(training.question, train, lambda arrays: arrays["steps"].shape == (2,))
    model = models[0] if models else training.opened(zipped)
    trained, chosen = (int(number) for number in found["steps"])
    name = str(zipped) if zipped is not None else training.name
    try:
        small = distilled(wish._replace(teacher=Policy(model, name)), ledger, watch)
    except NoMapError as error:
        again = f" Its network is kept; distil it: distinguo distil {zipped} --task {training.task}"
        raise NoMapError(_for_training(str(error)) if zipped is None else f"{error}{again}") from None
    before = small.run.summary
    summary = {
        "training": training.name,
        "training_steps": trained + chosen,
        "distillation_steps": before["environment_steps"],
        "training_seconds": round(float(found["seconds"]), 4),
        "environment_steps": before["environment_steps"] + trained + chosen,
        "total_steps": before["total_steps"] + trained + chosen,
        "seconds": round(before["seconds"] + float(found["seconds"]), 4),
    }
    run = small.run._replace(summary={**before, **summary})
    notes = (cost_sentence(run.summary), *map(_for_training, small.notes))
    if not run.solved and run.configuration.spec.goal.can_be_solved:
        notes += (f"Not solved; train longer in another folder: --set learner.steps={10 * training.steps}.",)
    return small._replace(run=run, notes=notes)


def _for_training(note: str) -> str:
    """A note on a distillation, with the name that its budget has here."""
    return note.replace("learner.steps=", "learner.distil_steps=")


def cost_sentence(summary: Mapping[str, Any]) -> str:
    """Which network was trained, and what that and the distillation cost.

    >>> cost_sentence({"training": "PPO", "training_steps": 100_000, "distillation_steps": 5_000,
    ...     "confirmation_steps": 400, "price_steps": 0})
    'Trained PPO (100,000 steps) and distilled it (5,000 steps); to confirm it took 400 steps, the prices 0 steps.'
    """
    trained, shrunk = (counted(summary[name], "step") for name in ("training_steps", "distillation_steps"))
    return (
        f"Trained {summary['training']} ({trained}) and distilled it ({shrunk}); to confirm it took "
        f"{counted(summary['confirmation_steps'], 'step')}, the prices {counted(summary['price_steps'], 'step')}."
    )


# ---- the network ---------------------------------------------------------------------------------------------------


class NetworkTraining(NamedTuple):
    """A network that is to be trained."""

    task: str
    make: Make
    copies: int  #: that can be made at most
    limit: int  #: steps of a trial that chooses among networks
    plan: Published
    steps: int  #: the budget
    seed: int

    @property
    def name(self) -> str:
        """The algorithm as it is usually written."""
        return CLASSES[self.plan.algorithm][1]

    @property
    def question(self) -> list[Any]:
        """What is asked of the ledger."""
        return ["training", self.task, self.plan.algorithm, self.steps, self.seed]

    @property
    def most(self) -> int:
        """The steps of training at most."""
        return math.floor(TRAINING * self.steps)

    def done(self, watch: Watch) -> tuple[Any, tuple[int, int], np.ndarray]:
        """Train: the best network, the steps of training and of choosing, and the best one's returns then."""
        copies = max(1, min(self.plan.copies, self.copies, self.most // FEWEST))
        with _quiet_and_single():
            venv = self._venv(copies)
            try:
                model = self._model(venv, copies)
                course = Course(self, copies, watch)
                total = self.most - self.most % _rollout(model, copies) or self.most
                self._called(lambda: model.learn(total, callback=course.step))
                candidates = [*course.candidates, _weights(model)]
                chosen, spent, returns = self._best(model, candidates, watch, model.num_timesteps)
                model.policy.load_state_dict(chosen)
                return model, (model.num_timesteps, spent), returns
            finally:
                venv.close()

    def opened(self, path: Path | None) -> Any:
        """The network whose training is complete; its weights are read from the zip, and no code in it is run."""
        assert path is not None
        with _quiet_and_single():
            venv = self._venv(1)
            try:
                model = self._model(venv, 1)
                model.set_parameters(str(path), device="cpu")
            except Exception as error:
                raise DistinguoError(
                    f"{path} cannot be read ({reason_of(error)}); delete the folder to train again."
                ) from None
            finally:
                venv.close()
        return model

    def _venv(self, copies: int) -> Any:
        monitor = import_module("stable_baselines3.common.monitor").Monitor
        return import_module("stable_baselines3.common.vec_env").DummyVecEnv(
            [lambda: monitor(self.make())] * copies
        )

    def _model(self, venv: Any, copies: int) -> Any:
        module, name = CLASSES[self.plan.algorithm]
        options = {
            **self.plan.options,
            **{key: partial(_falling, top) for key, top in self.plan.falling.items()},
        }
        if self.plan.algorithm in ("ppo", "a2c"):
            usual = 2048 if self.plan.algorithm == "ppo" else 5
            rollout = options.get("n_steps", usual) * self.plan.copies  # of all copies together
            options["n_steps"] = max(1, min(rollout, self.most) // copies)
        policy = (
            "MultiInputPolicy" if isinstance(venv.observation_space, gymnasium.spaces.Dict) else "MlpPolicy"
        )
        kind = getattr(import_module(module), name)
        return self._called(lambda: kind(policy, venv, seed=self.seed % 2**32, device="cpu", **options))

    def _called(self, work: Callable[[], Any]) -> Any:
        """Do work of Stable-Baselines3; what it rejects is said in one sentence."""
        try:
            return work()
        except (DistinguoError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise DistinguoError(
                f"{self.name} could not be trained on {self.task} ({reason_of(error)}); try another, as in --set "
                "learner.algorithm=ppo, or another learner."
            ) from error

    def _best(
        self, model: Any, candidates: list[Weights], watch: Watch, trained: int
    ) -> tuple[Weights, int, np.ndarray]:
        """The candidate with the best mean return of greedy trials from the same starts, as far as steps are left."""
        env, left, spent = self.make(), self.steps - trained, 0
        rounds: list[list[float]] = []
        try:
            while len(rounds) < TRIALS:
                watch(
                    f"choosing among the last {len(candidates)} networks: {counted(len(rounds), 'trial')} of each"
                )
                gained: list[float] = []
                for weights in candidates:
                    model.policy.load_state_dict(weights)
                    amount, steps, complete = self._trial(model, env, FIRST + len(rounds), left - spent)
                    spent += steps
                    if complete:
                        gained.append(amount)
                if len(gained) < len(candidates):
                    break
                rounds.append(gained)
        except StopIteration:
            raise self.stopped(trained) from None
        finally:
            env.close()
        returns = np.array(rounds).reshape(-1, len(candidates))
        best = len(candidates) - 1
        if len(returns):
            means = returns.mean(axis=0)
            best = int(np.flatnonzero(means == means.max())[-1])  # the one that was trained longest
        return candidates[best], spent, returns[:, best]

    def _trial(self, model: Any, env: Any, seed: int, left: int) -> tuple[float, int, bool]:
        """One greedy trial within the steps that are left: its return, its steps, and whether it is complete."""
        if left < 1:
            return 0.0, 0, False
        seen, _ = self._called(lambda: env.reset(seed=seed))
        gained, steps, ended = 0.0, 0, False
        while not ended and steps < min(left, self.limit):
            action = model.predict(seen, deterministic=True)[0]
            seen, reward, terminated, truncated, _ = self._called(partial(env.step, action))
            gained, ended, steps = gained + float(reward), terminated or truncated, steps + 1
        return gained, steps, ended or steps == self.limit

    def stopped(self, steps: int) -> TrainingStoppedError:
        """The error for a training that the caller stopped."""
        return TrainingStoppedError(
            f"Stopped while {self.name} was trained on {self.task}, after {counted(steps, 'step')}, which are lost: "
            "a network is only kept once its training is complete; the same command trains it again."
        )


def training_of(teaching: Teaching) -> NetworkTraining:
    """What is to be trained; a task or an installation that does not allow it is rejected."""
    wish = teaching.wish
    name, make, copies, limit = _environment(wish.task, of_table(wish.changes, "task"))
    plan = published(name, teaching.own.algorithm)
    module = CLASSES[plan.algorithm][0]
    for package in dict.fromkeys(["stable_baselines3", module]):
        try:
            import_module(package)
        except ImportError:
            raise DistinguoError(
                f"The learner 'teacher' needs {package.replace('_', '-')}, which is not installed; run: pip install "
                '"distinguo[others]", or choose another learner.'
            ) from None
    return NetworkTraining(name, make, copies, limit, plan, teaching.own.steps or plan.steps, wish.seed)


def _environment(task: Any, parameters: Mapping[str, Any]) -> tuple[str, Make, int, int]:
    """The name of a task, how its environment is made, how many can be made, and the steps of a trial at most."""
    own = {key: value for key, value in parameters.items() if key != LEVELS}
    declared = not isinstance(task, gymnasium.Env | str) or (isinstance(task, str) and _is_port(task, own))
    if declared:
        spec = task_spec(task, own) if isinstance(task, str) else spec_of(task, own)
        if not spec.interpreted or not hasattr(spec.task, "driver"):
            limit = spec.cap(HOLDING)
            _check_numbers(spec.kind, spec.name)
            return spec.name, lambda: TaskEnv(spec, limit), 2**31, limit
        source = spec.task.driver.source
    else:
        source = source_of(task, own if isinstance(task, str) else {})
    env = source.with_amounts()
    _check_numbers(view_of(env.observation_space, source.name).kind, source.name)
    limit = source.limit or HOLDING
    if source.env is not None:  # an object: only itself
        return source.name, lambda: _Lent(env), 1, limit
    return source.name, lambda: gymnasium.wrappers.TimeLimit(source.with_amounts(), limit), 2**31, limit


class _Lent(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that belongs to the caller, who closes it."""

    def close(self) -> None:
        """Leave it open."""


def _is_port(task: str, own: Mapping[str, Any]) -> bool:
    """Whether a name is that of a task of ours, and not Gymnasium's environment with its usual parameters."""
    registered = task in gymnasium.registry or ":" in task
    return not registered or (task in SPECS and bool(own) and not has_amounts(task))


def _check_numbers(kind: str, name: str) -> None:
    if kind == CATEGORIES:
        raise DistinguoError(
            f"{name} observes labels, which have no nearest prototype; learn it with --learner sweeping."
        )


class Course:
    """The course of a training: progress, candidates, and the end of its budget."""

    def __init__(self, training: NetworkTraining, copies: int, watch: Watch) -> None:
        self.training, self.copies, self.watch = training, copies, watch
        self.candidates: list[Weights] = []
        self.began = self.told = time.monotonic()

    def step(self, words: Mapping[str, Any], _: Any) -> bool:
        """After a step of every copy: whether another one is within the budget."""
        model, most = words["self"], self.training.most
        taken = model.num_timesteps
        if len(self.candidates) < len(MARKS) and taken >= MARKS[len(self.candidates)] * most:
            self.candidates.append(_weights(model))
        if time.monotonic() - self.told > SECONDS:
            self.told = time.monotonic()
            try:
                self.watch(self.line(taken, [one["r"] for one in model.ep_info_buffer]))
            except StopIteration:
                raise self.training.stopped(taken) from None
        return taken + self.copies <= most

    def line(self, taken: int, returns: list[float]) -> str:
        """How far the training has come."""
        left = (time.monotonic() - self.began) * (self.training.most - taken) / max(taken, 1)
        mean = f"mean return {np.mean(returns):z.4g}, " if returns else ""
        most = counted(self.training.most, "step")
        return (
            f"training {self.training.name}: {taken:,} of {most}, {mean}{counted(round(left), 'second')} left"
        )


def _weights(model: Any) -> Weights:
    return {name: tensor.clone() for name, tensor in model.policy.state_dict().items()}


def _rollout(model: Any, copies: int) -> int:
    """The steps that are taken before a network is changed: a training that ends within them wastes some."""
    n_steps = getattr(model, "n_steps", 1)
    return n_steps * copies if isinstance(n_steps, int) else 1


def _falling(top: float, left: float) -> float:
    """A schedule that falls to 0; ``left`` is the share of the training that is left."""
    return top * left


@contextmanager
def _quiet_and_single() -> Iterator[None]:
    """One thread of torch, which is faster for small networks, and no advice of Stable-Baselines3."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"stable_baselines3|sb3_contrib")
            yield
    finally:
        torch.set_num_threads(threads)
