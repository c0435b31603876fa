"""A plan: which representations are compared, how often, and under which settings of the tester."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import tomlkit
from pydantic import Field

from distinguo.errors import DistinguoError, checks_names, counted, did_you_mean, one_line, shown
from distinguo.evaluation.statistics import interquartile_mean, interval
from distinguo.reading.files import MEBIBYTE, parse_toml, read_text
from distinguo.runs.configuration import check_given
from distinguo.settings import TesterSettings, checked, tester_suited
from distinguo.tasks.catalog import check_imported, task_spec
from distinguo.tasks.extent import Extent
from distinguo.tasks.spec import Hold, TaskSpec
from distinguo.writing import slug

TABLES = ("plan", "task", "tester", "variant")
DEFAULT_VARIANT = "plain"
LARGEST_PLAN = 4 * MEBIBYTE  #: bytes
SLOW_CAP = 10_000  #: steps of a test trial of an environment in plain Python that has no time limit
MOST_VARIANTS, MOST_CELLS = 1_000, 1_000_000


class PlanHead(NamedTuple):
    """The table ``[plan]`` of a plan."""

    representations: Annotated[tuple[str, ...], Field(min_length=1, max_length=10_000)]
    task: str = "puck"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    interpreted: bool = False


class Plan(NamedTuple):
    """Representations × runs × variants.

    >>> plan = make_plan(["diagonal", "grid:4x4"], tester={"runs": 3})
    >>> [cell.key for cell in plan.cells()][:2], len(plan.cells())
    (['diagonal--plain--run-0', 'diagonal--plain--run-1'], 6)
    """

    head: PlanHead
    spec: TaskSpec
    variants: dict[str, TesterSettings]
    in_memory: bool = False  #: whether the task is an object that its name cannot make

    @property
    def task_by_name(self) -> dict[str, Any]:
        """The arguments of ``task_spec`` for the task."""
        spec = self.spec
        return {"name": spec.name, "parameters": dict(spec.parameters), "interpreted": spec.interpreted}

    def cells(self) -> list[PlanCell]:
        """Return the units of work, in a fixed order."""
        return [
            PlanCell(what, variant, run)
            for what in self.head.representations
            for variant, settings in self.variants.items()
            for run in range(settings.runs)
        ]


class PlanCell(NamedTuple):
    """One run of the tester on one representation."""

    representation: str
    variant: str
    run: int

    @property
    def key(self) -> str:
        """The name of the cell and of its result file."""
        return f"{slug(self.representation)}--{self.variant}--run-{self.run}"


@checks_names()
def make_plan(
    representations: Sequence[str],
    *,
    task: str | TaskSpec = "puck",
    seed: int = 0,
    interpreted: bool = False,
    task_parameters: Mapping[str, Any] | None = None,
    tester: Mapping[str, Any] | None = None,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
) -> Plan:
    """Make a plan; each variant changes some settings of the tester."""
    made = task if isinstance(task, TaskSpec) else None
    if made is not None:
        check_given(made, task_parameters or {})
        task, interpreted = made.name, made.interpreted
    fields = {"representations": representations, "task": task, "seed": seed, "interpreted": interpreted}
    head = checked(PlanHead, fields, "plan")
    spec = made or task_spec(head.task, task_parameters, head.interpreted)
    if len(variants or ()) > MOST_VARIANTS:
        raise DistinguoError(
            f"A plan may have {MOST_VARIANTS:,} variants at most, got {len(variants or ()):,}."
        )
    endless = {"cap": SLOW_CAP} if spec.interpreted and spec.limit is None else {}
    base = {**tester_suited(spec.score, spec.kind), **endless, **(tester or {})}
    settings = {
        name: checked(TesterSettings, {**base, **changes}, "tester")
        for name, changes in (variants or {DEFAULT_VARIANT: {}}).items()
    }
    _check_names(head.representations, settings)
    cells = len(head.representations) * sum(each.runs for each in settings.values())
    if cells > MOST_CELLS:
        raise DistinguoError(
            f"A plan may have {MOST_CELLS:,} cells (representations × variants × runs) at most, got {cells:,}."
        )
    return Plan(head, spec, settings, in_memory=made is not None and not made.portable)


def _check_names(representations: Sequence[str], variants: Mapping[str, Any]) -> None:
    """Refuse names that cannot be parts of file names, or would give two cells the same file."""
    for name in variants:
        if not name or slug(name) != name:
            raise DistinguoError(
                f"The variant '{one_line(name)}' should have a short name of letters, digits, dots and dashes."
            )
    slugs = {slug(what) for what in representations}
    keys = {PlanCell(what, variant, 0).key for what in representations for variant in variants}
    if len(slugs) < len(representations) or len(keys) < len(representations) * len(variants):
        raise DistinguoError(
            "A plan should name each representation once, and differently from the others, but some are named twice."
        )


def read_plan(text: str, source: str = "plan.toml") -> Plan:
    """Read a plan from TOML: tables ``plan``, ``task``, ``tester`` and any number of ``variant.NAME``.

    >>> lines = ['[plan]', 'representations = ["diagonal"]', '[variant.slow]', 'alpha = 0.01']
    >>> read_plan(chr(10).join(lines)).variants["slow"].alpha
    0.01
    """
    content = parse_toml(text, source)
    _check_tables(content, source)
    head = dict(content.get("plan", {}))
    for key in head:
        if key not in PlanHead._fields:
            raise DistinguoError(
                f"Unknown setting plan.{one_line(key)} in {source}; {did_you_mean(key, PlanHead._fields)}"
            )
    check_imported(str(head.get("task", "")), source)
    return make_plan(
        head.pop("representations", []),
        **head,
        task_parameters=content.get("task"),
        tester=content.get("tester"),
        variants=content.get("variant"),
    )


def _check_tables(content: Mapping[str, Any], source: str) -> None:
    for table in content:
        if table not in TABLES:
            raise DistinguoError(
                f"{source} has an unknown table '{one_line(table)}'; {did_you_mean(table, TABLES)}"
            )
    tables = {**content, **{f"variant.{name}": each for name, each in _items(content.get("variant"))}}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise DistinguoError(f"{source} should have a table [{name}], got {shown(table)}.")


def _items(table: Any) -> list[tuple[str, Any]]:
    return list(table.items()) if isinstance(table, dict) else []


def load_plan(path: Path) -> Plan:
    """Read a plan from a file."""
    return read_plan(read_text(path, LARGEST_PLAN), str(path))


def write_plan(plan: Plan) -> str:
    """Write a plan as TOML, with every setting spelled out.

    >>> plan = make_plan(["diagonal"])
    >>> read_plan(write_plan(plan)) == plan
    True
    """
    document = tomlkit.document()
    head = plan.head._asdict() | {"representations": list(plan.head.representations)}
    document["plan"] = head
    document["task"] = dict(plan.spec.parameters)
    document["variant"] = {name: settings._asdict() for name, settings in plan.variants.items()}
    return tomlkit.dumps(document)


# The result of a comparison: averaged learning curves, and how they are printed.


CSV, MARKDOWN = "results.csv", "results.md"  #: the table of results: every checkpoint, and the last one
COLUMNS = ("training_steps", "mean", "low", "high", "interquartile_mean", "survival")
HEAD = ("representation", "regions", "runs", "final score", "best score", "survival")
LONGEST_NAME = (
    26  #: cells of a representation in a table that fits 80 columns; of a longer one the end is shown
)


class AveragedCurve(NamedTuple):
    """The learning curves of one representation under one variant: runs × checkpoints, and their average."""

    representation: str
    variant: str
    regions: int  #: 0 for what others have learned without any
    training_steps: list[int]
    scores: np.ndarray
    survival: np.ndarray  #: NaN where it is not known
    score: str = Hold().score_name  #: the measure of a batch of trials

    @property
    def name(self) -> str:
        """The name of the representation, with the variant if there are several."""
        plain = self.variant == DEFAULT_VARIANT
        return self.representation if plain else f"{self.representation} ({self.variant})"

    @property
    def survived(self) -> list[float] | None:
        """The mean survival at each checkpoint; None where it is not known."""
        return None if np.isnan(self.survival).any() else self.survival.mean(axis=0).tolist()

    def row(self) -> tuple[str, ...]:
        """Return the cells under ``HEAD``."""
        mean = self.scores.mean(axis=0)
        name = self.name if len(self.name) <= LONGEST_NAME else f"…{self.name[1 - LONGEST_NAME :]}"
        last, best = self.written(mean[-1]), self.written(mean.max())
        return (
            name,
            f"{self.regions:,}" if self.regions else "–",
            str(len(self.scores)),
            last,
            best,
            "–" if self.survived is None else f"{self.survived[-1]:.0%}".replace("%", " %"),
        )

    def __repr__(self) -> str:
        return "  ".join(self.row())

    def written(self, score: float) -> str:
        """Return a score as text: lengths in whole steps, returns with the digits that matter."""
        return f"{score:z,.0f}" if self.score == Hold().score_name else readable(score)

    def cells(self) -> list[str]:
        """Return the end of the curve, for a table."""
        low, high = interval(self.scores)
        mean = self.scores.mean(axis=0)
        return [
            self.name.replace("|", "/"),
            str(self.regions or "–"),
            str(len(self.scores)),
            f"{self.training_steps[-1]:,}",
            self.written(mean[-1]),
            f"{self.written(low[-1])} to {self.written(high[-1])}",
            self.written(mean.max()),
            "–" if self.survived is None else f"{self.survived[-1]:z.2f}",
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the curve as the command line prints it."""
        low, high = interval(self.scores)
        return {
            "representation": self.representation,
            "variant": self.variant,
            "regions": self.regions,
            "runs": len(self.scores),
            "training_steps": self.training_steps,
            "mean": self.scores.mean(axis=0).tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "interquartile_mean": interquartile_mean(self.scores).tolist(),
            "survival": self.survived,
            "scores": self.scores.tolist(),
        }


def readable(number: float) -> str:
    """Return a number with the digits needed to compare it.

    >>> readable(5e6), readable(-105.96), readable(0.7333), readable(-500)
    ('5,000,000', '-106.0', '0.733', '-500')
    """
    if abs(number) >= 1000 or number == round(number):
        return f"{number:z,.0f}"
    return f"{number:z.1f}" if abs(number) >= 10 else f"{number:z.3g}"


class Comparison(NamedTuple):
    """The curves of the runs that are done, and the cells that failed, each with its reason."""

    curves: list[AveragedCurve]
    extent: Extent  #: the observed extremes, from which trials start
    failures: dict[str, str]
    missing: int  #: cells that failed or are left to other shards
    folder: Path | None = None  #: of the results
    axes: tuple[str, ...] = ()  #: the names of the coordinates, with their units

    def __repr__(self) -> str:
        rows = self.rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([name.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])])
            for name, *numbers in rows
        ]
        return "\n".join([self.observed(), "", *lines, "", *self.legend()])

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table: its head, and a row for each curve."""
        return [HEAD, *(curve.row() for curve in self.curves)]

    def observed(self) -> str:
        """Return the observed extremes, from which trials start, with units."""
        names = self.axes or ("",) * len(self.extent.low)
        ranges = (
            f"{name} {low:z.3g} to {high:z.3g}".lstrip()
            for name, low, high in zip(names, *self.extent, strict=True)
        )
        return f"Observed extremes: {', '.join(ranges)}"

    def legend(self) -> list[str]:
        """Say what the columns of the table are, with their units."""
        if not self.curves:
            return []
        curve = self.curves[0]
        lengths = curve.score == Hold().score_name
        good = "still ran when stopped" if lengths else "reached the goal of the task"
        return [
            f"score: {curve.score} of the test trials{' in steps' if lengths else ''}, averaged over the runs.",
            f"final: after {counted(curve.training_steps[-1], 'training step')}; best: the highest on the way there.",
            f"survival: the share of final test trials that {good}.",
        ]

    def as_json(self) -> dict[str, Any]:
        """Return everything as the command line prints it."""
        return {
            "curves": [curve.as_json() for curve in self.curves],
            "extent": self.extent._asdict(),
            "failures": self.failures,
            "missing": self.missing,
        }

    def csv(self) -> str:
        """Return the curves as a table with a row for every checkpoint."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(("representation", "variant", "regions", "runs", "score", *COLUMNS))
        for curve in self.curves:
            content = curve.as_json()
            head = (curve.representation, curve.variant, curve.regions, len(curve.scores), curve.score)
            table.writerows((*head, *row) for row in zip(*(content[name] for name in COLUMNS), strict=True))
        return text.getvalue()

    def markdown(self) -> str:
        """Return the ends of the curves as a table in Markdown."""
        lines = [
            "| representation | regions | runs | training steps | final mean | interval | best mean | survival |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [f"| {' | '.join(curve.cells())} |" for curve in self.curves]
        return "\n".join(lines) + "\n"

    def without_failures(self) -> Comparison:
        """Return the comparison; raise if a cell failed."""
        if not self.failures:
            return self
        key, reason = next(iter(self.failures.items()))
        kept = (
            ""
            if self.folder is None
            else f"; finished cells are in {self.folder}, and only the rest is run again"
        )
        raise DistinguoError(f"Cell {key} failed ({reason}){kept}.")
