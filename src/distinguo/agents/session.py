"""An agent's learning session: a stage or, until it is needed, the files of one."""

from __future__ import annotations

import io
import math
import os
import sys
import tempfile
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from gymnasium import spaces
from pydantic import BaseModel, ConfigDict, Field

from distinguo.controller import Controller
from distinguo.criteria import preferred
from distinguo.errors import DistinguoError, attempt, shown
from distinguo.reading.arrays import read_zip
from distinguo.reading.files import parse_json, read_bytes
from distinguo.representations import file as representation_file
from distinguo.representations.file import Representation
from distinguo.representations.partition import regions_of
from distinguo.runs import folder
from distinguo.runs.configuration import Configuration
from distinguo.runs.digests import DIGESTS, digests_text
from distinguo.runs.history import HISTORY, TrialRow, ending_with
from distinguo.runs.run import Run, summarise
from distinguo.runs.settings_file import to_toml
from distinguo.runs.stage import BETWEEN, DONE, SAMPLE, TRIAL, Stage
from distinguo.tasks.catalog import is_absent
from distinguo.tasks.catalog import task_spec as known
from distinguo.tasks.gym.registration import PUCK_ID
from distinguo.tasks.gym.source import FEATURES, LEVELS, OF_OBJECTS
from distinguo.tasks.gym.spaces import NumberedActions, View, view_of
from distinguo.tasks.spec import CATEGORIES, TaskSpec
from distinguo.writing import pack_arrays, write_atomically

WINDOW = 100  #: trials in a mean


class Acting(NamedTuple):
    """What an agent acts by at one moment; immutable."""

    representation: Representation
    controller: Controller
    values: dict[str, np.ndarray]  #: what ``values.npz`` holds


class Session:
    """What was learned, and how to continue.

    The stage is started or resumed at its first use: an agent that only acts needs no environment.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.recent: deque[TrialRow] = deque(maxlen=WINDOW)
        self._files: Files = {}  # of the run folder that was loaded or saved last
        self._source = "the agent"
        self._summary: dict[str, Any] = {"solved": False}
        self._stage: Stage | None = None
        self._learned: Acting | None = None

    @classmethod
    def opened(cls, files: Files, source: str, word: Word | None) -> Session:
        """Return the session that was saved in these files; an unfinished run has no summary of its own."""
        with unpacked(files, source) as place:
            run = folder.open_run(place)
        session = cls(run.configuration)
        session._files, session._source = files, source
        session._summary = run.summary if word is None else word.summary or {"solved": False}
        values = {"q": run.q, "updates": run.updates}
        session._learned = Acting(run.representation, run.controller, values)
        session.recent.extend(run.trials[-WINDOW:])
        return session

    @property
    def stage(self) -> Stage:
        """Return the stage, started or resumed."""
        if self._stage is None:
            self._stage = self._resumed() if self._files else Stage(self.configuration)
        return self._stage

    @property
    def begun(self) -> bool:
        """Whether anything was learned before, here or in the files."""
        return self._stage is not None or bool(self._files)

    def _resumed(self) -> Stage:
        if folder.CHECKPOINT not in self._files:
            raise DistinguoError(
                f"{self._source} has no {folder.CHECKPOINT}: it can act, but not learn on; take a whole copy."
            )
        with unpacked(self._files, self._source) as place:
            stage = folder.resume(place, self.configuration)
            self._files = gathered(place)
        if stage.phase == DONE and not stage.solved and not stage.is_spent:
            stage.phase = BETWEEN  # it ended without success, but there is budget left
        return stage

    @property
    def is_out_of_steps(self) -> bool:
        """Whether the stage has used its steps; a confirmation is finished first."""
        stage = self.stage
        steps = stage.pause_at or 0
        return stage.phase in (BETWEEN, TRIAL) and stage.environment_steps >= steps

    @property
    def learned(self) -> Acting:
        """Return the present policy."""
        if self._learned is None:
            self._learned = learned_by(self.stage, self.recent)
        return self._learned

    @property
    def summary(self) -> dict[str, Any]:
        """Return the result so far in short."""
        return self._summary if self._stage is None else summarise(self._stage)

    def take_note(self) -> TrialRow | None:
        """Record what the last chunk of work changed; return the trial that ended, if one did."""
        self._learned = None
        trials = self.stage.trials
        if not trials or (self.recent and trials[-1].trial <= self.recent[-1].trial):
            return None
        self.recent.append(trials[-1])
        return trials[-1]

    @property
    def run(self) -> Run:
        """The run as it is so far, with its trials, reasons and history."""
        with unpacked(self.packed(Word()), self._source) as place:
            run = folder.open_run(place)
        return run._replace(configuration=self.configuration, summary=self.summary, path=None)

    def packed(self, word: Word) -> Files:
        """Return the files that hold everything."""
        if self._stage is not None or not self._files:
            self._files = self._written(self.stage)
        word = word.model_copy(update={"summary": self.summary})
        files = {**self._files, **self._ended(), AGENT: word.model_dump_json(indent=2).encode()}
        free = (folder.SETTINGS, folder.CHECKPOINT, DIGESTS)  # a checkpoint itself says what it belongs to
        bound = {name: content for name, content in files.items() if name not in free}
        return {**files, DIGESTS: digests_text(bound).encode()}

    def _ended(self) -> Files:
        """Return the history up to the end of the stage; the saved one ends at its checkpoint."""
        if self._stage is None or self._stage.phase != DONE:
            return {}
        frames = self._files[HISTORY].decode().splitlines(keepends=True)
        return {HISTORY: "".join(ending_with(frames, self._stage.frame())).encode()}

    def _written(self, stage: Stage) -> Files:
        growing = {name: self._files[name] for name in folder.GROWING if name in self._files}
        with unpacked(growing, self._source) as place:
            write_atomically(place / folder.SETTINGS, to_toml(self.configuration))
            folder.save_checkpoint(place, stage)
            text = representation_file.dumps(self.learned.representation)
            write_atomically(place / folder.REPRESENTATION, text)
            write_atomically(place / folder.VALUES, pack_arrays(self.learned.values))
            if stage.phase == DONE:
                write_atomically(place / folder.RESULT, folder.result_text(summarise(stage)))
            return gathered(place)


def learned_by(stage: Stage, recent: Iterable[TrialRow]) -> Acting:
    """Return the policy to act by: the present attempt, or the best earlier one if that did better.

    An earlier attempt is judged by the mean return of its greedy trials, the present one by that of its last trials,
    once there are enough.
    """
    memory, best = stage.agent.memory, stage.best
    if not stage.solved and best is not None and best.score > _present_score(stage, recent):
        memory = best.memory
    controller = stage.learner.controller(memory, stage.configuration.learner)
    representation = stage.representation()._replace(partition=controller.partition)
    arrays = {"q": controller.q, **stage.learner.values(memory)}
    values = {name: array[: representation.regions].copy() for name, array in arrays.items()}
    return Acting(representation, Controller(representation.partition, values["q"], controller.delta), values)


def _present_score(stage: Stage, recent: Iterable[TrialRow]) -> float:
    since = stage.agent.progress.counts["since"][0]
    returns = [trial.gained for trial in recent if trial.trial > since][-SAMPLE:]
    return float(np.mean(returns)) if len(returns) == SAMPLE else -np.inf


# An agent's file: a run folder in a zip, and a file about the agent. Reading it runs no code.
#
# Unpacked, it is a run folder that every command of distinguo reads; a run folder can be loaded as it is.


AGENT = "agent.json"
VERSION = 1
LARGEST = 2**30  #: bytes of an agent's files, unpacked
#: The files that are read and written; others are ignored.
NAMES = (
    *(folder.SETTINGS, folder.REPRESENTATION, folder.VALUES, *folder.GROWING),
    *(folder.RESULT, folder.CHECKPOINT, AGENT, DIGESTS),
)
Files = dict[str, bytes]
_Count = Annotated[int, Field(ge=0, lt=2**63)]


class Word(BaseModel):
    """Facts about an agent that a run folder does not hold."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    version: Annotated[int, Field(ge=1)] = VERSION
    num_timesteps: _Count = 0
    shape: Annotated[list[_Count], Field(max_length=32)] | None = None  # of one observation
    first_action: Annotated[int, Field(ge=-(2**53), le=2**53)] = 0  # the limits of a space
    summary: dict[str, Any] = {}


def read(path: str | os.PathLike[str]) -> tuple[Files, str]:
    """Return the files of an agent by name, and its path; as for saving, ``.zip`` may be omitted."""
    place = Path(path)
    if not place.exists() and named(place).exists():
        place = named(place)
    return (_from_folder(place) if place.is_dir() else read_zip(place, NAMES, LARGEST)), str(place)


def named(path: str | os.PathLike[str]) -> Path:
    """Return the path with ``.zip`` if it has no suffix, as Stable-Baselines3 does.

    >>> named("best_model").name, named("agent.zip").name
    ('best_model.zip', 'agent.zip')
    """
    place = Path(path)
    return place if place.suffix else place.with_name(f"{place.name}.zip")


def _from_folder(place: Path) -> Files:
    found = [place / name for name in NAMES if (place / name).is_file()]
    size = sum(path.stat().st_size for path in found)
    if size > LARGEST:
        raise DistinguoError(f"{place} holds {size} bytes, more than {LARGEST}; not read.")
    return {path.name: read_bytes(path, LARGEST) for path in found}


def write(path: str | os.PathLike[str], files: Files) -> None:
    """Write an agent's files as one zip, whole or not at all."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    place = named(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, buffer.getvalue())
    except OSError as error:
        raise DistinguoError(f"Cannot write {place}: {error.strerror or error}.") from None


@contextmanager
def unpacked(files: Files, source: str) -> Iterator[Path]:
    """Provide a temporary folder with these files; errors name their source."""
    with tempfile.TemporaryDirectory(prefix="distinguo-") as name:
        place = Path(name)
        for file, content in files.items():
            (place / file).write_bytes(content)
        try:
            yield place
        except DistinguoError as error:
            raise DistinguoError(str(error).replace(name, source)) from None


def gathered(place: Path) -> Files:
    """Return the files of a temporary folder."""
    return _from_folder(place)


def read_word(files: Files, source: str) -> Word | None:
    """Return the facts about the agent, if there are any: a run folder has none."""
    if AGENT not in files:
        return None
    try:
        content = parse_json(files[AGENT], AGENT)
        newer = content["version"] > VERSION
        word = Word.model_validate(content)
        if word.summary and not folder.is_result(word.summary):
            raise ValueError("the summary is damaged")
    except (ValueError, TypeError, LookupError):
        raise DistinguoError(f"{source}/{AGENT} is damaged; take a whole copy.") from None
    if newer:
        raise DistinguoError(f"{source} was written by a newer distinguo; upgrade to load it.")
    return word


# The environment of an agent's task.


NOISE = "noisy_actions"  #: a parameter of a task that a wrapper takes; the environment takes most others


def made(spec: TaskSpec, cap: int) -> Any:
    """Return Gymnasium's environment of a task by its name; its trials have the learner's limit.

    >>> made(known("puck"), 1000).spec.max_episode_steps
    1000
    """
    import gymnasium

    from distinguo.tasks.gym.images import ReducedObservation
    from distinguo.tasks.gym.source import registered_spec
    from distinguo.tasks.gym.spaces import DiscreteActions, NoisyActions

    limit, name = spec.cap(cap), PUCK_ID if spec.name == "puck" else spec.name
    known_id = registered_spec(name).id  # raises if there is none
    env = gymnasium.make(known_id, **(_arguments(spec) | {"max_episode_steps": limit}))
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        env = DiscreteActions(env, spec.parameters[LEVELS])
    if FEATURES in spec.parameters:
        env = ReducedObservation(env, spec.parameters[FEATURES])
    noise = spec.parameters.get(NOISE)
    return NoisyActions(env, noise) if noise else env


def _arguments(spec: TaskSpec) -> dict[str, Any]:
    """Return the arguments for ``gymnasium.make``, which takes no parameters of most compiled tasks."""
    given = {name: value for name, value in spec.parameters.items() if name not in (*OF_OBJECTS, NOISE)}
    if spec.interpreted or (spec.name == "puck" and "noise" not in given):
        return given
    usual = known(spec.name).parameters
    changed = [name for name, value in given.items() if value != usual.get(name)]
    if changed:
        raise DistinguoError(
            f"There is no Gymnasium environment of {spec.name} with another task.{changed[0]}; make one yourself."
        )
    return {}


def vectorised(env: Any) -> Any:
    """Return the environment as callbacks of Stable-Baselines3 need it, or None if that is not in use."""
    if "stable_baselines3" not in sys.modules:
        return None
    return import_module("stable_baselines3.common.vec_env").DummyVecEnv([lambda: env])


def placed(configuration: Configuration, env: Any) -> Configuration:
    """Return a configuration that learns in this environment; a compiled task stays, for the same bits."""
    from distinguo.tasks.gym.task import make_task

    spec = configuration.spec
    given = {
        name: value for name, value in spec.parameters.items() if spec.interpreted and name in OF_OBJECTS
    }
    task = make_task(PUCK_ID if env == "puck" else env, given)
    checked = task.driver.checked_env
    theirs = (len(checked.view.names), checked.choices.number)
    ours = (len(spec.dimensions), len(spec.actions))
    if theirs != ours:
        raise DistinguoError(
            f"{checked.name} has {theirs[0]} coordinates and {theirs[1]} actions, but {spec.name}, which the agent "
            f"learned, has {ours[0]} and {ours[1]}; give an environment like it."
        )
    return configuration._replace(spec=spec._replace(task=task)) if spec.interpreted else configuration


class Interface(NamedTuple):
    """How observations come in and actions go out.

    >>> from distinguo.tasks.catalog import task_spec
    >>> interface_of(task_spec("puck"))[1:3]
    ((2,), 0)
    """

    view: View
    shape: tuple[int, ...]  #: of one observation
    first: int  #: the environment's number of the first action
    choices: Callable[[int], Any] | None = None  #: what is chosen at once by the number of an action

    def rows(self, observation: Any, name: str) -> tuple[np.ndarray, bool]:
        """Return one or several observations as rows of coordinates, and whether it was one."""
        if self.view.has_parts:
            single = not isinstance(observation, list)
            some = [observation] if single else observation
            return np.array([self.view.flatten(one) for one in some]), single
        shape = np.shape(observation)
        if shape == self.shape:
            return np.array([self.view.flatten(observation)]), True
        if shape[1:] != self.shape or not shape:
            many = f"({', '.join(map(str, ('n', *self.shape)))})"
            raise DistinguoError(
                f"An observation of {name} should have shape {self.shape}, or {many} for several, got {shape}."
            )
        rows = [self.view.flatten(one) for one in observation]
        return np.array(rows).reshape(len(rows), len(self.view.names)), False


def saved_interface(spec: TaskSpec, word: Word | None) -> Interface:
    """Return the interface of a task for a saved agent.

    Where the environment is missing, what was saved says how observations come in and actions go out; otherwise the
    environment says it, and both must agree.
    """
    if word is None or word.shape is None:
        return interface_of(spec)
    saved = (tuple(word.shape), word.first_action)
    if spec.interpreted and (is_absent(spec) or not spec.portable):
        return interface_of(spec, *saved)
    try:
        found = interface_of(spec)
    except DistinguoError:  # its packages are missing
        return interface_of(spec, *saved)
    if found[1:3] != saved:
        raise DistinguoError(
            f"{AGENT} says that observations have the shape {saved[0]} and actions begin at {saved[1]}, but those of "
            f"{spec.name} have {found.shape} and begin at {found.first}; take a whole copy, or pass env=…."
        )
    return found


def interface_of(spec: TaskSpec, shape: tuple[int, ...] | None = None, first: int | None = None) -> Interface:
    """Return the interface of a task; ``shape`` and ``first`` replace its environment if that is missing."""
    if shape is None and spec.interpreted:
        checked = spec.task.driver.checked_env
        space = checked.env.observation_space
        where = space.shape if isinstance(space.shape, tuple) else (len(checked.view.names),)
        several = checked.env.action if isinstance(checked.env, NumberedActions) else None
        return Interface(checked.view, where, checked.choices.first, several)
    shape = (len(spec.dimensions),) if shape is None else shape
    if math.prod(shape) != len(spec.dimensions):
        raise DistinguoError(f"Observations of {spec.name} do not have the shape {shape}; take a whole copy.")
    return Interface(view_of(_space(spec, shape), spec.name), shape, first or 0)


def _space(spec: TaskSpec, shape: tuple[int, ...]) -> Any:
    """Return a space of the same observations, without the environment itself."""
    if spec.kind != CATEGORIES:
        return spaces.Box(-np.inf, np.inf, shape=shape, dtype=np.float64)
    low, high = np.array(spec.low, dtype=np.int64), np.array(spec.high, dtype=np.int64)
    if not shape:
        return spaces.Discrete(int(high[0] - low[0]) + 1, start=int(low[0]))
    return spaces.MultiDiscrete((high - low + 1).reshape(shape), start=low.reshape(shape))


def chosen_actions(
    controller: Controller,
    rows: np.ndarray,
    rng: np.random.Generator | None,
    allowed: np.ndarray | None = None,
) -> np.ndarray:
    """Return an action for every row of observations: the first preferred one, or a random one of them.

    If only some actions are ``allowed``, the best of them are preferred.
    """
    regions = regions_of(controller.partition, rows)
    if allowed is None:
        sets = controller.action_sets[regions]
    else:
        sets = np.zeros(allowed.shape, dtype=bool)
        for row, some, values in zip(sets, allowed, controller.q[regions], strict=True):
            row[some] = preferred(values[some], controller.delta)
    if rng is None:
        return sets.argmax(axis=1)
    return (rng.random(sets.shape) * sets).argmax(axis=1)


def checked_masks(masks: Any, count: int, actions: int) -> np.ndarray:
    """Which actions are allowed, a row for each of ``count`` observations.

    >>> checked_masks([True, False], 1, 3)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: action_masks should have the shape (3,), one for each action, got (2,); give ...
    """
    shapes = [(actions,), (1, actions)] if count == 1 else [(count, actions)]
    given = attempt(np.asarray, masks, otherwise=np.array(None))
    if given.shape not in shapes:
        each = "one for each action" if count == 1 else "one for each observation and action"
        raise DistinguoError(
            f"action_masks should have the shape {shapes[0]}, {each}, got {given.shape}; give the answer of "
            "env.action_masks() for these observations."
        )
    if given.dtype != bool and not np.isin(given, (0, 1)).all():
        raise DistinguoError(
            f"action_masks should hold true and false only, got {shown(given.ravel()[:4].tolist())}."
        )
    allowed = given.astype(bool).reshape(count, actions)
    if not allowed.any(axis=1).all():
        raise DistinguoError(
            f"action_masks allow no action at observation {int(allowed.any(axis=1).argmin())}; at least one is "
            "needed."
        )
    return allowed
