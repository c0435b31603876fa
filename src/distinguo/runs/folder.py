"""The run folder: the unit that everything else reads.

``settings.toml`` (the configuration), ``representation.json`` and ``values.npz`` (the result), ``reasons.jsonl``
(why), ``trials.csv`` (the trials), ``history.jsonl`` (earlier maps), ``result.json`` (the summary),
``checkpoint.npz`` (to resume), ``partition.png`` (the picture), and ``log.npz`` where
it was learned from a log. If the controller's map is not the one for other
learners, the former is ``controller-map.json`` with ``values.npz``, and the latter ``representation.json`` with
``representation-values.npz``. ``distinguo verify`` adds ``certificate.json`` and ``proof.png``; ``distil`` and
``condense`` add ``dial.csv``, and ``fidelity.json``. ``digests.json`` binds what was saved together (digests.py). A
folder with a ``request.json`` is not finished (request.py).
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError, one_line, path_from, shown
from distinguo.offline.readers import load_log
from distinguo.offline.task import is_logged, log_of, with_log
from distinguo.reading.arrays import LARGEST_TABLE, read_arrays
from distinguo.reading.files import MEBIBYTE, parse_json, read_bytes, read_text, regular_file
from distinguo.representations import file as representation_file
from distinguo.representations.partition import prototypes_of
from distinguo.runs import listing
from distinguo.runs.account import LAWS
from distinguo.runs.checkpoint import Growing, load_checkpoint, write_checkpoint
from distinguo.runs.configuration import Configuration, differences, learn_command
from distinguo.runs.digests import DIGESTS, check_digests, digests_text
from distinguo.runs.history import (
    HISTORY,
    TRIALS,
    Frame,
    ending_with,
    frame_line,
    read_history,
    read_trials,
    trials_text,
)
from distinguo.runs.request import REQUEST, RunRequest, as_asked, interruption, read_request, say_if_changed
from distinguo.runs.restarts import read_reasons
from distinguo.runs.run import Run, carried
from distinguo.runs.settings_file import from_toml, to_toml
from distinguo.runs.stage import Stage
from distinguo.tasks.amounts import laws_of, needs_laws, with_laws, without_laws
from distinguo.tasks.catalog import AbsentTask, is_absent, origin_of, spec_of, task_spec
from distinguo.tasks.gym.source import OF_OBJECTS
from distinguo.tasks.spec import TaskSpec
from distinguo.writing import (
    LOCK,
    InUseError,
    is_leftover,
    read_together,
    working_alone,
    write_atomically,
    write_together,
)
from distinguo.writing import pack_arrays as pack

SETTINGS, REPRESENTATION, VALUES = listing.SETTINGS, listing.REPRESENTATION, "values.npz"
CONTROLLER, CARRIED_VALUES = "controller-map.json", "representation-values.npz"
REASONS, RESULT = "reasons.jsonl", listing.RESULT
CHECKPOINT, PICTURE = "checkpoint.npz", "partition.png"
CURVE, FIDELITY = "dial.csv", "fidelity.json"  #: of a distilled or condensed run
LOG = "log.npz"  #: the steps that a run was learned from, if it was learned from a log
NETWORK = "teacher.zip"  #: that was trained to be distilled; Stable-Baselines3's, never read to open a run
GROWING = (TRIALS, REASONS, HISTORY)
#: Files that are written together; other names in a journal are rejected.
TOGETHER = (
    *(SETTINGS, REPRESENTATION, VALUES, CONTROLLER, CARRIED_VALUES),
    *(TRIALS, REASONS, HISTORY, CURVE, FIDELITY, DIGESTS, RESULT),
)
#: Files that are never written but with the others that they belong to.
BOUND = (REPRESENTATION, VALUES, CONTROLLER, CARRIED_VALUES, CURVE, FIDELITY, RESULT)
LARGEST_SETTINGS, LARGEST_RESULT = 16 * MEBIBYTE, 4 * MEBIBYTE  #: bytes
#: The keys that the result of every run has, and those that a distilled one has besides.
PROMISED = (
    *("task", "seed", "solved", "score", "regions", "prototypes"),
    *("trials", "environment_steps", "investigation_steps", "seconds"),
)
DISTILLED = ("kept", "teacher_score", "bar")
#: The keys of a result whose values are text, whole numbers from 0, or other numbers.
WHY = ("reason", "sentence", "command")  #: the texts in ``not_solved``
_TEXTS = ("task", "preset", "learner", "teacher", "training", "answer")
_COUNTS = (
    *(
        "seed",
        "regions",
        "prototypes",
        "trials",
        "environment_steps",
        "investigation_steps",
        "final_trial_steps",
    ),
    *("confirmation_steps", "confirmation_trials", "attempts", "representation_regions", "price_steps"),
    *(
        "failed_confirmation_steps",
        "confirmations",
        "probe_steps",
        "replayed_steps",
        "total_steps",
        "diagnosis_steps",
    ),
    *("representation_prototypes", "representation_steps", "condensed_from", "condense_steps"),
    *("training_steps", "distillation_steps", "numbers"),
)
_NUMBERS = (
    "score",
    "score_low",
    "score_high",
    "confidence",
    "teacher_score",
    "fidelity",
    "bar",
    "share",
    "seconds",
    "training_seconds",
    "epsilon",
)


def prepare(path: Path, configuration: Configuration) -> None:
    """Make the folder of a run, or check that the one there belongs to the same run."""
    settings = path / SETTINGS
    if settings.exists():
        before = read_settings(path)
        if changed := differences(configuration, before):
            raise DistinguoError(
                f"{path} holds another run (asked now: {changed}); choose another --out, or the same settings."
            )
        return
    if not is_free(path):
        raise DistinguoError(f"{path} exists and is not a run folder; choose another --out.")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DistinguoError(f"Cannot write to {path}: {error.strerror}.") from None
    _write_log(path, configuration.spec)
    write_atomically(settings, to_toml(configuration))


def _write_log(path: Path, spec: TaskSpec) -> None:
    """Write the log of a task that is one, from which the task is made again."""
    if is_logged(spec.task):
        write_atomically(path / LOG, pack(log_of(spec).arrays()))


def is_free(path: Path) -> bool:
    """Whether a new run can begin here: the folder is empty, or a run was killed as it began."""
    if not path.exists():
        return True
    return path.is_dir() and all(is_leftover(one) or one.name == LOCK for one in path.iterdir())


def alone_in(path: Path) -> AbstractContextManager[None]:
    """Work in a run folder as the only process, after carrying out what a killed one had begun."""
    return working_alone(path, TOGETHER)


#: Other files that commands write into a run folder.
BESIDE = (
    *(CHECKPOINT, PICTURE, REQUEST, LOCK, NETWORK, LOG, "proof.png", "report.html"),
    *(f"controller.{suffix}" for suffix in ("h", "c", "zip", "json", "dot", "npz")),
)


def delete(path: Path) -> None:
    """Delete a run folder: files that commands write there, and nothing if it holds any other or is in use."""
    with alone_in(path):
        files = sorted(
            path.iterdir(), key=lambda one: one.name in (SETTINGS, REQUEST)
        )  # it is a run until the end
        others = [one.name for one in files if not _is_of_a_run(one)]
        if others:
            raise DistinguoError(
                f"{path.name} also holds {shown(others[0])}, which is not a file of a run; nothing was deleted. "
                "Delete the folder yourself."
            )
        for one in files:
            if one.name != LOCK:
                one.unlink()
    with contextlib.suppress(FileNotFoundError):
        (path / LOCK).unlink()
    path.rmdir()


def _is_of_a_run(path: Path) -> bool:
    is_known = path.name in (*TOGETHER, *BESIDE) or is_leftover(path) or path.match("certificate*.json")
    return is_known and path.is_file() and not path.is_symlink()


def is_finished(path: Path) -> bool:
    """Whether the run in this folder is finished."""
    return (path / RESULT).exists()


def finished_run(path: Path, request: RunRequest, saved: str) -> Run | None:
    """Return the run in a folder if it is finished and the same was asked; None if there is work to do."""
    if not is_finished(path) or (path / REQUEST).exists():
        return None
    run = open_run(path)
    if run.summary.get("request") != as_asked(request.asked):
        return None
    if (path / saved).exists() or (path / LOCK).exists():  # a kill came before they were removed
        with contextlib.suppress(InUseError), alone_in(path):
            (path / saved).unlink(missing_ok=True)
    return run


@contextlib.contextmanager
def working_on(path: Path, request: RunRequest, saved: str) -> Iterator[Callable[[], None]]:
    """Work on a request in a folder, alone and from where an interrupted process stopped.

    ``saved`` is the file that holds what was done before. The given function marks the folder as finished. If the
    work fails before anything is saved, nothing is left.
    """
    check_free(path)
    made = [one for one in (path, *path.parents) if not one.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DistinguoError(f"Cannot write to {path}: {error.strerror}; choose another --out.") from None
    try:
        with alone_in(path):
            check_free(path)  # another process may have been faster
            _check_request(path, request)

            def finish() -> None:
                for name in (REQUEST, saved):
                    (path / name).unlink(missing_ok=True)

            try:
                yield finish
            finally:
                if not (path / saved).exists() and not is_finished(path):
                    finish()
    finally:
        with contextlib.suppress(OSError):  # those that are still empty
            for one in made:
                one.rmdir()


def _check_request(path: Path, request: RunRequest) -> None:
    before = read_request(path)
    if before is None:
        write_atomically(path / REQUEST, request.text())
        return
    if changed := request.differences(before.asked):
        raise DistinguoError(
            f"{path} holds another run (asked now: {changed}); choose another --out, or ask for the same."
        )
    say_if_changed(path, before.versions)


def check_free(path: Path) -> None:
    """Raise an error unless a run can be written to a folder, or the folder was begun and is not finished."""
    if not (path / REQUEST).is_file() and not is_free(path):
        holds = "holds a run" if is_finished(path) else "is not empty"
        raise DistinguoError(f"{path} {holds}; choose another --out, or delete it.")


def resume(path: Path, configuration: Configuration) -> Stage:
    """Return the stage of the last checkpoint, or a fresh one."""
    if not (path / CHECKPOINT).exists():
        for name in GROWING:
            (path / name).unlink(missing_ok=True)
        return Stage(configuration)
    stage, (sizes, checksums) = load_checkpoint(path / CHECKPOINT, configuration)
    if set(sizes) != set(GROWING) or (checksums and set(checksums) != set(GROWING)):
        raise DistinguoError(f"{path / CHECKPOINT} is damaged; delete it to learn from the start.")
    for name, size in sizes.items():
        if _size(path / name) < size:
            raise DistinguoError(
                f"{path / name} is shorter than its checkpoint says; delete the folder to learn anew."
            )
        stage.checksums[name] = _checksum(path / name, size)
        if checksums and checksums[name] != stage.checksums[name]:
            raise DistinguoError(
                f"{path / name} is not the file that its checkpoint was saved with; take a whole copy, or delete the "
                "folder to learn anew."
            )
    for name, size in sizes.items():
        if (path / name).exists():  # a run of an earlier version has no history
            os.truncate(path / name, size)
    stage.history_size = sizes[HISTORY]
    return stage


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _checksum(path: Path, size: int) -> int:
    """Return the CRC-32 of the first bytes of a file; it can be continued, as no SHA-256 can."""
    if not size:
        return 0
    with regular_file(path, LARGEST_TABLE) as file:
        found = 0
        while size and (data := file.read(min(size, MEBIBYTE))):
            found, size = zlib.crc32(data, found), size - len(data)
        return found


def save_checkpoint(path: Path, stage: Stage) -> None:
    """Append to the growing files, then write the checkpoint with their sizes and checksums."""
    stage.take_reasons()
    _append(path / TRIALS, trials_text(stage.trials, header=not (path / TRIALS).exists()), stage)
    _append(path / REASONS, _lines(stage.reasons), stage)
    _append(path / HISTORY, "".join(stage.frames), stage)
    stage.trials, stage.reasons, stage.frames = [], [], []
    sizes = {name: (path / name).stat().st_size for name in GROWING}
    write_checkpoint(stage, path / CHECKPOINT, Growing(sizes, stage.checksums))


def _append(path: Path, text: str, stage: Stage) -> None:
    data = text.encode()
    with path.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    stage.checksums[path.name] = zlib.crc32(data, stage.checksums.get(path.name, 0))


def _lines(reasons: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(reason) + "\n" for reason in reasons)


def save_learned(path: Path, stage: Stage) -> None:
    """Write the representation and the values as they are now."""
    _write_bound(path, _learned(stage))


def _write_bound(path: Path, files: Mapping[str, str | bytes], there: Iterable[str] = ()) -> None:
    """Replace files that belong together and to those that are ``there``, with the digests of all."""
    bound = {name: content for name, content in files.items() if name != SETTINGS}
    write_together(path, {DIGESTS: digests_text(bound, (path / name for name in there)), **files})


def _learned(stage: Stage) -> dict[str, str | bytes]:
    return {REPRESENTATION: representation_file.dumps(stage.representation()), VALUES: pack(stage.values())}


def save_finished(path: Path, stage: Stage, summary: dict[str, Any]) -> None:
    """Write the result of a finished run and its summary; the summary marks the run as finished.

    If the map for other learners differs from the controller's, both are written.
    """
    files, other = _learned(stage), carried(stage)
    if other is not None:
        files[CONTROLLER] = files[REPRESENTATION]
        files[REPRESENTATION] = representation_file.dumps(other)
    if stage.refined is not None:
        files[CARRIED_VALUES] = pack({"q": stage.refined.representation.q})
    reasons = read_text(path / REASONS, LARGEST_TABLE) + _lines(stage.reasons)
    frames = read_text(path / HISTORY, LARGEST_TABLE).splitlines(keepends=True)
    history = "".join(ending_with(frames, stage.frame()))
    files |= {REASONS: reasons, HISTORY: history, RESULT: result_text(summary)}
    _write_bound(path, files, there=[TRIALS])


def result_text(summary: dict[str, Any]) -> str:
    """Return the content of the file of a summary."""
    return json.dumps(summary, indent=2) + "\n"


def write_run(run: Run, path: Path) -> None:
    """Write a finished run into a folder of its own."""
    prepare(path, run.configuration)
    with alone_in(path):
        write_whole(run, path, {})


def write_whole(run: Run, path: Path, others: Mapping[str, str]) -> None:
    """Write a finished run, and other files that belong to it, into a folder in which this process works alone."""
    _write_log(path, run.configuration.spec)
    files: dict[str, str | bytes] = {
        SETTINGS: to_toml(run.configuration),
        REPRESENTATION: representation_file.dumps(run.representation),
        VALUES: pack({"q": run.q, "updates": run.updates, **_laws_of(run)}),
        TRIALS: trials_text(run.trials, header=True),
        REASONS: _lines(run.reasons),
        HISTORY: "".join(frame_line(frame) for frame in run.history),
        **others,
        RESULT: result_text(run.summary),
    }
    _write_bound(path, files)


def map_file(path: Path) -> Path:
    """The file of the map for other learners in a run folder."""
    file = path / REPRESENTATION
    if not file.exists() and (unfinished := interruption(path)):
        raise DistinguoError(unfinished)
    return file


def read_settings(path: Path) -> Configuration:
    """Read the configuration of the run in this folder."""
    settings = path / SETTINGS
    return from_toml(read_text(settings, LARGEST_SETTINGS), str(settings))


def open_run(path: str | Path, task: Any = None, *, reasons: bool = True) -> Run:
    """Read a run folder; if it is being written, read either the old or the new contents.

    ``task`` is the environment, or your own task, that it was learned from. A folder holds no code: without the
    object, a run that was learned from one can be looked at, but it cannot take steps. With ``reasons=False``, a
    run whose reasons are damaged can still be read.
    """
    place = path_from(path)
    return _with_task(read_together(place, TOGETHER, lambda: _read_run(place, reasons)), task)


def as_run(run: Run | str | Path, task: Any = None) -> Run:
    """Return a run that is given itself or by its folder; ``task`` as for :func:`open_run`."""
    return _with_task(run, task) if isinstance(run, Run) else open_run(run, task)


def _with_task(run: Run, task: Any) -> Run:
    if task is not None and not isinstance(task, str):
        _say_if_task_changed(run, task)
    return run._replace(configuration=with_task(run.configuration, task))


def _read_run(path: Path, reasons: bool) -> Run:
    if not (path / SETTINGS).is_file():
        raise listing.no_run(path)
    if not (path / REPRESENTATION).is_file():
        raise DistinguoError(
            f"{path} has no {REPRESENTATION} yet; the command that began it goes on with it: "
            f"{learn_command(read_settings(path), path)}"
        )
    configuration = read_settings(path)
    is_apart = (path / CONTROLLER).is_file()
    representation = representation_file.load(path / (CONTROLLER if is_apart else REPRESENTATION))
    if representation.dimensions != configuration.spec.dimensions:
        raise DistinguoError(
            f"{path / REPRESENTATION} has other dimensions than the task of {path / SETTINGS}."
        )
    configuration = _with_laws(path, configuration)
    if (path / LOG).is_file():
        configuration = configuration._replace(spec=with_log(configuration.spec, load_log(path / LOG)))
    q, updates = _read_values(path, representation, len(configuration.spec.actions))
    summary = _read_result(path / RESULT) if is_finished(path) else {"solved": False}
    run = Run(
        configuration._replace(spec=_with_origin(configuration.spec, summary)),
        representation,
        q,
        updates,
        summary,
        read_trials(path / TRIALS, is_growing=not is_finished(path)),
        read_reasons(path / REASONS, is_growing=not is_finished(path)) if reasons else [],
        path,
        representation_file.load(path / REPRESENTATION) if is_apart else None,
        _read_history(path, configuration),
    )
    unread = () if reasons else (REASONS,)  # those of an unfinished run still grow
    check_digests(path, BOUND, unread if is_finished(path) else GROWING, missing=(RESULT, HISTORY))
    return run


def _say_if_task_changed(run: Run, task: Any) -> None:
    """Warn if a task comes from another version of its file than the run was learned from."""
    learned, given = run.summary.get("task_sha256"), origin_of(spec_of(task))
    if learned and given and given["task_sha256"] != learned:
        warnings.warn(
            f"{given['task_file']} has changed since the run was learned from {run.summary['task_file']}; what "
            "follows is about the file as it is now.",
            stacklevel=3,
        )


def _with_origin(spec: TaskSpec, summary: Mapping[str, Any]) -> TaskSpec:
    """The task with the file that it was learned from, if it has to be declared first."""
    if not isinstance(spec.task, AbsentTask) or "task_file" not in summary:
        return spec
    return spec._replace(task=spec.task._replace(origin=str(summary["task_file"])))


def _laws_of(run: Run) -> dict[str, np.ndarray]:
    """The laws of a run, where actions are amounts."""
    found = laws_of(run.configuration.spec)
    return {} if found is None else {LAWS: found.table}


def _with_laws(path: Path, configuration: Configuration) -> Configuration:
    """Return the configuration of a run with the laws that are its actions, where actions are amounts."""
    if not needs_laws(configuration.spec):
        return configuration
    try:
        return configuration._replace(spec=with_laws(configuration.spec, read_arrays(path / VALUES)[LAWS]))
    except (KeyError, DistinguoError) as error:
        raise DistinguoError(
            f"{path / VALUES} does not belong to {path / SETTINGS}: its laws are missing or damaged "
            f"({one_line(str(error))})."
        ) from None


def _read_history(path: Path, configuration: Configuration) -> Sequence[Frame]:
    frames, spec = read_history(path / HISTORY, is_growing=not is_finished(path)), configuration.spec
    for frame in frames[:1]:
        if (frame.representation.dimensions, frame.q.shape[1]) != (spec.dimensions, len(spec.actions)):
            raise DistinguoError(
                f"{path / HISTORY} is of another task than {path / SETTINGS}; take a whole copy."
            )
    return frames


def _read_values(
    path: Path, representation: representation_file.Representation, actions: int
) -> tuple[np.ndarray, np.ndarray]:
    shape = (representation.regions, actions)
    values = {
        name: array if name == LAWS else _by_region(array, representation)
        for name, array in read_arrays(path / VALUES).items()
    }
    values = {"updates": np.zeros(shape, dtype=np.int64), **values}
    for name, dtype in (("q", np.float64), ("updates", np.int64)):
        if name not in values or values[name].shape != shape or values[name].dtype != dtype:
            raise DistinguoError(
                f"{path / VALUES} does not belong to {path / REPRESENTATION}: {name} should have shape {shape}."
            )
    if not np.isfinite(values["q"]).all() or (values["updates"] < 0).any():
        raise DistinguoError(f"{path / VALUES} is damaged: a value is not finite, or a count is negative.")
    return values["q"], values["updates"]


def _by_region(values: np.ndarray, representation: representation_file.Representation) -> np.ndarray:
    """Return the rows of the regions; earlier versions wrote a row for every prototype."""
    known = prototypes_of(representation.partition)
    if known is None or values.ndim == 0 or len(values) != len(known.points):
        return values
    return values[known.primaries]


def _read_result(path: Path) -> dict[str, Any]:
    data = read_bytes(path, LARGEST_RESULT)
    with contextlib.suppress(DistinguoError):
        result = parse_json(data, str(path))
        if is_result(result):
            return dict(result)
    raise DistinguoError(f"{path} is damaged; delete it and learn again to write it anew.")


def is_result(content: Any) -> bool:
    """Whether a content is the summary of a run: complete, and every value of its type."""
    if not isinstance(content, dict):
        return False
    needed = {*PROMISED, *(DISTILLED if "teacher" in content else ())}
    return content.keys() >= needed and all(starmap(_is_right, content.items()))


def _is_right(name: str, value: Any) -> bool:
    """Whether a value of a result is of the right type and in range; names that we do not know may be anything."""
    if name in _TEXTS:
        return isinstance(value, str)
    if name == "solved":
        return isinstance(value, bool)
    if name == "not_solved":
        return isinstance(value, dict) and all(isinstance(value.get(word), str) for word in WHY)
    if name in _COUNTS:
        return type(value) is int and 0 <= value < 2**63
    if name in _NUMBERS:
        return type(value) is float or (type(value) is int and abs(value) < 2**63)
    return name != "kept" or isinstance(value, int)  # whether the return was kept, or how many changes were


# The environment, or the user's task, that a run was learned from, handed in again. A run folder describes its task
# but holds no code: an environment object has to be handed in to take steps.


def with_task(configuration: Configuration, given: Any) -> Configuration:
    """Return a configuration whose task can take steps; None leaves it as it is."""
    if given is None:
        return configuration
    known, spec = laws_of(configuration.spec), handed_in(without_laws(configuration.spec), given)
    return configuration._replace(spec=spec if known is None else with_laws(spec, known.table))


def handed_in(spec: TaskSpec, given: Any) -> TaskSpec:
    """Return the description of a task with the object that was handed in, if it fits.

    Names, units and the threshold stay those of the run.

    >>> import gymnasium
    >>> lake = task_spec("FrozenLake-v1", {"is_slippery": False})
    >>> handed_in(lake, gymnasium.make("CliffWalking-v1"))
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: CliffWalking-v1 does not fit a run of FrozenLake-v1: its bounds are...
    """
    if is_logged(spec.task):
        return _real(spec, given)
    if spec.portable and not spec.interpreted and not is_absent(spec):
        if given == spec.name or (isinstance(given, TaskSpec) and given.name == spec.name):
            return spec
        raise DistinguoError(f"{spec.name} is one of our own tasks; leave task out.")
    theirs = _described(spec, given)
    if misfit := _misfit(spec, theirs):
        raise DistinguoError(
            f"{theirs.name} does not fit a run of {spec.name}: its {misfit}; hand in one that does."
        )
    if not theirs.interpreted:
        return theirs
    facts = {name: getattr(theirs, name) for name in ("task", "stochastic", "restorable", "note")}
    return spec._replace(**facts, portable=isinstance(given, str))


def _real(spec: TaskSpec, given: Any) -> TaskSpec:
    """The real task, in which what was learned from a log is to act."""
    real = task_spec(given) if isinstance(given, str) else spec_of(given)
    ours, theirs = ((len(one.dimensions), len(one.actions)) for one in (spec, real))
    if ours != theirs:
        raise DistinguoError(
            f"{real.name} does not fit a run of {spec.name}: it has {theirs[0]} coordinates and {theirs[1]} actions "
            f"instead of {ours[0]} and {ours[1]}; name the task that was logged."
        )
    return real


def _described(spec: TaskSpec, given: Any) -> TaskSpec:
    if isinstance(given, str):
        return task_spec(given, spec.parameters, spec.interpreted)
    own = spec.parameters
    if spec.interpreted:
        own = {name: value for name, value in own.items() if name in OF_OBJECTS}
    return spec_of(given, own)


def _misfit(spec: TaskSpec, theirs: TaskSpec) -> str:
    """What differs between two tasks; empty if nothing does."""
    if spec.interpreted != theirs.interpreted:
        return "kind is another: " + ("the run's is Gymnasium's" if spec.interpreted else "it is Gymnasium's")
    ours, other = _fit(spec), _fit(theirs)
    for name, value in ours.items():
        if other[name] != value:
            return f"{name} are {shown(other[name])} instead of {shown(value)}"
    return ""


def _fit(spec: TaskSpec) -> dict[str, Any]:
    """The fields that must be equal; an environment has no names to compare."""
    named = not spec.interpreted
    return {
        "coordinates": spec.dimensions if named else len(spec.dimensions),
        "actions": spec.actions if named else len(spec.actions),
        "observations": spec.kind,
        "bounds": (spec.low, spec.high),
        "parameters": dict(spec.parameters) if named else None,
    }
