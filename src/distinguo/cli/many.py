"""One command for many runs: each is a job of the engines, and does what the command does for it alone."""

from __future__ import annotations

import functools
import inspect
import io
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

from distinguo.cli.grouped import WHO
from distinguo.errors import DistinguoError, counted

if TYPE_CHECKING:
    from distinguo.engines.engine import Engine

FAILED = 1  #: the exit code if a run gave no result

OPTIONS: dict[str, Any] = {
    "engine": Annotated[
        str | None,
        typer.Option(
            help="Who does many runs: threads, processes or dask; by default what suits.", rich_help_panel=WHO
        ),
    ],
    "workers": Annotated[
        int | None, typer.Option(min=1, help="Number of workers; by default all cores.", rich_help_panel=WHO)
    ],
    "address": Annotated[
        str | None,
        typer.Option(
            help="Address of a dask scheduler; without one, dask starts its own workers.", rich_help_panel=WHO
        ),
    ],
    "shard": Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Do only the I-th of N parts of the runs.", rich_help_panel=WHO),
    ],
}


class Who(NamedTuple):
    """The options on who works, and the command that they were given to."""

    context: typer.Context
    engine: str | None
    workers: int | None
    address: str | None
    shard: str | None

    def check(self, many: bool) -> None:
        """Reject options on workers where there are not many runs."""
        for name in OPTIONS:
            if not many and getattr(self, name) is not None:
                raise DistinguoError(f"--{name} is for many runs: one run has one worker; leave it out.")

    def engine_or(self, suited: str, seconds: float | None = None) -> Engine:
        """The engine that was asked for, or else one that suits; with the address of a scheduler, dask."""
        from distinguo.engines.engine import checked_engine

        return checked_engine(self.name_or(suited), self.workers, self.address, seconds)

    def name_or(self, suited: str) -> str:
        """The name of that engine."""
        return self.engine or ("dask" if self.address else suited)

    def part(self) -> tuple[int, int]:
        """The part of the runs that this command is to do."""
        from distinguo.cli.parse import shard

        return shard(self.shard or "1/1")

    def share(self, things: Sequence[Any]) -> list[Any]:
        """The things that this command is to do."""
        from distinguo.engines.engine import my_share

        mine = my_share(things, self.part())
        if not mine:
            raise DistinguoError(
                f"--shard {self.shard} has nothing left to do; there are {counted(len(things), 'run')}."
            )
        return mine


def for_many(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options on who works, as its parameter ``who``."""
    parameters: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for one in inspect.signature(command).parameters.values():
        if one.name == "who":
            added = {
                name: one.replace(name=name, default=None, annotation=of) for name, of in OPTIONS.items()
            }
            parameters += added.values()
        else:
            parameters.append(one.replace(annotation=hints[one.name]))
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)

    @functools.wraps(command)
    def run(context: typer.Context, **given: Any) -> None:
        command(who=Who(context, **{name: given.pop(name) for name in OPTIONS}), **given)

    run.__signature__ = inspect.Signature([context, *parameters])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in [context, *parameters]}
    return run


def each(
    runs: Mapping[str, Mapping[str, Any]],
    who: Who,
    told: Callable[[Mapping[str, Any]], str],
    as_json: bool,
) -> None:
    """Do a command for each of some runs, then end with the highest exit code.

    ``runs`` has, by the name of a run, the parameters of the command that are its own. ``told`` says in short what
    came of it. Commands work in folders, which the workers of a cluster must see, too.
    """
    from distinguo.cli.console import answer, output_for, say, stoppable
    from distinguo.cli.live import progress_bar
    from distinguo.engines.engine import LONGEST
    from distinguo.engines.jobs import Job
    from distinguo.processes import Failed

    workshop = who.engine_or("processes")
    if workshop.name == "threads":
        raise DistinguoError("This command takes --engine processes or dask, got threads; leave it out.")
    if workshop.name == "dask":
        workshop = workshop._replace(seconds=LONGEST)  # what has a time limit gets a process of its own
    jobs = [
        Job(key, commanded, {"words": words_of(who.context, own), "place": os.getcwd()})
        for key, own in who.share(list(runs.items()))
    ]
    found: dict[str, Any] = {}
    stopped = "Stopped; what was finished is kept. The same command continues from there."
    with (
        stoppable(stopped),
        progress_bar(str(who.context.info_name)) as watch,
        closing(workshop.run(jobs)) as answers,
    ):
        for key, one in answers:
            found[key] = one
            watch(len(found), len(jobs))
    failures = {job.key: found[job.key].reason for job in jobs if isinstance(found[job.key], Failed)}
    if len(failures) == len(jobs):
        raise DistinguoError(failures[jobs[0].key])
    output = output_for(as_json)
    for job in jobs:
        if job.key in failures:
            say(f"Failed: {job.key}: {failures[job.key]}")
        else:
            output.tell(f"{job.key}: {told(found[job.key]['answer'])}")
    done = [{"name": job.key, **found[job.key]} for job in jobs if job.key not in failures]
    answer({"runs": done, "failures": failures}, as_json)
    code = max([one["code"] for one in done] + [FAILED] * bool(failures))
    if code:
        raise typer.Exit(code)


def words_of(context: typer.Context, own: Mapping[str, Any]) -> list[str]:
    """The words of a command, with some parameters replaced and without those on workers."""
    words = [str(context.info_name)]
    for parameter in context.command.params:
        value = own.get(parameter.name or "", context.params.get(parameter.name or ""))
        if parameter.name in OPTIONS or value is None or value is False or parameter.name == "as_json":
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            if parameter.param_type_name == "argument":
                words.append(str(one))
            else:
                words.append(parameter.opts[0] if one is True else f"{parameter.opts[0]}={one}")
    return words


def commanded(words: Sequence[str], place: str) -> dict[str, Any]:
    """Do a command in this process, which does nothing else: its exit code, and its object of JSON."""
    from distinguo.cli import app, console

    os.chdir(place)
    console._live.clear()  # that of the process of which this one is a copy
    signal.signal(signal.SIGTERM, lambda number, _: os._exit(128 + number))
    results, said = io.StringIO(), io.StringIO()
    with redirect_stdout(results), redirect_stderr(said):
        code = app([*words, "--json"], standalone_mode=False) or 0
    lines = results.getvalue().splitlines()
    if not lines:
        reason = (said.getvalue().split("\n\n")[-1].strip() or "no answer").splitlines()[-1]
        raise DistinguoError(f"exit code {code}: {reason}")
    return {"code": code, "answer": json.loads(lines[-1])}
