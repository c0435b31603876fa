"""Reports: one self-contained page on a run, or on several side by side, made from their folders alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from distinguo.errors import DistinguoError, checks_names, one_line, path_from, shown
from distinguo.explanations.subject import Asked, asked_about
from distinguo.runs.configuration import flat
from distinguo.runs.run import Run
from distinguo.versions import software
from distinguo.views.curves import runs_picture
from distinguo.views.pages.chapters import Budget, Chapter, Reader, chapter
from distinguo.views.pages.fragments import inline_figure
from distinguo.views.plots import draw
from distinguo.writing.atomic import write_atomically

NAME = "report.html"
PICTURES = 1_400_000  #: bytes of all pictures together, so that a page stays below two megabytes
MOST_RUNS = 40

AnyRun = Run | str | Path


@checks_names()
def report(runs: AnyRun | Sequence[AnyRun], out: str | Path | None = None, *, audit: bool = False) -> Path:
    """Write one HTML file on a run, or on several compared, and return where.

    A run is given as such or by its folder. Without ``out`` the page is ``report.html`` in the folder of the only
    run, or in the present one. What cannot be read or drawn is said in the page, and the rest goes on. ``audit`` asks
    what the grouping of states costs, which takes a while.

    >>> import distinguo, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     page = report(distinguo.learn("puck", seed=1), f"{place}/puck.html").read_text()
    >>> "push right" in page, len(page) < 2_000_000
    (True, True)
    """
    given = [runs] if isinstance(runs, Run | str | Path) else list(runs)
    if not given or len(given) > MOST_RUNS:
        raise DistinguoError(f"A report is about 1 to {MOST_RUNS} runs, got {len(given)}.")
    target = _target(given, out)
    write_atomically(target, page_of(given, audit))
    return target


def _target(given: Sequence[Any], out: str | Path | None) -> Path:
    if out is not None:
        return path_from(out)
    if len(given) > 1:
        return Path(NAME)
    only = given[0].path if isinstance(given[0], Run) else path_from(given[0])
    if only is None:
        raise DistinguoError("This run has no folder to write a report into; say where with out=….")
    return Path(only) / NAME


def page_of(given: Sequence[AnyRun], audit: bool = False) -> str:
    """Return the page on these runs."""
    budget, chapters, failed = Budget(PICTURES), [], []
    opened: list[Asked] = []
    for run in given:
        try:
            opened.append(asked_about(run))
        except DistinguoError as error:
            if len(given) == 1:
                raise
            failed.append(f"{one_line(_name(run), 300)} is left out: {error}")
    if not opened:
        raise DistinguoError(f"None of the {len(given)} runs can be opened: {failed[0]}")
    alone = len(opened) == 1
    compared = [] if alone else _compared(opened, budget)
    for number, asked in enumerate(opened, 1):
        chapters.append(chapter(asked, number, budget, alone, audit))
    template = Environment(
        loader=PackageLoader("distinguo.views"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    ).get_template("run_report.html")
    return template.render(
        title=chapters[0].title if alone else f"{len(chapters)} runs compared",
        chapters=chapters,
        alone=alone,
        compared=compared,
        rows=_rows(chapters),
        differing=_differing(opened),
        failed=failed,
        made_by=", ".join(f"{name} {version}" for name, version in software().items()),
    )


def _name(run: AnyRun) -> str:
    return shown(run.path) if isinstance(run, Run) else str(run)


def _compared(opened: Sequence[Asked], budget: Budget) -> list[tuple[str, Markup]]:
    """Return the pictures that show all runs at once."""
    reader = Reader(opened[0], 0, budget)
    figure = reader.tried("The comparison", lambda: draw(runs_picture([asked.run for asked in opened])), None)
    if figure is None:
        return []
    words = "Length of trials and regions of every run, over its trials."
    return [(words, budget.spend(inline_figure(figure, "p0runs", words)))]


def _rows(chapters: Sequence[Chapter]) -> list[dict[str, str]]:
    """Return the figures of every run, by name."""
    return [dict(one.figures) for one in chapters]


def _differing(opened: Sequence[Asked]) -> list[tuple[str, list[str]]]:
    """Return the settings that are not the same in all runs, with the value in each."""
    tables = [flat(asked.run.configuration) for asked in opened]
    names = dict.fromkeys(name for table in tables for name in table)
    rows = []
    for name in names:
        values = [shown(table[name], 60) if name in table else "–" for table in tables]
        if "." in name and len(set(values)) > 1:
            rows.append((name, values))
    return rows
