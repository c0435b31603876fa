"""Compare representations: several fresh learners on each, and their learning curves."""

from __future__ import annotations

import contextlib
import inspect
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.comparison.cells import Folder, job_of, written
from distinguo.comparison.plan import AveragedCurve, Comparison, Plan, PlanCell, make_plan
from distinguo.comparison.sources import name_of, representation_named
from distinguo.engines.engine import Engine, checked_engine, my_share
from distinguo.errors import DistinguoError, check_known, shown, unknown_setting
from distinguo.evaluation.statistics import checkpoints
from distinguo.processes import Failed
from distinguo.progress import show_progress
from distinguo.representations.file import Representation
from distinguo.runs.folder import SETTINGS, handed_in, read_settings
from distinguo.runs.run import Run
from distinguo.seam import is_compiled
from distinguo.settings import TesterSettings
from distinguo.tasks.amounts import amounts_refused
from distinguo.tasks.catalog import check_present, own_parameters, spec_of
from distinguo.tasks.declare import declared_by_name
from distinguo.tasks.spec import TaskSpec

CellsDone = Callable[[int, int], None]  #: called with the number of cells done and the number of all cells


def compare(
    whats: Sequence[Any] | Mapping[str, Any],
    task: Any = None,
    *,
    seed: int = 0,
    out: str | Path | None = None,
    engine: str = "threads",
    workers: int | None = None,
    settings: Mapping[str, Any] | None = None,
    **tester: Any,
) -> Comparison:
    """Compare representations by the learning curves of a fresh learner on each.

    ``whats`` are runs, paths of run folders or representation files, names such as ``diagonal`` or ``grid:10x10``,
    representations or partitions; a mapping gives them names of your own. ``task`` is a name, an environment or a
    task of your own; by default that of the first run, or the puck. ``out`` is a folder for the results; finished
    cells in it are not run again.

    The tester's settings go by their names, such as ``runs=10``, ``steps=50_000`` and ``cap=5_000_000``; ``settings``
    takes them and those of the task by dotted name, as in ``{"task.beta": 0.2}``.

    >>> compare(["diagonal", "grid:2x1"], runs=2, steps=5_000, cap=1000)
    Observed extremes: x (m) -2.4 to 2.4, v (m/s) -5.48 to 5.48
    <BLANKLINE>
    representation  regions  runs  final score  best score  survival
    diagonal              2     2        1,000       1,000     100 %
    grid:2x1              2     2      ...
    <BLANKLINE>
    score: median length of the test trials in steps, averaged over the runs.
    final: after 5,000 training steps; best: the highest on the way there.
    survival: the share of final test trials that still ran when stopped.
    """
    check_known(tester, TesterSettings._fields, "tester", inspect.signature(compare).parameters)
    named = dict(whats) if isinstance(whats, Mapping) else _named(whats)
    if not isinstance(task, str | TaskSpec | None):
        task = _handed_in(named, task)
    plan = plan_for(named, task=task, seed=seed, settings=settings, tester=tester)
    values = {name: what for name, what in named.items() if not _is_called(what, name)}
    known = {name: representation_named(what, plan.spec, seed) for name, what in values.items()}
    if plan.in_memory and not is_compiled(plan.spec.task):
        workers = 1  # there may be only one environment
    with (
        tempfile.TemporaryDirectory() as folder,
        show_progress(f"Comparing {len(named)} representations") as tell,
    ):
        comparison = compare_plan(
            plan,
            Path(folder if out is None else out),
            known,
            engine=checked_engine(engine, workers),
            watch=lambda done, every: tell(f"Comparing {len(named)} representations: {done} of {every} runs"),
        )
    kept = comparison._replace(folder=None) if out is None else comparison
    return kept.without_failures()


def _named(whats: Sequence[Any]) -> dict[str, Any]:
    """Name the representations; values of the same name are numbered."""
    if isinstance(whats, str | os.PathLike) or hasattr(whats, "_fields"):  # a single one
        whats = [whats]
    if not isinstance(whats, Iterable):
        raise DistinguoError(f"What is compared should be a list of representations, got {shown(whats)}.")
    named: dict[str, Any] = {}
    for what in whats:
        name = stem = name_of(what)
        number = 1
        while name in named:
            if _is_called(what, name):
                raise DistinguoError(f"'{name}' is named twice; name each representation once.")
            number += 1
            name = f"{stem}-{number}"
        named[name] = what
    return named


def _handed_in(whats: Mapping[str, Any], task: Any) -> TaskSpec:
    """Return the task of an object; names come from the first run that it fits."""
    specs = (_spec_of_run(what) for what in whats.values())
    for spec in specs:
        if spec is not None and not spec.portable:
            with contextlib.suppress(DistinguoError):  # it was learned on another task
                return handed_in(spec, task)
    return spec_of(task)


def _spec_of_run(what: Any) -> TaskSpec | None:
    """Return the task of a run or a run folder."""
    if isinstance(what, Run):
        return what.configuration.spec
    is_folder = isinstance(what, str | os.PathLike) and (Path(what) / SETTINGS).is_file()
    return read_settings(Path(what)).spec if is_folder else None


def _is_called(what: Any, name: str) -> bool:
    return isinstance(what, str | os.PathLike) and os.fspath(what) == name


def plan_for(
    whats: Sequence[str] | Mapping[str, Any],
    *,
    task: str | TaskSpec | None = None,
    seed: int = 0,
    interpreted: bool = False,
    settings: Mapping[str, Any] | None = None,
    tester: Mapping[str, Any] | None = None,
) -> Plan:
    """Make the plan of a comparison; ``settings`` go by dotted name, those of the ``tester`` by their own.

    >>> plan_for(["diagonal"], settings={"tester.gamma": 0.9, "task.beta": 0.2}, tester={"runs": 3}).spec.task.beta
    0.2
    """
    tables: dict[str, dict[str, Any]] = {"tester": dict(tester or {}), "task": {}}
    for key, value in (settings or {}).items():
        table, _, name = key.partition(".")
        if table not in tables or not name:
            own = own_parameters(task) if isinstance(task, str) else ()
            raise unknown_setting(key, {"tester": TesterSettings._fields, "task": own})
        if table == "tester" and name in (tester or {}):
            raise DistinguoError(f"{name} and {key} exclude each other; give one of them.")
        tables[table][name] = value
    options = _task_of(whats, task)
    if isinstance(options["task"], TaskSpec) and (tables["task"] or interpreted):
        options = _by_name(options["task"])  # made again, with other parameters
    options["task_parameters"] = {**options.get("task_parameters", {}), **tables["task"]}
    options["interpreted"] = interpreted or options.get("interpreted", False)
    plan = make_plan(list(whats), **options, seed=seed, tester=tables["tester"])
    if plan.spec.amounts is not None:
        raise amounts_refused(plan.spec, "the learner of a test")
    return plan


def _task_of(whats: Sequence[Any] | Mapping[str, Any], asked: str | TaskSpec | None) -> dict[str, Any]:
    """Return the given task, or that of the first run, as options of a plan.

    A task of a run folder is given by its name. One that only a user's file can make is given by that file, with the
    parameters of the run.
    """
    if isinstance(asked, TaskSpec) or (asked is not None and declared_by_name(asked) is None):
        return {"task": asked}
    for what in whats.values() if isinstance(whats, Mapping) else whats:
        spec = _spec_of_run(what)
        if isinstance(what, Run) and asked is None:
            return {"task": spec}
        if spec is not None and not isinstance(what, Run):
            if asked is not None and (spec.portable or spec.name != asked):
                break
            if "sha256" in spec.parameters and not spec.portable:
                raise DistinguoError(
                    f"{what} was learned from the log {spec.name}, in which no other learner can be trained; name "
                    "the task that was logged: --task NAME."
                )
            check_present(spec, str(what))
            return _by_name(spec)
    return {"task": "puck" if asked is None else asked}


def _by_name(spec: TaskSpec) -> dict[str, Any]:
    return {"task": spec.name, "task_parameters": spec.parameters, "interpreted": spec.interpreted}


def compare_plan(
    plan: Plan,
    out: Path,
    representations: Mapping[str, Representation] | None = None,
    *,
    engine: Engine | None = None,
    shard: tuple[int, int] = (1, 1),
    watch: CellsDone | None = None,
) -> Comparison:
    """Run the missing cells of a plan and return all its curves.

    ``representations`` are those of its names that stand for objects in memory.
    """
    workshop, folder = engine or Engine(), Folder(out, plan)
    folder.check()
    known = {what: _known(folder, what, representations or {}) for what in plan.head.representations}
    texts = {what: written(representation) for what, representation in known.items()}
    _check_engine(workshop.name, plan, texts)
    folder.prepare({what: text for what, text in texts.items() if text is not None})
    extent, cells = folder.extent(), plan.cells()
    mine = my_share(cells, shard)
    todo = [cell for cell in mine if not folder.has(cell)]
    jobs = [
        job_of(plan, cell, texts[cell.representation] or known[cell.representation], extent) for cell in todo
    ]
    failures: dict[str, str] = {}
    done = len(mine) - len(todo)
    for key, result in workshop.run(jobs):
        done += 1
        if isinstance(result, Failed):
            failures[key] = result.reason
        else:
            folder.keep(key, result)
        if watch:
            watch(done, len(mine))
    there = [cell for cell in cells if folder.has(cell)]
    left = len(cells) - len(there)
    comparison = Comparison(_average(folder, there, known), extent, failures, left, out, plan.spec.axes)
    folder.keep_table(comparison)
    return comparison


def _known(folder: Folder, what: str, values: Mapping[str, Representation]) -> Representation:
    """Return a representation: the saved one of the folder, if it equals the given one."""
    kept = folder.representation(what)
    if what not in values:
        plan = folder.plan
        return kept or representation_named(what, plan.spec, plan.head.seed)
    if folder.has_cells and (kept is None or written(kept) != written(values[what])):
        raise DistinguoError(f"{folder.path} may hold results of another {what}; choose another --out.")
    return values[what]


def _check_engine(engine: str, plan: Plan, texts: Mapping[str, str | None]) -> None:
    held = [what for what, text in texts.items() if text is None]
    held += [plan.spec.name] if plan.in_memory else []
    if held and engine != "threads":
        raise DistinguoError(
            f"{held[0]} is known to this process only; use the engine 'threads', got '{engine}'."
        )


def _average(
    folder: Folder, cells: Sequence[PlanCell], representations: Mapping[str, Representation]
) -> list[AveragedCurve]:
    curves = []
    for what in folder.plan.head.representations:
        for variant, settings in folder.plan.variants.items():
            own = [cell for cell in cells if (cell.representation, cell.variant) == (what, variant)]
            if own:
                grid = checkpoints(settings.steps, settings.every_steps)
                runs = [folder.curve(cell) for cell in own]
                scores = np.array([run.at(grid) for run in runs])
                survival = np.array([run.survival_at(grid) for run in runs])
                regions = representations[what].regions
                score = folder.plan.spec.goal.score_name
                curves.append(AveragedCurve(what, variant, regions, grid, scores, survival, score))
    return curves
