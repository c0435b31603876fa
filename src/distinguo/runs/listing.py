"""The runs under a folder: what there is, the latest one, and the nearest to a wrong path. It loads quickly."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from distinguo.errors import LONGEST_SENTENCE, DistinguoError, counted, one_line
from distinguo.reading.files import MEBIBYTE, parse_json, parse_toml, read_text
from distinguo.runs.request import REQUEST, interruption

RUNS = Path("runs")  #: where commands write runs, and look for them
MOST_RUNS, DEEPEST = 500, 3  #: runs listed, and depth of the folders searched
MOST_FOLDERS = 5_000
SETTINGS, RESULT, REPRESENTATION = "settings.toml", "result.json", "representation.json"
MOST_NEAR, ALIKE = 3, 0.6  #: runs that a message names, and how like the wrong path they must be


def run_folders(base: Path, deepest: int = DEEPEST) -> Iterator[Path]:
    """Yield the folders that hold a run, without following links out of the base."""
    waiting, looked = [(base, 0)], 0
    while waiting and looked < MOST_FOLDERS:
        path, depth = waiting.pop()
        looked += 1
        try:
            inside = list(os.scandir(path))
        except OSError:
            continue
        if any(one.name in (SETTINGS, REQUEST) and one.is_file(follow_symlinks=False) for one in inside):
            yield path
        elif depth < deepest:
            waiting += [(Path(one.path), depth + 1) for one in inside if one.is_dir(follow_symlinks=False)]


def last_written(path: Path) -> int:
    """When a run was last written to, in nanoseconds."""
    return max(_time(path / name) for name in (SETTINGS, RESULT, "trials.csv"))


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def newest_first(base: Path) -> list[tuple[int, Path]]:
    """The runs under a folder, each with the time when it was last written to; at most 500."""
    return sorted(((last_written(path), path) for path in run_folders(base)), reverse=True)[:MOST_RUNS]


def listed_facts(path: Path) -> dict[str, Any]:
    """The task, the learner and the result of a run; ``trouble`` says what is wrong with its folder."""
    facts: dict[str, Any] = {}
    try:
        if not (path / SETTINGS).exists():
            return {"trouble": one_line(interruption(path), LONGEST_SENTENCE)}
        asked = parse_toml(read_text(path / SETTINGS, 16 * MEBIBYTE), SETTINGS).get("run", {})
        facts |= {"task": one_line(str(asked["task"])), "seed": int(asked["seed"])}
        facts["learner"] = one_line(str(asked.get("learner", "economy")))
        if (path / RESULT).is_file():
            result = parse_json(read_text(path / RESULT, 4 * MEBIBYTE), RESULT)
            facts |= {"solved": bool(result["solved"]), "regions": int(result["regions"])}
            facts["prototypes"] = int(result["prototypes"])
            if (answer := result.get("answer")) in ("passed", "failed", "undecided"):
                facts["answer"] = answer
            if isinstance(kept := result.get("kept"), bool):  # of a distilled or condensed run
                facts["kept"] = kept
    except (DistinguoError, LookupError, TypeError, ValueError, AttributeError) as error:
        why = str(error) if isinstance(error, DistinguoError) else "it is damaged"
        facts["trouble"] = one_line(f"Half written or damaged: {why.rstrip('.')}.")
    return facts


def latest_run(base: Path = RUNS) -> Path:
    """The run under a folder that was written to last, of those that have a map already."""
    for _, path in newest_first(base):
        if (path / SETTINGS).is_file() and (path / REPRESENTATION).is_file():
            return path
    raise DistinguoError(
        f"There is no run in {base} to take the latest of; name the folder of a run, or learn one with: "
        "distinguo learn puck"
    )


def near_runs(path: Path) -> list[Path]:
    """The runs whose folders are nearest to a wrong path: beside it, or where commands write runs."""
    beside = [*run_folders(path.parent, 1), *(run_folders(RUNS) if RUNS.is_dir() else ())]
    wanted = path.name.lower()

    def alike(one: Path) -> float:
        """How like its name is to the wanted one, or the beginning of its name, as puck of puck-default-seed0."""
        name = one.name.lower()
        parts = [name[: found.start()] for found in re.finditer("-|$", name)]
        return max(difflib.SequenceMatcher(None, wanted, part).ratio() for part in parts)

    ranked = sorted(
        {one: alike(one) for one in beside}.items(), key=lambda item: (-item[1], len(item[0].parts), item[0])
    )
    return [one for one, ratio in ranked if ratio >= ALIKE][:MOST_NEAR]


def no_run(path: Path) -> DistinguoError:
    """Return the error for a path that is not the folder of a run, with what may have been meant."""
    if unfinished := interruption(path):
        return DistinguoError(unfinished)
    within = [] if not path.is_dir() else [one for _, one in newest_first(path)]
    if within:
        hint = f"it holds {counted(len(within), 'run')}, such as {within[0]}; name one of them."
    elif near := near_runs(path):
        hint = f"did you mean {' or '.join(map(str, near))}?"
    else:
        hint = "list the runs there are with: distinguo runs"
    return DistinguoError(f"{path} is not a run folder: it has no {SETTINGS}; {hint}")
