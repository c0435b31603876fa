"""The runs under a folder, known to pages by opaque identities.

A page never names a path: it gets an identity for every run found here, and asks by that.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

from distinguo.errors import LONGEST_SENTENCE, DistinguoError, one_line
from distinguo.reading.files import MEBIBYTE, parse_json, parse_toml, read_text
from distinguo.runs.request import REQUEST, interruption

MOST_RUNS, DEEPEST = 500, 3  #: runs listed, and depth of the folders searched
MOST_FOLDERS = 5_000
LOOK_SECONDS = 1.0  #: between two searches, however many pages ask
MOST_OPEN = 16  #: runs kept in memory
SETTINGS, RESULT = "settings.toml", "result.json"


class Library:
    """The runs under one folder."""

    def __init__(self, base: Path) -> None:
        self.base, self._salt = base, secrets.token_bytes(16)
        self._places: dict[str, Path] = {}
        self._entries: dict[tuple[Path, int, int], dict[str, Any]] = {}
        self._opened: dict[str, Any] = {}
        self._listed: list[dict[str, Any]] = []
        self._looked = -LOOK_SECONDS
        self._alone = Lock()

    def entries(self) -> list[dict[str, Any]]:
        """Return the list of runs, the newest first; an incomplete folder is marked as such."""
        with self._alone:
            if time.monotonic() - self._looked < LOOK_SECONDS:
                return self._listed
            found = sorted(((_changed(path), path) for path in _run_folders(self.base)), reverse=True)[
                :MOST_RUNS
            ]
            self._places = {self._identity(path): path for _, path in found}
            known, self._entries = self._entries, {}
            entries = []
            for changed, path in found:
                key = (path, changed, _size(path / SETTINGS))
                self._entries[key] = known.get(key) or self._entry(path)
                entries.append(self._entries[key])
            self._listed, self._looked = entries, time.monotonic()
            return entries

    def _identity(self, path: Path) -> str:
        return hashlib.blake2b(os.fsencode(path), key=self._salt, digest_size=8).hexdigest()

    def _entry(self, path: Path) -> dict[str, Any]:
        entry: dict[str, Any] = {"id": self._identity(path), "name": self._name(path)}
        entry["changed"] = _changed(path) // 10**9
        try:
            if not (path / SETTINGS).exists():
                return entry | {"trouble": one_line(interruption(path), LONGEST_SENTENCE)}
            asked = parse_toml(read_text(path / SETTINGS, 16 * MEBIBYTE), SETTINGS).get("run", {})
            entry |= {"task": one_line(str(asked["task"])), "seed": int(asked["seed"])}
            entry["learner"] = one_line(str(asked.get("learner", "economy")))
            if (path / RESULT).is_file():
                result = parse_json(read_text(path / RESULT, 4 * MEBIBYTE), RESULT)
                entry |= {"solved": bool(result["solved"]), "regions": int(result["regions"])}
        except (DistinguoError, LookupError, TypeError, ValueError, AttributeError) as error:
            why = str(error) if isinstance(error, DistinguoError) else "it is damaged"
            entry["trouble"] = one_line(f"Half written or damaged: {why.rstrip('.')}.")
        return entry

    def _name(self, path: Path) -> str:
        inner = path.relative_to(self.base).as_posix()
        return one_line(self.base.resolve().name if inner == "." else inner)

    def delete(self, identity: str) -> str:
        """Delete the run of an identity, and return its name; the folder of the studio itself stays."""
        from distinguo.runs import folder  # loads the compiler

        with self._alone:
            path = self._places.get(identity)
            if path is None or path.is_symlink() or not path.is_dir():
                raise DistinguoError("That run is no longer there.")
            if path == self.base:
                raise DistinguoError("The studio shows this folder itself; it does not delete it.")
            folder.delete(path)
            self._places.pop(identity)
            self._opened.pop(identity, None)
            self._looked = -LOOK_SECONDS
        return self._name(path)

    def source(self, identity: str) -> Any:
        """Return the run of an identity; it is read once and shared by all panes."""
        with self._alone:
            path, known = self._places.get(identity), self._opened.get(identity)
        if path is None:
            raise DistinguoError("That run is no longer there; choose another from the list.")
        if known is None:
            from distinguo.views.studio.sources import RecordedRun  # loads the compiler

            known = RecordedRun(identity, path, self._name(path))
            with self._alone:
                while len(self._opened) >= MOST_OPEN:
                    self._opened.pop(next(iter(self._opened)))
                known = self._opened.setdefault(identity, known)
        return known


def _run_folders(base: Path) -> Iterator[Path]:
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
        elif depth < DEEPEST:
            waiting += [(Path(one.path), depth + 1) for one in inside if one.is_dir(follow_symlinks=False)]


def _changed(path: Path) -> int:
    """Return when a run was last written to."""
    return max((_time(path / name) for name in (SETTINGS, RESULT, "trials.csv")), default=0)


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
