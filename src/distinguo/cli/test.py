"""``distinguo test``: the testing stage."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distinguo.errors import DistinguoError, did_you_mean

if TYPE_CHECKING:
    from distinguo.study.compare import Report
    from distinguo.study.plan import Plan


def examine(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="Run folders, representation files, .npy files of prototypes, or controls: diagonal, grid:10x10, "
            "vrdp, vrdp-enhanced, controllability, seeds."
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="The task, as for learn; that of the first run folder if none is given, else puck."
        ),
    ] = None,
    interpreted: Annotated[
        bool, typer.Option("--interpreted", help="Run Gymnasium's own environment, not our compiled port.")
    ] = False,
    runs: Annotated[int | None, typer.Option(help="Learning curves per representation; 10.")] = None,
    steps: Annotated[int | None, typer.Option(help="Training steps of a curve; 50,000.")] = None,
    cap: Annotated[
        int | None, typer.Option(help="Steps after which a test trial is stopped; 5,000,000.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random choices; 0 if none is given.")] = None,
    plan_file: Annotated[
        Path | None, typer.Option("--plan", help="Read the whole plan from a TOML file instead.")
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="TABLE.NAME=VALUE", help="Change a setting, such as tester.gamma=0.95."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; what is there already is not run again.")
    ] = None,
    engine: Annotated[str, typer.Option(help="Who works: threads, processes or dask.")] = "threads",
    workers: Annotated[int | None, typer.Option(min=1, help="How many at once; default all cores.")] = None,
    address: Annotated[
        str | None,
        typer.Option(help="Address of a dask scheduler; without one, dask starts its own workers."),
    ] = None,
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Do only the I-th of N parts of the plan.")
    ] = "1/1",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Put representations on trial: a fresh learner on each, and learning curves.

    Examples:
      distinguo test diagonal grid:10x10 runs/puck-default-seed0

      distinguo test diagonal --runs 3 --cap 100000 --set tester.gamma=0.95
    """
    from distinguo.cli import parse
    from distinguo.cli.console import answer, say
    from distinguo.study.compare import put_on_trial
    from distinguo.views.curves import draw_curves

    name = None if task is None else parse.task_name(task)
    head = _given(task=name, seed=seed, interpreted=interpreted or None)
    options = _given(runs=runs, steps=steps, cap=cap)
    if plan_file is None:
        plan = _from_words(what, head, options, parse.changes(assignments or []))
    else:
        plan = _from_file(plan_file, [*(what or []), *head, *options, *(assignments or [])])
    folder = out or _default_folder(plan)
    with _progress() as watch:
        report = put_on_trial(
            plan,
            folder,
            engine=engine,
            workers=workers,
            address=address,
            shard=parse.shard(shard),
            watch=watch,
        )
    say(_table(report))
    picture = draw_curves(report.curves, folder / "curves.png") if report.curves else None
    if picture:
        say(f"Picture: {picture}")
    say(f"Results: {folder}")
    for key, reason in report.failures.items():
        say(f"Failed: {key}: {reason}")
    answer(_content(report, folder), as_json)
    if report.failures:
        say(f"{len(report.failures)} cells failed; the same command runs only those again.")
        raise typer.Exit(1)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _from_words(
    what: list[str] | None, head: dict[str, Any], options: dict[str, int], changes: dict[str, Any]
) -> Plan:
    from distinguo.study.plan import make_plan

    if not what:
        raise DistinguoError(
            "Nothing to test; name a run folder, a representation file or a control like diagonal."
        )
    tables: dict[str, dict[str, Any]] = {"tester": dict(options), "task": {}}
    for key, value in changes.items():
        table, _, name = key.partition(".")
        if table not in tables or not name:
            raise DistinguoError(f"Unknown setting '{key}'; for the table {did_you_mean(table, tables)}")
        if table == "tester" and name in options:
            raise DistinguoError(f"--{name} and --set {key} exclude each other; give one of them.")
        tables[table][name] = value
    _take_task(what, head, tables["task"])
    return make_plan(what, **head, task_parameters=tables["task"], tester=tables["tester"])


def _take_task(what: list[str], head: dict[str, Any], parameters: dict[str, Any]) -> None:
    """Take the task of the first run folder, unless one is named; one of a file takes the parameters only."""
    from distinguo.runs.folder import SETTINGS, read_settings
    from distinguo.tasks.catalog import check_present
    from distinguo.tasks.declare import declared_by_name

    if "task" in head and declared_by_name(head["task"]) is None:
        return
    for word in what:
        if (Path(word) / SETTINGS).is_file():
            spec = read_settings(Path(word)).spec
            if "task" in head and (spec.portable or spec.name != head["task"]):
                return
            check_present(spec, word)
            head["task"] = spec.name
            head.setdefault("interpreted", spec.interpreted)
            for name, value in spec.parameters.items():
                parameters.setdefault(name, value)
            return


def _from_file(path: Path, others: list[str]) -> Plan:
    from distinguo.study.plan import load_plan

    if others:
        raise DistinguoError(
            f"With --plan, everything comes from the plan; write '{others[0]}' there, or leave --plan out."
        )
    return load_plan(path)


def _default_folder(plan: Plan) -> Path:
    """Name the folder by what is asked, so that the same command finds its results again."""
    from distinguo.study.plan import write_plan

    return Path("runs") / f"test-{plan.spec.name}-{hashlib.sha256(write_plan(plan).encode()).hexdigest()[:8]}"


def _progress() -> Any:
    from distinguo.cli.console import progress_bar

    return progress_bar("testing")


def _table(report: Report) -> str:
    low, high = report.extent
    box = " × ".join(f"[{a:.3g}, {b:.3g}]" for a, b in zip(low, high, strict=True))
    lines = [f"Observed extremes: {box}", ""]
    lines.append(
        f"{'representation':32}{'regions':>9}{'runs':>6}{'final mean':>14}{'best mean':>14}{'survival':>10}"
    )
    for curve in report.curves:
        mean = curve.scores.mean(axis=0)
        name = (
            curve.representation if curve.variant == "plain" else f"{curve.representation} ({curve.variant})"
        )
        lines.append(
            f"{name:32}{curve.regions:9}{len(curve.scores):6}{mean[-1]:14,.0f}{mean.max():14,.0f}"
            f"{curve.survival[:, -1].mean():10.2f}"
        )
    return "\n".join(lines)


def _content(report: Report, folder: Path) -> dict[str, Any]:
    return {
        "curves": [curve.as_json() for curve in report.curves],
        "extent": report.extent._asdict(),
        "failures": report.failures,
        "missing": report.missing,
        "run": str(folder),
    }
