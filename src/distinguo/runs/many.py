"""Many learning runs at once: in threads, in processes, or on a cluster. The results do not depend on it."""

from __future__ import annotations

import base64
import os
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fnmatch import fnmatch
from multiprocessing import get_all_start_methods
from pathlib import Path

from distinguo.engines.code import code_behind
from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job
from distinguo.errors import DistinguoError, counted
from distinguo.learners.learner import learner_named
from distinguo.processes import Failed, in_processes
from distinguo.proof.verify import CERTIFICATES
from distinguo.reading.arrays import LARGEST_TABLE
from distinguo.reading.files import read_bytes
from distinguo.runs import folder
from distinguo.runs.configuration import Configuration
from distinguo.runs.learn import learn_configured
from distinguo.runs.run import Run
from distinguo.runs.settings_file import from_toml, to_toml
from distinguo.runs.stage import Stage
from distinguo.seam import is_compiled
from distinguo.writing import write_atomically, write_together

RunDone = Callable[[Run], None]


class _Cancelled(BaseException):
    """Another of many runs was stopped, or failed."""


def learn_many(
    configurations: Sequence[Configuration],
    outs: Sequence[Path] | None = None,
    done: RunDone | None = None,
    engine: Engine | None = None,
) -> list[Run]:
    """Learn many runs at once; the results do not depend on the engine, nor on the number of workers.

    When they are stopped, running ones are saved first; a cluster keeps nothing of them. Without an engine, runs of
    tasks in plain Python are learned in processes if they have folders (:func:`one_core_only` names the exceptions),
    all others in threads.
    """
    plain = any(not is_compiled(c.spec.task) and not one_core_only(c) for c in configurations)
    chosen = engine or Engine("processes" if plain and outs else "threads")
    if chosen.name == "threads":
        return _in_threads(configurations, outs, done, chosen.many)
    if outs is None:
        raise DistinguoError(f"Runs that are learned by the engine '{chosen.name}' need folders; give them.")
    for reason in filter(None, (_held_here(each, chosen.name) for each in configurations)):
        raise DistinguoError(f"{reason} Use the engine 'threads', got '{chosen.name}'.")
    elsewhere = _on_cluster if chosen.name == "dask" else _in_copies
    runs, failures = dict[int, Run](), dict[int, str]()
    with closing(elsewhere(configurations, outs, chosen)) as answers:
        for number, failed in answers:
            if failed:
                failures[number] = failed
                continue
            runs[number] = learn_configured(configurations[number], outs[number])  # it is finished, and read
            if done:
                done(runs[number])
    if failures:
        number, reason = min(failures.items())
        others = f" {counted(len(failures) - 1, 'other run')} failed, too." if len(failures) > 1 else ""
        raise DistinguoError(
            f"The run in {outs[number]} was not finished: {reason}{others} What was learned is in "
            f"{outs[0].parent}, and the same command continues from there."
        )
    return [runs[number] for number in range(len(outs))]


def _in_threads(
    configurations: Sequence[Configuration], outs: Sequence[Path] | None, done: RunDone | None, count: int
) -> list[Run]:
    places: Sequence[Path | None] = outs or [None] * len(configurations)
    cancelled = threading.Event()

    def look_up(_: Stage) -> None:
        if cancelled.is_set():
            raise _Cancelled

    def one(configuration: Configuration, out: Path | None) -> Run:
        run = learn_configured(configuration, out, look_up)
        if done:
            done(run)
        return run

    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(one, c, o) for c, o in zip(configurations, places, strict=True)]
        try:
            return [future.result() for future in futures]
        except BaseException:
            cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def one_core_only(configuration: Configuration) -> str:
    """Why many runs of this task take turns on one core, in a sentence; empty if they do not."""
    reason = "" if is_compiled(configuration.spec.task) else _held_here(configuration, "processes")
    return reason and f"{reason} All runs share one core."


def _held_here(configuration: Configuration, engine: str) -> str:
    """Why a task cannot leave this process, in a sentence; empty if it can."""
    spec = configuration.spec
    if spec.interpreted and not spec.portable:
        return f"{spec.name} was given as an object, which no other process can use."
    if engine == "processes" and "fork" not in get_all_start_methods():
        return "This system cannot copy a process."
    return ""


def _in_copies(
    configurations: Sequence[Configuration], outs: Sequence[Path], engine: Engine
) -> Generator[tuple[int, str]]:
    """Learn in copies of this process, which know the tasks; what they learn is in the folders."""

    def one(number: str) -> str:
        try:
            learn_configured(configurations[int(number)], outs[int(number)])
        except DistinguoError as error:
            return str(error)
        return ""

    numbers = [str(number) for number in range(len(outs))]
    with closing(in_processes(one, numbers, min(engine.many, len(outs)), engine.seconds)) as answers:
        for number, answer in answers:
            if not isinstance(answer, Failed) and answer:
                raise DistinguoError(answer)  # what the task raised, it will raise in the other runs, too
            yield number, answer.reason if isinstance(answer, Failed) else ""


def _on_cluster(
    configurations: Sequence[Configuration], outs: Sequence[Path], engine: Engine
) -> Generator[tuple[int, str]]:
    """Learn on a cluster. A run that is not finished is sent with what was learned, and a finished one comes back."""
    jobs = []
    for number, (configuration, out) in enumerate(zip(configurations, outs, strict=True)):
        folder.prepare(out, configuration)
        if folder.is_finished(out):
            yield number, ""
            continue
        with folder.alone_in(out):
            arguments = {"settings": to_toml(configuration), "files": _files_in(out)}
        code = code_behind(type(configuration.spec.task), learner_named(configuration.learner_name).declared)
        jobs.append(Job(str(number), learned_elsewhere, arguments, code))
    with closing(engine.run(jobs)) as answers:
        for key, answer in answers:
            if not isinstance(answer, Failed):
                _unpack(answer, outs[int(key)])
            yield int(key), answer.reason if isinstance(answer, Failed) else ""


def learned_elsewhere(settings: str, files: Mapping[str, str]) -> dict[str, str]:
    """Learn a run in a folder of this machine, and return the files of the folder."""
    with tempfile.TemporaryDirectory(prefix="distinguo-run-") as place:
        out = Path(place) / "run"
        out.mkdir()
        for name, content in files.items():
            write_atomically(out / Path(name).name, base64.b85decode(content))
        learn_configured(from_toml(settings), out)
        return _files_in(out)


def _files_in(out: Path) -> dict[str, str]:
    known = {*folder.TOGETHER, folder.CHECKPOINT, *(path.name for path in out.glob(CERTIFICATES))}
    return {
        path.name: base64.b85encode(read_bytes(path, LARGEST_TABLE)).decode()
        for path in sorted(out.iterdir())
        if path.name in known and os.path.isfile(path)
    }


def _unpack(files: Mapping[str, str], out: Path) -> None:
    """Write the files of a finished run; those that belong together are replaced all or none, and last."""
    content = {name: base64.b85decode(text) for name, text in files.items()}
    with folder.alone_in(out):
        if folder.is_finished(out):
            return
        for name in list(content):
            if name == folder.CHECKPOINT or fnmatch(name, CERTIFICATES):
                write_atomically(out / name, content.pop(name))
        write_together(out, {name: content[name] for name in folder.TOGETHER if name in content})
