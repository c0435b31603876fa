"""Tables of measurements in CSV: rows that a file lacks are measured on all cores, and kept at once."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import numpy as np

from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job
from distinguo.processes import Failed
from distinguo.runs.seeds import seeds

Row = TypeVar("Row", bound="tuple[Any, ...]")
Asked = Mapping[tuple[Any, ...], Mapping[str, Any]]
KEPT = Path("runs") / "benchmarks"  #: tables that are on no page


def read(table: Path, kind: type[Row]) -> list[Row]:
    """The rows of a file, if there is one."""
    if not table.exists():
        return []
    read_as: dict[type, Callable[[str], Any]] = {bool: "True".__eq__}
    types = [(name, of, read_as.get(of, of)) for name, of in get_type_hints(kind).items()]
    with table.open(newline="") as file:
        return [  # what an older file lacks is as the row has it by default
            kind(**{name: value(line[name]) for name, of, value in types if line.get(name) or of is str})
            for line in csv.DictReader(file)
        ]


def append(table: Path, rows: Iterable[Iterable[Any]], fields: Iterable[str]) -> None:
    """Write rows at the end of a file."""
    table.parent.mkdir(parents=True, exist_ok=True)
    begins = not table.exists()
    with table.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if begins:
            writer.writerow(fields)
        writer.writerows(rows)


def measured(
    table: Path,
    kind: type[Row],
    function: Callable[..., Any],
    asked: Asked | Iterable[tuple[Any, ...]],
    engine: Engine | None = None,
) -> list[Row]:
    """Return the rows that are asked for.

    ``asked`` has the first fields of the rows, by which the function gives one of them, or a list; or other arguments
    for each.
    """
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    if not isinstance(asked, Mapping):
        asked = {key: dict(zip(names, key, strict=False)) for key in asked}
    there = _by_key(read(table, kind), asked)
    jobs = {str(key): Job(str(key), function, own) for key, own in asked.items() if key not in there}
    if there:
        print(
            f"{len(asked) - len(jobs)} of {len(asked)} are in {table} already; without it, they are measured anew."
        )
    failures = []
    for number, (name, answer) in enumerate((engine or Engine("processes")).run(list(jobs.values()))):
        if isinstance(answer, Failed):
            failures.append(f"{name}: {answer.reason}")
            continue
        rows = answer if answer and isinstance(answer[0], list | tuple) else [answer]
        append(table, rows, names)
        for row in rows:
            print(f"{number + 1} of {len(jobs)}: {kind(*row)}", flush=True)
    if failures:
        raise SystemExit("\n".join([*failures, "The same command measures only these again."]))
    there = _by_key(read(table, kind), asked)
    return [row for key in asked for row in there[key]]


def _by_key(rows: Iterable[Row], asked: Asked) -> dict[tuple[Any, ...], list[Row]]:
    size, found = len(next(iter(asked), ())), dict[tuple[Any, ...], list[Row]]()
    for row in rows:
        if row[:size] in asked:
            found.setdefault(tuple(row[:size]), []).append(row)
    return found


def options(told: str | None, name: str, seeds_asked: str) -> argparse.ArgumentParser:
    """A command line that takes seeds, and the table in which rows are kept."""
    parser = argparse.ArgumentParser(description=told, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=seeds, default=seeds_asked, help="by default %(default)s")
    kept = "where rows are kept; by default %(default)s"
    parser.add_argument("--table", type=Path, default=KEPT / f"{name}.csv", help=kept)
    return parser


def column(rows: Iterable[Any], name: str) -> np.ndarray:
    """A field of all rows."""
    return np.array([getattr(row, name) for row in rows])


def spread(values: Iterable[float]) -> str:
    """The median, and where nine tenths of the values are.

    >>> spread(range(101))
    '50 (5-95)'
    """
    low, middle, high = np.percentile(list(values), [5, 50, 95])
    return f"{middle:,.0f} ({low:,.0f}-{high:,.0f})"
