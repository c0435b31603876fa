"""The runs under a folder, known to pages by opaque identities.

A page never names a path: it gets an identity for every run found here, and asks by that.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from pathlib import Path
from threading import Lock
from typing import Any

from distinguo.errors import DistinguoError, one_line
from distinguo.runs.listing import SETTINGS, last_written, listed_facts, newest_first

LOOK_SECONDS = 1.0  #: between two searches, however many pages ask
MOST_OPEN = 16  #: runs kept in memory


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
            found = newest_first(self.base)
            self._places = {self._identity(path): path for _, path in found}
            known, self._entries = self._entries, {}
            entries = []
            for time_ns, path in found:
                key = (path, time_ns, _size(path / SETTINGS))
                self._entries[key] = known.get(key) or self._entry(path)
                entries.append(self._entries[key])
            self._listed, self._looked = entries, time.monotonic()
            return entries

    def _identity(self, path: Path) -> str:
        return hashlib.blake2b(os.fsencode(path), key=self._salt, digest_size=8).hexdigest()

    def _entry(self, path: Path) -> dict[str, Any]:
        entry: dict[str, Any] = {"id": self._identity(path), "name": self._name(path)}
        entry["changed"] = last_written(path) // 10**9
        return entry | listed_facts(path)

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


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
