"""The run folder: the unit that everything else reads.

``settings.toml`` (asked), ``representation.json`` and ``values.npz`` (learned), ``reasons.jsonl`` (why),
where the map that acts is not the one for other learners, ``controller-map.json`` and its ``values.npz`` beside
``representation.json`` and ``representation-values.npz``,
``trials.csv`` (how), ``result.json`` (in short), ``checkpoint.npz`` (to go on), ``partition.png`` (to look at);
``distinguo verify`` adds ``certificate.json`` and ``proof.png``.
"""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError, path_from
from distinguo.representations import file as representation_file
from distinguo.runs.checkpoint import load_checkpoint
from distinguo.runs.checkpoint import save_checkpoint as write_checkpoint
from distinguo.runs.configuration import Configuration, differences, from_toml, to_toml
from distinguo.runs.files import pack_arrays as pack
from distinguo.runs.files import read_arrays, write_atomically
from distinguo.runs.restarts import of_these_regions
from distinguo.runs.run import Run, carried
from distinguo.runs.stage import Stage, TrialRow

SETTINGS, REPRESENTATION, VALUES = "settings.toml", "representation.json", "values.npz"
CONTROLLER, CARRIED_VALUES = "controller-map.json", "representation-values.npz"
REASONS, TRIALS, RESULT = "reasons.jsonl", "trials.csv", "result.json"
CHECKPOINT, PICTURE = "checkpoint.npz", "partition.png"
GROWING = (TRIALS, REASONS)
_COLUMNS = (int, int, str, int, int, int, int, float)  # of trials.csv; the last is missing in old files
#: What the result of every run tells, whatever it was asked.
PROMISED = (
    *("task", "seed", "solved", "score", "regions", "prototypes"),
    *("trials", "environment_steps", "investigation_steps", "seconds"),
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
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise DistinguoError(f"{path} exists and is not a run folder; choose another --out.")
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_atomically(settings, to_toml(configuration))
    except OSError as error:
        raise DistinguoError(f"Cannot write to {path}: {error.strerror}.") from None


def is_finished(path: Path) -> bool:
    """Tell whether the run in this folder has come to its end."""
    return (path / RESULT).exists()


def resume(path: Path, configuration: Configuration) -> Stage:
    """Return the stage where its last checkpoint left it, or a fresh one."""
    if not (path / CHECKPOINT).exists():
        for name in GROWING:
            (path / name).unlink(missing_ok=True)
        return Stage(configuration)
    stage, sizes = load_checkpoint(path / CHECKPOINT, configuration)
    if set(sizes) != set(GROWING):
        raise DistinguoError(f"{path / CHECKPOINT} is damaged; delete it to learn from the start.")
    for name, size in sizes.items():
        if not (path / name).exists() or (path / name).stat().st_size < size:
            raise DistinguoError(
                f"{path / name} is shorter than its checkpoint says; delete the folder to learn anew."
            )
    for name, size in sizes.items():
        os.truncate(path / name, size)
    return stage


def save_checkpoint(path: Path, stage: Stage) -> None:
    """Append what is new to the growing files, then write the checkpoint that vouches for them."""
    _append(path / TRIALS, _csv(stage.trials, header=not (path / TRIALS).exists()))
    _append(path / REASONS, "".join(json.dumps(reason) + "\n" for reason in stage.reasons))
    stage.trials, stage.reasons = [], []
    write_checkpoint(stage, path / CHECKPOINT, {n: (path / n).stat().st_size for n in GROWING})


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _csv(trials: list[TrialRow], header: bool) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if header:
        writer.writerow(TrialRow._fields)
    writer.writerows(trials)
    return buffer.getvalue()


def save_learned(path: Path, stage: Stage) -> None:
    """Write the representation and the values as they are now."""
    write_atomically(path / REPRESENTATION, representation_file.dumps(stage.representation()))
    write_atomically(path / VALUES, pack(stage.values()))


def save_refined(path: Path, stage: Stage) -> None:
    """Write the map that acts, and the one for other learners in its place; a kill in between harms neither."""
    other = carried(stage)
    if other is None:
        return
    write_atomically(path / CONTROLLER, representation_file.dumps(stage.representation()))
    if stage.refined is not None:
        write_atomically(path / CARRIED_VALUES, pack({"q": stage.refined.representation.q}))
    write_atomically(path / REPRESENTATION, representation_file.dumps(other))


def save_result(path: Path, summary: dict[str, Any]) -> None:
    """Write the summary, the last file of a run: its presence says that the run is finished."""
    write_atomically(path / RESULT, json.dumps(summary, indent=2) + "\n")


def write_run(run: Run, path: Path) -> None:
    """Write a finished run into a folder of its own; the result comes last."""
    prepare(path, run.configuration)
    write_atomically(path / REPRESENTATION, representation_file.dumps(run.representation))
    write_atomically(path / VALUES, pack({"q": run.q, "updates": run.updates}))
    write_atomically(path / TRIALS, _csv(run.trials, header=True))
    write_atomically(path / REASONS, "".join(json.dumps(reason) + "\n" for reason in run.reasons))
    save_result(path, run.summary)


def read_settings(path: Path) -> Configuration:
    """Read what the run in this folder was asked."""
    settings = path / SETTINGS
    return from_toml(_text(settings), str(settings))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DistinguoError(f"Cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise DistinguoError(f"{path} is damaged: it is not text.") from None


def open_run(path: str | Path) -> Run:
    """Read a run folder."""
    path = path_from(path)
    if not (path / SETTINGS).is_file():
        raise DistinguoError(f"{path} is not a run folder: it has no {SETTINGS}.")
    if not (path / REPRESENTATION).is_file():
        raise DistinguoError(
            f"{path} has no {REPRESENTATION} yet; resume it with distinguo learn --out {path}."
        )
    configuration = read_settings(path)
    is_apart = (path / CONTROLLER).is_file()
    representation = representation_file.load(path / (CONTROLLER if is_apart else REPRESENTATION))
    if representation.dimensions != configuration.spec.dimensions:
        raise DistinguoError(
            f"{path / REPRESENTATION} has other dimensions than the task of {path / SETTINGS}."
        )
    q, updates = _read_values(path, (representation.rows, len(configuration.spec.actions)))
    return Run(
        configuration,
        representation,
        q,
        updates,
        _read_result(path / RESULT) if is_finished(path) else {"solved": False},
        _read_trials(path / TRIALS),
        _read_reasons(path / REASONS),
        path,
        representation_file.load(path / REPRESENTATION) if is_apart else None,
    )


def _read_values(path: Path, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    values = {"updates": np.zeros(shape, dtype=np.int64), **read_arrays(path / VALUES)}
    for name, dtype in (("q", np.float64), ("updates", np.int64)):
        if name not in values or values[name].shape != shape or values[name].dtype != dtype:
            raise DistinguoError(
                f"{path / VALUES} does not belong to {path / REPRESENTATION}: {name} should have shape {shape}."
            )
    return values["q"], values["updates"]


def _read_result(path: Path) -> dict[str, Any]:
    try:
        result: dict[str, Any] = json.loads(_text(path))
        if all(name in result for name in PROMISED):
            return {**result}
    except (json.JSONDecodeError, TypeError, RecursionError):
        pass
    raise DistinguoError(f"{path} is damaged; delete it and learn again to write it anew.")


def _read_trials(path: Path) -> list[TrialRow]:
    try:
        rows = list(csv.reader(io.StringIO(_text(path), newline="")))[1:]
        return [TrialRow(*(read(cell) for read, cell in zip(_COLUMNS, row, strict=False))) for row in rows]
    except (ValueError, TypeError, csv.Error) as error:
        if isinstance(error, DistinguoError):
            raise
        raise DistinguoError(f"{path} is damaged; take a whole copy.") from None


def _read_reasons(path: Path) -> list[dict[str, Any]]:
    try:
        return of_these_regions([{**json.loads(line)} for line in _text(path).splitlines()])
    except (json.JSONDecodeError, TypeError, LookupError, RecursionError):
        raise DistinguoError(f"{path} is damaged; take a whole copy.") from None
