"""The page of files: the run folder and the fields of each format, read from real runs and from the schemas."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import distinguo
from distinguo.comparison.plan import COLUMNS, CSV, MARKDOWN
from distinguo.errors import DistinguoError
from distinguo.proof.schema import ArrivalCertificate, HoldCertificate, ProgramCertificate, ReturnCertificate
from distinguo.representations.file import (
    BoxesFile,
    CategoriesFile,
    PerceptronFile,
    RadialFile,
    TilesFile,
    VoronoiFile,
)
from distinguo.runs.stage import TrialRow
from tools.references import fields
from tools.references.markdown import page, table

ROOT = Path(__file__).parents[2]
#: Runs of every learner, as this version and earlier ones wrote them.
EXAMPLES = ROOT / "tests" / "golden" / "formats" / "runs"

_INTRODUCTION = """\
A run is a folder. Everything that shows, tests, proves or exports reads such folders and nothing else. There is no
pickle in them: opening one never runs code. Files are written under another name, flushed to disk and renamed, so
that a kill leaves the old or the new one. Files of all earlier versions open."""
_COMPARISON = f"""\
`plan.toml` (what is compared), `extent.json` (the extremes that were observed), `representations/`, and a file for
every cell of the plan in `cells/`; `{CSV}` has a line for every checkpoint of every curve, with the columns
representation, variant, regions, runs, score, {", ".join(COLUMNS)}; `{MARKDOWN}` is the table of the last one."""
_CERTIFICATE = """\
`format`, `version`, `sha256` (of the claim as it is written) and `claim`. [Proof](../proof.md) says what a claim
means and how it is checked."""


def files_page() -> str:
    """Return the page."""
    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "run"
        distinguo.learn("puck", seed=1, out=run)
        folders = [run, *sorted(path for path in EXAMPLES.iterdir())]
        return page(
            "Files",
            _INTRODUCTION,
            "## The run folder",
            table(["file", "what it holds"], described(fields.FILES, _names(folders), every=True)),
            _representation(run),
            _reasons(run, folders),
            _history(run),
            _trials(run),
            _result(folders),
            _certificate(),
            "## The folder of a comparison",
            "`distinguo test … --out DIR` writes one.",
            _COMPARISON,
        )


def described(meanings: Mapping[str, str], found: Iterable[str], every: bool = False) -> list[list[str]]:
    """Return a row for every name, in the order of the meanings; refuse a name that has none."""
    there = set(found)
    if unknown := there - set(meanings):
        raise DistinguoError(f"tools/references/fields.py does not say what these mean: {sorted(unknown)}.")
    return [[f"`{name}`", words] for name, words in meanings.items() if every or name in there]


def _names(folders: list[Path]) -> set[str]:
    return {path.name for folder in folders for path in folder.iterdir() if not path.name.startswith(".")}


def _json(text: str) -> str:
    return f"```json\n{text.strip()}\n```"


def _by_key(entry: dict[str, Any]) -> str:
    """Return an object with a line for every key."""
    return "{\n" + ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in entry.items()) + "\n}"


def _representation(run: Path) -> str:
    kinds = {
        "voronoi": VoronoiFile,
        "categories": CategoriesFile,
        "boxes": BoxesFile,
        "tiles": TilesFile,
        "rbf": RadialFile,
        "perceptron": PerceptronFile,
    }
    rows = []
    for name, words in fields.REPRESENTATION.items():
        having = [kind for kind, schema in kinds.items() if name in schema.model_fields]
        if not having:
            raise DistinguoError(f"No representation file has the field '{name}'.")
        rows.append([f"`{name}`", "all" if len(having) == len(kinds) else ", ".join(having), words])
    known = {name for schema in kinds.values() for name in schema.model_fields}
    described(fields.REPRESENTATION, known)
    return "\n\n".join(
        [
            "## representation.json",
            "Kinds: `voronoi` (the nearest prototype, by scaled distances), `categories` (prototypes of labels), "
            "`boxes` (a tree of cuts); features in place of a partition: `tiles`, `rbf`, "
            "`perceptron`. The whole [JSON schema](../representation.schema.json).",
            table(["field", "kind", "meaning"], rows),
            "The map of `distinguo learn puck --seed 1`:",
            _json((run / "representation.json").read_text()),
        ]
    )


def _reasons(run: Path, folders: list[Path]) -> str:
    keys: dict[str, set[str]] = {}
    for folder in folders:
        for entry in map(json.loads, (folder / "reasons.jsonl").read_text().splitlines()):
            keys.setdefault(entry["event"], set()).update(entry)
    described(fields.EVENTS, keys)
    rows = described(fields.REASONS, {key for found in keys.values() for key in found})
    told = [
        [row[0], ", ".join(e for e, found in keys.items() if row[0].strip("`") in found), row[1]]
        for row in rows
    ]
    first = (run / "reasons.jsonl").read_text().splitlines()[0]
    return "\n\n".join(
        [
            "## reasons.jsonl",
            "A JSON object on every line.",
            table(["event", "meaning"], described(fields.EVENTS, fields.EVENTS)),
            table(["field", "of", "meaning"], told),
            _json(_by_key(json.loads(first))),
        ]
    )


def _history(run: Path) -> str:
    first = json.loads((run / "history.jsonl").read_text().splitlines()[0])
    words = (
        "A JSON object on every line, for every trial at first, then for fewer; the last is the final map."
    )
    return "\n\n".join(
        ["## history.jsonl", words, table(["field", "meaning"], described(fields.HISTORY, first))]
    )


def _trials(run: Path) -> str:
    rows = described(fields.TRIALS, TrialRow._fields)
    lines = "\n".join((run / "trials.csv").read_text().splitlines()[:3])
    return "\n\n".join(["## trials.csv", table(["column", "meaning"], rows), f"```text\n{lines}\n```"])


def _result(folders: list[Path]) -> str:
    found: set[str] = set()
    for folder in folders:
        if (folder / "result.json").exists():
            found.update(json.loads((folder / "result.json").read_text()))
    return "\n\n".join(
        [
            "## result.json",
            "`distinguo learn --json` prints it. Some fields are there only where they mean something.",
            table(["field", "meaning"], described(fields.RESULT, found)),
        ]
    )


def _certificate() -> str:
    parts: list[Any] = [HoldCertificate, ArrivalCertificate, ProgramCertificate, ReturnCertificate]
    rows = [
        [
            kind.__name__,
            ", ".join(f"`{name}`" for name in kind.model_fields),
            (kind.__doc__ or "").split("\n")[0],
        ]
        for kind in parts
    ]
    return "\n\n".join(["## certificate.json", _CERTIFICATE, table(["claim", "fields", "meaning"], rows)])
