"""Tables of measurements in CSV: rows that a file lacks are measured on all cores, and kept at once."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job
from distinguo.processes import Failed

Row = TypeVar("Row", bound="tuple[Any, ...]")


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
    asked: Mapping[tuple[Any, ...], Mapping[str, Any]],
    engine: Engine | None = None,
) -> list[Row]:
    """Return the rows that are asked for.

    ``asked`` has, by the first fields of a row, the arguments by which the function gives it.
    """

    def known() -> dict[tuple[Any, ...], Row]:
        size = len(next(iter(asked), ()))
        return {tuple(row[:size]): row for row in read(table, kind)}

    there = known()
    jobs = {str(key): Job(str(key), function, own) for key, own in asked.items() if key not in there}
    failures = []
    for number, (name, answer) in enumerate((engine or Engine("processes")).run(list(jobs.values()))):
        if isinstance(answer, Failed):
            failures.append(f"{name}: {answer.reason}")
            continue
        append(table, [answer], kind._fields)  # type: ignore[attr-defined]
        print(f"{number + 1} of {len(jobs)}: {kind(*answer)}", flush=True)
    if failures:
        raise SystemExit("\n".join([*failures, "The same command measures only these again."]))
    there = known()
    return [there[key] for key in asked]
